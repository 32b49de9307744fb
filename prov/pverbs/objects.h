/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the pverbs provider.
 *
 * Locks, in the order they are taken:
 *
 * pvb_eq.cm_lock: the CM state of every connection and passive endpoint of that EQ, and
 * the rdma_cm event channel; always on, for an EQ belongs to the fabric.
 *
 * pvb_requests.lock: which requests wait for the program, for the whole fabric.
 *
 * pvb_qp.tx_lock, rx_lock: posting to one queue pair. pvb_srx.lock: posting to a shared
 * receive context, and which queues complete it. pvb_cntr.lock: which completion queues
 * feed a counter. pvb_cq.lock: polling and the stash. These are off with
 * FI_THREAD_DOMAIN, unless keep-alive is on.
 *
 * Polling never takes tx_lock or rx_lock and posting does not take pvb_cq.lock (but for a
 * device that refuses what was accepted already): they meet in the rings (cairn/ring.h).
 */
#ifndef PVB_OBJECTS_H
#define PVB_OBJECTS_H

#include "device/device.h"
#include "wire/wire.h"
#include "pverbs.h"

/* fclass of the context of a control connection's rdma_cm id: beside libfabric's own. */
#define PVB_CLASS_CONTROL_QP ((size_t)1 << 16)

/* cm/request.h */
struct pvb_requests {
	pthread_mutex_t
		lock; /* after cm_lock; guards what follows, and req->eq and ->pep */
	struct crn_list list; /* pvb_connreq not yet given to fi_endpoint or fi_reject */
	/* Where those are whose event queue was closed; NULL: there was none yet. */
	struct rdma_event_channel *channel;
};

struct pvb_fabric {
	struct fid_fabric fid;
	pid_t pid; /* whose it is: a child of fork has a copy that is none */
	atomic_uint refs;
	struct pvb_requests requests;
	/* Of persist/control/control_conn.c; taken last, guards the lists. */
	pthread_mutex_t control_conn_lock;
	struct crn_list expected;  /* control queue pairs whose control connection has not
				      come yet */
	struct crn_list listeners; /* pvb_pep */
};

struct ibv_recv_wr;
struct pvb_control;
struct pvb_control_qp;
struct pvb_cq;
struct pvb_ep;
struct pvb_op;
struct pvb_qp;
struct pvb_slot;
struct pvb_wq;

/*
 * What durable operations do for the rooms below persist/, which do not know it: the
 * table is in persist/durable.c. Who has no pvb_commit, pvb_control_qp or pvb_control
 * calls none of the functions that take one.
 */
struct pvb_durable {
	/* pvb_tx for an operation with FI_COMMIT_COMPLETE. -FI_EOPNOTSUPP: the memory is
	 * not persistent, or there is no way to make sure; -FI_EKEYREJECTED: its key is
	 * damaged. Takes tx_lock. */
	ssize_t (*commit)(struct pvb_ep *ep, struct pvb_op *op);
	/* The same for an operation without the flag on a connection with persistent
	 * memory: records what it writes, and refuses it with -FI_EAGAIN while it would
	 * overtake a hazard. Takes tx_lock. */
	ssize_t (*track)(struct pvb_ep *ep, struct pvb_op *op);
	/* With tx_lock held, as the next: a call failed that was to follow operations
	 * with FI_MORE. They are over without it. */
	void (*end_more)(struct pvb_ep *ep);
	/* So many messages were not posted in the end. */
	void (*unposted)(struct pvb_qp *qp, uint32_t messages);
	/* wq remembers where its receives go, slots of at most limit pieces each: 0 or
	 * -FI_ENOMEM. */
	int (*recv_open)(struct pvb_wq *wq, size_t slots, size_t limit);
	/* What a wq has for that; it may have nothing. */
	void (*recv_close)(struct pvb_wq *wq);
	/* Where the receive in slot goes, of a wq with bufs. 0, or -FI_EINVAL: that is
	 * not where the endpoint's receives have to be. */
	int (*recv_note)(struct pvb_wq *wq, const struct pvb_slot *slot,
			 const struct ibv_recv_wr *wr);
	/* The device is gone: nothing is sent to the peer any more. */
	void (*lose)(struct pvb_control_qp *cqp);
	/* With the lock of the queue held, as the next two: of a group nothing more
	 * becomes durable. */
	void (*break_off)(struct pvb_qp *qp);
	/* Completions of sends, and of receives, that wait are given up. */
	void (*give_up_sends)(struct pvb_qp *qp);
	void (*give_up_receives)(struct pvb_cq *cq, struct pvb_qp *qp);
	/* Without the lock: a program that reads no event queue learns of the end of a
	 * connection by the operations that wait for its target. */
	void (*look)(struct pvb_cq *cq);
	/* Control messages, and a piece of the work that peers requested. False: another
	 * thread is at it. */
	bool (*progress)(struct pvb_control *control);
	/* The same, and what comes later raises an event on the channel, as what is left
	 * to do does. 0 or a negative code. */
	int (*arm)(struct pvb_control *control);
	/* Adds its descriptors to those that wait watches. 0 or a negative code. */
	int (*watch)(struct pvb_control *control, struct crn_wait *wait);
};

