/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs of ids: making them, and the attributes that connect them. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

/* 4.096 us * 2^timeout: as ib_cm computes it from a packet life time of 18. */
#define SVB_CM_ACK_TIMEOUT 19

void svb_cm_ah(const struct svb_cm_id *id, struct ibv_ah_attr *ah)
{
	bool ib = svb_self.settings.link == SVB_LINK_IB;

	*ah = (struct ibv_ah_attr){
		.dlid = id->peer_port->lid,
		.port_num = id->id.port_num,
		.is_global = !ib,
	};
	if (ib)
		return;
	ah->grh.dgid = id->peer_port->gid[id->peer_gid];
	ah->grh.sgid_index = (uint8_t)id->gid;
	ah->grh.hop_limit = 64;
	ah->grh.traffic_class = id->tos;
}

static int svb_cm_attr_init(struct svb_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	if (id->pkey < 0)
		return ENOENT;
	attr->pkey_index = (uint16_t)id->pkey;
	attr->port_num = id->id.port_num;
	if (id->id.qp_type == IBV_QPT_UD) {
		*mask |= IBV_QP_QKEY;
		attr->qkey = id->qkey;
		return 0;
	}
	*mask |= IBV_QP_ACCESS_FLAGS;
	attr->qp_access_flags = 0;
	/* ib_cm knows what the other end may do once there is a request. */
	if (id->state < SVB_CM_REQ_SENT)
		return 0;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |=
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	if (svb_self.settings.flush)
		attr->qp_access_flags |=
			SVB_ACCESS_FLUSH_GLOBAL | SVB_ACCESS_FLUSH_PERSISTENT;
	return 0;
}

/* IBA 12.7.18 and its path record: what both ends can. */
static enum ibv_mtu svb_cm_path_mtu(const struct svb_cm_id *id)
{
	struct svb_seg *peer = svb_seg_of(svb_token_index(id->peer));
	enum ibv_mtu own = svb_self.settings.mtu, theirs;

	theirs = peer ? (enum ibv_mtu)svb_get(peer->mtu) : own;
	return theirs >= IBV_MTU_256 && theirs < own ? theirs : own;
}

static void svb_cm_attr_rtr(struct svb_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	svb_cm_ah(id, &attr->ah_attr);
	attr->path_mtu = svb_cm_path_mtu(id);
	attr->dest_qp_num = id->peer_qpn;
	attr->rq_psn = id->peer_psn;
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->min_rnr_timer = 0;
}

static void svb_cm_attr_rts(struct svb_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	attr->sq_psn = id->psn;
	attr->timeout = id->ack_timeout ? id->ack_timeout : SVB_CM_ACK_TIMEOUT;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->max_rd_atomic = id->initiator_depth;
}

/* iw_cm: the adapter does the rest. */
static int svb_cm_attr_iwarp(struct ibv_qp_attr *attr, int *mask)
{
	*mask = 0;
	if (attr->qp_state == IBV_QPS_RTS)
		return 0;
	*mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
	attr->qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	return 0;
}

static int svb_cm_attr_connected(struct svb_cm_id *id, struct ibv_qp_attr *attr,
				 int *mask)
{
	if (id->state < SVB_CM_REQ_RCVD || id->state > SVB_CM_STANDS)
		return EINVAL;
	if (attr->qp_state == IBV_QPS_RTR)
		svb_cm_attr_rtr(id, attr, mask);
	else
		svb_cm_attr_rts(id, attr, mask);
	return 0;
}

int svb_cm_qp_attr(struct svb_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	if (!id->port)
		return EINVAL;
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		return svb_cm_attr_init(id, attr, mask);
	case IBV_QPS_RTR:
	case IBV_QPS_RTS:
		return svb_cm_attr_connected(id, attr, mask);
	default:
		return EINVAL;
	}
}

SVB_API int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
			      int *qp_attr_mask)
{
	int ret;

	svb_cm_lock();
	if (svb_cm_iwarp() && qp_attr->qp_state != IBV_QPS_INIT)
		ret = svb_cm_attr_iwarp(qp_attr, qp_attr_mask);
	else
		ret = svb_cm_qp_attr(svb_cm_id(id), qp_attr, qp_attr_mask);
	svb_cm_unlock();
	return svb_cm_result(ret);
}

/* On iWARP the kernel knows a queue pair by its number, whoever made it. */
static struct ibv_qp *svb_cm_qp_of(struct svb_cm_id *id)
{
	struct svb_qp *qp;

	if (id->id.qp)
		return id->id.qp;
	if (!svb_cm_iwarp() || SVB_QP_PROC(id->qpn) != svb_self.index)
		return NULL;
	qp = svb_self.qp[SVB_QP_SLOT(id->qpn)];
	return qp && qp->ibv.qp_num == id->qpn ? &qp->ibv : NULL;
}

static int svb_cm_qp_step(struct svb_cm_id *id, struct ibv_qp *qp,
			  enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0, ret;

	ret = svb_cm_qp_attr(id, &attr, &mask);
	return ret ? ret : svb_modify_qp(qp, &attr, mask);
}

