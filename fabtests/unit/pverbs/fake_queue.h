/* SPDX-License-Identifier: BSD-2-Clause */
/* Between fake_verbs.c, the objects, and fake_queue.c, posting and completing. */
#ifndef FAKE_QUEUE_H
#define FAKE_QUEUE_H

#include "fake_verbs.h"

struct fake_comp_channel {
	struct ibv_comp_channel ibv;
	int write_fd;
};

struct fake_context {
	struct verbs_context verbs;
	int write_fd;
};

struct fake_cq {
	struct ibv_cq ibv;
	struct ibv_wc wc[FAKE_WCS];
	unsigned int head, tail; /* written, read; ever */
	atomic_uint qps;	 /* attached ends of queue pairs */
	unsigned int events;	 /* taken from the channel */
	bool armed;
};

int fake_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* ibv_modify_qp once the call is counted: 0 or an errno value. Into ERR, everything
 * outstanding is flushed. */
int fake_modify(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask);
/* The next event of the device: 0, or EAGAIN. */
int fake_async(struct fake_device *device, struct ibv_async_event *event);
void fake_async_add(struct fake_device *device, const struct ibv_async_event *event);
/* Its completions vanish from the completion queues, as ibv_destroy_qp has it. */
void fake_forget(struct fake_qp *qp);

#endif
