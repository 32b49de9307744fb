/* SPDX-License-Identifier: BSD-2-Clause */
#include "flags.h"

/* Of libfabric 2.x: FI_MR_DMABUF, the buffer is a dma-buf descriptor; FI_MR_SINGLE_USE, a
 * hint, which needs nothing done. */
#define PVB_MR_DMABUF (1ULL << 40)
#define PVB_MR_SINGLE_USE (1ULL << 41)

/* Bits 58 to 61 of fi_getinfo are between libfabric's core and its utility providers. */
#define PVB_GETINFO_INTERNAL (0xfULL << 58)
/* ofi_rxm registers its buffers with bit 60, past a cache. The top bits are not public.
 */
#define PVB_MR_INTERNAL (0xfULL << 60)

/* clang-format off */
const struct pvb_flags pvb_flags[PVB_FLAGGED] = {
	[PVB_FLAGS_GETINFO] = {FI_NUMERICHOST | FI_SOURCE | FI_PROV_ATTR_ONLY,
			       PVB_GETINFO_INTERNAL, 0, -FI_EBADFLAGS},
	[PVB_FLAGS_DOMAIN] = {0, 0, UINT64_MAX, -FI_EOPNOTSUPP},
	[PVB_FLAGS_ENDPOINT] = {0, 0, UINT64_MAX, -FI_EOPNOTSUPP},
	[PVB_FLAGS_MR] = {FI_RMA_PMEM | PVB_MR_SINGLE_USE, PVB_MR_INTERNAL, PVB_MR_DMABUF, -FI_EBADFLAGS},
	[PVB_FLAGS_CQ] = {FI_AFFINITY, 0, 0, -FI_EINVAL},
	[PVB_FLAGS_BIND_CQ] = {FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION, 0, 0,
			       -FI_EBADFLAGS},
	/*
	 * fi_endpoint(3): FI_REMOTE_READ and FI_REMOTE_WRITE need FI_RMA_EVENT, which
	 * verbs cannot offer: a device says nothing to the target of a read, and of a write
	 * only when it has data.
	 */
	[PVB_FLAGS_BIND_CNTR] = {FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0,
				 FI_REMOTE_READ | FI_REMOTE_WRITE, -FI_EBADFLAGS},
	[PVB_FLAGS_BIND_OTHER] = {0, 0, 0, -FI_EINVAL},
	[PVB_FLAGS_BIND_PEP] = {0, 0, 0, -FI_EINVAL},
	[PVB_FLAGS_BIND_SRX] = {FI_RECV | FI_SELECTIVE_COMPLETION, 0, 0, -FI_EINVAL},
	[PVB_FLAGS_SHUTDOWN] = {0, 0, 0, -FI_EINVAL},
	[PVB_FLAGS_QUERY_ATOMIC] = {FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC, 0, FI_TAGGED,
				    -FI_EBADFLAGS},
};
/* clang-format on */
