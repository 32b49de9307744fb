/* SPDX-License-Identifier: BSD-2-Clause */
/* Every message, against bytes that were written by hand. */
#include <rdma/fi_errno.h>
#include "golden.h"

static struct any a, b;

static const uint8_t *fenced(const struct golden *golden)
{
	return ct_fence_copy(golden->bytes, golden->len);
}

CT_TEST(wire_golden, there_is_one_of_each_type)
{
	size_t k;

	for (size_t i = 0; i < any_kind_count; i++) {
		CT_NOTE("%s", rte_message_name(any_kinds[i].type));
		for (k = 0; k < golden_count(); k++)
			if (golden_at(k)->bytes[2] == any_kinds[i].type)
				break;
		CT_EXPECT_LT(k, golden_count());
	}
}

CT_TEST(wire_golden, bytes_mean_what_the_table_says)
{
	const struct golden *golden;
	const char *field;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		memset(&a, 0xa5, sizeof(a));
		golden_fill(golden, &b);
		CT_NOTE("%s", golden->name);
		CT_ASSERT_EQ(any_parse(&a, fenced(golden), golden->len), RTE_OK);
		field = any_differ(&a, &b);
		CT_EXPECT_STREQ(field ? field : "", "");
	}
}

CT_TEST(wire_golden, what_is_meant_is_packed_as_the_table_says)
{
	const struct golden *golden;
	uint8_t *room;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		golden_fill(golden, &a);
		a.packet.head.hlen = 12345;
		room = ct_fence_room(golden->len);
		memset(room, 0xa5, golden->len);
		CT_NOTE("%s", golden->name);
		CT_ASSERT_EQ(any_pack_all(&a, room, golden->len), golden->len);
		CT_EXPECT_MEMEQ(room, golden->bytes, golden->len);
	}
}

/* It is behind the message, or in a slot. */
CT_TEST(wire_golden, the_payload_of_data_is_not_packed)
{
	const struct golden *golden;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		golden_fill(golden, &a);
		CT_NOTE("%s", golden->name);
		CT_EXPECT_EQ(any_pack(&a, ct_fence_room(golden->len), golden->len),
			     golden->bytes[2] == RTE_MSG ? a.packet.head.hlen
							 : golden->len);
	}
}

CT_TEST(wire_golden, what_does_not_fit_is_not_packed)
{
	const struct golden *golden;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		golden_fill(golden, &a);
		for (size_t size = 0; size < golden->len; size++) {
			CT_NOTE("%s, %zu bytes", golden->name, size);
			CT_EXPECT_EQ(any_pack_all(&a, ct_fence_room(size), size),
				     -FI_ETOOSMALL);
		}
	}
}

CT_TEST(wire_golden, a_message_may_end_nowhere_early)
{
	const struct golden *golden;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		for (size_t len = 0; len < golden->len; len++) {
			CT_NOTE("%s, %zu bytes", golden->name, len);
			CT_EXPECT_EQ(any_parse(&a, ct_fence_copy(golden->bytes, len),
					       len),
				     RTE_BAD_SHORT);
		}
	}
}

CT_TEST(wire_golden, nothing_follows_a_message)
{
	static uint8_t bytes[512];
	const struct golden *golden;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		CT_ASSERT_LT(golden->len, sizeof(bytes));
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, golden->bytes, golden->len);
		CT_NOTE("%s", golden->name);
		CT_EXPECT_EQ(any_parse(&a, bytes, golden->len + 1), RTE_BAD_PLEN);
		CT_EXPECT_EQ(any_parse(&a, bytes, sizeof(bytes)), RTE_BAD_PLEN);
	}
}

/* Any one bit: nothing outside the bytes is read, and what is understood can be said. */
CT_TEST(wire_golden, no_flipped_bit_does_harm)
{
	static uint8_t bytes[512], out[512];
	const struct golden *golden;
	unsigned int accepted = 0, refused = 0;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		for (size_t bit = 0; bit < golden->len * 8; bit++) {
			memcpy(bytes, golden->bytes, golden->len);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			CT_NOTE("%s, bit %zu", golden->name, bit);
			if (any_parse(&a, ct_fence_copy(bytes, golden->len),
				      golden->len) != RTE_OK) {
				refused++;
				continue;
			}
			accepted++;
			CT_EXPECT_GT(any_pack(&a, out, sizeof(out)), 0);
		}
	}
	CT_EXPECT_GT(accepted, 1000);
	CT_EXPECT_GT(refused, 1000);
}

