/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>
#include "cairn_test.h"
#include "fake_sa.h"

#define MTU_1024 3
#define RATE_10 3
#define LINK_GROUPS 2

struct fake_sa fake_sa;
static uint64_t trap_tid;

static struct fake_sa_group *find(const uint8_t mgid[16])
{
	struct fake_sa_group *group = fake_sa.group;

	for (; group < fake_sa.group + FAKE_SA_GROUPS; group++)
		if (group->used && !memcmp(group->mcm.mgid, mgid, 16))
			return group;
	return NULL;
}

static struct fake_sa_group *add(const struct pvb_mcm *mcm)
{
	struct fake_sa_group *group = fake_sa.group;

	while (group->used && group < fake_sa.group + FAKE_SA_GROUPS - 1)
		group++;
	*group = (struct fake_sa_group){.used = true, .mcm = *mcm};
	group->mcm.mlid = fake_sa.mlid++;
	return group;
}

static void report(uint16_t trap, const uint8_t mgid[16])
{
	const struct pvb_sa_hdr hdr = {.method = PVB_SA_REPORT,
				       .attr = PVB_SA_NOTICE,
				       .tid = ++trap_tid};
	struct pvb_notice notice = {.generic = true,
				    .type = PVB_NOTICE_TYPE_INFO,
				    .producer = PVB_PRODUCER_CLASS_MANAGER,
				    .trap = trap,
				    .issuer_lid = 1};
	uint8_t mad[PVB_MAD_SIZE];

	if (fake.opened == fake.closed)
		return;
	memcpy(notice.details + PVB_NOTICE_GID_AT, mgid, 16);
	pvb_sa_pack(mad, &hdr);
	pvb_notice_pack(pvb_sa_data(mad), &notice);
	fake_arrive(mad, 0);
}

static void answer(struct pvb_sa_hdr hdr, uint16_t status, const struct pvb_mcm *mcm)
{
	uint8_t mad[PVB_MAD_SIZE];

	hdr.method =
		(hdr.method == PVB_SA_SET ? PVB_SA_GET : hdr.method) | PVB_SA_RESPONSE;
	hdr.status = status;
	pvb_sa_pack(mad, &hdr);
	if (mcm)
		pvb_mcm_pack(pvb_sa_data(mad), mcm);
	fake_arrive(mad, 0);
}

static uint16_t join_status(const struct pvb_sa_hdr *hdr, const struct pvb_mcm *asked)
{
	if (fake_sa.status)
		return fake_sa.status;
	if (find(asked->mgid))
		return PVB_SA_OK;
	return hdr->comp_mask & PVB_MCM_HAS_QKEY && asked->join_state & PVB_MCM_FULL
		       ? PVB_SA_OK
		       : PVB_SA_REQ_INVALID;
}

static void join(const struct pvb_sa_hdr *hdr, const struct pvb_mcm *asked)
{
	struct fake_sa_group *group = find(asked->mgid);
	const uint16_t status = join_status(hdr, asked);
	struct pvb_mcm mcm;

	fake_sa.joins += asked->join_state & PVB_MCM_FULL;
	if (status) {
		answer(*hdr, status, NULL);
		return;
	}
	if (!group) {
		group = add(asked);
		report(PVB_TRAP_GROUP_CREATED, asked->mgid);
	}
	group->state |= asked->join_state;
	mcm = group->mcm;
	mcm.join_state = group->state;
	memcpy(mcm.port_gid, asked->port_gid, sizeof(mcm.port_gid));
	answer(*hdr, PVB_SA_OK, &mcm);
}

/* Groups that the port made have no other full member. */
static void leave(const struct pvb_sa_hdr *hdr, const struct pvb_mcm *asked)
{
	struct fake_sa_group *group = find(asked->mgid);

	fake_sa.leaves += asked->join_state & PVB_MCM_FULL;
	if (!group || !(group->state & asked->join_state)) {
		answer(*hdr, PVB_SA_REQ_INVALID, NULL);
		return;
	}
	group->state &= (uint8_t)~asked->join_state;
	answer(*hdr, PVB_SA_OK, &group->mcm);
	if (!group->others && !(group->state & PVB_MCM_FULL)) {
		group->used = false;
		report(PVB_TRAP_GROUP_DELETED, asked->mgid);
	}
}

