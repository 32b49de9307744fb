/* SPDX-License-Identifier: BSD-2-Clause */
/* Unreliable datagrams: a lost one is not reported. */
#include <string.h>
#include "engine.h"
#include "ports.h"

struct svb_datagram {
	struct svb_op op;
	struct svb_span from;
	struct ibv_grh grh;
	enum svb_l3 l3;
	bool global;
	uint32_t qkey;
	uint32_t port; /* index of the destination's; SVB_ANY_PORT for a group */
};
#define SVB_ANY_PORT UINT32_MAX

static void svb_grh_fill(struct svb_datagram *dg)
{
	const struct ibv_ah_attr *ah = &dg->op.wqe->ud.ah;
	const struct svb_port *port = svb_port_by_index(dg->op.qp->port);
	uint32_t sgid = ah->is_global ? ah->grh.sgid_index : 0;

	if (port && sgid < port->gids)
		dg->l3 = svb_grh_make(&dg->grh, &ah->grh, &port->gid[sgid],
				      port->gid_type[sgid], dg->op.wqe->length);
}

/* Datagrams are short: all the copying happens under the lock of the receive queue. */
static int svb_ud_fill(struct svb_datagram *dg, struct svb_span *to)
{
	struct svb_span head = *to;
	int ret = 0;

	svb_span_cut(&head, SVB_GRH);
	svb_span_skip(to, SVB_GRH);
	if (dg->global)
		ret = svb_move_in(&head, &dg->grh, SVB_GRH);
	return ret ? ret : svb_move(to, &dg->from);
}

static enum ibv_wc_status svb_ud_place(struct svb_datagram *dg, struct svb_recv *recv)
{
	struct svb_span to;

	if (!svb_recv_span(recv, &to, SVB_GRH + dg->op.wqe->length))
		return IBV_WC_LOC_PROT_ERR;
	if (to.length < SVB_GRH + dg->op.wqe->length) {
		svb_count(svb_get(recv->qp->port), SVB_COUNT_TOO_LONG);
		return IBV_WC_LOC_LEN_ERR;
	}
	return svb_ud_fill(dg, &to) ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS;
}

static void svb_ud_complete(struct svb_datagram *dg, struct svb_recv *recv,
			    enum ibv_wc_status status)
{
	struct svb_wqe *wqe = dg->op.wqe;
	const struct svb_port *port = svb_port_by_index(dg->op.qp->port);
	struct ibv_wc wc = {
		.status = status,
		.opcode = IBV_WC_RECV,
		.byte_len = wqe->length + SVB_GRH,
		.src_qp = dg->op.qp->qpn,
		.slid = port ? port->lid : 0,
		/* Ethernet has none: mlx5 adapters tell the header there, which UCX
		 * relies on. */
		.sl = svb_self.settings.link == SVB_LINK_IB ? wqe->ud.ah.sl
							    : (uint8_t)dg->l3,
		.wc_flags = dg->global ? IBV_WC_GRH : 0,
	};

	if (wqe->opcode == IBV_WR_SEND_WITH_IMM) {
		wc.wc_flags |= IBV_WC_WITH_IMM;
		wc.imm_data = wqe->imm;
	}
	svb_recv_complete(recv, &wc, (wqe->flags & IBV_SEND_SOLICITED) || status);
	if (status)
		svb_qp_fail_later(recv->seg, recv->qp, -1);
}

/* Does it reach the queue pair, and may it? */
static bool svb_ud_accepts(const struct svb_datagram *dg, struct svb_qp_sh *qp)
{
	const uint32_t port = svb_get(qp->port);

	if (qp->type != IBV_QPT_UD || port == SVB_AWAY ||
	    !(1u << (__atomic_load_n(&qp->state, __ATOMIC_ACQUIRE) & 31) & SVB_ANSWERS) ||
	    (dg->port != SVB_ANY_PORT && port != dg->port))
		return false;
	if (dg->port == SVB_ANY_PORT && qp == dg->op.qp &&
	    (qp->flags & SVB_QP_NO_MCAST_LOOP))
		return false;
	if (svb_unlikely(!svb_pkeys_match(svb_get(qp->pkey), dg->op.qp->pkey))) {
		svb_count(port, SVB_COUNT_BAD_PKEY);
		return false;
	}
	if (svb_unlikely(qp->qkey != dg->qkey)) {
		svb_count(port, SVB_COUNT_BAD_QKEY);
		return false;
	}
	return true;
}

/* Into the next receive; without one it is dropped (IBA 9.8.2). */
static void svb_ud_receive(struct svb_datagram *dg, struct svb_seg *seg,
			   struct svb_qp_sh *qp)
{
	struct svb_recv recv;
	struct svb_rq *rq = &qp->rq;
	bool taken;

