/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times, counted in classes. A class is at most 1/128 of its times wide, and those below
 * 256 ns have one each. Nothing here allocates.
 */
#ifndef PNG_HISTOGRAM_H
#define PNG_HISTOGRAM_H

#include <stdint.h>

#define PNG_PART_BITS 7 /* 2^7 classes from a power of two to the next */
#define PNG_CLASSES ((64u - PNG_PART_BITS + 1u) << PNG_PART_BITS)

struct png_histogram {
	uint64_t count;
	uint64_t least, most; /* exact; ns */
	double sum;	      /* ns */
	uint64_t classes[PNG_CLASSES];
};

void png_histogram_add(struct png_histogram *histogram, uint64_t ns);
/*
 * The time that per_mille of 1000 are not above: the end of its class, which is at most
 * 1/128 too high and never too low, or the largest there is. 0 if there is none.
 */
uint64_t png_percentile(const struct png_histogram *histogram, unsigned int per_mille);
/* 0 if there is none. */
uint64_t png_mean(const struct png_histogram *histogram);

#endif
