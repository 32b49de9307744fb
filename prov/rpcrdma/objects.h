/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the provider. One lock, that of the domain's lower completion queue,
 * guards all that moves in a domain: calls of the program take it, and completions of the
 * lower provider are handed over with it. It is taken after the fabric's locks, and
 * before those of queues and counters.
 */
#ifndef RPR_OBJECTS_H
#define RPR_OBJECTS_H

#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_ext_cairn.h>
#include <cairn/cntr.h>
#include <cairn/cq.h>
#include <cairn/ep.h>
#include <cairn/list.h>
#include <cairn/lower.h>
#include <cairn/slab.h>
#include "rpcrdma.h"
#include "wire/wire.h"

struct rpr_ep;

/* Bytes of a Call up to its procedure (RFC 5531 section 9). */
#define RPR_CALL_BEGIN 24

/* tick.c */
struct rpr_tick {
	struct crn_wait_source source;
	_Atomic unsigned int polled; /* domains with a lower queue without a descriptor */
};

struct rpr_fabric {
	struct crn_lower_fabric lower;
	struct crn_wait wait;	       /* for whatever a read of any queue may move on */
	struct rpr_tick tick;	       /* of wait */
	struct crn_lock lock;	       /* guards what follows; taken first of all */
	struct crn_list domains;       /* of struct rpr_domain */
	struct crn_lock requests_lock; /* guards what follows; nothing is taken inside */
	struct crn_list requests;      /* of struct rpr_request: not accepted yet */
	struct crn_list peps;	       /* of struct rpr_pep: open */
};

/* What a connection request said, from its event to fi_accept or fi_reject. */
struct rpr_request {
	struct crn_list entry;
	fid_t handle;
	fid_t pep; /* the layer's */
	struct rpr_private priv;
	int marker;  /* enum rpr_mode of the peer; 0: it is not this provider */
	bool unread; /* by the program, as rpr_requests_mark found last */
};

/* A Call that broke a connection: call/poison.c. */
struct rpr_poison {
	struct in6_addr host; /* of the peer; an IPv4 address is its begin */
	uint32_t xid;
	uint8_t begin[RPR_CALL_BEGIN]; /* of the Call; zeros: it was all in chunks */
	uint64_t after;		       /* the first endpoint it may come again on */
	bool used;
};

#define RPR_POISONS 16

struct rpr_domain {
	struct fid_domain fid;
	struct fid_domain *lower;
	struct rpr_fabric *fabric;
	struct crn_list entry;	      /* of fabric->domains */
	struct crn_lower_cq cq;	      /* its lock: see above */
	struct crn_wait_lower source; /* of fabric->wait: cq.waited, once it is open */
	bool closing;		      /* cq is closed */
	_Atomic unsigned int refs;
	bool locked;
	/* What the lower provider's memory regions are like. */
	bool mr_local;	/* FI_MR_LOCAL */
	bool direct;	/* a region for messages does for RDMA of this end */
	bool prov_key;	/* FI_MR_PROV_KEY */
	bool virt_addr; /* FI_MR_VIRT_ADDR */
	bool chunks;	/* keys have 32 bits that do */
	uint32_t next_key;
	struct rpr_poison poison[RPR_POISONS]; /* a ring */
	uint32_t poisons;		       /* ever added */
	uint64_t endpoints;		       /* ever opened */
	struct crn_list busy;	  /* rpr_ep.busy: something waits to be posted */
	struct crn_list deferred; /* rpr_ep.deferred: Replies that may wait for company */
};

struct rpr_cq {
	struct crn_cq cq;
	struct rpr_domain *domain;
	struct crn_wait_inner source;
};

struct rpr_cntr {
	struct crn_cntr cntr;
	struct rpr_domain *domain;
	struct crn_wait_inner source;
};

