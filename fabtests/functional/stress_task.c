/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks: what is done over a lane, and how it is known that it was done right. */
#include <stdlib.h>

#include "stress.h"

static struct st *of(const struct st_lane *lane)
{
	return lane->hub->s;
}

static uint8_t *from(struct st_task *task)
{
	struct st_lane *lane = task->ctx[0].lane;

	return task->own ? task->own : lane->local->from[task->index];
}

static uint8_t *to(struct st_task *task)
{
	return task->ctx[0].lane->local->to[task->index];
}

static uint64_t there(const struct st_lane *lane, size_t offset)
{
	return lane->peer.addr + offset;
}

static uint64_t slot_at(const struct st_lane *lane, const struct st_task *task)
{
	return there(lane,
		     offsetof(struct st_exposed, slot) + (size_t)task->index * ST_SLOT);
}

/* More often short than long. */
static size_t pick_len(struct st_rng *rng, size_t least, size_t most)
{
	const size_t room = (most - least) >> st_below(rng, 8);

	return least + st_below(rng, (uint32_t)room + 1);
}

/* ---- beginnings: memory is filled, nothing is posted ---- */

/* A message in part i of the task's memory. */
static void write_message(struct st_task *task, struct st_rng *rng, uint32_t i,
			  uint32_t announced)
{
	struct st_lane *lane = task->ctx[0].lane;
	uint8_t *buf = from(task) + i * ST_PART;
	struct st_head head = {
		.lane = lane->number,
		.epoch = lane->epoch,
		.seq = atomic_fetch_add(&lane->next_message, 1),
		.len = (uint32_t)pick_len(rng, sizeof(head),
					  announced ? sizeof(head) : ST_PART),
		.task = announced,
		.written = task->seq,
	};

	memcpy(buf, &head, sizeof(head));
	fct_st_fill(buf + sizeof(head), head.len - sizeof(head),
		    fct_st_seed(lane, true, ST_MESSAGES, head.seq));
}

static void write_slot(struct st_task *task, struct st_rng *rng)
{
	const struct st_lane *lane = task->ctx[0].lane;
	struct st_written head = {.seq = task->seq};

	/* Behind it is room for the message. */
	task->len = pick_len(rng, sizeof(head), ST_SLOT - ST_PART);
	head.len = task->len;
	memcpy(from(task), &head, sizeof(head));
	fct_st_fill(from(task) + sizeof(head), task->len - sizeof(head),
		    fct_st_seed(lane, true, 16 + task->index, task->seq));
}

static void begin_echo(struct st_task *task, struct st_rng *rng)
{
	struct st_lane *lane = task->ctx[0].lane;
	struct st_hub *hub = lane->hub;

	task->len = pick_len(rng, 1, ST_SLOT);
	if (!st_below(rng, 8)) {
		task->own = malloc(ST_SLOT);
		if (task->own &&
		    fi_mr_reg(hub->l.domain, task->own, ST_SLOT, FI_READ | FI_WRITE, 0,
			      atomic_fetch_add(&hub->s->next_key, 1), 0, &task->mr,
			      NULL)) {
			fct_st_fail(hub->s, "fi_mr_reg of %zu bytes failed", ST_SLOT);
			free(task->own);
			task->own = NULL;
		}
	}
	fct_st_fill(from(task), task->len, fct_st_seed(lane, true, ST_ECHO, task->seq));
	memset(to(task), 0, task->len);
}

static void begin(struct st_task *task, struct st_rng *rng)
{
	struct st_lane *lane = task->ctx[0].lane;
	uint32_t kinds = of(lane)->no_atomics ? ST_ADD : ST_KINDS, i;

	task->kind = st_below(rng, kinds);
	task->seq++;
	task->stage = 0;
	task->at = 0;
	task->ops = 1;
	switch (task->kind) {
	case ST_MESSAGES:
		task->ops = 1 + st_below(rng, ST_CHAIN);
		for (i = 0; i < task->ops; i++)
			write_message(task, rng, i, 0);
		break;
	case ST_ANNOUNCED:
		write_slot(task, rng);
		write_message(task, rng, ST_CHAIN - 1, task->index + 1);
		task->ops = 2;
		break;
	case ST_WITH_DATA:
		write_slot(task, rng);
		break;
	case ST_ECHO:
		begin_echo(task, rng);
		task->ops = 2;
		break;
	case ST_FIXEDS:
		task->ops = 1 + st_below(rng, ST_CHAIN);
		memset(to(task), 0, ST_SLOT);
		break;
	default:
		break;
	}
}

/* ---- posting ---- */

static void *local_desc(const struct st_task *task)
{
	return task->mr ? fi_mr_desc(task->mr) : task->ctx[0].lane->local_mem.desc;
}

/* Does a completion say that the messages before it are over, too? */
static bool in_order(const struct st_task *task)
{
	const struct fi_info *info = task->ctx[0].lane->hub->l.info;

	return info->tx_attr->comp_order & FCT_ORDER_STRICT;
}

