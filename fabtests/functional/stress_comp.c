/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions: each context exactly once, and what a message says is true. */
#include <stdlib.h>

#include "stress.h"

#define BATCH 4

/* The peer's write into this slot is there, as it was announced. */
static int slot_is_right(struct st_lane *lane, uint32_t task, uint64_t seq, uint64_t mask)
{
	const uint8_t *slot = lane->exposed->slot[task];
	struct st_written head;
	uint64_t seed;
	size_t at, len;

	memcpy(&head, slot, sizeof(head));
	len = head.len - sizeof(head);
	if ((head.seq & mask) != seq || head.len < sizeof(head) || head.len > ST_SLOT)
		return fct_st_fail(
			lane->hub->s,
			"lane %u, slot %u: write %llu was announced, %llu of %llu "
			"bytes is there",
			lane->number, task, (unsigned long long)seq,
			(unsigned long long)head.seq, (unsigned long long)head.len);
	seed = fct_st_seed(lane, false, 16 + task, head.seq);
	at = fct_st_differs(slot + sizeof(head), len, seed, 0);
	if (at != len)
		return fct_st_fail(
			lane->hub->s,
			"lane %u, slot %u: of %zu bytes written, byte %zu differs",
			lane->number, task, len, at);
	atomic_store(&lane->exposed->seen[task], head.seq);
	return 0;
}

/* Numbers come without gaps and once, though not in order: so each replaces the one
 * a window before. */
static int count_message(struct st_lane *lane, uint64_t seq)
{
	const uint64_t before =
		atomic_exchange(&lane->messages_seen[seq % ST_WINDOW], seq + 1);
	const uint64_t want = seq < ST_WINDOW ? 0 : seq + 1 - ST_WINDOW;

	atomic_fetch_add(&lane->received, 1);
	atomic_fetch_add(&lane->hub->rx_count, 1);
	if (before == want)
		return 0;
	return fct_st_fail(lane->hub->s, "lane %u: message %llu came where %llu was",
			   lane->number, (unsigned long long)seq,
			   (unsigned long long)before);
}

static int message(struct st_hub *hub, const uint8_t *buf,
		   const struct fi_cq_data_entry *e)
{
	struct st_lane *lane;
	struct st_head head;
	size_t at, len;

	memcpy(&head, buf, sizeof(head));
	if (e->len < sizeof(head) || head.len != e->len || head.lane >= hub->lanes)
		return fct_st_fail(hub->s, "a message of %zu bytes says %u, for lane %u",
				   e->len, head.len, head.lane);
	lane = hub->lane[head.lane];
	if (head.epoch != lane->epoch)
		return fct_st_fail(hub->s, "lane %u: a message of connection %u in %u",
				   head.lane, head.epoch, lane->epoch);
	if ((e->flags & FI_REMOTE_CQ_DATA) && e->data != (uint32_t)head.seq)
		return fct_st_fail(hub->s, "lane %u: message %llu has data %llu",
				   head.lane, (unsigned long long)head.seq,
				   (unsigned long long)e->data);
	len = e->len - sizeof(head);
	at = fct_st_differs(buf + sizeof(head), len,
			    fct_st_seed(lane, false, ST_MESSAGES, head.seq), 0);
	if (at != len)
		return fct_st_fail(hub->s,
				   "lane %u: of message %llu byte %zu of %zu differs",
				   head.lane, (unsigned long long)head.seq, at, len);
	if (head.task > ST_TASKS)
		return fct_st_fail(hub->s, "lane %u: there is no task %u", head.lane,
				   head.task);
	if (head.task && slot_is_right(lane, head.task - 1, head.written, UINT64_MAX))
		return -1;
	return count_message(lane, head.seq);
}

static int data_of_write(struct st_hub *hub, uint64_t data)
{
	const uint32_t lane = (uint32_t)data >> 28, task = (uint32_t)data >> 24 & 15;

	if (lane >= hub->lanes || task >= ST_TASKS)
		return fct_st_fail(hub->s, "a write came with data 0x%llx",
				   (unsigned long long)data);
	return slot_is_right(hub->lane[lane], task, data & 0xffffff, 0xffffff);
}

/* Posted anew, unless its lane is being closed. */
static int post_again(struct st_hub *hub, struct st_ctx *ctx)
{
	struct st_lane *lane = ctx->lane;
	int ret = 0;

	if (lane && pthread_rwlock_tryrdlock(&lane->use))
		return 0;
	if (!lane || (lane->ep && !lane->ending))
		ret = fct_st_hub_recv(hub, ctx);
	if (ret && (!lane || !hub->s->mode.reopen))
		fct_st_fail(hub->s, "fi_recv for one that completed returned %d (%s)",
			    ret, fi_strerror(-ret));
	if (lane)
		pthread_rwlock_unlock(&lane->use);
	return lane && hub->s->mode.reopen ? 0 : ret;
}

static int received(struct st_hub *hub, struct st_ctx *ctx,
		    const struct fi_cq_data_entry *e)
{
	int ret;

	if (e->flags & FI_REMOTE_WRITE)
		ret = data_of_write(hub, e->data);
	else
		ret = message(hub, fct_st_recv_buf(hub, ctx), e);
	return ret ? ret : post_again(hub, ctx);
}

