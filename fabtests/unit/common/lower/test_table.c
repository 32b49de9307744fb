/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c and getinfo.c: what a layer's table makes of hints and of answers. */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "lower_world.h"

/* Something of each kind: a layer of messages over RMA, with headers and keys. */
static const struct crn_lower_row rows[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, FI_MSG | FI_SEND | FI_RECV},
	{CRN_LOWER_CAPS, CRN_LOWER_OWN, FI_TAGGED},
	{CRN_LOWER_CAPS, CRN_LOWER_NEED, FI_RMA},
	{CRN_LOWER_MODE, CRN_LOWER_PASS, FI_RX_CQ_DATA},
	{CRN_LOWER_MODE, CRN_LOWER_NEED, FI_CONTEXT},
	{CRN_LOWER_MODE, CRN_LOWER_OWN, FI_CONTEXT2},
	{CRN_LOWER_OP_FLAGS, CRN_LOWER_PASS, FI_COMPLETION},
	{CRN_LOWER_OP_FLAGS, CRN_LOWER_OWN, FI_DELIVERY_COMPLETE},
	{CRN_LOWER_MSG_ORDER, CRN_LOWER_PASS, FI_ORDER_SAS},
	{CRN_LOWER_MSG_ORDER, CRN_LOWER_NEED, FI_ORDER_SAW},
	{CRN_LOWER_MR_MODE, CRN_LOWER_PASS, FI_MR_ALLOCATED},
	{CRN_LOWER_MR_MODE, CRN_LOWER_NEED, FI_MR_LOCAL},
	{CRN_LOWER_MAX_MSG_SIZE, CRN_LOWER_SHRINK, 28},
	{CRN_LOWER_INJECT_SIZE, CRN_LOWER_OWN, 100},
	{CRN_LOWER_TX_SIZE, CRN_LOWER_NEED, 16},
	{CRN_LOWER_RX_SIZE, CRN_LOWER_SHRINK, 8},
};

static struct lower_prov *prov;
static struct fi_info *info; /* the last answer */

static void open_world(struct lower_world *w)
{
	lower_world_open(w, rows, CRN_COUNT(rows));
	prov = lower_add(w, "tcp", "fab");
	prov->info->ep_attr->max_msg_size = 1000;
	prov->info->rx_attr->size = 64;
	prov->info->tx_attr->size = 16;
	prov->info->tx_attr->msg_order = FI_ORDER_SAW;
	prov->info->rx_attr->msg_order = FI_ORDER_SAW;
}

static struct fi_info *hints_for(uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	hints->fabric_attr->prov_name = strdup("tcp;lay");
	hints->caps = caps;
	hints->mode = FI_CONTEXT2;
	return hints;
}

static void forget_info(void)
{
	fi_freeinfo(info);
	info = NULL;
}

static void close_world(struct lower_world *w)
{
	forget_info();
	lower_world_close(w);
}

/* Asks for hints, which are freed; info is the answer. */
static int ask(struct lower_world *w, struct fi_info *hints)
{
	int ret;

	forget_info();
	ret = crn_lower_getinfo(&w->layer, FI_VERSION(1, 17), NULL, NULL, 0, hints,
				&info);
	fi_freeinfo(hints);
	return ret;
}

static void expect_refused(struct lower_world *w, struct fi_info *hints,
			   const char *field, const char *value)
{
	unsigned int asked = w->asked;

	ct_log_reset();
	CT_EXPECT_EQ(ask(w, hints), -FI_ENODATA);
	CT_EXPECT_EQ(info, NULL);
	CT_EXPECT_EQ(w->asked, asked);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), field);
	CT_EXPECT_STRSTR(ct_log_last(), value);
}

CT_FIXTURE(lower_table, struct lower_world, open_world, close_world);

CT_TEST_F(lower_table, capabilities_pass_are_added_or_stay_with_the_layer)
{
	struct fi_info *hints;

	prov->info->caps = FI_MSG | FI_RMA | FI_SEND | FI_ATOMIC;
	prov->info->tx_attr->caps = FI_MSG | FI_RMA | FI_SEND;
	hints = hints_for(FI_MSG | FI_TAGGED);
	hints->tx_attr->caps = FI_MSG;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->caps, FI_MSG | FI_RMA);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->caps, 0);
	CT_EXPECT_EQ(info->caps, FI_MSG | FI_SEND | FI_TAGGED);
	CT_EXPECT_EQ(info->tx_attr->caps, FI_MSG | FI_SEND);
}

