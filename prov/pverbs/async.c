/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events of a device (ibv_get_async_event(3)). Nothing waits for them: they
 * are looked at where one of them is an answer.
 */
#include <fcntl.h>
#include "pverbs.h"

int pvb_async_init(struct ibv_context *verbs)
{
	int flags = fcntl(verbs->async_fd, F_GETFL);

	if (flags < 0 || fcntl(verbs->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return pvb_errno();
	return 0;
}

static void pvb_async_handle(const struct ibv_async_event *event)
{
	struct pvb_ep *ep;

	if (event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED)
		return;
	ep = event->element.qp->qp_context;
	ep->conn.last_wqe = true;
}

void pvb_async_progress(struct pvb_domain *domain)
{
	struct ibv_async_event event;

	/* ibv_destroy_qp waits for the acknowledgement, so the object is still there. */
	while (!ibv_get_async_event(domain->verbs, &event)) {
		pvb_async_handle(&event);
		ibv_ack_async_event(&event);
	}
}
