/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/bytes.h>
#include "auth.h"

/* HMACs are as good as random: a part of one is enough to know it by. */
static uint64_t heard_mark(const uint8_t hmac[RTE_HMAC_LEN])
{
	return crn_get_le64(hmac + 8);
}

void rte_auth_hear(struct rte_auth_heard *heard, const uint8_t hmac[RTE_HMAC_LEN])
{
	const uint32_t i = atomic_fetch_add(&heard->next, 1) % RTE_AUTH_HEARD;

	atomic_store(&heard->at[i], heard_mark(hmac));
}

bool rte_auth_was_heard(const struct rte_auth_heard *heard,
			const uint8_t hmac[RTE_HMAC_LEN])
{
	const uint64_t mark = heard_mark(hmac);
	uint32_t i;

	for (i = 0; mark && i < RTE_AUTH_HEARD; i++)
		if (atomic_load_explicit(&heard->at[i], memory_order_relaxed) == mark)
			return true;
	return false;
}
