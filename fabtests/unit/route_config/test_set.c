/* SPDX-License-Identifier: BSD-2-Clause */
/* What files say together. Their names are a, b, c, ... */
#include <stdio.h>
#include <rdma/fi_errno.h>
#include "conf.h"

#define SET_MOST 8

/* Errors of the files together, none of which is wrong alone; up to a NULL. */
static const char *set_errors(const char *const *texts)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config[SET_MOST] = {NULL};
	char name[2] = "a";
	uint32_t count;
	int ret;

	for (count = 0; texts[count]; count++, ++*name) {
		rte_config_parse(texts[count], strlen(texts[count]), name, &config[count],
				 &errors);
		CT_EXPECT_STREQ(conf_errors(&errors), "");
		if (!config[count])
			return "";
	}
	ret = rte_config_check_set(config, count, &errors);
	CT_EXPECT_EQ(ret, errors.errors ? -FI_EINVAL : 0);
	for (uint32_t i = 0; i < count; i++)
		rte_config_free(config[i]);
	return conf_errors(&errors);
}

#define EXPECT_SET(wanted, ...) \
	CONF_EXPECT_ERRORS(set_errors((const char *const[]){__VA_ARGS__, NULL}), wanted)

/* Lines: [router] 1, id 2; the device 3, uri 7 */
#define ROUTER(id) "[router]\nid = " id "\n"
#define DEV(as, sn, uri)                                                               \
	"[d" sn "]\ntransport = sock\nas = " as "\nsubnet = " sn "\nuri = sock://" uri \
	"\n"
#define TO(uri) "router = sock://" uri "\n"
#define KEY "key_file = /k\nkey_id = 1\n"
#define WAN(sn, uri) \
	"[w" sn "]\ntransport = sock\nas = 0\nsubnet = " sn "\nuri = sock://" uri "\n" KEY
#define CLIENT(as, sn, uri) \
	"[d]\ntransport = sock\nas = " as "\nsubnet = " sn "\nrouter = sock://" uri "\n"

#define R1 ROUTER("1") DEV("3", "1", "r1:1") DEV("3", "2", "r1:2")
#define R2 ROUTER("2") DEV("3", "2", "r2:2") TO("r1:2") DEV("3", "3", "r2:3")

CT_TEST(set, of_routers_and_clients_that_fit_has_no_errors)
{
	EXPECT_SET("", R1, R2, CLIENT("3", "1", "r1:1"), CLIENT("3", "3", "r2:3"));
	EXPECT_SET("", R1);
	EXPECT_SET("a:5: warning: sock://r1:1 3:1", CLIENT("3", "1", "r1:1"));
}

CT_TEST(set, of_nothing_has_no_errors)
{
	struct rte_config_errors errors = {0};

	CT_EXPECT_EQ(rte_config_check_set(NULL, 0, &errors), 0);
	EXPECT_SET("",
		   "[d]\ntransport = sock\nas = 3\nsubnet = 1\n"
		   "router = sock://h:1\n",
		   ROUTER("9") DEV("3", "1", "h:1") DEV("3", "2", "h:2"));
}

CT_TEST(set, has_each_router_id_once_in_an_as)
{
	EXPECT_SET("b:1: a:1 1 3", R1,
		   ROUTER("1") DEV("3", "2", "x:2") TO("r1:2") DEV("3", "4", "x:4"));
	EXPECT_SET("c:1: b:1 2 3", R1, R2,
		   ROUTER("2") DEV("3", "1", "x:1") TO("r1:1") DEV("3", "4", "x:4"));
	/* Another AS counts its own. */
	EXPECT_SET("", R1, ROUTER("1") DEV("4", "1", "r1:1") DEV("4", "2", "x:4"));
}

CT_TEST(set, has_one_policy_in_an_as)
{
	static const char *const other[] = {"metric = hops\n", "metric_scale = doc\n",
					    "metric = bandwidth,hops\n"};
	char text[500];

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		snprintf(text, sizeof(text), ROUTER("2") "%s%s", other[i],
			 DEV("3", "2", "r2:2") TO("r1:2") DEV("3", "3", "r2:3"));
		EXPECT_SET("b:1: metric metric_scale a:1", R1, text);
	}
	EXPECT_SET("", R1,
		   ROUTER("2") "metric = hops\n" DEV("4", "2", "r2:2")
			   DEV("4", "3", "r2:3"));
}

CT_TEST(set, has_each_uri_of_a_subnet_once)
{
	EXPECT_SET("b:7: sock://r1:2 a:12", R1,
		   ROUTER("2") DEV("3", "2", "r1:2") DEV("3", "1", "r2:1") TO("r1:1"));
	/* The same address in two subnets is two. */
	EXPECT_SET("", R1,
		   ROUTER("2") DEV("3", "2", "r2:2") TO("r1:2") DEV("3", "3", "r1:1"));
}

