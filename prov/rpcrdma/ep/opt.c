/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_endpoint(3): options, cancelling. */
#include <string.h>
#include <cairn/nosys.h>
#include <cairn/opt.h>
#include "call/call.h"
#include "ep.h"
#include "recv.h"

static int opt_size_get(size_t value, void *to)
{
	memcpy(to, &value, sizeof(value));
	return 0;
}

static int opt_int_get(int value, void *to)
{
	memcpy(to, &value, sizeof(value));
	return 0;
}

/* A size up to most, before the endpoint is enabled. */
static int opt_size_set(struct rpr_ep *ep, const void *value, size_t least, size_t most,
			size_t *to)
{
	size_t size;

	memcpy(&size, value, sizeof(size));
	if (size < least || size > most)
		return -FI_EINVAL;
	if (ep->state != RPR_EP_OPEN)
		return -FI_EOPBADSTATE;
	*to = size;
	return 0;
}

static int opt_int_set(const void *value, int most, int *to)
{
	int number;

	memcpy(&number, value, sizeof(number));
	if (number < 0 || number > most)
		return -FI_EINVAL;
	*to = number;
	return 0;
}

static int cm_data_get(void *object, void *value)
{
	struct rpr_ep *ep = object;
	size_t size = 0, len = sizeof(size);
	int ret = fi_getopt(&ep->lower->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size,
			    &len);

	if (ret)
		return ret;
	return opt_size_get(size > RPR_CM_OVERHEAD ? size - RPR_CM_OVERHEAD : 0, value);
}

static int calls_get(void *object, void *value)
{
	return opt_size_get(((struct rpr_ep *)object)->calls_max, value);
}

static int calls_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;
	size_t calls = 0;
	int ret = opt_size_set(ep, value, 1, rpr_params.credits, &calls);

	if (!ret)
		ep->calls_max = (uint32_t)calls;
	return ret;
}

static int grant_get(void *object, void *value)
{
	return opt_size_get(((struct rpr_ep *)object)->grant, value);
}

static int grant_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;
	size_t grant = 0;
	int ret = opt_size_set(ep, value, ep->mode == RPR_MODE_WRAP, rpr_params.credits,
			       &grant);

	if (!ret)
		ep->grant = (uint32_t)grant;
	return ret;
}

static int copy_get(void *object, void *value)
{
	return opt_size_get(((struct rpr_ep *)object)->copy, value);
}

static int copy_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;

	return opt_size_set(ep, value, 0, UINT32_MAX, &ep->copy);
}

static int reply_size_get(void *object, void *value)
{
	return opt_size_get(((struct rpr_ep *)object)->reply_size, value);
}

static int reply_size_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;

	return opt_size_set(ep, value, 0, UINT32_MAX, &ep->reply_size);
}

static int chunks_get(void *object, void *value)
{
	return opt_int_get(((struct rpr_ep *)object)->chunks, value);
}

static int chunks_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;

	if (ep->state != RPR_EP_OPEN)
		return -FI_EOPBADSTATE;
	/* Keys of the lower provider that are longer than a handle allow none. */
	if (!ep->domain->chunks)
		return -FI_EOPNOTSUPP;
	return opt_int_set(value, FI_CAIRN_RPC_CHUNKS_ANY, &ep->chunks);
}

static int ready_get(void *object, void *value)
{
	return opt_int_get(((struct rpr_ep *)object)->ready, value);
}

static int ready_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;
	int ready, ret = opt_int_set(value, 1, &ready);

	if (!ret)
		ep->ready = ready;
	return ret;
}

static int recv_get(void *object, void *value)
{
	return opt_int_get(((struct rpr_ep *)object)->takes, value);
}

static int recv_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;

	return ep->mode == RPR_MODE_RPC
		       ? opt_int_set(value, FI_CAIRN_RPC_RECV_REPLIES, &ep->takes)
		       : -FI_EOPNOTSUPP;
}

