/* SPDX-License-Identifier: BSD-2-Clause */
/* vg.h: what memcheck sees of memory that requests move. Only under valgrind. */
#include <unistd.h>
#include "world.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HAVE_MEMCHECK 1
#endif
#endif

#ifdef HAVE_MEMCHECK
/* Joins, is told, sends its first bytes, writes them to the other end, and leaves. */
static int giver(int fd)
{
	struct address mine, peer;
	struct end end;
	int ret = 0;

	if (!world_open(&end, IBV_QPT_RC, false))
		return 1;
	mine = world_address(&end);
	if (!world_swap(fd, &mine, &peer) || !world_connect(&end, &peer) ||
	    !world_hear(fd))
		return 2;
	if (world_send(&end, 1, 0, 64) || world_status(end.cq) ||
	    world_rdma(&end, IBV_WR_RDMA_WRITE, 0, 64, &peer, 4096) ||
	    world_status(end.cq))
		ret = 3;
	world_close(&end);
	return ret;
}

CT_TEST(valgrind, what_another_process_wrote_is_defined)
{
	struct address mine, peer;
	struct end end;
	pid_t pid;
	int fd;

	if (!RUNNING_ON_VALGRIND)
		CT_SKIP("not under valgrind");
	fd = world_child(giver, &pid);
	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	VALGRIND_MAKE_MEM_UNDEFINED(end.memory, 64);
	mine = world_address(&end);
	CT_ASSERT_EQ(world_recv(&end, 1, 0, 64), 0);
	CT_ASSERT_TRUE(world_swap(fd, &mine, &peer) && world_connect(&end, &peer) &&
		       world_tell(fd));
	CT_EXPECT_EQ(world_status(end.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_reap(pid), 0);
	CT_EXPECT_EQ(VALGRIND_CHECK_MEM_IS_DEFINED(end.memory, 64), 0);
	CT_EXPECT_EQ(VALGRIND_CHECK_MEM_IS_DEFINED(end.memory + 4096, 64), 0);
	world_close(&end);
	close(fd);
}

CT_FIXTURE(valgrind, struct pair, pair_open, pair_close);

/* The values themselves may not be looked at: only whether they are. */
CT_TEST_F(valgrind, undefined_bytes_stay_so_when_they_are_sent_or_written)
{
	uint64_t bits[2];

	if (!RUNNING_ON_VALGRIND)
		CT_SKIP("not under valgrind");
	VALGRIND_MAKE_MEM_UNDEFINED(t->a.memory, 16);
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 64), 0);
	CT_ASSERT_EQ(world_send(&t->a, 2, 0, 16), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 8, 8, &t->to, 128), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(VALGRIND_GET_VBITS(t->b.memory, &bits[0], 8), 1);
	CT_EXPECT_EQ(VALGRIND_GET_VBITS(t->b.memory + 128, &bits[1], 8), 1);
	CT_EXPECT_EQ(bits[0], UINT64_MAX);
	CT_EXPECT_EQ(bits[1], UINT64_MAX);
}
#endif
