/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <cairn/addr.h>
#include <cairn/compat.h>
#include "cairn_test.h"

/* "1.2.3.4" or "fe80::1", with scope id and port; no text: an unknown family. */
static union crn_addr make(const char *text, uint32_t scope, uint16_t port)
{
	union crn_addr addr;

	memset(&addr, 0, sizeof(addr));
	if (!*text) {
		addr.sa.sa_family = AF_UNIX;
	} else if (strchr(text, ':')) {
		addr.sa.sa_family = AF_INET6;
		addr.in6.sin6_port = htons(port);
		addr.in6.sin6_scope_id = scope;
		CT_EXPECT_EQ(inet_pton(AF_INET6, text, &addr.in6.sin6_addr), 1);
	} else {
		addr.sa.sa_family = AF_INET;
		addr.in.sin_port = htons(port);
		CT_EXPECT_EQ(inet_pton(AF_INET, text, &addr.in.sin_addr), 1);
	}
	return addr;
}

CT_TEST(addr, text_and_nature)
{
	static const struct {
		const char *host;
		uint32_t scope;
		uint16_t port;
		const char *text;
		size_t len;
		uint32_t format;
		bool any, loopback, linklocal;
	} rows[] = {
		{"0.0.0.0", 0, 0, "0.0.0.0:0", 16, FI_SOCKADDR_IN, true, false, false},
		{"1.2.3.4", 0, 80, "1.2.3.4:80", 16, FI_SOCKADDR_IN, false, false, false},
		{"127.0.0.1", 0, 1, "127.0.0.1:1", 16, FI_SOCKADDR_IN, false, true,
		 false},
		{"127.255.3.1", 0, 1, "127.255.3.1:1", 16, FI_SOCKADDR_IN, false, true,
		 false},
		{"128.0.0.1", 0, 1, "128.0.0.1:1", 16, FI_SOCKADDR_IN, false, false,
		 false},
		{"169.254.7.1", 0, 1, "169.254.7.1:1", 16, FI_SOCKADDR_IN, false, false,
		 true},
		{"169.253.7.1", 0, 1, "169.253.7.1:1", 16, FI_SOCKADDR_IN, false, false,
		 false},
		{"::", 0, 0, "[::]:0", 28, FI_SOCKADDR_IN6, true, false, false},
		{"::1", 0, 65535, "[::1]:65535", 28, FI_SOCKADDR_IN6, false, true, false},
		{"::2", 0, 1, "[::2]:1", 28, FI_SOCKADDR_IN6, false, false, false},
		{"fe80::1", 2, 80, "[fe80::1%2]:80", 28, FI_SOCKADDR_IN6, false, false,
		 true},
		{"febf::1", 0, 80, "[febf::1]:80", 28, FI_SOCKADDR_IN6, false, false,
		 true},
		{"fec0::1", 0, 80, "[fec0::1]:80", 28, FI_SOCKADDR_IN6, false, false,
		 false},
		{"2001:db8:1111:2222:3333:4444:5555:6666", UINT32_MAX, 65535,
		 "[2001:db8:1111:2222:3333:4444:5555:6666%4294967295]:65535", 28,
		 FI_SOCKADDR_IN6, false, false, false},
		{"", 0, 0, "(unknown family 1)", 0, FI_FORMAT_UNSPEC, false, false,
		 false},
	};
	char buf[CRN_ADDR_STRLEN];
	union crn_addr addr;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].text);
		addr = make(rows[i].host, rows[i].scope, rows[i].port);
		CT_EXPECT_STREQ(crn_addr_str(&addr.sa, buf), rows[i].text);
		CT_EXPECT_EQ(crn_addr_len(&addr.sa), rows[i].len);
		CT_EXPECT_EQ(crn_addr_format(&addr.sa), rows[i].format);
		CT_EXPECT_EQ(crn_addr_is_any(&addr.sa), rows[i].any);
		CT_EXPECT_EQ(crn_addr_is_loopback(&addr.sa), rows[i].loopback);
		CT_EXPECT_EQ(crn_addr_is_linklocal(&addr.sa), rows[i].linklocal);
		CT_EXPECT_EQ(crn_addr_port(&addr.sa), rows[i].port);
	}
}

