/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening completion queues and asking about them. */
#include <poll.h>

#include "cq.h"

#define MANY 64

FCT_CASE(sizes, "sizes 0 to 65536")
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA};
	struct fct_setup s = {.caps = FI_MSG};
	struct fid_cq *cq;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	size_t size;
	int ret;

	FCT_DO(fct_link_open(&l, &s));
	for (size = 0; size <= 65536; size = size ? size * 2 : 1) {
		attr.size = size;
		ret = fi_cq_open(l.domain, &attr, &cq, NULL);
		if (ret)
			FCT_FAIL("size %zu: %s", size, fi_strerror(-ret));
		FCT_CALL(fi_close(&cq->fid));
	}
	return 0;
}

FCT_CASE(close_busy, "a queue in use cannot be closed")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_up(&l, NULL));
	FCT_ERR(fi_close(&l.txcq->fid), -FI_EBUSY);
	return 0;
}
