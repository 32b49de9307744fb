/* SPDX-License-Identifier: BSD-2-Clause */
/* Between atomic.c (the calls) and atomic_query.c (which of them mean something). */
#ifndef PVB_XFER_ATOMIC_H
#define PVB_XFER_ATOMIC_H

#include "objects/objects.h"

#define PVB_ATOMIC_SIZE sizeof(uint64_t)
#define PVB_ATOMIC_OPS (FI_MSWAP + 1)

enum pvb_atomic_kind {
	PVB_ATOMIC_BASE,
	PVB_ATOMIC_FETCH,
	PVB_ATOMIC_COMPARE,
	PVB_ATOMIC_KINDS
};

/* A bit for each datatype. */
#define PVB_TYPE(type) (1u << (type))
extern const uint32_t pvb_atomic_types[PVB_ATOMIC_KINDS][PVB_ATOMIC_OPS];

static inline bool pvb_atomic_known(enum pvb_atomic_kind kind, enum fi_datatype datatype,
				    enum fi_op op)
{
	return (unsigned int)op < PVB_ATOMIC_OPS && (unsigned int)datatype < 32 &&
	       (pvb_atomic_types[kind][op] & PVB_TYPE(datatype));
}

/* fi_atomicvalid, fi_fetch_atomicvalid, fi_compare_atomicvalid */
int pvb_atomic_writevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			  size_t *count);
int pvb_atomic_fetchvalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			  size_t *count);
int pvb_atomic_comparevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			    size_t *count);

#endif
