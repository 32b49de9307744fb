/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/worker: how many there are, who takes a connection, and how the main
 * thread holds those that work. */
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>
#include "one.h"

#define TEXT(workers)                                                                    \
	"[router]\nid = 5\nconnections = 9\nname = five\n" workers ONE_DEVICE("a", 3, 1, \
									      "")        \
		ONE_DEVICE("b", 3, 2, "")

static void set_up(struct one **t)
{
	one_open(&one, TEXT("workers = 2\n"));
}

CT_FIXTURE(worker, struct one *, set_up, one_tear_down);

CT_TEST_F(worker, one_for_each_device_as_far_as_there_are_processors)
{
	static const struct {
		uint32_t said, processors, want;
	} rows[] = {{0, 0, 1},	{0, 1, 1},  {0, 2, 1}, {0, 3, 2},
		    {0, 64, 2}, {1, 64, 1}, {7, 1, 7}};
	size_t i;

	one_open(&one, TEXT(""));
	for (i = 0; i < CRN_COUNT(rows); i++) {
		one.node.file->config->router.workers = rows[i].said;
		CT_EXPECT_EQ(frt_workers_wanted(frt_config(&one.node),
						rows[i].processors),
			     rows[i].want);
	}
}

CT_TEST(worker, devices_that_are_not_routable_have_none_and_there_is_a_limit)
{
	struct rte_config_device device[FRT_WORKERS_MAX + 1];
	struct rte_config config = {.device = device, .devices = 2};
	size_t i;

	memset(device, 0, sizeof(device));
	device[0].routable = true;
	CT_EXPECT_EQ(frt_workers_wanted(&config, 64), 1);
	for (i = 0; i < CRN_COUNT(device); i++)
		device[i].routable = true;
	config.devices = CRN_COUNT(device);
	CT_EXPECT_EQ(frt_workers_wanted(&config, 64), FRT_WORKERS_MAX);
	config.devices = 0;
	CT_EXPECT_EQ(frt_workers_wanted(&config, 64), 1);
}

/* --- Who takes a connection --- */

static struct rte_peer *arrives(enum rte_role role, uint8_t flags, uint64_t node)
{
	struct rte_peer *fake;

	fake_flags = flags;
	fake = fake_arrives(one_device(&one, "a")->listener, role, 3, 1, node,
			    "10.0.1.20");
	CT_EXPECT_NE(fake, NULL);
	return fake;
}

static bool is_at(const struct rte_peer *fake, uint32_t worker)
{
	return fake->port == one_device(&one, "a")->at[worker].port;
}

CT_TEST_F(worker, connections_are_spread_over_those_beside_the_main_thread)
{
	struct rte_peer *fake[3];
	uint32_t i;

	CT_EXPECT_EQ(frt_workers_count(&one.node), 2);
	for (i = 0; i < 3; i++)
		fake[i] = arrives(RTE_CLIENT, 0, 70 + i);
	CT_EXPECT_TRUE(is_at(fake[0], 1));
	CT_EXPECT_TRUE(is_at(fake[1], 2));
	CT_EXPECT_TRUE(is_at(fake[2], 1));
	/* The first has one less now. */
	fake_goes(fake[0], FI_ECONNABORTED);
	fake_goes(fake[2], FI_ECONNABORTED);
	CT_EXPECT_TRUE(is_at(arrives(RTE_CLIENT, 0, 73), 1));
	CT_EXPECT_EQ(one.node.guests, 2);
}

CT_TEST_F(worker, the_one_with_the_fewest_is_chosen)
{
	uint32_t i, k;

	one_open(&one, TEXT("workers = 3\n"));
	for (i = 1; i <= 3; i++) {
		for (k = 1; k <= 3; k++)
			one.node.worker[k]->connections = k == i ? 1 : 2;
		CT_EXPECT_EQ(frt_worker_choose(&one.node), one.node.worker[i]);
	}
	for (k = 1; k <= 3; k++)
		one.node.worker[k]->connections = 0;
	CT_EXPECT_EQ(frt_worker_choose(&one.node), one.node.worker[1]);
}