CT_TEST_F(lower_table, without_a_wish_every_capability_is_answered)
{
	CT_ASSERT_EQ(ask(t, hints_for(0)), 0);
	CT_EXPECT_EQ(t->asks[0].hints->caps, 0);
	CT_EXPECT_EQ(info->caps, FI_MSG | FI_SEND | FI_RECV | FI_TAGGED);
	CT_EXPECT_EQ(info->tx_attr->caps, FI_TAGGED);
}

CT_TEST_F(lower_table, each_side_has_what_belongs_to_it_of_the_layers_own)
{
	static const struct crn_lower_row own[] = {
		{CRN_LOWER_CAPS, CRN_LOWER_OWN, FI_TAGGED | FI_SEND | FI_RECV},
	};
	struct fi_info *hints;

	lower_world_open(t, own, CRN_COUNT(own));
	lower_add(t, "tcp", "fab");
	CT_ASSERT_EQ(ask(t, hints_for(0)), 0);
	CT_EXPECT_EQ(info->tx_attr->caps, FI_TAGGED | FI_SEND);
	CT_EXPECT_EQ(info->rx_attr->caps, FI_TAGGED | FI_RECV);
	hints = hints_for(FI_TAGGED | FI_SEND);
	hints->tx_attr->caps = FI_SEND;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(info->caps, FI_TAGGED | FI_SEND);
	CT_EXPECT_EQ(info->tx_attr->caps, FI_SEND);
}

CT_TEST_F(lower_table, an_answer_without_what_the_layer_needs_is_none)
{
	prov->info->caps = FI_MSG;
	CT_EXPECT_EQ(ask(t, hints_for(FI_MSG)), -FI_ENODATA);
	CT_EXPECT_EQ(info, NULL);
	CT_EXPECT_EQ(ct_log_count(), 1);
	prov->info->caps = FI_MSG | FI_RMA;
	CT_ASSERT_EQ(ask(t, hints_for(FI_MSG)), 0);
	prov->info->tx_attr->size = 15;
	CT_EXPECT_EQ(ask(t, hints_for(FI_MSG)), -FI_ENODATA);
	prov->info->tx_attr->size = 16;
	prov->info->rx_attr->msg_order = FI_ORDER_SAS;
	CT_EXPECT_EQ(ask(t, hints_for(FI_MSG)), -FI_ENODATA);
}

CT_TEST_F(lower_table, what_the_layer_needs_is_asked_for_without_a_wish)
{
	CT_ASSERT_EQ(ask(t, hints_for(FI_MSG)), 0);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->msg_order, FI_ORDER_SAW);
	CT_EXPECT_EQ(t->asks[0].hints->rx_attr->msg_order, FI_ORDER_SAW);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->op_flags, 0);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->caps, 0);
	CT_EXPECT_EQ(info->tx_attr->msg_order, 0);
}

CT_TEST_F(lower_table, what_the_program_has_open_stays_with_the_layer)
{
	struct fi_info *hints = hints_for(FI_MSG);

	hints->fabric_attr->fabric = &t->fabric.fid;
	hints->domain_attr->domain = (void *)t;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->fabric_attr->fabric, NULL);
	CT_EXPECT_EQ(t->asks[0].hints->domain_attr->domain, NULL);
}

CT_TEST_F(lower_table, what_no_row_names_is_refused_with_its_name)
{
	struct fi_info *hints;

	expect_refused(t, hints_for(FI_MSG | FI_ATOMIC), "caps", "FI_ATOMIC");
	hints = hints_for(FI_MSG);
	hints->tx_attr->op_flags = FI_INJECT;
	expect_refused(t, hints, "op_flags", "FI_INJECT");
	hints = hints_for(FI_MSG);
	hints->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_RAW;
	expect_refused(t, hints, "msg_order", "FI_ORDER_RAW");
}