static int system_err_get(void *object, void *value)
{
	return opt_int_get(((struct rpr_ep *)object)->system_err, value);
}

static int system_err_set(void *object, const void *value)
{
	struct rpr_ep *ep = object;
	int on, ret = opt_int_set(value, 1, &on);

	if (!ret)
		ep->system_err = on;
	return ret;
}

static int limits_get(void *object, void *value)
{
	const struct rpr_ep *ep = object;
	const struct fi_cairn_rpc_limits limits = {
		.send_inline = ep->send_inline,
		.recv_inline = ep->recv_inline,
		.credits = ep->credit,
		.calls = ep->outstanding,
		.granted = ep->grant,
		.served = ep->serving,
	};

	memcpy(value, &limits, sizeof(limits));
	return 0;
}

static const struct crn_opt ep_options[] = {
	{FI_OPT_CM_DATA_SIZE, sizeof(size_t), cm_data_get, NULL},
	{FI_OPT_CAIRN_RPC_CALLS, sizeof(size_t), calls_get, calls_set},
	{FI_OPT_CAIRN_RPC_GRANT, sizeof(size_t), grant_get, grant_set},
	{FI_OPT_CAIRN_RPC_COPY, sizeof(size_t), copy_get, copy_set},
	{FI_OPT_CAIRN_RPC_REPLY_SIZE, sizeof(size_t), reply_size_get, reply_size_set},
	{FI_OPT_CAIRN_RPC_CHUNKS, sizeof(int), chunks_get, chunks_set},
	{FI_OPT_CAIRN_RPC_READY, sizeof(int), ready_get, ready_set},
	{FI_OPT_CAIRN_RPC_RECV, sizeof(int), recv_get, recv_set},
	{FI_OPT_CAIRN_RPC_SYSTEM_ERR, sizeof(int), system_err_get, system_err_set},
	{FI_OPT_CAIRN_RPC_LIMITS, sizeof(struct fi_cairn_rpc_limits), limits_get, NULL},
};

static int ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	struct rpr_ep *ep = crn_container_of(fid, struct rpr_ep, fid.fid);
	int ret;

	crn_lock(rpr_lock_of(ep));
	ret = crn_opt_get(ep_options, CRN_COUNT(ep_options), ep, level, optname, optval,
			  optlen);
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

static int ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	struct rpr_ep *ep = crn_container_of(fid, struct rpr_ep, fid.fid);
	int ret;

	crn_lock(rpr_lock_of(ep));
	ret = crn_opt_set(ep_options, CRN_COUNT(ep_options), ep, level, optname, optval,
			  optlen);
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

/* 0 also for what is under way, or unknown: it is reported as it ends. */
static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct rpr_ep *ep = crn_container_of(fid, struct rpr_ep, fid.fid);
	bool found;

	crn_lock(rpr_lock_of(ep));
	found = rpr_recv_cancel(ep, context);
	/* A message of wrap mode may have been delivered. */
	if (!found && ep->mode == RPR_MODE_RPC)
		found = ep->calls && rpr_call_cancel(ep, context);
	crn_unlock(rpr_lock_of(ep));
	return found ? 0 : -FI_ENOENT;
}

struct fi_ops_ep rpr_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = ep_cancel,
	.getopt = ep_getopt,
	.setopt = ep_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

static int pep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	struct rpr_pep *pep = crn_container_of(fid, struct rpr_pep, fid.fid);
	size_t size;
	int ret = fi_getopt(&pep->lower->fid, level, optname, optval, optlen);

	if (ret || level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return ret;
	memcpy(&size, optval, sizeof(size));
	return opt_size_get(size > RPR_CM_OVERHEAD ? size - RPR_CM_OVERHEAD : 0, optval);
}

static int pep_setopt(fid_t fid, int level, int optname, const void *optval,
		      size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

struct fi_ops_ep rpr_pep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = pep_getopt,
	.setopt = pep_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};
