/* SPDX-License-Identifier: BSD-2-Clause */
/* Unreliable datagrams: a lost one is not reported. */
#include <string.h>
#include "engine.h"
#include "ports.h"

#define SVB_GRH 40

struct svb_datagram {
	struct svb_op op;
	struct svb_span from;
	struct ibv_grh grh;
	bool global;
	uint32_t qkey;
	uint32_t port; /* index of the destination's; SVB_ANY_PORT for a group */
};
#define SVB_ANY_PORT UINT32_MAX

/* IBA 8.3; on Ethernet it stands for the IP header, as adapters deliver it. */
static void svb_grh_fill(struct svb_datagram *dg)
{
	const struct ibv_ah_attr *ah = &dg->op.wqe->ud.ah;
	const struct svb_port *port = svb_port_by_index(dg->op.qp->port);
	uint32_t sgid = ah->is_global ? ah->grh.sgid_index : 0;

	dg->grh.version_tclass_flow =
		htobe32(6u << 28 | (uint32_t)ah->grh.traffic_class << 20 |
			(ah->grh.flow_label & 0xfffff));
	/* BTH, DETH and the checksum stand around the payload. */
	dg->grh.paylen = htobe16((uint16_t)(dg->op.wqe->length + 24));
	dg->grh.next_hdr = 0x1b;
	dg->grh.hop_limit = ah->grh.hop_limit;
	dg->grh.dgid = ah->grh.dgid;
	if (port && sgid < port->gids)
		dg->grh.sgid = port->gid[sgid];
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
	if (to.length < SVB_GRH + dg->op.wqe->length)
		return IBV_WC_LOC_LEN_ERR;
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
		.sl = wqe->ud.ah.sl,
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

static void svb_ud_deliver(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg)
{
	struct svb_datagram *dg = arg;
	struct svb_recv recv;
	struct svb_rq *rq;

	if (seg != svb_self.seg && !svb_sane_receiver(seg, qp))
		return;
	if (qp->type != IBV_QPT_UD || qp->qkey != dg->qkey ||
	    !svb_pkeys_match(svb_get(qp->pkey), dg->op.qp->pkey) ||
	    !(1u << (__atomic_load_n(&qp->state, __ATOMIC_ACQUIRE) & 31) & SVB_ANSWERS) ||
	    (dg->port != SVB_ANY_PORT && qp->port != dg->port))
		return;
	if (svb_get(qp->port) == SVB_AWAY)
		return;
	if (dg->port == SVB_ANY_PORT && qp == dg->op.qp &&
	    (qp->flags & SVB_QP_NO_MCAST_LOOP))
		return;
	if (qp->srq) {
		if (svb_recv_take(&recv, seg, qp))
			svb_ud_complete(dg, &recv, svb_ud_place(dg, &recv));
		return;
	}
	rq = &qp->rq;
	svb_lock(&rq->lock);
	if (rq->head != rq->next && 1u << (svb_get(qp->state) & 31) & SVB_ANSWERS) {
		recv.seg = seg;
		recv.qp = qp;
		recv.rwqe = svb_rq_at(seg, rq, rq->next);
		svb_ud_complete(dg, &recv, svb_ud_place(dg, &recv));
	}
	svb_unlock(&rq->lock);
}

static bool svb_is_group(const struct svb_av *av)
{
	return av->qpn == 0xffffff && av->ah.is_global &&
	       svb_gid_is_group(&av->ah.grh.dgid);
}

int svb_ud_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe)
{
	struct svb_datagram dg = {.op = {.seg = seg, .qp = qp, .wqe = wqe}};
	const struct svb_port *port;
	struct svb_seg *rseg;
	struct svb_qp_sh *rqp;

	if (wqe->length > 128u << svb_self.settings.mtu)
		return IBV_WC_LOC_LEN_ERR;
	if (!svb_engine_source(&dg.op, &dg.from))
		return IBV_WC_LOC_PROT_ERR;
	if (wqe->flags & SVB_SEND_LOST || svb_get(qp->port) == SVB_AWAY)
		return IBV_WC_SUCCESS;
	/* IBA 10.2.5: the high bit asks for the sender's own Q_Key. */
	dg.qkey = wqe->ud.qkey & 0x80000000u ? qp->qkey : wqe->ud.qkey;
	dg.global = wqe->ud.ah.is_global || svb_self.settings.link != SVB_LINK_IB;
	if (dg.global)
		svb_grh_fill(&dg);
	if (svb_is_group(&wqe->ud)) {
		dg.port = SVB_ANY_PORT;
		svb_mcast_each(&wqe->ud.ah.grh.dgid, wqe->ud.ah.dlid, svb_ud_deliver,
			       &dg);
		return IBV_WC_SUCCESS;
	}
	port = svb_port_of_ah(&wqe->ud.ah);
	rseg = port ? svb_seg_of(SVB_QP_PROC(wqe->ud.qpn)) : NULL;
	rqp = rseg ? svb_seg_qp_try(rseg, SVB_QP_SLOT(wqe->ud.qpn)) : NULL;
	if (rqp && svb_get(rqp->qpn) == wqe->ud.qpn) {
		dg.port = port->index;
		svb_ud_deliver(rseg, rqp, &dg);
	}
	return IBV_WC_SUCCESS;
}
