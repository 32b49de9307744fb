/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <cairn/addr.h>
#include "conf.h"

static const char prefixes[] = "[routing]\n"
			       "prefix = 10.3.0.0/16 -> 3:1\n"
			       "prefix = 10.3.2.128/25 -> 3:3\n"
			       "prefix = 10.3.2.0/24 -> 3:2\n"
			       "prefix = 10.3.2.129/32 -> 3:4\n"
			       "prefix = fd00:3::/33 -> 3:6\n"
			       "prefix = fd00:3::1/128 -> 3:7\n"
			       "prefix = a03:281::/32 -> 3:8\n";

CT_TEST(prefix, the_longest_that_has_the_address_is_found)
{
	static const struct {
		const char *addr;
		uint32_t subnet; /* 0: none */
	} rows[] = {
		{"10.3.9.9", 1},	  {"10.3.2.1", 2},	{"10.3.2.127", 2},
		{"10.3.2.128", 3},	  {"10.3.2.255", 3},	{"10.3.2.129", 4},
		{"10.4.0.1", 0},	  {"11.3.2.129", 0},	{"fd00:3::2", 6},
		{"fd00:3:7fff::", 6},	  {"fd00:3:8000::", 0}, {"fd00:3::1", 7},
		{"::ffff:10.3.2.200", 3}, {"a03:281::", 8},	{"::10.3.2.1", 0},
	};
	struct rte_config *config = conf_parse(prefixes);
	const struct rte_config_prefix *found;
	union crn_addr addr;

	CT_ASSERT_NE(config, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&addr, 0, sizeof(addr));
		addr.sa.sa_family = strchr(rows[i].addr, ':') ? AF_INET6 : AF_INET;
		inet_pton(addr.sa.sa_family, rows[i].addr,
			  addr.sa.sa_family == AF_INET ? (void *)&addr.in.sin_addr
						       : (void *)&addr.in6.sin6_addr);
		found = rte_config_prefix_find(config, &addr.sa);
		CT_NOTE("%s", rows[i].addr);
		CT_EXPECT_EQ(found ? found->to.subnet : 0, rows[i].subnet);
	}
	addr.sa.sa_family = AF_UNIX;
	CT_EXPECT_EQ(rte_config_prefix_find(config, &addr.sa), NULL);
	rte_config_free(config);
}

CT_TEST(prefix, of_no_bits_has_every_address_of_its_family)
{
	struct rte_config *config = conf_parse("[routing]\nprefix = 0.0.0.0/0 -> 3:1\n");
	union crn_addr addr = {.sa.sa_family = AF_INET};

	CT_ASSERT_NE(config, NULL);
	addr.in.sin_addr.s_addr = htonl(0xc0000201);
	CT_EXPECT_NE(rte_config_prefix_find(config, &addr.sa), NULL);
	memset(&addr, 0, sizeof(addr));
	addr.sa.sa_family = AF_INET6;
	CT_EXPECT_EQ(rte_config_prefix_find(config, &addr.sa), NULL);
	rte_config_free(config);
}

static struct rte_config *with_acls(const char *acls)
{
	char text[1000] = "[router]\nid = 1\n";

	strcat(text, acls);
	strcat(text, "[a]\ntransport=sock\nas=3\nsubnet=1\n"
		     "[b]\ntransport=sock\nas=3\nsubnet=2\n");
	return conf_parse(text);
}

CT_TEST(acl, allows_all_where_there_is_none)
{
	struct rte_config *config = with_acls("");

	CT_ASSERT_NE(config, NULL);
	CT_EXPECT_TRUE(rte_config_allows(config, (struct rte_subnet){3, 1},
					 (struct rte_subnet){4, 1}));
	rte_config_free(config);
}

CT_TEST(acl, allows_what_one_of_them_names)
{
	static const struct {
		struct rte_subnet from, to;
		bool allowed;
	} rows[] = {
		{{3, 1}, {4, 9}, true},	 {{3, 2}, {4, 9}, false}, {{3, 1}, {5, 9}, false},
		{{4, 9}, {3, 1}, false}, {{9, 9}, {3, 2}, true},  {{9, 9}, {3, 3}, false},
		{{5, 7}, {6, 8}, true},	 {{5, 8}, {6, 8}, true},  {{6, 8}, {5, 7}, false},
	};
	struct rte_config *config =
		with_acls("acl = 3:1 -> 4:*\nacl = *->3:2\nacl = 5:* -> *\n");

	CT_ASSERT_NE(config, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(rte_config_allows(config, rows[i].from, rows[i].to),
			     rows[i].allowed);
	}
	rte_config_free(config);
}
