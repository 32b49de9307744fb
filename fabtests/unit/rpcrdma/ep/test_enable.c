/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_enable that fails. */
#include "ends.h"

static struct ends e;

static int open_client(void)
{
	int ret;

	ends_begin();
	ret = ends_open(&e, RPR_MODE_WRAP);
	if (!ret)
		ret = fi_endpoint(e.client.domain, e.info, &e.client.ep, NULL);
	if (ret)
		return ret;
	CT_EXPECT_EQ(fi_ep_bind(e.client.ep, &e.client.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(e.client.ep, &e.client.cq->fid, FI_TRANSMIT | FI_RECV),
		     0);
	return 0;
}

static void refuse(enum scr_call call, unsigned int skip)
{
	const struct scr_rule rule = {
		.call = call, .skip = skip, .times = 1, .ret = -FI_EIO};

	scr_refuse(&rule);
}

CT_TEST(rpcrdma_enable,
	an_endpoint_that_the_lower_provider_did_not_enable_may_be_tried_again)
{
	CT_ASSERT_EQ(open_client(), 0);
	refuse(SCR_ENABLE, 0);
	CT_EXPECT_EQ(fi_enable(e.client.ep), -FI_EIO);
	CT_EXPECT_EQ(fi_enable(e.client.ep), 0);
	CT_EXPECT_EQ(fi_enable(e.client.ep), 0);
	ends_close(&e);
}

CT_TEST(rpcrdma_enable, an_endpoint_without_its_receives_is_of_no_use)
{
	char addr[256];
	size_t len = sizeof(addr);

	CT_ASSERT_EQ(open_client(), 0);
	refuse(SCR_RECV, 3);
	CT_EXPECT_EQ(fi_enable(e.client.ep), -FI_EIO);
	CT_EXPECT_EQ(fi_enable(e.client.ep), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_getname(&e.pep->fid, addr, &len), 0);
	CT_EXPECT_EQ(fi_connect(e.client.ep, addr, NULL, 0), -FI_EOPBADSTATE);
	ends_close(&e);
}
