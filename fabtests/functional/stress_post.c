/* SPDX-License-Identifier: BSD-2-Clause */
/* All the calls by which one operation can be posted. */
#include "stress.h"

struct form {
	struct st_lane *lane;
	const struct st_op *op;
	struct iovec iov[2];
	void *desc[2];
	size_t pieces;
	uint64_t flags;
	bool inject; /* the call form: nothing completes */
	bool msg;    /* the call form that has flags */
};

static const struct fi_info *info_of(const struct st_lane *lane)
{
	return lane->hub->l.info;
}

static bool is_atomic(const struct st_op *op)
{
	return op->kind >= ST_ADD;
}

/* In one piece or two. */
static void cut(struct form *f, struct st_rng *rng)
{
	const struct st_op *op = f->op;
	const size_t first = op->len / 2;

	f->desc[0] = f->desc[1] = op->desc;
	f->iov[0] = (struct iovec){op->buf, op->len};
	f->pieces = 1;
	if (info_of(f->lane)->tx_attr->iov_limit < 2 || op->len < 2 || st_below(rng, 4))
		return;
	f->iov[0].iov_len = first;
	f->iov[1] = (struct iovec){op->buf + first, op->len - first};
	f->pieces = 2;
}

static uint64_t pick_flags(struct form *f, struct st_rng *rng)
{
	const bool reads = f->op->kind == ST_FIXEDS || f->op->kind > ST_ADD;
	struct st *s = f->lane->hub->s;
	uint64_t flags = f->op->quiet ? 0 : FI_COMPLETION;

	if (f->op->with_data)
		flags |= FI_REMOTE_CQ_DATA;
	if (f->op->more)
		flags |= FI_MORE;
	if (!reads && !is_atomic(f->op) && !st_below(rng, 4) &&
	    f->op->len <= info_of(f->lane)->tx_attr->inject_size)
		flags |= FI_INJECT;
	if ((s->caps & FI_FENCE) && !st_below(rng, 16))
		flags |= FI_FENCE;
	if (!reads && !is_atomic(f->op) && !s->no_delivery && !st_below(rng, 8))
		flags |= FI_DELIVERY_COMPLETE;
	if (s->mode.durable && f->op->kind != ST_FIXEDS && st_below(rng, 2))
		flags |= FI_COMMIT_COMPLETE;
	return flags;
}

static void pick(struct form *f, struct st_rng *rng)
{
	const struct st_op *op = f->op;
	const bool plain = op->quiet == f->lane->selective;

	cut(f, rng);
	/* Only calls that reuse the buffer at once, and calls with flags, can go without
	 * a completion where operations have one. */
	f->inject = op->quiet && op->kind != ST_FIXEDS && op->kind <= ST_ADD &&
		    op->len <= info_of(f->lane)->tx_attr->inject_size && st_below(rng, 2);
	f->msg = !f->inject && (!plain || op->more || st_below(rng, 2));
	if (f->msg)
		f->flags = pick_flags(f, rng);
}

static ssize_t post_send(const struct form *f)
{
	const struct st_op *op = f->op;
	struct fid_ep *ep = f->lane->ep;
	struct fi_msg msg = {.msg_iov = f->iov,
			     .desc = (void **)f->desc,
			     .iov_count = f->pieces,
			     .context = &op->ctx->fi,
			     .data = op->data};

	if (f->inject && op->with_data)
		return fi_injectdata(ep, op->buf, op->len, op->data, 0);
	if (f->inject)
		return fi_inject(ep, op->buf, op->len, 0);
	if (f->msg)
		return fi_sendmsg(ep, &msg, f->flags);
	if (op->with_data)
		return fi_senddata(ep, op->buf, op->len, op->desc, op->data, 0,
				   &op->ctx->fi);
	if (f->pieces > 1)
		return fi_sendv(ep, f->iov, (void **)f->desc, f->pieces, 0, &op->ctx->fi);
	return fi_send(ep, op->buf, op->len, op->desc, 0, &op->ctx->fi);
}

static struct fi_msg_rma rma_msg(const struct form *f, const struct fi_rma_iov *at)
{
	return (struct fi_msg_rma){.msg_iov = f->iov,
				   .desc = (void **)f->desc,
				   .iov_count = f->pieces,
				   .rma_iov = at,
				   .rma_iov_count = 1,
				   .context = &f->op->ctx->fi,
				   .data = f->op->data};
}

static ssize_t post_write(const struct form *f)
{
	const uint64_t key = f->lane->peer.key;
	const struct st_op *op = f->op;
	const struct fi_rma_iov at = {op->addr, op->len, key};
	struct fi_msg_rma msg = rma_msg(f, &at);
	struct fid_ep *ep = f->lane->ep;

	if (f->inject && op->with_data)
		return fi_inject_writedata(ep, op->buf, op->len, op->data, 0, op->addr,
					   key);
	if (f->inject)
		return fi_inject_write(ep, op->buf, op->len, 0, op->addr, key);
	if (f->msg)
		return fi_writemsg(ep, &msg, f->flags);
	if (op->with_data)
		return fi_writedata(ep, op->buf, op->len, op->desc, op->data, 0, op->addr,
				    key, &op->ctx->fi);
	if (f->pieces > 1)
		return fi_writev(ep, f->iov, (void **)f->desc, f->pieces, 0, op->addr,
				 key, &op->ctx->fi);
	return fi_write(ep, op->buf, op->len, op->desc, 0, op->addr, key, &op->ctx->fi);
}

