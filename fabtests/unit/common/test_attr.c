/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer as a whole, and the line that tells why there is none. */
#include <stdlib.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "attr_world.h"
#include "cairn_test.h"

CT_TEST(attr, without_hints_the_offer_is_told_whole)
{
	struct fi_info *offer = make_offer(), *answer;

	CT_EXPECT_EQ(ask_offer(offer, NULL, &answer), 0);
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_EQ(answer->caps, offer->caps);
	CT_EXPECT_EQ(answer->mode, offer->mode);
	CT_EXPECT_EQ(answer->tx_attr->size, offer->tx_attr->size);
	CT_EXPECT_EQ(answer->tx_attr->msg_order, offer->tx_attr->msg_order);
	CT_EXPECT_EQ(answer->tx_attr->op_flags, 0);
	CT_EXPECT_EQ(answer->rx_attr->op_flags, 0);
	CT_EXPECT_EQ(answer->rx_attr->mode, FI_RX_CQ_DATA);
	CT_EXPECT_EQ(answer->handle, NULL);
	CT_EXPECT_EQ(answer->fabric_attr->api_version, ATTR_API);
	fi_freeinfo(answer);
	fi_freeinfo(offer);
}

CT_TEST(attr, hints_may_lack_any_structure)
{
	struct fi_info bare = {.caps = FI_MSG};
	struct fi_info *answer;

	CT_EXPECT_EQ(ask(&bare, &answer), 0);
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_EQ(answer->tx_attr->size, 102);
	fi_freeinfo(answer);
}

/* fi_getinfo(3): a passive endpoint's handle is copied. */
CT_TEST(attr, the_handle_of_the_hints_is_in_the_answer)
{
	struct fi_info *hints = fi_allocinfo(), *answer;
	struct fid pep;

	hints->handle = &pep;
	CT_EXPECT_EQ(ask(hints, &answer), 0);
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_EQ(answer->handle, &pep);
	fi_freeinfo(hints);
	fi_freeinfo(answer);
}

/* What fi_getinfo gave is the usual argument of the next fi_getinfo. */
CT_TEST(attr, an_answer_used_as_hints_gives_the_same_answer)
{
	struct fi_info *offer = make_offer(), *hints = fi_allocinfo(), *first, *second;
	char *texts[2];

	hints->caps = FI_MSG | FI_RMA | FI_WRITE;
	hints->mode = ~0ULL;
	hints->tx_attr->size = 10;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	CT_EXPECT_EQ(ask_offer(offer, NULL, &first), 0);
	CT_EXPECT_EQ(ask_offer(offer, first, &second), 0);
	fi_freeinfo(first);
	fi_freeinfo(second);

	CT_EXPECT_EQ(ask_offer(offer, hints, &first), 0);
	CT_EXPECT_EQ(ask_offer(offer, first, &second), 0);
	CT_ASSERT_NE(second, NULL);
	second->mode = first->mode;
	texts[0] = strdup(fi_tostr(first, FI_TYPE_INFO));
	texts[1] = strdup(fi_tostr(second, FI_TYPE_INFO));
	CT_EXPECT_STREQ(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	fi_freeinfo(first);
	fi_freeinfo(second);
	fi_freeinfo(hints);
	fi_freeinfo(offer);
}

CT_TEST(attr, the_log_line_tells_what_was_asked_and_what_is_offered)
{
	struct fi_info *hints = fi_allocinfo(), *answer;

	hints->tx_attr->size = 1000;
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "1000");
	CT_EXPECT_STRSTR(ct_log_last(), "102");
	hints->tx_attr->size = 0;

	hints->caps = FI_MSG | FI_TAGGED;
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_TAGGED");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_RMA");
	hints->caps = 0;

	hints->ep_attr->type = FI_EP_RDM;
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_RDM");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_MSG");
	hints->ep_attr->type = FI_EP_UNSPEC;

	hints->domain_attr->name = strdup("device7");
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "device7");
	CT_EXPECT_STRSTR(ct_log_last(), "device0");
	fi_freeinfo(hints);
}