struct pvb_domain {
	struct fid_domain fid;
	struct pvb_fabric *fabric;
	const struct pvb_durable *durable;
	struct fi_info *info; /* the one given to fi_domain, our copy */
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct pvb_words *words; /* xfer/deliver.c */
	struct ibv_mr *words_mr;
	uint32_t quirks;	/* of the device: enum pvb_quirk */
	bool atomics;		/* of the device, and asked for */
	struct ibv_mr *sink_mr; /* xfer/sink.c: 8 bytes; NULL without atomics */
	/* Of queue pairs in ERR: one said that it left its shared receive queue alone;
	 * so many did not in time. */
	atomic_bool last_wqe_heard;
	atomic_uint last_wqe_missed;
	struct pvb_native native; /* what the device offers */
	bool fence_waits;	  /* xfer/fence.c, not the device's own fences */
	bool seq_atomics; /* atomics, of the device: sequence words can be advanced */
	struct pvb_control
		*control; /* persist/control/control.h; NULL: no durable connections */
	/* Of cq/removal.c. qps_lock comes before the locks of posting and of a queue.
	 */
	pthread_mutex_t qps_lock;
	struct crn_list qps; /* that were made */
	struct crn_list srxs;
	atomic_bool gone; /* the device was removed */
	int gone_fd;	  /* eventfd: readable from then on */
	bool locked;	  /* anything but FI_THREAD_DOMAIN */
	atomic_uint refs; /* endpoints, queues and regions */
};

/* Persistent memory, which peers may ask to be made durable: persist/target/respond.c. */
struct pvb_pmem_region {
	struct crn_list entry;
	uint64_t addr;
	uint64_t len; /* bytes */
	uint32_t rkey;
	bool write; /* peers may write to it */
	bool flush; /* the processor's caches are outside the persistence domain */
	unsigned int users; /* threads that flush it; with the lock of
			       persist/control/control.h */
};

struct pvb_mr {
	struct fid_mr fid;
	struct pvb_domain *domain;
	struct ibv_mr *mr;
	struct pvb_pmem_region pmem_region;
	struct pvb_key_attr key_attr; /* FI_RMA_PMEM: what the key says; else zero */
	bool replay;	   /* declared: its receives are applied again by recovery */
	atomic_uint users; /* endpoints whose receives are in it */
};

/* What is kept of an event after its acknowledgement. */
struct pvb_cm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t len;
	uint8_t bytes[UINT8_MAX];
};

/* Bytes of an event in the queue, at most. */
#define PVB_CM_EVENT_MAX (sizeof(struct fi_eq_cm_entry) + UINT8_MAX)

struct pvb_eq;
struct pvb_ep;

