/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_query_atomic and its older relatives: the truth about what verbs can do. */
#include "atomic.h"
#include "flags.h"
#include "xfer.h"

#define PVB_INTEGERS (PVB_TYPE(FI_INT64) | PVB_TYPE(FI_UINT64))

/*
 * Which datatypes each operation can have. Reading adds zero, which leaves every bit as
 * it is. An unconditional store (FI_ATOMIC_WRITE) is missing because a remote write is
 * not atomic against these.
 */
const uint32_t pvb_atomic_types[PVB_ATOMIC_KINDS][PVB_ATOMIC_OPS] = {
	[PVB_ATOMIC_BASE] = {[FI_SUM] = PVB_INTEGERS},
	[PVB_ATOMIC_FETCH] = {[FI_SUM] = PVB_INTEGERS,
			      [FI_ATOMIC_READ] = PVB_INTEGERS | PVB_TYPE(FI_DOUBLE)},
	[PVB_ATOMIC_COMPARE] = {[FI_CSWAP] = PVB_INTEGERS},
};

static int pvb_atomic_valid(enum pvb_atomic_kind kind, enum fi_datatype datatype,
			    enum fi_op op, size_t *count)
{
	if (!pvb_atomic_known(kind, datatype, op))
		return -FI_EOPNOTSUPP;
	*count = 1;
	return 0;
}

int pvb_atomic_writevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			  size_t *count)
{
	return pvb_atomic_valid(PVB_ATOMIC_BASE, datatype, op, count);
}

int pvb_atomic_fetchvalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			  size_t *count)
{
	return pvb_atomic_valid(PVB_ATOMIC_FETCH, datatype, op, count);
}

int pvb_atomic_comparevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			    size_t *count)
{
	return pvb_atomic_valid(PVB_ATOMIC_COMPARE, datatype, op, count);
}

int pvb_query_atomic(struct fid_domain *fid, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags)
{
	struct pvb_domain *domain = crn_container_of(fid, struct pvb_domain, fid);
	enum pvb_atomic_kind kind = PVB_ATOMIC_BASE;
	int ret;

	ret = pvb_flags_check(PVB_FLAGS_QUERY_ATOMIC, flags);
	if (ret)
		return ret;
	if (!domain->atomics)
		return -FI_EOPNOTSUPP;
	if (flags & FI_FETCH_ATOMIC)
		kind = PVB_ATOMIC_FETCH;
	if (flags & FI_COMPARE_ATOMIC)
		kind = PVB_ATOMIC_COMPARE;
	if ((flags & FI_FETCH_ATOMIC) && (flags & FI_COMPARE_ATOMIC))
		return -FI_EINVAL;
	ret = pvb_atomic_valid(kind, datatype, op, &attr->count);
	if (!ret)
		attr->size = PVB_ATOMIC_SIZE;
	return ret;
}
