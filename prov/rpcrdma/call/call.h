/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls and Replies of a connection, whatever they are about: credits, XIDs, chunks,
 * RDMA_ERROR, and what becomes of them when the connection ends. The modes (rpc/, wrap/)
 * say what a message is.
 *
 * Everything but rpr_progress is called with the domain's lock.
 */
#ifndef RPR_CALL_H
#define RPR_CALL_H

#include "objects.h"

/* ---- mem.c: memory that peers may reach, and memory for RDMA of this end ---- */

/* Registers len bytes at buf for a peer: access is FI_REMOTE_READ or FI_REMOTE_WRITE.
 * 0, or the lower provider's code; -FI_EMSGSIZE: longer than a segment. */
int rpr_mem_expose(struct rpr_domain *domain, void *buf, size_t len, uint64_t access,
		   struct rpr_mem *mem);
/* The same with memory of its own, which mem owns. -FI_ENOMEM. */
int rpr_mem_alloc(struct rpr_domain *domain, size_t len, uint64_t access,
		  struct rpr_mem *mem);
/* Registers the local side of an RDMA operation if the lower provider needs it: access
 * is FI_READ or FI_WRITE. desc: of the program's region, which is taken where it does;
 * NULL: there is none. */
int rpr_mem_local(struct rpr_domain *domain, void *buf, size_t len, void *desc,
		  uint64_t access, struct rpr_mem *mem);
/* Memory of its own for the local side of an RDMA Write. */
int rpr_mem_copy(struct rpr_domain *domain, size_t len, struct rpr_mem *mem);
static inline void *rpr_mem_desc(const struct rpr_mem *mem)
{
	return mem->mr ? fi_mr_desc(mem->mr) : mem->desc;
}
/* No peer reaches it from here on; owned memory stays. */
void rpr_mem_fence(struct rpr_mem *mem);
/* The same, and frees what is owned. Harmless for one that is all zero. */
void rpr_mem_close(struct rpr_mem *mem);
static inline bool rpr_mem_used(const struct rpr_mem *mem)
{
	return mem->mr || mem->owned;
}

/* ---- post.c: operations of the lower provider ---- */

void rpr_item_init(struct rpr_ep *ep, struct rpr_item *item, enum rpr_item_kind kind,
		   void (*done)(struct rpr_item *item, int err));
void rpr_post(struct rpr_item *item);
/* Posts what had to wait; of a connection that is down, ends it. */
void rpr_kick(struct rpr_ep *ep);

/* ---- rx.c: receives of the lower provider ---- */

/* Posts all of them. 0 or the lower provider's code. */
int rpr_rx_start(struct rpr_ep *ep);
/* The bytes are not needed any more. */
void rpr_rx_put(struct rpr_rx *rx);
void rpr_rx_retry(struct rpr_ep *ep);

/* ---- inbound.c: which direction, and is it well formed ---- */

void rpr_inbound(struct rpr_ep *ep, struct rpr_rx *rx);

/* ---- layout.c: a message out of its inline part and Read chunks ---- */

/* A part of a message. */
struct rpr_piece {
	size_t at; /* bytes into the message */
	size_t len;
	const uint8_t *bytes; /* inline; NULL: in the peer's memory */
	uint32_t handle;
	uint64_t offset;
};

struct rpr_layout {
	size_t total; /* bytes of the message */
	uint32_t count;
	struct rpr_piece piece[];
};

/*
 * RFC 8166 sections 3.4.5 and 3.5.3: positions are multiples of four within the message,
 * which is limit bytes long at most; chunks may be in any order. The pad of a chunk is
 * zeros, or is part of it. nomsg: the message is in the chunk at position zero, which a
 * message that is inline must not have. 0 and *layout (freed by the caller), -FI_EINVAL
 * or -FI_ENOMEM.
 */
int rpr_layout(const struct rpr_header *header, bool nomsg, const uint8_t *bytes,
	       size_t len, size_t limit, struct rpr_layout **layout);

/* ---- deliver.c: arrivals meet receives ---- */

void rpr_arrival_init(struct rpr_arrival *arrival, struct rpr_ep *ep,
		      enum rpr_direction direction);
/* A message is for the program. */
void rpr_arrive(struct rpr_arrival *arrival);
/* The same with the receive that it is for; what is in the receive's memory is there. */
void rpr_arrive_at(struct rpr_arrival *arrival, struct rpr_recv *recv);
/* A receive gets bytes of the layer's. */
void rpr_recv_give(struct rpr_ep *ep, struct rpr_recv *recv, const struct iovec *bytes);
/* Receives were posted, or arrivals came. */
void rpr_match(struct rpr_ep *ep);
void rpr_match_shared(struct rpr_srx *srx);
/* Drops the message; an RDMA Read that is under way ends first. */
void rpr_arrival_drop(struct rpr_arrival *arrival);