CT_TEST(addr, what_an_application_gives_is_checked_for_length_family_and_format)
{
	union crn_addr in = make("1.2.3.4", 0, 80), in6 = make("fe80::1", 0, 80);
	union crn_addr un = make("", 0, 0);
	static const size_t in_len = sizeof(struct sockaddr_in);
	static const size_t in6_len = sizeof(struct sockaddr_in6);
	const struct {
		const char *name;
		const void *addr;
		size_t len;
		uint32_t format;
		bool valid;
	} rows[] = {
		{"v4, any format", &in, in_len, FI_FORMAT_UNSPEC, true},
		{"v4, sockaddr", &in, in_len, FI_SOCKADDR, true},
		{"v4, v4", &in, in_len, FI_SOCKADDR_IN, true},
		{"v4, longer", &in, sizeof(in), FI_SOCKADDR_IN, true},
		{"v4, v6", &in, in_len, FI_SOCKADDR_IN6, false},
		{"v4, another format", &in, in_len, FI_ADDR_STR, false},
		{"v4, short", &in, in_len - 1, FI_FORMAT_UNSPEC, false},
		{"v6, any format", &in6, in6_len, FI_FORMAT_UNSPEC, true},
		{"v6, sockaddr", &in6, in6_len, FI_SOCKADDR, true},
		{"v6, v6", &in6, in6_len, FI_SOCKADDR_IN6, true},
		{"v6, v4", &in6, in6_len, FI_SOCKADDR_IN, false},
		{"v6, as long as v4", &in6, in_len, FI_FORMAT_UNSPEC, false},
		{"unix", &un, sizeof(un), FI_FORMAT_UNSPEC, false},
		{"family only", &in, sizeof(sa_family_t), FI_FORMAT_UNSPEC, false},
		{"half a family", &in, 1, FI_FORMAT_UNSPEC, false},
		{"nothing", &in, 0, FI_FORMAT_UNSPEC, false},
		{"no address", NULL, in_len, FI_FORMAT_UNSPEC, false},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		CT_EXPECT_EQ(crn_addr_valid(rows[i].addr, rows[i].len, rows[i].format),
			     rows[i].valid);
	}
}

CT_TEST(addr, hosts_are_compared_without_ports_and_with_scopes_both_have)
{
	static const struct {
		const char *a;
		uint32_t a_scope;
		const char *b;
		uint32_t b_scope;
		bool same;
	} rows[] = {
		{"1.2.3.4", 0, "1.2.3.4", 0, true},
		{"1.2.3.4", 0, "1.2.3.5", 0, false},
		{"fe80::1", 1, "fe80::1", 1, true},
		{"fe80::1", 1, "fe80::1", 2, false},
		{"fe80::1", 0, "fe80::1", 2, true},
		{"fe80::1", 2, "fe80::1", 0, true},
		{"fe80::1", 0, "fe80::2", 0, false},
		{"1.2.3.4", 0, "::1", 0, false},
		{"::ffff:1.2.3.4", 0, "1.2.3.4", 0, false},
		{"", 0, "", 0, false},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		union crn_addr a = make(rows[i].a, rows[i].a_scope, 1);
		union crn_addr b = make(rows[i].b, rows[i].b_scope, 2);

		CT_NOTE("%s%%%u and %s%%%u", rows[i].a, rows[i].a_scope, rows[i].b,
			rows[i].b_scope);
		CT_EXPECT_EQ(crn_addr_same_host(&a.sa, &b.sa), rows[i].same);
		CT_EXPECT_EQ(crn_addr_same_host(&b.sa, &a.sa), rows[i].same);
	}
}

