/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iWARP: what completes when. A write or a send is complete when it has left the
 * requester, and its memory is free again (RFC 5040 section 5.2, RFC 5041 section 5.3):
 * nothing is known of the responder, whose refusal ends the connection instead (RFC 5040
 * section 7). Between leaving and arriving requests are packets, copies that only the
 * requester's process has. Reads wait for those before them and complete when they are
 * done.
 */
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "step.h"

/* Bytes in flight of one queue pair, like the window of a TCP connection. */
#define SVB_WINDOW (4u << 20)

struct svb_packet {
	struct crn_list entry;
	struct svb_wqe wqe; /* its data follow inline */
};

static struct svb_packet *svb_packet_first(struct svb_qp *qp)
{
	return crn_container_of(qp->wire.next, struct svb_packet, entry);
}

static void svb_packet_free(struct svb_qp *qp, struct svb_packet *packet)
{
	crn_list_del(&packet->entry);
	qp->wire_bytes -= packet->wqe.length;
	free(packet);
}

static void svb_wire_drop(struct svb_qp *qp)
{
	while (!crn_list_empty(&qp->wire))
		svb_packet_free(qp, svb_packet_first(qp));
}

/* The private half of a queue pair of this process; NULL while it is being destroyed. */
static struct svb_qp *svb_wire_of(struct svb_qp_sh *qp)
{
	return svb_self.qp[SVB_QP_SLOT(qp->qpn)];
}

/* Both ends learn that the connection is over, the program by an event. */
static void svb_wire_end(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_seg *peer;

	svb_wire_drop(svb_wire_of(qp));
	svb_set(qp->sq.wait, SVB_WAIT_NONE);
	svb_qp_fail_later(seg, qp, IBV_EVENT_QP_FATAL);
	svb_bell_ring(seg->cm_bell);
	peer = svb_seg_of(SVB_QP_PROC(qp->dest_qpn));
	if (peer && peer != seg)
		svb_bell_ring(peer->cm_bell);
}

/* RFC 5041 section 7.2: no buffer for an untagged message ends the connection. */
int svb_iwarp_no_buffer(struct svb_op *op)
{
	svb_qp_fail_later(op->rseg, op->rqp, IBV_EVENT_QP_REQ_ERR);
	return IBV_WC_RNR_RETRY_EXC_ERR;
}

/* Executes what has been under way for long enough, or all. True when nothing is left. */
static bool svb_wire_deliver(struct svb_qp *qp, bool all)
{
	struct svb_packet *packet;
	int status;

	while (!crn_list_empty(&qp->wire)) {
		packet = svb_packet_first(qp);
		if (!all && packet->wqe.due && svb_now() < packet->wqe.due)
			return false;
		status = (int)packet->wqe.error;
		if (!status)
			status = svb_rc_execute(svb_self.seg, qp->sh, &packet->wqe);
		if (status == SVB_STAYS)
			return false;
		svb_packet_free(qp, packet);
		if (status)
			svb_wire_end(svb_self.seg, qp->sh);
	}
	return true;
}

bool svb_iwarp_begin(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	/* Only the process that has the packets can deliver them: wakes it. */
	if (seg != svb_self.seg) {
		svb_set(qp->sq.wait, SVB_WAIT_DUE);
		svb_engine_wake(seg);
		return false;
	}
	if (svb_wire_of(qp))
		svb_wire_deliver(svb_wire_of(qp), false);
	return true;
}

void svb_iwarp_end(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_qp *own = svb_wire_of(qp);

	if (own && !svb_wire_deliver(own, false) &&
	    svb_get(qp->sq.wait) != SVB_WAIT_RETRY)
		svb_engine_wait(seg, &qp->sq, SVB_WAIT_DUE,
				svb_packet_first(own)->wqe.due);
}

/* Copies a request and its data. Returns enum ibv_wc_status. */
static int svb_wire_add(struct svb_qp *qp, struct svb_wqe *wqe)
{
	struct svb_op op = {.seg = svb_self.seg, .qp = qp->sh, .wqe = wqe};
	size_t size = (sizeof(struct svb_packet) + wqe->length + 63) & ~(size_t)63;
	struct svb_packet *packet;
	struct svb_span from;

	if (!svb_engine_source(&op, &from))
		return IBV_WC_LOC_PROT_ERR;
	packet = aligned_alloc(64, size);
	if (!packet)
		return IBV_WC_GENERAL_ERR;
	packet->wqe = *wqe;
	packet->wqe.flags |= IBV_SEND_INLINE;
	if (svb_move_out(packet->wqe.sge, &from, wqe->length)) {
		free(packet);
		return IBV_WC_LOC_PROT_ERR;
	}
	crn_list_init(&packet->entry);
	crn_list_add_tail(&qp->wire, &packet->entry);
	qp->wire_bytes += wqe->length;
	return IBV_WC_SUCCESS;
}

/* Found by the requester's adapter before anything leaves. */
static bool svb_is_local(int status)
{
	return status == IBV_WC_SUCCESS || status == IBV_WC_LOC_PROT_ERR ||
	       status == IBV_WC_LOC_LEN_ERR || status == IBV_WC_LOC_QP_OP_ERR;
}

static int svb_iwarp_leave(struct svb_seg *seg, struct svb_qp *qp, struct svb_wqe *wqe)
{
	int status;

	if (!crn_list_empty(&qp->wire) && qp->wire_bytes + wqe->length > SVB_WINDOW)
		return SVB_STAYS;
	if (wqe->due || wqe->error || !svb_wire_deliver(qp, false))
		return svb_wire_add(qp, wqe);
	/* Nothing delays the request: executes it without a copy. */
	status = svb_rc_execute(seg, qp->sh, wqe);
	if (status == SVB_STAYS)
		return svb_wire_add(qp, wqe);
	if (svb_is_local(status))
		return status;
	svb_wire_end(seg, qp->sh);
	return IBV_WC_SUCCESS;
}

int svb_iwarp_execute(struct svb_seg *seg, struct svb_qp_sh *sh, struct svb_wqe *wqe)
{
	struct svb_qp *qp = svb_wire_of(sh);

	if (!qp)
		return IBV_WC_WR_FLUSH_ERR;
	switch (wqe->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
		return svb_iwarp_leave(seg, qp, wqe);
	default:
		break;
	}
	if (!svb_wire_deliver(qp, false))
		return SVB_STAYS;
	if (svb_get(sh->state) == IBV_QPS_ERR)
		return IBV_WC_WR_FLUSH_ERR;
	if (wqe->due && svb_now() < wqe->due)
		return svb_engine_wait(seg, &sh->sq, SVB_WAIT_DUE, wqe->due);
	return wqe->error ? (int)wqe->error : svb_rc_execute(seg, sh, wqe);
}

void svb_iwarp_close(struct svb_qp *qp)
{
	svb_lock(&qp->sh->sq.lock);
	svb_wire_deliver(qp, true);
	svb_wire_drop(qp);
	svb_unlock(&qp->sh->sq.lock);
	svb_engine_flush_marked();
}
