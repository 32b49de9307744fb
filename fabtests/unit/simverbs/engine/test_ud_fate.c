/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/ud_fate.c, shared/counts.c: datagrams that do not arrive as they were sent. */
#include <sys/mman.h>
#include "../world.h"

#define ROUNDS 400

/* Two ends, of which a sends to b by ah. */
struct way {
	struct end a, b;
	struct ibv_ah *ah;
	uint32_t qpn;
};

static bool way_open(struct way *way)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};

	if (!world_open_ud(&way->a) || !world_open_ud(&way->b))
		return false;
	way->ah = ibv_create_ah(way->a.pd, &attr);
	way->qpn = way->b.qp->qp_num;
	return way->ah;
}

static void way_close(struct way *way)
{
	CT_EXPECT_EQ(ibv_destroy_ah(way->ah), 0);
	world_pair_close(&way->a, &way->b);
}

/* One datagram whose first byte is number. */
static bool way_send(struct way *way, uint8_t number, uint32_t qkey, uint32_t len)
{
	way->a.memory[0] = (char)number;
	return !world_send_to(&way->a, way->ah, way->qpn, qkey, len) &&
	       world_status(way->a.cq) == IBV_WC_SUCCESS;
}

/* The first byte of what has arrived in a receive of 64 bytes by number; -1: nothing. */
static int arrived(struct end *end)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(end->cq, 1, &wc) != 1)
		return -1;
	return wc.status ? -2 : (uint8_t)end->memory[wc.wr_id * 64 + 40];
}

static uint64_t counted(enum svb_count what)
{
	return svb_counted(0, what);
}

static bool begin(const char *loss, const char *duplicate, const char *reorder)
{
	world_settings("SIMVERBS_UD_LOSS", loss, "SIMVERBS_UD_DUPLICATE", duplicate,
		       "SIMVERBS_UD_REORDER", reorder, "SIMVERBS_SEED", "5", NULL);
	return !svb_join();
}

WORLD_CHILD(ud_fate, what_is_dropped_is_counted)
{
	uint64_t before[SVB_COUNTS];
	struct ibv_port_attr port;
	struct way way;
	struct ibv_wc wc;

	CT_ASSERT_TRUE(begin("0", "0", "0") && way_open(&way));
	for (int i = 0; i < SVB_COUNTS; i++)
		before[i] = counted((enum svb_count)i);
	/* No receive, and the sender is none the wiser. */
	CT_ASSERT_TRUE(way_send(&way, 1, 0x1234, 8));
	CT_ASSERT_TRUE(counted(SVB_COUNT_NO_RECEIVE) == before[SVB_COUNT_NO_RECEIVE] + 1);
	CT_ASSERT_TRUE(!world_recv(&way.b, 0, 0, 48) && way_send(&way, 1, 0x4321, 8));
	CT_ASSERT_TRUE(counted(SVB_COUNT_BAD_QKEY) == before[SVB_COUNT_BAD_QKEY] + 1);
	CT_ASSERT_TRUE(!ibv_query_port(way.b.ctx, 1, &port));
	CT_ASSERT_TRUE(port.qkey_viol_cntr == counted(SVB_COUNT_BAD_QKEY));
	/* A receive that is too short ends with an error, of its queue pair too. */
	CT_ASSERT_TRUE(way_send(&way, 1, 0x1234, 9) && world_wait(way.b.cq, &wc));
	CT_ASSERT_TRUE(wc.status == IBV_WC_LOC_LEN_ERR && way.b.qp->state == IBV_QPS_RTS);
	CT_ASSERT_TRUE(counted(SVB_COUNT_TOO_LONG) == before[SVB_COUNT_TOO_LONG] + 1);
	CT_ASSERT_TRUE(counted(SVB_COUNT_NO_RECEIVE) == before[SVB_COUNT_NO_RECEIVE] + 1);
	CT_ASSERT_TRUE(way_send(&way, 1, 0x1234, 8));
	way_close(&way);
}

/* Which of them arrive, by a number for all; the parent reads it. */
static uint64_t *which;

static void losses(void)
{
	uint64_t lost, hash = 0;
	struct way way;
	int i, got = 0, number;

	CT_ASSERT_TRUE(begin("0.25", "0", "0") && way_open(&way));
	lost = counted(SVB_COUNT_LOST);
	for (i = 0; i < ROUNDS; i++) {
		CT_ASSERT_TRUE(!world_recv(&way.b, 0, 0, 64) || i > got);
		CT_ASSERT_TRUE(way_send(&way, (uint8_t)i, 0x1234, 8));
		number = arrived(&way.b);
		CT_ASSERT_TRUE(number == -1 || number == i % 256);
		got += number >= 0;
		hash = hash * 3 + (number >= 0);
	}
	CT_ASSERT_TRUE(counted(SVB_COUNT_LOST) - lost == (uint64_t)(ROUNDS - got));
	CT_ASSERT_TRUE(got > ROUNDS / 2 && got < ROUNDS * 9 / 10);
	*which = hash;
	way_close(&way);
}

