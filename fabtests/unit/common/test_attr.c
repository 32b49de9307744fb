/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer as a whole, and the line that tells why there is none. */
#include <stdlib.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "attr_world.h"
#include "cairn_test.h"

CT_FIXTURE(attr, struct attr_scene, attr_begin, attr_end);

CT_TEST_F(attr, without_hints_the_offer_is_told_whole)
{
	CT_EXPECT_EQ(ask_with(t, NULL), 0);
	CT_ASSERT_NE(t->answer, NULL);
	CT_EXPECT_EQ(t->answer->caps, t->offer->caps);
	CT_EXPECT_EQ(t->answer->mode, t->offer->mode);
	CT_EXPECT_EQ(t->answer->tx_attr->size, t->offer->tx_attr->size);
	CT_EXPECT_EQ(t->answer->tx_attr->msg_order, t->offer->tx_attr->msg_order);
	CT_EXPECT_EQ(t->answer->tx_attr->op_flags, 0);
	CT_EXPECT_EQ(t->answer->rx_attr->op_flags, 0);
	CT_EXPECT_EQ(t->answer->rx_attr->mode, FI_RX_CQ_DATA);
	CT_EXPECT_EQ(t->answer->handle, NULL);
	CT_EXPECT_EQ(t->answer->fabric_attr->api_version, ATTR_API);
}

CT_TEST_F(attr, hints_may_lack_any_structure)
{
	struct fi_info bare = {.caps = FI_MSG};

	CT_EXPECT_EQ(ask_with(t, &bare), 0);
	CT_ASSERT_NE(t->answer, NULL);
	CT_EXPECT_EQ(t->answer->tx_attr->size, 102);
}

/* fi_getinfo(3): a passive endpoint's handle is copied. */
CT_TEST_F(attr, the_handle_of_the_hints_is_in_the_answer)
{
	struct fid pep;

	t->hints->handle = &pep;
	CT_EXPECT_EQ(ask(t), 0);
	CT_ASSERT_NE(t->answer, NULL);
	CT_EXPECT_EQ(t->answer->handle, &pep);
}

/* What fi_getinfo gave is the usual argument of the next fi_getinfo. */
CT_TEST_F(attr, an_answer_used_as_hints_gives_the_same_answer)
{
	char *first;
	uint64_t mode;

	t->hints->caps = FI_MSG | FI_RMA | FI_WRITE;
	t->hints->mode = ~0ULL;
	t->hints->tx_attr->size = 10;
	t->hints->domain_attr->threading = FI_THREAD_DOMAIN;
	CT_EXPECT_EQ(ask_with(t, NULL), 0);
	CT_EXPECT_EQ(ask_with(t, t->answer), 0);

	CT_ASSERT_EQ(ask(t), 0);
	mode = t->answer->mode;
	first = strdup(fi_tostr(t->answer, FI_TYPE_INFO));
	CT_EXPECT_EQ(ask_with(t, t->answer), 0);
	if (t->answer) {
		t->answer->mode = mode;
		CT_EXPECT_STREQ(fi_tostr(t->answer, FI_TYPE_INFO), first);
	}
	free(first);
}

CT_TEST_F(attr, the_log_line_tells_what_was_asked_and_what_is_offered)
{
	t->hints->tx_attr->size = 1000;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "1000");
	CT_EXPECT_STRSTR(ct_log_last(), "102");
	t->hints->tx_attr->size = 0;

	t->hints->caps = FI_MSG | FI_TAGGED;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_TAGGED");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_RMA");
	t->hints->caps = 0;

	t->hints->ep_attr->type = FI_EP_RDM;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_RDM");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_MSG");
	t->hints->ep_attr->type = FI_EP_UNSPEC;

	t->hints->domain_attr->name = strdup("device7");
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "device7");
	CT_EXPECT_STRSTR(ct_log_last(), "device0");
}
