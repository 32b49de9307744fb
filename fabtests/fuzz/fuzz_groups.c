/* SPDX-License-Identifier: BSD-2-Clause */
/* The groups of an IPoIB link, under whatever answers and reports come: what users are
 * told keeps its order, no request causes a storm, and all ends. */
#include <string.h>
#include <arpa/inet.h>
#include <cairn/compat.h>
#include "fuzz.h"
#include "groups/groups.h"

#define USERS 8
#define PKEY 0x8008
#define QKEY 0x80000b1b
#define MTU_2048 4
/* Groups that a user may be in: three, and the all-router group. */
#define GROUPS 4
/* Requests that may follow from one event: two for each group and its client's repeats.
 */
#define SENDS_MAX 40

static struct world {
	struct pvb_sa_client client;
	struct pvb_link link;
	struct pvb_groups groups;
	struct fuzz_user {
		struct pvb_group_user user;
		bool routed, joined, was_joined;
	} user[USERS];
	uint64_t now;
	unsigned int sends;
	unsigned int calls;
	uint8_t wild; /* what users do when they are told something; 0: nothing */
} w;

static void be_wild(void);

static int count_send(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	w.sends++;
	return 0;
}

static void notice(void *arg, const struct pvb_notice *what)
{
	pvb_groups_notice(&w.groups, what, w.now);
}

static struct fuzz_user *user_of(struct pvb_group_user *user)
{
	return crn_container_of(user, struct fuzz_user, user);
}

static void check_record(const struct pvb_mcm *record)
{
	FUZZ_CHECK(record->mlid >= 0xc000 && record->mlid <= 0xfffe);
	FUZZ_CHECK(record->qkey == QKEY && record->mtu >= MTU_2048 && record->mtu <= 5);
	FUZZ_CHECK(!((record->pkey ^ PKEY) & 0x7fff));
}

static void joined(void *arg, struct pvb_group_user *of, const struct pvb_mcm *record)
{
	struct fuzz_user *user = user_of(of);

	FUZZ_CHECK(!user->joined && !record == !of->recv);
	FUZZ_CHECK(user->routed || !of->send);
	user->joined = user->was_joined = true;
	if (record)
		check_record(record);
	be_wild();
}

static void route(void *arg, struct pvb_group_user *of,
		  const struct pvb_group_route *route)
{
	FUZZ_CHECK(of->send);
	user_of(of)->routed = true;
	if (route->to)
		check_record(route->to);
	if (route->copy)
		check_record(route->copy);
	be_wild();
}

static void lost(void *arg, struct pvb_group_user *of, int err, uint16_t status)
{
	FUZZ_CHECK(user_of(of)->joined && err < 0);
	user_of(of)->joined = false;
	be_wild();
}

static void failed(void *arg, struct pvb_group_user *of, int err, uint16_t status)
{
	FUZZ_CHECK(!user_of(of)->was_joined && !of->group && err < 0);
	be_wild();
}

static const struct pvb_mcm like = {.qkey = QKEY,
				    .mlid = 0xc000,
				    .mtu = MTU_2048,
				    .pkey = PKEY,
				    .rate = 3,
				    .join_state =
					    PVB_MCM_FULL | PVB_MCM_SEND_ONLY_NON_MEMBER};

static void begin(bool copy)
{
	static const struct pvb_sa_ops ops = {.send = count_send, .notice = notice};
	static const struct pvb_groups_calls calls = {
		.joined = joined, .route = route, .lost = lost, .failed = failed};
	const struct pvb_groups_config config = {.copy = copy,
						 .wait_ms = 20,
						 .tries = 2,
						 .join_ms = 200,
						 .again_min_ms = 10,
						 .again_max_ms = 100,
						 .spread_ms = copy ? 50 : 0,
						 .look_ms = 100,
						 .check_ms = 100,
						 .calls = &calls};

	memset(&w, 0, sizeof(w));
	pvb_sa_open(&w.client, &ops, NULL, 7);
	w.link = (struct pvb_link){
		.client = &w.client,
		.config = {.port_mtu = 5},
		.map = {.profile = PVB_MC_RFC, .pkey = PKEY, .scope = 2},
		.group = like,
		.mtu = pvb_link_mtu_bytes(MTU_2048)};
	FUZZ_CHECK(!pvb_groups_open(&w.groups, &w.link, &config));
}

static void group_mgid(uint8_t n, uint8_t mgid[16])
{
	const struct in_addr addr = {htonl(0xe0000002 + n % GROUPS)};

	FUZZ_CHECK(!pvb_mc_map4(&w.link.map, addr, mgid));
}

static void join(const uint8_t *op)
{
	struct fuzz_user *user = &w.user[op[1] % USERS];
	uint8_t mgid[16];

	if (user->user.group)
		return;
	memset(user, 0, sizeof(*user));
	group_mgid(op[2], mgid);
	pvb_groups_join(&w.groups, &user->user, mgid, op[3] & 1,
			!(op[3] & 1) || op[3] & 2, w.now);
}

static void leave(const uint8_t *op)
{
	pvb_groups_leave(&w.groups, &w.user[op[1] % USERS].user, w.now);
}

