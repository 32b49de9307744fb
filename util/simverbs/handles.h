/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects a program holds, and the process they belong to. Each begins with the
 * struct that libibverbs defines, so a pointer to one is a pointer to the other.
 */
#ifndef SVB_H
#define SVB_H

#include <pthread.h>
#include <cairn/list.h>
#include "shared/bell.h"
#include "compat56.h"
#include "compat65.h"
#include "engine/engine.h"
#include "shared/registry.h"
#include "shared/segment.h"
#include "settings.h"

#define SVB_API __attribute__((visibility("default")))
#define svb_likely(x) __builtin_expect(!!(x), 1)
#define svb_unlikely(x) __builtin_expect(!!(x), 0)

/* How this process sees another. */
struct svb_peer {
	struct svb_seg *seg;
	uint32_t generation; /* whose segment that is */
	bool relayed;	     /* its memory is out of reach: engine/relay.h */
	/* Of the segment, what valgrind was last told is in use. */
	uint32_t shown[SVB_TABLES];
	uint64_t shown_heap;
};

/* The process. */
struct svb_self {
	pthread_mutex_t mutex; /* of everything here but seg, peer and settings */
	struct svb_seg *seg;
	uint32_t index;
	uint32_t generation;
	bool joined;
	/* Something is set that the fast path does not do: latency, loss, model. */
	bool slow;
	bool iwarp;    /* the link layer is: engine/iwarp.c */
	bool valgrind; /* runs under it: vg.h */
	bool model;    /* a machine is modelled: ours, or a peer's */
	int dir_fd;
	int seg_fd;
	int ring_fd; /* rings bells */
	int life_fd; /* svb_life_open */
	char dir[80];
	struct svb_registry *registry;
	struct svb_peer peer[SVB_PROC_MAX];
	struct svb_settings settings;
	struct crn_list contexts;
	/* What the connection manager does when the process ends; NULL: it never began.
	 */
	void (*leave)(void);
	/* Private halves by slot: NULL where free. */
	struct svb_qp *qp[SVB_MAX_QP];
	struct svb_cq *cq[SVB_MAX_CQ];
	struct svb_srq *srq[SVB_MAX_SRQ];
	uint32_t next_pd;
};
extern struct svb_self svb_self;

/*
 * Makes this process one of those that share the devices, once (and again in the child of
 * a fork). Everything that opens something calls it first. Returns 0 or an errno.
 */
int svb_join(void);

/* A device as a program sees it: struct ibv_device first, and room for what probes read.
 */
struct svb_device {
	struct ibv_device ibv;
	uint64_t room[64];
	uint32_t index; /* in settings.device */
};

struct svb_context {
	struct verbs_context vctx; /* ends with struct ibv_context */
	struct svb_device *device;
	struct crn_list entry;		/* svb_self.contexts */
	uint32_t bell;			/* of async_fd */
	uint32_t events[SVB_MAX_PORTS]; /* 1 << enum ibv_event_type, not yet read */
};

struct svb_pd {
	struct ibv_pd ibv;     /* handle: what regions and queue pairs carry */
	struct svb_pd *parent; /* of a parent domain; NULL else */
	uint32_t users;
};

struct svb_mr {
	struct ibv_mr ibv;
	struct svb_mr_sh *sh;
};

struct svb_mw {
	struct ibv_mw ibv;
	struct svb_mr_sh *sh;
};

struct svb_ah {
	struct ibv_ah ibv;
	struct ibv_ah_attr attr;
};

struct svb_channel {
	struct ibv_comp_channel ibv;
	uint32_t bell;
	uint32_t next; /* slot of the queue to look at first */
};

struct svb_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	struct svb_lock poll; /* of the consumer: held from start_poll to end_poll */
	struct svb_cq_sh *sh;
	char *ring;
	uint32_t mask;
	uint32_t slot;
	uint32_t users;		 /* queue pairs */
	uint32_t given;		 /* completion events read by ibv_get_cq_event */
	uint32_t async_given;	 /* and async events */
	struct svb_cqe *current; /* between start_poll and end_poll */
	uint64_t ring_size;
};

