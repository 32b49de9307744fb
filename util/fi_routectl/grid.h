/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in columns that are as wide as what stands in them. */
#ifndef RCT_GRID_H
#define RCT_GRID_H

#include <stdint.h>
#include <stdio.h>

struct rct_grid {
	uint32_t columns;
	char **cell;
	uint32_t cells, size;
	int failed; /* there was no memory for a cell */
};

void rct_grid_begin(struct rct_grid *grid, uint32_t columns);
/* The next cell of the row, and of the next row behind the last. */
void rct_grid_add(struct rct_grid *grid, const char *text);
/* Prints and frees all: 0 or -FI_ENOMEM. */
int rct_grid_end(struct rct_grid *grid, FILE *out);
/* Frees all. */
void rct_grid_drop(struct rct_grid *grid);

#endif
