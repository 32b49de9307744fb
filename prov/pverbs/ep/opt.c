/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getopt and fi_setopt of endpoints: fi_endpoint(3). */
#include <string.h>
#include <rdma/fi_ext_cairn.h>
#include "cm/cm.h"
#include "persist/persist.h"
#include "xfer/xfer.h"
#include "internal.h"

/* Names that libfabric has since 2.0. */
enum {
	PVB_OPT_CUDA_API_PERMITTED = 10,
	PVB_OPT_SHARED_MEMORY_PERMITTED,
	PVB_OPT_MAX_MSG_SIZE,
	PVB_OPT_MAX_TAGGED_SIZE,
	PVB_OPT_MAX_RMA_SIZE,
	PVB_OPT_MAX_ATOMIC_SIZE,
	PVB_OPT_INJECT_MSG_SIZE,
	PVB_OPT_INJECT_TAGGED_SIZE,
	PVB_OPT_INJECT_RMA_SIZE,
	PVB_OPT_INJECT_ATOMIC_SIZE,
};

/* Copies a value of size bytes out, or says how many it has. */
static int pvb_opt_give(const void *value, size_t size, void *optval, size_t *optlen)
{
	const size_t room = *optlen;

	*optlen = size;
	if (room < size)
		return -FI_ETOOSMALL;
	memcpy(optval, value, size);
	return 0;
}

/* Options that are sizes: 0 and the value, or a negative code. */
static int pvb_opt_size(const struct pvb_ep *ep, int optname, size_t *value)
{
	const bool atomics = ep->fid.atomic == &pvb_atomic_ops;

	switch (optname) {
	case FI_OPT_TX_SIZE:
		*value = ep->attr.tx_size;
		return 0;
	case FI_OPT_RX_SIZE:
		*value = ep->attr.rx_size;
		return 0;
	case PVB_OPT_MAX_MSG_SIZE:
	case PVB_OPT_MAX_RMA_SIZE:
		*value = ep->max_msg;
		return 0;
	case PVB_OPT_INJECT_MSG_SIZE:
	case PVB_OPT_INJECT_RMA_SIZE:
		*value = ep->inject_size;
		return 0;
	case PVB_OPT_MAX_ATOMIC_SIZE:
	case PVB_OPT_INJECT_ATOMIC_SIZE:
		*value = sizeof(uint64_t);
		return atomics ? 0 : -FI_EOPNOTSUPP;
	case PVB_OPT_MAX_TAGGED_SIZE:
	case PVB_OPT_INJECT_TAGGED_SIZE:
	case FI_OPT_XPU_TRIGGER:
		return -FI_EOPNOTSUPP;
	default:
		return -FI_ENOPROTOOPT;
	}
}

int pvb_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	const int no_p2p = FI_HMEM_P2P_DISABLED;
	struct pvb_ep *ep = pvb_ep_from(fid);
	size_t value;
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	if (optname == FI_OPT_FI_HMEM_P2P)
		return pvb_opt_give(&no_p2p, sizeof(no_p2p), optval, optlen);
	ret = pvb_opt_size(ep, optname, &value);
	if (!ret)
		return pvb_opt_give(&value, sizeof(value), optval, optlen);
	if (ret != -FI_ENOPROTOOPT)
		return ret;
	/* Also the options of FI_MULTI_RECV and FI_BUFFERED_RECV, which are not
	 * offered. */
	return pvb_cm_getopt(ep->raw_cm, level, optname, optval, optlen);
}

/* FI_HMEM is not offered, so there are no peer-to-peer transfers. */
static int pvb_opt_set_p2p(const void *optval, size_t optlen)
{
	if (optlen != sizeof(int))
		return -FI_EINVAL;
	return *(const int *)optval == FI_HMEM_P2P_DISABLED ? 0 : -FI_EOPNOTSUPP;
}

static int pvb_opt_set_permitted(const void *optval, size_t optlen, int permitted)
{
	if (optlen != sizeof(bool))
		return -FI_EINVAL;
	return *(const bool *)optval ? permitted : 0;
}

int pvb_ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	struct pvb_ep *ep = pvb_ep_from(fid);
	size_t value;

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	switch (optname) {
	case FI_OPT_CAIRN_REPLAY:
		return pvb_replay_set(ep, optval, optlen);
	case FI_OPT_FI_HMEM_P2P:
		return pvb_opt_set_p2p(optval, optlen);
	case PVB_OPT_CUDA_API_PERMITTED: /* fi_endpoint(3): there is no CUDA device */
		return pvb_opt_set_permitted(optval, optlen, -FI_EINVAL);
	case PVB_OPT_SHARED_MEMORY_PERMITTED: /* none is used */
		return pvb_opt_set_permitted(optval, optlen, 0);
	default:
		break;
	}
	/* Sizes were settled by the endpoint's info. */
	if (pvb_opt_size(ep, optname, &value) != -FI_ENOPROTOOPT)
		return -FI_EOPNOTSUPP;
	if (ep->conn.id && !ep->conn.responder)
		return -FI_EOPBADSTATE;
	return pvb_cm_setopt(&ep->raw_cm, level, optname, optval, optlen);
}