CT_TEST_F(worker, with_one_the_main_thread_does_all)
{
	one_open(&one, TEXT("workers = 1\n"));
	CT_EXPECT_EQ(one.node.workers, 1);
	CT_EXPECT_EQ(frt_workers_count(&one.node), 1);
	CT_EXPECT_TRUE(is_at(arrives(RTE_CLIENT, 0, 70), 0));
	CT_EXPECT_TRUE(is_at(arrives(RTE_ROUTER, RTE_PREAMBLE_CONN, 9), 0));
}

CT_TEST_F(worker, a_router_that_begins_a_connection_comes_to_one)
{
	struct rte_peer *fake = arrives(RTE_ROUTER, RTE_PREAMBLE_CONN, 9);

	CT_EXPECT_TRUE(is_at(fake, 1));
	fake_greets(fake, 3, 1, 9, 50);
	one_conn_req(fake);
	CT_EXPECT_EQ(one.requests, 1);
	CT_EXPECT_EQ(one.port, &one_device(&one, "a")->at[1]);
}

CT_TEST_F(worker, an_adjacency_is_the_main_thread_s)
{
	struct rte_peer *fake;

	/* It has said that none follows. */
	fake = arrives(RTE_ROUTER, RTE_PREAMBLE_CONN, 9);
	fake_greets(fake, 3, 1, 9, 50);
	one_heartbeat(fake);
	CT_EXPECT_NE(fake->in->what, NULL);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
	fake = arrives(RTE_ROUTER, 0, 9);
	CT_EXPECT_TRUE(is_at(fake, 0));
	fake_greets(fake, 3, 1, 9, 50);
	one_heartbeat(fake);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 1);
}

CT_TEST_F(worker, an_older_router_s_connection_is_the_main_thread_s)
{
	struct rte_peer *fake = arrives(RTE_ROUTER, 0, 9);

	fake_greets(fake, 3, 1, 9, 50);
	one_conn_req(fake);
	CT_EXPECT_EQ(one.requests, 1);
	CT_EXPECT_EQ(one.port, &one_device(&one, "a")->at[0]);
}

CT_TEST_F(worker, one_port_that_fails_closes_the_device)
{
	one_device(&one, "a")->at[2].failed = FI_EIO;
	frt_node_failed(&one.node);
	frt_devices_look(&one.node);
	CT_EXPECT_FALSE(one.node.failed);
	CT_EXPECT_FALSE(one_device(&one, "a")->up);
	CT_EXPECT_EQ(one_device(&one, "a")->at[1].port, NULL);
	CT_EXPECT_TRUE(one_device(&one, "b")->up);
	one_passes(&one, 1100);
	CT_EXPECT_TRUE(one_device(&one, "a")->up);
	CT_EXPECT_EQ(one_device(&one, "a")->at[2].failed, 0);
}

/* --- Turns --- */

static struct frt_turnstile turnstile;
static char order[4];
static size_t came;

static void comes(char who)
{
	frt_turnstile_enter(&turnstile);
	order[came++] = who;
	frt_turnstile_leave(&turnstile);
}

static void *one_comes(void *who)
{
	comes(*(char *)who);
	return NULL;
}

static void wait_for(uint64_t waiting)
{
	uint64_t next = 0;

	while (next < waiting) {
		sched_yield();
		pthread_mutex_lock(&turnstile.mutex);
		next = turnstile.next;
		pthread_mutex_unlock(&turnstile.mutex);
	}
}

CT_TEST(turnstile, who_comes_again_waits_for_those_who_came_before)
{
	pthread_t thread[2];

	came = 0;
	frt_turnstile_init(&turnstile);
	frt_turnstile_enter(&turnstile);
	CT_ASSERT_EQ(pthread_create(&thread[0], NULL, one_comes, "1"), 0);
	wait_for(2);
	CT_ASSERT_EQ(pthread_create(&thread[1], NULL, one_comes, "2"), 0);
	wait_for(3);
	frt_turnstile_leave(&turnstile);
	comes('m');
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	frt_turnstile_fini(&turnstile);
	CT_EXPECT_MEMEQ(order, "12m", 3);
}

