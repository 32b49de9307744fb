/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/adjacency: who is connected with whom. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "adjacency/inside.h"
#include "one.h"
#include "ready.h"
#include "reload.h"
#include "route_config/conf.h"

#define NAMES "router = tcp://10.0.1.9:7000\n"

CT_FIXTURE(adjacency, struct one *, one_set_up, one_tear_down);

CT_TEST_F(adjacency, connects_to_those_that_the_file_names_and_begins_with_a_digest)
{
	struct rte_peer *fake;

	one_open(&one, ONE_TEXT(NAMES));
	CT_ASSERT_EQ(fakes.count, 1);
	fake = fakes.last;
	CT_EXPECT_EQ(ntohl(fake->address.in.sin_addr.s_addr), 0x0a000109);
	CT_EXPECT_EQ(ntohs(fake->address.in.sin_port), 7000);
	fake_greets(fake, 3, 1, 9, 50);
	one_turn(&one);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 1);
	CT_EXPECT_EQ(fake_sent(fake, RTE_DIGEST), 1);
	CT_EXPECT_EQ(one_adjacent(&one, 9), fake);
}

static bool looked_up(void)
{
	frt_lookups_run(&one.node);
	return crn_list_empty(&one.node.lookups);
}

CT_TEST_F(adjacency, names_are_looked_up_while_the_loop_goes_on)
{
	one_open(&one, ONE_TEXT("router = tcp://localhost:7009\n"));
	CT_EXPECT_EQ(one.node.lookup_count, 1);
	CT_EXPECT_EQ(fakes.count, 0);
	CT_ASSERT_SOON(looked_up());
	CT_ASSERT_EQ(fakes.count, 1);
	CT_EXPECT_TRUE(crn_addr_is_loopback(&fakes.last->address.sa));
	CT_EXPECT_EQ(crn_addr_port(&fakes.last->address.sa), 7009);
	/* One that has none is tried again. */
	one_open(&one, ONE_TEXT("router = tcp://nobody.invalid:7009\n"));
	CT_ASSERT_SOON(looked_up());
	CT_EXPECT_EQ(fakes.count, 0);
	one_passes(&one, 300);
	CT_EXPECT_EQ(one.node.lookup_count, 1);
	/* Who asked may be gone before the answer comes. */
	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(ONE_TEXT(""))), 0);
	one_turn(&one);
	CT_EXPECT_TRUE(crn_list_empty(&one_device(&one, "a")->targets));
	CT_ASSERT_SOON(looked_up());
	CT_EXPECT_EQ(fakes.count, 0);
}

CT_TEST_F(adjacency, tries_again_less_and_less_often)
{
	uint32_t count, i;

	one_open(&one, ONE_TEXT(NAMES));
	for (i = 0; i < 6; i++) {
		fake_goes(fakes.last, FI_ECONNREFUSED);
		count = fakes.count;
		/* News of other routers make it no sooner. */
		one.node.retarget = true;
		one_passes(&one, 150);
		CT_EXPECT_EQ(fakes.count, count);
		one_passes(&one, i < 5 ? 250u << i : 6300);
		CT_EXPECT_EQ(fakes.count, count + 1);
	}
	/* In the end every 5 s. */
	fake_goes(fakes.last, FI_ECONNREFUSED);
	count = fakes.count;
	one_passes(&one, 4900);
	CT_EXPECT_EQ(fakes.count, count);
	one_passes(&one, 1500);
	CT_EXPECT_EQ(fakes.count, count + 1);
}

CT_TEST_F(adjacency, a_visitor_s_first_message_makes_it_one)
{
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	CT_ASSERT_NE(fake, NULL);
	CT_EXPECT_EQ(one_adjacent(&one, 9), fake);
	CT_EXPECT_EQ(fake_sent(fake, RTE_DIGEST), 1);
	CT_EXPECT_EQ(one.node.guests, 0);
	CT_EXPECT_EQ(one.node.counters.adjacencies_up, 1);
	CT_EXPECT_EQ(one.node.counters.adjacencies_down, 0);
	fake_goes(fake, FI_ECONNABORTED);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
	CT_EXPECT_EQ(one.node.counters.adjacencies_down, 1);
}

