/* SPDX-License-Identifier: BSD-2-Clause */
/* Registered memory. */
#include <stdlib.h>
#include "world.h"

static int mr_close(struct fid *fid)
{
	struct scr_mr *mr = crn_container_of(fid, struct scr_mr, fid.fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_CLOSE, .fid = fid});

	if (ret)
		return ret;
	crn_mr_remove(&mr->domain->mrs, &mr->mr);
	scr_object_del(&mr->object);
	atomic_fetch_sub(&mr->domain->refs, 1);
	free(mr);
	return 0;
}

static struct fi_ops mr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = mr_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		  uint64_t offset, uint64_t requested_key, uint64_t flags,
		  struct fid_mr **mr_fid, void *context)
{
	struct scr_domain *domain = crn_container_of(fid, struct scr_domain, fid.fid);
	struct scr_record record = {
		.call = SCR_MR_REG,
		.fid = fid,
		.flags = flags,
		.context = context,
		.len = len,
		.addr = (uintptr_t)buf,
		.key = requested_key,
		.data = access,
	};
	struct scr_mr *mr;
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	mr->domain = domain;
	mr->mr.buf = (void *)(uintptr_t)buf;
	mr->mr.len = len;
	mr->mr.access = access;
	ret = crn_mr_add(&domain->mrs, &mr->mr, requested_key);
	if (ret) {
		free(mr);
		return ret;
	}
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = context;
	mr->fid.fid.ops = &mr_fid_ops;
	mr->fid.mem_desc = mr;
	mr->fid.key = mr->mr.key;
	atomic_fetch_add(&domain->refs, 1);
	scr_object_add(&mr->object, &mr->fid.fid);
	*mr_fid = &mr->fid;
	return 0;
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		   uint64_t access, uint64_t offset, uint64_t requested_key,
		   uint64_t flags, struct fid_mr **mr, void *context)
{
	if (count != 1)
		return -FI_EINVAL;
	return mr_reg(fid, iov->iov_base, iov->iov_len, access, offset, requested_key,
		      flags, mr, context);
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		      struct fid_mr **mr)
{
	return mr_regv(fid, attr->mr_iov, attr->iov_count, attr->access, attr->offset,
		       attr->requested_key, flags, mr, attr->context);
}

struct fi_ops_mr scr_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};

static bool mr_covers(const struct scr_mr *mr, const struct scr_domain *domain,
		      const struct iovec *iov, uint64_t access)
{
	uintptr_t begin = (uintptr_t)mr->mr.buf, at = (uintptr_t)iov->iov_base;

	return mr->domain == domain && at >= begin && at - begin <= mr->mr.len &&
	       iov->iov_len <= mr->mr.len - (at - begin) &&
	       (mr->mr.access & access) == access;
}

int scr_mr_local(struct scr_domain *domain, const struct iovec *iov, void **desc,
		 size_t count, uint64_t access)
{
	size_t i;

	if (!(domain->mr_mode & FI_MR_LOCAL))
		return 0;
	for (i = 0; i < count; i++) {
		if (iov[i].iov_len &&
		    (!desc || !desc[i] || !mr_covers(desc[i], domain, &iov[i], access)))
			return -FI_EACCES;
	}
	return 0;
}