CT_TEST(set, has_a_key_in_common_where_one_requires_it)
{
	const char *open = ROUTER("1")
		DEV("3", "1", "r1:1") "key_file = /k\nkey_id = 1\n" DEV("3", "2", "r1:2");
	const char *asks = ROUTER("1")
		DEV("3", "1", "r1:1") "auth = required\nkey_file = /k\nkey_id = "
				      "1\nkey_file = /l\nkey_id = 2\n" DEV("3", "2",
									   "r1:2");

	EXPECT_SET("", open, CLIENT("3", "1", "r1:1"));
	EXPECT_SET("b:1: warning: d a:3 key_file key_id", asks, CLIENT("3", "1", "r1:1"));
	EXPECT_SET("b:1: warning: d a:3 key_file key_id", R1,
		   CLIENT("3", "1", "r1:1") "auth = required\n" KEY);
	EXPECT_SET("", asks, CLIENT("3", "1", "r1:1") "key_file = /m\nkey_id = 2\n");
	EXPECT_SET("b:6: warning: key_id 3 a:3", asks,
		   CLIENT("3", "1", "r1:1") "key_file = /m\nkey_id = 3\n");
}

CT_TEST(set, names_routers_that_are_there)
{
	EXPECT_SET("c:5: warning: sock://r2:2 3:1 3:2", R1, R2, CLIENT("3", "1", "r2:2"));
	EXPECT_SET("c:5: warning: sock://r1:1 4:1 3:1", R1, R2, CLIENT("4", "1", "r1:1"));
	EXPECT_SET("c:5: warning: sock://r9:1 3:1", R1, R2, CLIENT("3", "1", "r9:1"));
}

CT_TEST(set, has_routers_that_learn_of_each_other)
{
	EXPECT_SET("b:1: warning: R1 R2 3", R1,
		   ROUTER("2") DEV("3", "2", "r2:2") DEV("3", "3", "r2:3"),
		   ROUTER("3") DEV("3", "3", "r3:3") TO("r2:3") DEV("3", "4", "r3:4"));
	/* Not over the WAN. */
	EXPECT_SET("b:1: warning: R1 R2 3",
		   ROUTER("1") DEV("3", "1", "r1:1") WAN("0", "r1:9"),
		   ROUTER("2") DEV("3", "1", "r2:1") WAN("0", "r2:9") TO("r1:9"));
	/* A client joins nobody. */
	EXPECT_SET("d:1: warning: R1 R2 3", CLIENT("3", "2", "r1:2"), R1,
		   "[d]\ntransport = sock\nas = 3\nsubnet = 2\n"
		   "router = sock://r1:2\nrouter = sock://r2:2\n",
		   ROUTER("2") DEV("3", "2", "r2:2") DEV("3", "3", "r2:3"));
}

CT_TEST(set, has_one_transport_on_a_subnet)
{
	EXPECT_SET("b:1: warning: 3:1 verbs sock a:3\nb:5: warning: verbs://r1:1 3:1", R1,
		   "[d]\ntransport = verbs\nas = 3\nsubnet = 1\n"
		   "router = verbs://r1:1\n");
	/* Over the same provider. */
	EXPECT_SET("", R1,
		   ROUTER("2") "[d]\ntransport = tcp\nas = 3\nsubnet = 1\n"
			       "uri = tcp://r2:1\n" DEV("3", "2", "r2:2") TO("r1:2"));
}

CT_TEST(set, has_wans_that_all_as_call_alike)
{
#define PEER(as, peer, id, uri)   \
	ROUTER(id)                \
	DEV(as, "1", "r" as ":1") \
	"[w]\ntransport = sock\nas = 0\nsubnet = 40\n" peer "uri = sock://" uri "\n" KEY
	EXPECT_SET("", PEER("3", "peer_as = 4\n", "1", "a:1"),
		   PEER("4", "peer_as = 3\n", "1", "b:1"));
	EXPECT_SET("", PEER("3", "", "1", "a:1"), PEER("4", "", "1", "b:1"));
	EXPECT_SET("b:8: 40 a:8", PEER("3", "peer_as = 4\n", "1", "a:1"),
		   PEER("4", "peer_as = 5\n", "1", "b:1"));
	EXPECT_SET("b:8: 40 a:8", PEER("3", "peer_as = 4\n", "1", "a:1"),
		   PEER("4", "", "1", "b:1"));
	EXPECT_SET("b:8: 40 a:8", PEER("3", "", "1", "a:1"),
		   PEER("4", "peer_as = 3\n", "1", "b:1"));
	EXPECT_SET("b:8: 40 a:8", PEER("3", "peer_as = 4\n", "1", "a:1"),
		   PEER("5", "peer_as = 4\n", "1", "b:1"));
	EXPECT_SET("", PEER("3", "peer_as = 4\n", "1", "a:1"),
		   ROUTER("2") DEV("3", "1", "s:1") TO("r3:1") "[w]\ntransport = sock\n"
							       "as = 0\nsubnet = 40\n"
							       "peer_as = 4\n" KEY);
}

