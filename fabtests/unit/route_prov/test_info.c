/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <arpa/inet.h>
#include "ends.h"
#include "info.h"

#define ROUTER "router = tcp://127.0.0.1:1\n"

static struct fi_info *ask(const char *node, const char *service, uint64_t flags,
			   struct fi_info *hints)
{
	struct fi_info *info = NULL;
	int ret = rte_getinfo(ENDS_API, node, service, flags, hints, &info);

	CT_EXPECT_EQ(ret, info ? 0 : -FI_ENODATA);
	fi_freeinfo(hints);
	return info;
}

static void expect_none(struct fi_info *info)
{
	CT_EXPECT_EQ(info, NULL);
	fi_freeinfo(info);
}

static void expect_dest(struct fi_info *info, uint32_t as, uint32_t subnet, uint32_t host)
{
	struct rte_end end = {0};

	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_EQ(info->addr_format, FI_SOCKADDR_IN6);
	CT_ASSERT_NE(info->dest_addr, NULL);
	CT_EXPECT_TRUE(rte_addr_parse(info->dest_addr, &end));
	CT_EXPECT_EQ(end.as, as);
	CT_EXPECT_EQ(end.subnet, subnet);
	CT_EXPECT_EQ(end.host, host);
	CT_EXPECT_EQ(end.port, 70);
	fi_freeinfo(info);
}

CT_TEST(info, without_a_configuration_one_line_names_the_variable)
{
	rte_params.config = NULL;
	expect_none(ask(NULL, NULL, 0, ends_hints(FI_MSG)));
	CT_EXPECT_EQ(ct_log_count(), 1u);
	CT_EXPECT_DATA(ct_log_last(), "FI_ROUTE_CONFIG");
}

CT_TEST(info, what_is_wrong_with_a_configuration_is_one_line)
{
	ends_config_text("[lo]\ntransport = tcp\nas = 3\nsubnit = 1\nas = 4\n");
	expect_none(ask(NULL, NULL, 0, ends_hints(FI_MSG)));
	CT_EXPECT_EQ(ct_log_count(), 1u);
	CT_EXPECT_DATA(ct_log_last(), "FI_ROUTE_CONFIG subnit :4:");
}

CT_TEST(info, a_router_by_ipv6_is_refused_with_a_line)
{
	ends_config_text("[lo]\ntransport = tcp\nas = 3\nsubnet = 1\n"
			 "router = tcp://[::1]:7000\n");
	expect_none(ask(NULL, NULL, 0, ends_hints(FI_MSG)));
	CT_EXPECT_EQ(ct_log_count(), 1u);
	CT_EXPECT_STRSTR(ct_log_last(), "a client reaches routers by IPv4 alone");
}

CT_TEST(info, a_router_whose_name_does_not_resolve_is_one_line)
{
	/* Machines without DNS do not wait long for it. */
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
	ends_config_text("[lo]\ntransport = tcp\nas = 3\nsubnet = 1\n"
			 "router = tcp://nowhere.invalid:7000\n");
	expect_none(ask(NULL, NULL, 0, ends_hints(FI_MSG)));
	CT_EXPECT_EQ(ct_log_count(), 1u);
	CT_EXPECT_STRSTR(ct_log_last(), "tcp://nowhere.invalid:7000 does not resolve");
}

CT_TEST(info, a_target_whose_name_does_not_resolve_is_one_line)
{
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
	ends_config(ROUTER, "");
	expect_none(ask("nowhere.invalid", "70", 0, ends_hints(FI_MSG)));
	CT_EXPECT_EQ(ct_log_count(), 1u);
	CT_EXPECT_STRSTR(ct_log_last(), "nowhere.invalid:70 does not resolve");
}

CT_TEST(info, a_source_of_another_host_is_one_line)
{
	ends_config(ROUTER, "");
	expect_none(ask("192.0.2.77", "70", FI_SOURCE, ends_hints(FI_MSG)));
	CT_EXPECT_EQ(ct_log_count(), 1u);
	CT_EXPECT_STRSTR(ct_log_last(), "192.0.2.77:70 is no address of the device");
}

