/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "persist/target/target.h"
#include "qp/qp.h"
#include "wire/wire.h"
#include "control.h"
#include "cookie.h"
#include "internal.h"

#define PVB_LANE_BUFS \
	(2 * PVB_LANE_MESSAGES * PVB_WIRE_SIZE + PVB_LANE_CREDITS * PVB_WIRE_ENTRY)

/* What peers may do with the area. */
static int pvb_lane_rights(const struct pvb_lane *lane)
{
	return IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
	       (lane->control->domain->rings ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

static int pvb_lane_memory(struct pvb_lane *lane)
{
	struct ibv_pd *pd = lane->control->domain->pd;
	const size_t bufs = PVB_LANE_BUFS;
	int access;

	lane->area = aligned_alloc(_Alignof(struct pvb_area), sizeof(*lane->area));
	lane->bufs = malloc(bufs);
	if (!lane->area || !lane->bufs)
		return -FI_ENOMEM;
	memset(lane->area, 0, sizeof(*lane->area));
	memset(lane->bufs, 0, bufs);
	lane->entry_out =
		(void *)(lane->bufs + (size_t)2 * PVB_LANE_MESSAGES * PVB_WIRE_SIZE);
	pvb_window_open(lane);
	access = lane->window ? IBV_ACCESS_MW_BIND : pvb_lane_rights(lane);
	lane->area_mr = ibv_reg_mr(pd, lane->area, sizeof(*lane->area),
				   access | IBV_ACCESS_LOCAL_WRITE);
	if (!lane->area_mr)
		return pvb_errno();
	lane->area_key = pvb_window_key(lane);
	lane->bufs_mr = ibv_reg_mr(pd, lane->bufs, bufs, IBV_ACCESS_LOCAL_WRITE);
	return lane->bufs_mr ? 0 : pvb_errno();
}

/* Others poll the control queues meanwhile. */
static int pvb_lane_reserve(struct pvb_lane *lane)
{
	struct pvb_control *control = lane->control;
	int ret;

	pthread_mutex_lock(&control->lock);
	ret = pvb_cq_reserve(control->cq, 2 * PVB_LANE_MESSAGES, &lane->hw);
	pthread_mutex_unlock(&control->lock);
	return ret;
}

static void pvb_lane_release(struct pvb_lane *lane)
{
	pthread_mutex_lock(&lane->control->lock);
	pvb_cq_release(lane->control->cq, lane->hw, 2 * PVB_LANE_MESSAGES);
	pthread_mutex_unlock(&lane->control->lock);
}

void pvb_lane_free(struct pvb_lane *lane)
{
	uint32_t i;

	for (i = 0; i < PVB_LANE_CREDITS; i++)
		free(atomic_load(&lane->asks[PVB_ASK_REQUEST].of[i].later));
	if (lane->qp)
		ibv_destroy_qp(lane->qp);
	if (lane->hw)
		pvb_lane_release(lane);
	if (lane->bufs_mr)
		ibv_dereg_mr(lane->bufs_mr);
	pvb_window_close(lane);
	if (lane->area_mr)
		ibv_dereg_mr(lane->area_mr);
	free(lane->bufs);
	free(lane->area);
	pvb_dirty_fini(&lane->received);
	pvb_dirty_fini(&lane->flushing);
	crn_lock_fini(&lane->lock);
	free(lane);
}

int pvb_lane_receive(struct pvb_lane_recv *recv)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)recv->buf,
		.length = PVB_WIRE_SIZE,
		.lkey = recv->lane->bufs_mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = (uintptr_t)recv, .sg_list = &sge, .num_sge = 1},
			   *bad;
	int err;

	err = ibv_post_recv(recv->lane->qp, &wr, &bad);
	if (err)
		return pvb_post_error(err);
	recv->lane->receives++;
	return 0;
}

static int pvb_lane_queue_pair(struct pvb_lane *lane)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = lane->hw->cq,
		.recv_cq = lane->hw->cq,
		.cap =
			{
				.max_send_wr = PVB_LANE_MESSAGES,
				.max_recv_wr = PVB_LANE_MESSAGES,
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

	lane->qp = ibv_create_qp(lane->control->domain->pd, &attr);
	if (!lane->qp)
		return pvb_errno();
	/* Until there is a path; receives may be posted from here on. */
	ret = -ibv_modify_qp(lane->qp, &init, mask);
	for (i = 0; !ret && i < PVB_LANE_MESSAGES; i++) {
		lane->recv[i] = (struct pvb_lane_recv){
			.lane = lane,
			.buf = lane->bufs + (size_t)i * PVB_WIRE_SIZE,
		};
		ret = pvb_lane_receive(&lane->recv[i]);
	}
	return ret;
}

