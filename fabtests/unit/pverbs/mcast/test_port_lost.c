/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of an IPoIB link: memberships that are lost, and joined again after a restart of
 * the subnet manager and events of the port, not after the port or device has gone. */
#include "../fake_queue.h"
#include "objects/objects.h"
#include "world_port.h"

static void port_event(enum ibv_event_type type)
{
	struct ibv_async_event event = {.event_type = type};

	event.element.port_num = 1;
	fake_async_add(&fake_devices[0], &event);
}

static void restart(void)
{
	fake_sa_restart();
	port_event(IBV_EVENT_CLIENT_REREGISTER);
}

/* Waits for what a timer begins. */
static void await_joins(struct port_world *w, int count)
{
	while (fake_sa.joins < count && !ct_failed())
		port_settle(w);
	port_settle(w);
}

/* The only member loses its group, gets the event, and joins a second time. */
static void expect_joined_again(struct port_world *w, struct fid_mc *mc)
{
	port_settle(w);
	expect_eq_error(w->m.eq, &mc->fid, FI_ECONNRESET, 0);
	await_joins(w, 2);
	expect_joined(&w->m, mc);
}

CT_FIXTURE(mc_port, struct port_world, port_start, port_close);

CT_TEST_F(mc_port, R35_after_a_restart_groups_are_joined_again)
{
	struct fid_mc *mc;
	uint16_t lid;
	int informs;

	mc = port_join(t, 0, 0);
	lid = fake_sa_find(PORT_MGID)->mcm.mlid;
	informs = fake_sa.informs;
	restart();
	expect_joined_again(t, mc);
	CT_EXPECT_NE(fake_sa_find(PORT_MGID)->mcm.mlid, lid);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(PORT_MGID)->mcm.mlid);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_sa.informs, informs + 2);
	mcast_left(mc);
}

/* The record of the link that an administrator has. */
static struct pvb_mcm *link_record(void)
{
	return &fake_sa.group[0].mcm;
}

CT_TEST_F(mc_port, R35_groups_are_as_the_link_is_after_the_restart)
{
	const struct fake_sa_group *group;
	struct fid_mc *mc;

	mc = port_join(t, 0, 0);
	link_record()->sl = 4;
	link_record()->tclass = 9;
	restart();
	expect_joined_again(t, mc);
	group = fake_sa_find(PORT_MGID);
	CT_EXPECT_EQ(group->mcm.sl, 4);
	CT_EXPECT_EQ(group->mcm.tclass, 9);
	CT_EXPECT_EQ(port_sent_to(t, mc), group->mcm.mlid);
	mcast_left(mc);
}

/* That of a router stays (FI_PVERBS_LINK_MTU). */
CT_TEST_F(mc_port, R15_the_mtu_is_that_of_the_link_after_the_restart)
{
	static const struct {
		int said;
		size_t mtu;
	} rows[] = {{0, 512}, {300, 300}};
	static char bytes[DGRAM_MTU];
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%d", rows[i].said);
		CT_ASSERT_TRUE(
			port_open_with(t, &(struct port_opts){.mtu = rows[i].said}));
		mc = port_join(t, 0, 0);
		link_record()->mtu--;
		restart();
		expect_joined_again(t, mc);
		CT_EXPECT_EQ(fi_inject(t->m.ep[0], bytes, rows[i].mtu + 1,
				       fi_mc_addr(mc)),
			     -FI_EMSGSIZE);
		CT_EXPECT_EQ(fi_send(t->m.ep[0], bytes, rows[i].mtu + 1, NULL,
				     fi_mc_addr(mc), NULL),
			     -FI_EMSGSIZE);
		CT_EXPECT_EQ(fi_send(t->m.ep[0], bytes, rows[i].mtu, NULL, fi_mc_addr(mc),
				     NULL),
			     0);
		fake_complete_all(t->qp);
		mcast_left(mc);
	}
}

CT_TEST_F(mc_port, R35_two_restarts_in_a_row_are_one)
{
	struct fi_eq_entry entry;
	struct fid_mc *mc;
	uint32_t event;

	mc = port_join(t, 0, 0);
	fake_sa.silent = true;
	restart();
	port_settle(t);
	restart();
	port_settle(t);
	fake_sa.silent = false;
	CT_EXPECT_EQ(fi_eq_sread(t->m.eq, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EAVAIL);
	expect_eq_error(t->m.eq, &mc->fid, FI_ECONNRESET, 0);
	await_joins(t, 2);
	expect_joined(&t->m, mc);
	expect_no_event(t->m.eq);
	CT_EXPECT_EQ(fake_sa.joins, 2);
	mcast_left(mc);
}

/* Queue pairs keep their Q_Key. */
CT_TEST_F(mc_port, R9_a_link_that_gets_another_q_key_loses_its_members)
{
	struct fid_mc *mc;

	mc = port_join(t, 0, 0);
	link_record()->qkey++;
	restart();
	port_settle(t);
	CT_EXPECT_DATA(ct_log_warning(), "0xb1c 0xb1b");
	expect_eq_error(t->m.eq, &mc->fid, FI_EINVAL, 0);
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, fi_mc_addr(mc)), -FI_EADDRNOTAVAIL);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	mcast_left(mc);
	link_record()->qkey--;
	mc = port_join(t, 0, 0);
	CT_EXPECT_NE(fake_sa_find(PORT_MGID), NULL);
	mcast_left(mc);
}

