/* SPDX-License-Identifier: BSD-2-Clause */
/* When a port looks for events: for whoever sleeps at once, and otherwise now and then.
 */
#include <poll.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

static struct rte_port *b;

/* Connected, with nothing left to do, and time stands still. */
static void set_up(struct pair *t)
{
	const struct pair_attr attr = {.lands = 32};
	int quiet = 0;

	pair_up(t, &attr);
	b = t->b->port;
	while (quiet < 100) {
		quiet = rte_port_progress(b) ? 0 : quiet + 1;
		rte_port_progress(t->a->port);
	}
	ct_time_stop();
	rte_port_progress(b);
	rte_port_progress(b);
}

static void tear_down(struct pair *t)
{
	ct_time_go();
	pair_close(t);
}

CT_FIXTURE(look, struct pair, set_up, tear_down);

/* For at most so many ms. */
static int b_polls(int ms)
{
	struct pollfd fds[RTE_PORT_FDS];
	int fd[RTE_PORT_FDS], i;

	CT_EXPECT_EQ(rte_port_fds(b, fd), 0);
	for (i = 0; i < RTE_PORT_FDS; i++)
		fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
	return poll(fds, RTE_PORT_FDS, ms);
}

/* The lower connection ends without a word, and descriptors tell. */
static void ends(struct pair *t)
{
	CT_ASSERT_EQ(fi_shutdown(t->a->peer->in->ep, 0), 0);
	CT_EXPECT_GT(b_polls(5000), 0);
}

static void expect_seen(struct pair *t, unsigned int downs)
{
	CT_EXPECT_EQ(t->b->downs, downs);
}

/* Of who asks to connect nothing but events tells. */
CT_TEST_F(look, who_has_slept_sees_an_event_at_once)
{
	struct rte_peer *olds[PAIR_ENDS];
	int i;

	for (i = 0; i < PAIR_ENDS; i++)
		olds[i] = t->end[i].peer;
	pair_begin(t);
	for (i = 0; i < 1000 && t->b->peer == olds[PAIR_B]; i++) {
		rte_port_progress(t->a->port);
		if (!rte_port_trywait(b))
			b_polls(1);
		rte_port_progress(b);
	}
	CT_EXPECT_NE(t->b->peer, olds[PAIR_B]);
	ct_time_go();
	PAIR_UNTIL(t, t->a->ups == 2 && t->b->ups == 2);
	for (i = 0; i < PAIR_ENDS; i++)
		rte_peer_close(olds[i], 0);
}

CT_TEST_F(look, who_does_not_sleep_sees_it_with_the_next_tick)
{
	int i;

	/* That it has slept before, or has seen one, is over. */
	CT_ASSERT_EQ(rte_port_trywait(b), 0);
	b->event = true;
	rte_port_progress(b);
	ends(t);
	for (i = 0; i < 100; i++)
		rte_port_progress(b);
	expect_seen(t, 0);
	ct_time_pass(1);
	rte_port_progress(b);
	expect_seen(t, 1);
}

CT_TEST_F(look, who_wants_to_sleep_does_not_sleep_upon_it)
{
	int i;

	ends(t);
	for (i = 0; i < 100; i++)
		rte_port_progress(b);
	expect_seen(t, 0);
	CT_EXPECT_EQ(rte_port_trywait(b), -FI_EAGAIN);
	rte_port_progress(b);
	expect_seen(t, 1);
}
