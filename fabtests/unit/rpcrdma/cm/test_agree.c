/* SPDX-License-Identifier: BSD-2-Clause */
/* Which peer the end that connects talks to: what its private data have to say. */
#include "ends.h"

#define RFC8797 0xf6, 0xab, 0x0e, 0x18, 1, 0, 0, 0
#define MARKER 'C', 'R', 'P'
#define UNREADY 0x80

static const struct {
	const char *about;
	enum rpr_mode mode; /* of the end that connects */
	bool agrees;
	uint8_t len, data[12];
} rows[] = {
	{"wrap, and wrap", RPR_MODE_WRAP, true, 12, {RFC8797, MARKER, RPR_MODE_WRAP}},
	{"wrap, and rpc", RPR_MODE_WRAP, false, 12, {RFC8797, MARKER, RPR_MODE_RPC}},
	{"wrap, and another provider", RPR_MODE_WRAP, false, 8, {RFC8797}},
	{"wrap, and no private data", RPR_MODE_WRAP, false, 0, {0}},
	{"rpc, and rpc", RPR_MODE_RPC, true, 12, {RFC8797, MARKER, RPR_MODE_RPC}},
	{"rpc, and rpc that takes no Calls",
	 RPR_MODE_RPC,
	 true,
	 12,
	 {RFC8797, MARKER, RPR_MODE_RPC | UNREADY}},
	{"rpc, and wrap", RPR_MODE_RPC, false, 12, {RFC8797, MARKER, RPR_MODE_WRAP}},
	{"rpc, and another provider", RPR_MODE_RPC, true, 8, {RFC8797}},
	{"rpc, and no private data", RPR_MODE_RPC, true, 0, {0}},
};

static struct ends e;
static struct pair raw; /* its server is the peer */

static int accept_with(const void *data, size_t len)
{
	struct pair_event event;
	int ret;

	pair_expect(raw.server.eq, FI_CONNREQ, &event);
	ret = fi_endpoint(raw.domain, event.entry.info, &raw.server.ep, NULL);
	fi_freeinfo(event.entry.info);
	if (ret)
		return ret;
	CT_EXPECT_EQ(fi_ep_bind(raw.server.ep, &raw.server.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(raw.server.ep, &raw.server.cq->fid,
				FI_TRANSMIT | FI_RECV),
		     0);
	ret = fi_accept(raw.server.ep, data, len);
	pair_expect(raw.server.eq, FI_CONNECTED, &event);
	return ret;
}

static void connect_raw(void)
{
	char addr[256];
	size_t len = sizeof(addr);

	CT_EXPECT_EQ(fi_getname(&raw.pep->fid, addr, &len), 0);
	CT_EXPECT_EQ(ends_endpoint(&e.client, e.info), 0);
	ends_recv(&e.client, 0);
	CT_EXPECT_EQ(fi_connect(e.client.ep, addr, NULL, 0), 0);
}

static void expect_agreed(void)
{
	struct pair_event event;

	pair_expect(e.client.eq, FI_CONNECTED, &event);
	ends_no_event(e.client.eq);
	ends_no_event(raw.server.eq);
	pair_nothing(e.client.cq);
}

/* It never was connected; the peer, which was, learns that it is over. */
static void expect_refused(void)
{
	struct pair_event event;
	char data[256];

	pair_expect_err(e.client.eq, FI_ECONNREFUSED, data);
	CT_EXPECT_EQ(ct_log_count(), 1);
	ends_no_event(e.client.eq);
	pair_expect(raw.server.eq, FI_SHUTDOWN, &event);
	pair_failed(e.client.cq, e.client.got[0], FI_ECANCELED);
	pair_nothing(e.client.cq);
	CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, ENDS_SHORT, NULL, 0, NULL),
		     -FI_ENOTCONN);
}

CT_TEST(rpcrdma_agree, the_end_that_connects_takes_a_peer_of_its_mode)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i].about);
		ct_log_reset();
		ends_begin();
		CT_ASSERT_EQ(pair_open(&raw, SCR_NAME), 0);
		CT_ASSERT_EQ(ends_open(&e, rows[i].mode), 0);
		connect_raw();
		CT_EXPECT_EQ(accept_with(rows[i].data, rows[i].len), 0);
		if (rows[i].agrees)
			expect_agreed();
		else
			expect_refused();
		pair_down(&raw);
		ends_close(&e);
	}
}
