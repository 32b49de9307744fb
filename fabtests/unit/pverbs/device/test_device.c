/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses lead to which devices. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include "../world.h"

/* world_reset without its address. */
static void reset(void)
{
	world_reset();
	fake_cm_reset();
}

/* Every entry as "device/port address", in one line. */
static const char *list_addrs(void)
{
	static char text[1024];
	char addr[CRN_ADDR_STRLEN];
	struct pvb_device_addr *list = NULL;
	size_t count = 0, at = 0;
	int ret = pvb_device_addrs(&list, &count);

	text[0] = '\0';
	if (ret)
		snprintf(text, sizeof(text), "%s", fi_strerror(-ret));
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s/%u %s",
				       i ? ", " : "", list[i].device, list[i].port,
				       crn_addr_str(&list[i].addr.sa, addr));
	free(list);
	CT_EXPECT_EQ(fake_objects, 0);
	return text;
}

CT_TEST(device, addresses_are_listed_by_device_port_and_family_link_local_last)
{
	reset();
	fake_devices[1].attr.phys_port_cnt = 2;
	fake_add_addr("fe80::1", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("fd00::2", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("10.2.0.1", &fake_devices[1], 2, IFF_UP);
	fake_add_addr("10.1.0.2", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("169.254.1.1", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("fd00::1", &fake_devices[0], 1, IFF_UP);
	CT_EXPECT_STREQ(list_addrs(),
			"fake0/1 [fd00::1]:0, fake0/1 169.254.1.1:0, "
			"fake1/1 10.1.0.1:0, fake1/1 10.1.0.2:0, fake1/1 [fd00::2]:0, "
			"fake1/1 [fe80::1%7]:0, fake1/2 10.2.0.1:0");
}

CT_TEST(device, interfaces_that_are_down_loopback_or_without_device_are_left_out)
{
	reset();
	fake_add_addr("10.0.0.1", &fake_devices[0], 1, 0);
	fake_add_addr("127.0.0.1", &fake_devices[0], 1, IFF_UP | IFF_LOOPBACK);
	fake_add_addr("10.0.0.2", NULL, 0, IFF_UP);
	CT_EXPECT_STREQ(list_addrs(), fi_strerror(FI_ENODATA));
	CT_EXPECT_EQ(ct_log_count(), 1);
	fake_add_addr("10.0.0.3", &fake_devices[0], 1, IFF_UP);
	CT_EXPECT_STREQ(list_addrs(), "fake0/1 10.0.0.3:0");
}

CT_TEST(device, a_machine_without_addresses_has_no_device)
{
	reset();
	CT_EXPECT_STREQ(list_addrs(), fi_strerror(FI_ENODATA));
}

CT_TEST(device, the_users_list_of_devices_is_a_filter)
{
	static const struct {
		const char *filter, *wanted;
	} rows[] = {
		{NULL, "fake0/1 10.0.0.1:0, fake1/1 10.1.0.1:0, fake2/1 10.2.0.1:0"},
		{"", "fake0/1 10.0.0.1:0, fake1/1 10.1.0.1:0, fake2/1 10.2.0.1:0"},
		{"fake1", "fake1/1 10.1.0.1:0"},
		{"fake2,fake0", "fake0/1 10.0.0.1:0, fake2/1 10.2.0.1:0"},
		{",fake1,", "fake1/1 10.1.0.1:0"},
		{"other,fake1", "fake1/1 10.1.0.1:0"},
		{"fake", "No data available"},
		{"fake11", "No data available"},
		{"xfake1", "No data available"},
		{"fake1x,1", "No data available"},
		{",", "No data available"},
	};

	reset();
	fake_add_addr("10.0.0.1", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("10.2.0.1", &fake_devices[2], 1, IFF_UP);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("FI_PVERBS_DEVICE=%s", rows[i].filter ? rows[i].filter : "unset");
		pvb_params.device = (char *)rows[i].filter;
		CT_EXPECT_STREQ(list_addrs(), rows[i].wanted);
	}
	pvb_params.device = "fake";
	list_addrs();
	CT_EXPECT_STRSTR(ct_log_last(), "FI_PVERBS_DEVICE=fake");
	pvb_params.device = NULL;
}

CT_TEST(device, an_entry_tells_what_the_device_and_the_port_can_do)
{
	struct pvb_device_addr *list;
	size_t count;

	reset();
	fake_devices[0].attr.max_qp = 77;
	fake_devices[0].port[1].max_msg_sz = 1234;
	fake_devices[0].subnet_prefix = 0x1122334455667788;
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
	fake_add_addr("10.0.0.1", &fake_devices[0], 2, IFF_UP);
	CT_ASSERT_EQ(pvb_device_addrs(&list, &count), 0);
	CT_EXPECT_EQ(count, 1);
	CT_EXPECT_EQ(list[0].attr.max_qp, 77);
	CT_EXPECT_EQ(list[0].port_attr.max_msg_sz, 1234);
	CT_EXPECT_EQ(list[0].subnet_prefix, 0x1122334455667788);
	CT_EXPECT_TRUE(list[0].iwarp);
	free(list);
}

CT_TEST(device, a_device_that_does_not_answer_is_left_out_with_a_warning)
{
	static const enum fake_call calls[] = {FAKE_QUERY_DEVICE, FAKE_QUERY_PORT};

	for (size_t i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		reset();
		fake_add_addr("10.0.0.1", &fake_devices[0], 1, IFF_UP);
		fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
		fake_fail(calls[i], 1, EIO);
		CT_EXPECT_STREQ(list_addrs(), "fake1/1 10.1.0.1:0");
		CT_EXPECT_WARNED("fake0");
	}
}

CT_TEST(device, a_system_without_rdma_cm_has_no_device_and_says_why)
{
	reset();
	fake_fail(FAKE_CREATE_EVENT_CHANNEL, 1, ENOENT);
	CT_EXPECT_STREQ(list_addrs(), fi_strerror(FI_ENODATA));
	CT_EXPECT_STRSTR(ct_log_last(), "rdma_ucm");
}

/* A list that lacks some of the devices would be believed. */
CT_TEST(device, a_search_that_runs_out_of_something_fails)
{
	struct pvb_device_addr *list = NULL;
	size_t count = 0;
	unsigned int nth;
	int ret;

	reset();
	fake_add_addr("10.0.0.1", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	fake_fail(FAKE_GETIFADDRS, 1, EMFILE);
	CT_EXPECT_EQ(pvb_device_addrs(&list, &count), -FI_EMFILE);
	fake_fail(FAKE_CREATE_ID, 2, EMFILE);
	CT_EXPECT_EQ(pvb_device_addrs(&list, &count), -FI_EMFILE);
	/* The first allocation is the event channel's. */
	for (nth = 2; nth < 20; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = pvb_device_addrs(&list, &count);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(fake_objects, 0);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 4);
	free(list);
}

CT_TEST(device, a_device_is_opened_by_its_name)
{
	struct ibv_context *context;

	reset();
	CT_ASSERT_EQ(pvb_device_open("fake1", &context), 0);
	CT_EXPECT_EQ(context->device, &fake_devices[1].ibv);
	ibv_close_device(context);
	CT_EXPECT_EQ(pvb_device_open("fake", &context), -FI_ENODEV);
	CT_EXPECT_EQ(pvb_device_open("fake10", &context), -FI_ENODEV);
	fake_device_count(0);
	CT_EXPECT_EQ(pvb_device_open("fake1", &context), -FI_ENODEV);
	CT_EXPECT_EQ(fake_objects, 0);
}

CT_TEST(device, a_device_that_cannot_be_opened_is_an_error)
{
	struct ibv_context *context;

	reset();
	fake_fail(FAKE_OPEN_DEVICE, 1, EACCES);
	CT_EXPECT_EQ(pvb_device_open("fake0", &context), -FI_EACCES);
	fake_fail(FAKE_GET_DEVICE_LIST, 1, EPERM);
	CT_EXPECT_EQ(pvb_device_open("fake0", &context), -FI_EPERM);
	CT_EXPECT_EQ(fake_objects, 0);
}