/* Any of them joins or leaves; the last closes. */
static void be_wild(void)
{
	const unsigned int call = ++w.calls;
	const uint8_t op[4] = {0, (uint8_t)(call * w.wild >> 2), (uint8_t)call, w.wild};

	if (!w.wild || call > 2u * w.wild)
		return;
	if (call == 2u * w.wild)
		pvb_groups_close(&w.groups, w.now);
	else if (call * w.wild & 2)
		join(op);
	else
		leave(op);
}

/* The request that is outstanding from there on. */
static const struct pvb_sa_transaction *transaction(unsigned int from)
{
	for (unsigned int i = from; i < from + PVB_SA_OUTSTANDING; i++)
		if (w.client.outstanding[i % PVB_SA_OUTSTANDING].used)
			return &w.client.outstanding[i % PVB_SA_OUTSTANDING];
	return NULL;
}

/* raw: the record as it is, or NULL: one of the link's, with something changed. */
static void answer(const uint8_t *op, const uint8_t *raw)
{
	static const uint16_t statuses[] = {
		0, 0, 0, PVB_SA_NO_RECORDS, PVB_SA_REQ_INVALID, PVB_SA_NO_RESOURCES};
	const struct pvb_sa_transaction *trans = transaction(op[1]);
	uint8_t mad[PVB_MAD_SIZE];
	struct pvb_mcm mcm = like;
	struct pvb_sa_hdr hdr;

	if (!trans || pvb_sa_unpack(trans->mad, sizeof(trans->mad), &hdr))
		return;
	memcpy(mcm.mgid, trans->mad + PVB_SA_DATA_AT, sizeof(mcm.mgid));
	mcm.mlid += op[3] >> 4;
	mcm.mtu += op[3] & 1;
	mcm.qkey += op[3] >> 1 & 1;
	mcm.join_state &= (uint8_t) ~(op[3] >> 2);
	if (hdr.method == PVB_SA_SET)
		hdr.method = PVB_SA_GET;
	hdr.method |= PVB_SA_RESPONSE;
	hdr.status = statuses[op[2] % CRN_COUNT(statuses)];
	pvb_sa_pack(mad, &hdr);
	pvb_mcm_pack(pvb_sa_data(mad), &mcm);
	if (raw)
		memcpy(pvb_sa_data(mad), raw, PVB_MCM_SIZE);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), w.now);
}

static void report(const uint8_t *op)
{
	struct pvb_notice notice = {.generic = true, .trap = 64 + op[2] % 4};

	group_mgid(op[1], notice.details + PVB_NOTICE_GID_AT);
	notice.details[PVB_NOTICE_GID_AT + 1] ^= op[3] & 1;
	pvb_groups_notice(&w.groups, &notice, w.now);
}

static void pass(unsigned int ms)
{
	w.now += ms;
	pvb_sa_progress(&w.client, w.now);
	pvb_groups_progress(&w.groups, w.now);
}

static void manage(const uint8_t *op)
{
	if (op[1] & 1)
		pvb_groups_subscribed(&w.groups, w.now);
	else
		pvb_groups_restarted(&w.groups, w.now);
}

/* The bytes of this event. */
static size_t act(const uint8_t *data, size_t size)
{
	const size_t left = size - 4;

	switch (data[0] % 8) {
	case 0:
		join(data);
		return 4;
	case 1:
		leave(data);
		return 4;
	case 2:
		answer(data, NULL);
		return 4;
	case 3:
		answer(data, left < PVB_MCM_SIZE ? NULL : data + 4);
		return left < PVB_MCM_SIZE ? 4 : 4 + PVB_MCM_SIZE;
	case 4:
		report(data);
		return 4;
	case 5:
		pass(data[1]);
		return 4;
	case 6:
		manage(data);
		return 4;
	default:
		pvb_sa_arrived(&w.client, data + 4, CRN_MIN(left, PVB_MAD_SIZE), w.now);
		return 4 + CRN_MIN(left, (size_t)PVB_MAD_SIZE);
	}
}

/* When nobody wants anything, all is over after the last deadline. */
static void end(void)
{
	w.wild = 0;
	for (unsigned int i = 0; i < USERS; i++)
		pvb_groups_leave(&w.groups, &w.user[i].user, w.now);
	for (unsigned int i = 0; i < 4 * GROUPS * 2; i++)
		pass(20);
	FUZZ_CHECK(pvb_groups_idle(&w.groups));
	FUZZ_CHECK(!w.groups.count && pvb_groups_timeout(&w.groups, w.now) == -1);
	pvb_groups_close(&w.groups, w.now);
	FUZZ_CHECK(pvb_sa_timeout(&w.client, w.now) == -1);
	pvb_sa_close(&w.client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int before;
	size_t used;

	begin(size & 1);
	w.wild = size ? data[size - 1] : 0;
	for (; size >= 4; data += used, size -= used) {
		before = w.sends;
		used = act(data, size);
		FUZZ_CHECK(w.groups.outstanding <= PVB_GROUPS_WINDOW);
		FUZZ_CHECK(w.sends - before <= SENDS_MAX);
	}
	end();
	return 0;
}
