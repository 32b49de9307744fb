/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getopt and fi_setopt of endpoints: fi_endpoint(3). */
#include <string.h>
#include "pverbs.h"

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

int pvb_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	const int no_p2p = FI_HMEM_P2P_DISABLED;
	struct pvb_ep *ep = pvb_ep_from(fid);

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	switch (optname) {
	case FI_OPT_TX_SIZE:
		return pvb_opt_give(&ep->info->tx_attr->size, sizeof(size_t), optval,
				    optlen);
	case FI_OPT_RX_SIZE:
		return pvb_opt_give(&ep->info->rx_attr->size, sizeof(size_t), optval,
				    optlen);
	case FI_OPT_FI_HMEM_P2P:
		return pvb_opt_give(&no_p2p, sizeof(no_p2p), optval, optlen);
	case FI_OPT_XPU_TRIGGER:
		return -FI_EOPNOTSUPP;
	default:
		/* FI_MULTI_RECV and FI_BUFFERED_RECV, whose options are left, are not
		 * offered. */
		return pvb_cm_getopt(ep->raw_cm, level, optname, optval, optlen);
	}
}

/* Memory of other devices is not offered, so that nothing of it is peer to peer. */
static int pvb_opt_set_p2p(const void *optval, size_t optlen)
{
	if (optlen != sizeof(int))
		return -FI_EINVAL;
	return *(const int *)optval == FI_HMEM_P2P_DISABLED ? 0 : -FI_EOPNOTSUPP;
}

int pvb_ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	struct pvb_ep *ep = pvb_ep_from(fid);

	if (level == FI_OPT_ENDPOINT && optname == FI_OPT_FI_HMEM_P2P)
		return pvb_opt_set_p2p(optval, optlen);
	if (ep->conn.id && !ep->req)
		return -FI_EOPBADSTATE;
	return pvb_cm_setopt(&ep->raw_cm, level, optname, optval, optlen);
}
