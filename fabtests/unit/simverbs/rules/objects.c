/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/mr.c, verbs/qp.c, verbs/qp_modify.c: what is not made, and what is not taken
 * away. */
#include <sys/mman.h>
#include "rules.h"

/* Registration. */
static void registers(void *addr, size_t len, uint64_t iova, int access, int err)
{
	struct ibv_mr *mr;
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	mr = ibv_reg_mr_iova(end.pd, addr, len, iova, access);
	CT_EXPECT_EQ(mr ? 0 : errno, err);
	if (mr)
		CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	world_close(&end);
}

static void registers_at(void *addr, size_t len, int access, int err)
{
	registers(addr, len, (uintptr_t)addr, access, err);
}

static void region_of_no_page(void)
{
	registers_at(rule_page, 0, 0, EINVAL);
	/* The kernel pins the page that no bytes in its middle touch. */
	registers_at(rule_page + 100, 0, 0, 0);
}

static void region_not_mapped(void)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	munmap(at + 4096, 4096);
	registers_at(at, 4096, IBV_ACCESS_LOCAL_WRITE, 0);
	registers_at(at, 4097, 0, EFAULT);
	registers_at(at + 4096, 4096, 0, EFAULT);
	mprotect(at, 4096, PROT_NONE);
	registers_at(at, 8, 0, EFAULT);
	munmap(at, 4096);
}

static void region_not_writable(void)
{
	static const int writes[] = {IBV_ACCESS_LOCAL_WRITE,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
				     IBV_ACCESS_MW_BIND};
	char *at = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(at, 4096, PROT_READ | PROT_WRITE);
	registers_at(at, 8192, IBV_ACCESS_REMOTE_READ, 0);
	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		registers_at(at, 4096, writes[i], 0);
		registers_at(at, 4097, writes[i], EFAULT);
	}
	munmap(at, 8192);
}

static void region_becomes_writable(void)
{
	char *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	mr = ibv_reg_mr(end.pd, at, 4096, 0);
	CT_ASSERT_NE(mr, NULL);
	CT_EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				  IBV_ACCESS_LOCAL_WRITE),
		     IBV_REREG_MR_ERR_INPUT);
	CT_EXPECT_EQ(errno, EFAULT);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	munmap(at, 4096);
	world_close(&end);
}

static void region_iova(void)
{
	registers(rule_page + 100, 8, 0x10064, 0, 0);
	registers(rule_page + 100, 8, 0x10000, 0, EINVAL);
}

static void region_remote_only(void)
{
	registers_at(rule_page, 8, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	registers_at(rule_page, 8, IBV_ACCESS_REMOTE_ATOMIC, EINVAL);
}

static void region_unknown_right(void)
{
	registers_at(rule_page, 8, 1 << 15, EINVAL);
	registers_at(rule_page, 8, IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
}

static void objects_in_use(void)
{
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, true));
	CT_EXPECT_EQ(ibv_dealloc_pd(end.pd), EBUSY);
	CT_EXPECT_EQ(ibv_destroy_srq(end.srq), EBUSY);
	CT_EXPECT_EQ(ibv_destroy_cq(end.cq), EBUSY);
	CT_EXPECT_EQ(ibv_destroy_comp_channel(end.channel), EBUSY);
	world_close(&end);
}

/* Queue pairs. */
static void qp_too_large(void)
{
	struct ibv_qp_init_attr init = {.cap = {1 << 20, 1, 1, 1, 0},
					.qp_type = IBV_QPT_RC};
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	init.send_cq = init.recv_cq = end.cq;
	EXPECT_ERRNO(ibv_create_qp(end.pd, &init), NULL, EINVAL);
	world_close(&end);
}

static void qp_modified(struct ibv_qp_attr attr, int mask)
{
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	CT_EXPECT_EQ(ibv_modify_qp(end.qp, &attr, mask), EINVAL);
	CT_EXPECT_EQ(world_state(&end), IBV_QPS_INIT);
	world_close(&end);
}

static void qp_leaps(void)
{
	qp_modified((struct ibv_qp_attr){.qp_state = IBV_QPS_RTS}, IBV_QP_STATE);
}

static void qp_attribute_missing(void)
{
	qp_modified((struct ibv_qp_attr){.qp_state = IBV_QPS_RTR}, IBV_QP_STATE);
}

static void qp_attribute_out_of_range(void)
{
	qp_modified((struct ibv_qp_attr){.port_num = 9}, IBV_QP_PORT);
}

const struct rule rules_of_objects[] = {
	{"A region touches a page", TEST(region_of_no_page)},
	{"A region is mapped", TEST(region_not_mapped)},
	{"Memory to be written is writable", TEST(region_not_writable)},
	{"The same when a region's rights change", TEST(region_becomes_writable)},
	{"An iova lies in its page where the memory does", TEST(region_iova)},
	{"Remote writes need local ones", TEST(region_remote_only)},
	{"Rights are known ones", TEST(region_unknown_right)},
	{"What is in use stays", TEST(objects_in_use)},
	{"A queue pair is no larger than the device can", TEST(qp_too_large)},
	{"States follow one another", TEST(qp_leaps)},
	{"A state has its attributes", TEST(qp_attribute_missing)},
	{"Attributes are within their limits", TEST(qp_attribute_out_of_range)},
	{.name = NULL},
};