/* What connection management does for rooms below it, by way of an event queue. */
struct pvb_cm_calls {
	/* Handles waiting events on behalf of a program that reads another queue; not
	 * while somebody else does. */
	void (*look)(struct pvb_eq *eq);
	/* With cm_lock held, as the next: the connection need not wait for its second one
	 * any more. */
	void (*second_over)(struct pvb_ep *ep);
	/* The peer has gone. */
	void (*disconnected)(struct pvb_ep *ep);
	/* An operation failed that no completion reports. Any thread, without cm_lock. */
	void (*failed)(struct pvb_ep *ep);
};

struct pvb_eq {
	struct crn_eq eq;
	struct pvb_fabric *fabric;
	const struct pvb_cm_calls *cm;
	pthread_mutex_t cm_lock;
	struct rdma_event_channel *channel;
	int timer;	       /* of cm/keepalive.c; -1: off */
	struct crn_list alive; /* connected endpoints, for it */
	/* Of persist/control/control_conn.c. */
	struct crn_list control_conns; /* whose control connection is being made */
	int control_conn_timer;	       /* -1: none yet */
	uint64_t control_conn_due; /* ms: the first of them has no more time; else ~0 */
	atomic_bool control_conn_moved; /* another EQ's thread has something for one */
	atomic_uint refs;
	atomic_uint looking; /* readers of completion queues: persist/initiator/defer.c */
};

/* A completion in the provider's own form, until a format of the application's is filled.
 */
struct pvb_comp {
	void *context;
	uint64_t flags;
	size_t len;
	uint64_t data;
	int err;	/* FI_E*; 0: success */
	int prov_errno; /* of an error: enum ibv_wc_status, or -errno of a refused post */
};

/* One device queue behind a fi_cq; endpoints share it while its depth allows. */
struct pvb_hwcq {
	struct ibv_cq *cq;
	uint32_t depth;
	uint32_t reserved;
};

struct pvb_cq {
	struct fid_cq fid;
	struct pvb_domain *domain;
	struct crn_lock lock;
	enum fi_cq_format format;
	size_t entry_size;
	struct pvb_hwcq **hw; /* each one stays where it is: queue pairs point to it */
	uint32_t hw_count;
	/* Of cq/removal.c: all has ended, hw_count of the device queues is 0, so many are
	 * to be destroyed. */
	bool ended;
	uint32_t hw_gone;
	atomic_uint idle; /* consecutive reads that found nothing */
	uint32_t hw_next; /* where the next poll begins: none starves */
	struct ibv_cq
		*single; /* of hw, while there is no other; NULL: none, or several */
	/* Completions that may not be handed out yet: a ring, oldest at stash_head. */
	struct pvb_comp *stash;
	uint32_t stash_size; /* power of two, or 0 */
	uint32_t stash_head;
	uint32_t stash_count;
	uint32_t reserved; /* of all hw queues: what a drain may have to stash */
	size_t size_hint;  /* fi_cq_attr.size */
	/* Queue pairs with a shared receive queue of which more is to be known than that
	 * a receive completed, by number. */
	struct pvb_qp_wq *shared;
	uint32_t shared_count;
	/* Connections some of whose completions the device has given and the program may
	 * not have yet (pvb_defer_source): persist/initiator/defer.c,
	 * persist/target/arrival.c.
	 */
	struct crn_list deferring;
	atomic_bool wonders; /* one of them does: pvb_defer_look */
	int vector;	     /* completion vector: fi_cq_attr.signaling_vector */
	enum fi_cq_wait_cond wait_cond;
	/* NULL: neither the queue nor a counter fed by it has a wait object */
	struct ibv_comp_channel *channel;
	struct crn_wait wait;
	atomic_bool signaled; /* fi_cq_signal, not yet seen by a sread */
	atomic_bool told;     /* fi_trywait has reported it */
	atomic_uint sreaders; /* threads in fi_cq_sread */
	atomic_uint refs;
};

/* A completion queue that a counter counts completions of, for so many endpoints. */
struct pvb_feed {
	struct pvb_cq *cq;
	unsigned int uses;
};