/* Section IV.C.3. */
#define APART "c:3: 1 3 IV.C.3:"

CT_TEST(set, has_subnets_that_lead_to_wans_and_to_each_other)
{
	static const char border1[] = ROUTER("1") DEV("3", "1", "r1:1") WAN("0", "r1:9");
	static const char border3[] = ROUTER("3") DEV("3", "3", "r3:3") WAN("0", "r3:9");
	static const char inner[] = ROUTER("2") DEV("3", "1", "r2:1") TO("r1:1")
		DEV("3", "3", "r2:3") TO("r3:3");
	static const char inner12[] = ROUTER("2") DEV("3", "1", "r2:1") TO("r1:1")
		DEV("3", "2", "r2:2") "transit = no\n";
	static const char inner23[] = ROUTER("4") DEV("3", "2", "r4:2") TO("r2:2")
		DEV("3", "3", "r4:3") TO("r3:3");
	static const char inner12_passed[] =
		ROUTER("2") DEV("3", "1", "r2:1") TO("r1:1") DEV("3", "2", "r2:2");

	EXPECT_SET("", border1, inner, border3);
	EXPECT_SET("", border1, inner12_passed, inner23, border3);
	/* Subnet 2 is not passed through. */
	EXPECT_SET(APART, border1, inner12, border3, inner23);
	/* It need not be passed through where it is the last. */
	EXPECT_SET("",
		   ROUTER("2") DEV("3", "1", "r2:1") TO("r1:1")
			   DEV("3", "2", "r2:2") "transit = no\n",
		   border1,
		   ROUTER("3") DEV("3", "2", "r3:2") "transit = no\n" TO("r2:2")
			   WAN("0", "r3:9"));
	/* Nor where it is the first. */
	EXPECT_SET("",
		   ROUTER("2") DEV("3", "9", "r2:9") TO("r1:9")
			   DEV("3", "2", "r2:2") "transit = no\n",
		   ROUTER("1") DEV("3", "9", "r1:9") WAN("0", "r1:8"),
		   ROUTER("3") DEV("3", "2", "r3:2") "transit = no\n" TO("r2:2")
			   WAN("0", "r3:8"));
	/* Of two AS, that is no matter. */
	EXPECT_SET("", border1, ROUTER("1") DEV("4", "3", "r3:3") WAN("0", "r3:9"));
	/* The first and the last are. */
	EXPECT_SET("",
		   ROUTER("1") DEV("3", "1", "r1:1") "transit = no\n" WAN("0", "r1:9"),
		   ROUTER("2") DEV("3", "1", "r2:1") TO("r1:1") DEV("3", "3", "r2:3")
			   WAN("1", "r2:9"));
}

CT_TEST(set, without_a_way_between_two_wans_is_refused)
{
	EXPECT_SET("b:3: 1 3 IV.C.3:\nb:1: warning: R1 R3 3",
		   ROUTER("1") DEV("3", "1", "r1:1") WAN("0", "r1:9"),
		   ROUTER("3") DEV("3", "3", "r3:3") WAN("1", "r3:9"));
	/* A client on both is no way. */
	EXPECT_SET("b:3: 1 3 IV.C.3:\nb:1: warning: R1 R3 3",
		   ROUTER("1") DEV("3", "1", "r1:1") WAN("0", "r1:9"),
		   ROUTER("3") DEV("3", "3", "r3:3") WAN("1", "r3:9"),
		   CLIENT("3", "1", "r1:1") "[e]\ntransport = sock\nas = 3\n"
					    "subnet = 3\nrouter = sock://r3:3\n");
}

CT_TEST(set, has_static_routes_over_routers_that_are_there)
{
#define STATIC(route)                                                  \
	"[router]\nid = 1\nstatic = " route "\n" DEV("3", "1", "r1:1") \
		DEV("3", "2", "r1:2")
	EXPECT_SET("", STATIC("1,2,3"), R2);
	EXPECT_SET("a:3: warning: 3:1 3:3", STATIC("1,3"), R2);
	EXPECT_SET("a:3: warning: 3:2 0:0", STATIC("1,2,0:0"), R2);
	/* A client is no router. */
	EXPECT_SET("a:3: warning: 3:2 3:3", STATIC("1,2,3"),
		   CLIENT("3", "2", "r1:2") "[e]\ntransport = sock\nas = 3\nsubnet = 3\n"
					    "router = sock://r2:3\n",
		   ROUTER("2") DEV("3", "1", "r2:1") TO("r1:1") DEV("3", "3", "r2:3"));
	/* Another AS's router is none. */
	EXPECT_SET("a:3: warning: 3:2 0:0", STATIC("1,2,0:0"),
		   ROUTER("2") DEV("4", "2", "x:2") WAN("0", "x:9"));
}
