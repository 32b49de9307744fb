/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of prov/pverbs/groups: users come and go, as do groups; datagrams get lost, late and
 * repeated, managers begin anew. When that ends, all is as the administrator has it.
 */
#include "world.h"

#define ROUNDS 400
#define STEPS 300
#define USERS 16u
#define GROUPS 4u
#define LATE_MAX 32u
#define REPORTS_MAX 64u

static uint32_t state;

/* Below n. */
static uint32_t any(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

/* What is on its way. */
static struct {
	struct {
		struct world_request request;
		uint16_t status;
		struct pvb_mcm mcm;
	} late[LATE_MAX];
	unsigned int lates;
	struct {
		uint16_t trap;
		uint8_t mgid[16];
	} report[REPORTS_MAX];
	unsigned int reports;
	bool down; /* the manager: it answers nothing, and begins anew */
} net;

/* Reports are repeated until they have arrived, so none gets lost. */
static void note_report(uint16_t trap, const uint8_t mgid[16])
{
	if (net.reports == REPORTS_MAX)
		return;
	net.report[net.reports].trap = trap;
	memcpy(net.report[net.reports++].mgid, mgid, 16);
}

static void deliver_report(void)
{
	const unsigned int n = any(net.reports);
	uint8_t mgid[16];

	memcpy(mgid, net.report[n].mgid, sizeof(mgid));
	world_report(net.report[n].trap, mgid);
	if (any(4))
		net.report[n] = net.report[--net.reports];
}

static const uint8_t *some_group(void)
{
	const uint32_t n = any(GROUPS + 1);

	return n == GROUPS ? world_routers() : world_mgid(n);
}

/* Is it the last time that the client sends it? */
static bool is_last_try(const struct world_request *request)
{
	unsigned int tries = 0, i;

	for (i = w.requests - CRN_MIN(w.requests, 200u); i < w.requests; i++)
		tries += w.request[i % WORLD_REQUESTS].hdr.tid == request->hdr.tid;
	return tries >= WORLD_TRIES;
}

/* Others do what they want, with attributes that may be wrong. */
static void others_act(void)
{
	const uint8_t *mgid = some_group();
	struct world_group *group = world_find(mgid);

	if (net.down)
		return;
	if (!group) {
		group = world_make(mgid);
		if (!any(6))
			group->record.mtu--;
	} else if (!group->others)
		group->others = 1;
	else {
		group->others = 0;
		if (!(group->state & FULL))
			world_unmake(mgid);
	}
}

static void users_act(void)
{
	const uint32_t n = any(USERS);
	const uint32_t ways = 1 + any(3);

	if (w.user[n].user.group)
		world_leave(&w.user[n]);
	else
		world_join_as(n, some_group(), ways & 1, ways & 2);
}

static void restart(void)
{
	net.down = !net.down;
	if (net.down)
		return;
	net.reports = 0;
	net.lates = 0;
	world_restart();
}

static void answer_late(void)
{
	const uint32_t n = any(net.lates);

	world_answer(&net.late[n].request, net.late[n].status, &net.late[n].mcm);
	if (any(4))
		net.late[n] = net.late[--net.lates];
}

/* Requests are lost, but not later than their client waits: what is done after that
 * nobody could take back. */
static bool is_waited_for(const struct world_request *request)
{
	int i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++)
		if (w.client.outstanding[i].used &&
		    w.client.outstanding[i].tid == (uint32_t)request->hdr.tid)
			return true;
	return false;
}

static void administrator_acts(void)
{
	struct world_request request;
	uint32_t fate = any(8);

	if (w.served == w.requests)
		return;
	request = *world_next();
	if (net.down || !is_waited_for(&request) || (!fate && !is_last_try(&request))) {
		w.served++;
		return;
	}
	world_serve(fate > 2 || is_last_try(&request));
}