struct pvb_cntr {
	struct crn_cntr cntr;
	struct pvb_domain *domain;
	struct crn_lock lock; /* guards feeds */
	struct pvb_feed *feeds;
	size_t feed_count;
	atomic_uint refs; /* endpoints */
};

/* What a counter may count: fi_ep_bind's flags as an index. */
enum pvb_count { PVB_COUNT_MSG, PVB_COUNT_READ, PVB_COUNT_WRITE, PVB_COUNTS };

/* One posted work request, from post to retirement. wr_id is its address. */
struct pvb_slot {
	struct pvb_wq *wq;
	void *context;
	uint64_t flags;	 /* of fi_cq, to report */
	uint32_t next;	 /* position in the ring behind it */
	uint16_t state;	 /* PVB_SLOT_* */
	uint16_t status; /* enum ibv_wc_status, of one that is deferred */
};

#define PVB_SLOT_NO_COMP 0x1u /* success is not reported */
#define PVB_SLOT_INJECT 0x2u  /* nothing is reported: fi_inject has no context */
/* Of an operation that is to be delivered: the next slot ends it, unless it fails. */
#define PVB_SLOT_HEAD 0x4u
/* That next slot: the read that shows the delivery. It has the operation's context. */
#define PVB_SLOT_TAIL 0x8u
/* Of a shared receive: success is not reported by endpoints with selective completion. */
#define PVB_SLOT_SELECTIVE 0x10u
/* Completed by the device, and durable once the target answered a request... */
#define PVB_SLOT_REQUEST 0x20u
/* ... or an entry of its message ring. */
#define PVB_SLOT_ENTRY 0x40u
/* One of a group of durable writes, and what makes all of the group durable. */
#define PVB_SLOT_GROUP 0x80u
#define PVB_SLOT_GROUP_END 0x100u
/* A fenced durable operation: everything before it is durable too. */
#define PVB_SLOT_FENCED 0x200u
/* What defer.c looks at, whatever else is deferred. */
#define PVB_SLOT_DEFER \
	(PVB_SLOT_REQUEST | PVB_SLOT_ENTRY | PVB_SLOT_GROUP | PVB_SLOT_GROUP_END)

/*
 * A completion that other objects than the queue and the slot have to do with; wq: of the
 * endpoint, also where slot->wq is a shared context's. Retires the slot, or keeps it for
 * later. True when *comp is to be reported. With the lock of the completion queue held.
 */
typedef bool (*pvb_on_complete)(struct pvb_cq *cq, struct pvb_wq *wq,
				const struct ibv_wc *wc, struct pvb_comp *comp);

struct pvb_wq {
	struct crn_ring ring;	/* of size 0 unless it is both open and made */
	struct pvb_slot *slots; /* NULL until the first operation: qp/qp.c */
	struct pvb_qp *qp;
	struct pvb_cq *cq;
	uint32_t depth;			     /* size of the open ring */
	uint32_t buf_limit;		     /* of bufs */
	uint64_t entries;		     /* ever used, when ep/stats.c last looked */
	uint64_t stalls;		     /* calls refused because the ring was full */
	_Atomic pvb_on_complete on_complete; /* NULL: the plain way */
	struct ibv_sge *bufs; /* receives for persist/target/message_ring.c: buf_limit a
				 slot; or NULL */
	struct pvb_arrival *arrivals; /* persist/target/arrival.c: one a slot; or NULL */
	struct pvb_srx *srx; /* whose own queue this is: slots retire in any order */
	struct pvb_cntr *cntr[PVB_COUNTS];
	bool counted;	  /* some cntr is not NULL */
	atomic_bool open; /* operations may be posted */
	atomic_bool made; /* slots is not NULL */
};

struct pvb_qp_wq {
	uint32_t qp_num;
	struct pvb_wq *wq;
};

/* The device queue in which a shared context's receives complete, for so many endpoints.
 */
