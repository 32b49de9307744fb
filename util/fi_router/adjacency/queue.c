/* SPDX-License-Identifier: BSD-2-Clause */
/* What is to be sent over an adjacency, as long as its peer does not take it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "inside.h"
#include "log.h"

/* Above this much no more is asked for; a peer that leaves this much is given up. */
#define QUEUE_LONG (256u << 10)
#define QUEUE_MOST (16u << 20)
/* Of a message in front of its list. */
#define HEAD_ROOM 128u
#define PAYLOAD_LEAST 512u

struct frt_queued {
	struct crn_list entry;
	size_t len;
	uint8_t bytes[];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool send_now(struct frt_adjacency *adjacency, const void *bytes, size_t len)
{
	struct rte_tx *tx = rte_tx_get(adjacency->peer, RTE_LANES, len);

	if (!tx)
		return false;
	memcpy(tx->bytes, bytes, len);
	tx->len = len;
	rte_tx_post(tx);
	return true;
}

static int queue_put(void *context, const void *bytes, size_t len)
{
	struct frt_adjacency *adjacency = context;
	struct frt_queued *queued;

	if (crn_list_empty(&adjacency->queue) && send_now(adjacency, bytes, len))
		return 0;
	if (adjacency->queued + len > QUEUE_MOST)
		return -FI_ENOBUFS;
	queued = malloc(sizeof(*queued) + len);
	if (!queued)
		return -FI_ENOMEM;
	queued->len = len;
	memcpy(queued->bytes, bytes, len);
	crn_list_add_tail(&adjacency->queue, &queued->entry);
	adjacency->queued += len;
	return 0;
}

void frt_queue_say(struct frt_adjacency *adjacency,
		   const struct rte_sync_message *message)
{
	struct frt_node *node = adjacency->device->node;
	const size_t payload = CRN_MAX(adjacency->peer->eager_max, PAYLOAD_LEAST);
	int ret;

	if (adjacency->failed || adjacency->ending)
		return;
	node->moved = true;
	if (message->type == RTE_SYNC_BYE) {
		adjacency->ending = true;
		return;
	}
	ret = frt_say(message, &adjacency->stamps, now_ns(),
		      CRN_MIN(payload + HEAD_ROOM, (size_t)RTE_SEND_ROOM), queue_put,
		      adjacency);
	if (!ret)
		return;
	adjacency->failed = -ret;
	if (ret == -FI_ENOBUFS)
		node->counters.queue_full++;
	frt_log_peer(FRT_WARN,
		     "%s: router %s %s: the connection is closed, and tried again; is "
		     "its host overloaded?",
		     adjacency->device->config->name, adjacency->peer->text,
		     ret == -FI_ENOBUFS ? "does not read what it is sent"
					: fi_strerror(-ret));
}

void frt_queue_send(struct frt_adjacency *adjacency)
{
	struct frt_queued *queued;

	adjacency->device->node->moved = true;
	while (!crn_list_empty(&adjacency->queue)) {
		queued =
			crn_container_of(adjacency->queue.next, struct frt_queued, entry);
		if (!send_now(adjacency, queued->bytes, queued->len))
			return;
		crn_list_del(&queued->entry);
		adjacency->queued -= queued->len;
		free(queued);
	}
}

bool frt_queue_is_long(const struct frt_adjacency *adjacency)
{
	return adjacency->queued > QUEUE_LONG;
}

void frt_queue_drop(struct frt_adjacency *adjacency)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&adjacency->queue)))
		free(crn_container_of(entry, struct frt_queued, entry));
	adjacency->queued = 0;
}
