/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_endpoint(3): options, cancelling, sizes, control. */
#include <rdma/fi_errno.h>
#include <cairn/nosys.h>
#include <cairn/pass.h>

static ssize_t pass_cancel(fid_t fid, void *context)
{
	return fi_cancel(crn_pass_fid(fid), context);
}

static int pass_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return fi_getopt(crn_pass_fid(fid), level, optname, optval, optlen);
}

static int pass_setopt(fid_t fid, int level, int optname, const void *optval,
		       size_t optlen)
{
	return fi_setopt(crn_pass_fid(fid), level, optname, optval, optlen);
}

static ssize_t pass_rx_size_left(struct fid_ep *ep)
{
	return crn_pass_lower(ep)->ops->rx_size_left(crn_pass_lower(ep));
}

static ssize_t pass_tx_size_left(struct fid_ep *ep)
{
	return crn_pass_lower(ep)->ops->tx_size_left(crn_pass_lower(ep));
}

struct fi_ops_ep crn_pass_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = pass_cancel,
	.getopt = pass_getopt,
	.setopt = pass_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = pass_rx_size_left,
	.tx_size_left = pass_tx_size_left,
};

int crn_pass_control(struct fid *fid, int command, void *arg)
{
	fid_t lower = crn_pass_fid(fid);

	if (command == FI_ALIAS)
		return -FI_ENOSYS;
	return lower->ops->control(lower, command, arg);
}

void crn_pass_ops(struct crn_pass_ep *ep)
{
	ep->fid.ops = &crn_pass_ep_ops;
	ep->fid.cm = ep->lower->cm ? &crn_pass_cm : &crn_nosys_cm;
	ep->fid.msg = ep->lower->msg ? &crn_pass_msg : &crn_nosys_msg;
	ep->fid.rma = ep->lower->rma ? &crn_pass_rma : &crn_nosys_rma;
	ep->fid.tagged = ep->lower->tagged ? &crn_pass_tagged : &crn_nosys_tagged;
	ep->fid.atomic = ep->lower->atomic ? &crn_pass_atomic : &crn_nosys_atomic;
	ep->fid.collective = &crn_nosys_collective;
}
