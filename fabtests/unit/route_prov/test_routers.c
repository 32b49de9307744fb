/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to other subnets: which router is asked, and what becomes of its answer. */
#include <stdio.h>
#include <cairn/bytes.h>
#include <cairn/wait.h>
#include "ends.h"
#include "router.h"

static struct router one, two;
static const struct rte_end target = {.as = 4, .subnet = 9, .host = 5, .port = 6},
			    elsewhere = {.as = 6, .subnet = 9, .host = 5, .port = 6};

static void turn(void)
{
	router_turn(&one);
	router_turn(&two);
}

struct scene {
	struct ends ends;
	struct fid_ep *ep;
	struct ends_event event;
};

static void finish(struct scene *scene)
{
	if (scene->ep)
		CT_EXPECT_EQ(fi_close(&scene->ep->fid), 0);
	scene->ep = NULL;
	ends_close(&scene->ends);
	router_close(&one);
	router_close(&two);
}

/* The configuration has both routers, or the first. */
static void begin(struct scene *scene, bool both, const char *routing)
{
	finish(scene);
	router_open(&one, 101);
	router_open(&two, 102);
	router_config(&one, both ? &two : NULL, routing);
	ends_open(&scene->ends);
	scene->ep = ends_ep(&scene->ends, scene->ends.info);
}

CT_FIXTURE(routers, struct scene, NULL, finish);

static void ask(struct scene *scene)
{
	CT_ASSERT_EQ(ends_connect(scene->ep, &target, "hello", 5), 0);
}

static bool connected(struct scene *scene)
{
	if (!ends_next(&scene->ends, &scene->event, turn))
		return false;
	CT_EXPECT_GT(scene->event.len, 0);
	CT_EXPECT_EQ(scene->event.event, FI_CONNECTED);
	return scene->event.len > 0 && scene->event.event == FI_CONNECTED;
}

static bool failed(struct scene *scene, int err, uint64_t router)
{
	if (!ends_expect_err(&scene->ends, &scene->ep->fid, err, &scene->event, turn))
		return false;
	CT_EXPECT_GE(scene->event.err.err_data_size, (size_t)9);
	CT_EXPECT_EQ(crn_get_le64(scene->event.err.err_data), router);
	return true;
}

static bool failed_with(struct scene *scene, int err)
{
	return ends_expect_err(&scene->ends, &scene->ep->fid, err, &scene->event, turn);
}

static void redirects(struct router *router, const char *host, unsigned int number)
{
	router->answer = ROUTER_REDIRECTS;
	router->status = FI_EHOSTUNREACH;
	snprintf(router->uri, sizeof(router->uri), "tcp://%s:%u", host, number);
}

/* Another endpoint connects, and is closed. */
static void connect_again(struct scene *scene, const struct rte_end *to)
{
	struct fid_ep *ep = ends_ep(&scene->ends, scene->ends.info);

	CT_EXPECT_EQ(ends_connect(ep, to, NULL, 0), 0);
	CT_EXPECT_TRUE(connected(scene));
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

/* The address to which requests for the target are redirected. */
static struct rte_redirect *redirect_of(struct scene *scene)
{
	return crn_container_of(scene->ends.domain, struct rte_domain, fid)
		->device->redirect;
}

CT_TEST_F(routers, a_router_is_asked_for_another_subnet)
{
	begin(t, false, "");
	one.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	CT_EXPECT_EQ(one.req.target.as, 4u);
	CT_EXPECT_EQ(one.req.target.subnet, 9u);
	CT_EXPECT_EQ(one.req.target.host, 5u);
	CT_EXPECT_EQ(one.req.target.port, 6);
	CT_EXPECT_EQ(one.req.source.as, 3u);
	CT_EXPECT_EQ(one.req.source.subnet, 1u);
	CT_EXPECT_EQ(one.req.source.host, ENDS_TARGET);
	CT_EXPECT_EQ(one.req.ttl, RTE_TTL_MAX);
	CT_EXPECT_EQ(one.req.frag, 262144u);
	CT_EXPECT_GT(one.req.timeout, 0u);
	CT_EXPECT_LE(one.req.timeout, 5000u);
	CT_EXPECT_STREQ(one.param, "hello");
}

static ssize_t write_durable(struct scene *scene)
{
	static uint8_t bytes[8];
	const struct iovec iov = {bytes, sizeof(bytes)};
	const struct fi_rma_iov range = {0, sizeof(bytes), 7};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
	};

	return fi_writemsg(scene->ep, &msg, FI_COMMIT_COMPLETE);
}

