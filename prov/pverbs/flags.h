/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flags that each call accepts, as a table. A call with any other flag fails
 * (fi_getinfo(3) and fi_mr(3): -FI_EBADFLAGS), because what the flag asks for would not
 * be done. Only flags that libfabric sets for its own use are ignored.
 */
#ifndef PVB_FLAGS_H
#define PVB_FLAGS_H

#include <cairn/compat.h>
#include "pverbs.h"

enum pvb_flagged {
	PVB_FLAGS_GETINFO,
	PVB_FLAGS_DOMAIN,   /* fi_domain2 */
	PVB_FLAGS_ENDPOINT, /* fi_endpoint2 */
	PVB_FLAGS_MR,	    /* fi_mr_reg, fi_mr_regv, fi_mr_regattr */
	PVB_FLAGS_CQ,	    /* fi_cq_attr */
	PVB_FLAGS_BIND_CQ,  /* fi_ep_bind */
	PVB_FLAGS_BIND_CNTR,
	PVB_FLAGS_BIND_OTHER, /* an event queue, a shared receive context */
	PVB_FLAGS_BIND_PEP,   /* fi_pep_bind */
	PVB_FLAGS_BIND_SRX,   /* a completion queue to a shared receive context */
	PVB_FLAGS_SHUTDOWN,
	PVB_FLAGS_QUERY_ATOMIC,
	PVB_FLAGGED
};

struct pvb_flags {
	uint64_t known;
	uint64_t internal; /* libfabric's own, which it may pass on: ignored */
	uint64_t other;	   /* known elsewhere, but not offered: -FI_EOPNOTSUPP */
	int refusal;	   /* of everything else */
};

extern const struct pvb_flags pvb_flags[PVB_FLAGGED];

/* 0, or what the call returns. */
static inline int pvb_flags_check(enum pvb_flagged call, uint64_t flags)
{
	const struct pvb_flags *row = &pvb_flags[call];

	flags &= ~(row->known | row->internal);
	if (crn_likely(!flags))
		return 0;
	return flags & ~row->other ? row->refusal : -FI_EOPNOTSUPP;
}

#endif