CT_TEST_F(adjacency, of_two_that_both_began_what_the_lower_id_began_stays)
{
	struct rte_peer *mine, *theirs;

	/* This is 5. With 9: its own stays, in whichever order they come. */
	one_open(&one, ONE_TEXT(NAMES));
	mine = fakes.last;
	fake_greets(mine, 3, 1, 9, 50);
	theirs = one_visitor(&one, 9, 50);
	CT_EXPECT_TRUE(theirs->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 9), mine);
	one_open(&one, ONE_TEXT(NAMES));
	mine = fakes.last;
	theirs = one_visitor(&one, 9, 50);
	CT_EXPECT_EQ(one_adjacent(&one, 9), theirs);
	fake_greets(mine, 3, 1, 9, 50);
	CT_EXPECT_TRUE(theirs->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 9), mine);
	/* With 2: what that began. */
	one_open(&one, ONE_TEXT(NAMES));
	mine = fakes.last;
	fake_greets(mine, 3, 1, 2, 50);
	theirs = one_visitor(&one, 2, 50);
	CT_EXPECT_TRUE(mine->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 2), theirs);
	/* And nothing is tried while it lasts. */
	one_passes(&one, 2000);
	CT_EXPECT_EQ(fakes.count, 2);
	fake_goes(theirs, FI_ECONNABORTED);
	one_passes(&one, 6000);
	CT_EXPECT_EQ(fakes.count, 3);
}

CT_TEST_F(adjacency, one_that_has_begun_anew_takes_the_place_of_the_old_one)
{
	struct rte_peer *old, *new, *older;

	old = one_visitor(&one, 9, 50);
	new = one_visitor(&one, 9, 51);
	CT_EXPECT_TRUE(old->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 9), new);
	/* Of two with one id the later stays, and the other is not heard any more. */
	older = one_visitor(&one, 9, 50);
	CT_EXPECT_TRUE(older->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 9), new);
	/* Its end has lost the old one: this one has not noticed. */
	old = new;
	new = one_visitor(&one, 9, 51);
	CT_EXPECT_TRUE(old->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 9), new);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 1);
}

CT_TEST_F(adjacency, also_if_this_router_began_the_old_one)
{
	struct rte_peer *old, *new;

	one_open(&one, ONE_TEXT(NAMES));
	old = fakes.last;
	fake_greets(old, 3, 1, 9, 50);
	new = one_visitor(&one, 9, 51);
	CT_EXPECT_TRUE(old->in->closed);
	CT_EXPECT_EQ(one_adjacent(&one, 9), new);
}

CT_TEST_F(adjacency, a_router_with_two_addresses_is_connected_with_once)
{
	struct rte_peer *first, *second;

	one_open(&one, ONE_TEXT(NAMES "router = tcp://10.0.1.10:7000\n"));
	CT_ASSERT_EQ(fakes.count, 2);
	first = fake_peer_at(0);
	second = fake_peer_at(1);
	fake_greets(first, 3, 1, 9, 50);
	fake_greets(second, 3, 1, 9, 50);
	CT_EXPECT_TRUE(second->in->closed);
	CT_EXPECT_FALSE(first->in->closed);
	CT_EXPECT_EQ(second->in->sent, 0);
	one_passes(&one, 900);
	CT_EXPECT_EQ(fakes.count, 2);
}

CT_TEST_F(adjacency, who_does_not_belong_here_is_refused)
{
	static const struct {
		uint32_t as, subnet;
		uint64_t node;
	} wrong[] = {{4, 1, 9}, {3, 2, 9}, {3, 1, 5}, {0, 1, 9}};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CT_NOTE("%zu", i);
		one_open(&one, ONE_TEXT(NAMES));
		fake_greets(fakes.last, wrong[i].as, wrong[i].subnet, wrong[i].node, 50);
		CT_EXPECT_TRUE(fakes.last->in->closed);
		CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
	}
	/* A program that listens there. */
	one_open(&one, ONE_TEXT(NAMES));
	fakes.last->remote.role = RTE_TARGET;
	fake_greets(fakes.last, 3, 1, 9, 50);
	CT_EXPECT_TRUE(fakes.last->in->closed);
}

