/* SPDX-License-Identifier: BSD-2-Clause */
/* LSAs that are cut, and joined again. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "golden.h"

#define MESSAGE 80
#define WHOLE_MAX (MESSAGE + RTE_LSA_LIST_MAX)

static struct rte_lsa_room room;
static struct rte_packet packet;
static struct rte_lsa_piece piece;
static struct rte_join join;
static uint8_t whole[WHOLE_MAX], list[RTE_LSA_LIST_MAX];
static struct rte_link link[RTE_LINKS_MAX];
static uint64_t neighbour[RTE_NEIGHBOURS_MAX];

/* So many links of so many neighbours, packed whole: its length. */
static size_t pack(struct rte_lsa *lsa, uint32_t links, uint16_t neighbours)
{
	const struct rte_packet to = {.head = {.type = RTE_LSA,
					       .flags = RTE_FIRST | RTE_LAST,
					       .credit = {1, 2},
					       .vc = 3,
					       .seq = 4}};
	ssize_t len;

	for (uint32_t i = 0; i < CRN_COUNT(neighbour); i++)
		neighbour[i] = i + 100;
	for (uint32_t i = 0; i < links; i++)
		link[i] = (struct rte_link){.subnet = i,
					    .rate = 1,
					    .neighbours = neighbours,
					    .neighbour = neighbour,
					    .uri = "tcp://192.0.2.1:7001"};
	*lsa = (struct rte_lsa){.as = 3,
				.flags = RTE_LSA_DRAIN,
				.router = 7,
				.epoch = 8,
				.seq = 9,
				.lifetime = 10,
				.load = 11,
				.links = links,
				.link = link};
	len = rte_lsa_pack(&to, lsa, whole, sizeof(whole));
	CT_EXPECT_GT(len, 0);
	return len < 0 ? 0 : (size_t)len;
}

/* The next piece, through the parser. */
static enum rte_bad put(const uint8_t *bytes, size_t len)
{
	const enum rte_bad bad = rte_packet_parse(&packet, bytes, len);

	if (bad != RTE_OK || rte_lsa_piece_parse(&piece, &packet) != RTE_OK)
		return bad == RTE_OK ? RTE_BADS : bad;
	return rte_join_put(&join, &piece, &packet);
}

/* Cut into messages of at most size bytes, and joined: how many. */
static unsigned int through(size_t len, size_t size, enum rte_bad *last)
{
	unsigned int pieces = 0;
	size_t done = 0;
	uint8_t *at = ct_fence_room(size);
	ssize_t cut;

	*last = RTE_MORE;
	while ((cut = rte_lsa_cut(whole, len, &done, at, size)) > 0) {
		CT_EXPECT_EQ(*last, RTE_MORE);
		*last = put(at, (size_t)cut);
		pieces++;
	}
	CT_EXPECT_EQ(cut, 0);
	return pieces;
}

static void expect_all(size_t len, size_t size, const struct rte_lsa *lsa,
		       unsigned int pieces)
{
	enum rte_bad last;

	CT_NOTE("%zu bytes in messages of %zu", len, size);
	rte_join_init(&join, list, sizeof(list));
	CT_EXPECT_EQ(through(len, size, &last), pieces);
	CT_ASSERT_EQ(last, RTE_OK);
	CT_ASSERT_EQ(rte_lsa_parse(&room, &join.first, join.list, join.first.total),
		     RTE_OK);
	CT_EXPECT_EQ(rte_lsa_compare(&room.lsa, lsa), 0);
	CT_EXPECT_EQ(room.lsa.lifetime, lsa->lifetime);
}

CT_TEST(wire_join, any_lsa_survives_any_cut)
{
	struct rte_lsa lsa;
	size_t len = pack(&lsa, 5, 3), size, total = len - MESSAGE;

	for (size = MESSAGE + 8; size <= len + 16; size++)
		expect_all(len, size, &lsa,
			   (unsigned int)((total + ((size - MESSAGE) & ~7ul) - 1) /
					  ((size - MESSAGE) & ~7ul)));
	len = pack(&lsa, 0, 0);
	expect_all(len, MESSAGE, &lsa, 1);
	len = pack(&lsa, RTE_LINKS_MAX, RTE_NEIGHBOURS_MAX);
	expect_all(len, 8192, &lsa, 33);
	expect_all(len, MESSAGE + 16, &lsa, (unsigned int)(len - MESSAGE) / 16);
}

/* Header fields are those of the whole. */
CT_TEST(wire_join, pieces_say_what_they_are_of)
{
	struct rte_lsa lsa;
	const size_t len = pack(&lsa, 3, 0);
	uint8_t bytes[MESSAGE + 64];
	size_t done = 0;
	ssize_t cut;

	while ((cut = rte_lsa_cut(whole, len, &done, bytes, sizeof(bytes))) > 0) {
		CT_ASSERT_EQ(rte_packet_parse(&packet, bytes, (size_t)cut), RTE_OK);
		CT_ASSERT_EQ(rte_lsa_piece_parse(&piece, &packet), RTE_OK);
		CT_EXPECT_EQ(packet.head.credit[0], 1);
		CT_EXPECT_EQ(packet.head.credit[1], 2);
		CT_EXPECT_EQ(packet.head.vc, 3);
		CT_EXPECT_EQ(packet.head.seq, 4);
		CT_EXPECT_EQ(piece.as, 3);
		CT_EXPECT_EQ(piece.flags, RTE_LSA_DRAIN);
		CT_EXPECT_EQ(piece.router, 7);
		CT_EXPECT_EQ(piece.epoch, 8);
		CT_EXPECT_EQ(piece.seq, 9);
		CT_EXPECT_EQ(piece.lifetime, 10);
		CT_EXPECT_EQ(piece.load, 11);
		CT_EXPECT_EQ(piece.total, len - MESSAGE);
		CT_EXPECT_EQ(piece.links, 3);
	}
}

