/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link-state databases that hear the same in another order know the same in the end,
 * whether or not it was on the wire in between; and forget all of it.
 *
 * The input is a list of LSAs: AS, router, epoch, seq, flags, load, number of links, a
 * byte each; of a link subnet, scope_as, rate, caps, number of neighbours, URI, and the
 * neighbours.
 */
#include <string.h>
#include "fuzz.h"
#include "wire/wire.h"

#define LSAS 64u
#define LINKS 4u
#define NEIGHBOURS 4u
#define NOW 1000u
#define BYTES 1024 /* of an LSA of these */

struct said {
	struct rte_lsa lsa;
	struct rte_link link[LINKS];
	uint64_t neighbour[LINKS][NEIGHBOURS];
};

struct input {
	const uint8_t *at;
	size_t left;
};

/* 0 at the end. */
static uint8_t next(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static void take_link(struct input *in, struct rte_link *link, uint64_t *neighbour)
{
	static const char *const uris[] = {"", "tcp://192.0.2.1:7001", "gni://10.1.5:1",
					   "x"};

	*link = (struct rte_link){.subnet = next(in) % 8,
				  .scope_as = next(in) % 4,
				  .rate = next(in),
				  .caps = next(in),
				  .neighbours = next(in) % (NEIGHBOURS + 1),
				  .uri = uris[next(in) % 4],
				  .neighbour = neighbour};
	link->up = link->rate & 1;
	for (uint16_t i = 0; i < link->neighbours; i++)
		neighbour[i] = next(in);
}

static void take(struct input *in, struct said *said)
{
	said->lsa = (struct rte_lsa){.as = next(in) % 4,
				     .router = next(in) % 8,
				     .epoch = next(in) % 4,
				     .seq = next(in) % 4,
				     .flags = next(in) % 8,
				     .load = next(in) % 4,
				     .links = next(in) % (LINKS + 1),
				     .lifetime = 1000,
				     .link = said->link};
	for (uint32_t i = 0; i < said->lsa.links; i++)
		take_link(in, &said->link[i], said->neighbour[i]);
}

static ssize_t pack(const struct rte_lsa *lsa, uint8_t bytes[BYTES])
{
	const struct rte_packet to = {
		.head = {.type = RTE_LSA, .flags = RTE_FIRST | RTE_LAST}};

	return rte_lsa_pack(&to, lsa, bytes, BYTES);
}

/* As its neighbour gets it. */
static int put_through_wire(struct rte_lsdb *db, const struct rte_lsa *lsa)
{
	static struct rte_lsa_room room;
	struct rte_lsa_piece piece;
	struct rte_packet packet;
	uint8_t bytes[BYTES];
	const ssize_t len = pack(lsa, bytes);

	if (len < 0) {
		/* Those that no router has. */
		FUZZ_CHECK(lsa->as == RTE_AS_WAN || !lsa->router);
		return (int)len;
	}
	FUZZ_CHECK(rte_packet_parse(&packet, bytes, (size_t)len) == RTE_OK);
	FUZZ_CHECK(rte_lsa_piece_parse(&piece, &packet) == RTE_OK);
	FUZZ_CHECK(rte_lsa_parse(&room, &piece, packet.payload, packet.head.plen) ==
		   RTE_OK);
	FUZZ_CHECK(!rte_lsa_compare(&room.lsa, lsa));
	return rte_lsdb_put(db, &room.lsa, NOW);
}

/* Another order, for which the bytes themselves are the chance. */
static void shuffle(const uint8_t *data, size_t size, uint32_t *order, uint32_t count)
{
	uint64_t state = 1;
	uint32_t k, swap;

	for (size_t at = 0; at < size; at++)
		state = (state ^ data[at]) * 0x100000001b3;
	for (uint32_t i = count; i-- > 1;) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		k = (uint32_t)((state >> 33) % (i + 1));
		swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
}

/* Byte for byte, for rte_lsa_compare itself may be what is wrong. */
static void check_equal(const struct rte_lsa *a, const struct rte_lsa *b)
{
	uint8_t one[BYTES], other[BYTES];
	const ssize_t len = pack(a, one);

	FUZZ_CHECK(len > 0 && pack(b, other) == len);
	FUZZ_CHECK(!memcmp(one, other, (size_t)len));
}

static void check_same(struct rte_lsdb *a, struct rte_lsdb *b)
{
	const struct rte_lsa *one, *other;
	uint64_t router = 0, sum = 0;
	uint32_t as = 0;

	FUZZ_CHECK(rte_lsdb_count(a) == rte_lsdb_count(b));
	FUZZ_CHECK(rte_lsdb_hash(a) == rte_lsdb_hash(b));
	while ((one = rte_lsdb_next(a, as, router, NOW))) {
		other = rte_lsdb_next(b, as, router, NOW);
		FUZZ_CHECK(other && one->as == other->as && one->router == other->router);
		check_equal(one, other);
		FUZZ_CHECK(one->as > as || (one->as == as && one->router > router));
		as = one->as;
		router = one->router;
		sum++;
	}
	FUZZ_CHECK(!rte_lsdb_next(b, as, router, NOW));
	FUZZ_CHECK(sum == rte_lsdb_count(a));
}

static void forget(struct rte_lsdb *db)
{
	uint64_t router;
	uint32_t as;

	FUZZ_CHECK(!rte_lsdb_age(db, NOW + 999, &as, &router));
	while (rte_lsdb_age(db, NOW + 1000, &as, &router))
		;
	FUZZ_CHECK(!rte_lsdb_count(db));
	rte_lsdb_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct said said[LSAS];
	struct input in = {data, size};
	struct rte_lsdb *a = rte_lsdb_open(), *b = rte_lsdb_open();
	uint32_t order[LSAS], count = 0, i;

	FUZZ_CHECK(a && b);
	for (; in.left && count < LSAS; count++) {
		take(&in, &said[count]);
		order[count] = count;
	}
	shuffle(data, size, order, count);
	for (i = 0; i < count; i++) {
		rte_lsdb_put(a, &said[i].lsa, NOW);
		put_through_wire(b, &said[order[i]].lsa);
	}
	check_same(a, b);
	forget(a);
	forget(b);
	return 0;
}
