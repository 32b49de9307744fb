/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

static char at[4]; /* contexts */

static void srx_up(struct pair *p)
{
	struct fi_rx_attr attr = {.size = 4};
	struct pair_event event;

	CT_ASSERT_EQ(pair_open(p, SCR_NAME), 0);
	CT_ASSERT_EQ(fi_srx_context(p->domain, &attr, &p->srx, NULL), 0);
	CT_ASSERT_EQ(pair_client(p), 0);
	CT_ASSERT_EQ(pair_request(p), 0);
	CT_ASSERT_EQ(fi_accept(p->server.ep, NULL, 0), 0);
	CT_ASSERT_EQ(pair_expect(p->client.eq, FI_CONNECTED, &event), 0);
}

CT_TEST(srx, receives_are_shared_and_reported_by_the_endpoint)
{
	struct pair p;

	scr_begin();
	srx_up(&p);
	strcpy(p.client.buf, "shared");
	CT_ASSERT_EQ(fi_send(p.client.ep, p.client.buf, 7, p.client.desc, 0, &at[0]), 0);
	pair_nothing(p.client.cq);
	CT_ASSERT_EQ(fi_recv(p.srx, p.server.buf, 10, p.server.desc, 0, &at[1]), 0);
	pair_done(p.server.cq, &at[1], FI_RECV | FI_MSG);
	pair_done(p.client.cq, &at[0], FI_SEND | FI_MSG);
	CT_EXPECT_STREQ(p.server.buf, "shared");
	CT_EXPECT_EQ(fi_recv(p.server.ep, p.server.buf, 10, p.server.desc, 0, NULL),
		     -FI_EOPNOTSUPP);
	pair_down(&p);
}

CT_TEST(srx, closes_after_its_endpoints_with_receives_left)
{
	struct pair p;

	scr_begin();
	srx_up(&p);
	CT_ASSERT_EQ(fi_recv(p.srx, p.server.buf, 10, p.server.desc, 0, &at[1]), 0);
	CT_EXPECT_EQ(fi_close(&p.srx->fid), -FI_EBUSY);
	pair_down(&p);
}

CT_TEST(srx, a_full_completion_queue_delays_the_message)
{
	const struct crn_cq_comp comp = {.entry = {.op_context = &at[2]}};
	struct pair p;
	unsigned int n = 0;

	scr_begin();
	srx_up(&p);
	while (!scr_completion(&p.server.ep->fid, true, &comp, NULL))
		n++;
	CT_ASSERT_EQ(fi_recv(p.srx, p.server.buf, 10, p.server.desc, 0, &at[1]), 0);
	CT_ASSERT_EQ(fi_send(p.client.ep, p.client.buf, 7, p.client.desc, 0, &at[0]), 0);
	pair_nothing(p.client.cq);
	while (n--)
		pair_done(p.server.cq, &at[2], 0);
	pair_done(p.server.cq, &at[1], FI_RECV | FI_MSG);
	pair_done(p.client.cq, &at[0], FI_SEND | FI_MSG);
	pair_down(&p);
}