struct pvb_srx_cq {
	struct pvb_cq *cq;
	struct pvb_hwcq *hw;
	unsigned int uses;
};

/*
 * A shared receive context. Its receives complete in the order in which messages arrive
 * at different queue pairs, and in any of their completion queues; so the slots are not a
 * ring but a list.
 */
struct pvb_srx {
	struct fid_ep fid;     /* FI_CLASS_SRX_CTX */
	struct crn_list entry; /* of pvb_domain.srxs */
	struct fi_ops_msg msg;
	struct pvb_domain *domain;
	struct ibv_srq *srq;
	struct crn_lock lock;
	struct pvb_wq wq;      /* cq NULL; of the ring nothing is used */
	struct pvb_slot *free; /* linked through context; of the posting thread */
	_Atomic(struct pvb_slot *) returned; /* the same; of the polling thread */
	/* From now on nothing can be posted: -FI_ENODEV. Any thread. */
	void (*end)(struct pvb_srx *srx);
	struct pvb_srx_cq *cqs;
	size_t cq_count;
	struct pvb_cq *flush_cq; /* bound by the program: reports what fi_close cancels */
	uint64_t flags;		 /* default op_flags */
	size_t iov_limit;
	atomic_uint refs; /* endpoints */
};

/* Connection states; cm/state.c has the transitions. */
enum pvb_conn_state {
	PVB_CONN_NEW,	    /* no queue pair yet */
	PVB_CONN_ENABLED,   /* queue pair in INIT: receives may be posted */
	PVB_CONN_ADDR,	    /* requester: resolving the address */
	PVB_CONN_ROUTE,	    /* requester: resolving the route */
	PVB_CONN_REQUESTED, /* requester: waiting for the answer */
	PVB_CONN_ACCEPTED,  /* responder: waiting for the requester to confirm */
	PVB_CONN_CONTROL,   /* stands; waiting for its control connection */
	PVB_CONN_CONNECTED,
	PVB_CONN_SHUTDOWN, /* was connected; queue pair in ERR */
	PVB_CONN_FAILED,   /* was never connected; queue pair in ERR */
};

/* Work requests held back by FI_MORE, to be posted as one list. */
struct pvb_chain {
	struct ibv_send_wr wr[PVB_CHAIN_LIMIT];
	struct ibv_sge sge[PVB_CHAIN_LIMIT][PVB_IOV_LIMIT];
};

/* Defers completions of a queue. */
struct pvb_defer_source {
	struct crn_list entry; /* of pvb_cq.deferring */
	/* What may be reported now goes to the stash, as far as it has room; the entry is
	 * taken out once nothing is deferred. With the lock of the queue held. */
	void (*release)(struct pvb_cq *cq, struct pvb_defer_source *source);
	bool wonders; /* whether the connection has ended: persist/initiator/defer.c alone
		       */
};

/* A reliable queue pair: its two work queues, and what posting to them takes. */
struct pvb_qp {
	struct crn_list entry; /* of pvb_domain.qps */
	struct pvb_domain *domain;
	struct pvb_srx *srx;	  /* NULL: receives are its own */
	struct ibv_qp *ibv;	  /* NULL: not made yet */
	struct ibv_qp_ex *ibv_ex; /* NULL: no native FLUSH */
	struct crn_lock tx_lock;
	struct pvb_wq sq;
	uint32_t inline_size;	 /* payload the queue pair takes inline */
	uint32_t unsignaled;	 /* work requests since the last signaled one */
	uint32_t signal_every;	 /* most of them */
	uint32_t reads_end;	 /* position behind the newest read or atomic */
	uint32_t chained;	 /* entries of chain in use */
	bool marked;		 /* the newest in the send queue is the marker */
	bool was_up;		 /* the peer may have sent something */
	atomic_bool last_wqe;	 /* the device takes no more from the shared queue */
	struct pvb_chain *chain; /* NULL until FI_MORE is used */
	char *bounce; /* qp/qp.h; NULL until the first that does not go inline */
	struct ibv_mr *bounce_mr;
	struct crn_lock rx_lock;
	struct pvb_wq rq;
	struct pvb_hwcq *send_hw;
	struct pvb_hwcq *recv_hw;
	uint64_t keepalives;	/* posted */
	struct pvb_slot marker; /* of pvb_tx_close: the ring may be full */
	struct pvb_control_qp
		*control_qp; /* persist/control/control.h; NULL: no message method */
	struct pvb_commit *commit; /* persist/initiator/commit.h; NULL until an operation
				      is tracked */
	uint64_t tracked;	   /* not 0: all of them are, from the first on */
};

