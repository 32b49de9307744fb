/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of the other end: answered one after the other, each in fragments that are copied
 * from the region into a Send. The region is looked up for each of them, since the
 * program may close it meanwhile.
 */
#include "ops.h"

/* Of a READ_FRAG, with an ACK. */
#define FRAG_HEAD 96u

bool rte_vc_serve_take(struct rte_vc *vc, const struct rte_rx *rx,
		       const struct rte_read_req *req)
{
	struct rte_vc_serve *serve;

	if (vc->state != RTE_VC_UP)
		return true;
	if (vc->serve_count == RTE_VC_READS)
		return false;
	serve = &vc->serves[(vc->serve_head + vc->serve_count++) % RTE_VC_READS];
	serve->seq = rx->packet.head.seq;
	serve->addr = req->addr;
	serve->key = req->key;
	serve->length = req->length;
	serve->offset = 0;
	serve->window = CRN_MIN(req->window, RTE_VC_WINDOW);
	serve->frag = req->frag;
	return true;
}

static void serve_end(struct rte_vc *vc)
{
	vc->serve_head = (vc->serve_head + 1) % RTE_VC_READS;
	vc->serve_count--;
}

static void answered(struct rte_tx *tx, int err)
{
	struct rte_vc *vc = tx->user;

	vc->lower--;
	vc->answers--;
	rte_vc_settle(vc);
}

static int region_copy(struct rte_vc *vc, const struct rte_vc_serve *serve, uint8_t *to,
		       size_t len)
{
	struct crn_mr_map *map = vc->attr.map;
	const size_t rest = (size_t)(serve->length - serve->offset);
	void *at;
	int ret;

	if (!map)
		return -FI_EKEYREJECTED;
	crn_mr_begin(map);
	ret = crn_mr_find(map, serve->key, serve->addr + serve->offset, rest,
			  FI_REMOTE_READ, &at, NULL);
	if (!ret)
		memcpy(to, at, len);
	crn_mr_end(map);
	return ret;
}

static size_t frag_pack(struct rte_vc *vc, const struct rte_vc_serve *serve,
			struct rte_tx *tx, size_t len)
{
	const struct rte_read_frag frag = {
		.slot = RTE_SLOT_NONE,
		.length = serve->length,
		.offset = serve->offset,
		.request = serve->seq,
	};
	struct rte_packet packet;
	ssize_t head;

	rte_vc_head(vc, &packet, RTE_READ_FRAG, 0, true);
	packet.head.plen = (uint32_t)len;
	packet.head.flags =
		(uint8_t)((serve->offset ? 0 : RTE_FIRST) |
			  (serve->offset + len == serve->length ? RTE_LAST : 0));
	head = rte_read_frag_pack(&packet, &frag, tx->bytes, tx->room);
	assert(head > 0);
	rte_vc_rode(vc, &packet);
	return (size_t)head;
}

/* False: there is no credit or memory for it now. */
static bool serve_step(struct rte_vc *vc, struct rte_vc_serve *serve)
{
	const size_t most = CRN_MIN(serve->frag, vc->path.eager);
	const size_t len = CRN_MIN(serve->length - serve->offset, most);
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_RESPONSES, FRAG_HEAD + len);
	int ret;

	if (!tx)
		return false;
	/* Packed last: what cannot be read gets a NACK in place of it. */
	ret = region_copy(vc, serve, tx->bytes + FRAG_HEAD, len);
	if (ret) {
		serve_end(vc);
		rte_vc_nack(vc, tx, serve->seq, -ret);
		return true;
	}
	tx->len = frag_pack(vc, serve, tx, len);
	memmove(tx->bytes + tx->len, tx->bytes + FRAG_HEAD, len);
	tx->len += len;
	tx->done = answered;
	tx->user = vc;
	vc->lower++;
	vc->answers++;
	serve->offset += len;
	if (serve->offset == serve->length) {
		crn_ep_count(vc->attr.ep, FI_RMA | FI_REMOTE_READ, false);
		serve_end(vc);
	}
	rte_tx_post(tx);
	return true;
}

void rte_vc_serve(struct rte_vc *vc)
{
	struct rte_vc_serve *serve;

	while (vc->serve_count && vc->state == RTE_VC_UP && !vc->nack_due) {
		serve = &vc->serves[vc->serve_head];

		if (vc->answers >= serve->window || !serve_step(vc, serve))
			break;
	}
}
