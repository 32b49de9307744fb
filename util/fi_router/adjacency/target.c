/* SPDX-License-Identifier: BSD-2-Clause */
/* Routers to connect to: those that the file names, and those that LSAs do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* ms from one attempt to the next: the first, and the longest. */
#define RETRY_FIRST 200u
#define RETRY_LAST 5000u
/* An adjacency that lasted so long, ms, counts as a success. */
#define LASTED 5000u
#define TARGETS_MOST 1024u /* of a device */

static struct frt_target *target_of(struct crn_list *entry)
{
	return crn_container_of(entry, struct frt_target, entry);
}

/* --- Attempts --- */

static void retry_later(struct frt_target *target)
{
	struct frt_node *node = target->device->node;
	const uint32_t shift = CRN_MIN(target->tries, 5u);
	uint64_t wait = CRN_MIN(RETRY_FIRST << shift, RETRY_LAST);

	/* Up to a quarter more, so that two do not go on meeting. */
	wait += (crn_now_ms() * 2654435761u >> 7) % (wait / 4);
	target->tries++;
	crn_deadline_add(&node->deadlines, &target->retry, crn_now_ms() + wait);
}

static void unreachable(struct frt_target *target, const char *why)
{
	frt_log(target->told ? FRT_DEBUG : FRT_INFO,
		"%s: router %s is not reached: %s; trying again",
		target->device->config->name, target->text, why);
	target->told = true;
	retry_later(target);
}

void frt_target_lost(struct frt_target *target)
{
	retry_later(target);
}

static void on_up(struct rte_peer *peer)
{
	struct frt_target *target = peer->user;
	struct frt_adjacency *adjacency;
	int ret;

	target->peer = NULL;
	target->as = peer->remote.as;
	target->router = peer->remote.node;
	ret = frt_adjacency_begin(target->device, peer, target, &adjacency);
	if (!ret) {
		target->told = false;
		return;
	}
	if (ret != -FI_EALREADY)
		target->tries = 8;
	retry_later(target);
}

static void on_down(struct rte_peer *peer, int err)
{
	struct frt_target *target = peer->user;

	target->peer = NULL;
	rte_peer_close(peer, 0);
	unreachable(target, fi_strerror(err));
}

/* The peer speaks first only after it has heard something. */
static void on_message(struct rte_peer *peer, struct rte_rx *rx)
{
	rte_rx_put(rx);
	rte_peer_bad(peer, "a message before this router has said anything");
}

static const struct rte_peer_ops ops = {
	.up = on_up,
	.message = on_message,
	.down = on_down,
};

static bool is_met(const struct frt_target *target)
{
	return target->adjacency ||
	       (target->router &&
		frt_adjacency_find(target->device, target->as, target->router));
}

/* Whom an adjacency is lost with is looked at again then. */
static bool may_connect(const struct frt_target *target)
{
	return !target->peer && !target->lookup && !is_met(target) &&
	       target->device->up && !target->device->node->stopping;
}

static void connect_at(struct frt_target *target, const union crn_addr *addr)
{
	int ret = rte_peer_connect(frt_device_port(target->device), &addr->sa, 0, &ops,
				   target, &target->peer);

	if (ret) {
		target->peer = NULL;
		unreachable(target, fi_strerror(-ret));
	}
}

static void on_looked_up(void *context, int ret, const union crn_addr *addr)
{
	struct frt_target *target = context;

	target->lookup = NULL;
	if (ret)
		unreachable(target, "its name has no address");
	else if (may_connect(target))
		connect_at(target, addr);
	else
		retry_later(target);
}

static void connect_to(struct frt_target *target)
{
	struct frt_device *device = target->device;
	union crn_addr addr;
	int ret;

	/* Only names that the file has are looked up. */
	if (target->named && target->uri.kind == RTE_HOST_NAME) {
		ret = frt_lookup_start(device->node, device->net, &target->uri,
				       target->tries, on_looked_up, target,
				       &target->lookup);
		if (ret) {
			target->lookup = NULL;
			unreachable(target, fi_strerror(-ret));
		}
		return;
	}
	if (frt_route_address(device, target->text, &addr))
		unreachable(target, "there is no such address");
	else
		connect_at(target, &addr);
}