static struct st_op message_op(struct st_task *task, struct st_rng *rng, uint32_t part,
			       bool last)
{
	uint8_t *buf = from(task) + part * ST_PART;
	struct st_op op = {.kind = ST_MESSAGES, .buf = buf};
	struct st_head head;

	memcpy(&head, buf, sizeof(head));
	op.len = head.len;
	op.with_data = !st_below(rng, 4);
	op.data = (uint32_t)head.seq;
	op.quiet = !last && in_order(task) && st_below(rng, 2);
	op.more = !last && st_below(rng, 2);
	return op;
}

static struct st_op write_op(struct st_task *task, struct st_rng *rng)
{
	const struct st_lane *lane = task->ctx[0].lane;
	struct st_op op = {.kind = ST_ECHO,
			   .buf = from(task),
			   .len = task->len,
			   .addr = slot_at(lane, task)};

	if (task->kind == ST_WITH_DATA) {
		op.with_data = true;
		op.data = lane->number << 28 | task->index << 24 |
			  ((uint32_t)task->seq & 0xffffff);
	} else {
		op.quiet = st_below(rng, 2);
		op.more = st_below(rng, 2);
	}
	return op;
}

static struct st_op seen_op(struct st_task *task)
{
	return (struct st_op){.kind = ST_FIXEDS,
			      .buf = to(task),
			      .len = sizeof(uint64_t),
			      .addr = there(task->ctx[0].lane,
					    offsetof(struct st_exposed, seen) +
						    task->index * sizeof(uint64_t))};
}

/* Each reads another piece of the fixed bytes, known by its place. */
static size_t fixed_offset(const struct st_task *task, uint32_t i)
{
	return st_mix(task->seq * ST_CHAIN + i) % (ST_FIXED - ST_PART);
}

static size_t fixed_len(const struct st_task *task, uint32_t i)
{
	const uint64_t r = st_mix((task->seq * ST_CHAIN + i) ^ 0x5a5a);

	return r % (ST_PART >> (r >> 32) % 8) + 1;
}

static struct st_op fixed_op(struct st_task *task, uint32_t i)
{
	return (struct st_op){.kind = ST_FIXEDS,
			      .buf = to(task) + i * ST_PART,
			      .len = fixed_len(task, i),
			      .addr = there(task->ctx[0].lane,
					    offsetof(struct st_exposed, fixed) +
						    fixed_offset(task, i)),
			      .more = i + 1 < task->ops};
}

static struct st_op atomic_op(struct st_task *task)
{
	struct st_lane *lane = task->ctx[0].lane;
	struct st_op op = {.kind = task->kind,
			   .buf = to(task),
			   .len = sizeof(uint64_t),
			   .operand = 1,
			   .addr = there(lane, offsetof(struct st_exposed, word) +
						       task->kind * sizeof(uint64_t))};

	if (task->kind == ST_SWAP) {
		op.compare = lane->swapped;
		op.operand = op.compare + 1;
	}
	return op;
}

static struct st_op next_op(struct st_task *task, struct st_rng *rng)
{
	const bool last = task->at + 1 == task->ops;
	struct st_op op;

	switch (task->kind) {
	case ST_MESSAGES:
		return message_op(task, rng, task->at, last);
	case ST_ANNOUNCED:
		if (task->stage)
			return seen_op(task);
		return last ? message_op(task, rng, ST_CHAIN - 1, true)
			    : write_op(task, rng);
	case ST_WITH_DATA:
		return task->stage ? seen_op(task) : write_op(task, rng);
	case ST_ECHO:
		if (!last)
			return write_op(task, rng);
		op = write_op(task, rng);
		op.kind = ST_FIXEDS;
		op.buf = to(task);
		op.quiet = op.more = false;
		return op;
	case ST_FIXEDS:
		return fixed_op(task, task->at);
	default:
		return atomic_op(task);
	}
}

/* ---- endings ---- */

static int echo_is_right(struct st_task *task)
{
	struct st_lane *lane = task->ctx[0].lane;
	const uint64_t seed = fct_st_seed(lane, true, ST_ECHO, task->seq);
	size_t at = fct_st_differs(to(task), task->len, seed, 0);

	if (at == task->len)
		return 0;
	return fct_st_fail(
		of(lane), "lane %u: of %zu bytes written and read back, byte %zu differs",
		lane->number, task->len, at);
}

static int fixed_is_right(struct st_task *task)
{
	struct st_lane *lane = task->ctx[0].lane;
	const uint64_t seed = fct_st_seed(lane, false, ST_FIXEDS, 0);
	size_t at, len;
	uint32_t i;

	for (i = 0; i < task->ops; i++) {
		len = fixed_len(task, i);
		at = fct_st_differs(to(task) + i * ST_PART, len, seed,
				    fixed_offset(task, i));
		if (at != len)
			return fct_st_fail(of(lane),
					   "lane %u: of %zu bytes read, byte %zu differs",
					   lane->number, len, at);
	}
	return 0;
}

