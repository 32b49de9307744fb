/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_endpoint(3): options, cancelling, room. */
#include <string.h>
#include <cairn/nosys.h>
#include <cairn/opt.h>
#include "ep.h"

static int cm_data_get(void *object, void *value)
{
	const size_t size = RTE_PARAM_MAX;

	memcpy(value, &size, sizeof(size));
	return 0;
}

static const struct crn_opt options[] = {
	{FI_OPT_CM_DATA_SIZE, sizeof(size_t), cm_data_get, NULL},
};

static int opt_get(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return crn_opt_get(options, CRN_COUNT(options), fid, level, optname, optval,
			   optlen);
}

static int opt_set(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	return crn_opt_set(options, CRN_COUNT(options), fid, level, optname, optval,
			   optlen);
}

static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct rte_ep *ep = crn_container_of(fid, struct rte_ep, fid.fid);
	int ret = -FI_ENOENT;

	crn_lock(rte_lock_of(ep));
	if (ep->state != RTE_EP_OPEN)
		ret = rte_vc_cancel(&ep->vc, context);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static ssize_t ep_tx_left(struct fid_ep *fid)
{
	struct rte_ep *ep = rte_ep_of(fid);
	ssize_t left = -FI_EOPBADSTATE;

	crn_lock(rte_lock_of(ep));
	if (ep->state != RTE_EP_OPEN)
		left = rte_vc_tx_left(&ep->vc);
	crn_unlock(rte_lock_of(ep));
	return left;
}

struct fi_ops_ep rte_ep_opts = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = ep_cancel,
	.getopt = opt_get,
	.setopt = opt_set,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = ep_tx_left,
};

struct fi_ops_ep rte_pep_opts = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = opt_get,
	.setopt = opt_set,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};
