/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>

#include "forward.h"

bool frt_ack_mine(const struct rte_head *head)
{
	return head->type == RTE_MSG && head->seq && (head->flags & RTE_LAST) &&
	       (head->flags & (RTE_ACKREQ | RTE_DELIVER | RTE_COMMIT)) == RTE_ACKREQ;
}

void frt_ack_flies(struct frt_ack *ack)
{
	ack->flying++;
}

void frt_ack_landed(struct frt_ack *ack, uint64_t request, bool sent)
{
	ack->flying--;
	if (sent)
		ack->sent = CRN_MAX(ack->sent, request);
}

uint64_t frt_ack_due(const struct frt_ack *ack)
{
	return ack->sent > ack->told ? ack->sent : 0;
}

bool frt_ack_rides(const struct rte_packet *packet, bool to_end)
{
	const uint8_t type = packet->head.type;

	if (packet->options.present & 1u << RTE_TLV_ACK)
		return false;
	return type == RTE_READ_FRAG ||
	       (to_end && (type == RTE_MSG || type == RTE_WRITE || type == RTE_READ_REQ));
}
