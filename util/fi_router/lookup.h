/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of hosts, which are looked up in threads of their own: name servers take their
 * time, and the loop has none. */
#ifndef FRT_LOOKUP_H
#define FRT_LOOKUP_H

#include "node.h"

struct frt_lookup;

/* Sets node->wake, which is readable when a lookup is over. 0 or -errno. */
int frt_lookups_open(struct frt_node *node);
/* Those that still run are left alone. */
void frt_lookups_close(struct frt_node *node);
/* Calls done of those that are over. */
void frt_lookups_run(struct frt_node *node);

/*
 * The address of a name, as the device's provider takes it; of several the one whose turn
 * it is: attempts in a row take one after the other. ret of done: 0, -FI_ENODATA,
 * -FI_ENOMEM. -FI_EAGAIN: too many are looked up now; -FI_ENOMEM.
 */
int frt_lookup_start(struct frt_node *node, const struct rte_net *net,
		     const struct rte_uri *uri, uint32_t turn,
		     void (*done)(void *context, int ret, const union crn_addr *addr),
		     void *context, struct frt_lookup **lookup);
/* done is not called any more. */
void frt_lookup_cancel(struct frt_lookup *lookup);

#endif
