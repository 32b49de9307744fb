/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: slots, work queues, shared receive contexts, deferred completions. */
#ifndef PVB_OBJECTS_QUEUE_H
#define PVB_OBJECTS_QUEUE_H

#include "completion.h"
#include "datagram.h"
#include "durable.h"

/* What a counter may count: fi_ep_bind's flags as an index. */
enum pvb_count { PVB_COUNT_MSG, PVB_COUNT_READ, PVB_COUNT_WRITE, PVB_COUNTS };

/* One posted work request, from post to retirement. wr_id is its address. */
struct pvb_slot {
	struct pvb_wq *wq;
	void *context;
	uint64_t flags; /* of fi_cq, to report */
	uint32_t next;	/* position in the ring behind it */
	uint16_t state; /* PVB_SLOT_* */
	union {
		uint16_t status; /* enum ibv_wc_status, of one that is deferred */
		uint16_t room;	 /* bytes for data, of a datagram's receive; no more than
				    the link's MTU */
	};
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
/* A datagram's receive: without the GRH's bytes one that fits is as a message. */
#define PVB_SLOT_PLAIN_GRH 0x400u
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
	bool datagrams;	  /* receives have a scatter entry for the GRH */
	bool plain_grh;	  /* its slots are PVB_SLOT_PLAIN_GRH: nobody reads a GRH */
	atomic_bool open; /* operations may be posted */
	atomic_bool made; /* slots is not NULL */
	uint32_t passing; /* where a send queue has to get to: dgram/ah.c */
	struct pvb_grhs grhs;
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

/* A queue pair: its two work queues, and what posting to them takes. */
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

/* Posting is refused from here on: to one queue, to both. */
static inline void pvb_wq_shut(struct pvb_wq *wq)
{
	atomic_store(&wq->open, false);
	atomic_store(&wq->ring.size, 0);
}

static inline void pvb_qp_shut(struct pvb_qp *qp)
{
	pvb_wq_shut(&qp->sq);
	pvb_wq_shut(&qp->rq);
}

/* What the receive with that slot of wq, one of datagrams whose GRHs are read, has. */
static inline struct pvb_grh *pvb_grh_of(const struct pvb_wq *wq,
					 const struct pvb_slot *slot)
{
	return &wq->grhs.at[slot - wq->slots];
}

/* Queue entries that an operation with these op_flags takes, of an endpoint with these
 * capabilities. */
static inline uint32_t pvb_tx_entries(uint64_t caps, uint64_t op_flags)
{
	/* A datagram and its copy, on a link. */
	if (caps & FI_MULTICAST)
		return pvb_params.link && pvb_params.link_copy ? 2 : 1;
	/* persist/plan/plan.h: what lets the target know, the operation, and what flushes
	 * it.
	 */
	if (op_flags & FI_COMMIT_COMPLETE)
		return 4;
	return op_flags & FI_DELIVERY_COMPLETE ? 2 : 1;
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

#endif
