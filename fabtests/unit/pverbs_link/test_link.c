/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/link/link.c, over an administrator that has one group. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "link/link.h"

#define FIRST_TID 40
#define PKEY 0x8008
#define MTU_1024 3
#define MTU_2048 4
#define MTU_4096 5
#define NEVER 99
#define WAIT_MS 100
#define TRIES 2

static struct {
	struct pvb_sa_client client;
	struct pvb_link link;
	struct pvb_mcm group; /* of the administrator */
	struct pvb_sa_hdr sent;
	struct pvb_mcm asked;
	int gets;
	int dones;
	int err;
	uint16_t status;
} w;

static int world_send(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	w.gets++;
	pvb_mcm_unpack(mad + PVB_SA_DATA_AT, PVB_MCM_SIZE, &w.asked);
	return pvb_sa_unpack(mad, PVB_MAD_SIZE, &w.sent);
}

static void world_done(void *arg, struct pvb_link *link, int err, uint16_t status)
{
	w.dones++;
	w.err = err;
	w.status = status;
}

static const struct pvb_sa_ops world_ops = {.send = world_send};

/* The group of an MGID as the administrator has it. */
static void world_open(uint8_t scope, uint16_t signature)
{
	static const struct pvb_mcm group = {.qkey = 0x80000b1b,
					     .mlid = 0xc000,
					     .mtu = MTU_2048,
					     .pkey = PKEY,
					     .tclass = 3,
					     .flow_label = 5,
					     .hop_limit = 7,
					     .rate = 3,
					     .sl = 2};
	const uint8_t last = signature == 0x401b ? 0xff : 0;

	memset(&w, 0, sizeof(w));
	w.group = group;
	memcpy(w.group.mgid,
	       (const uint8_t[]){0xff, 0x10 | scope, signature >> 8, (uint8_t)signature,
				 PKEY >> 8, PKEY & 0xff, 0, 0, 0, 0, 0, 0, last, last,
				 last, last ? last : 1},
	       sizeof(w.group.mgid));
	pvb_sa_open(&w.client, &world_ops, NULL, FIRST_TID);
}

static void answer(uint16_t status)
{
	const struct pvb_sa_hdr hdr = {.method = w.sent.method | PVB_SA_RESPONSE,
				       .attr = w.sent.attr,
				       .tid = w.sent.tid,
				       .status = status};
	uint8_t mad[PVB_MAD_SIZE];

	pvb_sa_pack(mad, &hdr);
	pvb_mcm_pack(pvb_sa_data(mad), &w.group);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), 10);
}

static int open_link(int family, enum pvb_mc_profile profile, uint8_t port_mtu)
{
	const struct pvb_link_config config = {.profile = profile,
					       .family = family,
					       .pkey = PKEY,
					       .port_mtu = port_mtu,
					       .wait_ms = WAIT_MS,
					       .tries = TRIES,
					       .done = world_done};

	return pvb_link_open(&w.link, &w.client, &config, 0);
}

/* Answers until the link is found or not: the number of requests. */
static int serve(void)
{
	int gets = 0;

	while (!w.dones && gets < NEVER) {
		gets++;
		answer(memcmp(w.asked.mgid, w.group.mgid, sizeof(w.group.mgid))
			       ? PVB_SA_NO_RECORDS
			       : PVB_SA_OK);
	}
	return gets;
}

/* An IPv4 link whose broadcast group is as w.group, at a port with this MTU. */
static int find4(uint8_t port_mtu)
{
	CT_EXPECT_EQ(open_link(AF_INET, PVB_MC_RFC, port_mtu), 0);
	serve();
	return w.err;
}

CT_TEST(link, R13_link_local_is_looked_for_first_then_wider)
{
	static const uint8_t scopes[] = {2, 5, 8, 14};
	int i;

	for (i = 0; i < 4; i++) {
		world_open(scopes[i], 0x401b);
		CT_ASSERT_EQ(open_link(AF_INET, PVB_MC_RFC, MTU_4096), 0);
		CT_EXPECT_EQ(w.asked.mgid[1], 0x12);
		CT_EXPECT_EQ(w.sent.method, PVB_SA_GET);
		CT_EXPECT_EQ(w.sent.comp_mask, PVB_MCM_HAS_MGID);
		CT_EXPECT_EQ(serve(), i + 1);
		CT_EXPECT_EQ(w.dones, 1);
		CT_EXPECT_EQ(w.err, 0);
		CT_EXPECT_EQ(w.link.map.scope, scopes[i]);
	}
}