int pvb_lane_open(struct pvb_conn *conn)
{
	struct pvb_control *control = pvb_conn_ep(conn)->domain->control;
	struct pvb_lane *lane = calloc(1, sizeof(*lane));
	int ret;

	if (!lane)
		return -FI_ENOMEM;
	lane->control = control;
	lane->conn = conn;
	crn_list_init(&lane->turn.entry);
	lane->turn.run = pvb_respond_turn;
	pvb_arrivals_init(lane);
	/* The control queue is polled by whoever has time. */
	crn_lock_init(&lane->lock, true);
	ret = pvb_lane_memory(lane);
	if (!ret)
		ret = pvb_lane_reserve(lane);
	if (!ret)
		ret = pvb_lane_queue_pair(lane);
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL, "no control queue pair: %s\n",
			 fi_strerror(-ret));
		pvb_lane_free(lane);
		return ret;
	}
	lane->psn = lane->qp->qp_num & 0xffffff;
	pvb_second_init(&lane->second);
	conn->lane = lane;
	conn->rq.on_complete = pvb_arrival;
	pthread_mutex_lock(&control->lock);
	crn_list_add_tail(&control->lanes, &lane->entry);
	pthread_mutex_unlock(&control->lock);
	return 0;
}

/* What may still complete names the lane: its memory stays until the queue is closed. */
static void pvb_lane_bury(struct pvb_lane *lane)
{
	struct pvb_control *control = lane->control;

	ibv_destroy_qp(lane->qp);
	lane->qp = NULL;
	pvb_lane_release(lane);
	lane->hw = NULL;
	pthread_mutex_lock(&control->lock);
	crn_list_add_tail(&control->buried, &lane->entry);
	pthread_mutex_unlock(&control->lock);
}

void pvb_lane_close(struct pvb_conn *conn)
{
	struct pvb_lane *lane = conn->lane;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	uint64_t deadline = crn_now_ms();

	if (!lane)
		return;
	conn->lane = NULL;
	ibv_modify_qp(lane->qp, &attr, IBV_QP_STATE);
	if (!pvb_removed(lane->control->domain))
		deadline += (uint64_t)pvb_params.close_timeout;
	if (pvb_control_drain(lane, deadline))
		pvb_lane_free(lane);
	else
		pvb_lane_bury(lane);
}

/* One transition: what rdma_cm would have for the connection's own queue pair, towards
 * the peer's other one. */
static int pvb_lane_modify(struct pvb_lane *lane, enum ibv_qp_state state)
{
	const struct pvb_cm_control *peer = &lane->conn->peer.control;
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(lane->conn->id, &attr, &mask))
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
		attr.sq_psn = lane->psn;
	}
	return -ibv_modify_qp(lane->qp, &attr, mask);
}

int pvb_lane_expose(struct pvb_lane *lane)
{
	return pvb_window_bind(lane, pvb_lane_rights(lane));
}

void pvb_lane_up(struct pvb_lane *lane)
{
	const struct sockaddr *peer = rdma_get_peer_addr(lane->conn->id);

	memcpy(&lane->peer, peer, crn_addr_len(peer));
	atomic_store(&lane->up, true);
}

int pvb_lane_connect(struct pvb_lane *lane)
{
	int ret;

	ret = pvb_lane_modify(lane, IBV_QPS_INIT);
	if (!ret)
		ret = pvb_lane_modify(lane, IBV_QPS_RTR);
	if (!ret)
		ret = pvb_lane_modify(lane, IBV_QPS_RTS);
	if (ret)
		PVB_WARN(FI_LOG_EP_CTRL, "control queue pair 0x%x: %s\n",
			 lane->qp->qp_num, fi_strerror(-ret));
	else
		pvb_lane_up(lane);
	return ret;
}

void pvb_lane_lose(struct pvb_lane *lane, const char *why)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (atomic_exchange(&lane->lost, true))
		return;
	PVB_INFO(FI_LOG_EP_CTRL, "control queue pair 0x%x is lost: %s\n",
		 lane->qp->qp_num, why);
	ibv_modify_qp(lane->qp, &attr, IBV_QP_STATE);
}

/* With the lock held. */
static bool pvb_lane_full(const struct pvb_lane *lane)
{
	return atomic_load(&lane->sends) + lane->kept - atomic_load(&lane->sent) >=
	       PVB_LANE_MESSAGES;
}

