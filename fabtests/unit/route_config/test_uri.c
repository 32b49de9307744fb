/* SPDX-License-Identifier: BSD-2-Clause */
/* The document's address literals (section VII.A.3), and ours. */
#include <rdma/fi_errno.h>
#include "conf.h"

static const struct {
	const char *text;
	const char *printed; /* NULL: the same */
	enum rte_transport transport;
	enum rte_host kind;
	const char *host;
	uint16_t port;
	bool routed;
	uint32_t as, subnet;
} right[] = {
	{"gni://10.101.50.37:6744", NULL, RTE_TRANSPORT_GNI, RTE_HOST_IN, "10.101.50.37",
	 6744, false, 0, 0},
	{"cci://32:126:10.101.50.37:6744",
	 "fi_route://32:126/fi_sockaddr_in://10.101.50.37:6744", RTE_TRANSPORT_ANY,
	 RTE_HOST_IN, "10.101.50.37", 6744, true, 32, 126},
	{"fi_route://32:126/gni://10.101.50.37:6744", NULL, RTE_TRANSPORT_GNI,
	 RTE_HOST_IN, "10.101.50.37", 6744, true, 32, 126},
	{"sock://host:7000", NULL, RTE_TRANSPORT_SOCK, RTE_HOST_NAME, "host", 7000, false,
	 0, 0},
	{"sock://R1.Example-1.org:1", "sock://r1.example-1.org:1", RTE_TRANSPORT_SOCK,
	 RTE_HOST_NAME, "r1.example-1.org", 1, false, 0, 0},
	{"tcp://192.0.2.1:0", NULL, RTE_TRANSPORT_TCP, RTE_HOST_IN, "192.0.2.1", 0, false,
	 0, 0},
	{"verbs://192.0.2.1:65535", NULL, RTE_TRANSPORT_VERBS, RTE_HOST_IN, "192.0.2.1",
	 65535, false, 0, 0},
	{"verbs://[FE80:0::1%ib0]:7000", "verbs://[fe80::1%ib0]:7000",
	 RTE_TRANSPORT_VERBS, RTE_HOST_IN6, "fe80::1%ib0", 7000, false, 0, 0},
	{"cci://1:2:host:7", NULL, RTE_TRANSPORT_ANY, RTE_HOST_NAME, "host", 7, true, 1,
	 2},
	{"cci://4294967295:0:[::1]:7",
	 "fi_route://4294967295:0/fi_sockaddr_in6://[::1]:7", RTE_TRANSPORT_ANY,
	 RTE_HOST_IN6, "::1", 7, true, UINT32_MAX, 0},
	{"fi_route://0:40/sock://host:7000", NULL, RTE_TRANSPORT_SOCK, RTE_HOST_NAME,
	 "host", 7000, true, 0, 40},
	{"fi_sockaddr_in://10.0.0.1:7471", NULL, RTE_TRANSPORT_ANY, RTE_HOST_IN,
	 "10.0.0.1", 7471, false, 0, 0},
	{"fi_sockaddr_in6://[fe80::1]:7471", NULL, RTE_TRANSPORT_ANY, RTE_HOST_IN6,
	 "fe80::1", 7471, false, 0, 0},
};

CT_TEST(uri, is_read_and_written)
{
	struct rte_uri uri, again;
	char buf[RTE_URI_SIZE];
	const char *why;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		CT_NOTE("%s", right[i].text);
		CT_EXPECT_EQ(rte_uri_parse(right[i].text, &uri, &why), 0);
		CT_EXPECT_EQ(uri.transport, right[i].transport);
		CT_EXPECT_EQ(uri.kind, right[i].kind);
		CT_EXPECT_STREQ(uri.host, right[i].host);
		CT_EXPECT_EQ(uri.port, right[i].port);
		CT_EXPECT_EQ(uri.routed, right[i].routed);
		CT_EXPECT_EQ(uri.as, right[i].as);
		CT_EXPECT_EQ(uri.subnet, right[i].subnet);
		CT_EXPECT_STREQ(rte_uri_print(&uri, buf),
				right[i].printed ? right[i].printed : right[i].text);
		CT_EXPECT_EQ(rte_uri_parse(buf, &again, &why), 0);
		CT_EXPECT_TRUE(rte_uri_same(&uri, &again));
	}
}