CT_TEST(link, R13_without_a_group_of_any_scope_there_is_no_link)
{
	world_open(3, 0x401b);
	CT_EXPECT_EQ(find4(MTU_4096), -FI_EADDRNOTAVAIL);
	CT_EXPECT_EQ(w.gets, PVB_MC_SCOPES);
	CT_EXPECT_EQ(w.dones, 1);
	CT_EXPECT_EQ(w.status, PVB_SA_NO_RECORDS);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 2048), -FI_EINVAL);
}

CT_TEST(link, R10_R11_the_broadcast_group_of_ipv4_and_the_all_node_group_of_ipv6)
{
	world_open(2, 0x601b);
	CT_ASSERT_EQ(open_link(AF_INET6, PVB_MC_DRAFT, MTU_4096), 0);
	CT_EXPECT_EQ(serve(), 1);
	CT_EXPECT_EQ(w.err, 0);
	world_open(2, 0x401b);
	CT_ASSERT_EQ(open_link(AF_INET, PVB_MC_DRAFT, MTU_4096), 0);
	CT_EXPECT_EQ(serve(), 1);
	CT_EXPECT_EQ(w.err, 0);
	/* RFC 4391: one for both families. */
	world_open(2, 0x401b);
	CT_ASSERT_EQ(open_link(AF_INET6, PVB_MC_RFC, MTU_4096), 0);
	CT_EXPECT_EQ(serve(), 1);
	CT_EXPECT_EQ(w.err, 0);
}

CT_TEST(link, R14_the_mtu_and_the_attributes_are_those_of_the_record)
{
	world_open(2, 0x401b);
	CT_ASSERT_EQ(find4(MTU_4096), 0);
	CT_EXPECT_EQ(w.link.mtu, 2048);
	CT_EXPECT_EQ(w.link.group.qkey, 0x80000b1b);
	CT_EXPECT_EQ(w.link.group.tclass, 3);
	CT_EXPECT_EQ(w.link.group.flow_label, 5);
	CT_EXPECT_EQ(w.link.group.hop_limit, 7);
	CT_EXPECT_EQ(w.link.group.rate, 3);
	CT_EXPECT_EQ(w.link.group.sl, 2);
	CT_EXPECT_EQ(w.link.group.mlid, 0xc000);
}

CT_TEST(link, R15_a_smaller_mtu_is_accepted_and_no_larger_one)
{
	world_open(2, 0x401b);
	CT_ASSERT_EQ(find4(MTU_4096), 0);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 1500), 0);
	CT_EXPECT_EQ(w.link.mtu, 1500);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 2049), -FI_EMSGSIZE);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 67), -FI_EINVAL);
	CT_EXPECT_EQ(w.link.mtu, 1500);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 2048), 0);
	CT_EXPECT_EQ(w.link.mtu, 2048);
}

CT_TEST(link, R16_an_mtu_above_that_of_the_port_is_refused)
{
	world_open(2, 0x401b);
	CT_EXPECT_EQ(find4(MTU_1024), -FI_EMSGSIZE);
	CT_EXPECT_EQ(w.link.mtu, 0);
	world_open(2, 0x401b);
	CT_EXPECT_EQ(find4(MTU_2048), 0);
}

CT_TEST(link, R7_ipv6_has_1280_bytes_at_least)
{
	world_open(2, 0x601b);
	w.group.mtu = MTU_1024;
	CT_ASSERT_EQ(open_link(AF_INET6, PVB_MC_DRAFT, MTU_4096), 0);
	serve();
	CT_EXPECT_EQ(w.err, -FI_EMSGSIZE);
	world_open(2, 0x601b);
	CT_ASSERT_EQ(open_link(AF_INET6, PVB_MC_DRAFT, MTU_4096), 0);
	serve();
	CT_EXPECT_EQ(w.err, 0);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 1279), -FI_EINVAL);
	CT_EXPECT_EQ(pvb_link_set_mtu(&w.link, 1280), 0);
	/* For IPv4 1024 bytes are a link. */
	world_open(2, 0x401b);
	w.group.mtu = MTU_1024;
	CT_EXPECT_EQ(find4(MTU_4096), 0);
}

