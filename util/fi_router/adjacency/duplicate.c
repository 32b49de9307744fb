/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two live routers with one id. They find each other directly, by a neighbour that is
 * connected with the other one, or by the other one's advertisements. The one that was
 * started earlier stays out (rte_sync_yield); both, and their neighbours, log both
 * addresses once a minute.
 */
#include <inttypes.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* Kinds of lines about a peer, beside the error numbers (log.h). */
#define KIND_CONTESTED 0x10000u
#define KIND_NEIGHBOUR 0x10002u
#define KIND_SELF 0x10003u
#define KIND_REFUSED 0x10004u
/* ms for which this router is out after the other one was seen: longer than it takes
 * until that is seen again. */
#define OUT_MS 10000u
/* ms: what a neighbour advertises may be older than an adjacency that is younger. */
#define YOUNG 5000u

static uint64_t self_of(const struct frt_node *node)
{
	return frt_config(node)->router.id;
}

static void count(struct frt_node *node)
{
	frt_node_count(node, &node->counters.duplicate_id);
}

/* --- Found by connections --- */

bool frt_duplicate_is_self(const struct frt_device *device, const struct rte_peer *peer)
{
	return peer->remote.as == frt_config(device->node)->router.as &&
	       peer->remote.node == self_of(device->node);
}

void frt_duplicate_log(struct frt_device *device, const struct rte_peer *peer,
		       const struct frt_adjacency *old, const char *what)
{
	count(device->node);
	frt_log_peer(frt_log_first(FRT_WARN, &peer->address.sa, FI_EADDRINUSE),
		     "%s: routers %s and %s have the same id %" PRIu64
		     ", %s: give each its own, if one of them is not an earlier start of "
		     "the other",
		     device->config->name, peer->text, old->peer->text, old->router,
		     what);
}

void frt_duplicate_meet(struct frt_device *device, const struct rte_peer *peer)
{
	struct frt_node *node = device->node;

	if (!frt_duplicate_is_self(device, peer) || peer->hello.epoch == node->epoch)
		return;
	count(node);
	frt_log_peer(frt_log_first(FRT_ERROR, &peer->address.sa, KIND_SELF),
		     "%s: router %s has this router's id %" PRIu64
		     ", and this one listens at %s: give each its own",
		     device->config->name, peer->text, self_of(node), device->uri_text);
	if (peer->hello.epoch > node->epoch)
		rte_sync_yield(node->sync, OUT_MS, crn_now_ms());
}

void frt_duplicate_refused(struct frt_device *device, const struct rte_peer *peer)
{
	struct frt_node *node = device->node;

	/* The other one itself has refused it, and may have been started earlier. */
	if (frt_duplicate_is_self(device, peer)) {
		frt_duplicate_meet(device, peer);
		return;
	}
	count(node);
	frt_log_peer(
		frt_log_first(FRT_ERROR, &peer->address.sa, KIND_REFUSED),
		"%s: router %s is connected with another router that has the id %" PRIu64
		" of this one, which listens at %s: give each its own; the log "
		"there names both",
		device->config->name, peer->text, self_of(node), device->uri_text);
	rte_sync_yield(node->sync, OUT_MS, crn_now_ms());
}

/* --- Found by advertisements --- */

/* Where the LSA's router listens, on the device's subnet if it is there. */
static const char *uri_of(const struct rte_lsa *lsa, const struct frt_device *device)
{
	const struct rte_link *link =
		rte_lsa_link(lsa, device->id.scope_as, device->id.subnet);
	uint32_t i;

	for (i = 0; !(link && *link->uri) && i < lsa->links; i++)
		link = &lsa->link[i];
	return link && *link->uri ? link->uri : "no address";
}

void frt_duplicate_contested(struct frt_adjacency *adjacency, const struct rte_lsa *lsa)
{
	struct frt_device *device = adjacency->device;
	const struct rte_peer *peer = adjacency->peer;

	count(device->node);
	frt_log_peer(
		frt_log_first(FRT_ERROR, &peer->address.sa, KIND_CONTESTED),
		"%s: router %s sent an advertisement with this router's id %" PRIu64
		" that this router did not send: it listens at %s, this router at %s. "
		"If there are two routers, give each its own id; else the clock was set "
		"back, or the advertisement is forged",
		device->config->name, peer->text, self_of(device->node),
		uri_of(lsa, device), device->uri_text);
}

/* The LSA of a neighbour names another address than the neighbour itself. */
static void check_adjacency(const struct frt_adjacency *adjacency,
			    const struct rte_lsa *lsa)
{
	const struct frt_device *device = adjacency->device;
	const struct rte_peer *peer = adjacency->peer;
	const struct rte_link *link =
		rte_lsa_link(lsa, device->id.scope_as, device->id.subnet);

	if (!*peer->uri || (link && !strcmp(link->uri, peer->uri)) ||
	    crn_now_ms() - adjacency->since < YOUNG)
		return;
	count(device->node);
	frt_log_peer(
		frt_log_first(FRT_WARN, &peer->address.sa, KIND_NEIGHBOUR),
		"%s: router %s listens at %s, and an advertisement with its id %" PRIu64
		" says %s: are there two routers with this id? Give each its own",
		device->config->name, peer->text, peer->uri, lsa->router,
		uri_of(lsa, device));
}

void frt_duplicate_check(struct frt_node *node, uint32_t as, uint64_t router)
{
	const struct rte_lsa *lsa =
		rte_lsdb_get(rte_sync_db(node->sync), as, router, crn_now_ms());
	const struct frt_adjacency *adjacency;
	uint32_t i;

	if (!lsa || (lsa->flags & RTE_LSA_WITHDRAW))
		return;
	for (i = 0; i < node->devices; i++) {
		adjacency = frt_adjacency_find(node->device[i], as, router);
		if (adjacency)
			check_adjacency(adjacency, lsa);
	}
}

/* --- In and out --- */

void frt_duplicate_out(struct frt_node *node)
{
	node->out = rte_sync_is_out(node->sync);
	node->changed = true;
	if (node->out)
		frt_log(FRT_ERROR,
			"another router has this router's id %" PRIu64
			", and was started later: this router stays out, and takes no "
			"new "
			"connections; give each its own id",
			self_of(node));
	else
		frt_log(FRT_INFO, "no other router has this router's id any more: this "
				  "router is in again");
}
