/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/ud_fate.c, shared/counts.c: datagrams that do not arrive as they were sent. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../world.h"

/* Children say by their exit status which line did not find what it looked for. */
#define MUST(condition)                            \
	do {                                       \
		if (!(condition))                  \
			return __LINE__ % 255 + 1; \
	} while (0)

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
	struct address nobody = {0};

	if (!world_open(&way->a, IBV_QPT_UD, false) ||
	    !world_open(&way->b, IBV_QPT_UD, false) || !world_connect(&way->a, &nobody) ||
	    !world_connect(&way->b, &nobody))
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
	struct ibv_sge sge = {(uintptr_t)way->a.memory, len, way->a.mr->lkey};
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.ud = {way->ah, way->qpn, qkey},
				 };

	way->a.memory[0] = (char)number;
	return !ibv_post_send(way->a.qp, &wr, &bad) &&
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
	svb_self.settings.devices = 0;
	setenv("SIMVERBS_UD_LOSS", loss, 1);
	setenv("SIMVERBS_UD_DUPLICATE", duplicate, 1);
	setenv("SIMVERBS_UD_REORDER", reorder, 1);
	setenv("SIMVERBS_SEED", "5", 1);
	return !svb_join();
}

static int counts(int fd)
{
	uint64_t before[SVB_COUNTS];
	struct ibv_port_attr port;
	struct way way;
	struct ibv_wc wc;
	int i;

	(void)fd;
	MUST(begin("0", "0", "0") && way_open(&way));
	for (i = 0; i < SVB_COUNTS; i++)
		before[i] = counted((enum svb_count)i);
	/* No receive, and the sender is none the wiser. */
	MUST(way_send(&way, 1, 0x1234, 8));
	MUST(counted(SVB_COUNT_NO_RECEIVE) == before[SVB_COUNT_NO_RECEIVE] + 1);
	MUST(!world_recv(&way.b, 0, 0, 48) && way_send(&way, 1, 0x4321, 8));
	MUST(counted(SVB_COUNT_BAD_QKEY) == before[SVB_COUNT_BAD_QKEY] + 1);
	MUST(!ibv_query_port(way.b.ctx, 1, &port));
	MUST(port.qkey_viol_cntr == counted(SVB_COUNT_BAD_QKEY));
	/* A receive that is too short ends with an error, of its queue pair too. */
	MUST(way_send(&way, 1, 0x1234, 9) && world_wait(way.b.cq, &wc));
	MUST(wc.status == IBV_WC_LOC_LEN_ERR && way.b.qp->state == IBV_QPS_RTS);
	MUST(counted(SVB_COUNT_TOO_LONG) == before[SVB_COUNT_TOO_LONG] + 1);
	MUST(counted(SVB_COUNT_NO_RECEIVE) == before[SVB_COUNT_NO_RECEIVE] + 1);
	MUST(way_send(&way, 1, 0x1234, 8));
	way_close(&way);
	return 0;
}

/* Which of them arrive, by a number for all; the parent reads it. */
static int losses(int fd)
{
	uint64_t lost, hash = 0;
	struct way way;
	int i, got = 0, number;

	MUST(begin("0.25", "0", "0") && way_open(&way));
	lost = counted(SVB_COUNT_LOST);
	for (i = 0; i < ROUNDS; i++) {
		MUST(!world_recv(&way.b, 0, 0, 64) || i > got);
		MUST(way_send(&way, (uint8_t)i, 0x1234, 8));
		number = arrived(&way.b);
		MUST(number == -1 || number == i % 256);
		got += number >= 0;
		hash = hash * 3 + (number >= 0);
	}
	MUST(counted(SVB_COUNT_LOST) - lost == (uint64_t)(ROUNDS - got));
	MUST(got > ROUNDS / 2 && got < ROUNDS * 9 / 10);
	MUST(write(fd, &hash, sizeof(hash)) == sizeof(hash));
	way_close(&way);
	return 0;
}

static int twice(int fd)
{
	uint64_t before;
	struct way way;
	int i;

	(void)fd;
	MUST(begin("0", "1", "0") && way_open(&way));
	before = counted(SVB_COUNT_DUPLICATED);
	for (i = 0; i < 4; i++)
		MUST(!world_recv(&way.b, (uint64_t)i, (size_t)i * 64, 64));
	MUST(way_send(&way, 1, 0x1234, 8) && way_send(&way, 2, 0x1234, 8));
	MUST(arrived(&way.b) == 1 && arrived(&way.b) == 1);
	MUST(arrived(&way.b) == 2 && arrived(&way.b) == 2 && arrived(&way.b) == -1);
	MUST(counted(SVB_COUNT_DUPLICATED) == before + 2);
	way_close(&way);
	return 0;
}

