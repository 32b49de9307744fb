/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include "world.h"

#define FIRST_TID 40
#define JOIN_MASK (PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE)
#define CREATE_MASK                                                             \
	(JOIN_MASK | PVB_MCM_HAS_QKEY | PVB_MCM_HAS_TCLASS | PVB_MCM_HAS_PKEY | \
	 PVB_MCM_HAS_FLOW_LABEL | PVB_MCM_HAS_SL)
#define SERVES_MAX 20000

struct world w;

static const uint8_t port_gid[16] = {0xfe, 0x80, [15] = 7};

static int world_send(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	struct world_request *request = &w.request[w.requests % WORLD_REQUESTS];

	CT_EXPECT_EQ(pvb_sa_unpack(mad, PVB_MAD_SIZE, &request->hdr), 0);
	/* That a report has come. */
	if (request->hdr.method & PVB_SA_RESPONSE)
		return 0;
	w.requests++;
	CT_EXPECT_EQ(request->hdr.attr, PVB_SA_MCMEMBER_RECORD);
	pvb_mcm_unpack(mad + PVB_SA_DATA_AT, PVB_MCM_SIZE, &request->mcm);
	return 0;
}

static void world_notice(void *arg, const struct pvb_notice *notice)
{
	pvb_groups_notice(&w.groups, notice, w.now);
}

static const struct pvb_sa_ops world_ops = {.send = world_send, .notice = world_notice};

static struct world_user *user_of(struct pvb_group_user *user)
{
	return crn_container_of(user, struct world_user, user);
}

static void called(struct world_user *user)
{
	if (w.within)
		w.within(user);
}

static void world_joined(void *arg, struct pvb_group_user *of,
			 const struct pvb_mcm *record)
{
	struct world_user *user = user_of(of);

	CT_EXPECT_FALSE(user->joined);
	CT_EXPECT_EQ(!record, !of->recv);
	CT_EXPECT_TRUE(!of->send || user->routes);
	user->joined = true;
	user->joins++;
	if (record)
		user->record = *record;
	called(user);
}

static void world_route(void *arg, struct pvb_group_user *of,
			const struct pvb_group_route *route)
{
	struct world_user *user = user_of(of);

	CT_EXPECT_TRUE(of->send);
	user->routes++;
	user->to = route->to ? route->to->mlid : 0;
	user->copy = route->copy ? route->copy->mlid : 0;
	if (route->to)
		user->to_record = *route->to;
	called(user);
}

static void world_lost(void *arg, struct pvb_group_user *of, int err, uint16_t status)
{
	struct world_user *user = user_of(of);

	CT_EXPECT_TRUE(user->joined);
	CT_EXPECT_LT(err, 0);
	user->joined = false;
	user->losses++;
	user->err = err;
	user->status = status;
	called(user);
}

static void world_failed(void *arg, struct pvb_group_user *of, int err, uint16_t status)
{
	struct world_user *user = user_of(of);

	CT_EXPECT_EQ(user->joins, 0);
	CT_EXPECT_EQ(of->group, NULL);
	CT_EXPECT_LT(err, 0);
	user->failures++;
	user->err = err;
	user->status = status;
	called(user);
}

static const struct pvb_groups_calls world_calls = {.joined = world_joined,
						    .route = world_route,
						    .lost = world_lost,
						    .failed = world_failed};

static const struct pvb_mcm like = {.qkey = WORLD_QKEY,
				    .mlid = 0xc000,
				    .mtu = WORLD_MTU,
				    .pkey = WORLD_PKEY,
				    .tclass = 3,
				    .flow_label = 5,
				    .hop_limit = 7,
				    .rate = 3,
				    .sl = 2,
				    .join_state = FULL};

/* A link that was found; its broadcast group is no business of these tests. */
static void open_link(void)
{
	w.link.client = &w.client;
	w.link.config.port_mtu = 5;
	w.link.map = (struct pvb_mc_link){.profile = PVB_MC_RFC,
					  .pkey = WORLD_PKEY,
					  .scope = 2};
	w.link.group = like;
	w.link.mtu = pvb_link_mtu_bytes(WORLD_MTU);
}

void world_open_with(void (*change)(struct pvb_groups_config *config))
{
	memset(&w, 0, sizeof(w));
	w.now = 1000;
	w.next_mlid = 0xc001;
	w.config = (struct pvb_groups_config){.wait_ms = WORLD_WAIT_MS,
					      .tries = WORLD_TRIES,
					      .join_ms = WORLD_JOIN_MS,
					      .again_min_ms = WORLD_AGAIN_MS,
					      .again_max_ms = WORLD_AGAIN_MAX_MS,
					      .calls = &world_calls};
	memcpy(w.config.port_gid, port_gid, sizeof(port_gid));
	if (change)
		change(&w.config);
	pvb_sa_open(&w.client, &world_ops, NULL, FIRST_TID);
	open_link();
	CT_EXPECT_EQ(pvb_groups_open(&w.groups, &w.link, &w.config), 0);
	pvb_groups_subscribed(&w.groups, w.now);
}

