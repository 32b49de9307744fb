/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow.h"

/*
 * A MSG is answered (ACK) by the last router, once it has come into the target's slot;
 * there it waits for a receive. Responses leave their slots at the end at once. What goes
 * from one node to the next, and no further, is not here: MR_INFO, MR_INVAL, GRANT,
 * KEEPALIVE.
 */
static const uint8_t rules[RTE_TYPES][RTE_FLOW_PLACES] = {
	[RTE_MSG] = {RTE_FLOW_SLOT, RTE_FLOW_SLOT | RTE_FLOW_ANSWER, RTE_FLOW_RECEIVE},
	[RTE_WRITE] = {RTE_FLOW_SLOT, RTE_FLOW_KEY | RTE_FLOW_ANSWER, 0},
	[RTE_READ_REQ] = {RTE_FLOW_SLOT, RTE_FLOW_KEY | RTE_FLOW_ANSWER, 0},
	[RTE_READ_FRAG] = {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0},
	[RTE_ACK] = {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0},
	[RTE_NACK] = {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0},
	[RTE_MR_RESOLVE] = {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0},
};

unsigned int rte_flow_needs(uint8_t type, enum rte_flow_place place)
{
	return type < RTE_TYPES ? rules[type][place] : 0;
}
