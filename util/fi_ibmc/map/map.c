/* SPDX-License-Identifier: BSD-2-Clause */
/* IP multicast addresses as MGIDs, and MGIDs as what they stand for. */
#include <jansson.h>
#include <stdio.h>
#include <rdma/fi_errno.h>

#include "grid/grid.h"
#include "map.h"
#include "print/print.h"
#include "words/words.h"

#define SCOPE_DEFAULT 2

static void add_row(struct grd_grid *grid, const struct imc_name *name)
{
	char text[IMC_TEXT];

	grd_add(grid, name->ip ? imc_address_text(name, text) : "-");
	grd_add(grid, imc_gid_text(name->mgid, text));
	snprintf(text, sizeof(text), "0x%04x", name->addr.pkey);
	grd_add(grid, name->ip ? text : "-");
	snprintf(text, sizeof(text), "%u", name->mgid[1] & 0xfu);
	grd_add(grid, text);
	grd_add(grid, imc_kind_text(name->kind));
}

/* All that can be mapped is; the others are named. */
static int each(const struct imc_options *options, struct grd_grid *grid, json_t *array)
{
	const struct pvb_mc_link link = {.profile = options->profile,
					 .pkey = options->pkey,
					 .scope = options->scope ? options->scope
								 : SCOPE_DEFAULT};
	struct imc_name name;
	const char *why;
	int status = 0, i;

	for (i = 0; i < options->words; i++) {
		if (imc_name_parse(options->word[i], &link, options->mgid, &name, &why)) {
			fprintf(stderr, "fi_ibmc: %s: %s\n", options->word[i], why);
			status = 1;
			continue;
		}
		add_row(grid, &name);
		json_array_append_new(array, imc_name_json(&name));
	}
	return status;
}

int imc_map(const struct imc_options *options)
{
	static const char *const head[] = {"Address", "MGID", "P_Key", "Scope", "Kind"};
	json_t *array = json_array();
	struct grd_grid grid;
	int status, ret = 0;
	size_t i;

	grd_begin(&grid, sizeof(head) / sizeof(head[0]));
	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		grd_add(&grid, head[i]);
	status = each(options, &grid, array);
	if (options->json) {
		ret = imc_json_print(json_pack("{s:O}", "groups", array), false, stdout);
		grd_drop(&grid);
	} else if (grid.cells > sizeof(head) / sizeof(head[0])) {
		ret = grd_end(&grid, stdout);
	} else {
		grd_drop(&grid);
	}
	json_decref(array);
	if (ret == -FI_ENOMEM)
		fputs("fi_ibmc: no memory\n", stderr);
	return ret ? IMC_FAILED : status;
}
