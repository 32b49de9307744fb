/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues: the common queue, fed from an rdma_cm event channel. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "device/device.h"
#include "mcast/mcast.h"
#include "persist/persist.h"

static int pvb_eq_close(struct fid *fid)
{
	struct pvb_eq *eq = crn_container_of(fid, struct pvb_eq, eq.fid.fid);
	int ret;

	if (pvb_inherited(eq->fabric))
		return 0;
	/* An address vector's. */
	if (atomic_load(&eq->eq.refs))
		return -FI_EBUSY;
	ret = pvb_requests_leave(eq);
	if (ret)
		return ret;
	/* What they do there waits for nothing. */
	while (atomic_load(&eq->looking))
		sched_yield();
	crn_eq_fini(&eq->eq);
	pvb_keepalive_close(eq);
	pvb_control_conn_close(eq);
	pvb_mcast_close(eq);
	rdma_destroy_event_channel(eq->channel);
	pthread_mutex_destroy(&eq->cm_lock);
	atomic_fetch_sub(&eq->fabric->refs, 1);
	free(eq);
	return 0;
}

static struct fi_ops pvb_eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_eq_close,
	.bind = crn_nosys_bind,
	.control = crn_eq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

/* A channel whose events are taken without blocking. */
static int pvb_eq_channel(struct pvb_eq *eq)
{
	int flags, ret;

	eq->channel = rdma_create_event_channel();
	if (!eq->channel)
		return pvb_errno();
	flags = fcntl(eq->channel->fd, F_GETFL);
	if (flags >= 0 && fcntl(eq->channel->fd, F_SETFL, flags | O_NONBLOCK) >= 0)
		return 0;
	ret = pvb_errno();
	rdma_destroy_event_channel(eq->channel);
	return ret;
}

int pvb_eq_open(struct fid_fabric *fabric_fid, struct fi_eq_attr *attr,
		struct fid_eq **fid, void *context)
{
	struct pvb_fabric *fabric = crn_container_of(fabric_fid, struct pvb_fabric, fid);
	struct pvb_eq *eq;
	int ret;

	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	eq->cm = &pvb_cm_calls;
	ret = crn_eq_init(&eq->eq, &pvb_prov, attr, context, pvb_cm_progress);
	if (ret)
		goto err_free;
	eq->eq.api_version = fabric->fid.api_version;
	eq->eq.fabric = fabric_fid;
	ret = pvb_eq_channel(eq);
	if (ret)
		goto err_eq;
	ret = crn_wait_add_fd(&eq->eq.wait, eq->channel->fd);
	if (ret)
		goto err_channel;
	ret = pvb_keepalive_open(eq);
	if (ret)
		goto err_channel;
	ret = -pthread_mutex_init(&eq->cm_lock, NULL);
	if (ret)
		goto err_keepalive;
	pvb_control_conn_open(eq);
	pvb_mcast_open(eq);
	crn_list_init(&eq->devices);
	eq->fabric = fabric;
	atomic_fetch_add(&fabric->refs, 1);
	eq->eq.fid.fid.ops = &pvb_eq_fid_ops;
	*fid = &eq->eq.fid;
	return 0;
err_keepalive:
	pvb_keepalive_close(eq);
err_channel:
	rdma_destroy_event_channel(eq->channel);
err_eq:
	crn_eq_fini(&eq->eq);
err_free:
	free(eq);
	return ret;
}
