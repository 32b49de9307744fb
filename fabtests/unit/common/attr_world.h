/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up provider's offer, and what it answers to hints. */
#ifndef ATTR_WORLD_H
#define ATTR_WORLD_H

#include <rdma/fabric.h>

#define ATTR_API FI_VERSION(1, 17)

/* An answer in the tables of tests: the hints are refused. No attribute has this value.
 */
#define REFUSED (UINT64_MAX - 1)

/*
 * Domain "device0", fabric "fabric0". Every attribute has a value of its own, so that one
 * mistaken for another shows. The caller frees it.
 */
struct fi_info *make_offer(void);

/*
 * Checks hints against the offer: 0 or -FI_ENODATA. *answer is then what fi_getinfo would
 * give, which the caller frees, or NULL.
 */
int ask_offer(struct fi_info *offer, const struct fi_info *hints,
	      struct fi_info **answer);
/* The same for make_offer's. */
int ask(const struct fi_info *hints, struct fi_info **answer);

#endif
