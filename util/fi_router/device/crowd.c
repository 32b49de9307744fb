/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many may have connected and said nothing yet. Each of them takes memory and a
 * descriptor, so there are bounds for one host and for all; beyond the latter who has
 * been silent for longest goes, so that whoever floods the router loses his own. Those
 * that may be neighbours are counted for themselves: no number of clients keeps them out.
 */
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "worker/worker.h"

/* ms that everybody has for a first message, whoever else comes. */
#define PATIENCE 250u

static const struct {
	uint32_t host, all;
} bounds[] = {
	[false] = {768, 2048}, /* clients, and routers that pass on */
	[true] = {128, 512},   /* who may be a neighbour */
};

struct crowd {
	bool neighbours;
	const union crn_addr *address;
	uint32_t host, all;
	struct frt_guest *oldest;	 /* of all */
	struct frt_guest *oldest_beside; /* of those in the memory of one worker */
	const struct frt_worker *worker;
};

static bool is_older(const struct frt_guest *guest, const struct frt_guest *than)
{
	return !than || guest->began < than->began;
}

static void count(struct crowd *crowd, struct frt_guest *guest)
{
	if (guest->neighbour != crowd->neighbours)
		return;
	crowd->all++;
	crowd->host += crn_addr_same_host(&guest->address.sa, &crowd->address->sa);
	if (is_older(guest, crowd->oldest))
		crowd->oldest = guest;
	if (guest->port->worker == crowd->worker && is_older(guest, crowd->oldest_beside))
		crowd->oldest_beside = guest;
}

static void count_all(struct crowd *crowd, const struct frt_node *node)
{
	const struct crn_list *guests, *entry;
	uint32_t i, k;

	for (i = 0; i < node->devices; i++) {
		for (k = 0; k < node->workers; k++) {
			guests = &node->device[i]->at[k].guests;
			crn_list_for_each (entry, guests)
				count(crowd,
				      crn_container_of(entry, struct frt_guest, entry));
		}
	}
}

/* It has had its time. False: not yet, or there is none. */
static bool turn_out(struct frt_guest *guest)
{
	if (!guest || crn_now_ms() < guest->began + PATIENCE)
		return false;
	frt_worker_wake(guest->port->worker);
	frt_guest_close(guest, FI_ETIMEDOUT);
	return true;
}

const char *frt_crowded(struct frt_port *port, const struct rte_request *request)
{
	const bool neighbour = frt_guest_neighbour(&request->preamble);
	const struct rte_arena *arena = port->worker->arena;
	struct frt_node *node = port->device->node;
	struct crowd crowd = {.neighbours = neighbour,
			      .address = &request->address,
			      .worker = port->worker};

	if (!frt_node_descriptors(node, neighbour))
		return "there are no descriptors for it";
	count_all(&crowd, node);
	if (crowd.host >= bounds[neighbour].host)
		return "too many from its host have connected and said nothing yet";
	if (neighbour || rte_arena_room(arena, 2)) {
		if (crowd.all < bounds[neighbour].all || turn_out(crowd.oldest))
			return NULL;
		return "too many have connected and said nothing yet";
	}
	/* Its memory comes back a little later. */
	turn_out(crowd.oldest_beside);
	return "there is no memory for it";
}
