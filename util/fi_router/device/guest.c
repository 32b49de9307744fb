/* SPDX-License-Identifier: BSD-2-Clause */
/* Those who connect, until their first message says what they want. */
#include <inttypes.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "inside.h"
#include "log.h"
#include "worker/worker.h"

/* A client that has too many connections is told so over so many more. */
#define CLIENT_SPARE 16u

/* The peer is somebody else's from now on, or was closed. */
static struct frt_client *guest_free(struct frt_guest *guest)
{
	struct frt_client *client = guest->client;
	struct frt_worker *worker = guest->port->worker;

	crn_deadline_remove(worker->deadlines, &guest->deadline);
	crn_list_del(&guest->entry);
	worker->connections--;
	frt_node_guests(worker->node, -1);
	free(guest);
	return client;
}

/* To close a peer makes progress, and somebody else who comes may look for one to be
 * closed: it is not found any more. */
void frt_guest_close(struct frt_guest *guest, int status)
{
	struct frt_port *port = guest->port;
	struct frt_node *node = port->device->node;
	struct rte_peer *peer = guest->peer;
	struct frt_client *client = guest_free(guest);

	frt_port_part(port, peer, status);
	frt_client_put(node, client);
}

/* Once a minute of each host. */
static void silent(const struct frt_guest *guest, const char *what)
{
	const struct frt_device *device = guest->port->device;

	frt_node_count(device->node, &device->node->counters.silent);
	frt_log_peer(frt_log_first(FRT_INFO, &guest->address.sa, FI_ETIMEDOUT),
		     "%s: %s has connected and %s: it is closed", device->config->name,
		     guest->peer->text, what);
}

static void on_expired(struct crn_deadline *deadline)
{
	struct frt_guest *guest = crn_container_of(deadline, struct frt_guest, deadline);

	silent(guest, "asks for nothing");
	frt_guest_close(guest, FI_ETIMEDOUT);
}

static void on_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct frt_guest *guest = peer->user;
	struct frt_port *port = guest->port;
	const uint8_t type = rx->packet.head.type;
	struct frt_client *client;

	if (type == RTE_CONN_REQ) {
		client = guest_free(guest);
		port->device->node->transit->request(port, peer, client, rx);
	} else if (!guest->client && !port->worker->index && frt_adjacency_first(type)) {
		guest_free(guest);
		frt_adjacency_accept(port->device, peer, rx);
	} else {
		rte_rx_put(rx);
		rte_peer_bad(peer, "a first message that begins nothing");
	}
}

static void on_down(struct rte_peer *peer, int err)
{
	struct frt_guest *guest = peer->user;

	if (err == FI_ETIMEDOUT && !peer->hello.recv_slots[RTE_REQUESTS])
		silent(guest, "sends no HELLO");
	else
		frt_log_peer(FRT_DEBUG, "%s: %s has gone before it said anything: %s",
			     guest->port->device->config->name, peer->text,
			     fi_strerror(err));
	/* The main thread's, which the others wait for. */
	if (err == FI_EADDRINUSE && !guest->port->worker->index)
		frt_duplicate_refused(guest->port->device, peer);
	frt_guest_close(guest, 0);
}

static const struct rte_peer_ops ops = {.message = on_message, .down = on_down};

/* --- Who may connect --- */

/* NULL, or why not: *counter counts it besides. */
static const char *why_not(struct frt_device *device, const struct rte_preamble *it,
			   uint64_t **counter)
{
	const struct rte_config_device *config = device->config;
	const uint32_t own_as = frt_config(device->node)->router.as;

	*counter = NULL;
	if (device->node->stopping)
		return "this router is ending";
	if (!device->up)
		return "this device is closed";
	if (it->role == RTE_TARGET)
		return "it is a target: correct its router=";
	if (it->subnet != config->at.subnet)
		return "it calls this subnet otherwise: correct subnet in one of the "
		       "files";
	if (it->role == RTE_CLIENT && device->foreign)
		return "it is a client, on a WAN, where routers alone are";
	*counter = &device->node->counters.unknown_as;
	if (it->role == RTE_CLIENT)
		return it->as != own_as ? "it calls this subnet's AS otherwise: "
					  "correct as in one of the files"
					: NULL;
	if (!it->as)
		return "it does not say its AS: correct its file";
	/* All subnets of an AS reach each other within it (section IV.C.3): over a WAN,
	 * whose key others have, nobody has to tell what is inside, or ask for a way. */
	if (it->as == own_as)
		return device->foreign ? "over a WAN it says that it is of this AS"
				       : NULL;
	if (!device->foreign)
		return "it is of another AS, and this is no WAN: correct as in one of "
		       "the files";
	return config->peer_as && it->as != config->peer_as
		       ? "this WAN is private to another AS: correct peer_as"
		       : NULL;
}