CT_TEST(addr, a_port_can_be_set)
{
	union crn_addr in = make("1.2.3.4", 0, 1), in6 = make("::1", 0, 1),
		       un = make("", 0, 0);
	union crn_addr before = un;

	crn_addr_set_port(&in.sa, 4791);
	crn_addr_set_port(&in6.sa, 4791);
	crn_addr_set_port(&un.sa, 4791);
	CT_EXPECT_EQ(crn_addr_port(&in.sa), 4791);
	CT_EXPECT_EQ(crn_addr_port(&in6.sa), 4791);
	CT_EXPECT_MEMEQ(&un, &before, sizeof(un));
}

CT_TEST(addr, a_copy_has_the_exact_length)
{
	union crn_addr in6 = make("fe80::1", 3, 80), un = make("", 0, 0);
	struct sockaddr *copy = crn_addr_dup(&in6.sa);

	CT_ASSERT_NE(copy, NULL);
	CT_EXPECT_MEMEQ(copy, &in6, sizeof(struct sockaddr_in6));
	free(copy);
	CT_EXPECT_EQ(crn_addr_dup(&un.sa), NULL);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_addr_dup(&in6.sa), NULL);
	CT_EXPECT_TRUE(ct_alloc_failed());
}

/* fi_cm(3), fi_getname: addrlen becomes the length of the whole address. */
CT_TEST(addr, copying_out_fills_the_room_and_tells_the_length)
{
	union crn_addr in = make("1.2.3.4", 0, 80);
	static const struct {
		size_t room;
		int ret;
	} rows[] = {{0, -FI_ETOOSMALL}, {7, -FI_ETOOSMALL}, {16, 0}, {20, 0}};
	size_t len, copied;
	char buf[21];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("room for %zu", rows[i].room);
		memset(buf, 'x', sizeof(buf));
		len = rows[i].room;
		copied = CRN_MIN(rows[i].room, sizeof(in.in));
		CT_EXPECT_EQ(crn_addr_copy_out(&in.sa, buf, &len), rows[i].ret);
		CT_EXPECT_EQ(len, sizeof(in.in));
		CT_EXPECT_MEMEQ(buf, &in, copied);
		CT_EXPECT_EQ(buf[copied], 'x');
	}
	len = 0;
	CT_EXPECT_EQ(crn_addr_copy_out(&in.sa, NULL, &len), -FI_ETOOSMALL);
}

CT_TEST(addr, names_resolve_as_fi_getinfo_words_it)
{
	static const struct {
		const char *name, *node, *service;
		int family;
		bool passive, numeric;
		int ret;
		const char *text;
	} rows[] = {
		{"address and port", "1.2.3.4", "80", AF_UNSPEC, false, false, 0,
		 "1.2.3.4:80"},
		{"address alone", "1.2.3.4", NULL, AF_UNSPEC, false, true, 0,
		 "1.2.3.4:0"},
		{"passive port", NULL, "80", AF_INET, true, false, 0, "0.0.0.0:80"},
		{"passive port, v6", NULL, "80", AF_INET6, true, false, 0, "[::]:80"},
		{"active port", NULL, "80", AF_INET, false, false, 0, "127.0.0.1:80"},
		{"v6", "fe80::1%1", "80", AF_UNSPEC, false, true, 0, "[fe80::1%1]:80"},
		{"v6 where v4 is wanted", "fe80::1", "80", AF_INET, false, true,
		 -FI_ENODATA, NULL},
		{"a name where a number is wanted", "localhost", "80", AF_UNSPEC, false,
		 true, -FI_ENODATA, NULL},
		{"no such port", "1.2.3.4", "no-such-service", AF_UNSPEC, false, true,
		 -FI_ENODATA, NULL},
		{"neither", NULL, NULL, AF_UNSPEC, false, false, -FI_ENODATA, NULL},
	};
	char buf[CRN_ADDR_STRLEN];
	union crn_addr addr;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		CT_EXPECT_EQ(crn_addr_resolve(rows[i].node, rows[i].service,
					      rows[i].family, rows[i].passive,
					      rows[i].numeric, &addr),
			     rows[i].ret);
		if (!rows[i].ret)
			CT_EXPECT_STREQ(crn_addr_str(&addr.sa, buf), rows[i].text);
	}
}

