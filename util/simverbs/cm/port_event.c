/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of ports: what ids learn of them. */
#include <errno.h>
#include "cm.h"

struct svb_cm_happening {
	const struct svb_port *port;
	const struct svb_port_event *event;
};

/*
 * cma_ib_mc_handler of the kernel's cma.c: whoever had joined has to leave, and to join
 * again. RoCE has no subnet administration that could forget.
 */
static void svb_cm_groups_lost(struct svb_cm_id *id)
{
	struct svb_cm_mcast *mcast;
	struct svb_cm_event *event;
	struct crn_list *at;

	crn_list_for_each (at, &id->mcasts) {
		mcast = crn_container_of(at, struct svb_cm_mcast, entry);
		if (!mcast->member)
			continue;
		mcast->member = false;
		event = svb_cm_report(id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET);
		if (!event)
			continue;
		event->mcast = mcast;
		event->event.param.ud.private_data = mcast->context;
	}
}

static void svb_cm_happens(struct svb_cm_id *id, void *arg)
{
	const struct svb_cm_happening *what = arg;

	if (id->port != what->port)
		return;
	if (what->event->groups_lost && svb_self.settings.link == SVB_LINK_IB)
		svb_cm_groups_lost(id);
	if (what->event->address)
		svb_cm_report(id, RDMA_CM_EVENT_ADDR_CHANGE, 0);
}

static void svb_cm_port_event(const struct svb_port *port,
			      const struct svb_port_event *event)
{
	struct svb_cm_happening what = {port, event};

	svb_cm_lock();
	svb_cm_each(svb_cm_happens, &what);
	svb_cm_wake();
	svb_cm_unlock();
}

void svb_cm_port_event_watch(void)
{
	svb_port_event_tell(svb_cm_port_event);
}
