/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_getinfo. */
#ifndef FCT_GI_H
#define FCT_GI_H

#include <stdlib.h>

#include "fct_fabric.h"

/* FI_LOCAL_MR of interfaces before 1.5; libfabric 2.x warns about the name. */
#define GI_LOCAL_MR (1ULL << 55)

/* Everything a patient application can live with. */
#define GI_ALL_MODES (FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA | FI_MSG_PREFIX)

/* gi_open.c: what is offered really opens */

/*
 * Hints for FI_EP_MSG and these caps of the provider under test; exits if out of memory.
 */
struct fi_info *fct_gi_hints(uint64_t caps);
/* fi_getinfo of this version's API with neither node nor service. */
int fct_gi_query(const struct fi_info *hints, struct fi_info **info);
/* The same, and frees hints. */
int fct_gi_ask(struct fi_info *hints, struct fi_info **info);
/* Whether an info comes from the provider under test. */
bool fct_gi_ours(const struct fi_info *info);
/* A numeric address of this host that the provider serves. */
int fct_gi_address(char *node, size_t len);

#endif
