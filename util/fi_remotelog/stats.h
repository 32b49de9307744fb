/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of samples. Nothing here allocates; thread safe. */
#ifndef RLG_STATS_H
#define RLG_STATS_H

#include <stdint.h>

/* Sorts them. Of an even number the lower one of the two in the middle. count > 0. */
uint64_t rlg_median(uint64_t *sample, uint64_t count);
void rlg_sort(uint64_t *sample, uint64_t count);
/* Of sorted samples: the smallest that per_mille of 1000 are not above. count > 0. */
uint64_t rlg_percentile(const uint64_t *sorted, uint64_t count, unsigned int per_mille);
double rlg_mean(const uint64_t *sample, uint64_t count);

struct rlg_interval {
	double median;
	double from, to;   /* holds the median of what was sampled ... */
	double confidence; /* ... with this probability */
};

/*
 * Of few figures, which are sorted: the median, and the narrowest pair of symmetric order
 * statistics that hold the true one with a probability of at least 0.95; for less than
 * six figures, which cannot, the smallest and the largest. Nothing is assumed of their
 * distribution (the sign test's interval). count > 0.
 */
struct rlg_interval rlg_interval(double *value, unsigned int count);

#endif
