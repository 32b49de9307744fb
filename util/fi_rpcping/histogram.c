/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram.h"

#define PARTS (1u << PNG_PART_BITS)

/* The class has the times whose bits above the shift-th are the same. */
static unsigned int shift_of(uint64_t ns)
{
	return ns < 2 * PARTS ? 0
			      : 63u - (unsigned int)__builtin_clzll(ns) - PNG_PART_BITS;
}

void png_histogram_add(struct png_histogram *histogram, uint64_t ns)
{
	const unsigned int shift = shift_of(ns);

	histogram->classes[shift * PARTS + (ns >> shift)]++;
	if (!histogram->count || ns < histogram->least)
		histogram->least = ns;
	if (ns > histogram->most)
		histogram->most = ns;
	histogram->sum += (double)ns;
	histogram->count++;
}

/* The last time of a class. */
static uint64_t class_end(unsigned int i)
{
	const unsigned int shift = i < 2 * PARTS ? 0 : i / PARTS - 1;

	return ((uint64_t)(i - shift * PARTS + 1) << shift) - 1;
}

uint64_t png_percentile(const struct png_histogram *histogram, unsigned int per_mille)
{
	const uint64_t count = histogram->count;
	/* Not a product that may overflow. */
	uint64_t rank =
		count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
	uint64_t end = 0;
	unsigned int i;

	if (!count)
		return 0;
	rank = rank ? rank : 1;
	for (i = 0; i < PNG_CLASSES && rank; i++) {
		rank -= histogram->classes[i] < rank ? histogram->classes[i] : rank;
		end = class_end(i);
	}
	return end < histogram->most ? end : histogram->most;
}

uint64_t png_mean(const struct png_histogram *histogram)
{
	return histogram->count ? (uint64_t)(histogram->sum / (double)histogram->count)
				: 0;
}