struct rpr_pep {
	struct fid_pep fid;
	struct fid_pep *lower;
	struct crn_lower_obj obj;
	struct rpr_fabric *fabric;
	struct crn_list entry; /* of fabric->peps */
	struct fi_info *info;  /* of the program */
	enum rpr_mode mode;
};

/* ---- what goes to the lower provider ---- */

enum rpr_item_kind { RPR_ITEM_SEND, RPR_ITEM_READ, RPR_ITEM_WRITE };

/*
 * One operation of the lower provider. Those of a connection are posted in the order in
 * which they were given to rpr_post.
 */
struct rpr_item {
	struct crn_lower_op op;
	struct crn_list entry; /* of rpr_ep.queue */
	struct rpr_ep *ep;
	enum rpr_item_kind kind;
	/* Of SEND: nobody is told that it was sent. Where the lower provider may copy it,
	 * it is over when it is given to it. */
	bool quiet;
	void *buf;
	size_t len;
	void *desc;
	uint64_t addr; /* of the peer */
	uint64_t key;
	void *owner;  /* of READ and WRITE: the arrival or serve */
	bool refused; /* it failed because of the peer's memory, not of the way there */
	/* It is over: err is 0 or a positive FI_E* code. Called once, with the lock. */
	void (*done)(struct rpr_item *item, int err);
};

/* Memory that a peer may reach. */
struct rpr_mem {
	struct fid_mr *mr; /* NULL: none */
	void *desc;	   /* of the program's region, in place of mr */
	void *owned;	   /* freed with it; NULL: the program's memory */
	struct rpr_seg seg;
};

/* A receive of the lower provider and its buffer. */
struct rpr_rx {
	struct crn_lower_op op;
	struct rpr_ep *ep;
	struct crn_buf *buf;
	size_t len;	       /* bytes received */
	struct crn_list entry; /* of rpr_ep.stalled or unposted */
};

/* ---- what goes to the program ---- */

/* A receive that the program posted. */
struct rpr_recv {
	struct crn_list entry; /* of rpr_rxq.posted, or free */
	void *context;
	struct iovec iov[RPR_IOV_LIMIT];
	void *desc[RPR_IOV_LIMIT];
	size_t iov_count;
	size_t len;	/* bytes of room */
	uint64_t flags; /* of the call, or the endpoint's */
	int takes;	/* enum fi_cairn_rpc_recv */
};

/* Where receives wait: of an endpoint, or of a shared receive context. */
struct rpr_rxq {
	struct crn_list posted; /* of struct rpr_recv, oldest first */
	struct crn_list free;
	struct crn_list waiting; /* rpr_ep.waiting: arrivals without a receive */
	struct rpr_recv *recvs;
	bool shared;
};

struct rpr_srx {
	struct fid_ep fid;
	struct fi_ops_msg msg;
	struct rpr_domain *domain;
	struct rpr_rxq rxq;
	uint64_t op_flags;
	_Atomic unsigned int refs;
};

/*
 * A message for the program, from its arrival to its completion; of one connection, in
 * this order.
 */
struct rpr_arrival {
	struct crn_list entry; /* of rpr_ep.unmatched, then of matched */
	struct rpr_ep *ep;
	enum rpr_direction direction;
	struct rpr_rx *rx;	   /* with the bytes; NULL: they are copied */
	const uint8_t *bytes;	   /* inline part, in rx */
	size_t inline_len;	   /* bytes of it */
	size_t skip;		   /* bytes of the message that are not the program's */
	size_t len;		   /* of the whole message */
	struct rpr_layout *layout; /* how chunks are put together; NULL: all is inline */
	struct rpr_recv *recv;
	/* RDMA Reads into the receive; reading: items not over yet. */
	struct rpr_item *items;
	struct rpr_mem sink[RPR_IOV_LIMIT];
	uint32_t reading;
	uint32_t sinks;
	int err;     /* of them, positive */
	bool hidden; /* a Call whose XID and direction are in a chunk */
	bool whole;  /* everything is in the receive */
	/* The completion. */
	uint64_t
		flags; /* FI_REMOTE_CQ_DATA beside FI_RECV | FI_MSG; FI_RMA: no receive */
	uint64_t data;
};

