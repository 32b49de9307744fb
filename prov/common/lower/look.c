/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events for programs that read completions: the lower event queue is looked at when
 * somebody who was about to sleep found something in it, and now and then while queues
 * are polled, for the look may be a system call.
 */
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "internal.h"

#define LOOK_MS 10

static int look_arm(struct crn_wait_source *source)
{
	struct crn_lower_fabric *fabric =
		crn_container_of(source, struct crn_lower_fabric, look.source);

	return lower_look_arm(fabric);
}

int lower_look_arm(struct crn_lower_fabric *fabric)
{
	struct fid *fid = &fabric->eq->fid;
	int ret = fi_trywait(fabric->lower, &fid, 1);

	if (ret)
		atomic_store(&fabric->look.found, true);
	return ret;
}

int lower_look_add(struct crn_lower_fabric *fabric)
{
	int ret = fi_control(&fabric->eq->fid, FI_GETWAIT, &fabric->look.source.fd);

	fabric->look.source.arm = look_arm;
	return ret ? ret : crn_wait_add(fabric->wait, &fabric->look.source);
}

void crn_lower_look(struct crn_lower_fabric *fabric)
{
	const uint64_t now = crn_tick_ms();

	if (!atomic_load_explicit(&fabric->look.found, memory_order_relaxed) &&
	    now - atomic_load_explicit(&fabric->look.last, memory_order_relaxed) <
		    LOOK_MS)
		return;
	atomic_store(&fabric->look.found, false);
	atomic_store(&fabric->look.last, now);
	crn_lock(&fabric->lock);
	if (!crn_list_empty(&fabric->queues))
		lower_events(fabric);
	crn_unlock(&fabric->lock);
}