struct svb_srq {
	struct ibv_srq ibv;
	struct svb_srq_sh *sh;
	uint32_t slot;
	uint32_t users;
	uint32_t given;
	uint64_t ring_size;
};

struct svb_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex;
		struct svb_qp_ex56 ex56;
	};
	struct svb_qp_sh *sh;
	uint32_t slot;
	uint32_t given; /* async events read */
	bool extended;	/* created with send_ops_flags */
	struct svb_cq *send_cq;
	struct svb_cq *recv_cq;
	struct svb_srq *srq;
	uint32_t max_inline;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t opcodes; /* it takes: svb_qp_opcodes */
	uint64_t sq_size; /* bytes of the rings */
	uint64_t rq_size;
	uint64_t answered; /* with latency: when the newest read or atomic is, ns */
	/* iWARP: requests that left and have not arrived; lock: the send queue's. */
	struct crn_list wire;
	size_t wire_bytes;
	/* Between wr_start and wr_complete: */
	struct svb_wqe *building;
	uint32_t built; /* head as it will be */
	int build_error;
};

static inline struct svb_context *svb_context(struct ibv_context *ctx)
{
	return (struct svb_context *)((char *)ctx -
				      offsetof(struct svb_context, vctx.context));
}

static inline struct svb_qp *svb_qp(struct ibv_qp *qp)
{
	return (struct svb_qp *)qp;
}

static inline struct svb_cq *svb_cq(struct ibv_cq *cq)
{
	return (struct svb_cq *)cq;
}

static inline struct svb_srq *svb_srq(struct ibv_srq *srq)
{
	return (struct svb_srq *)srq;
}

/* Room for entries of a ring of stride bytes each; counts are powers of two. */
uint32_t svb_ring_count(uint32_t entries);

/* verbs/cq.c: adds a completion, with the event that an armed queue owes. */
void svb_cq_push(struct svb_seg *seg, struct svb_cq_sh *cq, const struct svb_cqe *cqe,
		 bool solicited);

/*
 * The same in pieces, for a completion of this process that succeeded in a queue that
 * needs nothing special: true when it is locked and has room for *cqe.
 */
SVB_INLINE bool svb_cq_begin(struct svb_seg *seg, struct svb_cq_sh *cq,
			     struct svb_cqe **cqe)
{
	if (svb_unlikely(!svb_trylock(&cq->lock)))
		return false;
	*cqe = (struct svb_cqe *)svb_seg_at(seg, cq->ring) + (cq->tail & cq->mask);
	if (svb_likely(!(cq->armed | cq->flags) &&
		       cq->tail - __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) <
			       cq->limit))
		return true;
	svb_unlock(&cq->lock);
	return false;
}

SVB_INLINE void svb_cq_end(struct svb_cq_sh *cq)
{
	__atomic_store_n(&cq->tail, cq->tail + 1, __ATOMIC_RELEASE);
	svb_unlock(&cq->lock);
}

/* Removes what a queue pair left in a completion queue of this process. */
void svb_cq_clean(struct svb_cq *cq, uint32_t qpn);

/* engine_*.c: what the pieces of the engine ask of each other. */

/* Status of a request that cannot be answered now: the queue waits. */
#define SVB_STAYS 0x100

/* A request under execution and who responds. */
struct svb_op {
	struct svb_seg *seg; /* the requester's */
	struct svb_qp_sh *qp;
	struct svb_wqe *wqe;
	struct svb_seg *rseg; /* the responder's */
	struct svb_qp_sh *rqp;
};

/* A receive that an incoming message uses. */
struct svb_recv {
	struct svb_seg *seg;
	struct svb_qp_sh *qp;
	struct svb_rwqe *rwqe;
	struct {
		struct svb_rwqe head;
		struct ibv_sge sge[SVB_MAX_SGE];
	} copy; /* of one from a shared queue */
};