CT_TEST(info, who_does_not_name_it_gets_nothing_in_silence)
{
	struct fi_info *hints = ends_hints(FI_MSG);

	ends_config(ROUTER, "");
	free(hints->fabric_attr->prov_name);
	hints->fabric_attr->prov_name = NULL;
	expect_none(ask(NULL, NULL, 0, hints));
	CT_EXPECT_EQ(ct_log_count(), 0u);
}

CT_TEST(info, what_it_runs_over_is_not_chosen_by_name)
{
	struct fi_info *hints = ends_hints(FI_MSG);

	ends_config(ROUTER, "");
	free(hints->fabric_attr->prov_name);
	hints->fabric_attr->prov_name = strdup("tcp;route");
	expect_none(ask(NULL, NULL, 0, hints));
	CT_EXPECT_DATA(ct_log_last(), "tcp;route");
}

CT_TEST(info, names_and_source_are_the_devices)
{
	struct fi_info *info;
	struct rte_end end;

	ends_config(ROUTER, "");
	info = ask(NULL, NULL, 0, ends_hints(FI_MSG));
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_STREQ(info->fabric_attr->name, "route");
	CT_EXPECT_STREQ(info->domain_attr->name, "lo");
	CT_ASSERT_TRUE(rte_addr_parse(info->src_addr, &end));
	CT_EXPECT_EQ(end.as, 3u);
	CT_EXPECT_EQ(end.subnet, 1u);
	CT_EXPECT_EQ(end.host, ENDS_TARGET);
	CT_EXPECT_EQ(end.port, 0);
	CT_EXPECT_EQ(info->dest_addr, NULL);
	CT_EXPECT_GE(info->ep_attr->max_msg_size, (size_t)1 << 30);
	CT_EXPECT_EQ(info->next, NULL);
	fi_freeinfo(info);
}

CT_TEST(info, each_routable_device_is_one_answer_the_near_one_first)
{
	struct fi_info *info;

	ends_config_text("[a]\ntransport = tcp\nas = 3\nsubnet = 1\n" ROUTER
			 "[b]\ntransport = tcp\nas = 3\nsubnet = 2\n" ROUTER
			 "[c]\ntransport = tcp\nas = 3\n");
	info = ask("cci://3:2:127.0.0.1:70", NULL, 0, ends_hints(FI_MSG));
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_STREQ(info->domain_attr->name, "b");
	CT_ASSERT_NE(info->next, NULL);
	CT_EXPECT_STREQ(info->next->domain_attr->name, "a");
	CT_EXPECT_EQ(info->next->next, NULL);
	fi_freeinfo(info);
}

CT_TEST(info, targets_may_be_written_in_many_ways)
{
	struct fi_info *hints;

	ends_config(ROUTER, "prefix = 10.0.2.0/24 -> 3:2\n");
	CT_NOTE("plain");
	expect_dest(ask("10.0.2.7", "70", 0, ends_hints(FI_MSG)), 3, 2, 0x0a000207);
	CT_NOTE("fi_route");
	expect_dest(ask("fi_route://4:5/tcp://1.2.3.4:70", NULL, 0, ends_hints(FI_MSG)),
		    4, 5, 0x01020304);
	CT_NOTE("routed, in numbers");
	expect_dest(ask("fd72:7402:0:4:0:5:102:304", "70", 0, ends_hints(FI_MSG)), 4, 5,
		    0x01020304);
	CT_NOTE("text in the hints");
	hints = ends_hints(FI_MSG);
	hints->addr_format = FI_ADDR_STR;
	hints->dest_addr = strdup("cci://4:5:1.2.3.4:70");
	hints->dest_addrlen = strlen(hints->dest_addr) + 1;
	expect_dest(ask(NULL, NULL, 0, hints), 4, 5, 0x01020304);
	CT_NOTE("IPv4 in the hints");
	hints = ends_hints(FI_MSG);
	hints->addr_format = FI_SOCKADDR_IN;
	hints->dest_addr = calloc(1, sizeof(struct sockaddr_in));
	*(struct sockaddr_in *)hints->dest_addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(70),
		.sin_addr.s_addr = htonl(0x0a000208),
	};
	hints->dest_addrlen = sizeof(struct sockaddr_in);
	expect_dest(ask(NULL, NULL, 0, hints), 3, 2, 0x0a000208);
	CT_NOTE("nowhere");
	expect_none(ask("10.0.3.7", "70", 0, ends_hints(FI_MSG)));
	CT_EXPECT_DATA(ct_log_last(), "prefix 10.0.3.7");
}