CT_TEST(wire_join, what_was_not_packed_is_not_cut)
{
	static uint8_t out[1024], cut_once[1024];
	struct rte_lsa lsa;
	const size_t len = pack(&lsa, 3, 0);
	size_t done = 0, size;
	ssize_t cut;

	CT_EXPECT_EQ(rte_lsa_cut(whole, len - 1, &done, out, sizeof(out)), -FI_EINVAL);
	CT_EXPECT_EQ(rte_lsa_cut(whole, 0, &done, out, sizeof(out)), -FI_EINVAL);
	for (size = 0; size < MESSAGE + 8; size++)
		CT_EXPECT_EQ(rte_lsa_cut(whole, len, &done, ct_fence_room(size), size),
			     -FI_ETOOSMALL);
	CT_EXPECT_EQ(done, 0);
	cut = rte_lsa_cut(whole, len, &done, cut_once, MESSAGE + 64);
	CT_ASSERT_EQ(cut, MESSAGE + 64);
	CT_EXPECT_EQ(done, MESSAGE + 64);
	done = 0;
	CT_EXPECT_EQ(rte_lsa_cut(cut_once, (size_t)cut, &done, out, sizeof(out)),
		     -FI_EINVAL);
}

/* Three pieces of 64 bytes. */
static uint8_t pieces[3][MESSAGE + 64];

static void cut_in_three(void)
{
	struct rte_lsa lsa;
	const size_t len = pack(&lsa, 3, 0);
	size_t done = 0, i;

	CT_EXPECT_EQ(len, MESSAGE + 192);
	for (i = 0; i < 3; i++)
		CT_EXPECT_EQ(rte_lsa_cut(whole, len, &done, pieces[i], sizeof(pieces[i])),
			     sizeof(pieces[i]));
	rte_join_init(&join, list, sizeof(list));
}

static enum rte_bad put_piece(size_t i)
{
	return put(pieces[i], sizeof(pieces[i]));
}

CT_TEST(wire_join, pieces_come_in_order)
{
	/* 3: the end */
	static const struct {
		uint8_t order[5];
		enum rte_bad want;
	} rows[] = {
		{{0, 1, 2, 3}, RTE_OK},		  {{0, 0, 1, 2, 3}, RTE_OK},
		{{0, 1, 0, 3}, RTE_MORE},	  {{1, 3}, RTE_BAD_PIECE},
		{{2, 3}, RTE_BAD_PIECE},	  {{0, 2, 3}, RTE_BAD_PIECE},
		{{0, 2, 1, 3}, RTE_BAD_PIECE},	  {{0, 1, 1, 3}, RTE_BAD_PIECE},
		{{0, 1, 1, 2, 3}, RTE_BAD_PIECE}, {{0, 1, 3}, RTE_MORE},
	};
	enum rte_bad last;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		cut_in_three();
		last = RTE_OK;
		for (size_t k = 0; k < 5 && rows[i].order[k] != 3; k++)
			last = put_piece(rows[i].order[k]);
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(last, rows[i].want);
	}
	/* After the last there is nothing to go on with. */
	cut_in_three();
	put_piece(0);
	put_piece(1);
	CT_EXPECT_EQ(put_piece(2), RTE_OK);
	CT_EXPECT_EQ(put_piece(2), RTE_BAD_PIECE);
	CT_EXPECT_EQ(put_piece(1), RTE_BAD_PIECE);
}

/* Any field of what they are pieces of, changed in the middle. */
CT_TEST(wire_join, pieces_of_different_lists_do_not_mix)
{
	static const uint8_t fields[] = {24, 28, 32, 40, 48, 56, 60, 64, 72};

	for (size_t i = 0; i < CRN_COUNT(fields); i++) {
		cut_in_three();
		CT_EXPECT_EQ(put_piece(0), RTE_MORE);
		pieces[1][fields[i]] ^= fields[i] == 64 ? 0x08 : 0x02;
		CT_NOTE("byte %u", fields[i]);
		CT_EXPECT_EQ(put_piece(1), RTE_BAD_PIECE);
		CT_EXPECT_EQ(put_piece(2), RTE_BAD_PIECE);
	}
}

CT_TEST(wire_join, a_list_fits_the_memory_or_is_refused)
{
	cut_in_three();
	rte_join_init(&join, ct_fence_room(192), 192);
	CT_EXPECT_EQ(put_piece(0), RTE_MORE);
	CT_EXPECT_EQ(put_piece(1), RTE_MORE);
	CT_EXPECT_EQ(put_piece(2), RTE_OK);
	rte_join_init(&join, ct_fence_room(191), 191);
	CT_EXPECT_EQ(put_piece(0), RTE_BAD_LIMIT);
	CT_EXPECT_EQ(put_piece(1), RTE_BAD_LIMIT);
	/* What there was is over. */
	rte_join_init(&join, list, sizeof(list));
	CT_EXPECT_EQ(put_piece(0), RTE_MORE);
	join.size = 191;
	CT_EXPECT_EQ(put_piece(1), RTE_BAD_LIMIT);
	join.size = sizeof(list);
	CT_EXPECT_EQ(put_piece(1), RTE_BAD_PIECE);
}
