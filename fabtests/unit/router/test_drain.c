/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/drain.c: no new connections, and the end once the old ones are over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cairn/wait.h>

#include "drain.h"
#include "one.h"
#include "transit/inside.h"

static struct frt_transit transits[3];
static int manager = -1;

static void set_up(struct one **t)
{
	one_open(&one, NULL);
	frt_transit_ops.open(&one.node);
}

/* A connection that is in that state. */
static void passes(uint32_t at, enum frt_transit_state state)
{
	transits[at] = (struct frt_transit){.state = state};
	crn_list_add_tail(&frt_transits_of(one.node.worker[0])->open,
			  &transits[at].entry);
}

static void over(uint32_t at)
{
	crn_list_del(&transits[at].entry);
}

static void tear_down(struct one **t)
{
	frt_drain_close(&one.node);
	frt_transit_ops.close(&one.node);
	one_close(&one);
}

static const struct rte_lsa *own(void)
{
	return rte_lsdb_get(rte_sync_db(one.node.sync), 3, 5, crn_now_ms());
}

CT_FIXTURE(drain, struct one *, set_up, tear_down);

CT_TEST_F(drain, others_are_told_that_it_drains_and_that_it_does_not)
{
	frt_drain_begin(&one.node);
	one_passes(&one, 200);
	CT_EXPECT_EQ(own()->flags & RTE_LSA_DRAIN, RTE_LSA_DRAIN);
	frt_drain_undo(&one.node);
	one_passes(&one, 2000);
	CT_EXPECT_EQ(own()->flags & RTE_LSA_DRAIN, 0);
	/* And nothing of it is left. */
	CT_EXPECT_FALSE(crn_deadline_pending(&one.node.draining.look));
}

CT_TEST_F(drain, without_exit_it_stays)
{
	frt_drain_begin(&one.node);
	one_passes(&one, 10 * FRT_DRAIN_QUIET);
	CT_EXPECT_FALSE(one.node.leave);
}

CT_TEST_F(drain, exit_waits_for_every_connection_and_a_little_longer)
{
	passes(0, FRT_OPEN);
	passes(1, FRT_REACHING);
	/* One that was refused counts for nothing. */
	passes(2, FRT_ENDING);
	frt_drain_exit(&one.node, 0);
	one_passes(&one, 10 * FRT_DRAIN_QUIET);
	CT_EXPECT_FALSE(one.node.leave);
	over(0);
	one_passes(&one, 10 * FRT_DRAIN_QUIET);
	CT_EXPECT_FALSE(one.node.leave);
	CT_EXPECT_EQ(one.node.draining.left, 1);
	over(1);
	one_passes(&one, FRT_DRAIN_QUIET - FRT_DRAIN_LOOK);
	CT_EXPECT_FALSE(one.node.leave);
	/* Who has not heard of it sends one: it is waited for anew. */
	passes(0, FRT_OPEN);
	one_passes(&one, FRT_DRAIN_QUIET);
	over(0);
	one_passes(&one, FRT_DRAIN_QUIET - FRT_DRAIN_LOOK);
	CT_EXPECT_FALSE(one.node.leave);
	one_passes(&one, 2 * FRT_DRAIN_LOOK + 10);
	CT_EXPECT_TRUE(one.node.leave);
	over(2);
}

CT_TEST_F(drain, exit_comes_at_the_deadline_whatever_is_left)
{
	passes(0, FRT_OPEN);
	frt_drain_exit(&one.node, 3100);
	one_passes(&one, 3090);
	CT_EXPECT_FALSE(one.node.leave);
	one_passes(&one, 20);
	CT_EXPECT_TRUE(one.node.leave);
	over(0);
}

CT_TEST_F(drain, exit_may_be_asked_for_later_and_undone)
{
	passes(0, FRT_OPEN);
	frt_drain_begin(&one.node);
	one_passes(&one, 500);
	frt_drain_exit(&one.node, 1000);
	/* The drain is the same. */
	CT_EXPECT_EQ(crn_now_ms() - one.node.draining.since, 500);
	one_passes(&one, 500);
	frt_drain_undo(&one.node);
	one_passes(&one, 10000);
	CT_EXPECT_FALSE(one.node.leave || one.node.drain);
	/* The next one knows nothing of it. */
	frt_drain_begin(&one.node);
	CT_EXPECT_FALSE(one.node.draining.exit);
	over(0);
}

static void manager_open(char path[96])
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(path, 96, "/tmp/cairn-drain.%d", (int)getpid());
	unlink(path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	strcpy(at.sun_path, path);
	CT_EXPECT_EQ(bind(manager, (struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", path, 1);
}

/* NULL: nothing. */
static void expect_told(const char *data)
{
	char told[128] = "";

	CT_EXPECT_EQ(recv(manager, told, sizeof(told) - 1, 0) >= 0, data != NULL);
	CT_EXPECT_DATA(told, data ? data : "");
}

CT_TEST_F(drain, the_service_manager_is_told_what_is_left)
{
	char path[96];

	manager_open(path);
	passes(0, FRT_OPEN);
	passes(1, FRT_OPEN);
	frt_drain_begin(&one.node);
	expect_told("STATUS= 2");
	over(1);
	one_passes(&one, 3 * FRT_DRAIN_LOOK);
	expect_told("STATUS= 1");
	expect_told(NULL);
	over(0);
	one_passes(&one, 3 * FRT_DRAIN_LOOK);
	expect_told("STATUS= 0");
	frt_drain_undo(&one.node);
	expect_told("STATUS=");
	unsetenv("NOTIFY_SOCKET");
	close(manager);
	unlink(path);
}
