/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "failover.h"

#define ROWS 64u
#define GAPS 4096u

static struct {
	char what[32];
	int err;
	uint64_t router; /* 0: none is named */
	uint64_t count;
} row[ROWS];
static uint32_t rows;
static uint64_t gap[GAPS];
static uint32_t gaps;

void fvo_tally(const char *what, int err, const void *err_data, size_t len)
{
	uint64_t router = 0;
	uint32_t i;

	if (err_data && len >= sizeof(router))
		memcpy(&router, err_data, sizeof(router));
	for (i = 0; i < rows; i++)
		if (!strcmp(row[i].what, what) && row[i].err == err &&
		    row[i].router == router)
			break;
	if (i == ROWS)
		return;
	if (i == rows) {
		snprintf(row[i].what, sizeof(row[i].what), "%s", what);
		row[i].err = err;
		row[i].router = router;
		rows++;
	}
	row[i].count++;
}

void fvo_tally_gap(uint64_t ms)
{
	if (gaps < GAPS)
		gap[gaps++] = ms;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void fvo_tally_print(void)
{
	uint32_t i;

	for (i = 0; i < rows; i++)
		printf("%s: %s, router %" PRIu64 ": %" PRIu64 "\n", row[i].what,
		       fi_strerror(row[i].err), row[i].router, row[i].count);
	if (!gaps)
		return;
	qsort(gap, gaps, sizeof(gap[0]), compare);
	printf("recovered: %u times, ms: %" PRIu64 " least, %" PRIu64 " median, %" PRIu64
	       " most\n",
	       gaps, gap[0], gap[gaps / 2], gap[gaps - 1]);
}
