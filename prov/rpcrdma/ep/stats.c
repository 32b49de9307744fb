/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of a connection, and its state as text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cairn/compat.h>
#include "ep.h"

static struct fi_cairn_ops_rpc_stats stats_ops;

static struct rpr_ep *stats_ep(struct fid_ep *fid);

static int stats_read(struct fid_ep *fid, struct fi_cairn_rpc_stats *stats, size_t len)
{
	struct rpr_ep *ep = stats_ep(fid);

	if (!ep)
		return -FI_EINVAL;
	crn_lock(rpr_lock_of(ep));
	memcpy(stats, &ep->stats, CRN_MIN(len, sizeof(ep->stats)));
	crn_unlock(rpr_lock_of(ep));
	return 0;
}

/* As snprintf, at the end of what is there; what does not fit is counted. */
struct text {
	char *at;
	size_t left, len;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text,
							   const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	text->len += (size_t)len;
	len = (int)CRN_MIN((size_t)len, text->left);
	if (text->at)
		text->at += len;
	text->left -= (size_t)len;
}

static const char *const state_names[] = {
	[RPR_EP_OPEN] = "open",
	[RPR_EP_ENABLED] = "enabled",
	[RPR_EP_CONNECTING] = "connecting",
	[RPR_EP_UP] = "connected",
	[RPR_EP_DOWN] = "disconnected",
};

static const char *const call_names[] = {
	[RPR_CALL_PREPARED] = "prepared",
	[RPR_CALL_WAITING] = "waits for a credit",
	[RPR_CALL_SENT] = "waits for its Reply",
	[RPR_CALL_ARRIVED] = "its Reply waits for a receive",
};

static const char *const serve_names[] = {
	[RPR_SERVE_ARRIVED] = "waits for a receive",
	[RPR_SERVE_HELD] = "is to be answered",
	[RPR_SERVE_REPLYING] = "its Reply is being sent",
};

/* A Call that has its receive and is not delivered is read from the peer's memory, or is
 * behind such a one. */
static const char *serve_text(const struct rpr_serve *serve)
{
	if (serve->state != RPR_SERVE_ARRIVED || !serve->arrival.recv)
		return serve_names[serve->state];
	return serve->arrival.whole ? "waits for one that is being read"
				    : "is being read";
}

static void text_calls(struct text *text, const struct rpr_ep *ep)
{
	const struct rpr_serve *serve;
	const struct rpr_call *call;

	for (call = ep->calls; call && call < ep->calls + ep->call_slots; call++) {
		if (call->state != RPR_CALL_FREE)
			text_add(text, "Call 0x%08" PRIx32 ": %s\n", call->xid,
				 call_names[call->state]);
	}
	for (serve = ep->serves; serve && serve < ep->serves + ep->serve_slots; serve++) {
		if (serve->state != RPR_SERVE_FREE)
			text_add(text, "peer's Call 0x%08" PRIx32 ": %s\n", serve->xid,
				 serve_text(serve));
	}
}

static ssize_t stats_dump(struct fid_ep *fid, char *buf, size_t size)
{
	struct rpr_ep *ep = stats_ep(fid);
	struct text text = {.at = size ? buf : NULL, .left = size};

	if (!ep)
		return -FI_EINVAL;
	crn_lock(rpr_lock_of(ep));
	text_add(&text, "%s, %s mode, inline %zu bytes out, %zu in\n",
		 state_names[ep->state], ep->mode == RPR_MODE_RPC ? "rpc" : "wrap",
		 ep->send_inline, ep->recv_inline);
	text_add(&text,
		 "Calls: %" PRIu32 " of %" PRIu32 " outstanding, %" PRIu32
		 " granted; the peer's: %" PRIu32 " of %" PRIu32 "\n",
		 ep->outstanding, ep->calls_max, ep->credit, ep->serving, ep->grant);
	text_calls(&text, ep);
	crn_unlock(rpr_lock_of(ep));
	return (ssize_t)text.len;
}

static struct fi_cairn_ops_rpc_stats stats_ops = {
	.size = sizeof(struct fi_cairn_ops_rpc_stats),
	.read = stats_read,
	.dump = stats_dump,
};

/* NULL: an endpoint of somebody else's. */
static struct rpr_ep *stats_ep(struct fid_ep *fid)
{
	return fid->fid.fclass == FI_CLASS_EP && fid->ops == &rpr_ep_ops ? rpr_ep_of(fid)
									 : NULL;
}

int rpr_ep_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		    void *context)
{
	if (flags)
		return -FI_EBADFLAGS;
	if (strcmp(name, FI_CAIRN_RPC_STATS) != 0)
		return -FI_ENOSYS;
	*ops = &stats_ops;
	return 0;
}
