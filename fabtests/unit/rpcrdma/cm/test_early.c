/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer may send as soon as it knows of the connection. What arrives is answered, also
 * while the event that tells this end waits to be read.
 */
#include "ends.h"

static struct ends e;

static void expect_connected(struct end *end)
{
	struct pair_event event;

	pair_expect(end->eq, FI_CONNECTED, &event);
	CT_EXPECT_EQ(event.entry.fid, &end->ep->fid);
}

/* A message that is complete when its Reply is there; only its sender has its event. */
static void message(struct end *from, struct end *to)
{
	const struct iovec iov = {from->sent, ENDS_SHORT};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .context = from};
	struct fi_info *request;

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_WRAP), 0);
	request = ends_request(&e);
	CT_ASSERT_EQ(ends_accept(&e, request), 0);
	fi_freeinfo(request);
	ends_recv(to, 0);
	expect_connected(from);
	CT_EXPECT_EQ(fi_sendmsg(from->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	pair_done(to->cq, to->got[0], FI_RECV | FI_MSG);
	pair_done(from->cq, from, FI_SEND | FI_MSG);
	expect_connected(to);
	ends_message(to, from);
	ends_close(&e);
}

CT_TEST(rpcrdma_early, the_end_that_connects_replies_before_its_event_is_read)
{
	message(&e.server, &e.client);
}

CT_TEST(rpcrdma_early, the_end_that_accepts_replies_before_its_event_is_read)
{
	message(&e.client, &e.server);
}
