/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues and completion queues of the fake devices. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "cairn_test.h"
#include "fake_queue.h"

/* One for all queues: threads of a test meet here, and nothing is fast. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const struct fake_wr *fake_wr(const struct fake_queue *queue, unsigned int nth)
{
	return &queue->wr[nth % FAKE_WRS];
}

const struct fake_wr *fake_newest(const struct fake_queue *queue)
{
	return fake_wr(queue, queue->posted - 1);
}

unsigned int fake_outstanding(const struct fake_queue *queue)
{
	return queue->posted - queue->done;
}

/* The oldest request, which completes. */
static const struct fake_wr *queue_take(struct fake_queue *queue)
{
	const struct fake_wr *wr = fake_wr(queue, queue->done++);

	if (wr->ah)
		wr->ah->outstanding--;
	return wr;
}

static void cq_add(struct ibv_cq *ibv, const struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibv;

	/* A completion queue that overruns is lost with all its queue pairs. */
	CT_EXPECT_LT(cq->head - cq->tail, (unsigned int)ibv->cqe);
	cq->wc[cq->head++ % FAKE_WCS] = *wc;
	if (cq->armed && ibv->channel) {
		cq->armed = false;
		CT_EXPECT_EQ(write(((struct fake_comp_channel *)ibv->channel)->write_fd,
				   &ibv, sizeof(ibv)),
			     sizeof(ibv));
	}
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	default:
		return IBV_WC_SEND;
	}
}

/* In an error only wr_id, status, qp_num and vendor_err mean something (ibv_poll_cq(3));
 * the rest is filled with what nobody should look at. */
static void cq_add_error(struct fake_qp *qp, struct ibv_cq *cq, uint64_t wr_id,
			 enum ibv_wc_status status)
{
	struct ibv_wc wc;

	memset(&wc, 0xee, sizeof(wc));
	wc.wr_id = wr_id;
	wc.status = status;
	wc.qp_num = qp->ibv.qp_num;
	wc.vendor_err = 0x77;
	cq_add(cq, &wc);
}

static void sq_succeed(struct fake_qp *qp)
{
	const struct fake_wr *wr = queue_take(&qp->sq);
	struct ibv_wc wc = {
		.wr_id = wr->wr_id,
		.status = IBV_WC_SUCCESS,
		.opcode = wc_opcode(wr->opcode),
		.qp_num = qp->ibv.qp_num,
	};

	if ((wr->flags & IBV_SEND_SIGNALED) || qp->init.sq_sig_all)
		cq_add(qp->ibv.send_cq, &wc);
}

static void queue_flush(struct fake_qp *qp, struct fake_queue *queue, struct ibv_cq *cq)
{
	while (queue->done != queue->posted)
		cq_add_error(qp, cq, queue_take(queue)->wr_id, IBV_WC_WR_FLUSH_ERR);
}

/* IB specification 1.7, section 11.6.3.2: once in ERR, the queue pair says that it takes
 * no more from the shared queue. */
static void qp_leave_srq(struct fake_qp *qp)
{
	struct fake_device *device = qp->device;

	if (!qp->ibv.srq || qp->left_srq)
		return;
	qp->left_srq = true;
	if (qp->taken)
		cq_add_error(qp, qp->ibv.recv_cq, qp->taken, IBV_WC_WR_FLUSH_ERR);
	qp->taken = 0;
	if (device->async_count < FAKE_ASYNCS)
		device->async[device->async_count++] = (struct ibv_async_event){
			.element.qp = &qp->ibv,
			.event_type = IBV_EVENT_QP_LAST_WQE_REACHED,
		};
}

static void qp_flush(struct fake_qp *qp)
{
	queue_flush(qp, &qp->sq, qp->ibv.send_cq);
	queue_flush(qp, &qp->rq, qp->ibv.recv_cq);
}

static void qp_set_state(struct fake_qp *qp, enum ibv_qp_state state)
{
	bool fails = state == IBV_QPS_ERR && qp->ibv.state != IBV_QPS_ERR;

	qp->ibv.state = state;
	if (state == IBV_QPS_ERR && !qp->device->no_flush)
		qp_flush(qp);
	if (fails && !qp->device->no_last_wqe)
		qp_leave_srq(qp);
}