	if (qp->srq) {
		taken = svb_recv_take(&recv, seg, qp);
		if (taken)
			svb_ud_complete(dg, &recv, svb_ud_place(dg, &recv));
	} else {
		svb_lock(&rq->lock);
		taken = rq->head != rq->next &&
			1u << (svb_get(qp->state) & 31) & SVB_ANSWERS;
		if (taken) {
			recv.seg = seg;
			recv.qp = qp;
			recv.rwqe = svb_rq_at(seg, rq, rq->next);
			svb_ud_complete(dg, &recv, svb_ud_place(dg, &recv));
		}
		svb_unlock(&rq->lock);
	}
	if (!taken)
		svb_count(svb_get(qp->port), SVB_COUNT_NO_RECEIVE);
}

static void svb_ud_deliver(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg)
{
	struct svb_datagram *dg = arg;

	if (seg != svb_self.seg && !svb_sane_receiver(seg, qp))
		return;
	if (!svb_ud_accepts(dg, qp))
		return;
	if (svb_unlikely(svb_self.unreliable)) {
		if (svb_ud_lost(qp))
			return;
		if (svb_ud_twice(qp))
			svb_ud_receive(dg, seg, qp);
	}
	svb_ud_receive(dg, seg, qp);
}

static bool svb_is_group(const struct svb_av *av)
{
	return av->qpn == 0xffffff && av->ah.is_global &&
	       svb_gid_is_group(&av->ah.grh.dgid);
}

/* To every member, or to the one queue pair. */
static void svb_ud_spread(struct svb_datagram *dg, const struct svb_av *to)
{
	const struct svb_port *port;
	struct svb_seg *rseg;
	struct svb_qp_sh *rqp;

	if (svb_is_group(to)) {
		dg->port = SVB_ANY_PORT;
		svb_mcast_each(&to->ah.grh.dgid, to->ah.dlid, svb_ud_deliver, dg);
		return;
	}
	port = svb_port_of_ah(&to->ah);
	rseg = port ? svb_seg_of(SVB_QP_PROC(to->qpn)) : NULL;
	rqp = rseg ? svb_seg_qp_try(rseg, SVB_QP_SLOT(to->qpn)) : NULL;
	if (rqp && svb_get(rqp->qpn) == to->qpn) {
		dg->port = port->index;
		svb_ud_deliver(rseg, rqp, dg);
	}
}

int svb_ud_leave(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe)
{
	struct svb_datagram dg = {.op = {.seg = seg, .qp = qp, .wqe = wqe}};

	if (!svb_engine_source(&dg.op, &dg.from))
		return IBV_WC_LOC_PROT_ERR;
	/* IBA 10.2.5: the high bit asks for the sender's own Q_Key. */
	dg.qkey = wqe->ud.qkey & 0x80000000u ? qp->qkey : wqe->ud.qkey;
	dg.global = wqe->ud.ah.is_global || svb_self.settings.link != SVB_LINK_IB;
	if (dg.global)
		svb_grh_fill(&dg);
	svb_ud_spread(&dg, &wqe->ud);
	return IBV_WC_SUCCESS;
}

/* One may overtake another: engine/ud_fate.c. */
static int svb_ud_leave_late(struct svb_seg *seg, struct svb_qp_sh *qp,
			     struct svb_wqe *wqe)
{
	struct svb_qp *owner = svb_self.qp[SVB_QP_SLOT(qp->qpn)];
	struct svb_op op = {.seg = seg, .qp = qp, .wqe = wqe};
	struct svb_span from;
	int status;

	if (!svb_engine_source(&op, &from))
		return IBV_WC_LOC_PROT_ERR;
	if (svb_ud_hold(owner, wqe, &from))
		return IBV_WC_SUCCESS;
	status = svb_ud_leave(seg, qp, wqe);
	svb_ud_release(owner);
	return status;
}

int svb_ud_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe)
{
	struct svb_op op = {.seg = seg, .qp = qp, .wqe = wqe};
	struct svb_span from;

	if (wqe->length > 128u << svb_self.settings.mtu)
		return IBV_WC_LOC_LEN_ERR;
	if (svb_unlikely(wqe->flags & SVB_SEND_LOST || svb_get(qp->port) == SVB_AWAY))
		return svb_engine_source(&op, &from) ? IBV_WC_SUCCESS
						     : IBV_WC_LOC_PROT_ERR;
	if (svb_unlikely(svb_self.unreliable) && seg == svb_self.seg)
		return svb_ud_leave_late(seg, qp, wqe);
	return svb_ud_leave(seg, qp, wqe);
}
