/* SPDX-License-Identifier: BSD-2-Clause */
#include "golden.h"

size_t golden_count(void)
{
	return golden_peers_count + golden_conn_count + golden_data_count;
}

const struct golden *golden_at(size_t i)
{
	if (i < golden_peers_count)
		return &golden_peers[i];
	i -= golden_peers_count;
	return i < golden_conn_count ? &golden_conn[i]
				     : &golden_data[i - golden_conn_count];
}

void golden_fill(const struct golden *golden, struct any *any)
{
	memset(any, 0, sizeof(*any));
	any->packet.head = (struct rte_head){.type = golden->bytes[2],
					     .flags = golden->flags,
					     .credit = {0xe1, 0xe2},
					     .vc = 0xa1a2a3a4,
					     .plen = golden->plen,
					     .seq = 0xb1b2b3b4b5b6b7b8};
	any->packet.head.hlen = (uint16_t)(golden->bytes[4] | golden->bytes[5] << 8);
	golden->fill(any);
}