void world_open(void)
{
	world_open_with(NULL);
}

void world_close(void)
{
	w.within = NULL;
	pvb_groups_close(&w.groups, w.now);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
	pvb_sa_close(&w.client);
}

void world_start(bool *open)
{
	world_open();
	*open = !ct_failed();
}

void world_stop(bool *open)
{
	if (*open)
		world_close();
}

const uint8_t *world_mgid(unsigned int n)
{
	static uint8_t mgid[16];
	const struct in_addr addr = {htonl(0xef000000 | n)};

	CT_EXPECT_EQ(pvb_mc_map4(&w.link.map, addr, mgid), 0);
	return mgid;
}

const uint8_t *world_routers(void)
{
	static uint8_t mgid[16];
	const struct in_addr addr = {htonl(0xe0000002)};

	CT_EXPECT_EQ(pvb_mc_map4(&w.link.map, addr, mgid), 0);
	return mgid;
}

struct world_group *world_find(const uint8_t mgid[16])
{
	int i;

	for (i = 0; i < w.groups_there; i++)
		if (w.group[i].there && !memcmp(w.group[i].record.mgid, mgid, 16))
			return &w.group[i];
	return NULL;
}

static void changed(uint16_t trap, const struct world_group *group)
{
	if (w.changed)
		w.changed(trap, group->record.mgid);
}

static struct world_group *add_group(const struct pvb_mcm *mcm)
{
	struct world_group *group = w.group;

	while (group->there)
		group++;
	if (group == &w.group[w.groups_there])
		w.groups_there++;
	*group = (struct world_group){.there = true, .record = *mcm};
	group->record.mlid = w.next_mlid++;
	group->record.join_state = FULL;
	changed(PVB_TRAP_GROUP_CREATED, group);
	return group;
}

struct world_group *world_make(const uint8_t mgid[16])
{
	struct pvb_mcm mcm = like;
	struct world_group *group;

	memcpy(mcm.mgid, mgid, sizeof(mcm.mgid));
	group = add_group(&mcm);
	group->others = 1;
	return group;
}

void world_unmake(const uint8_t mgid[16])
{
	struct world_group *group = world_find(mgid);

	CT_ASSERT_NE(group, NULL);
	group->there = false;
	changed(PVB_TRAP_GROUP_DELETED, group);
}

void world_restart(void)
{
	memset(w.group, 0, sizeof(w.group));
	w.groups_there = 0;
	w.next_mlid += 100;
	pvb_groups_restarted(&w.groups, w.now);
}

struct world_user *world_join_as(unsigned int n, const uint8_t mgid[16], bool recv,
				 bool send)
{
	struct world_user *user = &w.user[n];

	*user = (struct world_user){0};
	memcpy(user->mgid, mgid, sizeof(user->mgid));
	CT_EXPECT_EQ(pvb_groups_join(&w.groups, &user->user, mgid, recv, send, w.now), 0);
	return user;
}

struct world_user *world_join(unsigned int n, bool recv, bool send)
{
	return world_join_as(n, world_mgid(n), recv, send);
}

void world_leave(struct world_user *user)
{
	pvb_groups_leave(&w.groups, &user->user, w.now);
	CT_EXPECT_EQ(user->user.group, NULL);
}

void world_report(uint16_t trap, const uint8_t mgid[16])
{
	static uint64_t tid = 1;
	const struct pvb_sa_hdr hdr = {.method = PVB_SA_REPORT,
				       .attr = PVB_SA_NOTICE,
				       .tid = ++tid};
	struct pvb_notice notice = {.generic = true, .type = 3, .trap = trap};
	uint8_t mad[PVB_MAD_SIZE];

	memcpy(notice.details + PVB_NOTICE_GID_AT, mgid, 16);
	pvb_sa_pack(mad, &hdr);
	pvb_notice_pack(pvb_sa_data(mad), &notice);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), w.now);
}

void world_pass(uint64_t ms)
{
	w.now += ms;
	pvb_sa_progress(&w.client, w.now);
	pvb_groups_progress(&w.groups, w.now);
}

void world_answer(const struct world_request *request, uint16_t status,
		  const struct pvb_mcm *mcm)
{
	struct pvb_sa_hdr hdr = request->hdr;
	uint8_t mad[PVB_MAD_SIZE];

	if (hdr.method == PVB_SA_SET)
		hdr.method = PVB_SA_GET;
	hdr.method |= PVB_SA_RESPONSE;
	hdr.status = status;
	pvb_sa_pack(mad, &hdr);
	pvb_mcm_pack(pvb_sa_data(mad), mcm);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), w.now);
	pvb_groups_progress(&w.groups, w.now);
}

