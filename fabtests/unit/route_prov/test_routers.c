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

/* lists: the configuration has both routers, or the first. */
static void begin(struct scene *scene, bool both, const char *routing)
{
	char routers[128];

	router_open(&one, 101);
	router_open(&two, 102);
	snprintf(routers, sizeof(routers), "router = tcp://127.0.0.1:%u\n", one.number);
	if (both)
		snprintf(routers + strlen(routers), 64, "router = tcp://127.0.0.1:%u\n",
			 two.number);
	ends_config(routers, routing);
	ends_open(&scene->ends);
	scene->ep = ends_ep(&scene->ends, scene->ends.info);
}

static void finish(struct scene *scene)
{
	CT_EXPECT_EQ(fi_close(&scene->ep->fid), 0);
	ends_close(&scene->ends);
	router_close(&one);
	router_close(&two);
}

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

static void uri_of(const struct router *router, char uri[64])
{
	snprintf(uri, 64, "tcp://127.0.0.1:%u", router->number);
}

CT_TEST(routers, a_router_is_asked_for_another_subnet)
{
	struct scene scene;

	begin(&scene, false, "");
	one.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
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
	finish(&scene);
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

CT_TEST(routers, a_way_that_knows_no_durable_writes_refuses_them)
{
	struct scene scene;
	int knows;

	for (knows = 0; knows < 2; knows++) {
		CT_NOTE("knows: %d", knows);
		begin(&scene, false, "");
		one.answer = ROUTER_ACCEPTS;
		one.features = RTE_FEATURE_RMA | RTE_FEATURE_DELIVER |
			       (knows ? RTE_FEATURE_COMMIT : 0);
		ask(&scene);
		CT_ASSERT_TRUE(connected(&scene));
		CT_EXPECT_TRUE(one.req.features & RTE_FEATURE_COMMIT);
		CT_EXPECT_EQ(write_durable(&scene), knows ? 0 : -FI_EOPNOTSUPP);
		finish(&scene);
	}
}

CT_TEST(routers, the_failing_router_and_its_reason_are_told)
{
	struct scene scene;

	begin(&scene, false, "");
	one.answer = ROUTER_FAILS;
	one.status = FI_EACCES;
	ask(&scene);
	CT_ASSERT_TRUE(failed(&scene, FI_EACCES, 101));
	CT_EXPECT_STREQ((char *)scene.event.err.err_data + 8, "as the test says");
	finish(&scene);
}

CT_TEST(routers, what_one_cannot_reach_another_may)
{
	struct scene scene;

	begin(&scene, true, "");
	one.answer = ROUTER_FAILS;
	one.status = FI_ENETUNREACH;
	two.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_LE(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 1u);
	CT_EXPECT_STREQ(two.param, "hello");
	finish(&scene);
}

CT_TEST(routers, each_is_asked_once_and_the_last_ones_word_stands)
{
	struct scene scene;

	begin(&scene, true, "");
	one.answer = two.answer = ROUTER_FAILS;
	one.status = two.status = FI_EHOSTUNREACH;
	ask(&scene);
	CT_ASSERT_TRUE(ends_expect_err(&scene.ends, &scene.ep->fid, FI_EHOSTUNREACH,
				       &scene.event, turn));
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 1u);
	finish(&scene);
}

CT_TEST(routers, what_is_not_allowed_is_not_asked_of_another)
{
	struct scene scene;

	begin(&scene, true, "");
	one.answer = two.answer = ROUTER_FAILS;
	one.status = two.status = FI_EACCES;
	ask(&scene);
	CT_ASSERT_TRUE(ends_expect_err(&scene.ends, &scene.ep->fid, FI_EACCES,
				       &scene.event, turn));
	CT_EXPECT_EQ(one.asked + two.asked, 1u);
	finish(&scene);
}

