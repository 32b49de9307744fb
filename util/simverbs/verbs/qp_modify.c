/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "ports.h"
#include "verbs.h"

static int svb_check_ah(struct ibv_qp *qp, const struct ibv_ah_attr *ah, uint32_t num)
{
	const struct svb_port *port = svb_port_of(qp->context, num);

	if (!port || ah->sl > 15)
		return EINVAL;
	if (svb_self.settings.link != SVB_LINK_IB && !ah->is_global)
		return EINVAL;
	return ah->is_global && ah->grh.sgid_index >= port->gids ? EINVAL : 0;
}

static int svb_check_pkey(struct ibv_qp *qp, const struct ibv_qp_attr *attr, uint32_t num)
{
	const struct svb_port *port = svb_port_of(qp->context, num);

	return port && attr->pkey_index < port->pkeys ? 0 : EINVAL;
}

/* Kernel: ib_uverbs modify_qp and what drivers check on top. */
static int svb_check_values(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct svb_settings *set = &svb_self.settings;
	uint32_t port =
		mask & IBV_QP_PORT ? attr->port_num : svb_qp(qp)->sh->attr.port_num;

	if (mask & IBV_QP_PORT && !svb_port_of(qp->context, attr->port_num))
		return EINVAL;
	if (mask & IBV_QP_PKEY_INDEX && svb_check_pkey(qp, attr, port))
		return EINVAL;
	if (mask & IBV_QP_PATH_MTU &&
	    (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > set->mtu))
		return EINVAL;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > set->max_rd_atomic)
		return EINVAL;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > set->max_rd_atomic)
		return EINVAL;
	if ((mask & IBV_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7) ||
	    (mask & IBV_QP_DEST_QPN && attr->dest_qp_num > 0xffffff))
		return EINVAL;
	return mask & IBV_QP_AV ? svb_check_ah(qp, &attr->ah_attr, port) : 0;
}

/* Fields of struct ibv_qp_attr by the bit that names them. */
#define SVB_FIELD(bit, field)                                    \
	{                                                        \
		bit, offsetof(struct ibv_qp_attr, field),        \
			sizeof(((struct ibv_qp_attr *)0)->field) \
	}
