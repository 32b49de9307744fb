/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to pack and to parse messages of route, beside a copy of the same bytes.
 * The copy is a call of memcpy that the compiler knows nothing of, as the codec's
 * functions are; the messages of each batch lie one after the other in a buffer that
 * stays in the cache, so this is the processor's work alone.
 *
 * A line for each message and direction: "wire message=NAME do=pack|parse bytes=N ns=X
 * ns_low=X ns_high=X copy_ns=X ratio=X ratio_low=X ratio_high=X": medians of the rounds,
 * in which both take turns, and the interval in which the median is with 95 %.
 */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire/wire.h"

#define MOST_ROUNDS 1001
#define BATCH 16 /* messages, one after the other */
/* Bytes of one; no multiple of 4096, at whose distance a load waits for a store. */
#define ROOM 12224

static long rounds = 101, count = 2000;
static struct {
	uint8_t packed[BATCH][ROOM], out[BATCH][ROOM];
} mem;
static size_t len; /* of each */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static struct rte_packet packet;
static uint64_t sum; /* of what was parsed, so that it has to be */

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void need(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "fi_cairn_route_wire: %s\n", what);
	exit(1);
}

/* --- The messages --- */

/* A router of a few subnets, and one of many, each with many routers. */
#define LINKS 4
#define NEIGHBOURS 8
#define LINKS_MANY 16
#define NEIGHBOURS_MANY 64

static struct rte_link links[LINKS_MANY];
static uint64_t neighbours[NEIGHBOURS_MANY];
static struct rte_lsa lsa = {.as = 3,
			     .flags = RTE_LSA_BORDER,
			     .router = 7,
			     .epoch = 1,
			     .seq = 2,
			     .lifetime = 30000,
			     .load = 5,
			     .link = links};
static struct rte_lsa_room room;

static void lsa_of(uint32_t devices, uint16_t seen)
{
	uint32_t i;

	for (i = 0; i < seen; i++)
		neighbours[i] = 1000 + i;
	for (i = 0; i < devices; i++)
		links[i] = (struct rte_link){.subnet = i,
					     .scope_as = 3,
					     .rate = 10000000000,
					     .latency = 2000,
					     .frag_max = 262144,
					     .caps = RTE_CAP_RMA,
					     .up = true,
					     .neighbours = seen,
					     .neighbour = neighbours,
					     .uri = "tcp://192.0.2.117:7001"};
	lsa.links = devices;
	packet.head = (struct rte_head){.type = RTE_LSA, .flags = RTE_FIRST | RTE_LAST};
}

static void lsa_begin(void)
{
	lsa_of(LINKS, NEIGHBOURS);
}

static void lsa_begin_many(void)
{
	lsa_of(LINKS_MANY, NEIGHBOURS_MANY);
}

static ssize_t lsa_pack(void *buf)
{
	return rte_lsa_pack(&packet, &lsa, buf, ROOM);
}

static bool lsa_parse(const void *bytes)
{
	struct rte_lsa_piece piece;
	struct rte_packet in;

	if (rte_packet_parse(&in, bytes, len) != RTE_OK ||
	    rte_lsa_piece_parse(&piece, &in) != RTE_OK ||
	    rte_lsa_parse(&room, &piece, in.payload, in.head.plen) != RTE_OK)
		return false;
	sum += room.lsa.link[LINKS - 1].neighbour[NEIGHBOURS - 1];
	return true;
}

static struct rte_msg msg = {.slot = 5, .crc = 6, .length = 1 << 30, .offset = 1 << 20};

static void msg_begin(void)
{
	packet.head = (struct rte_head){.type = RTE_MSG,
					.flags = RTE_ACKREQ | RTE_CRC,
					.credit = {1, 2},
					.vc = 3,
					.plen = 262144,
					.seq = 4};
}

static ssize_t msg_pack(void *buf)
{
	return rte_msg_pack(&packet, &msg, buf, ROOM);
}

static bool msg_parse(const void *bytes)
{
	struct rte_packet in;
	struct rte_msg message;

	if (rte_packet_parse(&in, bytes, len) != RTE_OK ||
	    rte_msg_parse(&message, &in) != RTE_OK)
		return false;
	sum += message.offset;
	return true;
}

static struct rte_conn_req req = {.source = {3, 8, 0x0a000205, 7001, 1},
				  .target = {4, 1, 0x0a000309, 7002, 1},
				  .ttl = 16,
				  .frag = 262144,
				  .eager = 8192,
				  .timeout = 5000,
				  .features = RTE_FEATURE_RMA,
				  .rate = 10000000000};
static const uint8_t param[64] = "what the application has to say";

static void req_begin(void)
{
	packet.head = (struct rte_head){.type = RTE_CONN_REQ, .plen = sizeof(param)};
	packet.payload = param;
	packet.options.present = 1 << RTE_TLV_PATH | 1 << RTE_TLV_TARGET;
	packet.options.hops = 3;
	packet.options.text[RTE_TLV_TARGET] = "2001:db8:1::2:3";
}

