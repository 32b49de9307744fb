/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "qp/qp.h"
#include "wire/wire.h"
#include "control.h"
#include "cookie.h"
#include "internal.h"

/* Bytes of receives, and as many of sends. */
#define PVB_CONTROL_BUFS ((size_t)PVB_CONTROL_MESSAGES * PVB_WIRE_SIZE)

/* What peers may do with the area. */
static int pvb_control_qp_rights(const struct pvb_control_qp *cqp)
{
	return IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
	       (cqp->control->domain->seq_atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

static int pvb_control_qp_memory(struct pvb_control_qp *cqp)
{
	struct ibv_pd *pd = cqp->control->domain->pd;
	const size_t bufs = PVB_CONTROL_BUFS + PVB_CONTROL_CREDITS * PVB_WIRE_ENTRY;
	int access;

	cqp->area = aligned_alloc(_Alignof(struct pvb_area), sizeof(*cqp->area));
	cqp->bufs = malloc(bufs);
	if (!cqp->area || !cqp->bufs)
		return -FI_ENOMEM;
	memset(cqp->area, 0, sizeof(*cqp->area));
	cqp->entry_out = (void *)(cqp->bufs + PVB_CONTROL_BUFS);
	pvb_window_open(cqp);
	access = cqp->window ? IBV_ACCESS_MW_BIND : pvb_control_qp_rights(cqp);
	cqp->area_mr = ibv_reg_mr(pd, cqp->area, sizeof(*cqp->area),
				  access | IBV_ACCESS_LOCAL_WRITE);
	if (!cqp->area_mr)
		return pvb_errno();
	cqp->area_key = pvb_window_key(cqp);
	cqp->bufs_mr = ibv_reg_mr(pd, cqp->bufs, bufs, IBV_ACCESS_LOCAL_WRITE);
	return cqp->bufs_mr ? 0 : pvb_errno();
}

/* Others poll the control queues meanwhile. */
static int pvb_control_qp_reserve(struct pvb_control_qp *cqp)
{
	struct pvb_control *control = cqp->control;
	int ret;

	pthread_mutex_lock(&control->lock);
	ret = pvb_cq_reserve(control->cq, 2 * PVB_CONTROL_MESSAGES, &cqp->hw);
	pthread_mutex_unlock(&control->lock);
	return ret;
}

static void pvb_control_qp_release(struct pvb_control_qp *cqp)
{
	pthread_mutex_lock(&cqp->control->lock);
	pvb_cq_release(cqp->control->cq, cqp->hw, 2 * PVB_CONTROL_MESSAGES);
	pthread_mutex_unlock(&cqp->control->lock);
}

void pvb_control_qp_free(struct pvb_control_qp *cqp)
{
	uint32_t i;

	for (i = 0; i < PVB_CONTROL_CREDITS; i++)
		free(atomic_load(&cqp->requests[PVB_REQUEST_CONTROL].of[i].later));
	if (cqp->ibv)
		ibv_destroy_qp(cqp->ibv);
	if (cqp->hw)
		pvb_control_qp_release(cqp);
	if (cqp->bufs_mr)
		ibv_dereg_mr(cqp->bufs_mr);
	if (cqp->sends_mr)
		ibv_dereg_mr(cqp->sends_mr);
	pvb_window_close(cqp);
	if (cqp->area_mr)
		ibv_dereg_mr(cqp->area_mr);
	free(cqp->bufs);
	free(cqp->sends_buf);
	free(cqp->area);
	pvb_dirty_fini(&cqp->received);
	pvb_dirty_fini(&cqp->flushing);
	crn_lock_fini(&cqp->lock);
	free(cqp);
}

int pvb_control_qp_receive(struct pvb_control_recv *recv)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)recv->buf,
		.length = PVB_WIRE_SIZE,
		.lkey = recv->control_qp->bufs_mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = (uintptr_t)recv, .sg_list = &sge, .num_sge = 1},
			   *bad;
	int err;

	err = ibv_post_recv(recv->control_qp->ibv, &wr, &bad);
	if (err)
		return pvb_post_error(err);
	recv->control_qp->receives++;
	return 0;
}

