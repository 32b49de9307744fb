/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections from end to end, and memory regions of a target. */
#include <cairn/compat.h>
#include "golden.h"

/* clang-format off */
static const uint8_t conn_req_bytes[] = {
	HEAD(0x20, 0, 192, 5),
	ID,
	/* 40 */ 0x03, 0, 0, 0x01, 0x02, 0, 0, 0x02, 5, 2, 0, 10, 0x59, 0x1b, 1, 0,
	/* 56 */ 0x04, 0, 0, 0x03, 0x7e, 0, 0, 0x04, 9, 0, 0, 240, 0x5a, 0x1b, 2, 0,
	/* 72 */ 16, 0, 0, 0,
	/* 76 */ 0x00, 0x00, 0x10, 0x00, 0x00, 0x10, 0, 0, 0x88, 0x13, 0, 0,
	/* 88 */ 0x07, 0, 0, 0, 0, 0, 0, 0x40,
	/* 96 */ 0x00, 0xe4, 0x0b, 0x54, 0x02, 0, 0, 0,
	/* 104 */ 0x34, 0x33, 0x32, 0x31, ZERO4,
	/* 112: PATH, 32 bytes */
	0x02, 0x80, 32, 0,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x03, 0, 0, 0, 0x08, 0, 0, 0,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x00, 0, 0, 0, 0x04, 0x01, 0, 0,
	ZERO4,
	/* 152: SOURCE, 16 bytes: fills 24 */
	0x06, 0x80, 16, 0, '2', '0', '0', '1', ':', 'd', 'b', '8', ':', '1', ':', ':', '2',
	':', '3', 0, ZERO4,
	/* 176: TARGET, 12 bytes */
	0x07, 0x80, 12, 0, 'f', 'e', '8', '0', ':', ':', '1', '%', 'i', 'b', '0', 0,
	/* 192 */ 'h', 'e', 'l', 'l', 'o',
};

static const uint8_t conn_rep_bytes[] = {
	HEAD(0x21, 0, 112, 3),
	ID,
	ZERO4, 1, 0, 0, 0,
	/* 48 */ 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	/* 56 */ 0x03, 0, 0, 0, 0, 0, 0, 0x20,
	/* 64 */ 0x00, 0xca, 0x9a, 0x3b, 0, 0, 0, 0,
	/* 72 */ 0xa0, 0x86, 0x01, 0, 0x00, 0x00, 0x04, 0x00, 0x01, 0x20, 0, 0, ZERO4,
	/* 88: PATH, one hop */
	0x02, 0x80, 16, 0,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x05, 0, 0, 0, 0x06, 0, 0, 0, ZERO4,
	'y', 'e', 's',
};

static const uint8_t conn_rep_redirect_bytes[] = {
	HEAD(0x21, 0x10, 104, 0),
	ID,
	/* FI_EHOSTUNREACH */ 113, 0, 0, 0, 4, 0, 0, 0,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	ZERO4, ZERO4, ZERO4, ZERO4,
	/* 88: URI, 11 bytes */
	0x03, 0x80, 11, 0, 't', 'c', 'p', ':', '/', '/', 'r', '3', ':', '7', 0, 0,
};

static const uint8_t conn_rep_probe_bytes[] = {
	HEAD(0x21, 0x10, 112, 0),
	ID,
	/* ETIME */ 62, 0, 0, 0, 3, 0, 0, 0,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0x10, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	ZERO4, ZERO4, ZERO4, ZERO4,
	/* 88: PROBE, 16 bytes */
	0x08, 0x00, 16, 0,
	0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06, 0x05,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, ZERO4,
};

static const uint8_t conn_ack_bytes[] = {
	HEAD(0x22, 0x10, 48, 0),
	ID,
	/* FI_ECANCELED */ 125, 0, 0, 0, ZERO4,
};

static const uint8_t shutdown_bytes[] = {
	HEAD(0x23, 0, 56, 0),
	ID,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	ZERO4, ZERO4,
};

static const uint8_t mr_resolve_bytes[] = {
	HEAD(0x37, 0, 32, 0),
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
};

static const uint8_t mr_info_bytes[] = {
	HEAD(0x38, 0, 88, 0),
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
	0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
	0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
	0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51,
	0x03, 0, 0, 0, 2, 0, 0, 0,
	ZERO4, ZERO4,
};

static const uint8_t mr_inval_bytes[] = {
	HEAD(0x39, 0x04, 40, 0),
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
};
/* clang-format on */

static void fill_id(uint8_t *id)
{
	for (uint8_t i = 0; i < RTE_CONN_ID_LEN; i++)
		id[i] = 0xf0 + i;
}