/* Each returns enum ibv_wc_status or SVB_STAYS. */
int svb_rc_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
int svb_ud_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
/* No receive is posted; nobody answers. */
int svb_engine_rnr(struct svb_op *op);
int svb_engine_unanswered(struct svb_seg *seg, struct svb_qp_sh *qp);
/* The send queue stands still for that reason until that time (0: for ever). SVB_STAYS.
 */
int svb_engine_wait(struct svb_seg *seg, struct svb_sq *sq, enum svb_wait why,
		    uint64_t deadline);
/* Makes the process whose segment that is run its queues. */
void svb_engine_wake(struct svb_seg *seg);
/* The bytes a request sends. False: a key forbids it. */
bool svb_engine_source(struct svb_op *op, struct svb_span *span);
/* The status for the requester when moving bytes failed with an errno. */
int svb_engine_moved(struct svb_op *op, int err);

/*
 * engine/iwarp.c. begin and end stand around a run of a send queue: begin is false in a
 * process that is not the requester's. execute: a request of the queue. no_buffer: no
 * receive is posted. close: the queue pair is reset or destroyed, what is under way
 * arrives before.
 */
bool svb_iwarp_begin(struct svb_seg *seg, struct svb_qp_sh *qp);
void svb_iwarp_end(struct svb_seg *seg, struct svb_qp_sh *qp);
int svb_iwarp_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
int svb_iwarp_no_buffer(struct svb_op *op);
void svb_iwarp_close(struct svb_qp *qp);
/* For model/model.c, which runs queues in the engine's place: the steps of it. */
int svb_engine_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
void svb_engine_complete(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe,
			 int status);
/* Makes the owner of a queue look again at that time (ns). */
void svb_engine_deadline(struct svb_seg *seg, uint64_t deadline);
/* Finds who responds; false: nobody. */
bool svb_rc_responder(struct svb_op *op);
/* What the receiver learns of a message. */
void svb_rc_wc(struct svb_op *op, struct ibv_wc *wc, enum ibv_wc_opcode opcode);
/* Delivers a message into a receive that was taken. Returns a status. */
int svb_rc_deliver(struct svb_op *op, struct svb_recv *recv, struct svb_span *from);

/*
 * verbs/sane.c: may what the segment of another process says of a queue pair be followed?
 * As one that receives, one that sends, and the next request of the latter.
 */
bool svb_sane_receiver(struct svb_seg *seg, const struct svb_qp_sh *qp);
bool svb_sane_sender(struct svb_seg *seg, const struct svb_qp_sh *qp);
bool svb_sane_wqe(const struct svb_qp_sh *qp, const struct svb_wqe *wqe);

/* Takes the next receive; false when there is none, and then the sender is called back.
 */
bool svb_recv_take(struct svb_recv *recv, struct svb_seg *seg, struct svb_qp_sh *qp);
/* Completes it. wc: everything but wr_id and qp_num. */
void svb_recv_complete(struct svb_recv *recv, struct ibv_wc *wc, bool solicited);
/*
 * Its memory for len bytes, or all there is; false when a key forbids it. Adapters do not
 * look at a buffer that the message does not reach, nor does this.
 */
bool svb_recv_span(struct svb_recv *recv, struct svb_span *span, uint64_t len);
/*
 * Completes a receive that was taken some time ago. wc: everything. own: it was of the
 * queue pair's own queue, where it has that counter.
 */
void svb_recv_report(struct svb_seg *seg, struct svb_qp_sh *qp, const struct ibv_wc *wc,
		     bool own, uint32_t counter, bool solicited);
/* The first message to a queue pair that is ready to receive only: its event. */
void svb_recv_established(struct svb_qp_sh *qp);

/*
 * verbs/channel.c, verbs/async.c: an object is not destroyed before every event that was
 * read of it is acknowledged (ibv_ack_cq_events(3)). lock, cond: of the object.
 */