/* ---- Calls ---- */

enum rpr_call_state {
	RPR_CALL_FREE,
	RPR_CALL_PREPARED, /* memory for its Reply is here, the Call is not */
	RPR_CALL_WAITING,  /* for a credit */
	RPR_CALL_SENT,	   /* no Reply yet */
	RPR_CALL_ARRIVED,  /* the Reply is not delivered yet */
};

/* A result of a Call: a Write chunk. */
struct rpr_result {
	struct rpr_mem mem;
	void *context;
	bool report;
};

/* A Call of this end. */
struct rpr_call {
	struct rpr_item send;	    /* the transport message, in buf */
	struct rpr_arrival arrival; /* its Reply */
	struct crn_list entry; /* of a bucket of rpr_ep.xids, or of rpr_ep.calls_free */
	struct crn_list wait;  /* of rpr_ep.calls_waiting */
	enum rpr_call_state state;
	uint32_t xid;
	bool posted;  /* send is not over */
	bool sent;    /* it was given to the lower provider */
	bool pending; /* the program has not been told that it was sent */
	bool report;
	bool at_reply; /* it is told when the Reply comes */
	bool urgent;
	uint64_t flags; /* of the completion */
	void *context;
	size_t body_len;
	struct crn_buf *buf;
	/* Memory that the peer may reach while the Call is outstanding. */
	struct rpr_mem read[RPR_IOV_LIMIT];
	uint32_t read_count;
	uint32_t began; /* rpr_clock */
	struct rpr_result result[RPR_WRITE_CHUNKS];
	uint32_t result_count;
	struct rpr_mem reply;
	void *reply_at;		     /* the memory of reply */
	struct rpr_recv *reply_recv; /* a receive for this Reply alone; has reply_at */
};

enum rpr_serve_state {
	RPR_SERVE_FREE,
	RPR_SERVE_ARRIVED,  /* not delivered yet */
	RPR_SERVE_HELD,	    /* the Reply is due */
	RPR_SERVE_REPLYING, /* the Reply was given to the lower provider */
};

/* A Call of the peer. */
struct rpr_serve {
	struct rpr_item send; /* the Reply, in buf */
	struct rpr_arrival arrival;
	struct crn_list entry; /* of rpr_ep.held in the order of delivery, or serves_free
				*/
	enum rpr_serve_state state;
	uint32_t xid;
	struct crn_buf *buf;
	uint8_t begin[RPR_CALL_BEGIN]; /* of a Call with chunks, as in rpr_poison */
	/* What the peer offers for results. */
	uint32_t write_count;
	bool has_reply;
	bool reducible; /* RFC 8166 section 8.2.2.3 */
	struct rpr_chunk write[RPR_WRITE_CHUNKS];
	struct rpr_chunk reply;
	/* RDMA Writes of results. */
	struct rpr_item *items;
	uint32_t writing;
	uint32_t began;			      /* rpr_clock */
	struct rpr_mem source[RPR_IOV_LIMIT]; /* of the entry with that number */
	struct rpr_mem body;		      /* of a Reply chunk */
	bool posted;			      /* send is not over */
	int err;
	/* The program's send that is the Reply; of none, pending is false. */
	bool pending;
	bool report;
	bool urgent; /* wrap mode: the peer waits for the Reply */
	uint64_t flags;
	void *context;
};

/* An RMA operation of the program, passed on. */
struct rpr_rma {
	struct crn_lower_op op;
	struct crn_list entry; /* free */
	struct rpr_ep *ep;
	void *context;
	uint64_t flags; /* of the completion */
	/* What has not ended yet: the operation, and the Call that takes its remote CQ
	 * data to the target. */
	unsigned int parts;
	int err; /* of the part that failed first, positive */
	int prov_errno;
	bool report;
	bool silent; /* fi_inject_write: there is no completion */
	bool used;
	struct rpr_mem copy; /* of what is injected */
};