/* Whoever began it. */
CT_TEST_F(adjacency, on_a_wan_nobody_is_of_this_as)
{
	static const char text[] = ONE_ROUTER ONE_DEVICE("a", 3, 1, "")
		ONE_DEVICE("w", 0, 7,
			   "key_file = /k\nkey_id = 1\n"
			   "router = tcp://10.0.7.9:7000\n");
	struct frt_device *wan;

	one_open(&one, text);
	wan = one_device(&one, "w");
	CT_EXPECT_EQ(fake_arrives(wan->listener, RTE_ROUTER, 3, 7, 9, "10.0.7.8"), NULL);
	fake_greets(fakes.last, 3, 7, 9, 50);
	CT_EXPECT_TRUE(fakes.last->in->closed);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
}

CT_TEST_F(adjacency, on_a_wan_others_are_borders_and_their_word_is_heard)
{
	struct rte_peer *fake;
	struct frt_device *wan = one_device(&one, "w");

	/* Its own AS is reached over nothing yet. */
	CT_EXPECT_FALSE(frt_border_any(&one.node, wan, 0));
	fake = fake_arrives(wan->listener, RTE_ROUTER, 4, 7, 5, "10.0.7.9");
	CT_ASSERT_NE(fake, NULL);
	strcpy(fake->uri, "tcp://10.0.7.9:7000");
	/* The id is that of this one, in another AS. */
	fake_greets(fake, 4, 7, 5, 50);
	one_heartbeat(fake);
	CT_EXPECT_TRUE(frt_border_any(&one.node, wan, 4));
	CT_EXPECT_EQ(fake_sent(fake, RTE_DIGEST), 0);
	CT_EXPECT_EQ(fake_sent(fake, RTE_AS_REACH), 1);
	/* The WAN leads somewhere now, and that is told. */
	one_passes(&one, 200);
	CT_EXPECT_TRUE(
		rte_lsa_link(rte_lsdb_get(rte_sync_db(one.node.sync), 3, 5, crn_now_ms()),
			     0, 7)
			->up);
	CT_EXPECT_EQ(fake_sent(fake, RTE_AS_REACH), 2);
	fake_goes(fake, FI_ECONNABORTED);
	one_passes(&one, 200);
	CT_EXPECT_FALSE(
		rte_lsa_link(rte_lsdb_get(rte_sync_db(one.node.sync), 3, 5, crn_now_ms()),
			     0, 7)
			->up);
}

/* Of no AS: rte_reach_parse refuses it. */
static void says_what_is_wrong(struct rte_peer *fake)
{
	uint8_t bytes[512] = {0};
	struct rte_packet packet = {.head.type = RTE_AS_REACH};
	struct rte_reach reach = {.as = 3, .router = 9};
	const ssize_t len = rte_reach_pack(&packet, &reach, bytes, sizeof(bytes));

	memset(bytes + 24, 0, 4);
	fake_say(fake, bytes, (size_t)len, NULL);
}

CT_TEST_F(adjacency, what_is_wrong_ends_it)
{
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	says_what_is_wrong(fake);
	CT_EXPECT_FALSE(fake->in->closed);
	one_turn(&one);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(fake->in->status, EPROTO);
	CT_EXPECT_EQ(one.node.counters.malformed, 1);
	/* What is none between routers. */
	fake = one_visitor(&one, 9, 50);
	one_conn_req(fake);
	CT_EXPECT_NE(fake->in->what, NULL);
	CT_EXPECT_EQ(one.requests, 0);
}

static struct rte_lsa lsa_of(uint64_t router, uint64_t epoch, const struct rte_link *link)
{
	return (struct rte_lsa){.as = 3,
				.router = router,
				.epoch = epoch,
				.seq = 7,
				.lifetime = 60000,
				.links = 1,
				.link = link};
}

CT_TEST_F(adjacency, logs_once_a_minute_what_is_sent_in_this_routers_name)
{
	static const struct rte_link link = {.subnet = 1,
					     .scope_as = 3,
					     .rate = 1,
					     .up = true,
					     .uri = "tcp://10.0.1.77:7000"};
	struct rte_peer *fake = one_visitor(&one, 9, 50);
	struct rte_lsa lsa = lsa_of(5, 200, &link);

	one_log_begin();
	one_lsa(fake, &lsa);
	lsa.seq = 20;
	one_lsa(fake, &lsa);
	CT_EXPECT_EQ(one_log_end("it listens at tcp://10.0.1.77:7000, this router at "
				 "tcp://10.0.1.5:7000"),
		     1);
	CT_EXPECT_EQ(rte_sync_counters(one.node.sync)->ahead, 2);
	one_passes(&one, 2000);
	CT_EXPECT_EQ(rte_lsdb_get(rte_sync_db(one.node.sync), 3, 5, crn_now_ms())->links,
		     3);
}