void svb_wait_acked(pthread_mutex_t *lock, pthread_cond_t *cond, const uint32_t *acked,
		    const uint32_t *given);

/* verbs/async.c: notes an event (enum ibv_event_type) in *events and rings the context's
 * bell.
 */
void svb_async_raise(uint32_t *events, uint32_t bell, enum ibv_event_type type);
/* The same for a port of a context of this process. */
void svb_async_port(struct svb_context *ctx, uint32_t port, enum ibv_event_type type);

/* verbs/qp_state.c: whether a transition with this mask is allowed (kernel:
 * ib_modify_qp_is_ok). */
bool svb_qp_modify_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type,
		      int mask);

/* verbs/wr_ex.c: fills the function table of an extended queue pair. Returns 0 or
 * EOPNOTSUPP.
 */
int svb_wr_ex_init(struct svb_qp *qp, uint64_t ops);

/* verbs/wr_post.c */
/* Which operations a queue pair of a type takes: 1 << enum ibv_wr_opcode. */
uint32_t svb_qp_opcodes(enum ibv_qp_type type);
int svb_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int svb_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int svb_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad);

/* verbs/cq.c, verbs/cq_ex.c */
int svb_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int svb_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *svb_create_cq_ex(struct ibv_context *ctx,
				   struct ibv_cq_init_attr_ex *attr);
void svb_cq_ex_init(struct svb_cq *cq, uint64_t wc_flags);
int svb_cq_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr);
int svb_cq_next_poll(struct ibv_cq_ex *ex);
void svb_cq_end_poll(struct ibv_cq_ex *ex);

/* verbs/qp.c */
int svb_rq_alloc(struct svb_rq *rq, uint32_t entries, uint32_t sges, uint64_t *size);
struct ibv_qp *svb_create_qp_ex(struct ibv_context *ctx,
				struct ibv_qp_init_attr_ex *attr);

/* verbs/qp_modify.c: ibv_modify_qp, also for what only the connection manager may do. */
int svb_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);

/* verbs/mw.c */
struct ibv_mw *svb_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int svb_dealloc_mw(struct ibv_mw *mw);
/* Executes a bind or a local or remote invalidation. Returns enum ibv_wc_status. */
enum ibv_wc_status svb_mw_bind(struct svb_seg *seg, struct svb_qp_sh *qp,
			       const struct svb_bind *bind);
bool svb_mw_invalidate(struct svb_seg *seg, struct svb_qp_sh *qp, uint32_t key);

/* verbs/pd.c: objects of a domain keep it from being freed. */
static inline void svb_pd_hold(struct ibv_pd *pd)
{
	__atomic_add_fetch(&((struct svb_pd *)pd)->users, 1, __ATOMIC_RELAXED);
}

static inline void svb_pd_drop(struct ibv_pd *pd)
{
	__atomic_sub_fetch(&((struct svb_pd *)pd)->users, 1, __ATOMIC_RELAXED);
}

struct ibv_td *svb_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr);
int svb_dealloc_td(struct ibv_td *td);
struct ibv_pd *svb_alloc_parent_domain(struct ibv_context *ctx,
				       struct ibv_parent_domain_init_attr *attr);

/* verbs/device.c: makes the devices that the settings name. */
void svb_devices_make(void);

/* verbs/device_attr.c */
int svb_query_device_ex(struct ibv_context *ctx,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size);
int svb_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr,
		   size_t size);
int svb_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values);
/* Settings of the device of a context, and of one of its ports (1...), NULL: none such.
 */
const struct svb_device_settings *svb_device_of(struct ibv_context *ctx);
const struct svb_port *svb_port_of(struct ibv_context *ctx, uint32_t port);

/* verbs/mcast.c: calls fn for every queue pair of the user that is attached to a group.
 */
void svb_mcast_each(const union ibv_gid *gid, uint32_t lid,
		    void (*fn)(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg),
		    void *arg);

#endif