CT_TEST_F(lower_table, a_mode_is_handed_down_fulfilled_or_demanded)
{
	struct fi_info *hints;

	prov->info->mode = FI_CONTEXT | FI_RX_CQ_DATA;
	prov->info->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED;
	hints = hints_for(FI_MSG);
	hints->mode |= FI_RX_CQ_DATA | FI_MSG_PREFIX;
	hints->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_ENDPOINT;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->mode, FI_RX_CQ_DATA | FI_CONTEXT);
	CT_EXPECT_EQ(t->asks[0].hints->domain_attr->mr_mode,
		     FI_MR_ALLOCATED | FI_MR_LOCAL);
	CT_EXPECT_EQ(info->mode, FI_RX_CQ_DATA | FI_CONTEXT2);
	CT_EXPECT_EQ(info->domain_attr->mr_mode, FI_MR_ALLOCATED);
	hints = hints_for(FI_MSG);
	hints->mode = 0;
	expect_refused(t, hints, "mode", "FI_CONTEXT2");
}

CT_TEST_F(lower_table, old_values_of_mr_mode_are_no_bits)
{
	struct fi_info *hints;

	prov->info->domain_attr->mr_mode = CRN_MR_BASIC;
	hints = hints_for(FI_MSG);
	hints->domain_attr->mr_mode = CRN_MR_BASIC;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->domain_attr->mr_mode, CRN_MR_BASIC);
	CT_EXPECT_EQ(info->domain_attr->mr_mode, CRN_MR_BASIC);
}

CT_TEST_F(lower_table, sets_of_the_layers_own_are_answered_as_wished)
{
	struct fi_info *hints;

	prov->info->tx_attr->op_flags = FI_COMPLETION;
	prov->info->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_SAW;
	hints = hints_for(FI_MSG);
	hints->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->op_flags, FI_COMPLETION);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->msg_order, FI_ORDER_SAS | FI_ORDER_SAW);
	CT_EXPECT_EQ(info->tx_attr->op_flags, FI_COMPLETION | FI_DELIVERY_COMPLETE);
	CT_EXPECT_EQ(info->tx_attr->msg_order, FI_ORDER_SAS);
	CT_EXPECT_EQ(info->rx_attr->op_flags, 0);
}

CT_TEST_F(lower_table, numbers_shrink_grow_pass_or_are_the_layers)
{
	struct fi_info *hints;

	prov->info->tx_attr->size = 32;
	prov->info->tx_attr->iov_limit = 3;
	prov->info->tx_attr->inject_size = 7;
	hints = hints_for(FI_MSG);
	hints->ep_attr->max_msg_size = 500;
	hints->tx_attr->size = 4;
	hints->tx_attr->iov_limit = 2;
	hints->tx_attr->inject_size = 90;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->ep_attr->max_msg_size, 528);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->size, 16);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->iov_limit, 2);
	CT_EXPECT_EQ(t->asks[0].hints->tx_attr->inject_size, 0);
	CT_EXPECT_EQ(t->asks[0].hints->rx_attr->size, 0);
	CT_EXPECT_EQ(info->ep_attr->max_msg_size, 972);
	CT_EXPECT_EQ(info->tx_attr->size, 32);
	CT_EXPECT_EQ(info->tx_attr->iov_limit, 3);
	CT_EXPECT_EQ(info->tx_attr->inject_size, 90);
	CT_EXPECT_EQ(info->rx_attr->size, 56);
	/* Without a wish the layer's own is as much as there is. */
	CT_ASSERT_EQ(ask(t, hints_for(FI_MSG)), 0);
	CT_EXPECT_EQ(info->tx_attr->inject_size, 100);
}

CT_TEST_F(lower_table, more_than_there_is_of_a_number_is_refused)
{
	struct fi_info *hints = hints_for(FI_MSG);

	hints->tx_attr->inject_size = 101;
	expect_refused(t, hints, "inject_size", "101");
	hints = hints_for(FI_MSG);
	hints->ep_attr->max_msg_size = SIZE_MAX - 27;
	expect_refused(t, hints, "max_msg_size", "");
	/* The lower provider has less than the layer takes for itself. */
	prov->info->rx_attr->size = 7;
	CT_EXPECT_EQ(ask(t, hints_for(FI_MSG)), -FI_ENODATA);
}