CT_TEST(info, text_in_the_hints_ends)
{
	struct fi_info *hints = ends_hints(FI_MSG);

	ends_config(ROUTER, "");
	hints->addr_format = FI_ADDR_STR;
	hints->dest_addr = strdup("cci://4:5:1.2.3.4:70");
	hints->dest_addrlen = strlen(hints->dest_addr);
	expect_none(ask(NULL, NULL, 0, hints));
}

CT_TEST(info, a_source_that_is_not_the_devices_is_refused)
{
	struct rte_end end;
	struct fi_info *info;

	ends_config(ROUTER, "");
	expect_none(ask("10.9.8.7", "70", FI_SOURCE, ends_hints(FI_MSG)));
	info = ask(NULL, "70", FI_SOURCE, ends_hints(FI_MSG));
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_TRUE(rte_addr_parse(info->src_addr, &end));
	CT_EXPECT_EQ(end.port, 70);
	CT_EXPECT_EQ(end.host, ENDS_TARGET);
	fi_freeinfo(info);
}

CT_TEST(info, keys_are_the_providers_where_the_hints_allow_that)
{
	static const struct {
		int hinted, granted;
	} rows[] = {
		{0, 0},
		{FI_MR_PROV_KEY, FI_MR_PROV_KEY},
		{FI_MR_VIRT_ADDR, 0},
		{FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY, FI_MR_PROV_KEY},
		{CRN_MR_BASIC, CRN_MR_BASIC},
		{CRN_MR_SCALABLE, CRN_MR_SCALABLE},
	};
	struct fi_info *hints, *info;
	size_t i;

	ends_config(ROUTER, "");
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("mr_mode 0x%x", rows[i].hinted);
		hints = ends_hints(FI_MSG | FI_RMA);
		hints->domain_attr->mr_mode = rows[i].hinted;
		info = ask(NULL, NULL, 0, hints);
		CT_ASSERT_NE(info, NULL);
		CT_EXPECT_EQ(info->domain_attr->mr_mode, rows[i].granted);
		fi_freeinfo(info);
	}
}

CT_TEST(info, the_answers_format_cannot_be_another)
{
	static const struct {
		uint32_t format;
		bool answered;
	} rows[] = {{FI_SOCKADDR, true},
		    {FI_SOCKADDR_IN6, true},
		    {FI_SOCKADDR_IN, false},
		    {FI_ADDR_STR, false},
		    {FI_ADDR_GNI, false}};
	struct fi_info *hints, *info;
	size_t i;

	ends_config(ROUTER, "");
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("format %u", rows[i].format);
		hints = ends_hints(FI_MSG);
		hints->addr_format = rows[i].format;
		info = ask(NULL, NULL, 0, hints);
		CT_EXPECT_EQ(info != NULL, rows[i].answered);
		fi_freeinfo(info);
	}
}

CT_TEST(info, a_device_whose_provider_is_not_there_is_left_out)
{
	struct fi_info *info;

	ends_config_text("[a]\ntransport = gni\nas = 3\nsubnet = 2\n"
			 "router = gni://127.0.0.1:1\n"
			 "[b]\ntransport = tcp\nas = 3\nsubnet = 1\n" ROUTER);
	info = ask(NULL, NULL, 0, ends_hints(FI_MSG));
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_STREQ(info->domain_attr->name, "b");
	CT_EXPECT_EQ(info->next, NULL);
	fi_freeinfo(info);
}

CT_TEST(info, no_memory_at_any_place_is_an_error_without_a_leak)
{
	struct fi_info *hints, *info;
	unsigned int nth;
	int ret;

	ends_config(ROUTER, "");
	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		hints = ends_hints(FI_MSG);
		info = NULL;
		ct_fail_alloc(nth);
		ret = rte_getinfo(ENDS_API, "127.0.0.1", "70", 0, hints, &info);
		fi_freeinfo(hints);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(!ret, info != NULL);
		fi_freeinfo(info);
	}
	CT_EXPECT_EQ(ret, 0);
	fi_freeinfo(info);
}
