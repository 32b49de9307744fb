/* SPDX-License-Identifier: BSD-2-Clause */
/* All the calls by which one operation can be posted. */
#include "fct_op.h"
#include "stress.h"

struct form {
	struct st_lane *lane;
	const struct st_op *op;
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

	f->pieces = info_of(f->lane)->tx_attr->iov_limit < 2 || st_below(rng, 4) ? 1 : 2;
	/* Only calls that reuse the buffer at once, and calls with flags, can go without
	 * a completion where operations have one. */
	f->inject = op->quiet && op->kind != ST_FIXEDS && op->kind <= ST_ADD &&
		    op->len <= info_of(f->lane)->tx_attr->inject_size && st_below(rng, 2);
	f->msg = !f->inject && (!plain || op->more || st_below(rng, 2));
	if (f->msg)
		f->flags = pick_flags(f, rng);
}

static enum fct_form send_form(const struct form *f)
{
	if (f->inject)
		return f->op->with_data ? FCT_INJECTDATA : FCT_INJECT;
	if (f->msg)
		return FCT_SENDMSG;
	if (f->op->with_data)
		return FCT_SENDDATA;
	return f->pieces > 1 ? FCT_SENDV : FCT_SEND;
}

static enum fct_form write_form(const struct form *f)
{
	if (f->inject)
		return f->op->with_data ? FCT_INJECT_WRITEDATA : FCT_INJECT_WRITE;
	if (f->msg)
		return FCT_WRITEMSG;
	if (f->op->with_data)
		return FCT_WRITEDATA;
	return f->pieces > 1 ? FCT_WRITEV : FCT_WRITE;
}

static enum fct_form form_of(const struct form *f)
{
	switch (f->op->kind) {
	case ST_MESSAGES:
		return send_form(f);
	case ST_ECHO:
		return write_form(f);
	case ST_FIXEDS:
		return f->msg ? FCT_READMSG : f->pieces > 1 ? FCT_READV : FCT_READ;
	case ST_ADD:
		return f->inject ? FCT_INJECT_ATOMIC
		       : f->msg	 ? FCT_ATOMICMSG
				 : FCT_ATOMIC;
	case ST_FETCH:
		return f->msg ? FCT_FETCHMSG : FCT_FETCH;
	default:
		return f->msg ? FCT_COMPAREMSG : FCT_COMPARE;
	}
}

/* The operand of an atomic, and what it is compared with, are read by the call or lie in
 * buf, behind the eight bytes of the result. */
static ssize_t call(const struct form *f)
{
	uint64_t *words = (uint64_t *)f->op->buf;
	const struct st_op *op = f->op;
	struct fct_op o = {.form = form_of(f),
			   .buf = op->buf,
			   .len = op->len,
			   .desc = op->desc,
			   .pieces = f->pieces,
			   .addr = op->addr,
			   .key = f->lane->peer.key,
			   .data = op->data,
			   .flags = f->flags,
			   .ctx = &op->ctx->fi};

	if (is_atomic(op)) {
		words[1] = op->operand;
		words[2] = op->compare;
		o.buf = &words[1];
		o.len = 1;
		o.type = FI_UINT64;
		o.op = op->kind == ST_SWAP ? FI_CSWAP : FI_SUM;
		o.compare = &words[2];
		o.result = &words[0];
	}
	return fct_op_post(f->lane->ep, &o);
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
