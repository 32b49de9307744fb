/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs devices made of memory: what libibverbs would do, as far as the provider calls
 * it. A device does nothing by itself. It remembers what was posted, and a test says when
 * it completes and how; so there is no peer, and no data moves.
 *
 * What a real device does is done here too: only signaled sends and errors give a
 * completion, everything outstanding is flushed in state ERR, states follow each other as
 * the specification has them, and limits of the device are errors.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include "fake_call.h"

#define FAKE_DEVICES 3
#define FAKE_PORTS 2
#define FAKE_GIDS 4
#define FAKE_PKEYS 4
/* Work requests remembered per queue, the newest ones; more than any queue's depth. */
#define FAKE_WRS 1024
#define FAKE_WCS 4096
#define FAKE_SGES 16
#define FAKE_INLINE 512
#define FAKE_ASYNCS 16

struct fake_device {
	struct ibv_device ibv;
	struct ibv_device_attr attr;
	struct ibv_port_attr port[FAKE_PORTS];
	uint64_t subnet_prefix;		     /* host order */
	struct ibv_gid_entry gid[FAKE_GIDS]; /* 0: the prefix only */
	uint16_t pkey[FAKE_PKEYS];	     /* host order; 0: none */
	const char *sysfs_device; /* what its link "device" in sysfs says; NULL: none */
	const char *sysfs_driver; /* and "device/driver" */
	const char *driver;	  /* what detection finds; NULL: what it finds here */
	uint64_t caps_ex;	  /* device_cap_flags_ex */
	unsigned int refused_access; /* regions with one of these rights: EINVAL */
	uint32_t max_inline;	     /* bytes; ibv_create_qp refuses more */
	bool no_flush;		     /* says nothing about what is posted in state ERR */
	bool refuses_in_err;	     /* posting in ERR fails with EINVAL */
	bool no_last_wqe;	     /* no event about the shared queue in ERR */
	bool completes_at_once;	     /* each send succeeds when it is posted */
	bool binds_never;	     /* a window's binding does not complete */
	bool gone; /* was removed: calls fail with EIO, also those that destroy */
	unsigned int polls_limit; /* completions per poll at most; 0: what is asked */
	struct ibv_async_event async[FAKE_ASYNCS]; /* not yet taken */
	unsigned int async_count;
	void (*async_hook)(void *); /* before each look at these */
	void *async_hook_arg;
	void (*dereg_hook)(void *); /* before a region goes */
	void *dereg_hook_arg;
	void (*poll_hook)(void *); /* before each poll */
	void *poll_hook_arg;
};

struct fake_wr {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode; /* of a send */
	unsigned int flags;
	uint32_t imm; /* host order */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;   /* of an atomic */
	struct ibv_mw_bind_info bind; /* of a window, whose key is rkey */
	struct fake_ah *ah;	      /* of a datagram, as the next */
	uint32_t remote_qpn, remote_qkey;
	int num_sge;
	struct ibv_sge sge[FAKE_SGES];
	uint8_t inline_data[FAKE_INLINE]; /* read when it was posted */
	unsigned int list;		  /* which call of ibv_post_send, from 1 */
};

struct fake_queue {
	struct fake_wr wr[FAKE_WRS];
	unsigned int posted; /* ever */
	unsigned int done;   /* ever */
	unsigned int calls;
};

struct fake_srq {
	struct ibv_srq ibv;
	struct ibv_srq_init_attr init;
	struct fake_queue rq;
	atomic_uint qps;
};

struct fake_ah {
	struct ibv_ah ibv;
	struct ibv_ah_attr attr;
	unsigned int outstanding; /* sends that name it and have not completed */
};

struct fake_qp {
	struct ibv_qp ibv;
	struct fake_device *device;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr[IBV_QPS_ERR + 1]; /* what led to each state */
	int mask[IBV_QPS_ERR + 1];
	struct fake_queue sq, rq;
	bool left_srq;	/* takes no more from the shared queue */
	uint64_t taken; /* wr_id of a shared receive that a message is coming into; 0:
			   none */
};

struct fake_mr {
	struct ibv_mr ibv;
	unsigned int access;
};

extern struct fake_device fake_devices[FAKE_DEVICES];
/* Objects that exist: contexts, domains, regions, queues, channels; also rdma_cm's. */
extern atomic_int fake_objects;

/*
 * fake_devices[i] becomes "fake<i>": RoCE, one port, 16 scatter entries, 1000 work
 * requests, 4000 completion queue entries, 256 bytes inline. A test changes it from
 * there.
 */
void fake_verbs_reset(void);
/* Takes the device away: it is gone, its contexts read the event and stay readable. With
 * no_flush it says nothing of what is posted. */
void fake_remove(struct fake_device *device, struct ibv_context *context);
/* Devices that ibv_get_device_list gives, all by default. */
void fake_device_count(int count);

/* The next count sends succeed; true when there were as many. */
bool fake_complete(struct fake_qp *qp, unsigned int count);
void fake_complete_all(struct fake_qp *qp);
/* The oldest send or receive fails, the queue pair goes to ERR, the rest is flushed;
 * where a datagram fails, only the send queue stops. */
void fake_send_error(struct fake_qp *qp, enum ibv_wc_status status);
void fake_recv_error(struct fake_qp *qp, enum ibv_wc_status status);
/* The oldest receive, of the shared queue if there is one, takes len bytes; imm may be
 * NULL. */
void fake_receive(struct fake_qp *qp, enum ibv_wc_opcode opcode, uint32_t len,
		  const uint32_t *imm);
/* The oldest receive takes a datagram of len bytes; from has src_qp, slid, sl, imm_data
 * and wc_flags of the completion; grh: 40 bytes, or NULL. */
void fake_receive_datagram(struct fake_qp *qp, uint32_t len, const struct ibv_wc *from,
			   const uint8_t *grh);
/* A message begins to arrive in the oldest shared receive, which the queue pair's end
 * will flush. */
void fake_take(struct fake_qp *qp);
/* For a device with no_last_wqe: the event comes now, once. */
void fake_leave_srq(struct fake_qp *qp);
/* For a device with no_flush: now. */
void fake_flush(struct fake_qp *qp);

/* The nth request ever posted, from 0. */
const struct fake_wr *fake_wr(const struct fake_queue *queue, unsigned int nth);
const struct fake_wr *fake_newest(const struct fake_queue *queue);
unsigned int fake_outstanding(const struct fake_queue *queue);

#endif