static struct frt_guest *guest_new(struct frt_port *port,
				   const struct rte_request *request)
{
	struct frt_node *node = port->device->node;
	const struct rte_config *config = frt_config(node);
	struct frt_guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	guest->port = port;
	guest->address = request->address;
	guest->neighbour = frt_guest_neighbour(&request->preamble);
	guest->began = crn_now_ms();
	guest->deadline.expired = on_expired;
	crn_list_add_tail(&port->guests, &guest->entry);
	port->worker->connections++;
	frt_node_guests(node, 1);
	/* For the connection, and for the first message. */
	crn_deadline_add(port->worker->deadlines, &guest->deadline,
			 crn_now_ms() + 2 * (uint64_t)config->routing.connect_timeout);
	if (request->preamble.role != RTE_CLIENT)
		return guest;
	guest->client = frt_client_get(node, port->device, &request->address);
	if (guest->client &&
	    guest->client->peers <= config->router.connections + CLIENT_SPARE)
		return guest;
	if (guest->client)
		frt_node_count(node, &node->counters.quota_connections);
	frt_client_put(node, guest_free(guest));
	return NULL;
}

bool frt_guest_neighbour(const struct rte_preamble *preamble)
{
	return preamble->role == RTE_ROUTER && !(preamble->flags & RTE_PREAMBLE_CONN);
}

/* Where it will be passed on. Of routers only those come to a worker that say that no
 * adjacency follows: it would be the main thread's. */
static struct frt_port *port_for(struct frt_device *device, const struct rte_preamble *it)
{
	return frt_guest_neighbour(it)
		       ? &device->at[0]
		       : &device->at[frt_worker_choose(device->node)->index];
}

static void tell_rejected(const struct frt_device *device,
			  const struct rte_request *request, const char *why)
{
	char from[CRN_ADDR_STRLEN];

	frt_log_peer(frt_log_first(FRT_WARN, &request->address.sa, (uintptr_t)why),
		     "%s: %s (%" PRIu32 ":%" PRIu32 ") is rejected: %s",
		     device->config->name, crn_addr_str(&request->address.sa, from),
		     request->preamble.as, request->preamble.subnet, why);
}

/* True: it is over. */
static bool rejected(struct frt_device *device, struct rte_request *request)
{
	struct frt_node *node = device->node;
	uint64_t *counter;
	const char *why = why_not(device, &request->preamble, &counter);

	if (!why && !rte_request_denied(request))
		return false;
	node->counters.rejected++;
	if (!why)
		return true;
	if (counter)
		frt_node_count(node, counter);
	tell_rejected(device, request, why);
	rte_request_reject(request);
	return true;
}

void frt_guest_request(struct rte_request *request, void *context)
{
	struct frt_device *device = context;
	struct frt_port *port = port_for(device, &request->preamble);
	struct frt_node *node = device->node;
	struct frt_guest *guest = NULL;
	const char *why;

	if (rejected(device, request))
		return;
	why = frt_crowded(port, request);
	if (!why) {
		guest = guest_new(port, request);
		why = "it has too many connections (connections in [router]), or there "
		      "is no memory";
	}
	if (!guest) {
		node->counters.rejected++;
		tell_rejected(device, request, why);
		rte_request_full(request);
		return;
	}
	frt_worker_wake(port->worker);
	if (rte_peer_accept(port->port, request, &ops, guest, &guest->peer)) {
		node->counters.rejected++;
		frt_client_put(node, guest_free(guest));
		return;
	}
	node->counters.accepted++;
}

void frt_guests_close(struct frt_device *device, int status)
{
	struct crn_list *guests;
	uint32_t i;

	for (i = 0; i < device->node->workers; i++) {
		guests = &device->at[i].guests;
		while (!crn_list_empty(guests))
			frt_guest_close(crn_container_of(guests->next, struct frt_guest,
							 entry),
					status);
	}
}