int svb_cm_qp_connect(struct svb_cm_id *id)
{
	struct ibv_qp *qp = svb_cm_qp_of(id);
	int ret;

	if (!qp)
		return EINVAL;
	ret = svb_cm_qp_step(id, qp, IBV_QPS_INIT);
	if (!ret)
		ret = svb_cm_qp_step(id, qp, IBV_QPS_RTR);
	return ret ? ret : svb_cm_qp_step(id, qp, IBV_QPS_RTS);
}

void svb_cm_qp_error(struct svb_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp *qp = svb_cm_qp_of(id);

	if (qp && id->id.qp_type == IBV_QPT_RC)
		svb_modify_qp(qp, &attr, IBV_QP_STATE);
}

bool svb_cm_qp_failed(struct svb_cm_id *id)
{
	struct ibv_qp *qp = svb_cm_qp_of(id);

	return qp &&
	       __atomic_load_n(&svb_qp(qp)->sh->state, __ATOMIC_ACQUIRE) == IBV_QPS_ERR;
}

static void svb_cm_destroy_cqs(struct rdma_cm_id *id)
{
	if (id->recv_cq)
		ibv_destroy_cq(id->recv_cq);
	if (id->recv_cq_channel)
		ibv_destroy_comp_channel(id->recv_cq_channel);
	if (id->send_cq)
		ibv_destroy_cq(id->send_cq);
	if (id->send_cq_channel)
		ibv_destroy_comp_channel(id->send_cq_channel);
	id->recv_cq = id->send_cq = NULL;
	id->recv_cq_channel = id->send_cq_channel = NULL;
}

static int svb_cm_create_cq(struct rdma_cm_id *id, uint32_t entries,
			    struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return errno;
	*cq = ibv_create_cq(id->verbs, entries ? (int)entries : 1, id, *channel, 0);
	return *cq ? 0 : errno;
}

/* Queues that the program did not give. */
static int svb_cm_create_cqs(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int ret = 0;

	if (!attr->recv_cq)
		ret = svb_cm_create_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel,
				       &id->recv_cq);
	if (!ret && !attr->send_cq)
		ret = svb_cm_create_cq(id, attr->cap.max_send_wr, &id->send_cq_channel,
				       &id->send_cq);
	if (!attr->recv_cq)
		attr->recv_cq = id->recv_cq;
	if (!attr->send_cq)
		attr->send_cq = id->send_cq;
	return ret;
}

/* Datagrams need no connection: ready to send at once. */
static int svb_cm_qp_begin(struct svb_cm_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	int ret = svb_cm_qp_step(id, qp, IBV_QPS_INIT);

	if (ret || id->id.qp_type != IBV_QPT_UD)
		return ret;
	ret = svb_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	return ret ? ret : svb_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

SVB_API int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = NULL;
	int ret;

	if (id->qp || !id->verbs)
		return svb_cm_result(EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	if (!attr->pd || attr->pd->context != id->verbs)
		return svb_cm_result(EINVAL);
	ret = svb_cm_create_cqs(id, attr);
	if (!attr->srq)
		attr->srq = id->srq;
	if (!ret) {
		qp = ibv_create_qp_ex(id->verbs, attr);
		ret = qp ? 0 : errno;
	}
	if (!ret)
		ret = svb_cm_qp_begin(svb_cm_id(id), qp);
	if (ret) {
		if (qp)
			ibv_destroy_qp(qp);
		svb_cm_destroy_cqs(id);
		return svb_cm_result(ret);
	}
	id->pd = attr->pd;
	id->qp = qp;
	return 0;
}

SVB_API int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			   struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = {0};
	int ret;

	memcpy(&attr, qp_init_attr, sizeof(*qp_init_attr));
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = pd ? pd : id->pd;
	ret = rdma_create_qp_ex(id, &attr);
	memcpy(qp_init_attr, &attr, sizeof(*qp_init_attr));
	return ret;
}

SVB_API void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct ibv_qp *qp = id->qp;

	svb_cm_lock();
	id->qp = NULL;
	svb_cm_unlock();
	ibv_destroy_qp(qp);
	svb_cm_destroy_cqs(id);
}

SVB_API int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;

	if (id->srq || !id->verbs)
		return svb_cm_result(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	srq = ibv_create_srq_ex(id->verbs, attr);
	if (!srq)
		return -1;
	if (!id->pd)
		id->pd = attr->pd;
	id->srq = srq;
	return 0;
}

SVB_API int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
			    struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {0};
	int ret;

	memcpy(&ex, attr, sizeof(*attr));
	ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	ex.srq_type = IBV_SRQT_BASIC;
	ex.pd = pd;
	ret = rdma_create_srq_ex(id, &ex);
	memcpy(attr, &ex, sizeof(*attr));
	return ret;
}

SVB_API void rdma_destroy_srq(struct rdma_cm_id *id)
{
	ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
