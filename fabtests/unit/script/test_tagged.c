/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_tagged.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

static char at[4]; /* contexts */

static int post(struct pair *p, uint64_t tag, uint64_t ignore, void *context)
{
	return (int)fi_trecv(p->server.ep, p->server.buf, 16, p->server.desc, 0, tag,
			     ignore, context);
}

CT_TEST(tagged, a_message_goes_to_the_oldest_receive_that_its_tag_fits)
{
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_EQ(post(&p, 1, 0, &at[0]), 0);
	CT_EXPECT_EQ(post(&p, 0x20, 0xf, &at[1]), 0);
	CT_EXPECT_EQ(fi_tinject(p.client.ep, "two", 4, 0, 0x27), 0);
	pair_done(p.server.cq, &at[1], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(p.server.buf, "two");
	strcpy(p.client.buf, "one");
	CT_EXPECT_EQ(fi_tsend(p.client.ep, p.client.buf, 4, p.client.desc, 0, 1, &at[2]),
		     0);
	pair_done(p.client.cq, &at[2], FI_SEND | FI_TAGGED);
	pair_done(p.server.cq, &at[0], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(p.server.buf, "one");
	pair_down(&p);
}

CT_TEST(tagged, one_that_waits_for_its_receive_keeps_nothing_up)
{
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_tinject(p.client.ep, "late", 5, 0, 9), 0);
	CT_EXPECT_EQ(post(&p, 8, 0, &at[0]), 0);
	pair_nothing(p.server.cq);
	CT_EXPECT_EQ(fi_recv(p.server.ep, p.server.buf, 16, p.server.desc, 0, &at[1]), 0);
	CT_EXPECT_EQ(fi_inject(p.client.ep, "plain", 6, 0), 0);
	pair_done(p.server.cq, &at[1], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(fi_tinject(p.client.ep, "eight", 6, 0, 8), 0);
	pair_done(p.server.cq, &at[0], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(p.server.buf, "eight");
	CT_EXPECT_EQ(post(&p, 9, 0, &at[2]), 0);
	pair_done(p.server.cq, &at[2], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(p.server.buf, "late");
	pair_down(&p);
}