CT_TEST(link, a_record_that_is_not_of_the_link_is_refused)
{
	world_open(2, 0x401b);
	w.group.pkey = 9;
	CT_EXPECT_EQ(find4(MTU_4096), -FI_EINVAL);
	world_open(2, 0x401b);
	w.group.mtu = 0;
	CT_EXPECT_EQ(find4(MTU_4096), -FI_EINVAL);
	world_open(2, 0x401b);
	w.group.mtu = 6;
	CT_EXPECT_EQ(find4(MTU_4096), -FI_EINVAL);
	world_open(2, 0x401b);
	CT_ASSERT_EQ(open_link(AF_INET, PVB_MC_RFC, MTU_4096), 0);
	w.group.mgid[15] = 1;
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.err, -FI_EINVAL);
	CT_EXPECT_EQ(w.dones, 1);
}

CT_TEST(link, silence_and_refusal_end_the_search)
{
	world_open(2, 0x401b);
	CT_ASSERT_EQ(open_link(AF_INET, PVB_MC_RFC, MTU_4096), 0);
	pvb_sa_progress(&w.client, WAIT_MS);
	CT_EXPECT_EQ(w.dones, 0);
	pvb_sa_progress(&w.client, TRIES * WAIT_MS);
	CT_EXPECT_EQ(w.err, -FI_ETIMEDOUT);
	CT_EXPECT_EQ(w.gets, TRIES);
	world_open(2, 0x401b);
	CT_ASSERT_EQ(open_link(AF_INET, PVB_MC_RFC, MTU_4096), 0);
	answer(PVB_SA_REQ_INVALID);
	CT_EXPECT_EQ(w.err, -FI_EINVAL);
	CT_EXPECT_EQ(w.status, PVB_SA_REQ_INVALID);
	CT_EXPECT_EQ(w.gets, 1);
}

CT_TEST(link, a_scope_is_waited_for_from_when_it_is_asked_for)
{
	world_open(5, 0x401b);
	CT_ASSERT_EQ(open_link(AF_INET, PVB_MC_RFC, MTU_4096), 0);
	answer(PVB_SA_NO_RECORDS); /* at 10 ms */
	CT_EXPECT_EQ(pvb_sa_timeout(&w.client, 10), WAIT_MS);
}

CT_TEST(link, what_cannot_be_a_link_is_not_asked_for)
{
	struct pvb_link_config config = {
		.family = AF_INET, .port_mtu = MTU_2048, .tries = 1, .done = world_done};

	world_open(2, 0x401b);
	CT_EXPECT_EQ(open_link(AF_UNIX, PVB_MC_RFC, MTU_4096), -FI_EINVAL);
	CT_EXPECT_EQ(open_link(AF_INET, PVB_MC_RFC, 0), -FI_EINVAL);
	CT_EXPECT_EQ(open_link(AF_INET, PVB_MC_RFC, 6), -FI_EINVAL);
	/* P_Key 0 is no partition. */
	CT_EXPECT_EQ(pvb_link_open(&w.link, &w.client, &config, 0), -FI_EINVAL);
	CT_EXPECT_EQ(w.gets, 0);
}

CT_TEST(link, R34_each_status_has_its_error)
{
	static const struct {
		struct pvb_sa_answer answer;
		int err;
	} rows[] = {
		{{.status = 0}, 0},
		{{.status = 0x0001}, -FI_EBUSY},
		{{.status = 0x0100}, -FI_ENOSPC},
		{{.status = 0x0200}, -FI_EINVAL},
		{{.status = 0x0300}, -FI_EADDRNOTAVAIL},
		{{.status = 0x0600}, -FI_EINVAL},
		{{.status = 0x7f00}, -FI_EIO},
		{{.err = -FI_ETIMEDOUT}, -FI_ETIMEDOUT},
		{{.err = -FI_ECANCELED}, -FI_ECANCELED},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CT_EXPECT_EQ(pvb_link_error(&rows[i].answer), rows[i].err);
}
