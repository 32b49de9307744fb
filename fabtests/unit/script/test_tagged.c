/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_tagged.h>
#include "scene.h"

static char at[4]; /* contexts */

static int post(struct pair *p, uint64_t tag, uint64_t ignore, void *context)
{
	return (int)fi_trecv(p->server.ep, p->server.buf, 16, p->server.desc, 0, tag,
			     ignore, context);
}

CT_FIXTURE(tagged, struct pair, scene_up, pair_down);

CT_TEST_F(tagged, a_message_goes_to_the_oldest_receive_that_its_tag_fits)
{
	CT_EXPECT_EQ(post(t, 1, 0, &at[0]), 0);
	CT_EXPECT_EQ(post(t, 0x20, 0xf, &at[1]), 0);
	CT_EXPECT_EQ(fi_tinject(t->client.ep, "two", 4, 0, 0x27), 0);
	pair_done(t->server.cq, &at[1], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(t->server.buf, "two");
	strcpy(t->client.buf, "one");
	CT_EXPECT_EQ(fi_tsend(t->client.ep, t->client.buf, 4, t->client.desc, 0, 1,
			      &at[2]),
		     0);
	pair_done(t->client.cq, &at[2], FI_SEND | FI_TAGGED);
	pair_done(t->server.cq, &at[0], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(t->server.buf, "one");
}

CT_TEST_F(tagged, one_that_waits_for_its_receive_keeps_nothing_up)
{
	CT_EXPECT_EQ(fi_tinject(t->client.ep, "late", 5, 0, 9), 0);
	CT_EXPECT_EQ(post(t, 8, 0, &at[0]), 0);
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.buf, 16, t->server.desc, 0, &at[1]),
		     0);
	CT_EXPECT_EQ(fi_inject(t->client.ep, "plain", 6, 0), 0);
	pair_done(t->server.cq, &at[1], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(fi_tinject(t->client.ep, "eight", 6, 0, 8), 0);
	pair_done(t->server.cq, &at[0], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(t->server.buf, "eight");
	CT_EXPECT_EQ(post(t, 9, 0, &at[2]), 0);
	pair_done(t->server.cq, &at[2], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(t->server.buf, "late");
}
