/* SPDX-License-Identifier: BSD-2-Clause */
/* What keeps a connection flowing: slots, acknowledgements, signs of life. */
#include "layout.h"

static enum rte_bad grant_check(const struct rte_grant *grant)
{
	const struct rte_grant_slot *slot;
	uint32_t i;

	if (grant->lane >= RTE_LANES)
		return RTE_BAD_VALUE;
	for (i = 0; i < grant->count; i++) {
		slot = &grant->slot[i];
		if (slot->id >= RTE_SLOTS_MAX || !slot->len || slot->len > RTE_FRAG_MAX)
			return RTE_BAD_LIMIT;
		if (slot->addr > UINT64_MAX - slot->len)
			return RTE_BAD_RANGE;
	}
	return RTE_OK;
}

static enum rte_bad nack_check(const struct rte_packet *packet,
			       const struct rte_nack *nack)
{
	return nack->status ? rte_status_check(packet, nack->status) : RTE_BAD_VALUE;
}

static enum rte_bad receives_check(const struct rte_receives *receives)
{
	if (receives->lane >= RTE_LANES || receives->given > 1)
		return RTE_BAD_VALUE;
	return receives->more > RTE_SLOTS_MAX || receives->asked > RTE_SLOTS_MAX
		       ? RTE_BAD_LIMIT
		       : RTE_OK;
}

RTE_DEFINE_LIST(grant, type == RTE_GRANT, RTE_GRANT_FIELDS, grant_slot, RTE_SLOT_FIELDS,
		slot, grant_check(message))
RTE_DEFINE_MESSAGE(ack, type == RTE_ACK, RTE_ACK_FIELDS, RTE_OK)
RTE_DEFINE_MESSAGE(nack, type == RTE_NACK, RTE_NACK_FIELDS, nack_check(packet, message))
RTE_DEFINE_MESSAGE(keepalive, type == RTE_KEEPALIVE, RTE_KEEPALIVE_FIELDS, RTE_OK)
RTE_DEFINE_MESSAGE(receives, type == RTE_RECEIVES, RTE_RECEIVES_FIELDS,
		   receives_check(message))