static int late(int fd)
{
	static const int order[] = {2, 1, 4, 3};
	uint64_t before;
	struct way way;
	struct ibv_wc wc;
	uint8_t i;

	(void)fd;
	MUST(begin("0", "0", "1") && way_open(&way));
	before = counted(SVB_COUNT_REORDERED);
	/* One alone comes late. */
	MUST(!world_recv(&way.b, 0, 0, 64) && way_send(&way, 9, 0x1234, 8));
	MUST(world_wait(way.b.cq, &wc) && way.b.memory[40] == 9);
	MUST(counted(SVB_COUNT_REORDERED) == before + 1);
	for (i = 0; i < 4; i++)
		MUST(!world_recv(&way.b, i, (size_t)i * 64, 64));
	/* What the program writes after a send has completed is not sent. */
	for (i = 1; i <= 4; i++)
		MUST(way_send(&way, i, 0x1234, 8));
	for (i = 0; i < 4; i++) {
		MUST(world_wait(way.b.cq, &wc));
		/* On a loaded machine its time may be over before the next is sent. */
		if (counted(SVB_COUNT_REORDERED) == before + 3)
			MUST(way.b.memory[wc.wr_id * 64 + 40] == order[i]);
	}
	MUST(way_send(&way, 5, 0x1234, 8));
	way_close(&way);
	return 0;
}

/* Of a group each member loses what it loses. */
static int of_group(int fd)
{
	struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1};
	struct address nobody = {0};
	struct end other;
	struct way way;
	int i, one = 0, both = 0, first, second;

	(void)fd;
	attr.grh.dgid.raw[0] = 0xff;
	MUST(begin("0.5", "0", "0") && way_open(&way));
	MUST(world_open(&other, IBV_QPT_UD, false) && world_connect(&other, &nobody));
	ibv_destroy_ah(way.ah);
	attr.dlid = world_join_group(&attr.grh.dgid);
	way.ah = ibv_create_ah(way.a.pd, &attr);
	way.qpn = 0xffffff;
	MUST(!ibv_attach_mcast(way.b.qp, &attr.grh.dgid, attr.dlid));
	MUST(!ibv_attach_mcast(other.qp, &attr.grh.dgid, attr.dlid));
	MUST(!world_recv(&way.b, 0, 0, 64) && !world_recv(&other, 0, 0, 64));
	for (i = 0; i < 100; i++) {
		MUST(way_send(&way, (uint8_t)i, 0x1234, 8));
		first = arrived(&way.b);
		second = arrived(&other);
		MUST(first == -1 || !world_recv(&way.b, 0, 0, 64));
		MUST(second == -1 || !world_recv(&other, 0, 0, 64));
		one += first != second;
		both += first >= 0 && second >= 0;
	}
	MUST(one > 20 && both > 5);
	MUST(!ibv_detach_mcast(way.b.qp, &attr.grh.dgid, attr.dlid));
	MUST(!ibv_detach_mcast(other.qp, &attr.grh.dgid, attr.dlid));
	world_close(&other);
	way_close(&way);
	return 0;
}

static void in_child(int (*fn)(int fd), uint64_t *said)
{
	pid_t pid;
	int fd = world_child(fn, &pid);

	if (said)
		CT_EXPECT_EQ(read(fd, said, sizeof(*said)), sizeof(*said));
	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

CT_TEST(ud_fate, what_is_dropped_is_counted)
{
	in_child(counts, NULL);
}

CT_TEST(ud_fate, the_same_are_lost_for_the_same_seed)
{
	uint64_t once = 0, again = 1;

	in_child(losses, &once);
	in_child(losses, &again);
	CT_EXPECT_EQ(once, again);
}

CT_TEST(ud_fate, duplicates_come_twice)
{
	in_child(twice, NULL);
}

CT_TEST(ud_fate, one_comes_after_the_next)
{
	in_child(late, NULL);
}

CT_TEST(ud_fate, each_member_of_a_group_loses_its_own)
{
	in_child(of_group, NULL);
}
