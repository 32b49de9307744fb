/* SPDX-License-Identifier: BSD-2-Clause */
/* Shapes of networks. No router runs yet. */
#ifndef SYNC_SHAPE_H
#define SYNC_SHAPE_H

#include "net.h"

enum shape {
	SHAPE_LINE,
	SHAPE_STAR,
	SHAPE_RING_STUB,
	SHAPE_DOUBLE_RING,
	SHAPE_MESH,
	SHAPE_RANDOM,
	SHAPES
};

extern const char *const shape_name[SHAPES];

/*
 * A line of 5, a star of 6, a ring of 4 (0 to 3) with a stub (4) at 0, a ring of 4 with
 * two links between each two, 8 of which all meet, a connected random graph of 3 to 32.
 */
void shape_open(struct net *net, enum shape shape, uint64_t seed);

#endif