/* With a port GID: is that a member? */
static void get(const struct pvb_sa_hdr *hdr, const struct pvb_mcm *asked)
{
	const struct fake_sa_group *group = find(asked->mgid);
	const bool of_port = hdr->comp_mask & PVB_MCM_HAS_PORT_GID;
	struct pvb_mcm mcm;

	fake_sa.gets++;
	if (!group || (of_port && !group->state)) {
		answer(*hdr, PVB_SA_NO_RECORDS, NULL);
		return;
	}
	mcm = group->mcm;
	if (of_port) {
		mcm.join_state = group->state;
		memcpy(mcm.port_gid, asked->port_gid, sizeof(mcm.port_gid));
	}
	answer(*hdr, PVB_SA_OK, &mcm);
}

static void on_send(const struct fake_mad *sent)
{
	struct pvb_sa_hdr hdr;
	struct pvb_mcm asked;

	if (pvb_sa_unpack(sent->data, sizeof(sent->data), &hdr) ||
	    hdr.method & PVB_SA_RESPONSE || fake_sa.silent)
		return;
	pvb_mcm_unpack(sent->data + PVB_SA_DATA_AT, PVB_MCM_SIZE, &asked);
	if (hdr.attr == PVB_SA_INFORM_INFO) {
		fake_sa.informs++;
		answer(hdr, PVB_SA_OK, NULL);
	} else if (hdr.attr != PVB_SA_MCMEMBER_RECORD) {
		answer(hdr, PVB_SA_NO_RECORDS, NULL);
	} else if (hdr.method == PVB_SA_SET) {
		join(&hdr, &asked);
	} else if (hdr.method == PVB_SA_DELETE) {
		leave(&hdr, &asked);
	} else {
		get(&hdr, &asked);
	}
}

static struct fake_sa_group *add_text(const char *mgid, uint32_t qkey)
{
	struct pvb_mcm mcm = {.qkey = qkey,
			      .mtu = MTU_1024,
			      .pkey = 0xffff,
			      .rate = RATE_10,
			      .tclass = 3,
			      .flow_label = 5,
			      .hop_limit = 7,
			      .sl = 2};

	struct fake_sa_group *group;

	CT_EXPECT_EQ(inet_pton(AF_INET6, mgid, mcm.mgid), 1);
	group = add(&mcm);
	group->others = true;
	return group;
}

void fake_sa_open(uint32_t qkey)
{
	fake_reset();
	fake.on_send = on_send;
	memset(&fake_sa, 0, sizeof(fake_sa));
	fake_sa.mlid = 0xc000;
	add_text("ff12:401b:ffff::ffff:ffff", qkey);
	add_text("ff12:601b:ffff::1", qkey);
}

void fake_sa_none(void)
{
	memset(&fake, 0, sizeof(fake));
}

struct fake_sa_group *fake_sa_create(const char *mgid)
{
	struct fake_sa_group *group = add_text(mgid, fake_sa.group[0].mcm.qkey);

	report(PVB_TRAP_GROUP_CREATED, group->mcm.mgid);
	return group;
}

void fake_sa_delete(const char *mgid)
{
	struct fake_sa_group *group = fake_sa_find(mgid);

	CT_ASSERT_NE(group, NULL);
	group->used = false;
	report(PVB_TRAP_GROUP_DELETED, group->mcm.mgid);
}

struct fake_sa_group *fake_sa_find(const char *mgid)
{
	uint8_t gid[16];

	CT_EXPECT_EQ(inet_pton(AF_INET6, mgid, gid), 1);
	return find(gid);
}

void fake_sa_restart(void)
{
	int i;

	for (i = LINK_GROUPS; i < FAKE_SA_GROUPS; i++)
		fake_sa.group[i].used = false;
	fake_sa.mlid += 0x100;
}
