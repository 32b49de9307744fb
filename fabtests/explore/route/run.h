/* SPDX-License-Identifier: BSD-2-Clause */
/* What the explorers of this folder share: their runs, one after the other; or with each
 * fault, which has to be found in one of them. */
#ifndef XRT_RUN_H
#define XRT_RUN_H

#include "search.h"

struct xrt_run {
	const char *name;
	const void *run; /* xpl_search */
	uint32_t ways;	 /* that many by chance; 0: all */
};

struct xrt_program {
	const char *usage;
	const char *const *wrong; /* xpl_words */
	const struct xrt_run *runs;
	unsigned int count;
	/* By number; NULL: there is none any more. */
	const char *(*mutant)(unsigned int number);
	/* Could it make a difference there? */
	bool (*mutant_fits)(unsigned int number, const void *run);
	/* From now on the code has this fault; after the last one it has none. */
	void (*mutant_use)(unsigned int number);
};

/* After xpl_open. */
int xrt_main(const struct xrt_program *program, int argc, char **argv);

#endif
