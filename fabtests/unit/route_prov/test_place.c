/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include "addr/addr.h"
#include "cairn_test.h"

static const char conf[] = "[eth0]\n"
			   "transport = tcp\n"
			   "as = 3\n"
			   "subnet = 1\n"
			   "router = tcp://10.0.1.1:7000\n"
			   "[routing]\n"
			   "prefix = 10.0.2.0/24 -> 3:2\n"
			   "prefix = 10.0.2.128/25 -> 4:9\n";

/* 10.0.1.5/24 on 3:1 */
static void see(struct rte_addr_view *view)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config = NULL;

	CT_EXPECT_EQ(rte_config_parse(conf, sizeof(conf) - 1, "f", &config, &errors), 0);
	*view = (struct rte_addr_view){
		.own = {.as = 3, .subnet = 1, .host = 0x0a000105, .transport = 2},
		.mask.s_addr = htonl(0xffffff00),
		.config = config,
	};
}

static void unsee(struct rte_addr_view *view)
{
	rte_config_free((struct rte_config *)view->config);
}

CT_FIXTURE(place, struct rte_addr_view, see, unsee);

static union crn_addr plain(const char *text)
{
	union crn_addr addr = {.in = {.sin_port = htons(70)}};

	if (inet_pton(AF_INET, text, &addr.in.sin_addr) == 1)
		addr.sa.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &addr.in6.sin6_addr) == 1)
		addr.sa.sa_family = AF_INET6;
	return addr;
}

struct row {
	const char *addr;
	int ret;
	uint32_t as, subnet, host;
};

static void check(const struct row *row, int ret, const struct rte_end *end)
{
	CT_NOTE("%s", row->addr);
	CT_EXPECT_EQ(ret, row->ret);
	if (ret || row->ret)
		return;
	CT_EXPECT_EQ(end->as, row->as);
	CT_EXPECT_EQ(end->subnet, row->subnet);
	CT_EXPECT_EQ(end->host, row->host);
	CT_EXPECT_EQ(end->port, 70);
}

CT_TEST_F(place, plain_addresses_are_where_the_longest_prefix_says_or_near)
{
	static const struct row rows[] = {
		{"10.0.2.7", 0, 3, 2, 0x0a000207},
		{"10.0.2.200", 0, 4, 9, 0x0a0002c8},
		{"::ffff:10.0.2.7", 0, 3, 2, 0x0a000207},
		{"10.0.1.9", 0, 3, 1, 0x0a000109},
		{"127.0.0.1", 0, 3, 1, 0x0a000105},
		{"::1", 0, 3, 1, 0x0a000105},
		{"0.0.0.0", 0, 3, 1, 0x0a000105},
		{"10.0.3.1", -FI_EHOSTUNREACH, 0, 0, 0},
		{"2001:db8::1", -FI_EADDRNOTAVAIL, 0, 0, 0},
	};
	union crn_addr addr;
	struct rte_end end;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		addr = plain(rows[i].addr);
		check(&rows[i], rte_addr_place(t, &addr.sa, &end), &end);
	}
}

CT_TEST_F(place, routed_addresses_say_it_themselves)
{
	const struct rte_end there = {.as = 9, .subnet = 8, .host = 7, .port = 70};
	const struct row row = {"9:8", 0, 9, 8, 7};
	struct sockaddr_in6 addr;
	struct rte_end end;

	rte_addr_pack(&there, &addr);
	check(&row, rte_addr_place(t, (struct sockaddr *)&addr, &end), &end);
}

CT_TEST_F(place, text_is_any_address_of_the_manual_page)
{
	static const struct row rows[] = {
		{"fi_route://5:6/tcp://1.2.3.4:70", 0, 5, 6, 0x01020304},
		{"cci://5:6:1.2.3.4:70", 0, 5, 6, 0x01020304},
		{"tcp://10.0.2.7:70", 0, 3, 2, 0x0a000207},
		{"fi_sockaddr_in://10.0.1.9:70", 0, 3, 1, 0x0a000109},
		{"fi_route://5:6/tcp://[2001:db8::1]:70", -FI_EADDRNOTAVAIL, 0, 0, 0},
		{"eth://02:00:5e:00:53:01:70", -FI_EINVAL, 0, 0, 0},
		{"nonsense://1.2.3.4:70", -FI_EINVAL, 0, 0, 0},
		{"tcp://10.0.3.1:70", -FI_EHOSTUNREACH, 0, 0, 0},
	};
	struct rte_end end;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++)
		check(&rows[i], rte_addr_text(t, rows[i].addr, &end), &end);
}

CT_TEST_F(place, a_devices_own_addresses)
{
	static const struct {
		const char *addr;
		bool own;
	} rows[] = {{"10.0.1.5", true},	 {"0.0.0.0", true},	    {"::", true},
		    {"127.0.0.1", true}, {"::ffff:10.0.1.5", true}, {"10.0.1.6", false},
		    {"10.0.2.5", false}, {"2001:db8::1", false}};
	struct rte_end end, named;
	union crn_addr addr;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].addr);
		addr = plain(rows[i].addr);
		CT_EXPECT_EQ(rte_addr_own(t, &addr.sa, &end), rows[i].own);
		CT_EXPECT_EQ(end.host, 0x0a000105u);
		CT_EXPECT_EQ(end.port, 70);
	}
	CT_NOTE("routed");
	named = t->own;
	rte_addr_pack(&named, &addr.in6);
	CT_EXPECT_TRUE(rte_addr_own(t, &addr.sa, &end));
	named.host++;
	rte_addr_pack(&named, &addr.in6);
	CT_EXPECT_FALSE(rte_addr_own(t, &addr.sa, &end));
	named.host--;
	named.subnet++;
	rte_addr_pack(&named, &addr.in6);
	CT_EXPECT_FALSE(rte_addr_own(t, &addr.sa, &end));
}
