/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be registered, what keys come of it, and what cannot. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fct_fabric.h"

#define LEN 65536u
#define MOST 64u /* pieces */

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA};

#define ALL_RIGHTS \
	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

static int check_mr(struct fid_mr *mr, const void *context)
{
	FCT_TRUE(mr);
	FCT_TRUE(fi_mr_key(mr) != FI_KEY_NOTAVAIL);
	FCT_TRUE(mr->fid.context == context);
	FCT_EQ(mr->fid.fclass, FI_CLASS_MR);
	fi_mr_desc(mr);
	return 0;
}

/* Both sides open the link, so that its skips agree; each registers by itself. */
FCT_CASE(calls, "fi_mr_reg, fi_mr_regv and fi_mr_regattr")
{
	struct fi_mr_attr attr = {.iov_count = 1, .access = ALL_RIGHTS};
	FCT_AUTO(fct_free_end) uint8_t *buf = calloc(1, LEN);
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct iovec iov = {buf, LEN};
	struct fid_mr *mr[3] = {NULL};
	int i;

	FCT_TRUE(buf);
	FCT_DO(fct_link_open(&l, &setup));
	attr.mr_iov = &iov;
	attr.context = &mr[2];
	attr.requested_key = fct.next_key + 2;
	FCT_CALL(fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, fct.next_key, 0, &mr[0],
			   &mr[0]));
	FCT_CALL(fi_mr_regv(l.domain, &iov, 1, ALL_RIGHTS, 0, fct.next_key + 1, 0, &mr[1],
			    &mr[1]));
	FCT_CALL(fi_mr_regattr(l.domain, &attr, 0, &mr[2]));
	for (i = 0; i < 3; i++)
		FCT_DO(fct_keep(&l, &mr[i]->fid));
	for (i = 0; i < 3; i++)
		FCT_DO(check_mr(mr[i], &mr[i]));
	return 0;
}

FCT_CASE(key, "requested keys are used, or ignored with FI_MR_PROV_KEY")
{
	FCT_AUTO(fct_free_end) uint8_t *buf = calloc(1, LEN);
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_mr *a = NULL;
	FCT_AUTO(fct_fid_end) struct fid_mr *b = NULL;
	const uint64_t want = 0x77;
	int ret;

	FCT_TRUE(buf);
	FCT_DO(fct_link_open(&l, &setup));
	FCT_CALL(fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, want, 0, &a, NULL));
	ret = fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, want, 0, &b, NULL);
	if (l.info->domain_attr->mr_mode & FI_MR_PROV_KEY) {
		FCT_CALL(ret);
		FCT_TRUE(fi_mr_key(a) != fi_mr_key(b));
	} else {
		b = ret ? NULL : b;
		FCT_EQ(fi_mr_key(a), want);
		FCT_ERR(ret, -FI_ENOKEY);
	}
	return 0;
}

/* Closes what was registered although it was not to be. */
static int refused(int ret, struct fid_mr **mr)
{
	if (!ret)
		fi_close(&(*mr)->fid);
	FCT_REFUSED(ret);
	return 0;
}

FCT_CASE(bad_access, "unknown rights are refused")
{
	struct fid_mr *mr = NULL;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	uint8_t buf[64];

	FCT_DO(fct_link_open(&l, &setup));
	return refused(fi_mr_reg(l.domain, buf, sizeof(buf), FI_SEND | 1ull << 63, 0, 1,
				 0, &mr, NULL),
		       &mr);
}

FCT_CASE(iov_limit, "more pieces than mr_iov_limit are refused")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	const uint64_t access = FI_SEND | FI_REMOTE_READ;
	uint8_t buf[(MOST + 1) * 64];
	struct iovec iov[MOST + 1];
	struct fid_mr *mr = NULL;
	size_t n, i;

	FCT_DO(fct_link_open(&l, &setup));
	n = l.info->domain_attr->mr_iov_limit;
	FCT_TRUE(n >= 1);
	if (n > MOST)
		return fct_skip("mr_iov_limit is %zu", n);
	for (i = 0; i <= n; i++)
		iov[i] = (struct iovec){buf + 64 * i, 32};
	FCT_CALL(fi_mr_regv(l.domain, iov, n, access, 0, 1, 0, &mr, NULL));
	FCT_CALL(fi_close(&mr->fid));
	return refused(fi_mr_regv(l.domain, iov, n + 1, access, 0, 2, 0, &mr, NULL), &mr);
}

FCT_CASE(unmapped, "memory that is not there is refused with FI_MR_ALLOCATED")
{
	const size_t len = 4 * (size_t)sysconf(_SC_PAGESIZE);
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fid_mr *mr = NULL;
	void *hole;

	FCT_DO(fct_link_open(&l, &setup));
	if (!(l.info->domain_attr->mr_mode & FI_MR_ALLOCATED))
		return fct_skip("without FI_MR_ALLOCATED any address may be registered");
	hole = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FCT_TRUE(hole != MAP_FAILED);
	munmap(hole, len);
	return refused(fi_mr_reg(l.domain, hole, len, FI_SEND | FI_RECV, 0, 1, 0, &mr,
				 NULL),
		       &mr);
}

FCT_PROGRAM(.name = "fi_cairn_mr", .what = "Memory registration.")
