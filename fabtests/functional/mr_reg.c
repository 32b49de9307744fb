/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be registered, and what keys come of it. */
#include "mr.h"

#define LEN 65536u
#define MANY 1000

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA};
static const uint64_t rights[] = {FI_SEND,  FI_RECV,	    FI_READ,
				  FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};

#define ALL_RIGHTS \
	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* Both sides open the link, so that its skips agree; each registers by itself. */
static int open_with_buffer(struct fct_link *l, struct fct *t, uint8_t **buf, size_t len)
{
	*buf = NULL;
	if (fct_link_open(l, t, &setup))
		return -1;
	*buf = calloc(1, len);
	return *buf ? 0 : fct_fail_at(t, NULL, 0, "out of memory");
}

static int check_mr(struct fct *t, struct fid_mr *mr, const void *context)
{
	int ret = 0;

	FCT_TRUE(t, mr);
	FCT_TRUE(t, fi_mr_key(mr) != FI_KEY_NOTAVAIL);
	FCT_TRUE(t, mr->fid.context == context);
	FCT_EQ(t, mr->fid.fclass, FI_CLASS_MR);
	fi_mr_desc(mr);
out:
	return ret;
}

int fct_mr_calls(struct fct *t)
{
	struct fi_mr_attr attr = {.iov_count = 1, .access = ALL_RIGHTS};
	struct fid_mr *mr[3] = {NULL};
	struct fct_link l;
	struct iovec iov;
	uint8_t *buf;
	int i, ret;

	FCT_DO(open_with_buffer(&l, t, &buf, LEN));
	iov = (struct iovec){.iov_base = buf, .iov_len = LEN};
	attr.mr_iov = &iov;
	attr.context = &mr[2];
	attr.requested_key = t->next_key + 2;
	FCT_CALL(t, fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, t->next_key, 0, &mr[0],
			      &mr[0]));
	FCT_CALL(t, fi_mr_regv(l.domain, &iov, 1, ALL_RIGHTS, 0, t->next_key + 1, 0,
			       &mr[1], &mr[1]));
	FCT_CALL(t, fi_mr_regattr(l.domain, &attr, 0, &mr[2]));
	for (i = 0; i < 3; i++)
		FCT_DO(check_mr(t, mr[i], &mr[i]));
out:
	for (i = 0; i < 3; i++)
		if (mr[i] && fi_close(&mr[i]->fid))
			ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of region %d",
					  i);
	ret = fct_link_down(&l, ret);
	free(buf);
	return ret;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int fct_mr_key(struct fct *t)
{
	const uint64_t want = 0x77;
	struct fid_mr *a = NULL, *b = NULL;
	struct fct_link l;
	uint8_t *buf;
	bool prov_key;
	int ret;

	FCT_DO(open_with_buffer(&l, t, &buf, LEN));
	prov_key = l.info->domain_attr->mr_mode & FI_MR_PROV_KEY;
	FCT_CALL(t, fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, want, 0, &a, NULL));
	ret = fi_mr_reg(l.domain, buf, LEN, ALL_RIGHTS, 0, want, 0, &b, NULL);
	if (prov_key) {
		FCT_CALL(t, ret);
		FCT_TRUE(t, fi_mr_key(a) != fi_mr_key(b));
	} else {
		FCT_EQ(t, fi_mr_key(a), want);
		FCT_ERR(t, ret, -FI_ENOKEY);
		b = NULL;
	}
out:
	if (b)
		fi_close(&b->fid);
	if (a)
		fi_close(&a->fid);
	ret = fct_link_down(&l, ret);
	free(buf);
	return ret;
}
