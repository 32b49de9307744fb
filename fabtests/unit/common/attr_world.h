/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up provider's offer, and what it answers to hints. */
#ifndef ATTR_WORLD_H
#define ATTR_WORLD_H

#include <rdma/fabric.h>

#define ATTR_API FI_VERSION(1, 17)

/* An answer in the tables of tests: the hints are refused. No attribute has this value.
 */
#define REFUSED (UINT64_MAX - 1)

struct attr_scene {
	struct fi_info *offer;	/* of domain "device0", fabric "fabric0" */
	struct fi_info *hints;	/* empty */
	struct fi_info *answer; /* what fi_getinfo would give, or NULL */
};

/*
 * A new offer and new hints; what was there is freed. Every attribute of the offer has a
 * value of its own, so that one mistaken for another shows.
 */
void attr_begin(struct attr_scene *s);
void attr_end(struct attr_scene *s);

/* Checks the hints, or others, which may be the last answer, against the offer: 0 or
 * -FI_ENODATA; sets the answer. */
int ask(struct attr_scene *s);
int ask_with(struct attr_scene *s, const struct fi_info *hints);

#endif
