/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP connections over which nothing is received, which libfabric's tcp accepts below the
 * device: they are closed before they have taken all descriptors. */
#include <inttypes.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* ms from one sweep to the next, and that a connection has; where descriptors are scarce,
 * and elsewhere, where it has connect_timeout. */
#define SWEEP_SCARCE 100u
#define PATIENCE_SCARCE 250u
#define SWEEP 1000u
/* ms without one after which the log says that it is over. */
#define OVER 10000u

static void closed(struct frt_device *device, uint32_t count, const union crn_addr *last,
		   uint64_t now)
{
	char text[CRN_ADDR_STRLEN];

	if (!device->mute)
		frt_log_peer(FRT_WARN,
			     "%s: %s and maybe others have connected and sent nothing, "
			     "%" PRIu32 " times, and are closed: a scan, or an attack?",
			     device->config->name, crn_addr_str(&last->sa, text), count);
	device->mute += count;
	device->mute_at = now;
	crn_lock(&device->node->shared);
	device->node->counters.mute += count;
	crn_unlock(&device->node->shared);
}

static void over(struct frt_device *device)
{
	frt_log_peer(FRT_INFO,
		     "%s: no more connections that send nothing; %" PRIu64 " were closed",
		     device->config->name, device->mute);
	device->mute = 0;
}

static void on_sweep(struct crn_deadline *deadline)
{
	struct frt_device *device = crn_container_of(deadline, struct frt_device, sweep);
	struct frt_node *node = device->node;
	const uint64_t now = crn_now_ms();
	const bool enough = frt_node_descriptors(node, false);
	union crn_addr last;
	uint32_t count;

	/* To look through all descriptors takes one. */
	if (!enough)
		frt_node_reserve_use(node);
	count = rte_listener_sweep(device->listener,
				   enough ? frt_config(node)->routing.connect_timeout
					  : PATIENCE_SCARCE,
				   &last);
	if (count)
		closed(device, count, &last, now);
	else if (device->mute && now - device->mute_at >= OVER)
		over(device);
	frt_node_reserve(node);
	crn_deadline_add(&node->deadlines, deadline,
			 now + (enough ? SWEEP : SWEEP_SCARCE));
}

void frt_mute_start(struct frt_device *device)
{
	device->sweep.expired = on_sweep;
	crn_deadline_add(&device->node->deadlines, &device->sweep, crn_now_ms() + SWEEP);
}

void frt_mute_stop(struct frt_device *device)
{
	crn_deadline_remove(&device->node->deadlines, &device->sweep);
}