CT_TEST_F(routers, a_way_that_knows_no_durable_writes_refuses_them)
{
	int knows;

	for (knows = 0; knows < 2; knows++) {
		CT_NOTE("knows: %d", knows);
		begin(t, false, "");
		one.answer = ROUTER_ACCEPTS;
		one.features = RTE_FEATURE_RMA | RTE_FEATURE_DELIVER |
			       (knows ? RTE_FEATURE_COMMIT : 0);
		ask(t);
		CT_ASSERT_TRUE(connected(t));
		CT_EXPECT_TRUE(one.req.features & RTE_FEATURE_COMMIT);
		CT_EXPECT_EQ(write_durable(t), knows ? 0 : -FI_EOPNOTSUPP);
	}
}

CT_TEST_F(routers, the_failing_router_and_its_reason_are_told)
{
	begin(t, false, "");
	one.answer = ROUTER_FAILS;
	one.status = FI_EACCES;
	ask(t);
	CT_ASSERT_TRUE(failed(t, FI_EACCES, 101));
	CT_EXPECT_STREQ((char *)t->event.err.err_data + 8, "as the test says");
}

CT_TEST_F(routers, what_one_cannot_reach_another_may)
{
	begin(t, true, "");
	one.answer = ROUTER_FAILS;
	one.status = FI_ENETUNREACH;
	two.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	CT_EXPECT_LE(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 1u);
	CT_EXPECT_STREQ(two.param, "hello");
}

CT_TEST_F(routers, one_whose_next_hop_does_not_answer_is_asked_last_for_that_subnet)
{
	int i;

	begin(t, true, "");
	one.answer = ROUTER_FAILS;
	one.status = FI_ETIMEDOUT;
	two.answer = ROUTER_ACCEPTS;
	/* Until chance has let it be asked. */
	for (i = 0; i < 20 && !one.asked; i++)
		connect_again(t, &target);
	CT_ASSERT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, (unsigned int)i);
	for (i = 0; i < 8; i++)
		connect_again(t, &target);
	CT_EXPECT_EQ(one.asked, 1u);
	/* Another subnet is not affected. */
	one.answer = ROUTER_ACCEPTS;
	for (i = 0; i < 20 && one.asked == 1u; i++)
		connect_again(t, &elsewhere);
	CT_EXPECT_EQ(one.asked, 2u);
	/* It is asked again where the other one cannot help, and has reached it then. */
	two.answer = ROUTER_FAILS;
	two.status = FI_EHOSTUNREACH;
	connect_again(t, &target);
	CT_EXPECT_EQ(one.asked, 3u);
	connect_again(t, &target);
	CT_EXPECT_EQ(one.asked, 4u);
}

CT_TEST_F(routers, each_is_asked_once_and_the_last_ones_word_stands)
{
	begin(t, true, "");
	one.answer = two.answer = ROUTER_FAILS;
	one.status = two.status = FI_EHOSTUNREACH;
	ask(t);
	CT_ASSERT_TRUE(failed_with(t, FI_EHOSTUNREACH));
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 1u);
}

CT_TEST_F(routers, what_is_not_allowed_is_not_asked_of_another)
{
	begin(t, true, "");
	one.answer = two.answer = ROUTER_FAILS;
	one.status = two.status = FI_EACCES;
	ask(t);
	CT_ASSERT_TRUE(failed_with(t, FI_EACCES));
	CT_EXPECT_EQ(one.asked + two.asked, 1u);
}

/* Who leads there has been found, and has said it: another one would ask it again. */
CT_TEST_F(routers, what_a_router_behind_it_says_is_not_asked_of_another)
{
	begin(t, true, "");
	one.answer = two.answer = ROUTER_FAILS;
	one.status = two.status = FI_EHOSTUNREACH;
	one.of = two.of = 77;
	ask(t);
	CT_ASSERT_TRUE(failed(t, FI_EHOSTUNREACH, 77));
	CT_EXPECT_EQ(one.asked + two.asked, 1u);
}

CT_TEST_F(routers, one_that_leaves_is_replaced)
{
	begin(t, true, "");
	one.answer = ROUTER_LEAVES;
	two.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	CT_EXPECT_EQ(two.asked, 1u);
}