CT_TEST(addr, all_addresses_of_a_name_are_told)
{
	union crn_addr all[4];
	char buf[CRN_ADDR_STRLEN];
	int count;

	CT_EXPECT_EQ(crn_addr_resolve_all("1.2.3.4", "80", AF_INET, all, 4), 1);
	CT_EXPECT_STREQ(crn_addr_str(&all[0].sa, buf), "1.2.3.4:80");
	CT_EXPECT_EQ(crn_addr_resolve_all("1.2.3.4", "80", AF_INET6, all, 4),
		     -FI_ENODATA);
	count = crn_addr_resolve_all("localhost", "80", AF_UNSPEC, all, 4);
	CT_EXPECT_GE(count, 1);
	for (int i = 0; i < count; i++)
		CT_EXPECT_TRUE(crn_addr_is_loopback(&all[i].sa));
	CT_EXPECT_EQ(crn_addr_resolve_all("localhost", "80", AF_UNSPEC, all, 1), 1);
}

CT_TEST(addr, the_source_toward_loopback_is_loopback)
{
	union crn_addr dest = make("127.0.0.1", 0, 80), dest6 = make("::1", 0, 80);
	union crn_addr un = make("", 0, 0), source;
	char buf[CRN_ADDR_STRLEN];

	CT_EXPECT_EQ(crn_addr_source(&dest.sa, &source), 0);
	CT_EXPECT_STREQ(crn_addr_str(&source.sa, buf), "127.0.0.1:0");
	CT_EXPECT_EQ(crn_addr_port(&dest.sa), 80);
	if (!crn_addr_source(&dest6.sa, &source)) /* unless the host has no IPv6 */
		CT_EXPECT_STREQ(crn_addr_str(&source.sa, buf), "[::1]:0");
	CT_EXPECT_EQ(crn_addr_source(&un.sa, &source), -FI_EINVAL);
}

static void expect_zero_behind(const union crn_addr *addr)
{
	const union crn_addr zero = {.ss = {0}};
	size_t len = crn_addr_len(&addr->sa);

	CT_EXPECT_MEMEQ((const char *)addr + len, (const char *)&zero + len,
			sizeof(zero) - len);
}

/* Addresses are copied and compared whole. */
CT_TEST(addr, what_an_answer_does_not_fill_is_zero)
{
	union crn_addr dest = make("127.0.0.1", 0, 80), found;

	memset(&found, 0xff, sizeof(found));
	CT_EXPECT_EQ(crn_addr_source(&dest.sa, &found), 0);
	expect_zero_behind(&found);
	memset(&found, 0xff, sizeof(found));
	CT_EXPECT_EQ(crn_addr_resolve("1.2.3.4", NULL, AF_INET, false, true, &found), 0);
	expect_zero_behind(&found);
}

CT_TEST(addr, asking_for_the_source_leaves_no_descriptor_open)
{
	union crn_addr dest = make("127.0.0.1", 0, 80);
	union crn_addr none = make("255.255.255.255", 0, 80), source;

	ct_fds_left(1);
	CT_EXPECT_EQ(crn_addr_source(&dest.sa, &source), 0);
	CT_EXPECT_NE(crn_addr_source(&none.sa, &source), -FI_EMFILE);
	CT_EXPECT_EQ(crn_addr_source(&dest.sa, &source), 0);
	ct_fds_restore();
}

CT_TEST(addr, no_source_where_the_kernel_has_no_way)
{
	union crn_addr dest = make("255.255.255.255", 0, 80), source;

	/* Broadcast needs a permission that the probing socket does not ask for. */
	CT_EXPECT_LT(crn_addr_source(&dest.sa, &source), 0);
	ct_fds_left(0);
	dest = make("127.0.0.1", 0, 80);
	CT_EXPECT_EQ(crn_addr_source(&dest.sa, &source), -FI_EMFILE);
	ct_fds_restore();
}
