/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions. */
#include <errno.h>
#include <rdma/fi_domain.h>
#include <sys/resource.h>
#include "world.h"

static char buf[100];

/* Registers with that access and tells what verbs was asked for; -1: refused. */
static int verbs_access(struct fid_domain *domain, uint64_t access)
{
	struct fid_mr *mr;
	int got;

	if (fi_mr_reg(domain, buf, sizeof(buf), access, 0, 0, 0, &mr, NULL))
		return -1;
	got = (int)((struct fake_mr *)crn_container_of(mr, struct pvb_mr, fid)->mr)
		      ->access;
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	return got;
}

CT_FIXTURE(mr, struct world, world_start_domain, world_close);

CT_TEST_F(mr, access_in_verbs_terms)
{
	static const struct {
		uint64_t access;
		int ib, iwarp;
	} rows[] = {
		{0, 0, 0},
		{FI_SEND, 0, 0},
		{FI_WRITE, 0, 0},
		{FI_RECV, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_LOCAL_WRITE},
		{FI_READ, IBV_ACCESS_LOCAL_WRITE,
		 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE},
		{FI_REMOTE_READ, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_READ},
		{FI_REMOTE_WRITE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE},
		{FI_MSG, -1, -1},
		{FI_SEND | FI_ATOMIC, -1, -1},
	};

	for (int iwarp = 0; iwarp <= 1; iwarp++) {
		world_renew(t);
		if (iwarp)
			fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
		CT_ASSERT_TRUE(world_open_domain(t, NULL));
		for (size_t i = 0; i < CRN_COUNT(rows); i++) {
			CT_NOTE("access 0x%llx, iwarp %d",
				(unsigned long long)rows[i].access, iwarp);
			CT_EXPECT_EQ(verbs_access(t->domain, rows[i].access),
				     iwarp ? rows[i].iwarp : rows[i].ib);
		}
	}
}

CT_TEST_F(mr, a_region_has_the_keys_of_the_device)
{
	struct ibv_mr *ibv;
	struct fid_mr *mr;

	CT_ASSERT_EQ(fi_mr_reg(t->domain, buf, sizeof(buf), FI_SEND | FI_RECV, 0, 55, 0,
			       &mr, NUMBER(9)),
		     0);
	ibv = crn_container_of(mr, struct pvb_mr, fid)->mr;
	CT_EXPECT_EQ(ibv->addr, buf);
	CT_EXPECT_EQ(ibv->length, sizeof(buf));
	CT_EXPECT_EQ(mr->fid.fclass, FI_CLASS_MR);
	CT_EXPECT_EQ(mr->fid.context, NUMBER(9));
	CT_EXPECT_EQ(fi_mr_desc(mr), NUMBER(ibv->lkey));
	CT_EXPECT_EQ(fi_mr_key(mr), ibv->rkey);
	CT_EXPECT_EQ(fi_close(&t->domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
}

CT_TEST_F(mr, every_call_form_takes_one_range)
{
	struct iovec iov[2] = {{buf, 10}, {buf + 10, 20}};
	struct fi_mr_attr attr = {
		.mr_iov = iov, .iov_count = 1, .access = FI_SEND, .context = NUMBER(3)};
	struct fid_mr *mr;

	CT_EXPECT_EQ(fi_mr_regv(t->domain, iov, 1, FI_SEND, 0, 0, 0, &mr, NUMBER(3)), 0);
	CT_EXPECT_EQ(mr->fid.context, NUMBER(3));
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	CT_EXPECT_EQ(fi_mr_regattr(t->domain, &attr, 0, &mr), 0);
	CT_EXPECT_EQ(mr->fid.context, NUMBER(3));
	CT_EXPECT_EQ(crn_container_of(mr, struct pvb_mr, fid)->mr->length, 10);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);

	CT_EXPECT_EQ(fi_mr_regv(t->domain, iov, 2, FI_SEND, 0, 0, 0, &mr, NULL),
		     -FI_EINVAL);
	CT_EXPECT_EQ(fi_mr_regv(t->domain, iov, 0, FI_SEND, 0, 0, 0, &mr, NULL),
		     -FI_EINVAL);
	attr.iov_count = 2;
	CT_EXPECT_EQ(fi_mr_regattr(t->domain, &attr, 0, &mr), -FI_EINVAL);
	CT_EXPECT_EQ(fi_mr_regattr(t->domain, NULL, 0, &mr), -FI_EINVAL);
	CT_EXPECT_EQ(t->domain->mr->regattr(&t->eq->fid, &attr, 0, &mr), -FI_EINVAL);
	CT_EXPECT_EQ(t->domain->mr->regv(&t->eq->fid, iov, 1, FI_SEND, 0, 0, 0, &mr,
					 NULL),
		     -FI_EINVAL);
}

CT_TEST_F(mr, memory_of_an_accelerator_is_not_offered)
{
	static const struct {
		uint32_t version;
		enum fi_hmem_iface iface;
		uint64_t flags;
		int wanted;
	} rows[] = {
		{FI_VERSION(1, 17), FI_HMEM_CUDA, 0, -FI_EOPNOTSUPP},
		{FI_VERSION(1, 10), FI_HMEM_CUDA, 0, -FI_EOPNOTSUPP},
		{FI_VERSION(1, 10), FI_HMEM_SYSTEM, 0, 0},
		{FI_VERSION(1, 17), FI_HMEM_SYSTEM, 1ULL << 40, -FI_EOPNOTSUPP},
		/* Older programs do not have the field. */
		{FI_VERSION(1, 9), FI_HMEM_CUDA, 0, 0},
	};
	struct iovec iov = {buf, 10};
	struct fi_mr_attr attr = {.mr_iov = &iov, .iov_count = 1, .access = FI_SEND};
	struct world_opts opts = {0};
	struct fid_mr *mr;
	int ret;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_renew(t);
		opts.api_version = rows[i].version;
		CT_ASSERT_TRUE(world_open_domain(t, &opts));
		attr.iface = rows[i].iface;
		ret = fi_mr_regattr(t->domain, &attr, rows[i].flags, &mr);
		CT_EXPECT_EQ(ret, rows[i].wanted);
		if (!ret)
			CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	}
}

CT_TEST_F(mr, a_region_that_is_refused_is_the_devices_error)
{
	struct rlimit old, limit;
	struct fid_mr *mr;

	fake_fail(FAKE_REG_MR, 1, EFAULT);
	CT_EXPECT_EQ(fi_mr_reg(t->domain, buf, 10, FI_SEND, 0, 0, 0, &mr, NULL),
		     -FI_EFAULT);
	CT_EXPECT_STRSTR(ct_log_last(), fi_strerror(FI_EFAULT));

	getrlimit(RLIMIT_MEMLOCK, &old);
	limit = old;
	limit.rlim_cur = 65536;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CT_EXPECT_EQ(fi_mr_reg(t->domain, buf, 10, FI_SEND, 0, 0, 0, &mr, NULL),
		     -FI_ENOMEM);
	CT_EXPECT_WARNED("10 RLIMIT_MEMLOCK 65536");
	setrlimit(RLIMIT_MEMLOCK, &old);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_mr_reg(t->domain, buf, 10, FI_SEND, 0, 0, 0, &mr, NULL),
		     -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
}

CT_TEST_F(mr, a_region_the_device_still_uses_stays)
{
	struct fid_mr *mr;

	CT_ASSERT_EQ(fi_mr_reg(t->domain, buf, 10, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	fake_fail(FAKE_DEREG_MR, 1, EBUSY);
	CT_EXPECT_EQ(fi_close(&mr->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
}
