/* SPDX-License-Identifier: BSD-2-Clause */
/* What the forms of a call have in common, which msg.c, rma.c, tagged.c and atomic.c make
 * of their arguments. */
#ifndef SCR_POST_H
#define SCR_POST_H

#include "world.h"

struct scr_post {
	enum scr_call call;
	const struct iovec *iov;
	void **desc;
	size_t count;
	uint64_t flags;
	void *context;
	uint64_t addr, key, data;
	uint64_t tag, ignore;
	struct scr_atomic atomic;
};

ssize_t scr_operate(struct fid_ep *fid, const struct scr_post *post);
ssize_t scr_ep_receive(struct fid_ep *fid, const struct scr_post *post);
ssize_t scr_srx_receive(struct fid_ep *fid, const struct scr_post *post);

/* op_flags of the endpoint, for forms without flags of their own. */
static inline uint64_t scr_op_flags(struct fid_ep *fid, enum crn_ep_side side)
{
	return crn_container_of(fid, struct scr_ep, fid)->ep.queues[side].op_flags;
}

#endif
