/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/connect.c: a request to a port whose listener was closed a moment ago. */
#include <poll.h>
#include "cm/cm.h"
#include "step.h"
#include "../world.h"

#define PATIENCE CT_DEADLINE_MS
#define SECOND 1000000000ull  /* ns */
#define LOOKS_OF_A_SECOND 100 /* for a listener, while a request is held */

struct ends {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *active;
	struct sockaddr_in at;
};

/* The type of the next event, -1 when none comes; its new id is destroyed. */
static int next_event(struct ends *ends)
{
	struct pollfd fd = {.fd = ends->channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int type;

	if (poll(&fd, 1, PATIENCE) != 1 || rdma_get_cm_event(ends->channel, &event))
		return -1;
	type = (int)event->event;
	id = event->id;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		rdma_destroy_id(id);
	return type;
}

/* At the address of ends, whose port 0 becomes one that is free. */
static bool listens(struct ends *ends)
{
	if (rdma_create_id(ends->channel, &ends->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(ends->listener, (struct sockaddr *)&ends->at) ||
	    rdma_listen(ends->listener, 1))
		return false;
	ends->at.sin_port = rdma_get_src_port(ends->listener);
	return true;
}

/* A requester that connects to where a listener has just been closed. */
static bool asks_late(struct ends *ends)
{
	struct sockaddr *at = (struct sockaddr *)&ends->at;
	struct rdma_conn_param param = {.qp_num = 1};

	ends->channel = rdma_create_event_channel();
	ends->at.sin_family = AF_INET;
	ends->at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!ends->channel || !listens(ends) ||
	    rdma_create_id(ends->channel, &ends->active, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(ends->active, NULL, at, PATIENCE) ||
	    next_event(ends) != RDMA_CM_EVENT_ADDR_RESOLVED ||
	    rdma_resolve_route(ends->active, PATIENCE) ||
	    next_event(ends) != RDMA_CM_EVENT_ROUTE_RESOLVED)
		return false;
	rdma_destroy_id(ends->listener);
	ends->listener = NULL;
	return !rdma_connect(ends->active, &param);
}

/* As the timer does; false: the request is not held any more. */
static bool look(struct rdma_cm_id *active, int times)
{
	struct svb_cm_id *id = svb_cm_id(active);
	bool held;

	svb_cm_lock();
	while (id->held && times--)
		svb_cm_release(id);
	held = id->held;
	svb_cm_unlock();
	return held;
}

/* The process has joined the device. */
static void set_up(struct ends *ends)
{
	CT_ASSERT_EQ(svb_join(), 0);
	CT_ASSERT_TRUE(asks_late(ends));
}

static void tear_down(struct ends *ends)
{
	if (ends->active)
		rdma_destroy_id(ends->active);
	if (ends->listener)
		rdma_destroy_id(ends->listener);
	if (ends->channel)
		rdma_destroy_event_channel(ends->channel);
}

CT_FIXTURE(cm_connect, struct ends, set_up, tear_down);

CT_TEST_F(cm_connect, a_request_reaches_who_listens_a_second_later)
{
	CT_EXPECT_TRUE(look(t->active, LOOKS_OF_A_SECOND));
	CT_ASSERT_TRUE(listens(t));
	CT_EXPECT_EQ(next_event(t), RDMA_CM_EVENT_CONNECT_REQUEST);
}

CT_TEST_F(cm_connect, a_request_is_rejected_when_nobody_listens_for_long)
{
	CT_EXPECT_FALSE(look(t->active, 10 * LOOKS_OF_A_SECOND));
	CT_EXPECT_EQ(next_event(t), RDMA_CM_EVENT_REJECTED);
}

/* pyverbs asks so for the address of a group. */
CT_TEST(cm_connect, hints_alone_give_the_addresses_that_they_have)
{
	struct sockaddr_in group = {.sin_family = AF_INET,
				    .sin_addr = {htonl(0xef010101)}};
	struct rdma_addrinfo *info, hints = {
					    .ai_family = AF_INET,
					    .ai_port_space = RDMA_PS_UDP,
					    .ai_src_addr = (struct sockaddr *)&group,
					    .ai_src_len = sizeof(group),
				    };

	CT_ASSERT_EQ(rdma_getaddrinfo(NULL, NULL, &hints, &info), 0);
	CT_ASSERT_EQ(info->ai_src_len, sizeof(group));
	CT_EXPECT_MEMEQ(info->ai_src_addr, &group, sizeof(group));
	CT_EXPECT_EQ(info->ai_dst_addr, NULL);
	CT_EXPECT_EQ(info->ai_port_space, RDMA_PS_UDP);
	rdma_freeaddrinfo(info);
	hints.ai_dst_addr = hints.ai_src_addr;
	hints.ai_dst_len = hints.ai_src_len;
	CT_ASSERT_EQ(rdma_getaddrinfo(NULL, NULL, &hints, &info), 0);
	CT_ASSERT_EQ(info->ai_dst_len, sizeof(group));
	CT_ASSERT_EQ(info->ai_src_len, sizeof(group));
	CT_EXPECT_MEMEQ(info->ai_dst_addr, &group, sizeof(group));
	CT_EXPECT_MEMEQ(info->ai_src_addr, &group, sizeof(group));
	rdma_freeaddrinfo(info);
}

static uint64_t began, later;

static uint64_t clock_of_the_test(void)
{
	return began + later;
}

/* A process without a service thread, whose clock is the test's. */
WORLD_CHILD(cm_connect, a_closed_port_is_remembered_for_two_seconds)
{
	struct ends ends = {
		.at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	struct sockaddr *at = (struct sockaddr *)&ends.at;

	began = svb_now();
	CT_ASSERT_EQ(svb_join(), 0);
	svb_self.settings.threads = false;
	svb_clock_install(clock_of_the_test);
	ends.channel = rdma_create_event_channel();
	CT_ASSERT_TRUE(ends.channel && listens(&ends));
	CT_EXPECT_FALSE(svb_cm_port_was(RDMA_PS_TCP, at));
	rdma_destroy_id(ends.listener);
	later = 19 * SECOND / 10;
	CT_EXPECT_TRUE(svb_cm_port_was(RDMA_PS_TCP, at));
	CT_EXPECT_FALSE(svb_cm_port_was(RDMA_PS_UDP, at));
	later = 2 * SECOND;
	CT_EXPECT_FALSE(svb_cm_port_was(RDMA_PS_TCP, at));
	rdma_destroy_event_channel(ends.channel);
}