/* Answers that come after others, and twice. */
static void administrator_acts_late(void)
{
	if (w.served == w.requests || net.lates == LATE_MAX || net.down ||
	    !is_waited_for(world_next()) || is_last_try(world_next()))
		return;
	net.late[net.lates].request = *world_next();
	net.late[net.lates].status = world_act(&net.late[net.lates].mcm);
	net.lates++;
}

/* No request is without an answer to the end, while the manager is there: what was not
 * left in this way stays. */
static void pass(uint64_t ms)
{
	unsigned int i, last = w.served;

	for (i = w.served; i < w.requests; i++)
		if (is_last_try(&w.request[i % WORLD_REQUESTS]))
			last = i + 1;
	while (w.served < last)
		administrator_acts();
	world_pass(ms);
}

static void step(void)
{
	const uint32_t what = any(20);

	if (what < 4)
		users_act();
	else if (what < 6)
		others_act();
	else if (what < 12)
		administrator_acts();
	else if (what < 14)
		administrator_acts_late();
	else if (what < 15 && net.lates)
		answer_late();
	else if (what < 17 && net.reports)
		deliver_report();
	else if (what == 17 && !any(6))
		restart();
	else if (what == 18 && !any(4))
		pvb_groups_subscribed(&w.groups, w.now);
	else
		pass(any(30));
}

static void settle(void)
{
	int i;

	if (net.down)
		restart();
	pvb_groups_subscribed(&w.groups, w.now);
	for (i = 0; i < 30; i++) {
		while (net.reports)
			deliver_report();
		world_serve_all();
		world_pass(WORLD_WAIT_MS);
	}
	while (net.reports)
		deliver_report();
	world_serve_all();
}

/* Where it is, if it can be used. */
static uint16_t place_of(const uint8_t mgid[16])
{
	const struct world_group *group = world_find(mgid);

	return group && group->record.mtu == WORLD_MTU ? group->record.mlid : 0;
}

static void expect_as_it_is(const struct world_user *user)
{
	const struct pvb_group_user *of = &user->user;
	const uint8_t *mgid = user->mgid;
	const uint16_t own = place_of(mgid), routers = place_of(world_routers());
	const bool is_routers = !memcmp(mgid, world_routers(), 16);

	if (of->recv) {
		CT_EXPECT_EQ(user->joined, own != 0);
		if (own)
			CT_EXPECT_EQ(user->record.mlid, own);
	}
	if (own && of->recv)
		CT_EXPECT_TRUE(world_find(mgid)->state & FULL);
	if (own && of->send)
		CT_EXPECT_NE(world_find(mgid)->state, 0);
	if (!of->send || !user->joined)
		return;
	CT_EXPECT_EQ(user->to, own ? own : is_routers ? 0 : routers);
	CT_EXPECT_EQ(user->copy, own && !is_routers && w.config.copy ? routers : 0);
}

static void copy_some(struct pvb_groups_config *config)
{
	config->copy = any(2);
	config->spread_ms = any(2) * 200;
}

static void run(uint32_t seed)
{
	unsigned int i;

	state = seed * 2654435761u + 1;
	memset(&net, 0, sizeof(net));
	world_open_with(copy_some);
	w.changed = note_report;
	for (i = 0; i < STEPS; i++)
		step();
	settle();
	for (i = 0; i < USERS; i++)
		if (w.user[i].user.group)
			expect_as_it_is(&w.user[i]);
	for (i = 0; i < USERS; i++)
		world_leave(&w.user[i]);
	settle();
	CT_EXPECT_EQ(w.groups.count, 0);
	for (i = 0; i < (unsigned int)w.groups_there; i++)
		CT_EXPECT_TRUE(!w.group[i].there || !w.group[i].state);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
	w.changed = NULL;
	world_close();
}

CT_TEST(groups, whatever_happened_all_is_as_it_should_be_in_the_end)
{
	const unsigned int rounds = ct_rounds(ROUNDS);
	unsigned int i;

	for (i = 0; i < rounds; i++)
		run(i);
}