/* IB specification 1.7, figure 124: which state may follow which. */
static bool qp_follows(enum ibv_qp_state from, enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR:
		return true;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS || from == IBV_QPS_SQE;
	default:
		return false;
	}
}

int fake_modify(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	int err = EINVAL;

	pthread_mutex_lock(&lock);
	if ((mask & IBV_QP_STATE) && qp_follows(qp->ibv.state, attr->qp_state)) {
		qp->attr[attr->qp_state] = *attr;
		qp->mask[attr->qp_state] = mask;
		qp_set_state(qp, attr->qp_state);
		err = 0;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void fake_leave_srq(struct fake_qp *qp)
{
	pthread_mutex_lock(&lock);
	qp_leave_srq(qp);
	pthread_mutex_unlock(&lock);
}

void fake_flush(struct fake_qp *qp)
{
	pthread_mutex_lock(&lock);
	qp_flush(qp);
	pthread_mutex_unlock(&lock);
}

static void cq_forget(struct ibv_cq *ibv, uint32_t qp_num)
{
	struct fake_cq *cq = (struct fake_cq *)ibv;
	unsigned int from, to = cq->tail;

	for (from = cq->tail; from != cq->head; from++) {
		if (cq->wc[from % FAKE_WCS].qp_num != qp_num)
			cq->wc[to++ % FAKE_WCS] = cq->wc[from % FAKE_WCS];
	}
	cq->head = to;
}

void fake_forget(struct fake_qp *qp)
{
	pthread_mutex_lock(&lock);
	cq_forget(qp->ibv.send_cq, qp->ibv.qp_num);
	cq_forget(qp->ibv.recv_cq, qp->ibv.qp_num);
	pthread_mutex_unlock(&lock);
}

bool fake_complete(struct fake_qp *qp, unsigned int count)
{
	pthread_mutex_lock(&lock);
	for (; count && fake_outstanding(&qp->sq); count--)
		sq_succeed(qp);
	pthread_mutex_unlock(&lock);
	return !count;
}

void fake_complete_all(struct fake_qp *qp)
{
	fake_complete(qp, FAKE_WRS);
}

static void queue_error(struct fake_qp *qp, struct fake_queue *queue, struct ibv_cq *cq,
			enum ibv_wc_status status)
{
	pthread_mutex_lock(&lock);
	CT_EXPECT_NE(fake_outstanding(queue), 0);
	cq_add_error(qp, cq, queue_take(queue)->wr_id, status);
	if (qp->ibv.qp_type == IBV_QPT_UD && queue == &qp->sq) {
		qp->ibv.state = IBV_QPS_SQE;
		queue_flush(qp, queue, cq);
	} else {
		qp_set_state(qp, IBV_QPS_ERR);
	}
	pthread_mutex_unlock(&lock);
}

static struct fake_queue *recv_queue(struct fake_qp *qp)
{
	return qp->ibv.srq ? &((struct fake_srq *)qp->ibv.srq)->rq : &qp->rq;
}

void fake_send_error(struct fake_qp *qp, enum ibv_wc_status status)
{
	queue_error(qp, &qp->sq, qp->ibv.send_cq, status);
}

void fake_recv_error(struct fake_qp *qp, enum ibv_wc_status status)
{
	queue_error(qp, recv_queue(qp), qp->ibv.recv_cq, status);
}

void fake_receive(struct fake_qp *qp, enum ibv_wc_opcode opcode, uint32_t len,
		  const uint32_t *imm)
{
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS,
		.opcode = opcode,
		.byte_len = len,
		.imm_data = imm ? htonl(*imm) : 0xdeadbeef,
		.wc_flags = imm ? IBV_WC_WITH_IMM : 0,
		.qp_num = qp->ibv.qp_num,
	};

	struct fake_queue *queue = recv_queue(qp);

	pthread_mutex_lock(&lock);
	CT_EXPECT_NE(fake_outstanding(queue), 0);
	wc.wr_id = fake_wr(queue, queue->done++)->wr_id;
	cq_add(qp->ibv.recv_cq, &wc);
	pthread_mutex_unlock(&lock);
}

void fake_receive_datagram(struct fake_qp *qp, uint32_t len, const struct ibv_wc *from,
			   const uint8_t *grh)
{
	struct fake_queue *queue = recv_queue(qp);
	const struct fake_wr *wr;
	struct ibv_wc wc = *from;

	pthread_mutex_lock(&lock);
	CT_EXPECT_NE(fake_outstanding(queue), 0);
	wr = queue_take(queue);
	CT_EXPECT_TRUE(wr->sge[0].length >= 40);
	if (grh)
		memcpy((void *)(uintptr_t)wr->sge[0].addr, grh, 40);
	wc.wr_id = wr->wr_id;
	wc.status = IBV_WC_SUCCESS;
	wc.opcode = IBV_WC_RECV;
	wc.byte_len = 40 + len;
	wc.qp_num = qp->ibv.qp_num;
	cq_add(qp->ibv.recv_cq, &wc);
	pthread_mutex_unlock(&lock);
}

void fake_take(struct fake_qp *qp)
{
	struct fake_queue *queue = recv_queue(qp);

	pthread_mutex_lock(&lock);
	qp->taken = fake_wr(queue, queue->done++)->wr_id;
	pthread_mutex_unlock(&lock);
}

void fake_async_add(struct fake_device *device, const struct ibv_async_event *event)
{
	pthread_mutex_lock(&lock);
	if (device->async_count < FAKE_ASYNCS)
		device->async[device->async_count++] = *event;
	pthread_mutex_unlock(&lock);
}

int fake_async(struct fake_device *device, struct ibv_async_event *event)
{
	int err = EAGAIN;

	if (device->async_hook)
		device->async_hook(device->async_hook_arg);
	pthread_mutex_lock(&lock);
	if (device->async_count) {
		*event = device->async[--device->async_count];
		err = 0;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

int fake_poll_cq(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	struct fake_device *device = (struct fake_device *)ibv->context->device;
	struct fake_cq *cq = (struct fake_cq *)ibv;
	int got = 0;

	if (device->poll_hook)
		device->poll_hook(device->poll_hook_arg);
	if (device->polls_limit && count > (int)device->polls_limit)
		count = (int)device->polls_limit;
	pthread_mutex_lock(&lock);
	while (got < count && cq->tail != cq->head)
		wc[got++] = cq->wc[cq->tail++ % FAKE_WCS];
	pthread_mutex_unlock(&lock);
	return got;
}

int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int err = fake_enter(FAKE_REQ_NOTIFY);

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	((struct fake_cq *)cq)->armed = true;
	pthread_mutex_unlock(&lock);
	return 0;
}

static struct fake_wr *queue_push(struct fake_queue *queue)
{
	struct fake_wr *wr = &queue->wr[queue->posted++ % FAKE_WRS];

	memset(wr, 0, sizeof(*wr));
	return wr;
}

static void copy_inline(struct fake_wr *wr)
{
	size_t at = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		memcpy(wr->inline_data + at, (void *)(uintptr_t)wr->sge[i].addr,
		       wr->sge[i].length);
		at += wr->sge[i].length;
	}
}

static size_t wr_len(const struct ibv_sge *sge, int count)
{
	size_t len = 0;

	for (int i = 0; i < count; i++)
		len += sge[i].length;
	return len;
}

static bool is_atomic(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static int sq_check(const struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	const struct ibv_qp_cap *cap = &qp->init.cap;

	if (qp->ibv.state == IBV_QPS_ERR && qp->device->refuses_in_err)
		return EINVAL;
	if (qp->ibv.state != IBV_QPS_RTS && qp->ibv.state != IBV_QPS_ERR)
		return EINVAL;
	if (fake_outstanding(&qp->sq) == cap->max_send_wr)
		return ENOMEM;
	if (wr->num_sge > (int)cap->max_send_sge)
		return EINVAL;
	if ((wr->send_flags & IBV_SEND_INLINE) &&
	    (wr->opcode == IBV_WR_RDMA_READ || is_atomic(wr) ||
	     wr_len(wr->sg_list, wr->num_sge) > cap->max_inline_data))
		return EINVAL;
	return 0;
}

static int sq_post(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct fake_wr *copy;
	int err = fake_enter(FAKE_POST_SEND);

	if (!err)
		err = sq_check(qp, wr);
	if (err)
		return err;
	copy = queue_push(&qp->sq);
	copy->wr_id = wr->wr_id;
	copy->opcode = wr->opcode;
	copy->flags = wr->send_flags;
	copy->num_sge = wr->num_sge;
	copy->list = qp->sq.calls;
	if (wr->opcode == IBV_WR_SEND_WITH_IMM ||
	    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		copy->imm = ntohl(wr->imm_data);
	if (qp->ibv.qp_type == IBV_QPT_UD) {
		copy->ah = (struct fake_ah *)wr->wr.ud.ah;
		copy->ah->outstanding++;
		copy->remote_qpn = wr->wr.ud.remote_qpn;
		copy->remote_qkey = wr->wr.ud.remote_qkey;
	} else if (is_atomic(wr)) {
		copy->remote_addr = wr->wr.atomic.remote_addr;
		copy->rkey = wr->wr.atomic.rkey;
		copy->compare_add = wr->wr.atomic.compare_add;
		copy->swap = wr->wr.atomic.swap;
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		copy->bind = wr->bind_mw.bind_info;
		copy->rkey = wr->bind_mw.rkey;
	} else if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) {
		copy->remote_addr = wr->wr.rdma.remote_addr;
		copy->rkey = wr->wr.rdma.rkey;
	}
	if (wr->num_sge)
		memcpy(copy->sge, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(copy->sge[0]));
	if (wr->send_flags & IBV_SEND_INLINE)
		copy_inline(copy);
	if (qp->ibv.state == IBV_QPS_ERR && !qp->device->no_flush)
		qp_flush(qp);
	else if (qp->device->completes_at_once ||
		 (wr->opcode == IBV_WR_BIND_MW && !qp->device->binds_never))
		sq_succeed(qp);
	return 0;
}

int fake_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibv;
	int err = 0;

	fake_enter(FAKE_POST_LIST);
	pthread_mutex_lock(&lock);
	qp->sq.calls++;
	for (; wr; wr = wr->next) {
		err = sq_post(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static int rq_post(struct fake_qp *qp, const struct ibv_recv_wr *wr)
{
	const struct ibv_qp_cap *cap = &qp->init.cap;
	struct fake_wr *copy;
	int err = fake_enter(FAKE_POST_RECV);

	if (err)
		return err;
	if (qp->ibv.state == IBV_QPS_RESET || wr->num_sge > (int)cap->max_recv_sge)
		return EINVAL;
	if (qp->ibv.state == IBV_QPS_ERR && qp->device->refuses_in_err)
		return EINVAL;
	if (fake_outstanding(&qp->rq) == cap->max_recv_wr)
		return ENOMEM;
	copy = queue_push(&qp->rq);
	copy->wr_id = wr->wr_id;
	copy->num_sge = wr->num_sge;
	copy->list = qp->rq.calls;
	if (wr->num_sge)
		memcpy(copy->sge, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(copy->sge[0]));
	if (qp->ibv.state == IBV_QPS_ERR && !qp->device->no_flush)
		qp_flush(qp);
	return 0;
}

int fake_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibv;
	int err = 0;

	pthread_mutex_lock(&lock);
	qp->rq.calls++;
	for (; wr; wr = wr->next) {
		err = rq_post(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static int srq_post(struct fake_srq *srq, const struct ibv_recv_wr *wr)
{
	struct fake_wr *copy;
	int err = fake_enter(FAKE_POST_RECV);

	if (err)
		return err;
	if (wr->num_sge > (int)srq->init.attr.max_sge)
		return EINVAL;
	if (fake_outstanding(&srq->rq) == srq->init.attr.max_wr)
		return ENOMEM;
	copy = queue_push(&srq->rq);
	copy->wr_id = wr->wr_id;
	copy->num_sge = wr->num_sge;
	if (wr->num_sge)
		memcpy(copy->sge, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(copy->sge[0]));
	return 0;
}

int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad)
{
	int err;

	pthread_mutex_lock(&lock);
	err = srq_post((struct fake_srq *)srq, wr);
	if (err)
		*bad = wr;
	pthread_mutex_unlock(&lock);
	return err;
}