static void fill_conn_req(struct any *any)
{
	struct rte_options *options = &any->packet.options;
	struct rte_conn_req *req = &any->body.conn_req;

	*req = (struct rte_conn_req){
		.source = {0x01000003, 0x02000002, 0x0a000205, 7001, 1},
		.target = {0x03000004, 0x0400007e, 0xf0000009, 7002, 2},
		.ttl = 16,
		.frag = 1048576,
		.eager = 4096,
		.timeout = 5000,
		.features = 0x4000000000000007,
		.rate = 10000000000,
		.latency = 0x31323334};
	fill_id(req->id);
	options->present = 1 << RTE_TLV_PATH | 1 << RTE_TLV_SOURCE | 1 << RTE_TLV_TARGET;
	options->hops = 2;
	options->hop[0] = (struct rte_hop){0x1112131415161718, 3, 8};
	options->hop[1] = (struct rte_hop){0x2122232425262728, RTE_AS_WAN, 260};
	options->text[RTE_TLV_SOURCE] = "2001:db8:1::2:3";
	options->text[RTE_TLV_TARGET] = "fe80::1%ib0";
	any->packet.payload = (const uint8_t *)"hello";
}

static void fill_conn_rep(struct any *any)
{
	struct rte_conn_rep *rep = &any->body.conn_rep;

	*rep = (struct rte_conn_rep){.verdict = RTE_ACCEPTED,
				     .router = 0x1112131415161718,
				     .features = 0x2000000000000003,
				     .rate = 1000000000,
				     .latency = 100000,
				     .frag = 262144,
				     .eager = 8193};
	fill_id(rep->id);
	any->packet.options.present = 1 << RTE_TLV_PATH;
	any->packet.options.hops = 1;
	any->packet.options.hop[0] = (struct rte_hop){0x2122232425262728, 5, 6};
	any->packet.payload = (const uint8_t *)"yes";
}

static void fill_conn_rep_redirect(struct any *any)
{
	struct rte_conn_rep *rep = &any->body.conn_rep;

	*rep = (struct rte_conn_rep){.status = 113,
				     .verdict = RTE_REDIRECT,
				     .router = 0x1112131415161718};
	fill_id(rep->id);
	any->packet.options.present = 1 << RTE_TLV_URI;
	any->packet.options.text[RTE_TLV_URI] = "tcp://r3:7";
}

static void fill_conn_rep_probe(struct any *any)
{
	struct rte_conn_rep *rep = &any->body.conn_rep;

	*rep = (struct rte_conn_rep){.status = 62,
				     .verdict = RTE_FAILED,
				     .router = 0x1112131415161718,
				     .features = RTE_FEATURE_PROBE};
	fill_id(rep->id);
	any->packet.options.present = 1 << RTE_TLV_PROBE;
	any->packet.options.probe =
		(struct rte_probe){0x01020304, 0x05060708, 0x2122232425262728};
}

static void fill_conn_ack(struct any *any)
{
	any->body.conn_ack.status = 125;
	fill_id(any->body.conn_ack.id);
}

static void fill_shutdown(struct any *any)
{
	any->body.shutdown.router = 0x1112131415161718;
	fill_id(any->body.shutdown.id);
}

static void fill_mr_resolve(struct any *any)
{
	any->body.mr_resolve.key = 0x1112131415161718;
}

static void fill_mr_info(struct any *any)
{
	any->body.mr_info =
		(struct rte_mr_info){.request = 0x0102030405060708,
				     .key = 0x1112131415161718,
				     .lower_key = 0x2122232425262728,
				     .base = 0x3132333435363738,
				     .length = 0x4142434445464748,
				     .epoch = 0x5152535455565758,
				     .access = RTE_ACCESS_READ | RTE_ACCESS_WRITE,
				     .persist = RTE_PERSIST_DECLARED};
}

static void fill_mr_inval(struct any *any)
{
	any->body.mr_inval =
		(struct rte_mr_inval){0x1112131415161718, 0x2122232425262728};
}

const struct golden golden_conn[] = {
	GOLDEN(conn_req, 0, 5),
	GOLDEN(conn_rep, 0, 3),
	GOLDEN(conn_rep_redirect, RTE_ERR, 0),
	GOLDEN(conn_rep_probe, RTE_ERR, 0),
	GOLDEN(conn_ack, RTE_ERR, 0),
	GOLDEN(shutdown, 0, 0),
	GOLDEN(mr_resolve, 0, 0),
	GOLDEN(mr_info, 0, 0),
	GOLDEN(mr_inval, RTE_ACKREQ, 0),
};

const size_t golden_conn_count = CRN_COUNT(golden_conn);
