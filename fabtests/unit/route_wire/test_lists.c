/* SPDX-License-Identifier: BSD-2-Clause */
/* DIGEST, LSREQ, AS_REACH, GRANT: how many entries, and in which order. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "golden.h"

static struct any a, b;
static uint8_t bytes[32768];

struct list {
	uint8_t type;
	uint32_t max;
	size_t entry_len, count_at;
};

static const struct list lists[] = {
	{RTE_DIGEST, RTE_LSA_KEYS_MAX, 32, 24},
	{RTE_LSREQ, RTE_LSA_KEYS_MAX, 32, 24},
	{RTE_AS_REACH, RTE_REACH_MAX, 24, 28},
	{RTE_GRANT, RTE_GRANT_MAX, 24, 24},
};

/* So many entries, where every list has its count and its entries in the union. */
static void fill(const struct list *list, uint32_t count)
{
	memset(&a, 0, sizeof(a));
	a.packet.head.type = list->type;
	for (uint32_t i = 0; i < count && i < list->max; i++)
		switch (list->type) {
		case RTE_DIGEST:
		case RTE_LSREQ:
			a.body.lsa_keys.key[i].router = 1000 + i;
			break;
		case RTE_AS_REACH:
			a.body.reach.entry[i].subnet = 1000 + i;
			break;
		default:
			a.body.grant.slot[i] =
				(struct rte_grant_slot){.id = i, .len = 4096};
		}
	switch (list->type) {
	case RTE_DIGEST:
	case RTE_LSREQ:
		a.body.lsa_keys.count = count;
		break;
	case RTE_AS_REACH:
		a.body.reach.as = 3;
		a.body.reach.router = 7;
		a.body.reach.count = count;
		break;
	default:
		a.body.grant.count = count;
	}
}

CT_TEST(wire_list, has_none_to_as_many_entries_as_its_bound)
{
	const struct list *list;
	ssize_t len;

	for (size_t i = 0; i < CRN_COUNT(lists); i++) {
		list = &lists[i];
		for (uint32_t count = 0; count <= list->max; count++) {
			CT_NOTE("%s of %u", rte_message_name(list->type), count);
			fill(list, count);
			len = any_pack(&a, bytes, sizeof(bytes));
			CT_ASSERT_GT(len, 0);
			CT_ASSERT_EQ(any_parse(&b, ct_fence_copy(bytes, (size_t)len),
					       (size_t)len),
				     RTE_OK);
			CT_EXPECT_EQ(b.packet.head.plen, count * list->entry_len);
			CT_EXPECT_EQ(any_kind(list->type)->differ(&a, &b), NULL);
		}
	}
}

CT_TEST(wire_list, beyond_its_bound_is_not_packed)
{
	static const uint32_t more[] = {0, 0x7fffffff, UINT32_MAX - 1, UINT32_MAX};

	for (size_t i = 0; i < CRN_COUNT(lists); i++)
		for (size_t k = 0; k < CRN_COUNT(more); k++) {
			fill(&lists[i], more[k] ? more[k] : lists[i].max + 1);
			CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
		}
}

/* Whatever the count says, plen is what there is. */
CT_TEST(wire_list, says_how_long_it_is_twice)
{
	const struct list *list;
	uint32_t count;
	ssize_t len;

	for (size_t i = 0; i < CRN_COUNT(lists); i++) {
		list = &lists[i];
		const struct {
			uint32_t count;
			enum rte_bad want;
		} rows[] = {
			{0, RTE_BAD_PLEN},
			{1, RTE_BAD_PLEN},
			{3, RTE_BAD_PLEN},
			{list->max, RTE_BAD_PLEN},
			{list->max + 1, RTE_BAD_LIMIT},
			{0x80000002, RTE_BAD_LIMIT}, /* times 32: the right length */
			{0x10000002, RTE_BAD_LIMIT},
			{UINT32_MAX, RTE_BAD_LIMIT},
			{2, RTE_OK},
		};

		fill(list, 2);
		len = any_pack(&a, bytes, sizeof(bytes));
		CT_ASSERT_GT(len, 0);
		for (size_t k = 0; k < CRN_COUNT(rows); k++) {
			count = rows[k].count;
			bytes[list->count_at] = (uint8_t)count;
			bytes[list->count_at + 1] = (uint8_t)(count >> 8);
			bytes[list->count_at + 2] = (uint8_t)(count >> 16);
			bytes[list->count_at + 3] = (uint8_t)(count >> 24);
			CT_NOTE("%s that says %u", rte_message_name(list->type), count);
			CT_EXPECT_EQ(any_parse(&b, ct_fence_copy(bytes, (size_t)len),
					       (size_t)len),
				     rows[k].want);
		}
	}
}