CT_TEST(uri, has_the_bytes_of_its_address)
{
	static const struct {
		const char *text;
		uint8_t addr[16];
	} rows[] = {
		{"sock://10.1.2.3:1", {10, 1, 2, 3}},
		{"sock://[fe80::102%eth0]:1",
		 {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}},
		{"sock://ab:1", {0}},
		{"cci://1:2:ab:12", {0}},
	};
	struct rte_uri uri;
	const char *why;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i].text);
		CT_EXPECT_EQ(rte_uri_parse(rows[i].text, &uri, &why), 0);
		CT_EXPECT_MEMEQ(uri.addr, rows[i].addr, sizeof(uri.addr));
	}
}

CT_TEST(uri, is_written_as_the_document_writes_it)
{
	struct rte_uri uri;
	char buf[RTE_URI_SIZE];
	const char *why;

	CT_EXPECT_EQ(rte_uri_parse("fi_route://32:126/gni://10.101.50.37:6744", &uri,
				   &why),
		     0);
	CT_EXPECT_STREQ(rte_uri_print_cci(&uri, buf), "cci://32:126:10.101.50.37:6744");
	CT_EXPECT_EQ(rte_uri_parse("fi_route://1:2/verbs://[::1]:3", &uri, &why), 0);
	CT_EXPECT_STREQ(rte_uri_print_cci(&uri, buf), "cci://1:2:[::1]:3");
}

#define LABEL63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

CT_TEST(uri, of_any_length_fits_its_buffer)
{
	static const char longest[] = "fi_route://4294967295:4294967295/verbs://" LABEL63
				      "." LABEL63 "." LABEL63 ".x" LABEL63 "a:65535";
	char text[sizeof(longest)], buf[RTE_URI_SIZE];
	struct rte_uri uri;
	const char *why;
	char *at;

	strcpy(text, longest);
	/* 253 bytes: the last label loses four. */
	at = strstr(text, ".x") + 1;
	memmove(at, at + 4, strlen(at + 4) + 1);
	CT_EXPECT_EQ(rte_uri_parse(text, &uri, &why), 0);
	CT_EXPECT_EQ(strlen(uri.host), RTE_HOST_MAX);
	CT_EXPECT_STREQ(rte_uri_print(&uri, buf), text);
	CT_EXPECT_EQ(rte_uri_parse(longest, &uri, &why), -FI_EINVAL);
}

static void expect_wrong(const char *text, const char *data)
{
	struct rte_uri uri;
	const char *why;

	CT_NOTE("%s", text);
	CT_EXPECT_EQ(rte_uri_parse(text, &uri, &why), -FI_EINVAL);
	CT_EXPECT_DATA(why, data);
}

