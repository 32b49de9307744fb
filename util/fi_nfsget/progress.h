/* SPDX-License-Identifier: BSD-2-Clause */
/* How far it is: a bar on a terminal, and a line at the end. */
#ifndef NFG_PROGRESS_H
#define NFG_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct nfg_progress {
	const char *name;
	uint64_t size, first;  /* bytes; that an earlier run had fetched */
	uint64_t begin, drawn; /* ms */
	bool bar, quiet;
};

void nfg_progress_begin(struct nfg_progress *progress, const char *name, uint64_t size,
			uint64_t first);
void nfg_progress_show(struct nfg_progress *progress, uint64_t have);
/* The bar makes room for other lines. */
void nfg_progress_clear(struct nfg_progress *progress);
void nfg_progress_end(struct nfg_progress *progress);

#endif