CT_TEST_F(adjacency, logs_once_a_minute_an_epoch_that_no_router_can_have)
{
	static const struct rte_link link = {
		.subnet = 1, .scope_as = 3, .rate = 1, .uri = ""};
	struct rte_peer *fake = one_visitor(&one, 9, 50);
	struct rte_lsa lsa = lsa_of(77, UINT64_MAX - 1, &link);

	one_log_begin();
	one_lsa(fake, &lsa);
	lsa.epoch = frt_time_of_day() + 90000 * UINT64_C(1000000000);
	one_lsa(fake, &lsa);
	CT_EXPECT_EQ(one_log_end("a day ahead of this host's clock"), 1);
	CT_EXPECT_EQ(rte_sync_counters(one.node.sync)->range, 2);
	CT_EXPECT_FALSE(fake->in->closed);
	lsa.epoch = frt_time_of_day();
	one_lsa(fake, &lsa);
	CT_EXPECT_EQ(rte_lsdb_count(rte_sync_db(one.node.sync)), 2);
}

CT_TEST_F(adjacency, logs_once_a_minute_a_neighbour_that_advertises_too_many)
{
	struct rte_peer *many = one_visitor(&one, 9, 50),
			*few = one_visitor(&one, 10, 50);
	struct rte_lsa lsa = lsa_of(1, 200, NULL);
	struct rte_lsdb *db = rte_sync_db(one.node.sync);

	lsa.links = 0;
	one_log_begin();
	for (lsa.router = 1000; lsa.router < 6000; lsa.router++)
		one_lsa(many, &lsa);
	CT_EXPECT_EQ(one_log_end("has had its share"), 1);
	CT_EXPECT_EQ(rte_lsdb_count(db), 4096);
	one_log_begin();
	for (lsa.router = 60; lsa.router < 70; lsa.router++)
		one_lsa(few, &lsa);
	CT_EXPECT_EQ(one_log_end("there is no room for those of others"), 1);
	CT_EXPECT_EQ(rte_lsdb_count(db), 4096);
	CT_EXPECT_NE(rte_lsdb_get(db, 3, 69, crn_now_ms()), NULL);
}

CT_TEST_F(adjacency, two_come_to_know_the_same)
{
	static const char other[] =
		"[router]\nid = 9\n" ONE_DEVICE("a", 3, 1, "") ONE_DEVICE("c", 3, 3, "");
	struct rte_peer *here, *there;
	uint32_t to = 0, from = 0, before;
	static struct one two;
	struct ask question;

	one_open(&one, ONE_TEXT(NAMES));
	here = fakes.last;
	one_open(&two, other);
	there = fake_arrives(one_device(&two, "a")->listener, RTE_ROUTER, 3, 1, 5,
			     "10.0.1.5");
	fake_greets(there, 3, 1, 5, 100);
	fake_greets(here, 3, 1, 9, 100);
	do {
		before = here->in->sent + there->in->sent;
		to = fake_carries(here, to, there);
		from = fake_carries(there, from, here);
		one_passes(&one, 100);
		one_turn(&two);
	} while (here->in->sent + there->in->sent != before && here->in->sent < 100);
	CT_EXPECT_EQ(rte_lsdb_count(rte_sync_db(one.node.sync)), 2);
	CT_EXPECT_EQ(rte_lsdb_hash(rte_sync_db(one.node.sync)),
		     rte_lsdb_hash(rte_sync_db(two.node.sync)));
	CT_EXPECT_EQ(one_adjacent(&one, 9), here);
	CT_EXPECT_EQ(one_adjacent(&two, 5), there);
	/* And the way from 3:2 to 3:3. */
	memset(&question, 0, sizeof(question));
	question.req.target = (struct rte_end){.as = 3, .subnet = 3};
	question.req.ttl = 1;
	question.client.peers = 1;
	question.question = (struct frt_question){.in = one_device(&one, "b"),
						  .from = &question.from,
						  .client = &question.client,
						  .req = &question.req,
						  .options = &question.options};
	frt_route(&one.node, &question.question, &question.answer);
	CT_EXPECT_EQ(question.answer.what, FRT_FORWARD);
	CT_EXPECT_EQ(question.answer.router, 9);
	CT_EXPECT_STREQ(question.answer.uri, "tcp://10.0.1.5:7000");
	frt_adjacencies_close(one_device(&two, "a"), 0);
	one_close(&one);
	one_close(&two);
}

