/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in columns that are as wide as what stands in them. */
#ifndef GRD_GRID_H
#define GRD_GRID_H

#include <stdint.h>
#include <stdio.h>

struct grd_grid {
	uint32_t columns;
	char **cell;
	uint32_t cells, size;
	int failed; /* there was no memory for a cell */
};

void grd_begin(struct grd_grid *grid, uint32_t columns);
/* The next cell of the row, and of the next row behind the last. */
void grd_add(struct grd_grid *grid, const char *text);
/* Prints and frees all: 0 or -FI_ENOMEM. */
int grd_end(struct grd_grid *grid, FILE *out);
/* Frees all. */
void grd_drop(struct grd_grid *grid);

#endif
