/* SPDX-License-Identifier: BSD-2-Clause */
/* What the calls make of memory when they are done one after the other. */
#ifndef XPV_IMAGE_H
#define XPV_IMAGE_H

#include "scenario.h"

/* What a call changes. */
struct range {
	uint32_t at, len;
	uint32_t claims, after; /* other calls, bits */
	uint32_t pair;
	bool fleeting; /* what it sends is in no persistent memory at the target */
	bool refused;
	bool replay_format; /* recovery finds it, wherever it is */
};

struct image {
	/* Persistent memory when so many calls are done. */
	uint8_t after[CALLS + 1][PM_WIDE];
	struct range range[CALLS];
	uint32_t count; /* calls */
};
extern struct image xpv_image;

void xpv_image_begin(const struct scenario *scenario);
/* Is a byte as it is after some number of calls in a row? */
static inline bool image_has(uint32_t at, uint8_t byte, uint32_t first, uint32_t last)
{
	for (; first <= last; first++)
		if (xpv_image.after[first][at] == byte)
			return true;
	return false;
}

/* Is what a call read what the calls before it, or later ones, wrote? */
bool xpv_image_read(unsigned int number, const uint8_t *result, unsigned int len);
/* Does the target see what was written before a message that it has received? */
bool xpv_image_seen(unsigned int number);

#endif