static ssize_t req_pack(void *buf)
{
	return rte_conn_req_pack(&packet, &req, buf, ROOM);
}

static bool req_parse(const void *bytes)
{
	struct rte_packet in;
	struct rte_conn_req message;

	if (rte_packet_parse(&in, bytes, len) != RTE_OK ||
	    rte_conn_req_parse(&message, &in) != RTE_OK)
		return false;
	sum += message.timeout + in.options.hops;
	return true;
}

static const struct kind {
	const char *name;
	void (*begin)(void);
	ssize_t (*pack)(void *buf);
	bool (*parse)(const void *bytes);
} kinds[] = {
	{"msg", msg_begin, msg_pack, msg_parse},
	{"conn_req", req_begin, req_pack, req_parse},
	{"lsa", lsa_begin, lsa_pack, lsa_parse},
	{"lsa_many", lsa_begin_many, lsa_pack, lsa_parse},
};

/* --- Batches, each of which is so many messages --- */

static void pack_batch(const struct kind *kind)
{
	int i;

	for (i = 0; i < BATCH; i++)
		need(kind->pack(mem.out[i]) == (ssize_t)len, "a message was not packed");
}

static void parse_batch(const struct kind *kind)
{
	int i;

	for (i = 0; i < BATCH; i++)
		need(kind->parse(mem.packed[i]), "a message was not parsed");
}

static void copy_batch(const struct kind *kind)
{
	int i;

	(void)kind;
	for (i = 0; i < BATCH; i++)
		copy(mem.out[i], mem.packed[i], len);
}

/* ns of a message. */
static double time_batches(void (*batch)(const struct kind *kind),
			   const struct kind *kind)
{
	const double start = now_ns();
	long i;

	for (i = 0; i < count; i += BATCH)
		batch(kind);
	return (now_ns() - start) / (double)i;
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

struct figure {
	double median, low, high;
};

/* The order statistics between which the median is with 95 %. */
static struct figure figure_of(double *values)
{
	const long half = rounds / 2;
	const long away = (long)ceil(0.98 * sqrt((double)rounds));

	qsort(values, (size_t)rounds, sizeof(*values), ascending);
	return (struct figure){values[half], values[half > away ? half - away : 0],
			       values[half + away < rounds ? half + away : rounds - 1]};
}

static void measure(const struct kind *kind, const char *what,
		    void (*batch)(const struct kind *kind))
{
	static double ns[MOST_ROUNDS], copy_ns[MOST_ROUNDS], ratio[MOST_ROUNDS];
	struct figure own, other, both;
	long i;

	time_batches(batch, kind);
	time_batches(copy_batch, kind);
	for (i = 0; i < rounds; i++) {
		ns[i] = time_batches(batch, kind);
		copy_ns[i] = time_batches(copy_batch, kind);
		ratio[i] = ns[i] / copy_ns[i];
	}
	own = figure_of(ns);
	other = figure_of(copy_ns);
	both = figure_of(ratio);
	printf("wire message=%s do=%s bytes=%zu ns=%.2f ns_low=%.2f ns_high=%.2f "
	       "copy_ns=%.2f ratio=%.2f ratio_low=%.2f ratio_high=%.2f\n",
	       kind->name, what, len, own.median, own.low, own.high, other.median,
	       both.median, both.low, both.high);
}

static void run(const struct kind *kind)
{
	ssize_t ret;
	int i;

	memset(&packet, 0, sizeof(packet));
	kind->begin();
	for (i = 0; i < BATCH; i++) {
		ret = kind->pack(mem.packed[i]);
		need(ret > 0, "a message was not packed");
		len = (size_t)ret;
	}
	measure(kind, "pack", pack_batch);
	measure(kind, "parse", parse_batch);
}

static int usage(int status)
{
	fputs("Usage: fi_cairn_route_wire [-n COUNT] [-r ROUNDS]\n"
	      "Packing and parsing of route's messages, beside a copy of their bytes.\n"
	      "Defaults: 2000 messages in each of 101 rounds.\n",
	      status ? stderr : stdout);
	return status;
}

static long number(const char *text, long most)
{
	char *end;
	const long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, "fi_cairn_route_wire: %s is no number from 1 to %ld\n",
			text, most);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	int option;
	size_t i;

	while ((option = getopt(argc, argv, "n:r:h")) != -1) {
		switch (option) {
		case 'n':
			count = number(optarg, 1000000000);
			break;
		case 'r':
			rounds = number(optarg, MOST_ROUNDS);
			break;
		default:
			return usage(option == 'h' ? 0 : 2);
		}
	}
	if (optind != argc)
		return usage(2);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		run(&kinds[i]);
	return !sum;
}