static const struct {
	int bit;
	size_t offset;
	size_t size;
} svb_fields[] = {
	SVB_FIELD(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify),
	SVB_FIELD(IBV_QP_ACCESS_FLAGS, qp_access_flags),
	SVB_FIELD(IBV_QP_PKEY_INDEX, pkey_index),
	SVB_FIELD(IBV_QP_PORT, port_num),
	SVB_FIELD(IBV_QP_QKEY, qkey),
	SVB_FIELD(IBV_QP_AV, ah_attr),
	SVB_FIELD(IBV_QP_PATH_MTU, path_mtu),
	SVB_FIELD(IBV_QP_TIMEOUT, timeout),
	SVB_FIELD(IBV_QP_RETRY_CNT, retry_cnt),
	SVB_FIELD(IBV_QP_RNR_RETRY, rnr_retry),
	SVB_FIELD(IBV_QP_RQ_PSN, rq_psn),
	SVB_FIELD(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	SVB_FIELD(IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	SVB_FIELD(IBV_QP_SQ_PSN, sq_psn),
	SVB_FIELD(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	SVB_FIELD(IBV_QP_PATH_MIG_STATE, path_mig_state),
	SVB_FIELD(IBV_QP_DEST_QPN, dest_qp_num),
};

static uint32_t svb_packets(uint32_t psn, enum ibv_mtu mtu)
{
	return (psn & SVB_PSN_MASK) | (uint32_t)mtu << SVB_PSN_BITS;
}

void svb_qp_place(struct svb_qp *qp)
{
	const struct ibv_qp_attr *attr = &qp->sh->attr;
	const struct svb_port *port = svb_port_of(qp->ibv.context, attr->port_num), *dest;
	bool up = port && !svb_port_down(port->index);
	uint32_t pkey =
		port && attr->pkey_index < port->pkeys ? port->pkey[attr->pkey_index] : 0;

	dest = svb_port_of_ah(&attr->ah_attr);
	svb_set(qp->sh->pkey, pkey);
	svb_set(qp->sh->partition, pkey & SVB_PKEY_BASE);
	/* Its own P_Key is what it expects of the peer: IBA 10.9.3. */
	svb_set(qp->sh->dest_partition,
		pkey & SVB_PKEY_FULL ? pkey & SVB_PKEY_BASE : SVB_PARTITION_FULL);
	svb_set(qp->sh->port, up ? port->index : SVB_AWAY);
	svb_set(qp->sh->dest_port, up && dest ? dest->index : SVB_NOWHERE);
}

static void svb_qp_apply(struct svb_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct svb_qp_sh *sh = qp->sh;
	size_t i;

	for (i = 0; i < sizeof(svb_fields) / sizeof(svb_fields[0]); i++)
		if (mask & svb_fields[i].bit)
			memcpy((char *)&sh->attr + svb_fields[i].offset,
			       (const char *)attr + svb_fields[i].offset,
			       svb_fields[i].size);
	/* Peers look at these whenever they like: only what changes is written. */
	if (mask & IBV_QP_ACCESS_FLAGS)
		sh->access = sh->attr.qp_access_flags;
	if (mask & IBV_QP_QKEY)
		sh->qkey = sh->attr.qkey;
	if (mask & IBV_QP_RQ_PSN)
		svb_set(sh->dest_packets, svb_packets(attr->rq_psn, sh->attr.path_mtu));
	if (mask & IBV_QP_SQ_PSN)
		svb_set(sh->packets, svb_packets(attr->sq_psn, sh->attr.path_mtu));
	if (mask & IBV_QP_DEST_QPN)
		svb_set(sh->dest_qpn, sh->attr.dest_qp_num);
	if (mask & (IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_AV))
		svb_qp_place(qp);
}

/* IBA 10.3.1: as if just created; what it left in completion queues is gone. */
static void svb_qp_reset(struct svb_qp *qp)
{
	struct svb_qp_sh *sh = qp->sh;

	if (svb_self.iwarp)
		svb_iwarp_close(qp);
	svb_engine_quiesce_qp(sh);
	svb_ud_forget(qp);
	svb_engine_run_peer(sh);
	svb_lock(&sh->sq.lock);
	sh->sq.head = sh->sq.next = sh->sq.done = 0;
	svb_set(sh->sq.wait, SVB_WAIT_NONE);
	svb_unlock(&sh->sq.lock);
	svb_lock(&sh->rq.lock);
	sh->rq.head = sh->rq.next = sh->rq.done = sh->rq.waiting = 0;
	svb_unlock(&sh->rq.lock);
	svb_cq_clean(qp->send_cq, sh->qpn);
	if (qp->recv_cq != qp->send_cq)
		svb_cq_clean(qp->recv_cq, sh->qpn);
	__atomic_and_fetch(&sh->flags, SVB_QP_NO_MCAST_LOOP, __ATOMIC_RELAXED);
	sh->taken = 0;
	svb_set(sh->dest_qpn, 0);
	sh->access = 0;
	memset(&sh->attr, 0, sizeof(sh->attr));
}

/* What becoming that state sets going. */
static void svb_qp_entered(struct svb_qp *qp, enum ibv_qp_state from,
			   enum ibv_qp_state to)
{
	struct svb_qp_sh *sh = qp->sh;
	uint32_t peer = SVB_QP_PROC(sh->dest_qpn);

	switch (to) {
	case IBV_QPS_RESET:
		svb_qp_reset(qp);
		__atomic_store_n(&sh->state, svb_qp_idle(), __ATOMIC_RELEASE);
		break;
	case IBV_QPS_RTR:
		if (qp->ibv.qp_type == IBV_QPT_RC && peer != svb_self.index)
			svb_service_watch_peer(peer);
		/* From now on others may ask. */
		if (svb_self.settings.copy == SVB_COPY_THREAD)
			svb_relay_start();
		svb_engine_run_peer(sh);
		break;
	case IBV_QPS_RTS:
		svb_engine_run(svb_self.seg, sh);
		break;
	case IBV_QPS_SQD:
		if (from == IBV_QPS_RTS && sh->attr.en_sqd_async_notify)
			svb_async_raise(&sh->events, sh->async, IBV_EVENT_SQ_DRAINED);
		break;
	case IBV_QPS_ERR:
		if (from != IBV_QPS_ERR)
			svb_qp_fail(svb_self.seg, sh, -1);
		break;
	default:
		break;
	}
}

/* With its mutex: the new state, or an errno. The engine may fail the queue pair at any
 * time, and nothing but a reset revives it. */
static int svb_qp_change(struct svb_qp *qp, const struct ibv_qp_attr *attr, int mask,
			 enum ibv_qp_state *from)
{
	enum ibv_qp_state to;
	uint32_t state;
	int ret;

	do {
		state = __atomic_load_n(&qp->sh->state, __ATOMIC_ACQUIRE);
		*from = state;
		if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != *from)
			return EINVAL;
		to = mask & IBV_QP_STATE ? attr->qp_state : *from;
		if (!svb_qp_modify_ok(*from, to, qp->ibv.qp_type, mask))
			return EINVAL;
		ret = svb_check_values(&qp->ibv, attr, mask);
		if (ret)
			return ret;
		svb_qp_apply(qp, attr, mask);
	} while (to != IBV_QPS_ERR &&
		 !__atomic_compare_exchange_n(&qp->sh->state, &state, to, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
	/* Programs read it, from any thread. */
	__atomic_store_n(&qp->ibv.state, to, __ATOMIC_RELAXED);
	return 0;
}

int svb_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct svb_qp *qp = svb_qp(ibqp);
	enum ibv_qp_state from;
	int ret;

	pthread_mutex_lock(&ibqp->mutex);
	ret = svb_qp_change(qp, attr, mask, &from);
	pthread_mutex_unlock(&ibqp->mutex);
	if (!ret && mask & IBV_QP_STATE)
		svb_qp_entered(qp, from, attr->qp_state);
	return ret;
}

/*
 * iWARP has no RTR, and only the connection manager brings the stream that makes ready to
 * send: drivers take the first for nothing and refuse the second.
 */
static int svb_modify_iwarp(struct ibv_qp *ibqp, const struct ibv_qp_attr *given,
			    int mask)
{
	struct ibv_qp_attr attr = *given;

	if (mask & IBV_QP_STATE && attr.qp_state == IBV_QPS_RTR)
		mask &= ~IBV_QP_STATE;
	if (!mask)
		return 0;
	if (mask & IBV_QP_STATE && attr.qp_state == IBV_QPS_RTS &&
	    __atomic_load_n(&svb_qp(ibqp)->sh->state, __ATOMIC_ACQUIRE) != IBV_QPS_RTS)
		return EINVAL;
	if (mask & IBV_QP_STATE && attr.qp_state == IBV_QPS_INIT) {
		attr.port_num = mask & IBV_QP_PORT ? attr.port_num : 1;
		attr.pkey_index = 0;
		mask |= IBV_QP_PORT | IBV_QP_PKEY_INDEX;
	}
	return svb_modify_qp(ibqp, &attr, mask);
}

SVB_API int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	if (svb_unlikely(svb_removed_ctx(ibqp->context)))
		return EIO;
	return svb_self.iwarp ? svb_modify_iwarp(ibqp, attr, mask)
			      : svb_modify_qp(ibqp, attr, mask);
}

SVB_API int ibv_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
			 struct ibv_qp_init_attr *init)
{
	struct svb_qp *qp = svb_qp(ibqp);

	if (svb_removed_ctx(ibqp->context))
		return EIO;
	pthread_mutex_lock(&ibqp->mutex);
	*attr = qp->sh->attr;
	attr->qp_state = attr->cur_qp_state =
		__atomic_load_n(&qp->sh->state, __ATOMIC_ACQUIRE);
	attr->cap = qp->sh->cap;
	__atomic_store_n(&ibqp->state, attr->qp_state, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&ibqp->mutex);
	*init = (struct ibv_qp_init_attr){
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.qp_type = ibqp->qp_type,
		.cap = qp->sh->cap,
		.sq_sig_all = (int)qp->sh->sig_all,
	};
	return 0;
}
