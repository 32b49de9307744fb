/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_enable that fails. */
#include "ends.h"

/* The client's endpoint is bound and not enabled. */
static void set_up(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_open(e, RPR_MODE_WRAP), 0);
	CT_ASSERT_EQ(fi_endpoint(e->client.domain, e->info, &e->client.ep, NULL), 0);
	CT_ASSERT_EQ(ends_bind(&e->client), 0);
}

CT_FIXTURE(rpcrdma_enable, struct ends, set_up, ends_close);

static void refuse(enum scr_call call, unsigned int skip)
{
	const struct scr_rule rule = {
		.call = call, .skip = skip, .times = 1, .ret = -FI_EIO};

	scr_refuse(&rule);
}

CT_TEST_F(rpcrdma_enable,
	  an_endpoint_that_the_lower_provider_did_not_enable_may_be_tried_again)
{
	refuse(SCR_ENABLE, 0);
	CT_EXPECT_EQ(fi_enable(t->client.ep), -FI_EIO);
	CT_EXPECT_EQ(fi_enable(t->client.ep), 0);
	CT_EXPECT_EQ(fi_enable(t->client.ep), 0);
}

CT_TEST_F(rpcrdma_enable, an_endpoint_without_its_receives_is_of_no_use)
{
	refuse(SCR_RECV, 3);
	CT_EXPECT_EQ(fi_enable(t->client.ep), -FI_EIO);
	CT_EXPECT_EQ(fi_enable(t->client.ep), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(ends_connect(t), -FI_EOPBADSTATE);
}