static atomic_bool goes;

static void *one_stays(void *who)
{
	frt_turnstile_enter(&turnstile);
	order[came++] = *(char *)who;
	while (!goes)
		sched_yield();
	frt_turnstile_leave(&turnstile);
	return NULL;
}

CT_TEST(turnstile, lets_one_in_at_a_time)
{
	pthread_t thread[2];
	uint32_t i;

	came = 0;
	goes = false;
	frt_turnstile_init(&turnstile);
	frt_turnstile_enter(&turnstile);
	CT_ASSERT_EQ(pthread_create(&thread[0], NULL, one_stays, "1"), 0);
	wait_for(2);
	CT_ASSERT_EQ(pthread_create(&thread[1], NULL, one_stays, "2"), 0);
	wait_for(3);
	/* Both wait, and both are woken. */
	for (i = 0; i < 1000; i++)
		sched_yield();
	frt_turnstile_leave(&turnstile);
	for (i = 0; i < 1000; i++)
		sched_yield();
	pthread_mutex_lock(&turnstile.mutex);
	CT_EXPECT_EQ(turnstile.serving, 1);
	pthread_mutex_unlock(&turnstile.mutex);
	goes = true;
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CT_EXPECT_EQ(turnstile.serving, 3);
	CT_EXPECT_MEMEQ(order, "12", 2);
	frt_turnstile_fini(&turnstile);
}

static uint32_t turns(uint32_t worker)
{
	uint32_t count;

	frt_workers_hold(&one.node);
	count = one.node.worker[worker]->turns;
	frt_workers_release(&one.node);
	return count;
}

static void wait_for_turn(uint32_t worker, uint32_t after)
{
	while (turns(worker) <= after)
		sched_yield();
}

CT_TEST_F(worker, nobody_works_while_the_main_thread_holds)
{
	uint32_t before, i;

	CT_ASSERT_EQ(frt_workers_start(&one.node, 0), 0);
	before = one.node.worker[1]->turns;
	frt_workers_wake(&one.node);
	for (i = 0; i < 1000; i++)
		sched_yield();
	CT_EXPECT_EQ(one.node.worker[1]->turns, before);
	frt_workers_release(&one.node);
	wait_for_turn(1, before);
	wait_for_turn(2, 0);
	/* And with devices that go, and come again. */
	frt_workers_hold(&one.node);
	before = one.node.worker[2]->turns;
	frt_device_failed(one_device(&one, "a"), -FI_EIO);
	CT_EXPECT_TRUE(one.node.worker[2]->woken);
	frt_workers_release(&one.node);
	wait_for_turn(2, before);
	frt_workers_hold(&one.node);
	one_passes(&one, 1100);
	CT_EXPECT_TRUE(one_device(&one, "a")->up);
	frt_workers_join(&one.node);
}

CT_TEST_F(worker, what_a_worker_changes_wakes_the_main_thread)
{
	uint64_t count = 0;

	one.node.nudge = eventfd(0, EFD_NONBLOCK);
	one.node.changed = false;
	CT_EXPECT_TRUE(frt_node_load_add(&one.node, 10));
	CT_EXPECT_TRUE(one.node.changed);
	CT_EXPECT_EQ(read(one.node.nudge, &count, sizeof(count)), sizeof(count));
	CT_EXPECT_EQ(count, 1);
	frt_node_load_sub(&one.node);
	close(one.node.nudge);
}

