/* SPDX-License-Identifier: BSD-2-Clause */
/* What cannot be registered. */
#include <sys/mman.h>
#include <unistd.h>

#include "mr.h"

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA};

int fct_mr_bad_access(struct fct *t)
{
	struct fid_mr *mr = NULL;
	struct fct_link l;
	uint8_t buf[64];
	int ret;

	FCT_DO(fct_link_open(&l, t, &setup));
	ret = fi_mr_reg(l.domain, buf, sizeof(buf), FI_SEND | 1ull << 63, 0, 1, 0, &mr,
			NULL);
	if (!ret)
		fi_close(&mr->fid);
	FCT_REFUSED(t, ret);
out:
	return fct_link_down(&l, ret);
}

int fct_mr_iov_limit(struct fct *t)
{
	struct fid_mr *mr = NULL;
	struct iovec iov[65];
	struct fct_link l;
	uint8_t buf[65 * 64];
	size_t n, i;
	int ret;

	FCT_DO(fct_link_open(&l, t, &setup));
	n = l.info->domain_attr->mr_iov_limit;
	FCT_TRUE(t, n >= 1);
	if (n > 64) {
		ret = fct_skip(t, "mr_iov_limit is %zu", n);
		goto out;
	}
	for (i = 0; i <= n; i++)
		iov[i] = (struct iovec){.iov_base = buf + 64 * i, .iov_len = 32};
	FCT_CALL(t, fi_mr_regv(l.domain, iov, n, FI_SEND | FI_REMOTE_READ, 0, 1, 0, &mr,
			       NULL));
	FCT_CALL(t, fi_close(&mr->fid));
	ret = fi_mr_regv(l.domain, iov, n + 1, FI_SEND | FI_REMOTE_READ, 0, 2, 0, &mr,
			 NULL);
	if (!ret)
		fi_close(&mr->fid);
	FCT_REFUSED(t, ret);
out:
	return fct_link_down(&l, ret);
}

int fct_mr_unmapped(struct fct *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fid_mr *mr = NULL;
	struct fct_link l;
	void *hole;
	int ret;

	FCT_DO(fct_link_open(&l, t, &setup));
	if (!(l.info->domain_attr->mr_mode & FI_MR_ALLOCATED)) {
		ret = fct_skip(t,
			       "without FI_MR_ALLOCATED any address may be registered");
		goto out;
	}
	hole = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FCT_TRUE(t, hole != MAP_FAILED);
	munmap(hole, 4 * page);
	ret = fi_mr_reg(l.domain, hole, 4 * page, FI_SEND | FI_RECV, 0, 1, 0, &mr, NULL);
	if (!ret)
		fi_close(&mr->fid);
	else
		fct_note(t, "%d (%s)", ret, fi_strerror(-ret));
	FCT_REFUSED(t, ret);
out:
	return fct_link_down(&l, ret);
}

int fct_mr_close_busy(struct fct *t)
{
	struct fid_domain *domain = NULL;
	struct fid_mr *mr = NULL;
	struct fct_link l;
	uint8_t buf[64];
	int ret;

	FCT_DO(fct_link_open(&l, t, &setup));
	FCT_CALL(t, fi_domain(l.fabric, l.info, &domain, NULL));
	FCT_CALL(t, fi_mr_reg(domain, buf, sizeof(buf), FI_SEND | FI_REMOTE_READ, 0, 1, 0,
			      &mr, NULL));
	FCT_ERR(t, fi_close(&domain->fid), -FI_EBUSY);
out:
	if (mr)
		fi_close(&mr->fid);
	if (domain)
		fi_close(&domain->fid);
	return fct_link_down(&l, ret);
}
