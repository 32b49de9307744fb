/* SPDX-License-Identifier: BSD-2-Clause */
/* Which connections to routers are kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"
#include "worker/worker.h"

static const struct rte_config_router *self_of(const struct frt_device *device)
{
	return &frt_config(device->node)->router;
}

struct frt_adjacency *frt_adjacency_find(const struct frt_device *device, uint32_t as,
					 uint64_t router)
{
	struct frt_adjacency *adjacency;
	struct crn_list *entry;

	crn_list_for_each (entry, &device->adjacencies) {
		adjacency = crn_container_of(entry, struct frt_adjacency, entry);
		if (adjacency->as == as && adjacency->router == router &&
		    !adjacency->failed)
			return adjacency;
	}
	return NULL;
}

static void view(const struct frt_adjacency *adjacency,
		 void (*each)(const struct frt_adjacency_view *view, void *context),
		 void *context)
{
	const struct frt_adjacency_view view = {
		.device = adjacency->device,
		.peer = adjacency->peer,
		.as = adjacency->as,
		.router = adjacency->router,
		.since = adjacency->since,
		.trip = adjacency->stamps.trip,
		.queued = adjacency->queued,
		.began = adjacency->target,
		.uri = adjacency->is_border ? adjacency->border.uri : NULL,
		.cost = adjacency->is_border ? adjacency->border.cost : 0,
	};

	each(&view, context);
}

void frt_adjacencies_each(const struct frt_node *node,
			  void (*each)(const struct frt_adjacency_view *view,
				       void *context),
			  void *context)
{
	const struct crn_list *entry;
	uint32_t i;

	for (i = 0; i < node->devices; i++)
		crn_list_for_each (entry, &node->device[i]->adjacencies)
			view(crn_container_of(entry, const struct frt_adjacency, entry),
			     each, context);
}

uint32_t frt_adjacencies_count(const struct frt_node *node)
{
	const struct crn_list *entry;
	uint32_t count = 0, i;

	for (i = 0; i < node->devices; i++)
		crn_list_for_each (entry, &node->device[i]->adjacencies)
			count++;
	return count;
}

/* --- Callbacks of its peer --- */

static void on_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct frt_adjacency *adjacency = peer->user;

	if (frt_adjacency_first(rx->packet.head.type)) {
		frt_hear_message(adjacency, rx);
		return;
	}
	rte_rx_put(rx);
	rte_peer_bad(peer, "a message that is none between routers");
}

static void on_ready(struct rte_peer *peer)
{
	struct frt_adjacency *adjacency = peer->user;

	frt_queue_send(adjacency);
	frt_hear_held(adjacency);
}

static void on_down(struct rte_peer *peer, int err)
{
	struct frt_adjacency *adjacency = peer->user;

	frt_log(FRT_INFO, "%s: router %s is gone: %s", adjacency->device->config->name,
		peer->text, fi_strerror(err));
	if (err == FI_EADDRINUSE)
		frt_duplicate_refused(adjacency->device, peer);
	frt_adjacency_end(adjacency, 0);
}

static const struct rte_peer_ops ops = {
	.message = on_message,
	.ready = on_ready,
	.down = on_down,
};

/* --- Who is it? --- */

static bool refuse(const struct frt_device *device, const struct rte_peer *peer,
		   const char *why)
{
	frt_log_peer(FRT_WARN, "%s: router %s is refused: %s", device->config->name,
		     peer->text, why);
	return false;
}

static bool belongs_here(const struct frt_device *device, const struct rte_peer *peer)
{
	const struct rte_preamble *it = &peer->remote;
	const uint32_t peer_as = device->config->peer_as;

	if (it->role != RTE_ROUTER)
		return refuse(device, peer, "it is no router: correct this router=");
	if (it->subnet != device->config->at.subnet)
		return refuse(device, peer,
			      "it calls the subnet otherwise: correct one of the files");
	if (!it->as)
		return refuse(device, peer, "it does not say its AS: correct its file");
	/* As who connects here is asked. */
	if (it->as == self_of(device)->as)
		return !device->foreign ||
		       refuse(device, peer, "over a WAN it says that it is of this AS");
	if (!device->foreign)
		return refuse(device, peer,
			      "it is of another AS, and this is no WAN: correct as in "
			      "one of the files");
	if (peer_as && it->as != peer_as)
		return refuse(device, peer,
			      "this WAN is private to another AS: correct peer_as");
	return true;
}

/* The router with the lower (AS, id) began it. */
static bool began_by_lower(const struct frt_device *device, const struct rte_peer *peer)
{
	const struct rte_config_router *self = self_of(device);
	const bool self_is_lower = self->as != peer->remote.as
					   ? self->as < peer->remote.as
					   : self->id < peer->remote.node;

	return peer->active == self_is_lower;
}

/* Is the new one to take the place of the old one? 0; -FI_EALREADY; -FI_EADDRINUSE: it is
 * another router with the same id. */
static int replaces(struct frt_device *device, const struct rte_peer *peer,
		    const struct frt_adjacency *old)
{
	if (peer->hello.epoch < old->epoch) {
		frt_duplicate_log(device, peer, old, "the first is refused");
		return -FI_EADDRINUSE;
	}
	if (peer->hello.epoch > old->epoch)
		return 0; /* it has begun anew, or was started later */
	if (peer->active != old->peer->active)
		return began_by_lower(device, peer) ? 0 : -FI_EALREADY;
	/* Its end has noticed that the old one was lost; this one, that it has two
	 * addresses. */
	return peer->active ? -FI_EALREADY : 0;
}

/* The old one may be an earlier start of the same router, on its own host. */
static void end_old(struct frt_device *device, const struct rte_peer *peer,
		    struct frt_adjacency *old)
{
	const bool other = peer->hello.epoch > old->epoch &&
			   !crn_addr_same_host(&peer->address.sa, &old->peer->address.sa);

