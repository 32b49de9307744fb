/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "grid.h"

#define GAP 2
#define LEAST 64u

void grd_begin(struct grd_grid *grid, uint32_t columns)
{
	*grid = (struct grd_grid){.columns = columns};
}

void grd_add(struct grd_grid *grid, const char *text)
{
	char *copy = strdup(text);
	char **grown = grid->cell;

	if (grid->cells == grid->size) {
		grid->size = grid->size ? grid->size * 2 : LEAST;
		grown = realloc(grid->cell, grid->size * sizeof(char *));
	}
	if (grown)
		grid->cell = grown;
	if (!copy || !grown) {
		free(copy);
		grid->size = grid->cells;
		grid->failed = 1;
		return;
	}
	grid->cell[grid->cells++] = copy;
}

static int column_width(const struct grd_grid *grid, uint32_t column)
{
	size_t width = 0, len;
	uint32_t i;

	for (i = column; i < grid->cells; i += grid->columns) {
		len = strlen(grid->cell[i]);
		if (len > width)
			width = len;
	}
	return (int)width;
}

/* Without blanks at its end. */
static void print_row(const struct grd_grid *grid, uint32_t first, const int *width,
		      FILE *out)
{
	uint32_t last = grid->columns, i;

	while (last && !grid->cell[first + last - 1][0])
		last--;
	for (i = 0; i < last; i++)
		fprintf(out, "%*s%-*s", i ? GAP : 0, "", i + 1 < last ? width[i] : 0,
			grid->cell[first + i]);
	fputc('\n', out);
}

void grd_drop(struct grd_grid *grid)
{
	uint32_t i;

	for (i = 0; i < grid->cells; i++)
		free(grid->cell[i]);
	free(grid->cell);
	*grid = (struct grd_grid){0};
}

int grd_end(struct grd_grid *grid, FILE *out)
{
	int *width = calloc(grid->columns, sizeof(*width));
	uint32_t i;
	int ret = width && !grid->failed ? 0 : -FI_ENOMEM;

	for (i = 0; i < grid->columns && !ret; i++)
		width[i] = column_width(grid, i);
	for (i = 0; i + grid->columns <= grid->cells && !ret; i += grid->columns)
		print_row(grid, i, width, out);
	grd_drop(grid);
	free(width);
	return ret;
}