/* Whose it was: the state before. */
static uint32_t take(struct st_hub *hub, struct st_ctx *ctx)
{
	const uint32_t state = atomic_exchange(&ctx->state, ST_IDLE);

	atomic_fetch_add(&hub->s->completions, 1);
	if (state == ST_IDLE)
		fct_st_fail(hub->s,
			    "%s completed that was not posted, or had completed before",
			    ctx->recv ? "a receive" : "an operation");
	return state;
}

static int operation_over(struct st_ctx *ctx, bool failed)
{
	struct st_task *task = ctx->task;

	if (failed)
		task->failed = true;
	atomic_fetch_sub(&ctx->lane->outstanding, 1);
	if (atomic_fetch_sub(&task->left, 1) == 1)
		fct_st_task_ready(task);
	return 0;
}

static int succeeded(struct st_hub *hub, const struct fi_cq_data_entry *e)
{
	struct st_ctx *ctx = e->op_context;
	uint32_t state;

	/* Without FI_RX_CQ_DATA a write with data takes no receive. */
	if (!ctx)
		return data_of_write(hub, e->data);
	state = take(hub, ctx);
	if (state == ST_IDLE)
		return -1;
	if (ctx->recv)
		return received(hub, ctx, e);
	if (state == ST_QUIET)
		return fct_st_fail(hub->s, "an operation completed that was not to");
	if (e->flags & FI_SEND)
		atomic_fetch_add(&ctx->lane->done, 1);
	return operation_over(ctx, false);
}

/* What the end of a connection may do to operations. */
static bool may_fail(const struct st_hub *hub, const struct st_lane *lane, int err)
{
	/* At the end the peer may be the first to close. */
	if ((lane && lane->ending) || hub->s->phase == ST_END)
		return true;
	if (!hub->s->mode.reopen)
		return false;
	switch (err) {
	case FI_EINVAL:
	case FI_EFAULT:
	case FI_EACCES:
	case FI_ETRUNC:
	case FI_EMSGSIZE:
		return false;
	default:
		return true;
	}
}

static int failed(struct st_hub *hub, const struct fi_cq_err_entry *err)
{
	struct st_ctx *ctx = err->op_context;
	uint32_t state;
	int none = 0;

	if (!ctx)
		return fct_st_fail(hub->s, "an error completion has no context (%s)",
				   fi_strerror(err->err));
	state = take(hub, ctx);
	if (state == ST_IDLE)
		return -1;
	atomic_fetch_add(&hub->s->failures, 1);
	if (ctx->lane)
		atomic_compare_exchange_strong(&ctx->lane->err, &none, err->err);
	if (!may_fail(hub, ctx->lane, err->err))
		return fct_st_fail(hub->s, "%s failed: %d (%s; provider: %s)",
				   ctx->recv ? "a receive" : "an operation", err->err,
				   fi_strerror(err->err),
				   fi_cq_strerror(hub->l.txcq, err->prov_errno,
						  err->err_data, NULL, 0));
	if (ctx->recv)
		return ctx->lane ? 0 : post_again(hub, ctx);
	if (state == ST_QUIET) {
		ctx->task->failed = true;
		return 0;
	}
	return operation_over(ctx, true);
}

static ssize_t read_some(struct st_hub *hub, struct st_rng *rng,
			 struct fi_cq_data_entry *e)
{
	if (rng && !st_below(rng, 64))
		fi_cq_read(hub->l.txcq, NULL, 0);
	if (rng && hub->s->mode.waits && !st_below(rng, 64))
		return fi_cq_sread(hub->l.txcq, e, BATCH, NULL, 1);
	return fi_cq_read(hub->l.txcq, e, rng ? 1 + st_below(rng, BATCH) : BATCH);
}

static int step(struct st_hub *hub, struct st_rng *rng)
{
	struct fi_cq_data_entry e[BATCH];
	struct fi_cq_err_entry err = {0};
	ssize_t i, n = read_some(hub, rng, e);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL) {
		n = fi_cq_readerr(hub->l.txcq, &err, 0);
		/* Another thread may have been faster. */
		if (n == -FI_EAGAIN)
			return 1;
		if (n == 1)
			return failed(hub, &err) ? -1 : 1;
	}
	if (n <= 0)
		return fct_st_fail(hub->s, "reading the queue returned %zd (%s)", n,
				   fi_strerror((int)-n));
	for (i = 0; i < n; i++)
		if (succeeded(hub, &e[i]))
			return -1;
	return 1;
}

int fct_st_comp_step(struct st_hub *hub, struct st_rng *rng)
{
	int ret;

	pthread_rwlock_rdlock(&hub->reading);
	ret = step(hub, rng);
	pthread_rwlock_unlock(&hub->reading);
	return ret;
}

int fct_st_comp_all(struct st_hub *hub)
{
	int ret;

	do
		ret = step(hub, NULL);
	while (ret > 0);
	return ret;
}
