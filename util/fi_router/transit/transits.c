/* SPDX-License-Identifier: BSD-2-Clause */
/* All connections of a router: how many there may be, where they begin, and when a device
 * takes them along. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* --- What the node tells --- */

static int open_one(struct frt_worker *worker)
{
	struct frt_transits *transits = calloc(1, sizeof(*transits));

	if (!transits)
		return -FI_ENOMEM;
	crn_list_init(&transits->open);
	crn_list_init(&transits->closed);
	crn_list_init(&transits->probes);
	worker->transits = transits;
	return 0;
}

static int transits_open(struct frt_node *node)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < node->workers && !ret; i++)
		ret = open_one(node->worker[i]);
	return ret;
}

static void close_one(struct frt_worker *worker)
{
	struct frt_transits *transits = frt_transits_of(worker);

	if (!transits)
		return;
	/* Their ports are closed: nobody calls back for them. */
	while (!crn_list_empty(&transits->closed))
		frt_transit_free(crn_container_of(transits->closed.next,
						  struct frt_transit, entry));
	free(transits);
	worker->transits = NULL;
}

static void transits_close(struct frt_node *node)
{
	uint32_t i;

	if (node->workers && node->worker[0]->transits)
		frt_probes_end(node, NULL);
	for (i = 0; i < node->workers; i++)
		close_one(node->worker[i]);
}

static void side_open(struct frt_transit *transit, enum frt_from from,
		      struct frt_device *device)
{
	struct frt_side *side = &transit->side[from];
	enum rte_lane at;

	side->transit = transit;
	side->device = device;
	for (at = 0; at < RTE_LANES; at++)
		frt_lane_open(&side->lane[at]);
}

static struct frt_transit *transit_new(struct frt_port *port, struct frt_client *client)
{
	struct frt_transits *transits = frt_transits_of(port->worker);
	struct frt_node *node = port->worker->node;
	struct frt_transit *transit;

	if (transits->gone == port->device || !frt_node_load_add(node, FRT_TRANSITS_MAX))
		return NULL;
	transit = calloc(1, sizeof(*transit));
	if (!transit) {
		frt_node_load_sub(node);
		return NULL;
	}
	transit->node = node;
	transit->worker = port->worker;
	transit->client = client;
	transit->began = crn_now_ms();
	side_open(transit, FRT_IN, port->device);
	side_open(transit, FRT_OUT, NULL);
	crn_list_add_tail(&transits->open, &transit->entry);
	transits->count++;
	port->worker->connections++;
	return transit;
}

/* There is no room for a connection, not even for one that is refused. */
static void turn_away(struct frt_port *port, struct rte_peer *peer, struct rte_rx *rx)
{
	struct rte_packet packet = {.head = {.type = RTE_CONN_REP, .flags = RTE_ERR}};
	struct rte_conn_rep rep = {.status = FI_ENOBUFS,
				   .verdict = RTE_FAILED,
				   .router = port->worker->node->id};
	struct rte_conn_req req;
	struct rte_tx *tx = NULL;
	ssize_t len;

	frt_log_peer(FRT_WARN,
		     "%s: no memory for another connection: \"fi_routectl top\" says who "
		     "has it",
		     peer->text);
	if (rte_conn_req_parse(&req, &rx->packet) == RTE_OK)
		tx = rte_tx_get(peer, RTE_LANES, RTE_SMALL_ROOM);
	rte_rx_put(rx);
	if (tx) {
		memcpy(rep.id, req.id, sizeof(rep.id));
		len = rte_conn_rep_pack(&packet, &rep, tx->bytes, tx->room);
		tx->len = (size_t)CRN_MAX(len, 0);
		tx->data_len = 0;
		tx->done = NULL;
		if (len > 0)
			rte_tx_post(tx);
		else
			rte_tx_drop(tx);
	}
	frt_port_part(port, peer, FI_ENOBUFS);
}

