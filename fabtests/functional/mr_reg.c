/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be registered, and what keys come of it. */
#include <stdlib.h>

#include "fct_fabric.h"

#define LEN 65536u

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA};

#define ALL_RIGHTS \
	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* Both sides open the link, so that its skips agree; each registers by itself. */
static int open_with_buffer(struct fct_link *l, uint8_t **buf, size_t len)
{
	*buf = NULL;
	if (fct_link_open(l, &setup))
		return -1;
	*buf = calloc(1, len);
	return *buf ? 0 : fct_fail("out of memory");
}

static int check_mr(struct fid_mr *mr, const void *context)
{
	FCT_TRUE(mr);
	FCT_TRUE(fi_mr_key(mr) != FI_KEY_NOTAVAIL);
	FCT_TRUE(mr->fid.context == context);
	FCT_EQ(mr->fid.fclass, FI_CLASS_MR);
	fi_mr_desc(mr);
	return 0;
}

FCT_CASE(calls, "fi_mr_reg, fi_mr_regv and fi_mr_regattr")
{
	struct fi_mr_attr attr = {.iov_count = 1, .access = ALL_RIGHTS};
	FCT_AUTO(fct_free_end) uint8_t *buf = NULL;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fid_mr *mr[3] = {NULL};
	struct iovec iov;
	int i;

	FCT_DO(open_with_buffer(&l, &buf, LEN));
	iov = (struct iovec){.iov_base = buf, .iov_len = LEN};
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
	FCT_AUTO(fct_free_end) uint8_t *buf = NULL;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_mr *a = NULL;
	FCT_AUTO(fct_fid_end) struct fid_mr *b = NULL;
	const uint64_t want = 0x77;
	bool prov_key;
	int ret;

	FCT_DO(open_with_buffer(&l, &buf, LEN));
	prov_key = l.info->domain_attr->mr_mode & FI_MR_PROV_KEY;
	FCT_CALL(fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, want, 0, &a, NULL));
	ret = fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, want, 0, &b, NULL);
	if (prov_key) {
		FCT_CALL(ret);
		FCT_TRUE(fi_mr_key(a) != fi_mr_key(b));
	} else {
		FCT_EQ(fi_mr_key(a), want);
		FCT_ERR(ret, -FI_ENOKEY);
		b = NULL;
	}
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_mr", .what = "Memory registration.")