/* Private data that a requester keeps until the connection stands. */
struct pvb_handshake {
	uint8_t request_len;		  /* bytes of request */
	uint8_t answer_len;		  /* bytes of answer */
	uint8_t request[PVB_CM_REQ_SIZE]; /* sent once the route is known */
	uint8_t answer[PVB_CM_APP_SIZE];  /* the responder's data, kept in CONTROL */
};

/* What connection management knows of a connection. */
struct pvb_conn {
	struct rdma_cm_id *id;		   /* NULL until connecting */
	_Atomic enum pvb_conn_state state; /* written with cm_lock held */
	bool responder;			   /* made for a request */
	struct pvb_connreq *req; /* the request, ours, until it is accepted; or NULL */
	struct pvb_handshake *handshake; /* NULL but while a requester connects */
	struct pvb_cm_data peer; /* what the peer's trailer said; no application data */
};

/* What an endpoint keeps of the fi_info that it was made of. */
struct pvb_ep_attr {
	uint64_t caps;
	struct sockaddr *src, *dest; /* ours; NULL: none, or known to the request */
	uint32_t addr_format;
	uint32_t tx_size, rx_size; /* operations */
	uint32_t tclass;	   /* wished for: tx_attr's, or else domain_attr's */
	uint8_t tx_iov_limit, rx_iov_limit;
	uint8_t tx_entries;  /* of the queue that one takes with the endpoint's flags */
	bool rx_shared;	     /* rx_ctx_cnt: FI_SHARED_CONTEXT */
	bool writes_ordered; /* WAW promised */
};

struct pvb_ep {
	struct fid_ep fid;
	struct pvb_domain *domain;
	struct pvb_ep_attr attr;
	struct pvb_eq *eq;
	struct pvb_qp qp;
	struct pvb_conn conn;
	struct pvb_mr *replay; /* FI_OPT_CAIRN_REPLAY; NULL: receives are anywhere */
	uint64_t tx_flags;     /* default op_flags of calls that have no flags */
	uint64_t rx_flags;
	bool tx_selective;
	bool rx_selective; /* also of receives of srx */
	bool fence_writes; /* WAR or SAR promised: writes and sends wait for earlier reads
			    */
	bool fence_waits;  /* of its domain */
	bool raw_cm;
	bool listed;	    /* cm/keepalive.c: it is in alive */
	size_t inject_size; /* bytes */
	size_t max_msg;	    /* bytes */
	/* A call without flags and with 1 to so many bytes asks for its completion alone;
	 * 0: none does. */
	size_t fast_max_len;
	/* Of cm/keepalive.c. */
	struct crn_list alive;
	uint32_t seen_sent, seen_received; /* retired when it last looked */
};

struct pvb_pep {
	struct fid_pep fid;
	struct pvb_fabric *fabric;
	struct fi_info *info; /* our copy */
	struct pvb_eq *eq;
	struct rdma_cm_id *id; /* NULL until fi_listen */
	struct crn_list entry; /* of pvb_fabric.listeners */
	int backlog;
	bool raw_cm;
};

/* fi_info.handle of an FI_CONNREQ: cm/request.h. */
struct pvb_connreq {
	struct fid fid;	   /* FI_CLASS_CONNREQ */
	struct pvb_eq *eq; /* whose channel the id is on; NULL: the fabric's */
	struct rdma_cm_id *id;
	struct crn_list entry;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	struct pvb_cm_data data;
	const struct pvb_pep *pep; /* the listener; NULL: closed before the request was
				      taken */
	bool raw_cm;		   /* of the listener */
	atomic_bool dead;	   /* the requester gave up meanwhile */
};

