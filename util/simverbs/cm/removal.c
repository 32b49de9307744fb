/* SPDX-License-Identifier: BSD-2-Clause */
/* Removal of a device: the events of its ids (cma_remove_one of the kernel's cma.c). */
#include <stdlib.h>
#include "cm.h"
#include "verbs/verbs.h"

static void svb_cm_removed(struct svb_cm_id *id, void *arg)
{
	const uint32_t *device = arg;

	/* One that is bound to no device, as a listener for all, stays. */
	if (!id->port || id->port->index / SVB_MAX_PORTS != *device)
		return;
	/*
	 * A driver that is unloaded ends its connections properly, an adapter that is
	 * pulled out cannot.
	 */
	if (svb_self.settings.removal != SVB_REMOVAL_SILENT)
		svb_cm_tell_peer(id);
	svb_cm_port_release(id);
	free(id->held);
	id->held = NULL;
	id->state = SVB_CM_OVER;
	svb_cm_set_timer(id, 0);
	svb_cm_report(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
}

static void svb_cm_device_removed(uint32_t device)
{
	svb_cm_lock();
	svb_cm_each(svb_cm_removed, &device);
	svb_cm_wake();
	svb_cm_unlock();
}

void svb_cm_removal_watch(void)
{
	svb_removal_tell(svb_cm_device_removed);
}
