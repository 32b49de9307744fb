/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 8166 section 4.5.3: a Call whose chunk could not be read is answered with ERR_CHUNK
 * when it comes again on another connection of that host, and is not read.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include "call/call.h"
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

/* The device says that the peer's memory refused it. */
#define REM_ACCESS_ERR 10
#define RETRY_EXC_ERR 12

static void fail_read(int err, int prov_errno)
{
	CT_EXPECT_TRUE(scr_fail_held(0, err, prov_errno, NULL, 0));
}

static void expect_read(unsigned int reads)
{
	scr_let_all_go();
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(scr_count(SCR_READ), reads);
	pair_done(e.client.cq, NULL, FI_SEND | FI_MSG);
	disconnect();
	pair_failed(e.client.cq, e.client.got[0], FI_ECANCELED);
}

CT_TEST(rpcrdma_poison, a_call_that_could_not_be_read_is_not_read_again_from_its_host)
{
	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	connect_from("127.0.0.1");
	call();
	fail_read(FI_EIO, REM_ACCESS_ERR);
	expect_err_chunk();
	CT_EXPECT_EQ(scr_count(SCR_READ), 1);

	connect_from("127.0.0.2");
	call();
	expect_read(2);

	connect_from("127.0.0.1");
	call();
	expect_err_chunk();
	CT_EXPECT_EQ(scr_count(SCR_READ), 2);

	/* It has had its answer. */
	connect_from("127.0.0.1");
	call();
	expect_read(3);
	ends_close(&e);
}

/* pverbs and route have a code for it. */
CT_TEST(rpcrdma_poison, a_read_is_refused_by_code_as_well)
{
	static const int codes[] = {FI_EACCES, FI_EOPNOTSUPP, FI_EREMOTEIO,
				    FI_EKEYREJECTED};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		CT_NOTE("%s", fi_strerror(codes[i]));
		ends_begin();
		CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
		connect_from("127.0.0.1");
		call();
		fail_read(codes[i], 0);
		expect_err_chunk();
		connect_from("127.0.0.1");
		call();
		expect_err_chunk();
		CT_EXPECT_EQ(scr_count(SCR_READ), 1);
		ends_close(&e);
	}
}

/* The way to the peer was lost: its Call is as good as any. */
CT_TEST(rpcrdma_poison, a_link_that_was_lost_says_nothing_of_the_call)
{
	static const int codes[][2] = {{FI_EIO, RETRY_EXC_ERR}, {FI_ETIMEDOUT, 0}};

	for (size_t i = 0; i < 2; i++) {
		CT_NOTE("%s", fi_strerror(codes[i][0]));
		ends_begin();
		CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
		connect_from("127.0.0.1");
		call();
		fail_read(codes[i][0], codes[i][1]);
		expect_err_chunk();
		connect_from("127.0.0.1");
		call();
		expect_read(2);
		ends_close(&e);
	}
}

/* The same XID of another procedure, or on a connection that is older than the break. */
CT_TEST(rpcrdma_poison, other_calls_of_the_host_are_read)
{
	struct rpr_domain *domain;
	struct rpr_serve serve = {.xid = XID};

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	connect_from("127.0.0.1");
	serve.arrival.ep = rpr_ep_of(e.server.ep);
	domain = serve.arrival.ep->domain;
	crn_lock(&domain->cq.lock);
	rpr_poison_add(&serve);
	CT_EXPECT_FALSE(rpr_poison_take(&serve));
	serve.arrival.ep->number = domain->endpoints;
	serve.begin[RPR_CALL_BEGIN - 1] = 1;
	CT_EXPECT_FALSE(rpr_poison_take(&serve));
	serve.begin[RPR_CALL_BEGIN - 1] = 0;
	CT_EXPECT_TRUE(rpr_poison_take(&serve));
	crn_unlock(&domain->cq.lock);
	ends_close(&e);
}
