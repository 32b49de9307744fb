/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include "stats.h"

static int rlg_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int rlg_compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void rlg_sort(uint64_t *sample, uint64_t count)
{
	qsort(sample, count, sizeof(*sample), rlg_compare);
}

uint64_t rlg_median(uint64_t *sample, uint64_t count)
{
	rlg_sort(sample, count);
	return sample[(count - 1) / 2];
}

uint64_t rlg_percentile(const uint64_t *sorted, uint64_t count, unsigned int per_mille)
{
	const uint64_t rank = (count * per_mille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

double rlg_mean(const uint64_t *sample, uint64_t count)
{
	double sum = 0;
	uint64_t i;

	for (i = 0; i < count; i++)
		sum += (double)sample[i];
	return sum / (double)count;
}

/* Probability that of count coins exactly heads show heads. */
static double rlg_coins(unsigned int count, unsigned int heads)
{
	return exp(lgamma(count + 1.0) - lgamma(heads + 1.0) -
		   lgamma(count - heads + 1.0) - count * log(2.0));
}

struct rlg_interval rlg_interval(double *value, unsigned int count)
{
	double outside = 0, next;
	struct rlg_interval interval;
	unsigned int skip = 0;

	qsort(value, count, sizeof(*value), rlg_compare_double);
	interval.median = (value[(count - 1) / 2] + value[count / 2]) / 2;
	/* The true median is below the (skip + 1)-th with the probability outside. */
	outside = rlg_coins(count, 0);
	while (2 * (skip + 1) < count) {
		next = outside + rlg_coins(count, skip + 1);
		if (next > 0.025)
			break;
		outside = next;
		skip++;
	}
	interval.from = value[skip];
	interval.to = value[count - 1 - skip];
	interval.confidence = 1 - 2 * outside;
	return interval;
}
