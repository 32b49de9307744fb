/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives, of a lane or shared. */
#include "stress.h"

uint8_t *fct_st_recv_buf(struct st_hub *hub, struct st_ctx *ctx)
{
	if (ctx->lane)
		return ctx->lane->recvs->buf[ctx->recv - 1];
	return hub->recv_mem.buf + (ctx->recv - 1) * ST_PART;
}

int fct_st_hub_recv(struct st_hub *hub, struct st_ctx *ctx)
{
	struct fid_ep *ep = ctx->lane ? ctx->lane->ep : hub->srx;
	void *desc = ctx->lane ? ctx->lane->recvs_desc : hub->recv_mem.desc;
	uint8_t *buf = fct_st_recv_buf(hub, ctx);
	ssize_t ret;

	memset(buf, 0xee, sizeof(struct st_head));
	atomic_store(&ctx->state, ST_POSTED);
	ret = fi_recv(ep, buf, ST_PART, desc, 0, &ctx->fi);
	if (ret)
		atomic_store(&ctx->state, ST_IDLE);
	return (int)ret;
}