CT_TEST(uri, that_is_none_is_refused)
{
	static const struct {
		const char *wanted, *text[12]; /* up to a NULL */
	} wrong[] = {
		{"",
		 {"://h:1", "portals://h:1", "SOCK://h:1", "soc://h:1", "sockx://h:1",
		  "fi_sockaddr_ib://[::1]:1"}},
		{"",
		 {"sock://", "sock://:7000", "sock://10.0.0.256:7000",
		  "sock://10.0.0:7000", "sock://a..b:7000", "sock://a.:7000",
		  "sock://-a:7000", "sock://a-:7000", "sock://a b:7000",
		  "sock://x" LABEL63 ":7000", "sock://::1:7000"}},
		{"",
		 {"sock://02:00:5e:00:53:01:7", "cci://1:2:02:00:5e:00:53:01:7",
		  "fi_sockaddr_in://[::1]:7", "fi_sockaddr_in6://10.0.0.1:7",
		  "fi_route://3:1/fi_route://3:1/sock://h:1",
		  "fi_route://3:1/cci://3:1:h:1"}},
		{"TRANSPORT://", {"", "10.0.0.1:7000", "fi_route://3:1/h:1"}},
		{":PORT", {"sock://h", "sock://[::1]7000"}},
		{"65535",
		 {"sock://h:", "sock://h:65536", "sock://h:70x", "sock://h:7000/"}},
		{"IPv6",
		 {"sock://fe80::1:7000", "sock://[::1:7000", "sock://[::g]:7000",
		  "sock://[10.0.0.1]:7000", "sock://[fe80::1%]:7000",
		  "sock://[fe80::1%a/b]:7000", "sock://[fe80::1%0123456789abcdef]:7000"}},
		{"MAC verbs verbs://HOST:PORT",
		 {"eth://02:00:5e:00:53:01:7000", "eth://10.0.0.1:7", "eth://",
		  "fi_route://3:1/eth://02:00:5e:00:53:01:7000"}},
		{"cci://AS:SUBNET:HOST:PORT",
		 {"cci://32:126", "cci://4294967296:126:h:1", "cci://32:x:h:1",
		  "cci://"}},
		{"fi_route://AS:SUBNET/TRANSPORT://HOST:PORT",
		 {"fi_route://3:1", "fi_route://3/sock://h:1"}},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (size_t k = 0; wrong[i].text[k]; k++)
			expect_wrong(wrong[i].text[k], wrong[i].wanted);
}

CT_TEST(uri, differs_from_another)
{
	static const char *const different[] = {
		"sock://h:1",
		"tcp://h:1",
		"sock://h:2",
		"sock://g:1",
		"fi_route://3:1/sock://h:1",
		"fi_route://3:2/sock://h:1",
		"fi_route://4:1/sock://h:1",
		"sock://10.0.0.1:1",
		"cci://3:1:h:1",
	};
	const size_t count = sizeof(different) / sizeof(different[0]);
	struct rte_uri a, b;
	const char *why;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			CT_NOTE("%s, %s", different[i], different[k]);
			CT_EXPECT_EQ(rte_uri_parse(different[i], &a, &why), 0);
			CT_EXPECT_EQ(rte_uri_parse(different[k], &b, &why), 0);
			CT_EXPECT_EQ(rte_uri_same(&a, &b), i == k);
		}
}

CT_TEST(transport, maps_to_providers_and_has_its_capabilities)
{
	static const struct {
		const char *name, *lower[2];
		uint16_t caps;
	} rows[] = {
		{"sock", {"tcp"}, 0},
		{"tcp", {"tcp"}, 0},
		{"verbs", {"pverbs", "verbs"}, 7},
		{"gni", {"gni"}, 7},
	};
	const struct rte_transport_attr *attr;
	enum rte_transport transport;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		transport = rte_transport_find(rows[i].name);
		CT_NOTE("%s", rows[i].name);
		CT_ASSERT_NE(transport, RTE_TRANSPORT_ANY);
		attr = rte_transport_attr(transport);
		CT_EXPECT_STREQ(attr->name, rows[i].name);
		CT_EXPECT_STREQ(attr->lower[0], rows[i].lower[0]);
		CT_EXPECT_EQ(attr->lower[1] == NULL, rows[i].lower[1] == NULL);
		CT_EXPECT_EQ(attr->caps, rows[i].caps);
	}
	CT_EXPECT_EQ(rte_transport_find("portals"), RTE_TRANSPORT_ANY);
	/* All but RTE_TRANSPORT_ANY and the refused one. */
	CT_EXPECT_EQ(RTE_TRANSPORTS, 2 + i);
}

CT_TEST(transport, eth_is_refused_and_keeps_its_number)
{
	CT_EXPECT_EQ(rte_transport_find("eth"), RTE_TRANSPORT_ETH);
	CT_EXPECT_DATA(rte_transport_attr(RTE_TRANSPORT_ETH)->refused,
		       "verbs verbs://HOST:PORT");
	/* Byte 3 of an endpoint's address. */
	CT_EXPECT_EQ(RTE_TRANSPORT_ETH, 4);
	CT_EXPECT_EQ(RTE_TRANSPORT_GNI, 5);
}