static int pvb_control_qp_create(struct pvb_control_qp *cqp)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cqp->hw->cq,
		.recv_cq = cqp->hw->cq,
		.cap =
			{
				.max_send_wr = PVB_CONTROL_MESSAGES,
				.max_recv_wr = PVB_CONTROL_MESSAGES,
				.max_send_sge = 1,
				.max_recv_sge = 1,
			},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	const int mask =
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	uint32_t i;
	int ret;

	cqp->ibv = ibv_create_qp(cqp->control->domain->pd, &attr);
	if (!cqp->ibv)
		return pvb_errno();
	/* Until there is a path; receives may be posted from here on. */
	ret = -ibv_modify_qp(cqp->ibv, &init, mask);
	for (i = 0; !ret && i < PVB_CONTROL_MESSAGES; i++) {
		cqp->recv[i] = (struct pvb_control_recv){
			.control_qp = cqp,
			.buf = cqp->bufs + (size_t)i * PVB_WIRE_SIZE,
		};
		ret = pvb_control_qp_receive(&cqp->recv[i]);
	}
	return ret;
}

int pvb_control_qp_open(struct pvb_qp *qp)
{
	struct pvb_control *control = qp->domain->control;
	struct pvb_control_qp *cqp = calloc(1, sizeof(*cqp));
	int ret;

	if (!cqp)
		return -FI_ENOMEM;
	cqp->control = control;
	cqp->qp = qp;
	crn_list_init(&cqp->turn.entry);
	/* Any thread may poll the control queue. */
	crn_lock_init(&cqp->lock, true);
	ret = pvb_control_qp_memory(cqp);
	if (!ret)
		ret = pvb_control_qp_reserve(cqp);
	if (!ret)
		ret = pvb_control_qp_create(cqp);
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL, "no control queue pair: %s\n",
			 fi_strerror(-ret));
		pvb_control_qp_free(cqp);
		return ret;
	}
	cqp->psn = cqp->ibv->qp_num & 0xffffff;
	pvb_control_conn_init(&cqp->control_conn);
	qp->control_qp = cqp;
	control->target->open(cqp);
	pthread_mutex_lock(&control->lock);
	crn_list_add_tail(&control->control_qps, &cqp->entry);
	pthread_mutex_unlock(&control->lock);
	return 0;
}

/* What may still complete names the control queue pair: its memory stays until the queue
 * is closed. */
static void pvb_control_qp_zombie(struct pvb_control_qp *cqp)
{
	struct pvb_control *control = cqp->control;

	ibv_destroy_qp(cqp->ibv);
	cqp->ibv = NULL;
	pvb_control_qp_release(cqp);
	cqp->hw = NULL;
	pthread_mutex_lock(&control->lock);
	crn_list_add_tail(&control->zombies, &cqp->entry);
	pthread_mutex_unlock(&control->lock);
}

void pvb_control_qp_close(struct pvb_qp *qp)
{
	struct pvb_control_qp *cqp = qp->control_qp;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	uint64_t deadline = crn_now_ms();

	if (!cqp)
		return;
	qp->control_qp = NULL;
	ibv_modify_qp(cqp->ibv, &attr, IBV_QP_STATE);
	if (!pvb_removed(cqp->control->domain))
		deadline += (uint64_t)pvb_params.close_timeout;
	if (pvb_control_drain(cqp, deadline))
		pvb_control_qp_free(cqp);
	else
		pvb_control_qp_zombie(cqp);
}

/* One transition: what rdma_cm would have for the connection's own queue pair, towards
 * the peer's other one. */
static int pvb_control_qp_modify(struct pvb_control_qp *cqp, enum ibv_qp_state state)
{
	const struct pvb_cm_control *peer = &pvb_qp_ep(cqp->qp)->conn.peer.control;
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(pvb_qp_ep(cqp->qp)->conn.id, &attr, &mask))
		return pvb_errno();
	if (state == IBV_QPS_INIT)
		attr.qp_access_flags = 0;
	if (state == IBV_QPS_RTR) {
		pvb_path_attr(&attr, mask);
		attr.dest_qp_num = peer->qp_num;
		attr.rq_psn = peer->psn;
	}
	if (state == IBV_QPS_RTS) {
		pvb_path_attr(&attr, mask);
		attr.sq_psn = cqp->psn;
	}
	return -ibv_modify_qp(cqp->ibv, &attr, mask);
}

int pvb_control_qp_expose(struct pvb_control_qp *cqp)
{
	return pvb_window_bind(cqp, pvb_control_qp_rights(cqp));
}

