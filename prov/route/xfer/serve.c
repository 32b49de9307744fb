/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of the other end: answered one after the other, each in fragments that are copied
 * from the region into a Send, or sent from a region that is held for so long. It is
 * looked up when the read arrives, so that nothing behind one that is refused is taken,
 * and for each fragment, since the program may close it meanwhile.
 */
#include <cairn/tsan.h>
#include "ops.h"

/* Of a READ_FRAG, with an ACK. */
#define FRAG_HEAD 96u

static void serve_end(struct rte_vc *vc)
{
	vc->serve_head = (vc->serve_head + 1) % RTE_VC_READS;
	vc->serve_count--;
}

/* number: the region that is held, or 0. */
static void answered(struct rte_tx *tx, int err)
{
	struct rte_vc *vc = tx->user;

	if (tx->number)
		vc->attr.release(vc, (struct crn_mr *)(uintptr_t)tx->number);
	vc->lower--;
	vc->answers--;
	rte_vc_settle(vc);
}

/*
 * The next bytes in the region: looked at between crn_mr_begin and crn_mr_end. What was
 * begun is not answered from another one that has the key now.
 */
static int region_find(struct rte_vc *vc, struct rte_vc_serve *serve, void **at,
		       struct crn_mr **mr)
{
	int ret = crn_mr_find(vc->attr.map, serve->key, serve->addr + serve->offset,
			      (size_t)(serve->length - serve->offset), FI_REMOTE_READ, at,
			      mr);

	if (ret)
		return ret;
	if (!serve->offset)
		serve->region = (*mr)->number;
	return serve->region == (*mr)->number ? 0 : -FI_EKEYREJECTED;
}

static int region_check(struct rte_vc *vc, struct rte_vc_serve *serve)
{
	struct crn_mr *mr;
	void *at;
	int ret;

	if (!vc->attr.map)
		return -FI_EKEYREJECTED;
	crn_mr_begin(vc->attr.map);
	ret = region_find(vc, serve, &at, &mr);
	crn_mr_end(vc->attr.map);
	return ret;
}

bool rte_vc_serve_take(struct rte_vc *vc, const struct rte_rx *rx,
		       const struct rte_read_req *req)
{
	struct rte_vc_serve *serve;
	int ret;

	if (vc->state != RTE_VC_UP)
		return true;
	if (vc->serve_count == RTE_VC_READS)
		return false;
	serve = &vc->serves[(vc->serve_head + vc->serve_count) % RTE_VC_READS];
	serve->seq = rx->packet.head.seq;
	serve->addr = req->addr;
	serve->key = req->key;
	serve->length = req->length;
	serve->offset = 0;
	serve->window = CRN_MIN(req->window, RTE_VC_WINDOW);
	serve->frag = req->frag;
	ret = region_check(vc, serve);
	if (ret)
		rte_vc_refuse(vc, serve->seq, -ret);
	else
		vc->serve_count++;
	return true;
}

static int region_copy(struct rte_vc *vc, struct rte_vc_serve *serve, uint8_t *to,
		       size_t len)
{
	struct crn_mr *mr;
	void *at;
	int ret;

	crn_mr_begin(vc->attr.map);
	ret = region_find(vc, serve, &at, &mr);
	crn_tsan_peer_begins();
	if (!ret)
		memcpy(to, at, len);
	crn_tsan_peer_ends();
	crn_mr_end(vc->attr.map);
	return ret;
}

/* 0: tx is to send from it; -FI_EAGAIN: its bytes have to be copied. */
static int region_hold(struct rte_vc *vc, struct rte_vc_serve *serve, struct rte_tx *tx)
{
	struct crn_mr *mr;
	void *at;
	int ret;

	crn_mr_begin(vc->attr.map);
	ret = region_find(vc, serve, &at, &mr);
	if (!ret && !vc->attr.hold(vc, mr, &tx->desc))
		ret = -FI_EAGAIN;
	crn_mr_end(vc->attr.map);
	if (ret)
		return ret;
	tx->data = at;
	tx->number = (uintptr_t)mr;
	return 0;
}

/* The slot is filled in by rte_tx_post. */
static size_t frag_pack(struct rte_vc *vc, const struct rte_vc_serve *serve,
			struct rte_tx *tx, size_t len)
{
	const struct rte_read_frag frag = {
		.slot = tx->slot_len ? 0 : RTE_SLOT_NONE,
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

static void serve_post(struct rte_vc *vc, struct rte_vc_serve *serve, struct rte_tx *tx,
		       size_t len)
{
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
}

/* The region has been closed: those behind it are not answered either. */
static void serve_refuse(struct rte_vc *vc, const struct rte_vc_serve *serve,
			 struct rte_tx *tx, int err)
{
	rte_tx_drop(tx);
	vc->serve_count = 0;
	rte_vc_refuse(vc, serve->seq, -err);
}

/* These return false when there is no credit or memory now. */
static bool serve_copied(struct rte_vc *vc, struct rte_vc_serve *serve)
{
	const size_t most = CRN_MIN(serve->frag, vc->path.eager);
	const size_t len = CRN_MIN(serve->length - serve->offset, most);
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_RESPONSES, FRAG_HEAD + len);
	int ret;

	if (!tx)
		return false;
	/* Packed last: a region that has been closed leaves nothing to be packed. */
	ret = region_copy(vc, serve, tx->bytes + FRAG_HEAD, len);
	if (ret) {
		serve_refuse(vc, serve, tx, ret);
		return true;
	}
	tx->len = frag_pack(vc, serve, tx, len);
	memmove(tx->bytes + tx->len, tx->bytes + FRAG_HEAD, len);
	tx->len += len;
	tx->number = 0;
	serve_post(vc, serve, tx, len);
	return true;
}

static bool serve_direct(struct rte_vc *vc, struct rte_vc_serve *serve)
{
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	size_t most = vc->path.eager;
	int ret;

	if (!tx)
		return false;
	ret = region_hold(vc, serve, tx);
	if (ret == -FI_EAGAIN) {
		rte_tx_drop(tx);
		return serve_copied(vc, serve);
	}
	if (ret) {
		serve_refuse(vc, serve, tx, ret);
		return true;
	}
	if (rte_tx_slot(tx))
		most = CRN_MIN(tx->slot_len, CRN_MIN(vc->path.frag, serve->frag));
	tx->data_len = CRN_MIN(serve->length - serve->offset, most);
	tx->len = frag_pack(vc, serve, tx, tx->data_len);
	serve_post(vc, serve, tx, tx->data_len);
	return true;
}

static bool serve_step(struct rte_vc *vc, struct rte_vc_serve *serve)
{
	const size_t most = CRN_MIN(serve->frag, vc->path.frag);

	return vc->attr.hold && most > vc->path.eager &&
			       serve->length - serve->offset > vc->path.eager
		       ? serve_direct(vc, serve)
		       : serve_copied(vc, serve);
}

void rte_vc_serve(struct rte_vc *vc)
{
	struct rte_vc_serve *serve;

	while (vc->serve_count && vc->state == RTE_VC_UP) {
		serve = &vc->serves[vc->serve_head];
		if (vc->answers >= serve->window || !serve_step(vc, serve))
			break;
	}
}