CT_TEST_F(lower_table, hints_may_lack_parts_or_all)
{
	struct fi_info *hints;

	lower_filter("lay");
	hints = hints_for(FI_MSG);
	free(hints->tx_attr);
	free(hints->rx_attr);
	free(hints->ep_attr);
	free(hints->domain_attr);
	hints->tx_attr = NULL;
	hints->rx_attr = NULL;
	hints->ep_attr = NULL;
	hints->domain_attr = NULL;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(t->asks[0].hints->domain_attr->mr_mode,
		     FI_MR_ALLOCATED | FI_MR_LOCAL);
	forget_info();
	CT_ASSERT_EQ(lower_getinfo(t, NULL, &info), 0);
	/* All modes then: fi_getinfo(3). */
	CT_EXPECT_EQ(t->asks[t->asked - 1].hints->mode, FI_RX_CQ_DATA | FI_CONTEXT);
}

CT_TEST_F(lower_table, answers_are_named_and_opened_by_nobody)
{
	prov->info->fabric_attr->fabric = &t->lower;
	prov->info->domain_attr->domain = (void *)t;
	CT_ASSERT_EQ(ask(t, hints_for(FI_MSG)), 0);
	CT_EXPECT_EQ(info->fabric_attr->prov_name, NULL);
	CT_EXPECT_EQ(info->fabric_attr->fabric, NULL);
	CT_EXPECT_EQ(info->domain_attr->domain, NULL);
	CT_EXPECT_STREQ(info->fabric_attr->name, "tcp;lay:fab");
	CT_EXPECT_STREQ(info->domain_attr->name, "dom");
}

CT_TEST_F(lower_table, answers_of_other_names_than_asked_for_are_left_out)
{
	struct fi_info *hints;

	prov->info->next = fi_dupinfo(prov->info);
	prov->info->next->domain_attr->name[0] = 'r';
	hints = hints_for(FI_MSG);
	hints->domain_attr->name = strdup("dom");
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_EXPECT_EQ(info->next, NULL);
	hints = hints_for(FI_MSG);
	hints->fabric_attr->name = strdup("nowhere");
	CT_EXPECT_EQ(ask(t, hints), -FI_ENODATA);
}

CT_TEST_F(lower_table, endpoints_are_connected_ones)
{
	struct fi_info *hints = hints_for(FI_MSG);

	hints->ep_attr->type = FI_EP_RDM;
	expect_refused(t, hints, "ofi_rxm", "");
	hints = hints_for(FI_MSG);
	hints->ep_attr->type = FI_EP_MSG;
	CT_ASSERT_EQ(ask(t, hints), 0);
	CT_ASSERT_EQ(ask(t, hints_for(FI_MSG)), 0);
	CT_EXPECT_EQ(t->asks[1].hints->ep_attr->type, FI_EP_MSG);
}

/* No number is the layer's own. */
static const struct crn_lower_row passing[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, FI_MSG},
	{CRN_LOWER_CAPS, CRN_LOWER_OWN, FI_TAGGED},
	{CRN_LOWER_CAPS, CRN_LOWER_NEED, FI_RMA},
	{CRN_LOWER_MAX_MSG_SIZE, CRN_LOWER_SHRINK, 28},
};

CT_TEST_F(lower_table, an_info_goes_down_as_hints_do_under_the_lower_providers_name)
{
	struct fi_info *lower;
	unsigned int nth, asked;
	int ret;

	lower_world_open(t, passing, CRN_COUNT(passing));
	lower_fabric(t);
	asked = t->asked;
	info = hints_for(FI_MSG | FI_TAGGED);
	info->ep_attr->max_msg_size = 500;
	info->domain_attr->domain = (void *)t;
	info->handle = &t->lower.fid;
	info->fabric_attr->name = strdup(t->fabric.name);
	for (nth = 1;; nth++) {
		ct_fail_alloc(nth);
		ret = crn_lower_info(&t->fabric, info, &lower);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(lower, NULL);
	}
	CT_EXPECT_EQ(nth, 4);
	CT_ASSERT_EQ(ret, 0);
	CT_EXPECT_STREQ(lower->fabric_attr->prov_name, "tcp");
	CT_EXPECT_STREQ(lower->fabric_attr->name, "fab");
	CT_EXPECT_EQ(lower->fabric_attr->fabric, &t->lower);
	CT_EXPECT_EQ(lower->domain_attr->domain, NULL);
	CT_EXPECT_EQ(lower->caps, FI_MSG | FI_RMA);
	CT_EXPECT_EQ(lower->ep_attr->max_msg_size, 528);
	CT_EXPECT_EQ(lower->handle, &t->lower.fid);
	CT_EXPECT_EQ(t->asked, asked);
	fi_freeinfo(lower);
	info->caps = FI_ATOMIC;
	CT_EXPECT_EQ(crn_lower_info(&t->fabric, info, &lower), -FI_ENODATA);
	CT_EXPECT_EQ(lower, NULL);
	CT_EXPECT_EQ(crn_lower_fabric_close(&t->fabric), 0);
}

