/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages meet receives one after the other, also where one of them lets in another
 * Call: that of a slot which is free again.
 */
#include "ends.h"
#include "objects.h"

#define GRANT 3u
#define LEN 40u

static struct ends e;

static void send_of(struct end *from, uint32_t xid, bool reply, size_t len)
{
	ends_rpc(from, xid, reply);
	ends_send(from, len);
}

static void start(void)
{
	struct fi_info *request;

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	request = ends_request(&e);
	request->rx_attr->size = GRANT;
	CT_EXPECT_EQ(ends_accept(&e, request), 0);
	fi_freeinfo(request);
	ends_connected(&e);
}

/* All but the server's Sends. */
static void let_go_of_client(void)
{
	struct scr_held_item item;
	unsigned int i = 0;

	while (scr_held_at(i, &item)) {
		if (item.fid == scr_fid(FI_CLASS_EP, 0))
			scr_let_go(i);
		else
			i++;
	}
}

/* A Call that is answered; the server does not learn that the Reply was sent. */
static void call_without_end(uint32_t xid)
{
	ends_recv(&e.server, 0);
	ends_recv(&e.client, 0);
	send_of(&e.client, xid, false, LEN);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	pair_done(e.client.cq, &e.client, FI_SEND | FI_MSG);
	scr_hold(SCR_COMPLETIONS);
	send_of(&e.server, xid, true, LEN);
	scr_hold(0);
	let_go_of_client();
	pair_done(e.client.cq, e.client.got[0], FI_RECV | FI_MSG);
}

/* The slots are those of Replies, of a long Call, and of a short one; another Call waits
 * for a slot. For the long one there is no memory, which makes its slot free. */
CT_TEST(rpcrdma_match, a_call_that_is_not_read_lets_in_another_one)
{
	const unsigned int replies = 2 * GRANT - 2;

	start();
	for (unsigned int i = 1; i <= replies; i++)
		call_without_end(i);
	CT_EXPECT_EQ(scr_held(), replies);
	send_of(&e.client, 101, false, ENDS_LONG);
	send_of(&e.client, 102, false, LEN);
	send_of(&e.client, 103, false, LEN);
	pair_nothing(e.server.cq);
	CT_EXPECT_FALSE(crn_list_empty(&rpr_ep_of(e.server.ep)->stalled));
	ct_fail_alloc(1);
	ends_recv(&e.server, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(e.server.got[0][3], 102);
	pair_nothing(e.server.cq);
	ends_recv(&e.server, 1);
	pair_done(e.server.cq, e.server.got[1], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(e.server.got[1][3], 103);
	pair_nothing(e.server.cq);
	scr_let_all_go();
	ends_close(&e);
}