/*
 * The slot at this position. Its constant fields are written here, not once for all
 * slots: the pages of a deep queue are allocated when they are used.
 */
static inline struct pvb_slot *pvb_wq_slot_at(struct pvb_wq *wq, uint32_t at)
{
	struct pvb_slot *slot = &wq->slots[crn_ring_index(&wq->ring, at)];

	slot->wq = wq;
	slot->next = at + 1;
	return slot;
}

/* The slot that is filled next, or the one ahead places behind it. */
static inline struct pvb_slot *pvb_wq_slot(struct pvb_wq *wq, uint32_t ahead)
{
	return pvb_wq_slot_at(wq, wq->ring.head + ahead);
}

/* Queue entries that an operation with these op_flags takes. */
static inline uint32_t pvb_tx_entries(uint64_t op_flags)
{
	/* persist/plan/plan.h: what lets the target know, the operation, and what flushes
	 * it.
	 */
	if (op_flags & FI_COMMIT_COMPLETE)
		return 4;
	return op_flags & FI_DELIVERY_COMPLETE ? 2 : 1;
}

/* Does the device do this differently? */
static inline bool pvb_quirk(const struct pvb_domain *domain, enum pvb_quirk quirk)
{
	return domain->quirks & quirk;
}

/* The device's name, which is the domain's. */
static inline const char *pvb_domain_device(const struct pvb_domain *domain)
{
	return ibv_get_device_name(domain->verbs->device);
}

static inline struct pvb_ep *pvb_ep_from(struct fid *fid)
{
	return crn_container_of(fid, struct pvb_ep, fid.fid);
}

static inline struct pvb_ep *pvb_ep_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct pvb_ep, fid);
}

static inline struct pvb_ep *pvb_qp_ep(struct pvb_qp *qp)
{
	return crn_container_of(qp, struct pvb_ep, qp);
}

static inline struct pvb_eq *pvb_eq_of(struct crn_eq *eq)
{
	return crn_container_of(eq, struct pvb_eq, eq);
}

static inline struct ibv_sge pvb_sge(const void *buf, size_t len, void *desc)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)buf,
		.length = (uint32_t)len,
		.lkey = (uint32_t)(uintptr_t)desc,
	};
}

/*
 * Several buffers: 0, -FI_EINVAL for more than limit, -FI_EMSGSIZE for more bytes than a
 * work request can say.
 */
CRN_INLINE int pvb_sge_fill(struct ibv_sge *sge, const struct iovec *iov, void **desc,
			    size_t count, size_t limit, size_t *len)
{
	size_t i, total = 0;

	if (crn_unlikely(count > limit))
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		if (crn_unlikely(iov[i].iov_len > UINT32_MAX - total))
			return -FI_EMSGSIZE;
		total += iov[i].iov_len;
		sge[i] = pvb_sge(iov[i].iov_base, iov[i].iov_len, desc ? desc[i] : NULL);
	}
	*len = total;
	return 0;
}

/* info.c */

int pvb_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);
/* The info of a request that arrived at src: of the device behind it, with pep's wishes.
 */
int pvb_info_connreq(const struct fi_info *pep, const char *device,
		     const struct sockaddr *src, const struct sockaddr *peer,
		     struct fi_info **info);

/* fabric.c */

int pvb_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);

/* domain.c */

int pvb_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);

/* objects.c */

/* Is this a child of fork, and the object its parent's? Of it nothing may be touched: the
 * device's part is shared, and threads are not there. fi_close then does nothing. */
bool pvb_inherited(const struct pvb_fabric *fabric);

/* eq.c */

int pvb_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);

/* mr.c */

extern struct fi_ops_mr pvb_mr_ops;

#endif