CT_TEST_F(routers, a_redirect_is_followed_and_remembered)
{
	begin(t, false, "");
	redirects(&one, "127.0.0.1", two.number);
	two.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 1u);
	CT_NOTE("the next connection");
	connect_again(t, &target);
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 2u);
	CT_NOTE("a subnet of that number in another AS");
	connect_again(t, &elsewhere);
	CT_EXPECT_EQ(one.asked, 2u);
}

/* It was better for a while, because a router drained, say. */
CT_TEST_F(routers, a_redirect_is_not_remembered_for_ever)
{
	struct rte_redirect *redirect;

	begin(t, false, "");
	redirects(&one, "127.0.0.1", two.number);
	two.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	redirect = redirect_of(t);
	CT_EXPECT_GT(redirect->until, crn_now_ms());
	CT_EXPECT_LE(redirect->until, crn_now_ms() + 30000);
	redirect->until = crn_now_ms();
	connect_again(t, &target);
	CT_EXPECT_EQ(one.asked, 2u);
	CT_EXPECT_EQ(two.asked, 2u);
}

CT_TEST_F(routers, routers_that_name_each_other_end_in_a_loop_error)
{
	begin(t, false, "");
	redirects(&one, "127.0.0.1", two.number);
	redirects(&two, "127.0.0.1", one.number);
	ask(t);
	CT_ASSERT_TRUE(failed_with(t, ELOOP));
	CT_EXPECT_EQ(one.asked + two.asked, 4u);
}

CT_TEST_F(routers, a_redirect_to_a_name_is_none)
{
	begin(t, false, "");
	redirects(&one, "localhost", two.number);
	two.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(failed_with(t, EPROTO));
	CT_EXPECT_EQ(two.asked, 0u);
}

CT_TEST_F(routers, a_redirect_to_nowhere_falls_back)
{
	begin(t, true, "");
	redirects(&one, "127.0.0.1", 1);
	two.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	CT_EXPECT_EQ(two.asked, 1u);
	/* And is no way for others. */
	CT_EXPECT_EQ(redirect_of(t)->until, 0);
}

CT_TEST_F(routers, no_answer_is_a_timeout_at_that_router)
{
	begin(t, false, "connect_timeout = 400ms\n");
	one.answer = ROUTER_SILENT;
	ask(t);
	CT_EXPECT_TRUE(failed(t, FI_ETIMEDOUT, 101));
	CT_EXPECT_EQ(one.asked, 1u);
}

CT_TEST_F(routers, nobody_at_a_routers_address_is_not_a_refusal)
{
	uint16_t number;

	begin(t, false, "");
	number = one.number;
	router_close(&one);
	ask(t);
	CT_EXPECT_TRUE(
		ends_expect_err(&t->ends, &t->ep->fid, FI_EHOSTUNREACH, &t->event, NULL));
	CT_EXPECT_NE(number, 0);
}

CT_TEST_F(routers, a_connection_that_a_router_ends_is_shut_down_once)
{
	struct fi_cq_err_entry err = {0};
	char buf[8] = "";

	begin(t, false, "");
	one.answer = ROUTER_ACCEPTS;
	ask(t);
	CT_ASSERT_TRUE(connected(t));
	CT_EXPECT_EQ(fi_recv(t->ep, buf, sizeof(buf), NULL, 0, t), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buf, sizeof(buf), NULL, 0, buf), 0);
	router_shutdown(&one, FI_EHOSTUNREACH);
	CT_ASSERT_TRUE(ends_next(&t->ends, &t->event, turn));
	CT_EXPECT_EQ(t->event.event, FI_SHUTDOWN);
	CT_EXPECT_EQ(fi_cq_readerr(t->ends.cq, &err, 0), 1);
	CT_EXPECT_EQ(fi_cq_readerr(t->ends.cq, &err, 0), 1);
	CT_EXPECT_EQ(fi_cq_readerr(t->ends.cq, &err, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_send(t->ep, buf, sizeof(buf), NULL, 0, buf), -FI_ENOTCONN);
	ends_quiet(&t->ends);
}

CT_TEST_F(routers, who_gives_up_says_so)
{
	const uint64_t end = crn_now_ms() + 10000;

	begin(t, false, "");
	one.answer = ROUTER_SILENT;
	ask(t);
	while (!one.asked && crn_now_ms() < end) {
		turn();
		fi_eq_read(t->ends.eq, &t->event.event, t->event.room,
			   sizeof(t->event.room), 0);
	}
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(fi_close(&t->ep->fid), 0);
	t->ep = NULL;
	while (!one.shut && crn_now_ms() < end)
		turn();
	CT_EXPECT_EQ(one.shut, 1u);
}