/* What the codec's lists of fields say of themselves. */
CT_TEST(wire_golden, fields_cover_every_byte_once)
{
	const struct any_kind *kind;
	const struct any_field *field;
	size_t k, at;

	for (size_t i = 0; i < any_kind_count; i++) {
		kind = &any_kinds[i];
		for (k = 0, at = RTE_HEAD_LEN; k < kind->count; k++) {
			field = &kind->fields[k];
			CT_NOTE("%s, %s", rte_message_name(kind->type), field->name);
			CT_EXPECT_EQ(field->at, at);
			CT_EXPECT_EQ(field->at % (field->size > 8 ? 8 : field->size), 0);
			at += field->size;
		}
		CT_EXPECT_EQ(at % 8, 0);
		for (k = 0, at = 0; k < kind->entry_count; k++) {
			field = &kind->entry[k];
			CT_NOTE("%s, %s", rte_message_name(kind->type), field->name);
			CT_EXPECT_EQ(field->at, at);
			CT_EXPECT_EQ(field->at % field->size, 0);
			at += field->size;
		}
		CT_EXPECT_EQ(at, kind->entry_len);
		CT_EXPECT_EQ(at % 8, 0);
	}
}

static bool reserved(const struct any_field *fields, size_t count, size_t at)
{
	for (size_t i = 0; i < count; i++)
		if (at >= fields[i].at && at - fields[i].at < fields[i].size)
			return !*fields[i].name;
	return false;
}

CT_TEST(wire_golden, reserved_bytes_are_ignored)
{
	static uint8_t bytes[512];
	const struct golden *golden;
	const struct any_kind *kind;
	const char *field;
	size_t set;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		kind = any_kind(golden->bytes[2]);
		memcpy(bytes, golden->bytes, golden->len);
		for (size_t at = set = 0; at < golden->len; at++) {
			if (!reserved(kind->fields, kind->count, at) &&
			    !(kind->entry && at >= golden->len - golden->plen &&
			      reserved(kind->entry, kind->entry_count,
				       (at - (golden->len - golden->plen)) %
					       kind->entry_len)))
				continue;
			CT_EXPECT_EQ(bytes[at], 0);
			bytes[at] = 0xff;
			set++;
		}
		CT_NOTE("%s: %zu reserved bytes", golden->name, set);
		CT_ASSERT_EQ(any_parse(&a, bytes, golden->len), RTE_OK);
		golden_fill(golden, &b);
		field = any_differ(&a, &b);
		CT_EXPECT_STREQ(field ? field : "", "");
	}
}

CT_TEST(wire_golden, flags_that_a_type_does_not_have_are_ignored)
{
	/* By hand, as the comments of wire.h say. */
	static const uint8_t have[RTE_TYPES] = {
		[RTE_HELLO_ACK] = RTE_ERR,
		[RTE_DIGEST] = RTE_LAST,
		[RTE_LSA] = 3,
		[RTE_BYE] = RTE_ERR,
		[RTE_CONN_REP] = RTE_ERR,
		[RTE_CONN_ACK] = RTE_ERR,
		[RTE_SHUTDOWN] = RTE_ERR | RTE_LAST,
		[RTE_MSG] = 0xff & ~RTE_ERR,
		[RTE_WRITE] = 0xff & ~0x10,
		[RTE_READ_FRAG] = 0x23,
		[RTE_NACK] = RTE_ERR,
		[RTE_MR_INFO] = RTE_ERR,
		[RTE_MR_INVAL] = 4,
		[RTE_KEEPALIVE] = 4,
	};
	static uint8_t bytes[512];
	const struct golden *golden;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		memcpy(bytes, golden->bytes, golden->len);
		bytes[3] |= (uint8_t)~have[bytes[2]];
		CT_NOTE("%s", golden->name);
		CT_EXPECT_EQ(any_parse(&a, bytes, golden->len), RTE_OK);
		CT_EXPECT_EQ(a.packet.head.flags, golden->flags);
		/* And not sent. */
		golden_fill(golden, &a);
		a.packet.head.flags |= (uint8_t)~have[bytes[2]];
		CT_EXPECT_EQ(any_pack(&a, bytes, sizeof(bytes)), -FI_EINVAL);
	}
}

CT_TEST(wire_golden, a_message_is_parsed_as_its_own_type_only)
{
	const struct any_kind *kind;

	for (size_t i = 0; i < golden_count(); i++) {
		golden_fill(golden_at(i), &a);
		CT_ASSERT_EQ(rte_packet_parse(&a.packet, golden_at(i)->bytes,
					      golden_at(i)->len),
			     RTE_OK);
		for (size_t k = 0; k < any_kind_count; k++) {
			kind = &any_kinds[k];
			if (kind->parse == any_kind(a.packet.head.type)->parse)
				continue;
			CT_NOTE("%s as %s", golden_at(i)->name,
				rte_message_name(kind->type));
			CT_EXPECT_EQ(kind->parse(&a), RTE_BAD_TYPE);
			CT_EXPECT_EQ(kind->pack(&a, ct_fence_room(1024), 1024),
				     -FI_EINVAL);
		}
	}
}
