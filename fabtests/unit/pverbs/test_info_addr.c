/* SPDX-License-Identifier: BSD-2-Clause */
/* Node, service, flags and addresses of hints in fi_getinfo(3). */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include "world.h"

/*
 *   fake0: 10.0.0.1, fd00::1, fe80::1, reaches 10.0.0.2, fd00::2, fe80::2
 *   fake1: 10.1.0.1, reaches 10.1.0.2
 *   8.8.8.8 is reached over an interface without RDMA; nothing else is.
 */
static void reset(void)
{
	world_reset();
	fake_cm_reset();
	fake_add_addr("10.0.0.1", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("fd00::1", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("fe80::1", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("192.168.0.1", NULL, 0, IFF_UP);
	fake_add_route("10.0.0.2", "10.0.0.1");
	fake_add_route("fd00::2", "fd00::1");
	fake_add_route("fe80::2", "fe80::1");
	fake_add_route("10.1.0.2", "10.1.0.1");
	fake_add_route("8.8.8.8", "192.168.0.1");
}

struct row {
	const char *node, *service;
	uint64_t flags;
	const char *src, *dest; /* of the hints, "address port" */
	uint32_t format;
	const char *wanted; /* "source" or "source > destination" of every answer */
};

/* A hint: an address, a blank, a port. */
static void set_hint(void **addr, size_t *len, const char *text)
{
	union crn_addr out;
	char host[64];
	unsigned int port;

	if (!text)
		return;
	CT_EXPECT_EQ(sscanf(text, "%63s %u", host, &port), 2);
	out = fake_addr(host, (uint16_t)port);
	*addr = crn_addr_dup(&out.sa);
	*len = crn_addr_len(&out.sa);
}

static const char *text_of(const struct fi_info *info)
{
	char src[CRN_ADDR_STRLEN], dest[CRN_ADDR_STRLEN];
	static char text[1024];
	size_t at = 0;

	text[0] = '\0';
	for (; info; info = info->next) {
		CT_EXPECT_EQ(info->src_addrlen, crn_addr_len(info->src_addr));
		CT_EXPECT_EQ(info->addr_format, crn_addr_format(info->src_addr));
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
				       at ? ", " : "", crn_addr_str(info->src_addr, src));
		if (!info->dest_addr)
			continue;
		CT_EXPECT_EQ(info->dest_addrlen, crn_addr_len(info->dest_addr));
		at += (size_t)snprintf(text + at, sizeof(text) - at, " > %s",
				       crn_addr_str(info->dest_addr, dest));
	}
	return text;
}

static void check(const struct row *row)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret;

	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->addr_format = row->format;
	set_hint(&hints->src_addr, &hints->src_addrlen, row->src);
	set_hint(&hints->dest_addr, &hints->dest_addrlen, row->dest);
	ret = pvb_getinfo(FI_VERSION(1, 17), row->node, row->service, row->flags, hints,
			  &info);
	CT_EXPECT_EQ(ret, row->wanted ? 0 : -FI_ENODATA);
	CT_EXPECT_STREQ(text_of(info), row->wanted ? row->wanted : "");
	CT_EXPECT_EQ(fake_objects, 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

static void check_all(const struct row *rows, size_t count)
{
	reset();
	for (size_t i = 0; i < count; i++) {
		CT_NOTE("node %s, service %s, flags 0x%llx, src %s, dest %s, format %u",
			rows[i].node, rows[i].service, (unsigned long long)rows[i].flags,
			rows[i].src, rows[i].dest, rows[i].format);
		check(&rows[i]);
	}
}

#define ALL "10.0.0.1:0, [fd00::1]:0, [fe80::1%7]:0, 10.1.0.1:0"
#define ALL_55 "10.0.0.1:55, [fd00::1]:55, [fe80::1%7]:55, 10.1.0.1:55"

CT_TEST(info_addr, without_a_wish_every_address_is_listed)
{
	static const struct row rows[] = {
		{NULL, NULL, 0, NULL, NULL, 0, ALL},
		{NULL, NULL, 0, NULL, NULL, FI_SOCKADDR, ALL},
		{NULL, NULL, 0, NULL, NULL, FI_SOCKADDR_IN, "10.0.0.1:0, 10.1.0.1:0"},
		{NULL, NULL, 0, NULL, NULL, FI_SOCKADDR_IN6,
		 "[fd00::1]:0, [fe80::1%7]:0"},
		{NULL, NULL, 0, NULL, NULL, FI_ADDR_STR, NULL},
		{NULL, NULL, 0, NULL, NULL, FI_SOCKADDR_IB, NULL},
	};

	check_all(rows, CRN_COUNT(rows));
}

CT_TEST(info_addr, node_and_service_are_the_destination)
{
	static const struct row rows[] = {
		{"10.0.0.2", "7", 0, NULL, NULL, 0, "10.0.0.1:0 > 10.0.0.2:7"},
		{"10.0.0.2", NULL, 0, NULL, NULL, 0, "10.0.0.1:0 > 10.0.0.2:0"},
		{"10.1.0.2", "7", 0, NULL, NULL, 0, "10.1.0.1:0 > 10.1.0.2:7"},
		{"fd00::2", "7", 0, NULL, NULL, 0, "[fd00::1]:0 > [fd00::2]:7"},
		{"10.0.0.2", "7", FI_NUMERICHOST, NULL, NULL, 0,
		 "10.0.0.1:0 > 10.0.0.2:7"},
		{"localhost", "7", FI_NUMERICHOST, NULL, NULL, 0, NULL},
		{"10.0.0.2", NULL, 0, NULL, NULL, FI_SOCKADDR_IN6, NULL},
		{"fd00::2", NULL, 0, NULL, NULL, FI_SOCKADDR_IN, NULL},
		{"fd00::2", NULL, 0, NULL, NULL, FI_SOCKADDR_IN6,
		 "[fd00::1]:0 > [fd00::2]:0"},
	};

	check_all(rows, CRN_COUNT(rows));
}

CT_TEST(info_addr, a_destination_that_no_rdma_device_reaches_is_no_data)
{
	static const struct row rows[] = {
		{"8.8.8.8", NULL, 0, NULL, NULL, 0, NULL},
		{"9.9.9.9", NULL, 0, NULL, NULL, 0, NULL},
		{NULL, NULL, 0, NULL, "8.8.8.8 1", 0, NULL},
		{NULL, NULL, 0, NULL, "9.9.9.9 1", 0, NULL},
	};

	check_all(rows, CRN_COUNT(rows));
}

CT_TEST(info_addr, with_source_node_and_service_are_our_own)
{
	static const struct row rows[] = {
		{"10.0.0.1", "55", FI_SOURCE, NULL, NULL, 0, "10.0.0.1:55"},
		{"10.1.0.1", NULL, FI_SOURCE, NULL, NULL, 0, "10.1.0.1:0"},
		{"fe80::1%7", "55", FI_SOURCE, NULL, NULL, 0, "[fe80::1%7]:55"},
		{"10.5.5.5", "55", FI_SOURCE, NULL, NULL, 0, NULL},
		{"192.168.0.1", NULL, FI_SOURCE, NULL, NULL, 0, NULL},
		{NULL, "55", FI_SOURCE, NULL, NULL, 0, ALL_55},
		{"0.0.0.0", "55", FI_SOURCE, NULL, NULL, 0, ALL_55},
		{"::", "55", FI_SOURCE, NULL, NULL, 0, ALL_55},
		{"127.0.0.1", "55", FI_SOURCE, NULL, NULL, 0, "10.0.0.1:55, 10.1.0.1:55"},
		{NULL, "55", FI_SOURCE, NULL, NULL, FI_SOCKADDR_IN6,
		 "[fd00::1]:55, [fe80::1%7]:55"},
	};

	check_all(rows, CRN_COUNT(rows));
}

/* No device has the loopback address: a program that names it means this machine. */
CT_TEST(info_addr, a_loopback_destination_is_a_devices_own_address)
{
	static const struct row rows[] = {
		{"127.0.0.1", "7", 0, NULL, NULL, 0,
		 "10.0.0.1:0 > 10.0.0.1:7, 10.1.0.1:0 > 10.1.0.1:7"},
		{"::1", "7", 0, NULL, NULL, 0,
		 "[fd00::1]:0 > [fd00::1]:7, [fe80::1%7]:0 > [fe80::1%7]:7"},
		{NULL, "7", 0, NULL, NULL, FI_SOCKADDR_IN,
		 "10.0.0.1:0 > 10.0.0.1:7, 10.1.0.1:0 > 10.1.0.1:7"},
		{NULL, NULL, 0, "10.1.0.1 0", "127.0.0.1 7", 0,
		 "10.1.0.1:0 > 10.1.0.1:7"},
	};

	check_all(rows, CRN_COUNT(rows));
}

CT_TEST(info_addr, addresses_of_the_hints_count_where_node_and_service_do_not)
{
	static const struct row rows[] = {
		{NULL, NULL, 0, NULL, "10.0.0.2 7", 0, "10.0.0.1:0 > 10.0.0.2:7"},
		{NULL, NULL, 0, NULL, "fe80::2 7", 0, "[fe80::1%7]:0 > [fe80::2%7]:7"},
		{NULL, NULL, 0, "10.1.0.1 55", NULL, 0, "10.1.0.1:55"},
		{NULL, NULL, 0, "10.5.5.5 55", NULL, 0, NULL},
		{NULL, NULL, 0, "10.0.0.1 55", "10.0.0.2 7", 0,
		 "10.0.0.1:55 > 10.0.0.2:7"},
		{"10.0.0.2", "7", 0, "10.0.0.1 55", NULL, 0, "10.0.0.1:55 > 10.0.0.2:7"},
		/* The program's choice of source stands against the route. */
		{"10.0.0.2", "7", 0, "10.1.0.1 55", NULL, 0, "10.1.0.1:55 > 10.0.0.2:7"},
		{"10.0.0.2", NULL, 0, "fd00::1 55", NULL, 0, NULL},
		{"10.0.0.1", "55", FI_SOURCE, "10.1.0.1 9", "10.0.0.2 7", 0,
		 "10.0.0.1:55 > 10.0.0.2:7"},
		{"10.0.0.2", "7", 0, NULL, "10.1.0.2 9", 0, "10.0.0.1:0 > 10.0.0.2:7"},
		{NULL, NULL, FI_SOURCE, "10.0.0.1 55", "10.0.0.2 7", 0,
		 "10.0.0.1:55 > 10.0.0.2:7"},
		{NULL, NULL, 0, "10.0.0.1 55", NULL, FI_SOCKADDR_IN6, NULL},
	};

	check_all(rows, CRN_COUNT(rows));
}

/* A program that binds to a port only: the route says on which device. */
CT_TEST(info_addr, a_wildcard_source_names_a_port)
{
	static const struct row rows[] = {
		{NULL, NULL, 0, "0.0.0.0 55", NULL, 0, ALL_55},
		{NULL, NULL, 0, ":: 55", NULL, 0, ALL_55},
		{NULL, NULL, 0, "0.0.0.0 55", "10.1.0.2 7", 0,
		 "10.1.0.1:55 > 10.1.0.2:7"},
		{"10.0.0.2", "7", 0, "0.0.0.0 55", NULL, 0, "10.0.0.1:55 > 10.0.0.2:7"},
		{"127.0.0.1", "7", 0, "0.0.0.0 55", NULL, 0,
		 "10.0.0.1:55 > 10.0.0.1:7, 10.1.0.1:55 > 10.1.0.1:7"},
	};

	check_all(rows, CRN_COUNT(rows));
}

CT_TEST(info_addr, an_address_of_the_hints_that_is_none_is_no_data)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	union crn_addr addr = {.sa.sa_family = AF_UNIX};

	reset();
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	hints->caps = FI_MSG;
	hints->src_addr = &addr;
	hints->src_addrlen = sizeof(addr);
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	addr = fake_addr("10.0.0.1", 0);
	hints->src_addrlen = sizeof(addr.in) - 1;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	/* Node and service take its place. */
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), "10.0.0.1", NULL, FI_SOURCE, hints,
				 &info),
		     0);
	CT_EXPECT_STREQ(text_of(info), "10.0.0.1:0");
	fi_freeinfo(info);
	hints->src_addr = NULL;
	hints->src_addrlen = 0;
	hints->dest_addr = &addr;
	hints->dest_addrlen = 1;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	CT_EXPECT_EQ(info, NULL);
	/* fi_getinfo(3): a length of 0 is no address. */
	hints->dest_addrlen = 0;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	CT_EXPECT_STREQ(text_of(info), ALL);
	fi_freeinfo(info);
	hints->dest_addr = NULL;
	fi_freeinfo(hints);
}