/* ---- endpoints ---- */

enum rpr_ep_state {
	RPR_EP_OPEN,	   /* not enabled */
	RPR_EP_ENABLED,	   /* receives are posted */
	RPR_EP_CONNECTING, /* fi_connect or fi_accept was called */
	RPR_EP_UP,
	RPR_EP_DOWN,
};

/* What a mode makes of a Reply. */
enum rpr_taken {
	RPR_TAKEN,   /* it has a message for the program */
	RPR_EMPTY,   /* it has none */
	RPR_DROPPED, /* it is malformed: the Call stays outstanding */
};

/* What the two modes do differently. Called with the lock. */
struct rpr_mode_ops {
	/* A Call of the peer arrived: serve->arrival has its message. False: it is
	 * malformed, and is answered with RDMA_ERROR. */
	bool (*call)(struct rpr_ep *ep, struct rpr_serve *serve);
	/* The Reply to a Call, likewise. */
	enum rpr_taken (*reply)(struct rpr_ep *ep, struct rpr_call *call);
	/* A Call of the peer was delivered to the program. */
	void (*delivered)(struct rpr_ep *ep, struct rpr_serve *serve);
	/* A Call ended without a Reply: err is a positive FI_E* code, prov_errno an enum
	 * rpr_errcode or 0. Its send, if the program waits for that, has been reported.
	 */
	void (*lost)(struct rpr_ep *ep, struct rpr_call *call, int err, int prov_errno);
	/* Instead of the completion of a send: the Call of a write (call->flags has
	 * FI_RMA; call->context is the struct rpr_rma) was sent, or answered if
	 * call->at_reply is set. err: it was not. */
	void (*told)(struct rpr_call *call, int err, int prov_errno);
	/* A read found nothing to do: Replies that were put off are sent. */
	void (*idle)(struct rpr_ep *ep);
};

struct rpr_ep {
	struct fid_ep fid;
	struct fid_ep *lower;
	struct crn_lower_obj obj;
	struct crn_ep ep;
	struct rpr_domain *domain;
	enum rpr_mode mode;
	const struct rpr_mode_ops *ops;
	uint64_t number; /* endpoints of the domain that were opened before */
	enum rpr_ep_state state;
	bool bound;   /* the lower endpoint, to the domain's queue */
	bool active;  /* it connects */
	bool shut;    /* FI_SHUTDOWN was reported */
	bool gap;     /* wrap mode: a message was lost, and those behind it are */
	bool failed;  /* an operation of the lower provider, for a reason of its own */
	bool stopped; /* nothing is given to the lower endpoint any more */
	int marker;   /* enum rpr_mode of the peer; 0: it is not this provider */
	bool ready;   /* the peer takes Calls of this end */
	bool system_err;
	int chunks; /* enum fi_cairn_rpc_chunks */
	int takes;  /* enum fi_cairn_rpc_recv, of receives posted from now on */
	size_t copy, reply_size, max_msg;
	size_t tx_iov_limit, rx_iov_limit;
	bool wants_srx; /* FI_SHARED_CONTEXT: it is not enabled without */
	/* Bytes of an inline message each way, header included. */
	size_t send_inline, recv_inline;
	size_t lower_inject; /* bytes that the lower endpoint copies (fi_inject) */
	struct crn_slab slab;
	struct crn_list queue;	  /* of struct rpr_item: to be posted */
	struct crn_list busy;	  /* of domain->busy */
	struct crn_list deferred; /* of domain->deferred */
	/* Receives of the lower provider. */
	struct rpr_rx *rxs;
	size_t rx_count;
	struct crn_list unposted; /* of struct rpr_rx: the lower provider took none */
	/* Of struct rpr_rx: what arrived while no rpr_serve was free, and since. */
	struct crn_list stalled;
	bool resuming; /* they are looked at */
	/* Calls of this end. */
	struct rpr_call *calls;
	size_t call_slots;
	uint32_t calls_max;   /* outstanding, as requested */
	uint32_t credit;      /* granted by the peer; 1 before its first Reply */
	uint32_t outstanding; /* sent, without a Reply */
	uint32_t abandoned;   /* of them, cancelled */
	uint32_t unread;      /* Replies in receives of the lower provider */
	uint32_t next_xid;    /* of wrap mode */
	struct crn_list calls_free;
	struct crn_list calls_waiting;
	struct crn_list *xids; /* buckets of calls in use */
	uint32_t xid_mask;
	/* Calls of the peer. */
	struct rpr_serve *serves;
	size_t serve_slots;
	uint32_t grant;
	uint32_t serving; /* arrived, without a Reply */
	uint32_t held_count;
	struct crn_list serves_free;
	struct crn_list held; /* of struct rpr_serve: delivered, oldest first */
	/* The program's receives, and what is for them. */
	struct rpr_rxq rxq;	   /* its own */
	struct rpr_srx *srx;	   /* NULL: rxq */
	struct crn_list waiting;   /* of rpr_rxq.waiting */
	struct crn_list unmatched; /* of struct rpr_arrival */
	struct crn_list matched;
	bool matching;	  /* rpr_match is under way */
	bool match_again; /* it was called meanwhile */
	/* RMA of wrap mode. */
	struct rpr_rma *rmas;
	struct crn_list rmas_free;
	struct fi_cairn_rpc_stats stats;
};