/* The main thread holds all others while it looks for work. */
CT_TEST_F(worker, those_who_pass_connections_on_poll)
{
	one_open(&one, TEXT("workers = 1\n"));
	CT_ASSERT_EQ(frt_workers_start(&one.node, 50), 0);
	CT_EXPECT_EQ(one.node.worker[0]->busy, 50);

	one_open(&one, TEXT("workers = 2\n"));
	CT_ASSERT_EQ(frt_workers_start(&one.node, 50), 0);
	CT_EXPECT_EQ(one.node.worker[0]->busy, 0);
	CT_EXPECT_EQ(one.node.worker[1]->busy, 50);
	CT_EXPECT_EQ(one.node.worker[2]->busy, 50);
	frt_workers_join(&one.node);
}

static uint32_t looks(uint32_t worker)
{
	return fake_port_of(one_device(&one, "a")->at[worker].port)->looks;
}

CT_TEST_F(worker, who_is_woken_looks_at_all_its_ports)
{
	uint32_t before, seen;
	uint64_t wakes;

	CT_ASSERT_EQ(frt_workers_start(&one.node, 0), 0);
	frt_workers_release(&one.node);
	wait_for_turn(1, 0);
	frt_workers_hold(&one.node);
	before = one.node.worker[1]->turns;
	seen = looks(1);
	frt_worker_wake(one.node.worker[1]);
	frt_workers_release(&one.node);
	wait_for_turn(1, before);
	frt_workers_hold(&one.node);
	CT_EXPECT_GT(looks(1), seen);
	/* And may sleep again. */
	CT_EXPECT_FALSE(one.node.worker[1]->woken);
	CT_EXPECT_EQ(read(one.node.worker[1]->wake, &wakes, sizeof(wakes)), -1);
	frt_workers_join(&one.node);
}

CT_TEST_F(worker, who_has_nothing_to_do_sleeps_and_looks_again_when_the_router_ends)
{
	const uint32_t least = 3; /* turns of one that does not sleep */
	uint32_t before;

	CT_ASSERT_EQ(frt_workers_start(&one.node, 0), 0);
	frt_workers_release(&one.node);
	wait_for_turn(1, 0);
	usleep(20000);
	before = turns(1);
	usleep(20000);
	CT_EXPECT_LE(turns(1) - before, least);
	frt_workers_hold(&one.node);
	one.node.stopping = true;
	frt_workers_wake(&one.node);
	frt_workers_release(&one.node);
	CT_EXPECT_SOON(turns(1) > before + least);
	frt_workers_hold(&one.node);
	frt_workers_join(&one.node);
}

static bool expired;

static void expires(struct crn_deadline *deadline)
{
	(void)deadline;
	expired = true;
}

static bool has_expired(void)
{
	bool has;

	frt_workers_hold(&one.node);
	has = expired;
	frt_workers_release(&one.node);
	return has;
}

CT_TEST_F(worker, who_sleeps_is_woken_by_its_deadlines)
{
	struct crn_deadline deadline = {.expired = expires};

	expired = false;
	one_open(&one, TEXT("workers = 2\n"));
	ct_time_go();
	CT_ASSERT_EQ(frt_workers_start(&one.node, 0), 0);
	crn_deadline_add(one.node.worker[2]->deadlines, &deadline, crn_now_ms() + 30);
	frt_workers_release(&one.node);
	CT_EXPECT_SOON(has_expired());
	frt_workers_hold(&one.node);
	crn_deadline_remove(one.node.worker[2]->deadlines, &deadline);
	frt_workers_join(&one.node);
}

static void *one_guest(void *arg)
{
	frt_node_guests(arg, 1);
	return NULL;
}

CT_TEST_F(worker, what_several_of_them_write_is_guarded)
{
	pthread_t thread;
	uint32_t i;

	crn_lock(&one.node.shared);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, one_guest, &one.node), 0);
	for (i = 0; i < 1000; i++)
		sched_yield();
	CT_EXPECT_EQ(one.node.guests, 0);
	crn_unlock(&one.node.shared);
	pthread_join(thread, NULL);
	CT_EXPECT_EQ(one.node.guests, 1);
	frt_node_guests(&one.node, -1);
}
