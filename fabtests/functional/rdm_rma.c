/* SPDX-License-Identifier: BSD-2-Clause */
/* Remote memory and atomics of many peers with one server. */
#include <stdlib.h>

#include "fct_op.h"
#include "rdm.h"

#define RMA_CAPS                                                                     \
	(FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | \
	 FI_REMOTE_WRITE)
#define ATOMIC_CAPS (RMA_CAPS | FI_ATOMIC)

static int check_flags(struct rdm *r, const struct fi_cq_tagged_entry *e, uint64_t kind,
		       uint64_t what)
{
	const uint64_t all = FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE;

	FCT_EQ(e->flags & all, kind | what);
	return 0;
}

static int check_write(struct rdm *r, struct rdm_op *op,
		       const struct fi_cq_tagged_entry *e)
{
	(void)op;
	return check_flags(r, e, FI_RMA, FI_WRITE);
}

static int check_read(struct rdm *r, struct rdm_op *op,
		      const struct fi_cq_tagged_entry *e)
{
	FCT_DO(check_flags(r, e, FI_RMA, FI_READ));
	return fct_compare(op->peer->recv, RDM_REGION,
			   fct_rdm_seed(op->peer, 0, fct_is_client()), 0,
			   "what was read");
}

/* Delivered when it completes: nothing else says that it has arrived. */
static int write_one(struct rdm *r, struct rdm_peer *p)
{
	const struct fct_op op = {
		.form = FCT_WRITEMSG,
		.buf = p->send,
		.len = RDM_REGION,
		.desc = r->buffers.desc,
		.to = p->to,
		.addr = p->target.addr,
		.key = p->target.key,
		.flags = FI_COMPLETION | FI_DELIVERY_COMPLETE,
		.ctx = &p->out[0],
	};

	fct_fill(p->send, RDM_REGION, fct_rdm_seed(p, 0, fct_is_client()));
	RDM_POST(r, check_write, fct_op_post(rdm_ep(r, p), &op));
	return 0;
}

static int write_then_read(struct rdm *r)
{
	struct rdm_peer *p;

	for (p = r->peers; p < r->peers + fct_rdm_count; p++)
		FCT_DO(write_one(r, p));
	FCT_DO(fct_rdm_await(r, fct_rdm_count, 0, check_write, "all writes"));
	for (p = r->peers; p < r->peers + fct_rdm_count; p++)
		RDM_POST(r, check_read,
			 fi_read(rdm_ep(r, p), p->recv, RDM_REGION, r->buffers.desc,
				 p->to, p->target.addr, p->target.key, &p->out[1]));
	return fct_rdm_await(r, 2 * fct_rdm_count, 0, check_read, "all reads");
}

static int verify_regions(struct rdm *r)
{
	struct rdm_peer *p;

	for (p = r->peers; p < r->peers + fct_rdm_count; p++) {
		FCT_DO(fct_compare(p->region, RDM_REGION,
				   fct_rdm_seed(p, 0, fct_is_server()), 0,
				   "what was written"));
		memset(p->region, 0, RDM_REGION);
	}
	return 0;
}

/* Each peer writes and reads its part of the server; then the server at each peer. */
FCT_CASE(rma, "remote writes and reads in both directions")
{
	FCT_AUTO(fct_rdm_end) struct rdm r = {0};

	FCT_DO(fct_rdm_up(&r, RMA_CAPS));
	FCT_DO(fct_rdm_exchange_targets(&r));
	if (fct_is_client())
		FCT_DO(write_then_read(&r));
	FCT_DO(fct_barrier("the peers have written"));
	if (fct_is_server()) {
		FCT_DO(verify_regions(&r));
		FCT_DO(write_then_read(&r));
	}
	FCT_DO(fct_barrier("the server has written"));
	if (fct_is_client())
		FCT_DO(verify_regions(&r));
	return 0;
}

/* The words of the server's region, one after the other behind the peers' parts. */
enum { SUM, MAX };

