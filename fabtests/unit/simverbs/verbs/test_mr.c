/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/mr.c, engine/memory.c */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/memory.h"
#include "../world.h"

/* What is refused: rules/objects.c. */
CT_FIXTURE(mr, struct pair, pair_open, pair_close);

CT_TEST_F(mr, memory_is_mapped_with_the_rights_that_are_needed_up_to_its_end)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int writes = IBV_ACCESS_LOCAL_WRITE;
	uint8_t *at = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	/* Two mappings, then one that cannot be written, then one that cannot be read. */
	CT_ASSERT_EQ(mprotect(at + page, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	CT_ASSERT_EQ(mprotect(at + 2 * page, page, PROT_READ), 0);
	CT_ASSERT_EQ(mprotect(at + 3 * page, page, PROT_NONE), 0);
	mr = ibv_reg_mr(t->a.pd, at + 8, 2 * page - 8, writes);
	CT_ASSERT_NE(mr, NULL);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_ERRNO(ibv_reg_mr(t->a.pd, at + 8, 2 * page - 7, writes), NULL, EFAULT);
	mr = ibv_reg_mr(t->a.pd, at, 3 * page, 0);
	CT_ASSERT_NE(mr, NULL);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_ERRNO(ibv_reg_mr(t->a.pd, at, 3 * page + 1, 0), NULL, EFAULT);
	munmap(at, 4 * page);
}

static bool registers(struct end *end, void *at, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(end->pd, at, len, 0);

	return mr && !ibv_dereg_mr(mr);
}

/* The descriptor of the table of mappings that the device keeps; -1: it has none. */
static int maps_fd(void)
{
	char name[64], target[64];
	ssize_t len;

	for (int fd = 3; fd < 1024; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		len = readlink(name, target, sizeof(target) - 1);
		if (len < 5)
			continue;
		target[len] = 0;
		if (!strcmp(target + len - 5, "/maps"))
			return fd;
	}
	return -1;
}

CT_TEST_F(mr, a_program_may_close_descriptors_that_it_does_not_know)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd;

	CT_EXPECT_TRUE(registers(&t->a, at, page));
	fd = maps_fd();
	if (fd < 0) /* an old kernel is not asked */
		return;
	/* It is a file of the program's now, which stays open. */
	CT_ASSERT_EQ(dup2(null, fd), fd);
	CT_EXPECT_TRUE(registers(&t->a, at, page));
	CT_EXPECT_EQ(fcntl(fd, F_GETFD), 0);
	close(fd);
	munmap(at, page);
	CT_EXPECT_FALSE(registers(&t->a, at, page));
	close(null);
}

static uint8_t *parents;

/* Has a mapping less than the parent, and one more. */
static void other_mappings(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *own = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	CT_EXPECT_TRUE(registers(&end, own, page));
	munmap(parents, page);
	CT_EXPECT_FALSE(registers(&end, parents, page));
	world_close(&end);
}

CT_TEST_F(mr, a_child_has_mappings_of_its_own)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	parents = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CT_EXPECT_TRUE(registers(&t->a, parents, page));
	world_run(other_mappings);
	munmap(parents, page);
}

CT_TEST_F(mr, key_of_a_slot_used_again_differs)
{
	uint32_t key;
	struct ibv_mr *mr = ibv_reg_mr(t->a.pd, t->a.memory, 8, 0);

	CT_ASSERT_NE(mr, NULL);
	key = mr->rkey;
	for (int i = 0; i < 3000; i++) {
		CT_ASSERT_EQ(ibv_dereg_mr(mr), 0);
		mr = ibv_reg_mr(t->a.pd, t->a.memory, 8, 0);
		CT_ASSERT_NE(mr, NULL);
		CT_ASSERT_NE(mr->rkey, key);
	}
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Whoever knows one does not know the next. */
CT_TEST(mr, a_slot_has_each_tag_but_zero_before_one_comes_again)
{
	bool seen[256] = {true};
	uint32_t tag = 0;

	for (int i = 1; i < 256; i++) {
		tag = svb_key_tag(tag);
		CT_ASSERT_LT(tag, 256);
		CT_EXPECT_FALSE(seen[tag]);
		seen[tag] = true;
	}
}

CT_TEST_F(mr, keys_are_in_no_order)
{
	struct ibv_mr *mr[16];
	unsigned int next = 0;

	for (size_t i = 0; i < CRN_COUNT(mr); i++) {
		mr[i] = ibv_reg_mr(t->a.pd, t->a.memory, 8, 0);
		CT_ASSERT_NE(mr[i], NULL);
		CT_EXPECT_NE(mr[i]->rkey, 0);
		next += i && mr[i]->rkey >> 8 == (mr[i - 1]->rkey >> 8) + 1;
		next += i && (mr[i]->rkey & 0xff) == (mr[i - 1]->rkey & 0xff);
	}
	CT_EXPECT_LE(next, CRN_COUNT(mr) / 2);
	for (size_t i = 0; i < CRN_COUNT(mr); i++)
		CT_EXPECT_EQ(ibv_dereg_mr(mr[i]), 0);
}

CT_TEST_F(mr, iova_is_what_requests_call_it)
{
	struct address to;
	struct ibv_mr *mr;

	mr = ibv_reg_mr_iova(t->b.pd, t->b.memory + 100, 100, 0x1064, WORLD_ACCESS);
	CT_ASSERT_NE(mr, NULL);
	to = (struct address){.rkey = mr->rkey, .memory = 0x1064};
	strcpy(t->a.memory, "iova");
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 5, &to, 10), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_STREQ(t->b.memory + 110, "iova");
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

CT_TEST_F(mr, reregistering_changes_what_it_says)
{
	struct ibv_mr *mr = ibv_reg_mr(t->b.pd, t->b.memory, 100, IBV_ACCESS_REMOTE_READ);

	CT_ASSERT_NE(mr, NULL);
	CT_EXPECT_EQ(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	CT_EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				  WORLD_ACCESS),
		     0);
	t->to.rkey = mr->rkey;
	CT_EXPECT_EQ(pair_write(t), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

CT_FIXTURE(span, struct pair, pair_open, pair_close);

CT_TEST_F(span, skipping_and_cutting_across_pieces)
{
	char bytes[] = "abcdefghij", out[11] = "";
	struct svb_span span = {.seg = NULL,
				.count = 3,
				.length = 9,
				.iov = {{bytes, 2}, {bytes + 3, 3}, {bytes + 6, 4}}};

	span.seg = svb_self.seg;
	svb_span_skip(&span, 3);
	svb_span_cut(&span, 4);
	CT_EXPECT_EQ(span.length, 4);
	CT_EXPECT_EQ(svb_move_out(out, &span, 4), 0);
	CT_EXPECT_STREQ(out, "efgh");
	svb_span_cut(&span, 0);
	CT_EXPECT_EQ(span.count, 0);
}