CT_TEST_F(mc_port, R13_a_link_that_gets_another_scope_has_other_groups)
{
	struct fid_mc *mc;

	mc = port_join(t, 0, 0);
	link_record()->mgid[1] = 0x15;
	restart();
	port_settle(t);
	expect_eq_error(t->m.eq, &mc->fid, FI_EADDRNOTAVAIL, 0);
	mcast_left(mc);
	mc = port_join(t, 0, 0);
	CT_EXPECT_EQ(fake_sa_find(PORT_MGID), NULL);
	CT_EXPECT_NE(fake_sa_find("ff15:401b:ffff::f01:101"), NULL);
	mcast_left(mc);
}

CT_TEST_F(mc_port, R35_a_link_that_nobody_tells_of_is_as_it_was)
{
	struct fi_eq_entry entry;
	struct fid_mc *mc;
	uint32_t event;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.timeout = 100}));
	mc = port_join(t, 0, 0);
	fake_sa.silent = true;
	restart();
	CT_EXPECT_EQ(fi_eq_sread(t->m.eq, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EAVAIL);
	expect_eq_error(t->m.eq, &mc->fid, FI_ECONNRESET, 0);
	fake_sa.silent = false;
	await_joins(t, 2);
	expect_joined(&t->m, mc);
	mcast_left(mc);
}

CT_TEST_F(mc_port, endpoints_may_close_while_the_link_is_looked_for_once_more)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.timeout = 100}));
	mc = port_join(t, 0, 0);
	fake_sa.silent = true;
	restart();
	port_settle(t);
	mcast_left(mc);
}

/* Each may have cost the port its memberships. */
CT_TEST_F(mc_port, what_happens_to_the_port_has_groups_joined_again)
{
	static const enum ibv_event_type events[] = {IBV_EVENT_SM_CHANGE,
						     IBV_EVENT_LID_CHANGE,
						     IBV_EVENT_PORT_ACTIVE};
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(events); i++) {
		CT_NOTE("event %d", (int)events[i]);
		CT_ASSERT_TRUE(port_open(t));
		mc = port_join(t, 0, 0);
		port_event(events[i]);
		expect_joined_again(t, mc);
		mcast_left(mc);
	}
}

/* Other threads read it meanwhile. */
CT_TEST_F(mc_port, the_address_is_not_written_again)
{
	const fi_addr_t mark = 7;
	struct fid_mc *mc;

	mc = port_join(t, 0, 0);
	mc->fi_addr = mark;
	restart();
	expect_joined_again(t, mc);
	CT_EXPECT_EQ(fi_mc_addr(mc), mark);
	mcast_left(mc);
}

CT_TEST_F(mc_port, who_only_sends_hears_nothing_of_a_restart)
{
	struct fid_mc *mc;

	mc = port_join(t, 0, FI_SEND);
	fake_sa_create(PORT_MGID);
	port_settle(t);
	restart();
	port_settle(t);
	fake_sa_create(PORT_MGID);
	while (port_sent_to(t, mc) != fake_sa_find(PORT_MGID)->mcm.mlid && !ct_failed())
		expect_no_event(t->m.eq);
	mcast_left(mc);
}

CT_TEST_F(mc_port, a_device_that_is_removed_ends_what_was_joined)
{
	struct fid_mc *mc[2];

	mc[0] = port_join(t, 0, 0);
	/* Its link is looked for. */
	mc[1] = port_join_text(t, 0, "ff05::2", FI_SEND);
	fake_remove(&fake_devices[0], ep_of(t->m.ep[0])->domain->verbs);
	port_settle(t);
	expect_eq_error(t->m.eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_eq_error(t->m.eq, &mc[1]->fid, FI_ENODEV, 0);
	expect_no_event(t->m.eq);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}

CT_TEST_F(mc_port, a_port_that_goes_ends_what_was_asked_for)
{
	struct fid_mc *mc[2];

	mc[0] = port_join(t, 0, FI_SEND);
	fake_sa.silent = true;
	mc[1] = port_join_text(t, 0, "239.1.1.2", 0);
	port_settle(t);
	expect_no_event(t->m.eq);
	fake.gone = true;
	fake_arrive(fake.sent[0].data, 0);
	port_settle(t);
	expect_eq_error(t->m.eq, &mc[1]->fid, FI_ENODEV, 0);
	expect_eq_error(t->m.eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_no_event(t->m.eq);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}

CT_TEST_F(mc_port, a_port_that_goes_ends_what_was_joined)
{
	struct fi_eq_entry entry;
	struct fid_mc *mc[2];
	uint32_t event;

	mc[0] = port_join(t, 0, 0);
	mc[1] = port_join(t, 0, FI_SEND);
	fake.gone = true;
	fake_arrive(fake.sent[0].data, 0);
	CT_EXPECT_EQ(fi_eq_sread(t->m.eq, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EAVAIL);
	expect_eq_error(t->m.eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_eq_error(t->m.eq, &mc[1]->fid, FI_ENODEV, 0);
	expect_no_event(t->m.eq);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, fi_mc_addr(mc[0])), -FI_EADDRNOTAVAIL);
	mcast_left(mc[0]);
	/* Nothing can be joined any more. */
	mc[0] = port_join_text(t, 0, PORT_GROUP, 0);
	expect_eq_error(t->m.eq, &mc[0]->fid, FI_ENODEV, 0);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}
