/* SPDX-License-Identifier: BSD-2-Clause */
/* What cannot be registered. */
#include <sys/mman.h>
#include <unistd.h>

#include "fct_fabric.h"

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA};

FCT_CASE(bad_access, "unknown rights are refused")
{
	struct fid_mr *mr = NULL;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	uint8_t buf[64];
	int ret;

	FCT_DO(fct_link_open(&l, &setup));
	ret = fi_mr_reg(l.domain, buf, sizeof(buf), FI_SEND | 1ull << 63, 0, 1, 0, &mr,
			NULL);
	if (!ret)
		fi_close(&mr->fid);
	FCT_REFUSED(ret);
	return 0;
}

FCT_CASE(iov_limit, "more pieces than mr_iov_limit are refused")
{
	struct fid_mr *mr = NULL;
	struct iovec iov[65];
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	uint8_t buf[65 * 64];
	size_t n, i;
	int ret;

	FCT_DO(fct_link_open(&l, &setup));
	n = l.info->domain_attr->mr_iov_limit;
	FCT_TRUE(n >= 1);
	if (n > 64)
		return fct_skip("mr_iov_limit is %zu", n);
	for (i = 0; i <= n; i++)
		iov[i] = (struct iovec){.iov_base = buf + 64 * i, .iov_len = 32};
	FCT_CALL(fi_mr_regv(l.domain, iov, n, FI_SEND | FI_REMOTE_READ, 0, 1, 0, &mr,
			    NULL));
	FCT_CALL(fi_close(&mr->fid));
	ret = fi_mr_regv(l.domain, iov, n + 1, FI_SEND | FI_REMOTE_READ, 0, 2, 0, &mr,
			 NULL);
	if (!ret)
		fi_close(&mr->fid);
	FCT_REFUSED(ret);
	return 0;
}

FCT_CASE(unmapped, "memory that is not there is refused with FI_MR_ALLOCATED")
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fid_mr *mr = NULL;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	void *hole;
	int ret;

	FCT_DO(fct_link_open(&l, &setup));
	if (!(l.info->domain_attr->mr_mode & FI_MR_ALLOCATED))
		return fct_skip("without FI_MR_ALLOCATED any address may be registered");
	hole = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FCT_TRUE(hole != MAP_FAILED);
	munmap(hole, 4 * page);
	ret = fi_mr_reg(l.domain, hole, 4 * page, FI_SEND | FI_RECV, 0, 1, 0, &mr, NULL);
	if (!ret)
		fi_close(&mr->fid);
	else
		fct_note("%d (%s)", ret, fi_strerror(-ret));
	FCT_REFUSED(ret);
	return 0;
}

FCT_CASE(close_busy, "a domain with regions cannot be closed")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_domain *domain = NULL;
	FCT_AUTO(fct_fid_end) struct fid_mr *mr = NULL;
	uint8_t buf[64];

	FCT_DO(fct_link_open(&l, &setup));
	FCT_CALL(fi_domain(l.fabric, l.info, &domain, NULL));
	FCT_CALL(fi_mr_reg(domain, buf, sizeof(buf), FI_SEND | FI_REMOTE_READ, 0, 1, 0,
			   &mr, NULL));
	FCT_ERR(fi_close(&domain->fid), -FI_EBUSY);
	return 0;
}
