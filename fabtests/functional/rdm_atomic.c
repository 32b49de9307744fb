/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomics from both ends at once, under automatic progress, as OpenSHMEM has them.
 * ofi_rxm uses the buffer of a request again when its response comes, also if the lower
 * provider has not completed the send yet: then a completion is lost, or counted for
 * another operation. What the lower provider injects is complete at once, so its inject
 * size has to take a request of one element.
 */
#include <rdma/fi_atomic.h>

#include "rdm.h"

#define ROUNDS 400u

static int add_one(struct rdm *r, struct rdm_peer *p)
{
	void *desc = r->buffers.desc;

	*(uint64_t *)(void *)p->send = 1;
	p->out[0].done = false;
	RDM_POST(r, NULL,
		 fi_fetch_atomic(rdm_ep(r, p), p->send, 1, desc, p->recv, desc, p->to,
				 p->target.addr, p->target.key, FI_UINT64, FI_SUM,
				 &p->out[0]));
	return 0;
}

static int add_to_all(struct rdm *r, uint64_t round)
{
	struct rdm_peer *p;

	for (p = r->peers; p < r->peers + fct_rdm_count; p++)
		FCT_DO(add_one(r, p));
	FCT_DO(fct_rdm_await(r, (unsigned int)(round + 1) * fct_rdm_count, 0, NULL,
			     "atomics of a round"));
	for (p = r->peers; p < r->peers + fct_rdm_count; p++)
		FCT_EQ(*(uint64_t *)(void *)p->recv, round);
	return 0;
}

FCT_CASE(atomics_both, "atomics of both ends at once, under automatic progress")
{
	FCT_AUTO(fct_rdm_end) struct rdm r = {0};
	struct rdm_peer *p;
	uint64_t round;

	FCT_DO(fct_rdm_up_by(&r,
			     FI_MSG | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ |
				     FI_REMOTE_WRITE,
			     FI_PROGRESS_AUTO));
	FCT_DO(fct_rdm_exchange_targets(&r));
	for (round = 0; round < ROUNDS; round++)
		FCT_DO(add_to_all(&r, round));
	FCT_DO(fct_barrier("both have added"));
	for (p = r.peers; p < r.peers + fct_rdm_count; p++)
		FCT_EQ(*(uint64_t *)(void *)p->region, ROUNDS);
	return 0;
}