/* Milliseconds, for ages: a Call is not to pay for an exact clock. */
static inline uint32_t rpr_clock(void)
{
	return (uint32_t)crn_tick_ms();
}

static inline struct rpr_ep *rpr_ep_of(struct fid_ep *ep)
{
	return crn_container_of(ep, struct rpr_ep, fid);
}

static inline struct crn_lock *rpr_lock_of(struct rpr_ep *ep)
{
	return &ep->domain->cq.lock;
}

static inline struct rpr_rxq *rpr_rxq_of(struct rpr_ep *ep)
{
	return ep->srx ? &ep->srx->rxq : &ep->rxq;
}

/* One constructor a file. */
extern struct crn_lower_layer rpr_layer; /* info.c */
int rpr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);
/* Once, when the parameters are read. */
void rpr_info_setup(void);
/* The mode of an info of the provider's. */
enum rpr_mode rpr_info_mode(const struct fi_info *info);
/* crn_lower_info for an info of the provider's. */
int rpr_info_down(struct rpr_fabric *fabric, const struct fi_info *info,
		  struct fi_info **lower);
/* The info of a connection request, as crn_lower has it, to the program's. */
void rpr_info_request(struct fi_info *info, enum rpr_mode mode);

int rpr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);
int rpr_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);
int rpr_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		void *context);
int rpr_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr, void *context);
int rpr_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);
int rpr_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);
int rpr_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **srx,
		 void *context);

/* A timer of that wait object, which goes off while some domain's queue has no
 * descriptor. */
int rpr_tick_init(struct rpr_tick *tick, struct crn_wait *wait);
void rpr_tick_fini(struct rpr_tick *tick);

/* call/progress.c: moves on everything of the domain; without the lock. */
void rpr_progress(struct rpr_domain *domain);
/* The same with the lock. */
void rpr_progress_locked(struct rpr_domain *domain);
/* The lower queue for an endpoint; waited: some program sleeps until it has something. */
int rpr_lower_queue(struct rpr_domain *domain, bool waited, struct fid_cq **fid);
/* crn_lower_cq.progressed of a domain's queue. */
void rpr_progressed(struct crn_lower_cq *cq, ssize_t count);
/* The same, of all domains of a fabric. */
void rpr_fabric_progress(struct rpr_fabric *fabric);

#endif
