/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/bytes.h>
#include "auth.h"

/* HMACs are as good as random: their first byte is where they are kept. */
static uint64_t heard_mark(const uint8_t hmac[RTE_HMAC_LEN])
{
	return crn_get_le64(hmac + 8);
}

void rte_auth_hear(struct rte_auth_heard *heard, const uint8_t hmac[RTE_HMAC_LEN])
{
	heard->at[hmac[0]] = heard_mark(hmac);
}

bool rte_auth_was_heard(const struct rte_auth_heard *heard,
			const uint8_t hmac[RTE_HMAC_LEN])
{
	const uint64_t mark = heard_mark(hmac);

	return mark && heard->at[hmac[0]] == mark;
}

_Static_assert(RTE_AUTH_HEARD == 256, "one for each first byte");
