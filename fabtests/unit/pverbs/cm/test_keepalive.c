/* SPDX-License-Identifier: BSD-2-Clause */
/* Keep-alive: a silent connection is asked, a busy one is not, a dead one ends. */
#include <poll.h>
#include <pthread.h>
#include "../world.h"
#include "../world_cm.h"

/* The timer is real, and short: tests wait for what it does, never for it. */
static bool open_alive(struct world *w, const struct world_opts *opts)
{
	world_reset();
	pvb_params.keepalive = 1;
	return world_open_connected(w, opts);
}

/* As a program that does nothing but look for events. */
static bool posted(struct world *w, unsigned int count)
{
	expect_no_event(w->eq);
	return w->qp->sq.posted >= count;
}

static void start_alive(struct world *w)
{
	CT_ASSERT_TRUE(open_alive(w, NULL));
}

CT_FIXTURE(keepalive, struct world, start_alive, world_close);

CT_TEST_F(keepalive, a_silent_peer_is_asked_again_and_again)
{
	const struct fake_wr *wr;

	for (unsigned int i = 1; i < 4; i++) {
		CT_ASSERT_SOON(posted(t, i));
		wr = fake_newest(&t->qp->sq);
		CT_EXPECT_EQ(wr->opcode, IBV_WR_RDMA_WRITE);
		CT_EXPECT_EQ(wr->num_sge, 0);
		CT_EXPECT_TRUE(wr->flags & IBV_SEND_SIGNALED);
		fake_complete_all(t->qp);
	}
	expect_no_comp(t->cq);
}

CT_TEST_F(keepalive, while_something_is_in_flight_the_device_watches_itself)
{
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	for (int i = 0; i < 3; i++) {
		struct pollfd timer = {.fd = ep_of(t->ep)->eq->timer, .events = POLLIN};

		CT_EXPECT_EQ(poll(&timer, 1, CT_DEADLINE_MS), 1);
		CT_EXPECT_TRUE(posted(t, 1));
	}
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_SOON(posted(t, 2));
}

CT_TEST_F(keepalive, the_program_keeps_all_its_room_and_its_counters)
{
	struct world_opts opts = {.tx_size = 4};

	world_renew(t);
	CT_ASSERT_TRUE(open_alive(t, &opts));
	CT_ASSERT_SOON(posted(t, 1));
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	fake_complete_all(t->qp);
	for (uintptr_t i = 0; i < 4; i++)
		expect_comp(t->cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(keepalive, a_peer_that_does_not_answer_ends_the_connection)
{
	CT_EXPECT_EQ(recv_number(t->ep, 7), 0);
	CT_ASSERT_SOON(posted(t, 1));
	fake_send_error(t->qp, IBV_WC_RETRY_EXC_ERR);
	/* The program reads events only, and no completions. */
	CT_EXPECT_SOON((expect_no_event(t->eq), fake_count(FAKE_DISCONNECT) == 1));
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	expect_cq_error(t->cq, NUMBER(7), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
	CT_EXPECT_FALSE(ep_of(t->ep)->listed);
}

static void *wait_for_note(void *eq)
{
	struct fi_eq_entry entry;
	uint32_t event = 0;

	CT_EXPECT_EQ(fi_eq_sread(eq, &event, &entry, sizeof(entry), CT_DEADLINE_MS, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(event, FI_NOTIFY);
	return NULL;
}

/* Whoever sleeps for events is woken for it, and sleeps on. */
CT_TEST_F(keepalive, a_thread_that_waits_for_events_drives_it)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD, .flags = FI_WRITE};
	const struct fi_eq_entry note = {0};
	pthread_t thread;

	world_renew(t);
	pvb_params.keepalive = 1;
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	CT_ASSERT_TRUE(world_swap_eq(t, &attr));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	t->qp = qp_of(t->ep);
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	CT_ASSERT_EQ(pthread_create(&thread, NULL, wait_for_note, t->eq), 0);
	CT_EXPECT_SOON(fake_count(FAKE_POST_SEND) >= 1);
	CT_EXPECT_EQ(fi_eq_write(t->eq, FI_NOTIFY, &note, sizeof(note), 0), sizeof(note));
	pthread_join(thread, NULL);
}

CT_TEST_F(keepalive, it_is_off_unless_asked_for)
{
	CT_ASSERT_TRUE(world_reopen_connected(t, NULL));
	CT_EXPECT_EQ(ep_of(t->ep)->eq->timer, -1);
	CT_EXPECT_FALSE(ep_of(t->ep)->listed);
}

CT_TEST_F(keepalive, it_posts_from_the_event_queue_so_that_locks_are_needed)
{
	struct world_opts opts = {.threading = FI_THREAD_DOMAIN};

	world_renew(t);
	CT_ASSERT_TRUE(open_alive(t, &opts));
	CT_EXPECT_TRUE(ep_of(t->ep)->domain->locked);
}

CT_TEST_F(keepalive, an_event_queue_without_descriptors_for_it_is_not_opened)
{
	struct fid_eq *eq;

	CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
	pvb_params.keepalive = 1;
	ct_fds_left(2); /* the fake's channel is a pipe */
	CT_EXPECT_EQ(fi_eq_open(t->fabric, NULL, &eq, NULL), -FI_EMFILE);
	ct_fds_restore();
}
