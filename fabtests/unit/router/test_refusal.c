/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is not let in: counted, and told; and the keys of devices. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cairn/wait.h>

#include "log.h"
#include "one.h"
#include "reload.h"
#include "route_config/conf.h"

static union crn_addr host(const char *text, uint16_t port)
{
	union crn_addr addr = {.in = {.sin_family = AF_INET, .sin_port = htons(port)}};

	CT_EXPECT_EQ(inet_pton(AF_INET, text, &addr.in.sin_addr), 1);
	return addr;
}

/* --- The log --- */

CT_TEST(refusal, of_one_host_and_kind_one_line_a_minute_suffices)
{
	const union crn_addr a = host("10.9.0.1", 1), again = host("10.9.0.1", 2),
			     b = host("10.9.0.2", 1);

	ct_time_stop();
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &a.sa, 1), FRT_WARN);
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &again.sa, 1), FRT_DEBUG);
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &b.sa, 1), FRT_WARN);
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &a.sa, 2), FRT_WARN);
	ct_time_pass(FRT_LOG_AGAIN - 1);
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &a.sa, 1), FRT_DEBUG);
	ct_time_pass(1);
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &a.sa, 1), FRT_WARN);
	CT_EXPECT_EQ(frt_log_first(FRT_WARN, &a.sa, 1), FRT_DEBUG);
}

/* --- Counters --- */

CT_FIXTURE(refusal, struct one *, one_set_up, one_tear_down);

CT_TEST_F(refusal, is_counted_by_its_reason)
{
	const union crn_addr who = host("10.0.1.20", 1);
	enum rte_denial why;
	const struct rte_port_attr *attr = &frt_device_port(one_device(&one, "a"))->attr;

	for (why = 0; why < RTE_DENIALS; why++)
		attr->denied(attr->context, why, &who, "somebody is not let in");
	attr->denied(attr->context, RTE_DENIED_REPLAY, &who, "somebody is not let in");
	for (why = 0; why < RTE_DENIALS; why++)
		CT_EXPECT_EQ(one.node.counters.denied[why],
			     why == RTE_DENIED_REPLAY ? 2 : 1);
}

CT_TEST_F(refusal, of_another_as_is_counted)
{
	struct rte_listener *a = one_device(&one, "a")->listener;

	CT_EXPECT_EQ(fake_arrives(a, RTE_TARGET, 3, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(one.node.counters.unknown_as, 0);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 4, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 4, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(one.node.counters.unknown_as, 2);
}

/* --- Keys --- */

static char key[64];

static void key_write(const char *secret)
{
	int fd;

	snprintf(key, sizeof(key), "/tmp/unit_router.%d.key", (int)getpid());
	unlink(key);
	fd = open(key, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CT_ASSERT_NE(fd, -1);
	CT_EXPECT_EQ(write(fd, secret, strlen(secret)), (ssize_t)strlen(secret));
	close(fd);
}

static const char *text_with(uint32_t id)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		 "[router]\nid = 5\nconnections = 2\nname = five\n"
		 "[a]\ntransport = tcp\nas = 3\nsubnet = 1\nuri = tcp://10.0.1.5:7000\n"
		 "key_file = %s\nkey_id = %u\n"
		 "[b]\ntransport = tcp\nas = 3\nsubnet = 2\nuri = tcp://10.0.2.5:7000\n",
		 key, id);
	return text;
}

static const struct rte_auth_ring *ring(void)
{
	return frt_device_port(one_device(&one, "a"))->attr.keys;
}

CT_TEST_F(refusal, keys_are_read_again_and_what_is_connected_stays)
{
	struct rte_peer *fake;

	key_write("the first secret");
	one_open(&one, text_with(1));
	CT_ASSERT_NE(ring(), NULL);
	CT_EXPECT_MEMEQ(ring()->key[0].secret, "the first secret", 16);
	CT_EXPECT_EQ(frt_device_port(one_device(&one, "b"))->attr.keys, NULL);
	fake = one_visitor(&one, 9, 50);
	key_write("the other secret");
	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(text_with(2))), 0);
	CT_ASSERT_NE(ring(), NULL);
	CT_EXPECT_EQ(ring()->key[0].id, 2);
	CT_EXPECT_MEMEQ(ring()->key[0].secret, "the other secret", 16);
	CT_EXPECT_FALSE(fake->in->closed);
	one_close(&one);
	unlink(key);
}

CT_TEST_F(refusal, keys_that_cannot_be_read_stay_as_they_were)
{
	key_write("the first secret");
	one_open(&one, text_with(1));
	unlink(key);
	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(text_with(2))), 0);
	CT_ASSERT_NE(ring(), NULL);
	CT_EXPECT_EQ(ring()->key[0].id, 1);
}

/* --- Clients --- */

CT_TEST_F(refusal, a_clients_quotas_are_those_of_the_file)
{
	const union crn_addr who = host("10.0.1.20", 1);
	struct frt_counters counters = {0};
	struct frt_client *client =
		frt_client_get(&one.node, one_device(&one, "a"), &who);

	CT_ASSERT_NE(client, NULL);
	CT_EXPECT_EQ(client->slots.limit, 256);
	CT_EXPECT_EQ(client->resolves.limit, 4096);
	client->slots.limit = 1;
	CT_EXPECT_TRUE(rte_quota_take(&client->slots));
	CT_EXPECT_FALSE(rte_quota_take(&client->slots));
	frt_clients_count(&one.node, &counters);
	CT_EXPECT_EQ(counters.quota_slots, 1);
	frt_client_put(&one.node, client);
	CT_EXPECT_EQ(one.node.counters.quota_slots, 1);
}