CT_TEST_F(adjacency, silence_ends_it)
{
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	one_passes(&one, 2500);
	CT_EXPECT_FALSE(fake->in->closed);
	CT_EXPECT_GE(fake_sent(fake, RTE_HEARTBEAT), 2);
	one_passes(&one, 2000);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(fake->in->status, FI_ETIMEDOUT);
}

CT_TEST_F(adjacency, what_a_peer_does_not_take_waits_in_order)
{
	uint32_t before;
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	one_turn(&one);
	before = fake->in->sent;
	fake->in->no_words = true;
	CT_EXPECT_TRUE(frt_node_load_add(&one.node, 1));
	CT_EXPECT_FALSE(frt_node_load_add(&one.node, 1));
	one_passes(&one, 1500);
	/* What comes later does not overtake it. */
	fake->in->no_words = false;
	one_passes(&one, 1000);
	CT_EXPECT_EQ(fake->in->sent, before);
	fake->ops->ready(fake);
	CT_EXPECT_GT(fake->in->sent, before);
	/* The LSA was first. */
	CT_EXPECT_EQ(fake_at(fake, before)->packet.head.type, RTE_LSA);
	CT_EXPECT_EQ(fake_at(fake, fake->in->sent - 1)->packet.head.type, RTE_HEARTBEAT);
}

/* LSAs of some 100 KiB, as many as are asked for. */
static void say_much(struct frt_adjacency *adjacency, uint32_t count)
{
	struct rte_sync_message message = {.type = RTE_SYNC_LSA};
	static struct rte_link link[RTE_LINKS_MAX];
	static uint64_t neighbour[200];
	struct rte_lsa lsa = {.as = 3,
			      .router = 77,
			      .epoch = 1,
			      .seq = 1,
			      .lifetime = 1000,
			      .links = RTE_LINKS_MAX,
			      .link = link};
	uint32_t i;

	for (i = 0; i < 200; i++)
		neighbour[i] = i + 1;
	for (i = 0; i < RTE_LINKS_MAX; i++)
		link[i] = (struct rte_link){.subnet = i,
					    .scope_as = 3,
					    .rate = 1,
					    .neighbours = 200,
					    .neighbour = neighbour,
					    .uri = ""};
	message.lsa = &lsa;
	for (i = 0; i < count; i++)
		frt_queue_say(adjacency, &message);
}

CT_TEST_F(adjacency, what_is_answered_at_length_waits_while_much_is_to_be_sent)
{
	const struct rte_packet packet = {.head.type = RTE_LSREQ};
	const struct rte_lsa_keys keys = {.count = 1, .key = {{.as = 3, .router = 5}}};
	uint8_t bytes[512];
	uint32_t before, i;
	ssize_t len;
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	one_turn(&one);
	len = rte_lsa_keys_pack(&packet, &keys, bytes, sizeof(bytes));
	CT_ASSERT_GT(len, 0);
	before = fake_sent(fake, RTE_LSA);
	fake_say(fake, bytes, (size_t)len, NULL);
	CT_EXPECT_EQ(fake_sent(fake, RTE_LSA), before + 1);
	fake->in->no_words = true;
	say_much(fake->user, 3);
	fake_say(fake, bytes, (size_t)len, NULL);
	CT_EXPECT_EQ(fake->in->receives, 1);
	/* Signs of life are heard all the same. */
	one_heartbeat(fake);
	CT_EXPECT_EQ(fake->in->receives, 1);
	/* So many wait, and no more. */
	for (i = 0; i < 30; i++)
		fake_say(fake, bytes, (size_t)len, NULL);
	CT_EXPECT_EQ(fake->in->receives, 16);
	before = fake->in->sent;
	fake->in->no_words = false;
	fake->ops->ready(fake);
	CT_EXPECT_EQ(fake->in->receives, 0);
	CT_EXPECT_GE(fake->in->sent, before + 16 + 3 * 11);
	/* Those that wait are given back at its end. */
	fake->in->no_words = true;
	say_much(fake->user, 3);
	fake_say(fake, bytes, (size_t)len, NULL);
	fake_goes(fake, FI_ECONNABORTED);
	CT_EXPECT_EQ(fake->in->receives, 0);
}

