/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening completion queues and asking about them. */
#include <poll.h>

#include "cq.h"

#define MANY 64

int fct_cq_sizes(struct fct *t)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA};
	struct fct_setup s = {.caps = FI_MSG};
	struct fid_cq *cq;
	struct fct_link l;
	size_t size;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	for (size = 0; size <= 65536; size = size ? size * 2 : 1) {
		attr.size = size;
		ret = fi_cq_open(l.domain, &attr, &cq, NULL);
		if (ret)
			FCT_FAIL(t, "size %zu: %s", size, fi_strerror(-ret));
		FCT_CALL(t, fi_close(&cq->fid));
	}
out:
	return fct_link_down(&l, ret);
}

static int one_wait_object(struct fct_link *l, enum fi_wait_obj wait)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .wait_obj = wait};
	enum fi_wait_obj told = FI_WAIT_MUTEX_COND;
	struct fid_cq *cq = NULL;
	struct pollfd pfd = {.fd = -1, .events = POLLIN};
	struct fct *t = l->t;
	int ret;

	FCT_CALL(t, fi_cq_open(l->domain, &attr, &cq, NULL));
	if (wait == FI_WAIT_NONE)
		goto out;
	ret = fi_control(&cq->fid, FI_GETWAITOBJ, &told);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP) {
		fct_note(t, "FI_GETWAITOBJ: %s", fi_strerror(-ret));
		told = wait;
		ret = 0;
	}
	FCT_CALL(t, ret);
	if (wait != FI_WAIT_UNSPEC)
		FCT_EQ(t, told, wait);
	if (told == FI_WAIT_FD) {
		FCT_CALL(t, fi_control(&cq->fid, FI_GETWAIT, &pfd.fd));
		FCT_TRUE(t, pfd.fd >= 0);
		FCT_TRUE(t, poll(&pfd, 1, 0) >= 0);
		FCT_TRUE(t, !(pfd.revents & POLLNVAL));
	}
out:
	if (cq && fi_close(&cq->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close");
	return ret;
}

int fct_cq_close_busy(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_up(&l, t, &s));
	FCT_ERR(t, fi_close(&l.txcq->fid), -FI_EBUSY);
out:
	return fct_link_down(&l, ret);
}