	if (other)
		frt_duplicate_log(device, peer, old, "the second is closed");
	frt_adjacency_end(old, other ? FI_EADDRINUSE : 0);
}

/* --- Begin and end --- */

static void meet_border(struct frt_adjacency *adjacency)
{
	struct frt_border *border = &adjacency->border;
	struct rte_uri uri;

	adjacency->is_border = true;
	border->device = adjacency->device;
	border->as = adjacency->as;
	border->router = adjacency->router;
	/* Whom this end connected to listens there. */
	if (adjacency->target) {
		rte_net_uri(adjacency->device->net, &adjacency->peer->address.sa, &uri);
		rte_uri_print(&uri, border->uri);
	} else {
		snprintf(border->uri, sizeof(border->uri), "%s", adjacency->peer->uri);
	}
	frt_border_add(adjacency->device->node, border);
	adjacency->device->node->changed = true;
}

static struct frt_adjacency *adjacency_new(struct frt_device *device,
					   struct rte_peer *peer,
					   struct frt_target *target)
{
	struct frt_adjacency *adjacency = calloc(1, sizeof(*adjacency));

	if (!adjacency)
		return NULL;
	adjacency->device = device;
	adjacency->peer = peer;
	adjacency->target = target;
	adjacency->as = peer->remote.as;
	adjacency->router = peer->remote.node;
	adjacency->epoch = peer->hello.epoch;
	adjacency->since = crn_now_ms();
	crn_list_init(&adjacency->queue);
	crn_list_init(&adjacency->held);
	crn_list_init(&adjacency->border.entry);
	return adjacency;
}

static int adjacency_start(struct frt_adjacency *adjacency)
{
	struct frt_device *device = adjacency->device;
	const struct rte_sync_peer who = {
		.as = adjacency->as,
		.router = adjacency->router,
		.scope_as = device->id.scope_as,
		.subnet = device->id.subnet,
	};

	adjacency->peer->ops = &ops;
	adjacency->peer->user = adjacency;
	crn_list_add_tail(&device->adjacencies, &adjacency->entry);
	return rte_sync_up(device->node->sync, &who, adjacency, crn_now_ms(),
			   &adjacency->sync);
}

/* The old one of the same router is taken down after the new one is up: to others nothing
 * has changed. */
static int begin(struct frt_device *device, struct rte_peer *peer,
		 struct frt_target *target, struct frt_adjacency **out)
{
	struct frt_adjacency *old =
		frt_adjacency_find(device, peer->remote.as, peer->remote.node);
	struct frt_adjacency *adjacency;
	int ret = old ? replaces(device, peer, old) : 0;

	if (ret)
		return ret;
	adjacency = adjacency_new(device, peer, target);
	if (!adjacency)
		return -FI_ENOMEM;
	ret = adjacency_start(adjacency);
	if (ret) {
		crn_list_del(&adjacency->entry);
		free(adjacency);
		return ret;
	}
	if (target)
		target->adjacency = adjacency;
	if (adjacency->as != self_of(device)->as)
		meet_border(adjacency);
	if (old)
		end_old(device, peer, old);
	*out = adjacency;
	return 0;
}

int frt_adjacency_begin(struct frt_device *device, struct rte_peer *peer,
			struct frt_target *target, struct frt_adjacency **out)
{
	int ret = -FI_EINVAL;

	if (belongs_here(device, peer))
		ret = frt_duplicate_is_self(device, peer)
			      ? -FI_EADDRINUSE
			      : begin(device, peer, target, out);
	if (ret == -FI_EADDRINUSE)
		frt_duplicate_meet(device, peer);
	if (ret) {
		frt_port_part(&device->at[0], peer, -ret);
		return ret;
	}
	device->node->moved = true;
	device->node->counters.adjacencies_up++;
	frt_log(FRT_INFO, "%s: router %s (AS %" PRIu32 ", id %" PRIu64 ") is connected",
		device->config->name, peer->text, (*out)->as, (*out)->router);
	return 0;
}

void frt_adjacency_end(struct frt_adjacency *adjacency, int status)
{
	struct frt_node *node = adjacency->device->node;

	crn_list_del(&adjacency->entry);
	rte_sync_down(node->sync, adjacency->sync, crn_now_ms());
	frt_queue_drop(adjacency);
	frt_hear_drop(adjacency);
	frt_port_part(&adjacency->device->at[0], adjacency->peer, status);
	if (adjacency->is_border) {
		frt_border_del(node, &adjacency->border);
		node->changed = true;
	}
	node->counters.adjacencies_down++;
	if (adjacency->target) {
		adjacency->target->adjacency = NULL;
		frt_target_lost(adjacency->target);
	}
	/* Others lead to the same router, and wait for nothing else. */
	node->retarget = node->moved = true;
	free(adjacency);
}

/* --- Those who connect --- */

bool frt_adjacency_first(uint8_t type)
{
	return type == RTE_DIGEST || type == RTE_LSREQ || type == RTE_LSA ||
	       type == RTE_AS_REACH || type == RTE_HEARTBEAT;
}

void frt_adjacency_accept(struct frt_device *device, struct rte_peer *peer,
			  struct rte_rx *rx)
{
	struct frt_adjacency *adjacency;

	if (frt_adjacency_begin(device, peer, NULL, &adjacency))
		rte_rx_put(rx);
	else
		frt_hear_message(adjacency, rx);
}

void frt_adjacencies_close(struct frt_device *device, int status)
{
	frt_targets_close(device);
	while (!crn_list_empty(&device->adjacencies))
		frt_adjacency_end(crn_container_of(device->adjacencies.next,
						   struct frt_adjacency, entry),
				  status);
}