static ssize_t post_read(const struct form *f)
{
	const uint64_t key = f->lane->peer.key;
	const struct st_op *op = f->op;
	const struct fi_rma_iov at = {op->addr, op->len, key};
	struct fi_msg_rma msg = rma_msg(f, &at);
	struct fid_ep *ep = f->lane->ep;

	if (f->msg)
		return fi_readmsg(ep, &msg, f->flags & ~(uint64_t)FI_REMOTE_CQ_DATA);
	if (f->pieces > 1)
		return fi_readv(ep, f->iov, (void **)f->desc, f->pieces, 0, op->addr, key,
				&op->ctx->fi);
	return fi_read(ep, op->buf, op->len, op->desc, 0, op->addr, key, &op->ctx->fi);
}

/* The operand, and what it is compared with, are read by the call or lie in buf, behind
 * the eight bytes of the result. */
static ssize_t post_atomic(const struct form *f)
{
	uint64_t *words = (uint64_t *)f->op->buf, key = f->lane->peer.key;
	const struct st_op *op = f->op;
	struct fid_ep *ep = f->lane->ep;
	struct fi_ioc operand = {&words[1], 1}, result = {&words[0], 1},
		      compare = {&words[2], 1};
	struct fi_rma_ioc at = {op->addr, 1, key};
	void *desc = op->desc;
	struct fi_msg_atomic msg = {.msg_iov = &operand,
				    .desc = &desc,
				    .iov_count = 1,
				    .rma_iov = &at,
				    .rma_iov_count = 1,
				    .datatype = FI_UINT64,
				    .op = op->kind == ST_SWAP ? FI_CSWAP : FI_SUM,
				    .context = &op->ctx->fi};
	void *ctx = &op->ctx->fi;

	words[1] = op->operand;
	words[2] = op->compare;
	switch (op->kind) {
	case ST_ADD:
		if (f->inject)
			return fi_inject_atomic(ep, operand.addr, 1, 0, op->addr, key,
						FI_UINT64, FI_SUM);
		if (f->msg)
			return fi_atomicmsg(ep, &msg, f->flags);
		return fi_atomic(ep, operand.addr, 1, desc, 0, op->addr, key, FI_UINT64,
				 FI_SUM, ctx);
	case ST_FETCH:
		if (f->msg)
			return fi_fetch_atomicmsg(ep, &msg, &result, &desc, 1, f->flags);
		return fi_fetch_atomic(ep, operand.addr, 1, desc, result.addr, desc, 0,
				       op->addr, key, FI_UINT64, FI_SUM, ctx);
	default:
		if (f->msg)
			return fi_compare_atomicmsg(ep, &msg, &compare, &desc, 1, &result,
						    &desc, 1, f->flags);
		return fi_compare_atomic(ep, operand.addr, 1, desc, compare.addr, desc,
					 result.addr, desc, 0, op->addr, key, FI_UINT64,
					 FI_CSWAP, ctx);
	}
}

static ssize_t call(const struct form *f)
{
	switch (f->op->kind) {
	case ST_MESSAGES:
		return post_send(f);
	case ST_ECHO:
		return post_write(f);
	case ST_FIXEDS:
		return post_read(f);
	default:
		return post_atomic(f);
	}
}

/* A completion comes unless the call is one without, or it was not asked for. */
static void expect(const struct form *f)
{
	struct st_ctx *ctx = f->op->ctx;

	if (f->inject) {
		atomic_store(&ctx->state, ST_IDLE);
	} else if (f->op->quiet && f->lane->selective) {
		atomic_store(&ctx->state, ST_QUIET);
	} else {
		atomic_store(&ctx->state, ST_POSTED);
		atomic_fetch_add(&f->lane->outstanding, 1);
		atomic_fetch_add(&ctx->task->left, 1);
	}
}

static void expect_nothing(struct st_ctx *ctx)
{
	if (atomic_exchange(&ctx->state, ST_IDLE) != ST_POSTED)
		return;
	atomic_fetch_sub(&ctx->lane->outstanding, 1);
	atomic_fetch_sub(&ctx->task->left, 1);
}

ssize_t fct_st_post(struct st_lane *lane, struct st_rng *rng, const struct st_op *op)
{
	struct form f = {.lane = lane, .op = op};
	struct st *s = lane->hub->s;
	ssize_t ret;

	pick(&f, rng);
	expect(&f);
	atomic_fetch_add(&lane->hub->tx_count, 1);
	if (op->kind == ST_MESSAGES)
		atomic_fetch_add(&lane->posted, 1);
	ret = call(&f);
	if (!ret) {
		atomic_fetch_add(&s->operations, 1);
		if (f.flags & FI_COMMIT_COMPLETE)
			atomic_fetch_add(&s->durable, 1);
		return 0;
	}
	expect_nothing(op->ctx);
	atomic_fetch_sub(&lane->hub->tx_count, 1);
	if (op->kind == ST_MESSAGES)
		atomic_fetch_sub(&lane->posted, 1);
	if ((f.flags & FI_DELIVERY_COMPLETE) &&
	    (ret == -FI_EOPNOTSUPP || ret == -FI_EBADFLAGS || ret == -FI_EINVAL)) {
		s->no_delivery = true;
		ret = -FI_EAGAIN;
	}
	if (ret == -FI_EAGAIN)
		atomic_fetch_add(&s->stalls, 1);
	return ret;
}
