/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events of a device (ibv_get_async_event(3)). They are read where one of
 * them is awaited, before a thread sleeps, and now and then by a thread that polls.
 */
#include <fcntl.h>
#include "device/device.h"
#include "cq.h"

int pvb_async_init(struct ibv_context *verbs)
{
	int flags = fcntl(verbs->async_fd, F_GETFL);

	if (flags < 0 || fcntl(verbs->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return pvb_errno();
	return 0;
}

static void pvb_async_handle(struct pvb_domain *domain,
			     const struct ibv_async_event *event)
{
	struct pvb_qp *qp;

	switch (event->event_type) {
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		qp = event->element.qp->qp_context;
		qp->last_wqe = true;
		domain->last_wqe_heard = true;
		break;
	case IBV_EVENT_DEVICE_FATAL:
		pvb_removal_noticed(domain);
		break;
	default:
		break;
	}
}

void pvb_async_progress(struct pvb_domain *domain)
{
	struct ibv_async_event event;

	/* ibv_destroy_qp waits for the acknowledgement, so the object is still there. */
	while (!ibv_get_async_event(domain->verbs, &event)) {
		pvb_async_handle(domain, &event);
		ibv_ack_async_event(&event);
	}
}