static uint64_t common(const struct rdm *r, const struct rdm_peer *p, unsigned int word)
{
	const uint64_t region = p->target.addr - (uint64_t)RDM_REGION * p->number;

	(void)r;
	return region + (uint64_t)RDM_REGION * fct_rdm_count + word * sizeof(uint64_t);
}

static uint64_t *result_of(const struct rdm_peer *p, unsigned int n)
{
	return (uint64_t *)(void *)p->recv + n;
}

static int check_atomic(struct rdm *r, struct rdm_op *op,
			const struct fi_cq_tagged_entry *e)
{
	const bool fetches = op->n < RDM_BURST - 1;

	return check_flags(r, e, FI_ATOMIC, fetches ? FI_READ : FI_WRITE);
}

/* One of each kind, and all peers at once. */
static int post_atomics(struct rdm *r, struct rdm_peer *p)
{
	uint64_t *operand = (uint64_t *)(void *)p->send;
	struct fid_ep *ep = rdm_ep(r, p);
	void *desc = r->buffers.desc;

	operand[0] = 1;
	operand[1] = 0;
	operand[2] = p->number + 1;
	operand[3] = p->number * 7ull + 3;
	RDM_POST(r, check_atomic,
		 fi_fetch_atomic(ep, &operand[0], 1, desc, result_of(p, 0), desc, p->to,
				 common(r, p, SUM), p->target.key, FI_UINT64, FI_SUM,
				 &p->out[0]));
	RDM_POST(r, check_atomic,
		 fi_compare_atomic(ep, &operand[2], 1, desc, &operand[1], desc,
				   result_of(p, 1), desc, p->to, p->target.addr,
				   p->target.key, FI_UINT64, FI_CSWAP, &p->out[1]));
	RDM_POST(r, check_atomic,
		 fi_atomic(ep, &operand[3], 1, desc, p->to, common(r, p, MAX),
			   p->target.key, FI_UINT64, FI_MAX, &p->out[2]));
	return 0;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Every sum was fetched by one peer, and every exchange found what was there before. */
static int verify_fetched(struct rdm *r)
{
	FCT_AUTO(fct_free_end) uint64_t *sums = calloc(fct_rdm_count, sizeof(*sums));
	uint32_t i;

	FCT_TRUE(sums);
	for (i = 0; i < fct_rdm_count; i++) {
		sums[i] = *result_of(&r->peers[i], 0);
		FCT_EQ(*result_of(&r->peers[i], 1), 0);
	}
	qsort(sums, fct_rdm_count, sizeof(*sums), ascending);
	for (i = 0; i < fct_rdm_count; i++)
		FCT_EQ(sums[i], i);
	return 0;
}

static int verify_words(struct rdm *r)
{
	const uint64_t *words =
		(uint64_t *)(void *)(r->regions.buf + (size_t)RDM_REGION * fct_rdm_count);
	uint32_t i;

	FCT_EQ(words[SUM], fct_rdm_count);
	FCT_EQ(words[MAX], (fct_rdm_count - 1) * 7ull + 3);
	for (i = 0; i < fct_rdm_count; i++)
		FCT_EQ(*(uint64_t *)(void *)r->peers[i].region, i + 1);
	return 0;
}

/* Sums and a maximum that all peers share, and an exchange for each of them. */
FCT_CASE(atomics, "sums, exchanges and a maximum at the server")
{
	struct rdm_peer *p;
	FCT_AUTO(fct_rdm_end) struct rdm r = {0};

	FCT_DO(fct_rdm_up(&r, ATOMIC_CAPS));
	FCT_DO(fct_rdm_exchange_targets(&r));
	if (fct_is_client()) {
		for (p = r.peers; p < r.peers + fct_rdm_count; p++)
			FCT_DO(post_atomics(&r, p));
		FCT_DO(fct_rdm_await(&r, RDM_BURST * fct_rdm_count, 0, check_atomic,
				     "all atomics"));
		FCT_DO(verify_fetched(&r));
	}
	FCT_DO(fct_barrier("all atomics"));
	if (fct_is_server())
		FCT_DO(verify_words(&r));
	return 0;
}
