/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A control queue pair's area behind a memory window of type 2 (IB specification 1.7,
 * section 10.6.7.2): only the queue pair that it was bound on reaches the area by the
 * window's key, and the region itself has no right for any peer. Without one any
 * connection of the protection domain that guesses the key of another's area could change
 * its sequence word.
 *
 * The key is known before the window is bound, and goes to the peer with the connection
 * data. It is bound once the queue pair is ready to send and before the peer learns that
 * it is: nothing of the peer's comes earlier.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "qp/qp.h"
#include "control.h"
#include "internal.h"

static bool pvb_window_wanted(const struct pvb_domain *domain)
{
	const unsigned int types =
		IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;

	/* The thread that reads the event queue binds the window and waits for that in
	 * the completion queue, which has no lock with FI_THREAD_DOMAIN. */
	return (domain->attr.device_cap_flags & types) &&
	       !pvb_quirk(domain, PVB_QUIRK_KERNEL_CONNECTS) && domain->locked;
}

void pvb_window_open(struct pvb_control_qp *cqp)
{
	struct pvb_domain *domain = cqp->control->domain;

	if (!pvb_window_wanted(domain))
		return;
	cqp->window = ibv_alloc_mw(domain->pd, IBV_MW_TYPE_2);
	if (!cqp->window)
		PVB_INFO(FI_LOG_EP_CTRL,
			 "no memory window: %s. Peers of the domain could reach each "
			 "other's sequence words\n",
			 strerror(errno));
}

void pvb_window_close(struct pvb_control_qp *cqp)
{
	if (cqp->window)
		ibv_dealloc_mw(cqp->window);
	cqp->window = NULL;
}

uint32_t pvb_window_key(const struct pvb_control_qp *cqp)
{
	return cqp->window ? ibv_inc_rkey(cqp->window->rkey) : cqp->area_mr->rkey;
}

static int pvb_window_post(struct pvb_control_qp *cqp, int access)
{
	struct pvb_qp *qp = cqp->qp;
	struct pvb_slot *slot = pvb_wq_slot(&qp->sq, 0);
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)slot,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw =
			{
				.mw = cqp->window,
				.rkey = cqp->area_key,
				.bind_info =
					{
						.mr = cqp->area_mr,
						.addr = (uintptr_t)cqp->area,
						.length = sizeof(*cqp->area),
						.mw_access_flags = (unsigned int)access,
					},
			},
	};
	struct ibv_send_wr *bad;
	int err;

	slot->context = NULL;
	slot->flags = 0;
	slot->state = PVB_SLOT_INJECT;
	err = ibv_post_send(qp->ibv, &wr, &bad);
	if (err)
		return pvb_post_error(err);
	qp->sq.ring.head++;
	return 0;
}

int pvb_window_bind(struct pvb_control_qp *cqp, int access)
{
	const uint64_t deadline = crn_now_ms() + (uint64_t)pvb_params.resolve_timeout;
	struct pvb_qp *qp = cqp->qp;
	int ret;

	if (!cqp->window)
		return 0;
	crn_lock(&qp->tx_lock);
	ret = pvb_wq_make(&qp->sq);
	if (!ret)
		ret = pvb_window_post(cqp, access);
	crn_unlock(&qp->tx_lock);
	while (!ret && crn_ring_used(&qp->sq.ring)) {
		pvb_cq_drain_present(qp->sq.cq);
		if (crn_now_ms() >= deadline)
			ret = -FI_ETIMEDOUT;
		sched_yield();
	}
	return ret;
}