static const struct crn_lower_row owning[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, FI_MSG},
	{CRN_LOWER_INJECT_SIZE, CRN_LOWER_OWN, 100},
	{CRN_LOWER_TX_SIZE, CRN_LOWER_OWN, 8},
	{CRN_LOWER_TX_SIZE, CRN_LOWER_NEED, 16},
};

static int info_failing(struct lower_world *w, struct fi_info **lower)
{
	unsigned int nth, asked = w->asked, i;
	int ret;

	for (nth = 1;; nth++) {
		for (i = asked; i < w->asked; i++)
			fi_freeinfo(w->asks[i].hints);
		w->asked = asked;
		ct_fail_alloc(nth);
		ret = crn_lower_info(&w->fabric, info, lower);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(*lower, NULL);
	}
	CT_EXPECT_EQ(nth, 6);
	return ret;
}

CT_TEST_F(lower_table,
	  objects_open_with_the_lower_providers_numbers_where_they_are_the_layers)
{
	struct fi_info *lower;
	const struct lower_asked *asked;

	lower_world_open(t, owning, CRN_COUNT(owning));
	lower_fabric(t);
	prov = t->provs;
	prov->info->tx_attr->size = 32;
	prov->info->tx_attr->inject_size = 7;
	CT_ASSERT_EQ(ask(t, hints_for(FI_MSG)), 0);
	CT_EXPECT_EQ(t->asks[t->asked - 1].hints->tx_attr->size, 16);
	CT_EXPECT_EQ(info->tx_attr->size, 8);
	CT_EXPECT_EQ(info->tx_attr->inject_size, 100);
	info->handle = &t->lower.fid;
	info->dest_addr = strdup("somewhere");
	info->dest_addrlen = 9;
	CT_ASSERT_EQ(info_failing(t, &lower), 0);
	CT_EXPECT_EQ(lower->tx_attr->size, 32);
	CT_EXPECT_EQ(lower->tx_attr->inject_size, 7);
	CT_EXPECT_EQ(lower->handle, &t->lower.fid);
	CT_EXPECT_NE(lower->dest_addr, NULL);
	fi_freeinfo(lower);
	asked = &t->asks[t->asked - 1];
	CT_EXPECT_EQ(asked->hints->fabric_attr->name, NULL);
	CT_EXPECT_EQ(asked->hints->domain_attr->name, NULL);
	CT_EXPECT_EQ(asked->hints->tx_attr->size, 16);
	CT_EXPECT_EQ(asked->hints->tx_attr->inject_size, 0);
	CT_EXPECT_EQ(asked->hints->handle, NULL);
	CT_EXPECT_EQ(asked->hints->dest_addr, NULL);
	/* Names may depend on the address. */
	prov->info->domain_attr->name[0] = 'r';
	CT_ASSERT_EQ(crn_lower_info(&t->fabric, info, &lower), 0);
	CT_EXPECT_EQ(lower->tx_attr->size, 32);
	CT_EXPECT_STREQ(lower->domain_attr->name, "dom");
	fi_freeinfo(lower);
	/* It is gone. */
	prov->name = "other";
	CT_EXPECT_EQ(crn_lower_info(&t->fabric, info, &lower), -FI_ENODATA);
	CT_EXPECT_EQ(lower, NULL);
	CT_EXPECT_EQ(crn_lower_fabric_close(&t->fabric), 0);
}
