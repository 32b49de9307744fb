/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fi_getinfo tells fi_fabric which lower provider the program chose. The prov_name of
 * an answer is the layer's own (libfabric puts it there), so the choice is carried in the
 * name of the fabric: "LOWER;NAME:FABRIC", where FABRIC is the lower provider's name for
 * it. Names of providers have no colon; those of fabrics may.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "internal.h"

const char *lower_name_split(const struct crn_lower_layer *layer, const char *name,
			     size_t *lower_len)
{
	const size_t own = strlen(layer->prov->name), end = strcspn(name, ":");

	*lower_len = 0;
	if (!name[end] || end < own + 2 || name[end - own - 1] != ';' ||
	    strncasecmp(name + end - own, layer->prov->name, own) != 0)
		return name;
	*lower_len = end - own - 1;
	return name + end + 1;
}

char *lower_name_join(const struct crn_lower_layer *layer, const char *lower,
		      const char *name)
{
	const size_t size =
		strlen(lower) + strlen(layer->prov->name) + strlen(name) + sizeof(";:");
	char *joined = malloc(size);

	if (joined)
		snprintf(joined, size, "%s;%s:%s", lower, layer->prov->name, name);
	return joined;
}

void lower_name_strip(const struct crn_lower_layer *layer, char *name)
{
	size_t lower_len;
	const char *own;

	if (!name)
		return;
	own = lower_name_split(layer, name, &lower_len);
	memmove(name, own, strlen(own) + 1);
}