static void on_retry(struct crn_deadline *deadline)
{
	struct frt_target *target = crn_container_of(deadline, struct frt_target, retry);

	if (may_connect(target))
		connect_to(target);
}

/* --- Who is wanted --- */

static struct frt_target *find(struct frt_device *device, const struct rte_uri *uri)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &device->targets)
		if (rte_uri_same(&target_of(entry)->uri, uri))
			return target_of(entry);
	return NULL;
}

static struct frt_target *want(struct frt_device *device, const struct rte_uri *uri)
{
	struct frt_target *target = find(device, uri);

	if (!target) {
		if (device->target_count == TARGETS_MOST)
			return NULL;
		target = calloc(1, sizeof(*target));
		if (!target)
			return NULL;
		target->device = device;
		target->uri = *uri;
		rte_uri_print(uri, target->text);
		target->retry.expired = on_retry;
		crn_list_add_tail(&device->targets, &target->entry);
		device->target_count++;
	}
	target->wanted = true;
	return target;
}

static void want_named(struct frt_device *device)
{
	struct frt_target *target;
	uint32_t i;

	for (i = 0; i < device->config->routers; i++) {
		target = want(device, &device->config->router[i].uri);
		if (target)
			target->named = true;
	}
}

/* A router of the AS that listens on the device's subnet. */
static void want_heard(struct frt_device *device, const struct rte_lsa *lsa)
{
	const struct rte_link *link =
		rte_lsa_link(lsa, device->id.scope_as, device->id.subnet);
	struct frt_target *target;
	struct rte_uri uri;
	const char *why;

	if (!link || !*link->uri || rte_uri_parse(link->uri, &uri, &why))
		return;
	uri.transport = device->config->transport;
	target = want(device, &uri);
	if (target && !target->router) {
		target->as = lsa->as;
		target->router = lsa->router;
	}
}

static void target_free(struct frt_target *target)
{
	struct frt_device *device = target->device;

	crn_deadline_remove(&device->node->deadlines, &target->retry);
	if (target->peer)
		rte_peer_close(target->peer, 0);
	if (target->lookup)
		frt_lookup_cancel(target->lookup);
	/* What came of it stays, as if the other end had connected. */
	if (target->adjacency)
		target->adjacency->target = NULL;
	crn_list_del(&target->entry);
	device->target_count--;
	free(target);
}

void frt_targets_update(struct frt_device *device)
{
	const struct rte_config_router *self = &frt_config(device->node)->router;
	struct rte_lsdb *db = rte_sync_db(device->node->sync);
	const struct rte_lsa *lsa;
	struct crn_list *entry, *next;
	struct frt_target *target;
	uint64_t router = 0;

	if (!device->up)
		return;
	crn_list_for_each (entry, &device->targets)
		target_of(entry)->wanted = target_of(entry)->named = false;
	want_named(device);
	/* Those of the AS meet within it. */
	while (!device->foreign &&
	       (lsa = rte_lsdb_next(db, self->as, router, crn_now_ms())) &&
	       lsa->as == self->as) {
		router = lsa->router;
		if (router != self->id)
			want_heard(device, lsa);
	}
	crn_list_for_each_safe (entry, next, &device->targets) {
		target = target_of(entry);
		if (!target->wanted)
			target_free(target);
		else if (may_connect(target) && !crn_deadline_pending(&target->retry))
			crn_deadline_add(&device->node->deadlines, &target->retry,
					 crn_now_ms());
	}
}

const char *frt_targets_awaited(const struct frt_device *device)
{
	const struct frt_target *target;
	struct crn_list *entry;

	crn_list_for_each (entry, &device->targets) {
		target = target_of(entry);
		if (target->named && !is_met(target) && !target->told)
			return target->text;
	}
	return NULL;
}

void frt_targets_close(struct frt_device *device)
{
	while (!crn_list_empty(&device->targets))
		target_free(target_of(device->targets.next));
}