CT_TEST_F(adjacency, one_that_never_reads_is_given_up)
{
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	fake->in->no_words = true;
	say_much(fake->user, 100);
	one_turn(&one);
	CT_EXPECT_FALSE(fake->in->closed);
	say_much(fake->user, 100);
	one_turn(&one);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(fake->in->status, FI_ENOBUFS);
	CT_EXPECT_EQ(one.node.counters.queue_full, 1);
}

CT_TEST_F(adjacency, at_the_end_all_are_told_first)
{
	struct rte_peer *fake;
	uint32_t before;

	one_open(&one, ONE_TEXT("router = tcp://10.0.1.8:7000\n"));
	fake = one_visitor(&one, 9, 50);
	one_turn(&one);
	before = fake_sent(fake, RTE_LSA);
	fake->in->no_words = true;
	one.node.stopping = true;
	frt_sync_bye(&one.node, crn_now_ms());
	one_turn(&one);
	/* Who was only tried is left alone. */
	CT_EXPECT_TRUE(fake_peer_at(0)->in->closed);
	CT_EXPECT_FALSE(fake->in->closed);
	CT_EXPECT_FALSE(frt_sync_silent(&one.node));
	fake->in->no_words = false;
	fake->ops->ready(fake);
	one_turn(&one);
	CT_EXPECT_EQ(fake_sent(fake, RTE_LSA), before + 1);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(fake->in->status, 0);
	CT_EXPECT_TRUE(frt_sync_silent(&one.node));
}

static void next_has_begun_anew(struct rte_peer *peer)
{
	one_visitor(&one, 10, 60);
}

/* What is closed makes progress. */
CT_TEST_F(adjacency, another_is_replaced_while_one_ends)
{
	struct rte_peer *first, *second;

	first = one_visitor(&one, 9, 50);
	second = one_visitor(&one, 10, 50);
	says_what_is_wrong(first);
	fakes.at_close = next_has_begun_anew;
	one_turn(&one);
	CT_EXPECT_TRUE(first->in->closed);
	CT_EXPECT_TRUE(second->in->closed);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 1);
}

/* --- Two routers with one id --- */

static struct rte_peer *visitor_from(const char *host, uint64_t id, uint64_t epoch)
{
	struct rte_peer *fake =
		fake_arrives(one_device(&one, "a")->listener, RTE_ROUTER, 3, 1, id, host);

	CT_EXPECT_NE(fake, NULL);
	if (!fake)
		return NULL;
	snprintf(fake->uri, sizeof(fake->uri), "tcp://%s:7000", host);
	fake_greets(fake, 3, 1, id, epoch);
	one_heartbeat(fake);
	return fake;
}

CT_TEST_F(adjacency, logs_two_neighbours_with_one_id_and_parts_from_the_earlier)
{
	struct rte_peer *earlier, *later, *again;

	one_log_begin();
	earlier = visitor_from("10.0.1.20", 9, 50);
	later = visitor_from("10.0.1.21", 9, 60);
	CT_EXPECT_TRUE(earlier->in->closed);
	CT_EXPECT_EQ(earlier->in->status, FI_EADDRINUSE);
	CT_EXPECT_EQ(one_adjacent(&one, 9), later);
	again = visitor_from("10.0.1.20", 9, 50);
	CT_EXPECT_TRUE(again->in->closed);
	CT_EXPECT_EQ(again->in->status, FI_EADDRINUSE);
	visitor_from("10.0.1.20", 9, 50);
	CT_EXPECT_EQ(one_log_end("have the same id 9"), 2);
	CT_EXPECT_EQ(one.node.counters.duplicate_id, 3);
	/* On its own host it is the same router, started again. */
	visitor_from("10.0.1.21", 9, 61);
	CT_EXPECT_EQ(one.node.counters.duplicate_id, 3);
}