/* Who leads there has been found, and has said it: another one would ask it again. */
CT_TEST(routers, what_a_router_behind_it_says_is_not_asked_of_another)
{
	struct scene scene;

	begin(&scene, true, "");
	one.answer = two.answer = ROUTER_FAILS;
	one.status = two.status = FI_EHOSTUNREACH;
	one.of = two.of = 77;
	ask(&scene);
	CT_ASSERT_TRUE(failed(&scene, FI_EHOSTUNREACH, 77));
	CT_EXPECT_EQ(one.asked + two.asked, 1u);
	finish(&scene);
}

CT_TEST(routers, one_that_leaves_is_replaced)
{
	struct scene scene;

	begin(&scene, true, "");
	one.answer = ROUTER_LEAVES;
	two.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(two.asked, 1u);
	finish(&scene);
}

CT_TEST(routers, a_redirect_is_followed_and_remembered)
{
	struct fid_ep *again;
	struct scene scene;
	char uri[64];

	begin(&scene, false, "");
	one.answer = ROUTER_REDIRECTS;
	one.status = FI_EHOSTUNREACH;
	uri_of(&two, uri);
	one.uri = uri;
	two.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 1u);
	CT_NOTE("the next connection");
	again = ends_ep(&scene.ends, scene.ends.info);
	CT_ASSERT_EQ(ends_connect(again, &target, NULL, 0), 0);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(two.asked, 2u);
	CT_EXPECT_EQ(fi_close(&again->fid), 0);
	CT_NOTE("a subnet of that number in another AS");
	again = ends_ep(&scene.ends, scene.ends.info);
	CT_ASSERT_EQ(ends_connect(again, &elsewhere, NULL, 0), 0);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(one.asked, 2u);
	CT_EXPECT_EQ(fi_close(&again->fid), 0);
	finish(&scene);
}

/* It was better for a while, because a router drained, say. */
CT_TEST(routers, a_redirect_is_not_remembered_for_ever)
{
	struct rte_redirect *redirect;
	struct fid_ep *again;
	struct scene scene;
	char uri[64];

	begin(&scene, false, "");
	one.answer = ROUTER_REDIRECTS;
	one.status = FI_EHOSTUNREACH;
	uri_of(&two, uri);
	one.uri = uri;
	two.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
	redirect = crn_container_of(scene.ends.domain, struct rte_domain, fid)
			   ->device->redirect;
	CT_EXPECT_GT(redirect->until, crn_now_ms());
	CT_EXPECT_LE(redirect->until, crn_now_ms() + 30000);
	redirect->until = crn_now_ms();
	again = ends_ep(&scene.ends, scene.ends.info);
	CT_ASSERT_EQ(ends_connect(again, &target, NULL, 0), 0);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(one.asked, 2u);
	CT_EXPECT_EQ(two.asked, 2u);
	CT_EXPECT_EQ(fi_close(&again->fid), 0);
	finish(&scene);
}

CT_TEST(routers, routers_that_name_each_other_end_in_a_loop_error)
{
	struct scene scene;
	char uri[2][64];

	begin(&scene, false, "");
	one.answer = two.answer = ROUTER_REDIRECTS;
	one.status = two.status = FI_EHOSTUNREACH;
	uri_of(&two, uri[0]);
	uri_of(&one, uri[1]);
	one.uri = uri[0];
	two.uri = uri[1];
	ask(&scene);
	CT_ASSERT_TRUE(
		ends_expect_err(&scene.ends, &scene.ep->fid, ELOOP, &scene.event, turn));
	CT_EXPECT_EQ(one.asked + two.asked, 4u);
	finish(&scene);
}

CT_TEST(routers, a_redirect_to_a_name_is_none)
{
	struct scene scene;
	char uri[64];

	begin(&scene, false, "");
	one.answer = ROUTER_REDIRECTS;
	one.status = FI_EHOSTUNREACH;
	snprintf(uri, sizeof(uri), "tcp://localhost:%u", two.number);
	one.uri = uri;
	two.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(
		ends_expect_err(&scene.ends, &scene.ep->fid, EPROTO, &scene.event, turn));
	CT_EXPECT_EQ(two.asked, 0u);
	finish(&scene);
}

