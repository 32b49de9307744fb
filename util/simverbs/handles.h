/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects a program holds. Each begins with the struct that libibverbs defines, so a
 * pointer to one is a pointer to the other.
 */
#ifndef SVB_HANDLES_H
#define SVB_HANDLES_H

#include "compat56.h"
#include "compat65.h"
#include "shared/shared.h"

struct svb_wqe;

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
	/* A datagram that is late, and until when, ns; lock: the send queue's. */
	struct svb_wqe *late;
	uint64_t late_until;
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

#endif
