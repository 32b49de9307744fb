/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields with a rule of their own: names, address formats, threading, orders. */
#include <string.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "attr_world.h"
#include "cairn_test.h"

CT_FIXTURE(attr, struct attr_scene, attr_begin, attr_end);

CT_TEST_F(attr, names_are_compared_whole)
{
	static const struct {
		const char *domain, *fabric;
		int ret;
	} rows[] = {
		{NULL, NULL, 0},
		{"device0", NULL, 0},
		{NULL, "fabric0", 0},
		{"device0", "fabric0", 0},
		{"device", NULL, -FI_ENODATA},
		{"device01", NULL, -FI_ENODATA},
		{"", NULL, -FI_ENODATA},
		{NULL, "Fabric0", -FI_ENODATA},
		{"device0", "fabric1", -FI_ENODATA},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("domain %s, fabric %s", rows[i].domain, rows[i].fabric);
		attr_begin(t);
		if (rows[i].domain)
			t->hints->domain_attr->name = strdup(rows[i].domain);
		if (rows[i].fabric)
			t->hints->fabric_attr->name = strdup(rows[i].fabric);
		t->hints->fabric_attr->prov_name = strdup("another;name");
		t->hints->fabric_attr->prov_version = UINT32_MAX;
		CT_EXPECT_EQ(ask(t), rows[i].ret);
		if (t->answer)
			CT_EXPECT_STREQ(t->answer->domain_attr->name, "device0");
	}
}

CT_TEST_F(attr, an_offer_without_a_name_is_nobodys)
{
	fi_freeinfo(t->offer);
	t->offer = fi_allocinfo();
	t->hints->domain_attr->name = strdup("device0");
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "device0");
}

CT_TEST_F(attr, socket_address_formats_match_their_family_or_any)
{
	static const struct {
		uint32_t offered, asked;
		int ret;
	} rows[] = {
		{FI_SOCKADDR_IN, FI_FORMAT_UNSPEC, 0},
		{FI_SOCKADDR_IN, FI_SOCKADDR_IN, 0},
		{FI_SOCKADDR_IN, FI_SOCKADDR, 0},
		{FI_SOCKADDR_IN, FI_SOCKADDR_IN6, -FI_ENODATA},
		{FI_SOCKADDR_IN6, FI_SOCKADDR, 0},
		{FI_SOCKADDR_IN6, FI_SOCKADDR_IN, -FI_ENODATA},
		{FI_SOCKADDR, FI_SOCKADDR_IN, 0},
		{FI_SOCKADDR, FI_SOCKADDR_IN6, 0},
		{FI_SOCKADDR, FI_SOCKADDR, 0},
		{FI_SOCKADDR, FI_ADDR_STR, -FI_ENODATA},
		{FI_SOCKADDR_IN, FI_ADDR_STR, -FI_ENODATA},
		{FI_ADDR_IB_UD, FI_SOCKADDR, -FI_ENODATA},
		{FI_ADDR_IB_UD, FI_ADDR_IB_UD, 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("offered %u, asked for %u", rows[i].offered, rows[i].asked);
		attr_begin(t);
		t->offer->addr_format = rows[i].offered;
		t->hints->addr_format = rows[i].asked;
		CT_EXPECT_EQ(ask(t), rows[i].ret);
		if (t->answer)
			CT_EXPECT_EQ(t->answer->addr_format, rows[i].offered);
	}
}

/* fi_domain(3), from the one who must guard nothing to the one who must guard all. */
CT_TEST_F(attr, a_threading_level_is_satisfied_by_every_provider_that_guards_as_much)
{
	static const enum fi_threading levels[] = {FI_THREAD_SAFE, FI_THREAD_FID,
						   FI_THREAD_ENDPOINT,
						   FI_THREAD_COMPLETION,
						   FI_THREAD_DOMAIN};

	for (size_t offered = 0; offered < CRN_COUNT(levels); offered++) {
		for (size_t asked = 0; asked < CRN_COUNT(levels); asked++) {
			CT_NOTE("offered %u, asked for %u", levels[offered],
				levels[asked]);
			attr_begin(t);
			t->offer->domain_attr->threading = levels[offered];
			t->hints->domain_attr->threading = levels[asked];
			CT_EXPECT_EQ(ask(t), offered <= asked ? 0 : -FI_ENODATA);
		}
	}
}

CT_TEST_F(attr, wishes_that_only_a_wider_offer_would_grant)
{
	t->offer->domain_attr->resource_mgmt = FI_RM_DISABLED;
	t->hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	t->hints->domain_attr->resource_mgmt = FI_RM_DISABLED;
	CT_EXPECT_EQ(ask(t), 0);

	t->offer->domain_attr->av_type = FI_AV_TABLE;
	t->hints->domain_attr->av_type = FI_AV_MAP;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	t->hints->domain_attr->av_type = FI_AV_TABLE;
	CT_EXPECT_EQ(ask(t), 0);

	t->offer->domain_attr->max_ep_srx_ctx = 0;
	t->hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
}

CT_TEST_F(attr, order_sizes_are_told_for_orders_that_are_kept_only)
{
	static const struct {
		const char *name;
		uint64_t order;
		size_t raw, war, waw;
	} rows[] = {
		{"none", FI_ORDER_SAS, 0, 0, 0},
		{"read after write", FI_ORDER_RAW, 302, 0, 0},
		{"write after read", FI_ORDER_WAR, 0, 303, 0},
		{"write after write", FI_ORDER_WAW, 0, 0, 304},
		{"of RMA", FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW, 302,
		 303, 304},
		{"of atomics",
		 FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW, 302,
		 303, 304},
		{"no wish: all that is offered", 0, 302, 303, 304},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		attr_begin(t);
		t->offer->tx_attr->msg_order = ~0ULL;
		t->hints->tx_attr->msg_order = rows[i].order;
		CT_EXPECT_EQ(ask(t), 0);
		CT_ASSERT_NE(t->answer, NULL);
		CT_EXPECT_EQ(t->answer->ep_attr->max_order_raw_size, rows[i].raw);
		CT_EXPECT_EQ(t->answer->ep_attr->max_order_war_size, rows[i].war);
		CT_EXPECT_EQ(t->answer->ep_attr->max_order_waw_size, rows[i].waw);
	}
}