CT_TEST(routers, a_redirect_to_nowhere_falls_back)
{
	struct scene scene;

	begin(&scene, true, "");
	one.answer = ROUTER_REDIRECTS;
	one.status = FI_EHOSTUNREACH;
	one.uri = "tcp://127.0.0.1:1";
	two.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(two.asked, 1u);
	/* And is no way for others. */
	CT_EXPECT_EQ(crn_container_of(scene.ends.domain, struct rte_domain, fid)
			     ->device->redirect[0]
			     .until,
		     0);
	finish(&scene);
}

CT_TEST(routers, no_answer_is_a_timeout_at_that_router)
{
	struct scene scene;

	begin(&scene, false, "connect_timeout = 400ms\n");
	one.answer = ROUTER_SILENT;
	ask(&scene);
	CT_EXPECT_TRUE(failed(&scene, FI_ETIMEDOUT, 101));
	CT_EXPECT_EQ(one.asked, 1u);
	finish(&scene);
}

CT_TEST(routers, nobody_at_a_routers_address_is_not_a_refusal)
{
	struct scene scene;
	uint16_t number;

	begin(&scene, false, "");
	number = one.number;
	router_close(&one);
	ask(&scene);
	CT_EXPECT_TRUE(ends_expect_err(&scene.ends, &scene.ep->fid, FI_EHOSTUNREACH,
				       &scene.event, NULL));
	CT_EXPECT_NE(number, 0);
	router_open(&one, 101);
	finish(&scene);
}

CT_TEST(routers, a_connection_that_a_router_ends_is_shut_down_once)
{
	struct fi_cq_err_entry err = {0};
	struct scene scene;
	char buf[8] = "";

	begin(&scene, false, "");
	one.answer = ROUTER_ACCEPTS;
	ask(&scene);
	CT_ASSERT_TRUE(connected(&scene));
	CT_EXPECT_EQ(fi_recv(scene.ep, buf, sizeof(buf), NULL, 0, &scene), 0);
	CT_EXPECT_EQ(fi_send(scene.ep, buf, sizeof(buf), NULL, 0, buf), 0);
	router_shutdown(&one, FI_EHOSTUNREACH);
	CT_ASSERT_TRUE(ends_next(&scene.ends, &scene.event, turn));
	CT_EXPECT_EQ(scene.event.event, FI_SHUTDOWN);
	CT_EXPECT_EQ(fi_cq_readerr(scene.ends.cq, &err, 0), 1);
	CT_EXPECT_EQ(fi_cq_readerr(scene.ends.cq, &err, 0), 1);
	CT_EXPECT_EQ(fi_cq_readerr(scene.ends.cq, &err, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_send(scene.ep, buf, sizeof(buf), NULL, 0, buf), -FI_ENOTCONN);
	ends_quiet(&scene.ends);
	finish(&scene);
}

CT_TEST(routers, who_gives_up_says_so)
{
	struct scene scene;
	const uint64_t end = crn_now_ms() + 10000;

	begin(&scene, false, "");
	one.answer = ROUTER_SILENT;
	ask(&scene);
	while (!one.asked && crn_now_ms() < end) {
		turn();
		fi_eq_read(scene.ends.eq, &scene.event.event, scene.event.room,
			   sizeof(scene.event.room), 0);
	}
	CT_EXPECT_EQ(one.asked, 1u);
	CT_EXPECT_EQ(fi_close(&scene.ep->fid), 0);
	while (!one.shut && crn_now_ms() < end)
		turn();
	CT_EXPECT_EQ(one.shut, 1u);
	scene.ep = ends_ep(&scene.ends, scene.ends.info);
	finish(&scene);
}
