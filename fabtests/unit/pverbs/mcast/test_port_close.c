/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of an IPoIB link: what is closed while it joins, waits or leaves, and the
 * leaving of groups when the last endpoint closes. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include "world_port.h"

#define MANY 30

CT_FIXTURE(mc_port, struct port_world, port_start, port_close);

CT_TEST_F(mc_port, nothing_is_told_of_what_was_closed)
{
	struct fid_mc *mc;

	/* While the link is looked for. */
	mcast_left(port_join_text(t, 0, PORT_GROUP, 0));
	port_settle(t);
	/* While it joins. */
	fake_sa.silent = true;
	mcast_left(port_join_text(t, 0, PORT_GROUP, 0));
	mcast_left(port_join_text(t, 0, PORT_GROUP, FI_SEND));
	port_settle(t);
	fake_sa.silent = false;
	/* Before its event was read. */
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	port_settle(t);
	mcast_left(mc);
	port_settle(t);
	expect_no_event(t->m.eq);
}

/* Log lines of closing when the group has been left, whose link was found or not yet. */
static unsigned int lines_of_closing(bool silent)
{
	struct port_world w = {0};
	struct fid_mc *mc;

	if (!port_open(&w))
		return 0;
	fake_sa.silent = silent;
	mc = port_join_text(&w, 0, PORT_GROUP, 0);
	port_settle(&w);
	mcast_left(mc);
	ct_log_reset();
	port_close(&w);
	return ct_log_count();
}

CT_TEST(mc_port, who_closes_while_the_link_is_looked_for_is_told_nothing_of_it)
{
	CT_EXPECT_EQ(lines_of_closing(true), lines_of_closing(false));
}

/* What is outstanding then ends with the endpoint. */
CT_TEST_F(mc_port, endpoints_may_close_while_the_administrator_is_silent)
{
	struct fid_mc *mc;

	fake_sa.silent = true;
	mcast_left(port_join_text(t, 0, PORT_GROUP, 0));
	port_close(t);
	CT_ASSERT_TRUE(port_open(t));
	mc = port_join(t, 0, 0);
	fake_sa.silent = true;
	mcast_left(mc);
}

static void join_many(struct port_world *w, struct fid_mc **mc)
{
	char ip[INET_ADDRSTRLEN];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(ip, sizeof(ip), "239.2.2.%d", i);
		mc[i] = port_join_text(w, 0, ip, 0);
	}
	port_settle(w);
	for (i = 0; i < MANY; i++)
		expect_joined(&w->m, mc[i]);
}

static void leave_many(struct fid_mc **mc)
{
	int i;

	for (i = 0; i < MANY; i++)
		mcast_left(mc[i]);
}

/* More than can be asked for at once. */
CT_TEST(mc_port, R27_all_groups_are_left_before_the_last_endpoint_has_closed)
{
	struct fid_mc *mc[MANY];
	struct port_world w = {0};

	CT_ASSERT_TRUE(port_open(&w));
	join_many(&w, mc);
	leave_many(mc);
	CT_EXPECT_LT(fake_sa.leaves, MANY);
	port_close(&w);
	CT_EXPECT_EQ(fake_sa.leaves, MANY);
}

CT_TEST_F(mc_port, closing_does_not_wait_for_ever_for_groups_to_be_left)
{
	struct fid_mc *mc[MANY];

	join_many(t, mc);
	pvb_params.close_timeout = 20;
	fake_sa.silent = true;
	leave_many(mc);
}

static bool eq_is_readable(struct port_world *w)
{
	struct pollfd wait = {.events = POLLIN};

	CT_EXPECT_EQ(fi_control(&w->m.eq->fid, FI_GETWAIT, &wait.fd), 0);
	return poll(&wait, 1, 0) == 1;
}

/* Who receives is going to create the group, and who sends waits for that. */
CT_TEST_F(mc_port, who_waits_is_woken_by_one_that_is_closed)
{
	struct fid_mc *mc[3];

	mc[0] = port_join(t, 0, FI_SEND);
	fake_sa.silent = true;
	mc[1] = port_join_text(t, 0, PORT_GROUP, FI_RECV);
	mc[2] = port_join_text(t, 0, PORT_GROUP, FI_SEND);
	port_settle(t);
	CT_EXPECT_FALSE(eq_is_readable(t));
	mcast_left(mc[1]);
	CT_EXPECT_TRUE(eq_is_readable(t));
	expect_joined(&t->m, mc[2]);
	mcast_left(mc[0]);
	mcast_left(mc[2]);
}