/* The word rises by one with each: so no two may have found the same. */
static int fetch_is_right(struct st_lane *lane, uint64_t found)
{
	const uint64_t before =
		atomic_exchange(&lane->fetched[found % ST_WINDOW], found + 1);
	const uint64_t want = found < ST_WINDOW ? 0 : found + 1 - ST_WINDOW;

	if (before == want)
		return 0;
	return fct_st_fail(
		of(lane),
		"lane %u: a fetching atomic found %llu, in a place where %llu was",
		lane->number, (unsigned long long)found, (unsigned long long)before);
}

static int atomic_is_right(struct st_task *task)
{
	struct st_lane *lane = task->ctx[0].lane;
	uint64_t words[3];

	memcpy(words, to(task), sizeof(words));
	if (task->kind == ST_SWAP && words[0] != words[2]) {
		lane->swapped = words[0];
		return 0;
	}
	atomic_fetch_add(&lane->atomics[task->kind], 1);
	if (task->kind == ST_SWAP)
		lane->swapped = words[1];
	return task->kind == ST_FETCH ? fetch_is_right(lane, words[0]) : 0;
}

static void drop_own(struct st_task *task)
{
	struct st *s = of(task->ctx[0].lane);

	if (task->mr && fi_close(&task->mr->fid))
		fct_st_fail(s, "fi_close of a region failed");
	task->mr = NULL;
	free(task->own);
	task->own = NULL;
}

static int end(struct st_task *task, int ret)
{
	drop_own(task);
	atomic_store(&task->state, ST_FREE);
	return ret;
}

/* Everything posted for this stage has completed. 1: another stage follows. */
static int stage_over(struct st_task *task)
{
	uint64_t seen;

	switch (task->kind) {
	case ST_ANNOUNCED:
	case ST_WITH_DATA:
		memcpy(&seen, to(task), sizeof(seen));
		if (task->stage && seen == task->seq) {
			task->wrote = (struct st_wrote){task->seq, task->len, false};
			return end(task, 0);
		}
		task->stage = 1;
		task->at = 0;
		task->ops = 1;
		return 1;
	case ST_ECHO:
		task->wrote = (struct st_wrote){task->seq, task->len, true};
		return end(task, echo_is_right(task));
	case ST_FIXEDS:
		return end(task, fixed_is_right(task));
	case ST_MESSAGES:
		return end(task, 0);
	default:
		return end(task, atomic_is_right(task));
	}
}

void fct_st_task_ready(struct st_task *task)
{
	atomic_store(&task->state, ST_READY);
}

void fct_st_task_forget(struct st_task *task)
{
	uint32_t k;

	drop_own(task);
	for (k = 0; k < ST_CHAIN; k++)
		atomic_store(&task->ctx[k].state, ST_IDLE);
	task->failed = false;
	task->left = 0;
	atomic_store(&task->state, ST_FREE);
}

/* 0: all of it is posted, 1: not yet, < 0: recorded. */
static int post_rest(struct st_task *task, struct st_rng *rng)
{
	struct st_lane *lane = task->ctx[0].lane;
	struct st_op op;
	ssize_t ret;

	while (task->at < task->ops) {
		op = next_op(task, rng);
		op.desc = op.buf == from(task) ? local_desc(task) : lane->local_mem.desc;
		op.ctx = &task->ctx[task->at];
		ret = fct_st_post(lane, rng, &op);
		if (ret == -FI_EAGAIN)
			return 1;
		if (ret && (of(lane)->mode.reopen || lane->ending)) {
			task->failed = true;
			return 0;
		}
		if (ret)
			return fct_st_fail(of(lane),
					   "lane %u: posting kind %u returned %zd (%s)",
					   lane->number, task->kind, ret,
					   fi_strerror((int)-ret));
		task->at++;
		/* Sometimes what is behind a write waits until the write is done. */
		if (task->kind == ST_ECHO && !op.more && !st_below(rng, 4))
			return 1;
	}
	return 0;
}

/* The task is this thread's. */
static int go_on(struct st_task *task, struct st_rng *rng)
{
	int ret = 0;

	/* Stays as it is until its lane is closed. */
	if (task->failed)
		return 0;
	if (task->at == task->ops) {
		ret = stage_over(task);
		if (ret <= 0)
			return ret;
	}
	/* Held until all is posted: what completes meanwhile does not end it. */
	atomic_fetch_add(&task->left, 1);
	ret = post_rest(task, rng);
	if (ret < 0)
		return ret;
	if (atomic_fetch_sub(&task->left, 1) == 1)
		fct_st_task_ready(task);
	return 1;
}

int fct_st_task_step(struct st_lane *lane, struct st_rng *rng, bool may_begin)
{
	struct st_task *task = &lane->task[st_below(rng, ST_TASKS)];
	uint32_t state = atomic_load(&task->state);
	int ret = 0;

	if (state == ST_BUSY || (state == ST_FREE && !may_begin))
		return 0;
	pthread_rwlock_rdlock(&lane->use);
	if (lane->state == ST_UP && !lane->ending &&
	    atomic_compare_exchange_strong(&task->state, &state, ST_BUSY)) {
		if (state == ST_FREE)
			begin(task, rng);
		ret = go_on(task, rng);
	}
	pthread_rwlock_unlock(&lane->use);
	return ret;
}
