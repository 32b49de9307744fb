/* SPDX-License-Identifier: BSD-2-Clause */
/* More connections than a client may have. */
#include <cairn/bytes.h>

#include "routed.h"

/* More than a router tells of its own are asked for at once. */
#define CROWD 40u

/* FI_ENOBUFS, and which router says so, for people as well. */
static int expect_full(struct routed *r, struct routed_conn *first, uint32_t count)
{
	struct routed_conn *conn;
	struct fct_event e;
	uint32_t i;

	for (i = 0; i < count; i++)
		FCT_DO(fct_conn_ask(&r->l, &first[i].c, NULL, 0));
	for (i = 0; i < count; i++) {
		FCT_DO(fct_eq_expect_err(r->l.eq, NULL, &e));
		conn = fct_routed_conn_of(r, e.err.fid);
		FCT_TRUE(conn >= first && conn < first + count);
		if (e.err.err != FI_ENOBUFS)
			FCT_FAIL("%u of %u too many: %d (%s), not FI_ENOBUFS", i + 1,
				 count, e.err.err, fi_strerror(e.err.err));
		FCT_TRUE(e.err.err_data_size > sizeof(uint64_t));
		FCT_EQ(crn_get_le64(e.err.err_data), fct_routed.quota_router);
		fct_note("%s", (const char *)e.err.err_data + sizeof(uint64_t));
		FCT_DO(fct_conn_close(&r->l, &conn->c));
	}
	return 0;
}

/* The router hears of a closed connection in its own time. */
static int connect_again(struct routed *r, struct routed_conn *conn)
{
	struct fct_event e;
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, "room for a connection in place of a closed one");
	for (;;) {
		FCT_DO(fct_conn_ask(&r->l, &conn->c, NULL, 0));
		ret = fct_eq_next(r->l.eq, &e, "an answer");
		if (ret != 1)
			break;
		FCT_EQ(e.err.err, FI_ENOBUFS);
		FCT_DO(fct_conn_close(&r->l, &conn->c));
		FCT_DO(fct_wait_again(&w));
	}
	FCT_CALL(ret);
	FCT_EQ(e.event, FI_CONNECTED);
	FCT_TRUE(e.cm.fid == &conn->c.ep->fid);
	return 0;
}

static int quota_client(struct routed *r, uint32_t quota)
{
	uint32_t i;

	FCT_DO(expect_full(r, &r->conn[quota], 1));
	FCT_DO(expect_full(r, &r->conn[quota], CROWD));
	FCT_DO(fct_barrier("refused"));
	FCT_DO(fct_conn_close(&r->l, &r->conn[0].c));
	FCT_DO(connect_again(r, &r->conn[0]));
	FCT_DO(fct_barrier("another one"));
	FCT_DO(expect_full(r, &r->conn[quota], 1));
	for (i = 0; i < quota; i++)
		FCT_CALL(fct_routed_send(r, &r->conn[i], r->local.buf, 64, i));
	return fct_routed_await(r, 0, "messages on all connections");
}

static int quota_server(struct routed *r, uint32_t quota)
{
	struct fct_event e;
	uint32_t i;

	FCT_DO(fct_barrier("refused"));
	FCT_DO(fct_eq_expect(r->l.eq, FI_SHUTDOWN, &r->conn[0].c.ep->fid, &e));
	FCT_DO(fct_conn_close(&r->l, &r->conn[0].c));
	FCT_DO(fct_conn_open(&r->l, &r->conn[0].c));
	FCT_DO(fct_conn_finish(&r->l, &r->conn[0].c));
	for (i = 0; i < quota; i++)
		FCT_CALL(fct_routed_recv(r, &r->conn[i], r->local.buf, 64, i));
	FCT_DO(fct_barrier("another one"));
	return fct_routed_await(r, 0, "messages on all connections");
}

FCT_CASE(quota, "one connection more than a client may have, and room again")
{
	const uint32_t quota = fct_routed.quota;
	const struct routed_size size = {.connections = quota + CROWD,
					 .ops = quota,
					 .tx = 8,
					 .rx = 8,
					 .local = 4096};
	FCT_AUTO(fct_routed_end) struct routed r = {0};
	uint32_t i;

	if (!quota)
		return fct_skip("--quota says what a client may have");
	FCT_DO(fct_routed_open(&r, &size));
	for (i = 0; i < quota; i++)
		FCT_DO(fct_conn_up(&r.l, &r.conn[i].c));
	return fct_is_client() ? quota_client(&r, quota) : quota_server(&r, quota);
}