static void request(struct frt_port *port, struct rte_peer *peer,
		    struct frt_client *client, struct rte_rx *rx)
{
	struct frt_transit *transit = transit_new(port, client);
	struct frt_node *node = port->worker->node;
	struct frt_side *in;

	if (!transit) {
		turn_away(port, peer, rx);
		frt_client_put(node, client);
		return;
	}
	in = &transit->side[FRT_IN];
	in->peer = peer;
	in->end = peer->remote.role != RTE_ROUTER;
	if (client) {
		rte_peer_quota(peer, &client->slots);
		in->hop.keys.quota = transit->side[FRT_OUT].hop.keys.quota =
			&client->resolves;
	}
	snprintf(in->text, sizeof(in->text), "%s", peer->text);
	peer->ops = &frt_transit_peer_ops;
	peer->user = in;
	frt_transit_enter(transit);
	frt_transit_ask(transit, rx);
	frt_transit_leave(transit);
}

static bool uses(const struct frt_transit *transit, const struct frt_device *device)
{
	return transit->side[FRT_IN].device == device ||
	       transit->side[FRT_OUT].device == device;
}

static struct frt_transit *find(const struct crn_list *list,
				const struct frt_device *device)
{
	struct frt_transit *transit;
	const struct crn_list *entry;

	crn_list_for_each (entry, list) {
		transit = crn_container_of(entry, struct frt_transit, entry);
		if (uses(transit, device))
			return transit;
	}
	return NULL;
}

static void ports_progress(const struct frt_worker *worker)
{
	const struct frt_node *node = worker->node;
	struct rte_port *port;
	uint32_t i;

	for (i = 0; i < node->devices; i++) {
		port = node->device[i]->at[worker->index].port;
		if (port && !port->depth)
			rte_port_progress(port);
	}
}

/*
 * What other ports still send may be payload that this one has received, which has to be
 * given back before it is closed.
 */
static void gone_from(struct frt_worker *worker, struct frt_device *device, int status)
{
	struct frt_transits *transits = frt_transits_of(worker);
	struct frt_transit *transit;

	transits->gone = device;
	while ((transit = find(&transits->open, device))) {
		frt_transit_enter(transit);
		frt_transit_abort(transit, status);
		frt_transit_leave(transit);
	}
	if (find(&transits->closed, device))
		ports_progress(worker);
	transits->gone = NULL;
}

static void device_gone(struct frt_node *node, struct frt_device *device, int status)
{
	uint32_t i;

	frt_transits_of(node->worker[0])->gone = device;
	frt_probes_end(node, device);
	for (i = 0; i < node->workers; i++)
		gone_from(node->worker[i], device, status);
}

const struct frt_transit_ops frt_transit_ops = {
	.open = transits_open,
	.close = transits_close,
	.request = request,
	.device_gone = device_gone,
};

/* --- For show --- */

void frt_worker_each(const struct frt_worker *worker,
		     void (*each)(const struct frt_transit *transit, void *context),
		     void *context)
{
	const struct frt_transits *transits = frt_transits_of(worker);
	const struct crn_list *entry;

	if (!transits)
		return;
	crn_list_for_each (entry, &transits->open)
		each(crn_container_of(entry, struct frt_transit, entry), context);
}

void frt_transit_each(const struct frt_node *node,
		      void (*each)(const struct frt_transit *transit, void *context),
		      void *context)
{
	uint32_t i;

	for (i = 0; i < node->workers; i++)
		frt_worker_each(node->worker[i], each, context);
}

uint32_t frt_transit_count(const struct frt_node *node)
{
	uint32_t count = 0, i;

	for (i = 0; i < node->workers; i++)
		if (node->worker[i]->transits)
			count += frt_transits_of(node->worker[i])->count;
	return count;
}

static void add_passed(const struct frt_transit *transit, void *context)
{
	uint32_t *passed = context;

	*passed += transit->state < FRT_ENDING;
}

uint32_t frt_transits_passed(const struct frt_node *node)
{
	uint32_t passed = 0;

	frt_transit_each(node, add_passed, &passed);
	return passed;
}
