/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow.h"

/* A MSG is answered (ACK) by the last router, once it has come into the target's slot;
 * there it waits for a receive. Responses leave their slots at the end at once. */
static const struct {
	enum rte_flow_lane lane;
	unsigned int needs[RTE_FLOW_PLACES];
} rules[RTE_FLOW_KINDS] = {
	[RTE_FLOW_MSG] = {RTE_FLOW_REQUESTS,
			  {RTE_FLOW_SLOT, RTE_FLOW_SLOT | RTE_FLOW_ANSWER,
			   RTE_FLOW_RECEIVE}},
	[RTE_FLOW_WRITE] = {RTE_FLOW_REQUESTS,
			    {RTE_FLOW_SLOT, RTE_FLOW_KEY | RTE_FLOW_ANSWER, 0}},
	[RTE_FLOW_READ_REQ] = {RTE_FLOW_REQUESTS,
			       {RTE_FLOW_SLOT, RTE_FLOW_KEY | RTE_FLOW_ANSWER, 0}},
	[RTE_FLOW_READ_FRAG] = {RTE_FLOW_RESPONSES, {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0}},
	[RTE_FLOW_ACK] = {RTE_FLOW_RESPONSES, {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0}},
	[RTE_FLOW_MR_RESOLVE] = {RTE_FLOW_RESPONSES, {RTE_FLOW_SLOT, RTE_FLOW_SLOT, 0}},
	[RTE_FLOW_MR_INFO] = {RTE_FLOW_RESPONSES, {0, 0, 0}},
};

enum rte_flow_lane rte_flow_lane(enum rte_flow_kind kind)
{
	return rules[kind].lane;
}

unsigned int rte_flow_needs(enum rte_flow_kind kind, enum rte_flow_place place)
{
	return rules[kind].needs[place];
}