CT_TEST_F(adjacency, a_neighbour_whose_advertisement_is_of_another_is_logged)
{
	static const struct rte_link link = {
		.subnet = 1, .scope_as = 3, .rate = 1, .uri = "tcp://10.0.1.21:7000"};
	struct rte_lsa lsa = lsa_of(9, 70, &link);
	struct rte_peer *near = visitor_from("10.0.1.20", 9, 50), *far;

	far = visitor_from("10.0.1.30", 8, 50);
	for (int i = 0; i < 6; i++) {
		one_heartbeat(near);
		one_heartbeat(far);
		one_passes(&one, 1000);
	}
	one_log_begin();
	one_lsa(far, &lsa);
	lsa.seq++;
	one_lsa(far, &lsa);
	CT_EXPECT_EQ(one_log_end("listens at tcp://10.0.1.20:7000, and an advertisement "
				 "with its id 9 says tcp://10.0.1.21:7000"),
		     1);
	CT_EXPECT_EQ(one.node.counters.duplicate_id, 2);
}

static int way_to_2(char *text)
{
	struct ask question = {
		.req = {.target = {.as = 3, .subnet = 2}, .ttl = 1},
		.client = {.peers = 1},
	};

	question.question = (struct frt_question){.in = one_device(&one, "a"),
						  .from = &question.from,
						  .client = &question.client,
						  .req = &question.req,
						  .options = &question.options};
	frt_route(&one.node, &question.question, &question.answer);
	snprintf(text, FRT_TEXT_SIZE, "%s", question.answer.text);
	return question.answer.what;
}

CT_TEST_F(adjacency, a_router_whose_id_one_that_was_started_later_has_stays_out)
{
	char why[FRT_READY_SIZE], text[FRT_TEXT_SIZE];
	struct rte_peer *fake;

	CT_EXPECT_TRUE(frt_ready(&one.node, why));
	CT_EXPECT_EQ(way_to_2(text), FRT_DELIVER);
	/* One that was started earlier is told, and nothing else. */
	fake = visitor_from("10.0.1.20", 5, 99);
	CT_EXPECT_EQ(fake->in->status, FI_EADDRINUSE);
	CT_EXPECT_FALSE(one.node.out);
	one_log_begin();
	fake = visitor_from("10.0.1.21", 5, 101);
	CT_EXPECT_EQ(fake->in->status, FI_EADDRINUSE);
	CT_EXPECT_EQ(
		one_log_end(
			"10.0.1.21:1234 has this router's id 5, and this one listens at "
			"tcp://10.0.1.5:7000"),
		1);
	CT_EXPECT_TRUE(one.node.out);
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_STREQ(why, "another router has this router's id: give each its own");
	CT_EXPECT_EQ(way_to_2(text), FRT_REFUSE);
	CT_EXPECT_NE(strstr(text, "give each its own"), NULL);
	CT_EXPECT_EQ(one.node.counters.duplicate_id, 2);
	one_passes(&one, 11000);
	CT_EXPECT_FALSE(one.node.out);
	CT_EXPECT_EQ(way_to_2(text), FRT_DELIVER);
}

CT_TEST_F(adjacency, a_router_that_a_neighbour_refuses_for_its_id_stays_out)
{
	struct rte_peer *fake = visitor_from("10.0.1.20", 9, 50);

	fake_goes(fake, FI_EADDRINUSE);
	CT_EXPECT_TRUE(one.node.out);
	CT_EXPECT_EQ(one.node.counters.duplicate_id, 1);
	/* It is connected with itself: nothing follows of it. */
	one_open(&one, ONE_TEXT("router = tcp://10.0.1.99:7000\n"));
	fake_greets(fakes.last, 3, 1, 5, 100);
	fake = fake_arrives(one_device(&one, "a")->listener, RTE_ROUTER, 3, 1, 5,
			    "10.0.1.5");
	CT_ASSERT_NE(fake, NULL);
	fake_greets(fake, 3, 1, 5, 100);
	fake_goes(fake, FI_EADDRINUSE);
	CT_EXPECT_FALSE(one.node.out);
	CT_EXPECT_EQ(one.node.counters.duplicate_id, 0);
	/* The other one refuses it, before it has sent anything. */
	fake = fake_arrives(one_device(&one, "a")->listener, RTE_ROUTER, 3, 1, 5,
			    "10.0.1.20");
	CT_ASSERT_NE(fake, NULL);
	fake_greets(fake, 3, 1, 5, 101);
	fake_goes(fake, FI_EADDRINUSE);
	CT_EXPECT_TRUE(one.node.out);
}
