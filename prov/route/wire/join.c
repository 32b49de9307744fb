/* SPDX-License-Identifier: BSD-2-Clause */
#include "layout.h"

void rte_join_init(struct rte_join *join, void *list, size_t size)
{
	*join = (struct rte_join){.list = list, .size = size};
}

static bool same_list(const struct rte_lsa_piece *a, const struct rte_lsa_piece *b)
{
	return a->as == b->as && a->flags == b->flags && a->router == b->router &&
	       a->epoch == b->epoch && a->seq == b->seq && a->lifetime == b->lifetime &&
	       a->load == b->load && a->total == b->total && a->links == b->links;
}

enum rte_bad rte_join_put(struct rte_join *join, const struct rte_lsa_piece *piece,
			  const struct rte_packet *packet)
{
	const size_t have = join->have;

	/* Whatever happens, what there was is over, unless this piece goes on with it. */
	join->have = 0;
	if (piece->total > join->size)
		return RTE_BAD_LIMIT;
	if (!piece->offset)
		join->first = *piece;
	else if (piece->offset != have || !same_list(&join->first, piece))
		return RTE_BAD_PIECE;
	if (packet->head.plen)
		memcpy(join->list + piece->offset, packet->payload, packet->head.plen);
	if (packet->head.flags & RTE_LAST)
		return RTE_OK;
	join->have = piece->offset + packet->head.plen;
	return RTE_MORE;
}
