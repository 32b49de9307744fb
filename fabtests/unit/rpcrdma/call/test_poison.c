/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 8166 section 4.5.3: a Call whose chunk could not be read is answered with ERR_CHUNK
 * when it comes again on another connection of that host, and is not read.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include "ends.h"

#define XID 7

static struct ends e;

/* The client has that address. */
static void connect_from(const char *host)
{
	struct sockaddr_in *addr = e.info->src_addr;
	struct fi_info *request;

	addr->sin_addr.s_addr = inet_addr(host);
	request = ends_request(&e);
	CT_EXPECT_EQ(ends_accept(&e, request), 0);
	fi_freeinfo(request);
	ends_connected(&e);
	ends_recv(&e.server, 0);
	ends_recv(&e.client, 0);
}

static void disconnect(void)
{
	CT_EXPECT_EQ(fi_close(&e.client.ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&e.server.ep->fid), 0);
	e.client.ep = NULL;
	e.server.ep = NULL;
}

/* A Long Call (RFC 5531 section 9), up to the server's RDMA Read, if there is one. */
static void call(void)
{
	ends_rpc(&e.client, XID, false);
	CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, ENDS_LONG, NULL, 0, NULL), 0);
	ends_hold(&e.server);
}

/* Its answer. */
static void expect_err_chunk(void)
{
	scr_let_all_go();
	pair_nothing(e.server.cq);
	pair_done(e.client.cq, NULL, FI_SEND | FI_MSG);
	pair_failed(e.client.cq, e.client.got[0], FI_EREMOTEIO);
	disconnect();
	pair_failed(e.server.cq, e.server.got[0], FI_ECANCELED);
}

CT_TEST(rpcrdma_poison, a_call_that_could_not_be_read_is_not_read_again_from_its_host)
{
	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	connect_from("127.0.0.1");
	call();
	CT_EXPECT_TRUE(scr_fail_held(0, FI_EIO, 0, NULL, 0));
	expect_err_chunk();
	CT_EXPECT_EQ(scr_count(SCR_READ), 1);

	connect_from("127.0.0.2");
	call();
	scr_let_all_go();
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(scr_count(SCR_READ), 2);
	pair_done(e.client.cq, NULL, FI_SEND | FI_MSG);
	disconnect();
	pair_failed(e.client.cq, e.client.got[0], FI_ECANCELED);

	connect_from("127.0.0.1");
	call();
	expect_err_chunk();
	CT_EXPECT_EQ(scr_count(SCR_READ), 2);
	ends_close(&e);
}
