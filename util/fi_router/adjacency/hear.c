/* SPDX-License-Identifier: BSD-2-Clause */
/* What arrives over an adjacency. */
#include <errno.h>
#include <time.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* Of a peer; beyond that they are dropped, and asked again. */
#define HELD_MOST 16u

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One at a time is heard: it is too large for the stack. */
static struct frt_heard heard;

/* What rte_sync_receive dropped, and why. Once a minute of each neighbour and reason. */
static void log_dropped(const struct frt_adjacency *adjacency, uint8_t type, int err)
{
	const struct rte_peer *peer = adjacency->peer;
	const char *name = adjacency->device->config->name;

	if (err == ERANGE)
		frt_log_peer(
			frt_log_first(FRT_WARN, &peer->address.sa, ERANGE),
			"%s: router %s sent %s whose epoch or sequence number is too "
			"high, or more than a day ahead of this host's clock: it "
			"is dropped; compare the clocks, or is it forged?",
			name, peer->text, rte_message_name(type));
	else if (err == FI_ENOSPC)
		frt_log_peer(
			frt_log_first(FRT_WARN, &peer->address.sa, FI_ENOSPC),
			"%s: router %s sent %s with a router for which there is no room, "
			"and has had its share: it is dropped; are there so many "
			"routers?",
			name, peer->text, rte_message_name(type));
	else
		frt_log(FRT_DEBUG, "%s: router %s sent %s that was dropped: %s", name,
			peer->text, rte_message_name(type), fi_strerror(err));
}

static void hear(struct frt_adjacency *adjacency, const struct rte_packet *packet)
{
	struct frt_node *node = adjacency->device->node;
	const enum rte_bad bad =
		frt_hear(&heard, &adjacency->join, &adjacency->stamps, now_ns(), packet);
	int ret;

	node->moved = true;
	if (bad == RTE_MORE)
		return;
	if (bad == RTE_OK) {
		ret = rte_sync_receive(node->sync, adjacency->sync, &heard.message,
				       crn_now_ms());
		if (packet->head.type == RTE_LSA && !ret)
			frt_duplicate_check(node, heard.message.lsa->as,
					    heard.message.lsa->router);
		if (packet->head.type == RTE_LSA)
			frt_join_end(&adjacency->join);
		if (ret)
			log_dropped(adjacency, packet->head.type, -ret);
		return;
	}
	node->counters.malformed++;
	frt_join_end(&adjacency->join);
	frt_log_peer(
		FRT_WARN,
		"%s: router %s sent %s that is wrong: %s; it is left: compare versions",
		adjacency->device->config->name, adjacency->peer->text,
		rte_message_name(packet->head.type), rte_bad_text(bad));
	adjacency->failed = EPROTO;
}

/* What is answered at length waits for the queue to become shorter. What is not never
 * does: two that send each other a great deal go on reading. */
static bool has_to_wait(const struct frt_adjacency *adjacency, uint8_t type)
{
	return (type == RTE_DIGEST || type == RTE_LSREQ) &&
	       (frt_queue_is_long(adjacency) || !crn_list_empty(&adjacency->held));
}

void frt_hear_message(struct frt_adjacency *adjacency, struct rte_rx *rx)
{
	if (!adjacency->failed && has_to_wait(adjacency, rx->packet.head.type) &&
	    adjacency->helds < HELD_MOST) {
		crn_list_add_tail(&adjacency->held, &rx->entry);
		adjacency->helds++;
		return;
	}
	if (!adjacency->failed && !has_to_wait(adjacency, rx->packet.head.type))
		hear(adjacency, &rx->packet);
	rte_rx_put(rx);
}

void frt_hear_held(struct frt_adjacency *adjacency)
{
	struct rte_rx *rx;

	while (!frt_queue_is_long(adjacency) && !crn_list_empty(&adjacency->held)) {
		rx = crn_container_of(crn_list_pop(&adjacency->held), struct rte_rx,
				      entry);
		adjacency->helds--;
		if (!adjacency->failed)
			hear(adjacency, &rx->packet);
		rte_rx_put(rx);
	}
}

void frt_hear_drop(struct frt_adjacency *adjacency)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&adjacency->held)))
		rte_rx_put(crn_container_of(entry, struct rte_rx, entry));
	adjacency->helds = 0;
	frt_join_end(&adjacency->join);
}
