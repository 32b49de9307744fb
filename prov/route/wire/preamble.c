/* SPDX-License-Identifier: BSD-2-Clause */
#include "layout.h"

static const char magic[4] = {'F', 'R', 'T', '1'};

RTE_FIELDS(preamble, RTE_PREAMBLE_FIELDS)

_Static_assert(sizeof(magic) + RTE_SUM(RTE_PREAMBLE_FIELDS) == RTE_PREAMBLE_LEN,
	       "the preamble");

void rte_preamble_pack(const struct rte_preamble *preamble, uint8_t buf[RTE_PREAMBLE_LEN])
{
	memcpy(buf, magic, sizeof(magic));
	put_preamble(buf, preamble);
}

enum rte_bad rte_preamble_parse(struct rte_preamble *preamble, const void *bytes,
				size_t len)
{
	const uint8_t *at;
	struct crn_unpack in;

	crn_unpack_init(&in, bytes, len);
	at = crn_unpack_ref(&in, RTE_PREAMBLE_LEN);
	if (!at)
		return RTE_BAD_SHORT;
	if (memcmp(at, magic, sizeof(magic)))
		return RTE_BAD_MAGIC;
	get_preamble(at, preamble);
	preamble->flags &= RTE_PREAMBLE_FLAGS;
	if (preamble->major != RTE_MAJOR)
		return RTE_BAD_MAJOR;
	if (preamble->role < RTE_CLIENT || preamble->role > RTE_TARGET || !preamble->node)
		return RTE_BAD_VALUE;
	return RTE_OK;
}

uint8_t rte_preamble_minor(const struct rte_preamble *peer, uint8_t mine)
{
	return CRN_MIN(peer->minor_max, mine);
}
