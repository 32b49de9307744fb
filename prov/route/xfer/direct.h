/* SPDX-License-Identifier: BSD-2-Clause */
/* When an operation may go straight, for its two ways there (direct.c, quick.c). */
#ifndef RTE_XFER_DIRECT_H
#define RTE_XFER_DIRECT_H

#include "ops.h"

/* NULL: it cannot be used now. */
CRN_INLINE const struct rte_key *rte_vc_key_known(struct rte_vc *vc, uint64_t number)
{
	return vc->keys.recalled ? NULL : rte_key_known(&vc->keys, number);
}

CRN_INLINE bool rte_vc_key_allows(const struct rte_key *key, uint8_t type, uint64_t addr,
				  uint64_t length)
{
	return rte_key_allows(key, type == RTE_WRITE ? RTE_ACCESS_WRITE : RTE_ACCESS_READ,
			      addr, length);
}

/* What the lower provider does as it is asked for here. copy: FI_INJECT; desc: of the
 * first part. */
CRN_INLINE bool rte_vc_lower_takes(const struct rte_port *port, uint8_t type,
				   uint64_t length, size_t count, bool copy,
				   const void *desc)
{
	if (!length || length > port->lower_rma || count > port->lower_iov)
		return false;
	if (copy)
		return length <= port->lower_inject;
	return !port->mr_local || (type == RTE_WRITE && count == 1 && desc);
}

/* Gives it to the lower provider: op but for its local buffer, which is msg's. False:
 * not now. */
bool rte_vc_straight(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
		     const struct rte_key *key, struct fi_msg_rma *msg);

#endif