static enum rte_bad round_trip(void)
{
	const ssize_t len = any_pack(&a, bytes, sizeof(bytes));

	return len < 0 ? RTE_BADS : any_parse(&b, bytes, (size_t)len);
}

CT_TEST(wire_list, of_keys_is_in_ascending_order)
{
	struct rte_lsa_key *key = a.body.lsa_keys.key;

	for (size_t i = 0; i < 2; i++) {
		fill(&lists[i], 2);
		key[0].as = 1;
		CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
		key[1].as = 1;
		CT_EXPECT_EQ(round_trip(), RTE_OK);
		key[1].router = key[0].router;
		CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
		key[1] = (struct rte_lsa_key){.as = 2, .router = 1};
		CT_EXPECT_EQ(round_trip(), RTE_OK);
		bytes[32 + 32] = 1; /* the second one's AS */
		CT_EXPECT_EQ(any_parse(&b, bytes, 96), RTE_BAD_ORDER);
		bytes[32 + 32] = 2;
		bytes[32] = 2;
		CT_EXPECT_EQ(any_parse(&b, bytes, 96), RTE_BAD_ORDER);

		fill(&lists[i], 3);
		CT_EXPECT_EQ(round_trip(), RTE_OK);
		memcpy(bytes + 32 + 64, bytes + 32 + 32, 32); /* the same twice */
		CT_EXPECT_EQ(any_parse(&b, bytes, 128), RTE_BAD_ORDER);
	}
}

CT_TEST(wire_list, reach_is_of_an_as_and_a_router)
{
	static const uint8_t at[] = {24, 32};

	for (size_t i = 0; i < CRN_COUNT(at); i++) {
		fill(&lists[2], 1);
		CT_ASSERT_EQ(round_trip(), RTE_OK);
		bytes[at[i]] = 0;
		CT_NOTE("byte %u", at[i]);
		CT_EXPECT_EQ(any_parse(&b, bytes, 80), RTE_BAD_VALUE);
	}
	a.body.reach.as = RTE_AS_WAN;
	CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
	a.body.reach.as = 3;
	a.body.reach.router = 0;
	CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
}

CT_TEST(wire_list, slots_are_within_their_bounds)
{
	static const struct {
		struct rte_grant_slot slot;
		bool right;
		enum rte_bad want;
	} rows[] = {
		{{0, 0, 0, 1}, true, RTE_OK},
		{{0, 0, 0, 0}, false, RTE_BAD_LIMIT},
		{{0, 0, 0, RTE_FRAG_MAX}, true, RTE_OK},
		{{0, 0, 0, RTE_FRAG_MAX + 1}, false, RTE_BAD_LIMIT},
		{{0, 0, 0, UINT32_MAX}, false, RTE_BAD_LIMIT},
		{{0, 0, RTE_SLOTS_MAX - 1, 1}, true, RTE_OK},
		{{0, 0, RTE_SLOTS_MAX, 1}, false, RTE_BAD_LIMIT},
		{{0, 0, RTE_SLOT_NONE, 1}, false, RTE_BAD_LIMIT},
		{{UINT64_MAX - 4096, 0, 0, 4096}, true, RTE_OK},
		{{UINT64_MAX - 4095, 0, 0, 4096}, false, RTE_BAD_RANGE},
		{{UINT64_MAX, UINT64_MAX, 0, 1}, false, RTE_BAD_RANGE},
	};
	const struct rte_grant_slot *slot;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		slot = &rows[i].slot;
		fill(&lists[3], 2);
		CT_ASSERT_EQ(round_trip(), RTE_OK);
		const uint8_t second[] = {U64(slot->addr), U64(slot->key), U32(slot->id),
					  U32(slot->len)};

		memcpy(bytes + 56, second, sizeof(second));
		CT_EXPECT_EQ(any_parse(&b, bytes, 80), rows[i].want);
		a.body.grant.slot[1] = *slot;
		CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)),
			     rows[i].right ? 80 : -FI_EINVAL);
	}
	fill(&lists[3], 1);
	a.body.grant.lane = RTE_RESPONSES;
	CT_EXPECT_EQ(round_trip(), RTE_OK);
	bytes[28] = RTE_LANES;
	CT_EXPECT_EQ(any_parse(&b, bytes, 56), RTE_BAD_VALUE);
	a.body.grant.lane = RTE_LANES;
	CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
}