void pvb_control_qp_up(struct pvb_control_qp *cqp)
{
	const struct sockaddr *peer = rdma_get_peer_addr(pvb_qp_ep(cqp->qp)->conn.id);

	memcpy(&cqp->peer, peer, crn_addr_len(peer));
	atomic_store(&cqp->up, true);
}

int pvb_control_qp_connect(struct pvb_control_qp *cqp)
{
	int ret;

	ret = pvb_control_qp_modify(cqp, IBV_QPS_INIT);
	if (!ret)
		ret = pvb_control_qp_modify(cqp, IBV_QPS_RTR);
	if (!ret)
		ret = pvb_control_qp_modify(cqp, IBV_QPS_RTS);
	if (ret)
		PVB_WARN(FI_LOG_EP_CTRL, "control queue pair 0x%x: %s\n",
			 cqp->ibv->qp_num, fi_strerror(-ret));
	else
		pvb_control_qp_up(cqp);
	return ret;
}

void pvb_control_qp_lose(struct pvb_control_qp *cqp, const char *why)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (atomic_exchange(&cqp->lost, true))
		return;
	PVB_INFO(FI_LOG_EP_CTRL, "control queue pair 0x%x is lost: %s\n",
		 cqp->ibv->qp_num, why);
	ibv_modify_qp(cqp->ibv, &attr, IBV_QP_STATE);
}

/* With the lock held. */
static bool pvb_control_qp_full(const struct pvb_control_qp *cqp)
{
	crn_lock_assert_held(&cqp->lock);
	return atomic_load(&cqp->sends) + cqp->kept - atomic_load(&cqp->sent) >=
	       PVB_CONTROL_MESSAGES;
}

/* With the lock held: 0 and there is memory to send from, or an errno. */
static int pvb_control_qp_make_sends(struct pvb_control_qp *cqp)
{
	uint8_t *buf;
	int err;

	crn_lock_assert_held(&cqp->lock);
	if (atomic_load(&cqp->sends_buf))
		return 0;
	buf = malloc(PVB_CONTROL_BUFS);
	if (!buf)
		return ENOMEM;
	cqp->sends_mr = ibv_reg_mr(cqp->control->domain->pd, buf, PVB_CONTROL_BUFS, 0);
	if (!cqp->sends_mr) {
		err = errno;
		pvb_mr_explain(err, buf, PVB_CONTROL_BUFS);
		free(buf);
		return err;
	}
	atomic_store(&cqp->sends_buf, buf);
	return 0;
}

int pvb_control_qp_make_ready(struct pvb_control_qp *cqp)
{
	int err;

	crn_lock(&cqp->lock);
	err = pvb_control_qp_make_sends(cqp);
	crn_unlock(&cqp->lock);
	return -err;
}

/* With the lock held, and a place: 0 or an errno. */
static int pvb_control_qp_post(struct pvb_control_qp *cqp,
			       const struct pvb_wire_message *message)
{
	const uint32_t at = atomic_load(&cqp->sends) % PVB_CONTROL_MESSAGES;
	struct ibv_sge sge = {0};
	struct ibv_send_wr wr = {.wr_id = (uintptr_t)cqp | 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND},
			   *bad;
	uint8_t *buf;
	int err = 0;

	crn_lock_assert_held(&cqp->lock);
	/* The target's first answer. */
	if (crn_unlikely(!atomic_load(&cqp->sends_buf)))
		err = pvb_control_qp_make_sends(cqp);
	if (err)
		return err;
	buf = atomic_load(&cqp->sends_buf) + at * (size_t)PVB_WIRE_SIZE;
	sge = pvb_sge(buf, pvb_wire_pack(buf, message),
		      (void *)(uintptr_t)cqp->sends_mr->lkey);
	err = ibv_post_send(cqp->ibv, &wr, &bad);
	if (!err)
		atomic_fetch_add(&cqp->sends, 1);
	return err;
}

bool pvb_control_qp_send(struct pvb_control_qp *cqp,
			 const struct pvb_wire_message *message)
{
	bool full;
	int err = 0;

	crn_lock(&cqp->lock);
	full = pvb_control_qp_full(cqp);
	if (!full)
		err = pvb_control_qp_post(cqp, message);
	crn_unlock(&cqp->lock);
	if (err)
		pvb_control_qp_lose(cqp, strerror(err));
	return !full && !err;
}

