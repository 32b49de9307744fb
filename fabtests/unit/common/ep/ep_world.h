/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint and one of each object that it may be bound to. */
#ifndef EP_WORLD_H
#define EP_WORLD_H

#include <cairn/ep.h>

#define EP_TX_SIZE 48
#define EP_RX_SIZE 80

struct ep_world {
	struct fid_fabric fabric, other_fabric;
	struct fid_domain domain, other_domain;
	struct crn_ep ep;
	struct crn_cq cq; /* of 16 entries, TAGGED */
	struct crn_cntr cntr;
	struct crn_eq eq;
	struct crn_av av;
};

/* A world that is open is closed first. op_flags are FI_COMPLETION of tx and
 * FI_MULTI_RECV of rx. */
void ep_world_open(struct ep_world *w, enum fi_ep_type type, uint64_t caps);
void ep_world_close(struct ep_world *w);

int bind_cq(struct ep_world *w, uint64_t flags);
int bind_cntr(struct ep_world *w, uint64_t flags);
int bind_eq(struct ep_world *w, uint64_t flags);
int bind_av(struct ep_world *w, uint64_t flags);

#endif
