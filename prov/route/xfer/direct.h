/* SPDX-License-Identifier: BSD-2-Clause */
/* When an operation may go straight, for its two ways there (direct.c, quick.c). */
#ifndef RTE_XFER_DIRECT_H
#define RTE_XFER_DIRECT_H

#include "ops.h"

CRN_INLINE struct rte_vc_key *rte_vc_key_place(struct rte_vc *vc, uint64_t key)
{
	return &vc->keys[(key * 0x9e3779b97f4a7c15u) >> 59];
}

_Static_assert(RTE_VC_KEYS == 1u << (64 - 59), "bits of rte_vc_key_place");

/* NULL: it cannot be used now. */
CRN_INLINE const struct rte_vc_key *rte_vc_key_known(struct rte_vc *vc, uint64_t number)
{
	const struct rte_vc_key *key = rte_vc_key_place(vc, number);

	return key->key == number && key->state == RTE_VC_KEY_KNOWN && !vc->recalled
		       ? key
		       : NULL;
}

/* What it does not allow goes as a message, which is refused. */
CRN_INLINE bool rte_vc_key_allows(const struct rte_vc_key *key, uint8_t type,
				  uint64_t addr, uint64_t length)
{
	const uint32_t access = type == RTE_WRITE ? RTE_ACCESS_WRITE : RTE_ACCESS_READ;

	return (key->access & access) && addr <= key->length &&
	       length <= key->length - addr;
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
		     const struct rte_vc_key *key, struct fi_msg_rma *msg);

#endif
