/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device counts of datagrams. */
#include <inttypes.h>

#include "dgram.h"

bool dgram_counter(const struct fi_info *info, const char *name, uint64_t *value)
{
	const char *device = info->domain_attr->name;
	char path[256];
	bool read;
	FILE *file;

	/* The stock provider adds "-dgram" to it. */
	snprintf(path, sizeof(path), "/sys/class/infiniband/%.*s/ports/1/hw_counters/%s",
		 (int)strcspn(device, "-"), device, name);
	file = fopen(path, "r");
	if (!file)
		return false;
	read = fscanf(file, "%" SCNu64, value) == 1;
	fclose(file);
	return read;
}