static bool is_like_the_link(const struct pvb_mcm *mcm)
{
	return mcm->qkey == like.qkey && mcm->tclass == like.tclass &&
	       mcm->flow_label == like.flow_label && mcm->sl == like.sl &&
	       mcm->rate == like.rate;
}

/* As opensm does. */
static uint16_t set(const struct world_request *request, struct pvb_mcm *mcm)
{
	struct world_group *group = world_find(request->mcm.mgid);

	if (!group && (request->hdr.comp_mask & CREATE_MASK) != CREATE_MASK)
		return PVB_SA_INSUFFICIENT_COMPONENTS;
	if (request->hdr.comp_mask & PVB_MCM_HAS_QKEY && !is_like_the_link(&request->mcm))
		return PVB_SA_REQ_INVALID;
	if (group && request->hdr.comp_mask & PVB_MCM_HAS_MTU &&
	    request->mcm.mtu != group->record.mtu)
		return PVB_SA_REQ_INVALID;
	if (!group && !(request->mcm.join_state & FULL))
		return PVB_SA_REQ_INVALID;
	if (!group)
		group = add_group(&request->mcm);
	group->state |= request->mcm.join_state;
	*mcm = group->record;
	mcm->join_state = group->state;
	return 0;
}

static uint16_t del(const struct world_request *request, struct pvb_mcm *mcm)
{
	struct world_group *group = world_find(request->mcm.mgid);

	if (!group || !(group->state & request->mcm.join_state))
		return PVB_SA_REQ_INVALID;
	group->state &= (uint8_t)~request->mcm.join_state;
	*mcm = group->record;
	if (!(group->state & FULL) && !group->others)
		world_unmake(mcm->mgid);
	return 0;
}

static uint16_t get(const struct world_request *request, struct pvb_mcm *mcm)
{
	struct world_group *group = world_find(request->mcm.mgid);

	if (!group)
		return PVB_SA_NO_RECORDS;
	*mcm = group->record;
	if (!(request->hdr.comp_mask & PVB_MCM_HAS_PORT_GID))
		return 0;
	mcm->join_state = w.mute ? 0 : group->state;
	return group->state ? 0 : PVB_SA_NO_RECORDS;
}

static uint16_t act(const struct world_request *request, struct pvb_mcm *mcm)
{
	*mcm = request->mcm;
	CT_EXPECT_TRUE(!(request->hdr.comp_mask & PVB_MCM_HAS_PORT_GID) ||
		       !memcmp(mcm->port_gid, port_gid, 16));
	if (request->hdr.method == w.refuse_method)
		return w.refuse;
	switch (request->hdr.method) {
	case PVB_SA_SET:
		return set(request, mcm);
	case PVB_SA_DELETE:
		return del(request, mcm);
	default:
		return get(request, mcm);
	}
}

const struct world_request *world_next(void)
{
	CT_EXPECT_LT(w.served, w.requests);
	return &w.request[w.served % WORLD_REQUESTS];
}

uint16_t world_act(struct pvb_mcm *mcm)
{
	const struct world_request *request = world_next();

	w.served++;
	return act(request, mcm);
}

void world_serve(bool answer)
{
	const struct world_request request = *world_next();
	struct pvb_mcm mcm;
	const uint16_t status = world_act(&mcm);

	if (answer && !w.silent)
		world_answer(&request, status, &mcm);
}

void world_serve_all(void)
{
	int i;

	for (i = 0; w.served < w.requests && i < SERVES_MAX; i++)
		world_serve(true);
	CT_EXPECT_LT(i, SERVES_MAX);
}

unsigned int world_count(unsigned int since, uint8_t method)
{
	unsigned int count = 0, i;

	for (i = since; i < w.requests; i++)
		count += w.request[i % WORLD_REQUESTS].hdr.method == method;
	return count;
}

struct world_user *world_join_and_serve(unsigned int n, bool recv, bool send)
{
	struct world_user *joined = world_join(n, recv, send);

	world_serve_all();
	return joined;
}

struct world_user *world_join_as_and_serve(unsigned int user, const uint8_t mgid[16],
					   bool recv, bool send)
{
	struct world_user *joined = world_join_as(user, mgid, recv, send);

	world_serve_all();
	return joined;
}

void world_leave_and_serve(struct world_user *user)
{
	world_leave(user);
	world_serve_all();
}

void world_pass_and_serve(uint64_t ms)
{
	world_pass(ms);
	world_serve_all();
}

void world_report_and_serve(uint16_t trap, const uint8_t mgid[16])
{
	world_report(trap, mgid);
	world_serve_all();
}

void world_restart_and_serve(void)
{
	world_restart();
	world_serve_all();
}