/* With the lock held, and a place: 0 or an errno. */
static int pvb_lane_post(struct pvb_lane *lane, const struct pvb_wire_message *message)
{
	const uint32_t at = atomic_load(&lane->sends) % PVB_LANE_MESSAGES;
	uint8_t *buf = lane->bufs + (PVB_LANE_MESSAGES + at) * (size_t)PVB_WIRE_SIZE;
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = (uint32_t)pvb_wire_pack(buf, message),
		.lkey = lane->bufs_mr->lkey,
	};
	struct ibv_send_wr wr = {.wr_id = (uintptr_t)lane | 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND},
			   *bad;
	const int err = ibv_post_send(lane->qp, &wr, &bad);

	if (!err)
		atomic_fetch_add(&lane->sends, 1);
	return err;
}

bool pvb_lane_send(struct pvb_lane *lane, const struct pvb_wire_message *message)
{
	bool full;
	int err = 0;

	crn_lock(&lane->lock);
	full = pvb_lane_full(lane);
	if (!full)
		err = pvb_lane_post(lane, message);
	crn_unlock(&lane->lock);
	if (err)
		pvb_lane_lose(lane, strerror(err));
	return !full && !err;
}

bool pvb_lane_keep(struct pvb_lane *lane)
{
	bool full;

	crn_lock(&lane->lock);
	full = pvb_lane_full(lane);
	lane->kept += !full;
	crn_unlock(&lane->lock);
	return !full;
}

bool pvb_lane_send_kept(struct pvb_lane *lane, const struct pvb_wire_message *message)
{
	int err;

	crn_lock(&lane->lock);
	lane->kept--;
	err = pvb_lane_post(lane, message);
	crn_unlock(&lane->lock);
	if (err)
		pvb_lane_lose(lane, strerror(err));
	return !err;
}

/* With the lock held, and a place. */
static int pvb_lane_post_answer(struct pvb_lane *lane, uint32_t number, uint16_t status)
{
	const struct pvb_wire_message answer = {
		.kind = PVB_WIRE_RING_ANSWER,
		.number = number,
		.status = status,
	};

	return pvb_lane_post(lane, &answer);
}

bool pvb_lane_answer(struct pvb_lane *lane, uint32_t number, uint16_t status)
{
	bool taken = true;
	uint32_t at;
	int err = 0;

	crn_lock(&lane->lock);
	if (!lane->owed_count && !pvb_lane_full(lane)) {
		err = pvb_lane_post_answer(lane, number, status);
	} else if (lane->owed_count < PVB_LANE_CREDITS) {
		at = (lane->owed_head + lane->owed_count++) % PVB_LANE_CREDITS;
		lane->owed[at].number = number;
		lane->owed[at].status = status;
	} else {
		taken = false;
	}
	crn_unlock(&lane->lock);
	if (err)
		pvb_lane_lose(lane, strerror(err));
	return taken;
}

void pvb_lane_answer_owed(struct pvb_lane *lane)
{
	uint32_t at;
	int err = 0;

	crn_lock(&lane->lock);
	while (lane->owed_count && !err && !pvb_lane_full(lane)) {
		at = lane->owed_head;
		err = pvb_lane_post_answer(lane, lane->owed[at].number,
					   lane->owed[at].status);
		lane->owed_head = (at + 1) % PVB_LANE_CREDITS;
		lane->owed_count--;
	}
	crn_unlock(&lane->lock);
	if (err)
		pvb_lane_lose(lane, strerror(err));
}

bool pvb_lane_later(struct pvb_lane *lane, const struct pvb_wire_message *message)
{
	struct pvb_asks *asks = &lane->asks[PVB_ASK_REQUEST];
	struct pvb_wire_message *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	*copy = *message;
	atomic_store(&asks->of[message->number % PVB_LANE_CREDITS].later, copy);
	return true;
}

static struct pvb_wire_message *pvb_lane_take(struct pvb_lane *lane, uint32_t number)
{
	struct pvb_asks *asks = &lane->asks[PVB_ASK_REQUEST];

	return atomic_exchange(&asks->of[number % PVB_LANE_CREDITS].later, NULL);
}

void pvb_lane_now(struct pvb_lane *lane, uint32_t number)
{
	struct pvb_wire_message *message = pvb_lane_take(lane, number);

	if (message && !pvb_lane_send(lane, message))
		pvb_lane_lose(lane, "a request cannot be sent");
	free(message);
}

void pvb_lane_never(struct pvb_lane *lane, uint32_t number)
{
	free(pvb_lane_take(lane, number));
}
