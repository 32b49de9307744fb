/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/worker/turn.c: which ports a worker looks at, and when it may sleep. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>
#include "one.h"

#define US UINT64_C(1000)

static struct frt_worker *worker;
static struct frt_port *a, *b;

static void set_up(struct one **t)
{
	one_open(&one, NULL);
	worker = one.node.worker[0];
	a = &one_device(&one, "a")->at[0];
	b = &one_device(&one, "b")->at[0];
	a->fired = b->fired = one_device(&one, "w")->at[0].fired = false;
}

static void works(struct frt_port *port, ssize_t work)
{
	fake_port_of(port->port)->work = work;
}

static uint32_t looks(const struct frt_port *port)
{
	return fake_port_of(port->port)->looks;
}

CT_FIXTURE(turn, struct one *, set_up, one_tear_down);

CT_TEST_F(turn, looks_at_ports_where_something_has_happened)
{
	works(a, 3);
	works(b, 3);
	CT_EXPECT_EQ(frt_worker_turn(worker), 0);
	frt_port_fired(a);
	CT_EXPECT_GT(frt_worker_turn(worker), 0);
	CT_EXPECT_EQ(looks(a), 1);
	CT_EXPECT_EQ(looks(b), 0);
	/* Once for each time. */
	CT_EXPECT_EQ(frt_worker_turn(worker), 0);
	CT_EXPECT_EQ(looks(a), 1);
}

static unsigned int expirations;

static void expired(struct crn_deadline *deadline)
{
	(void)deadline;
	expirations++;
}

CT_TEST_F(turn, runs_deadlines)
{
	struct crn_deadline deadline = {.expired = expired};

	expirations = 0;
	crn_deadline_add(worker->deadlines, &deadline, crn_now_ms() + 5);
	frt_worker_turn(worker);
	CT_EXPECT_EQ(expirations, 0);
	ct_time_pass(5);
	CT_EXPECT_GT(frt_worker_turn(worker), 0);
	CT_EXPECT_EQ(expirations, 1);
}

CT_TEST_F(turn, a_port_that_has_failed_is_told_and_left_alone)
{
	works(b, -FI_EIO);
	frt_port_fired(b);
	frt_worker_turn(worker);
	CT_EXPECT_EQ(b->failed, FI_EIO);
	CT_EXPECT_TRUE(one.node.failed);
	frt_port_fired(b);
	frt_worker_turn(worker);
	CT_EXPECT_EQ(looks(b), 1);
}

CT_TEST_F(turn, nobody_sleeps_while_a_port_has_something_to_do)
{
	struct frt_port *ports[2], *busy, *idle;
	size_t i;

	ports[0] = a;
	ports[1] = b;
	CT_EXPECT_TRUE(frt_worker_may_sleep(worker));
	for (i = 0; i < 2; i++) {
		busy = ports[i];
		idle = ports[!i];
		fake_port_of(busy->port)->trywait = -FI_EAGAIN;
		CT_EXPECT_FALSE(frt_worker_may_sleep(worker));
		CT_EXPECT_TRUE(busy->fired);
		CT_EXPECT_FALSE(idle->fired);
		fake_port_of(busy->port)->trywait = 0;
	}
	CT_EXPECT_TRUE(frt_worker_may_sleep(worker));
	CT_EXPECT_FALSE(b->fired);
	/* What lingers has no descriptor. */
	one.node.stopping = true;
	CT_EXPECT_TRUE(frt_worker_may_sleep(worker));
	CT_EXPECT_TRUE(a->fired && b->fired);
}

CT_TEST_F(turn, a_device_that_is_closed_has_no_port)
{
	frt_device_failed(one_device(&one, "a"), -FI_EIO);
	CT_EXPECT_EQ(a->port, NULL);
	frt_port_fired(a);
	CT_EXPECT_EQ(frt_worker_turn(worker), 0);
	CT_EXPECT_TRUE(frt_worker_may_sleep(worker));
}

/* --- fi_router --busy-poll --- */

CT_TEST_F(turn, without_busy_polling_it_sleeps_at_once)
{
	CT_EXPECT_FALSE(frt_worker_goes_on(worker, 1));
	CT_EXPECT_FALSE(a->fired);
}

CT_TEST_F(turn, looks_for_more_for_so_long_after_the_last_work)
{
	worker->busy = 2000 * US;
	CT_EXPECT_TRUE(frt_worker_goes_on(worker, 1));
	CT_EXPECT_TRUE(a->fired && b->fired);
	ct_time_pass(1);
	CT_EXPECT_TRUE(frt_worker_goes_on(worker, 0));
	ct_time_pass(1);
	CT_EXPECT_FALSE(frt_worker_goes_on(worker, 0));
	/* Work begins it anew. */
	CT_EXPECT_TRUE(frt_worker_goes_on(worker, 1));
	ct_time_pass(1);
	CT_EXPECT_TRUE(frt_worker_goes_on(worker, 0));
}

static void busy_turns(uint32_t count)
{
	while (count--) {
		frt_worker_turn(worker);
		CT_EXPECT_TRUE(frt_worker_goes_on(worker, 1));
	}
}

CT_TEST_F(turn, quiet_ports_are_looked_at_less_often)
{
	uint32_t quiet, busy;

	worker->busy = 2000 * US;
	works(a, 1);
	busy_turns(100);
	quiet = looks(b);
	busy = looks(a);
	busy_turns(64);
	CT_EXPECT_EQ(looks(a) - busy, 64);
	CT_EXPECT_GT(looks(b) - quiet, 0);
	CT_EXPECT_LE(looks(b) - quiet, 8);
	/* Until something happens there. */
	frt_port_fired(b);
	quiet = looks(b);
	busy_turns(32);
	CT_EXPECT_EQ(looks(b) - quiet, 32);
	busy_turns(100);
	works(b, 1);
	busy_turns(32);
	quiet = looks(b);
	busy_turns(32);
	CT_EXPECT_EQ(looks(b) - quiet, 32);
}
