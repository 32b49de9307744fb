/* SPDX-License-Identifier: BSD-2-Clause */
#include "scene.h"

static char at[4]; /* contexts */

static void srx_up(struct pair *p)
{
	struct fi_rx_attr attr = {.size = 4};
	struct pair_event event;

	scr_begin();
	CT_ASSERT_EQ(pair_open(p, SCR_NAME), 0);
	CT_ASSERT_EQ(fi_srx_context(p->domain, &attr, &p->srx, NULL), 0);
	CT_ASSERT_EQ(pair_client(p), 0);
	CT_ASSERT_EQ(pair_request(p), 0);
	CT_ASSERT_EQ(fi_accept(p->server.ep, NULL, 0), 0);
	CT_ASSERT_EQ(pair_expect(p->client.eq, FI_CONNECTED, &event), 0);
}

CT_FIXTURE(srx, struct pair, srx_up, pair_down);

CT_TEST_F(srx, receives_are_shared_and_reported_by_the_endpoint)
{
	strcpy(t->client.buf, "shared");
	CT_ASSERT_EQ(fi_send(t->client.ep, t->client.buf, 7, t->client.desc, 0, &at[0]),
		     0);
	pair_nothing(t->client.cq);
	CT_ASSERT_EQ(fi_recv(t->srx, t->server.buf, 10, t->server.desc, 0, &at[1]), 0);
	pair_done(t->server.cq, &at[1], FI_RECV | FI_MSG);
	pair_done(t->client.cq, &at[0], FI_SEND | FI_MSG);
	CT_EXPECT_STREQ(t->server.buf, "shared");
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.buf, 10, t->server.desc, 0, NULL),
		     -FI_EOPNOTSUPP);
}

CT_TEST_F(srx, closes_after_its_endpoints_with_receives_left)
{
	CT_ASSERT_EQ(fi_recv(t->srx, t->server.buf, 10, t->server.desc, 0, &at[1]), 0);
	CT_EXPECT_EQ(fi_close(&t->srx->fid), -FI_EBUSY);
}

CT_TEST_F(srx, a_full_completion_queue_delays_the_message)
{
	const struct crn_cq_comp comp = {.entry = {.op_context = &at[2]}};
	unsigned int n = 0;

	while (!scr_completion(&t->server.ep->fid, true, &comp, NULL))
		n++;
	CT_ASSERT_EQ(fi_recv(t->srx, t->server.buf, 10, t->server.desc, 0, &at[1]), 0);
	CT_ASSERT_EQ(fi_send(t->client.ep, t->client.buf, 7, t->client.desc, 0, &at[0]),
		     0);
	pair_nothing(t->client.cq);
	while (n--)
		pair_done(t->server.cq, &at[2], 0);
	pair_done(t->server.cq, &at[1], FI_RECV | FI_MSG);
	pair_done(t->client.cq, &at[0], FI_SEND | FI_MSG);
}