bool pvb_control_qp_keep(struct pvb_control_qp *cqp)
{
	bool full;

	crn_lock(&cqp->lock);
	full = pvb_control_qp_full(cqp);
	cqp->kept += !full;
	crn_unlock(&cqp->lock);
	return !full;
}

bool pvb_control_qp_send_kept(struct pvb_control_qp *cqp,
			      const struct pvb_wire_message *message)
{
	int err;

	crn_lock(&cqp->lock);
	cqp->kept--;
	err = pvb_control_qp_post(cqp, message);
	crn_unlock(&cqp->lock);
	if (err)
		pvb_control_qp_lose(cqp, strerror(err));
	return !err;
}

/* With the lock held, and a place. */
static int pvb_control_qp_post_answer(struct pvb_control_qp *cqp, uint32_t number,
				      uint16_t status)
{
	const struct pvb_wire_message answer = {
		.kind = PVB_WIRE_RING_ANSWER,
		.number = number,
		.status = status,
	};

	crn_lock_assert_held(&cqp->lock);
	return pvb_control_qp_post(cqp, &answer);
}

bool pvb_control_qp_answer(struct pvb_control_qp *cqp, uint32_t number, uint16_t status)
{
	bool taken = true;
	uint32_t at;
	int err = 0;

	crn_lock(&cqp->lock);
	if (!cqp->owed_count && !pvb_control_qp_full(cqp)) {
		err = pvb_control_qp_post_answer(cqp, number, status);
	} else if (cqp->owed_count < PVB_CONTROL_CREDITS) {
		at = (cqp->owed_head + cqp->owed_count++) % PVB_CONTROL_CREDITS;
		cqp->owed[at].number = number;
		cqp->owed[at].status = status;
	} else {
		taken = false;
	}
	crn_unlock(&cqp->lock);
	if (err)
		pvb_control_qp_lose(cqp, strerror(err));
	return taken;
}

void pvb_control_qp_answer_owed(struct pvb_control_qp *cqp)
{
	uint32_t at;
	int err = 0;

	crn_lock(&cqp->lock);
	while (cqp->owed_count && !err && !pvb_control_qp_full(cqp)) {
		at = cqp->owed_head;
		err = pvb_control_qp_post_answer(cqp, cqp->owed[at].number,
						 cqp->owed[at].status);
		cqp->owed_head = (at + 1) % PVB_CONTROL_CREDITS;
		cqp->owed_count--;
	}
	crn_unlock(&cqp->lock);
	if (err)
		pvb_control_qp_lose(cqp, strerror(err));
}

bool pvb_control_qp_later(struct pvb_control_qp *cqp,
			  const struct pvb_wire_message *message)
{
	struct pvb_control_requests *requests = &cqp->requests[PVB_REQUEST_CONTROL];
	struct pvb_wire_message *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	*copy = *message;
	atomic_store(&requests->of[message->number % PVB_CONTROL_CREDITS].later, copy);
	return true;
}

static struct pvb_wire_message *pvb_control_qp_take(struct pvb_control_qp *cqp,
						    uint32_t number)
{
	struct pvb_control_requests *requests = &cqp->requests[PVB_REQUEST_CONTROL];

	return atomic_exchange(&requests->of[number % PVB_CONTROL_CREDITS].later, NULL);
}

void pvb_control_qp_now(struct pvb_control_qp *cqp, uint32_t number)
{
	struct pvb_wire_message *message = pvb_control_qp_take(cqp, number);

	if (message && !pvb_control_qp_send(cqp, message))
		pvb_control_qp_lose(cqp, "a request cannot be sent");
	free(message);
}

void pvb_control_qp_cancel(struct pvb_control_qp *cqp, uint32_t number)
{
	free(pvb_control_qp_take(cqp, number));
}

void pvb_control_qp_offer(const struct pvb_ep *ep, struct pvb_cm_offer *offer)
{
	const struct pvb_control_qp *cqp = ep->qp.control_qp;

	if (!cqp)
		return;
	offer->word = (struct pvb_cm_word){(uintptr_t)cqp->area, cqp->area_key};
	offer->control_conn = pvb_quirk(ep->domain, PVB_QUIRK_KERNEL_CONNECTS);
	if (!offer->control_conn)
		offer->control = (struct pvb_cm_control){cqp->ibv->qp_num, cqp->psn,
							 ep->domain->seq_atomics};
}
