/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that the configuration declares, mapped shared: it stands for persistent memory
 * in regions that are registered from then on. */
#ifndef PVB_PMEM_FILE_H
#define PVB_PMEM_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct pmem_file {
	char file[64], config[64];
	char *mem;
	size_t len;
};

/* say: what the configuration says of it. After world_reset. */
bool pmem_file_open(struct pmem_file *pm, size_t len, const char *say);
void pmem_file_close(struct pmem_file *pm);

#endif
