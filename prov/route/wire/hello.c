/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ends of a lower connection: who they are, that they live, that they end. */
#include "layout.h"

static bool slots_right(const uint16_t slots[RTE_LANES])
{
	return slots[RTE_REQUESTS] <= RTE_SLOTS_MAX &&
	       slots[RTE_RESPONSES] <= RTE_SLOTS_MAX;
}

static enum rte_bad hello_check(const struct rte_packet *packet,
				const struct rte_hello *hello)
{
	if (hello->frag_max < RTE_FRAG_MIN || hello->frag_max > RTE_FRAG_MAX ||
	    hello->eager_max > RTE_EAGER_MAX || hello->hb_ms > RTE_TIME_MAX ||
	    !slots_right(hello->recv_slots) || !slots_right(hello->land_slots))
		return RTE_BAD_LIMIT;
	return rte_status_check(packet, hello->status);
}

static enum rte_bad auth_check(const struct rte_auth_proof *auth)
{
	return auth->step == 1 || auth->step == 2 ? RTE_OK : RTE_BAD_VALUE;
}

RTE_DEFINE_MESSAGE(hello, type == RTE_HELLO || type == RTE_HELLO_ACK, RTE_HELLO_FIELDS,
		   hello_check(packet, message))
RTE_DEFINE_MESSAGE(auth_proof, type == RTE_AUTH, RTE_AUTH_FIELDS, auth_check(message))
RTE_DEFINE_MESSAGE(bye, type == RTE_BYE, RTE_BYE_FIELDS,
		   rte_status_check(packet, message->status))
RTE_DEFINE_MESSAGE(heartbeat, type == RTE_HEARTBEAT, RTE_HEARTBEAT_FIELDS, RTE_OK)