/* An entry for a receive of the program, which ends with it. len: bytes received. */
void rpr_recv_done(struct rpr_ep *ep, struct rpr_recv *recv, size_t len, uint64_t flags,
		   uint64_t data);
void rpr_recv_failed(struct rpr_ep *ep, struct rpr_recv *recv, int err, int prov_errno,
		     size_t len, size_t olen, uint64_t data);
/* The oldest receive for that direction, taken out; NULL: there is none. */
struct rpr_recv *rpr_recv_take(struct rpr_rxq *rxq, enum rpr_direction direction);

/* ---- calls.c: Calls of this end ---- */

/* Most Calls without a Reply at the moment. */
static inline uint32_t rpr_call_limit(const struct rpr_ep *ep)
{
	return CRN_MIN(ep->calls_max, ep->credit);
}

/* May another Call be sent? Each needs a credit, and a receive for its Reply. */
static inline bool rpr_call_may_go(const struct rpr_ep *ep)
{
	return ep->outstanding < rpr_call_limit(ep) &&
	       ep->outstanding + ep->unread < ep->calls_max;
}

/* A free slot, or NULL. It is to be started or put back. */
struct rpr_call *rpr_call_take(struct rpr_ep *ep, uint32_t xid);
void rpr_call_put(struct rpr_call *call);
/* A Call with that XID, in any state; NULL: none. */
struct rpr_call *rpr_call_find(struct rpr_ep *ep, uint32_t xid);
/* Its transport message is send.buf, send.len bytes. Without a credit it waits. */
void rpr_call_start(struct rpr_call *call);
/* A Reply arrived, with what follows its header. */
void rpr_call_reply(struct rpr_call *call, const struct rpr_header *header,
		    struct rpr_rx *rx, const uint8_t *bytes, size_t len);
/* It was answered with RDMA_ERROR, or never will be. */
void rpr_call_lost(struct rpr_call *call, int err, int prov_errno);
/* Its Reply was delivered. */
void rpr_call_over(struct rpr_call *call);
/* A Reply or error came for no Call: it returns the credit of one that was cancelled,
 * if there is one. */
void rpr_call_late(struct rpr_ep *ep);
/* fi_cancel of a Call that is sent or waits: false if it is none that can be. */
bool rpr_call_cancel(struct rpr_ep *ep, void *context);

/* ---- serve.c: Calls of the peer ---- */

/* A slot that has its buffer. */
void rpr_serve_init(struct rpr_ep *ep, struct rpr_serve *serve);
/* The place of a Call that arrived. NULL: rx is taken care of; the Call waits for a
 * place, none are granted, or the connection is closed. */
struct rpr_serve *rpr_serve_take(struct rpr_ep *ep, struct rpr_rx *rx, uint32_t xid);
void rpr_serve_call(struct rpr_serve *serve, const struct rpr_header *header,
		    struct rpr_rx *rx, const uint8_t *bytes, size_t len);
/* The Call was delivered to the program. */
void rpr_serve_delivered(struct rpr_serve *serve);
/* Answers with RDMA_ERROR. vers: of the Call. */
void rpr_serve_error(struct rpr_serve *serve, enum rpr_errcode err, uint32_t vers);
/* The Reply is in send.buf, send.len bytes. */
void rpr_serve_reply(struct rpr_serve *serve);
/* One of serve->items is to be posted: an RDMA Write before the Reply. */
void rpr_serve_write(struct rpr_serve *serve, struct rpr_item *item);
/* A delivered Call with that XID, the oldest; NULL: none. */
struct rpr_serve *rpr_serve_find(struct rpr_ep *ep, uint32_t xid);

/* ---- poison.c: Calls that broke a connection ---- */

/* It was this one. */
void rpr_poison_add(const struct rpr_serve *serve);
/* Has this Call, of the same peer, broken a connection before this one? It is forgotten
 * then. */
bool rpr_poison_take(const struct rpr_serve *serve);

/* ---- down.c: the end ---- */

/* The connection is over, as the lower provider says or the program wishes. */
void rpr_down(struct rpr_ep *ep);
/* An operation failed with a positive FI_E* code: unless that is a consequence of the
 * connection's end, it is closed (RFC 8166 section 4.5.4) and the program told. */
void rpr_broken(struct rpr_ep *ep, int err);
/* The peer misbehaves: the connection is closed, with one log line. */
void rpr_kill(struct rpr_ep *ep, const char *why);
/* Receives that nothing will come for. */
void rpr_flush(struct rpr_ep *ep);

/* ---- completions of sends ---- */

static inline void rpr_sent(struct rpr_ep *ep, void *context, uint64_t flags, bool report)
{
	const struct crn_cq_comp comp = {
		.entry = {.op_context = context, .flags = flags},
		.src_addr = FI_ADDR_NOTAVAIL,
	};

	crn_ep_done(&ep->ep, CRN_EP_TX, &comp, report);
}

void rpr_send_failed(struct rpr_ep *ep, void *context, uint64_t flags, int err,
		     int prov_errno);

#endif