WORLD_CHILD(ud_fate, duplicates_come_twice)
{
	uint64_t before;
	struct way way;

	CT_ASSERT_TRUE(begin("0", "1", "0") && way_open(&way));
	before = counted(SVB_COUNT_DUPLICATED);
	for (int i = 0; i < 4; i++)
		CT_ASSERT_TRUE(!world_recv(&way.b, (uint64_t)i, (size_t)i * 64, 64));
	CT_ASSERT_TRUE(way_send(&way, 1, 0x1234, 8) && way_send(&way, 2, 0x1234, 8));
	CT_ASSERT_TRUE(arrived(&way.b) == 1 && arrived(&way.b) == 1);
	CT_ASSERT_TRUE(arrived(&way.b) == 2 && arrived(&way.b) == 2 &&
		       arrived(&way.b) == -1);
	CT_ASSERT_TRUE(counted(SVB_COUNT_DUPLICATED) == before + 2);
	way_close(&way);
}

WORLD_CHILD(ud_fate, one_comes_after_the_next)
{
	static const int order[] = {2, 1, 4, 3};
	uint64_t before;
	struct way way;
	struct ibv_wc wc;

	CT_ASSERT_TRUE(begin("0", "0", "1") && way_open(&way));
	before = counted(SVB_COUNT_REORDERED);
	/* One alone comes late. */
	CT_ASSERT_TRUE(!world_recv(&way.b, 0, 0, 64) && way_send(&way, 9, 0x1234, 8));
	CT_ASSERT_TRUE(world_wait(way.b.cq, &wc) && way.b.memory[40] == 9);
	CT_ASSERT_TRUE(counted(SVB_COUNT_REORDERED) == before + 1);
	for (uint8_t i = 0; i < 4; i++)
		CT_ASSERT_TRUE(!world_recv(&way.b, i, (size_t)i * 64, 64));
	/* What the program writes after a send has completed is not sent. */
	for (uint8_t i = 1; i <= 4; i++)
		CT_ASSERT_TRUE(way_send(&way, i, 0x1234, 8));
	for (uint8_t i = 0; i < 4; i++) {
		CT_ASSERT_TRUE(world_wait(way.b.cq, &wc));
		/* On a loaded machine its time may be over before the next is sent. */
		if (counted(SVB_COUNT_REORDERED) == before + 3)
			CT_ASSERT_TRUE(way.b.memory[wc.wr_id * 64 + 40] == order[i]);
	}
	CT_ASSERT_TRUE(way_send(&way, 5, 0x1234, 8));
	way_close(&way);
}

/* Of a group each member loses what it loses. */
WORLD_CHILD(ud_fate, each_member_of_a_group_loses_its_own)
{
	struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1};
	struct end other;
	struct way way;
	int i, one = 0, both = 0, first, second;

	attr.grh.dgid.raw[0] = 0xff;
	CT_ASSERT_TRUE(begin("0.5", "0", "0") && way_open(&way));
	CT_ASSERT_TRUE(world_open_ud(&other));
	ibv_destroy_ah(way.ah);
	attr.dlid = world_join_group(&attr.grh.dgid);
	way.ah = ibv_create_ah(way.a.pd, &attr);
	way.qpn = 0xffffff;
	CT_ASSERT_TRUE(!ibv_attach_mcast(way.b.qp, &attr.grh.dgid, attr.dlid));
	CT_ASSERT_TRUE(!ibv_attach_mcast(other.qp, &attr.grh.dgid, attr.dlid));
	CT_ASSERT_TRUE(!world_recv(&way.b, 0, 0, 64) && !world_recv(&other, 0, 0, 64));
	for (i = 0; i < 100; i++) {
		CT_ASSERT_TRUE(way_send(&way, (uint8_t)i, 0x1234, 8));
		first = arrived(&way.b);
		second = arrived(&other);
		CT_ASSERT_TRUE(first == -1 || !world_recv(&way.b, 0, 0, 64));
		CT_ASSERT_TRUE(second == -1 || !world_recv(&other, 0, 0, 64));
		one += first != second;
		both += first >= 0 && second >= 0;
	}
	CT_ASSERT_TRUE(one > 20 && both > 5);
	CT_ASSERT_TRUE(!ibv_detach_mcast(way.b.qp, &attr.grh.dgid, attr.dlid));
	CT_ASSERT_TRUE(!ibv_detach_mcast(other.qp, &attr.grh.dgid, attr.dlid));
	world_close(&other);
	way_close(&way);
}

CT_TEST(ud_fate, the_same_are_lost_for_the_same_seed)
{
	uint64_t once;

	which = mmap(NULL, sizeof(*which), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CT_ASSERT_NE(which, MAP_FAILED);
	world_run(losses);
	once = *which;
	*which = 1;
	world_run(losses);
	CT_EXPECT_EQ(once, *which);
	munmap(which, sizeof(*which));
}
