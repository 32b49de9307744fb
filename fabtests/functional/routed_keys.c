/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that allow nothing, or no longer: the operation ends in an error that says so,
 * what is behind it is cancelled, since it may rely on what is missing, and so ends the
 * connection; other connections go on. Memory that was closed is not touched any more.
 */
#include "routed.h"

/* --- Refused beside what is not --- */

#define PART ((size_t)4096)
#define LARGE ((size_t)300000)

enum region { FREE, READABLE, WRITABLE, REGIONS };

struct refusal {
	const char *what;
	enum region region;
	bool reads;
	bool bad_key;
	uint64_t offset; /* may be such that the end is beyond 2^64 */
	size_t len;
};

/* Regions have LARGE bytes. */
static const struct refusal refusals[] = {
	{"a write with a bad key", FREE, false, true, 0, PART},
	{"a read with a bad key", FREE, true, true, 0, PART},
	{"a large write with a bad key", FREE, false, true, 0, LARGE},
	{"a large read with a bad key", FREE, true, true, 0, LARGE},
	{"a write beyond the end", FREE, false, false, LARGE - 8, 16},
	{"a read beyond the end", FREE, true, false, LARGE - 8, 16},
	{"a large write beyond the end", FREE, false, false, 1, LARGE},
	{"a large read beyond the end", FREE, true, false, 1, LARGE},
	{"a write behind the end", FREE, false, false, LARGE, 1},
	{"a write that begins before the region", FREE, false, false, UINT64_MAX - 7, 16},
	{"a read that begins before the region", FREE, true, false, UINT64_MAX - 7, 16},
	{"a write whose end wraps", FREE, false, false, UINT64_MAX - PART, PART},
	{"a read whose end wraps", FREE, true, false, UINT64_MAX - PART, PART},
	{"a write whose end is beyond 2^64", FREE, false, false, UINT64_MAX - 7, PART},
	{"a read whose end is beyond 2^64", FREE, true, false, UINT64_MAX - 7, PART},
	{"a write to what may be read", READABLE, false, false, 0, PART},
	{"a large write to what may be read", READABLE, false, false, 0, LARGE},
	{"a read of what may be written", WRITABLE, true, false, 0, PART},
	{"a large read of what may be written", WRITABLE, true, false, 0, LARGE},
};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

enum kind { GOOD, BAD, BEHIND };

/* The connection that is never in trouble. */
#define SAFE 0u

struct keys {
	struct routed r;
	struct fct_mem region[REGIONS];
	struct fct_target target[REGIONS];
	uint64_t errors;
};

static int keys_ended(struct routed *r, struct routed_op *op, int err)
{
	struct keys *k = r->user;
	struct fct *t = r->l.t;
	int ret = 0;

	if (op->receives || op->kind == GOOD) {
		if (err)
			FCT_FAIL(t, "an operation beside %s: %s",
				 refusals[op->number % REFUSALS].what, fi_strerror(err));
		return 0;
	}
	if (op->kind == BEHIND) {
		if (err != FI_ECANCELED)
			FCT_FAIL(t, "what is behind %s: %d (%s)",
				 refusals[op->number].what, err, fi_strerror(err));
		return 0;
	}
	k->errors++;
	if (!err)
		FCT_FAIL(t, "%s has succeeded", refusals[op->number].what);
	if (err != FI_EKEYREJECTED && err != FI_EACCES)
		FCT_FAIL(t, "%s: %d (%s)", refusals[op->number].what, err,
			 fi_strerror(err));
out:
	return ret;
}

/* What is refused by the call itself has no completion. */
static int post_refusal(struct keys *k, unsigned int which, uint64_t *accepted)
{
	const struct refusal *f = &refusals[which];
	struct routed_conn *conn = &k->r.conn[1 + which];
	struct fct_target to = k->target[f->region];
	struct fct *t = k->r.l.t;
	struct routed_op *op;
	ssize_t n;
	int ret = 0;

	to.addr += f->offset;
	if (f->bad_key)
		to.key ^= 0x5a5a5a;
	op = fct_routed_take(&k->r, conn);
	FCT_TRUE(t, op);
	op->kind = BAD;
	op->number = which;
	if (f->reads)
		n = fi_read(conn->c.ep, k->r.local.buf + 2 * LARGE, f->len,
			    k->r.local.desc, 0, to.addr, to.key, &op->ctx);
	else
		n = fi_write(conn->c.ep, k->r.local.buf + 3 * LARGE, f->len,
			     k->r.local.desc, 0, to.addr, to.key, &op->ctx);
	*accepted += !n;
	if (n)
		fct_routed_give(&k->r, op);
	if (n != -FI_EINVAL)
		FCT_CALL(t, n);
	ret = 0;
out:
	return ret;
}

/* A read that comes too late, if the connection's end was not faster. */
static int post_behind(struct keys *k, unsigned int which)
{
	struct routed_conn *conn = &k->r.conn[1 + which];
	struct routed_op *op = fct_routed_take(&k->r, conn);
	struct fct *t = k->r.l.t;
	ssize_t n;
	int ret = 0;

	FCT_TRUE(t, op);
	op->kind = BEHIND;
	op->number = which;
	n = fi_read(conn->c.ep, k->r.local.buf + 2 * LARGE, PART, k->r.local.desc, 0,
		    k->target[FREE].addr, k->target[FREE].key, &op->ctx);
	if (n)
		fct_routed_give(&k->r, op);
	if (n != -FI_ENOTCONN)
		FCT_CALL(t, n);
	ret = 0;
out:
	return ret;
}

/* A write, and a read of that, which succeed. */
static int beside(struct keys *k, struct routed_conn *conn, unsigned int which)
{
	const size_t len = which % 3 ? PART : LARGE;
	uint8_t *local = k->r.local.buf;
	struct fct *t = k->r.l.t;
	int ret;

	fct_fill(local, len, which);
	memset(local + LARGE, 0, len);
	FCT_CALL(t, fct_routed_write(&k->r, conn, local, len, &k->target[FREE], which));
	FCT_CALL(t, fct_routed_read(&k->r, conn, local + LARGE, len, &k->target[FREE],
				    which));
	FCT_DO(fct_routed_await(&k->r, 0, "what is not refused"));
	FCT_DATA(t, local + LARGE, len, which);
out:
	return ret;
}

static int refuse(struct keys *k, unsigned int which, uint64_t *accepted)
{
	struct routed_conn *conn = &k->r.conn[1 + which];
	uint8_t *local = k->r.local.buf;
	const uint64_t before = *accepted;
	struct fct *t = k->r.l.t;
	int ret;

	memset(local + 2 * LARGE, 0x11, LARGE);
	FCT_DO(beside(k, conn, which));
	FCT_DO(post_refusal(k, which, accepted));
	if (*accepted == before)
		goto out;
	FCT_DO(post_behind(k, which));
	FCT_DO(fct_routed_await(&k->r, 0, refusals[which].what));
	FCT_TRUE(t, fct_all(local + 2 * LARGE, LARGE, 0x11));
	ret = beside(k, &k->r.conn[SAFE], which);
out:
	return ret;
}

static int open_regions(struct keys *k)
{
	static const uint64_t access[REGIONS] = {
		[FREE] = FI_REMOTE_READ | FI_REMOTE_WRITE,
		[READABLE] = FI_REMOTE_READ,
		[WRITABLE] = FI_REMOTE_WRITE,
	};
	struct fct_target mine[REGIONS];
	struct fct *t = k->r.l.t;
	int i, ret;

	for (i = 0; i < REGIONS; i++) {
		FCT_DO(fct_mem_alloc(&k->r.l, &k->region[i], LARGE, access[i]));
		memset(k->region[i].buf, 0x22, LARGE);
		mine[i] = fct_mem_target(&k->r.l, &k->region[i]);
	}
	ret = fct_exchange(t, "regions", mine, k->target, sizeof(mine));
out:
	return ret;
}

int fct_routed_refused(struct fct *t)
{
	const struct routed_size size = {.connections = 1 + REFUSALS,
					 .ops = 64,
					 .tx = 16,
					 .rx = 16,
					 .local = 4 * LARGE};
	struct keys k = {.r.l.t = t};
	uint64_t accepted = 0;
	unsigned int which;
	int ret;

	k.r.user = &k;
	k.r.ended = keys_ended;
	FCT_DO(fct_routed_up(&k.r, t, &size));
	FCT_DO(open_regions(&k));
	if (fct_is_server(t))
		FCT_DO(fct_routed_stop_arm(&k.r));
	FCT_DO(fct_barrier(t, "ready"));
	if (fct_is_server(t)) {
		FCT_DO(fct_routed_until_stop(&k.r));
		FCT_TRUE(t, fct_all(k.region[READABLE].buf, LARGE, 0x22));
		FCT_TRUE(t, fct_all(k.region[WRITABLE].buf, LARGE, 0x22));
	} else {
		for (which = 0; which < REFUSALS; which++)
			FCT_DO(refuse(&k, which, &accepted));
		FCT_EQ(t, k.errors, accepted);
		FCT_DO(fct_routed_stop(&k.r));
	}
out:
	return fct_routed_down(&k.r, ret);
}

/* --- Closed, and registered anew --- */

#define SLOTS 48u
#define SLOT ((size_t)700000) /* some fragments */
#define AHEAD 8u	      /* operations outstanding */
#define KEY 4711u
#define TIMES 8u

enum outcome { NOT_POSTED, SUCCEEDED, FAILED };

struct anew {
	struct routed r;
	struct fct_mem old, new, other;
	struct fid_mr *mr;
	struct fct_target target, beside;
	uint8_t outcome[SLOTS];
	bool reads, again;
	unsigned int time; /* each has a connection of its own */
};

static int anew_ended(struct routed *r, struct routed_op *op, int err)
{
	struct anew *a = r->user;

	if (op->kind == BAD)
		a->outcome[op->number] = err ? FAILED : SUCCEEDED;
	else if (err)
		return fct_fail_at(r->l.t, NULL, 0, "beside a closed region: %s",
				   fi_strerror(err));
	return 0;
}

static int post_slot(struct anew *a, uint32_t n)
{
	struct routed_conn *conn = &a->r.conn[1 + a->time];
	const uint64_t at = a->target.addr + n * SLOT;
	struct routed_op *op = fct_routed_take(&a->r, conn);
	uint8_t *local = a->r.local.buf + n * SLOT;
	struct fct *t = a->r.l.t;
	ssize_t posted;
	int ret;

	FCT_TRUE(t, op);
	op->kind = BAD;
	op->number = n;
	if (a->reads)
		posted = fi_read(conn->c.ep, local, SLOT, a->r.local.desc, 0, at,
				 a->target.key, &op->ctx);
	else
		posted = fi_write(conn->c.ep, local, SLOT, a->r.local.desc, 0, at,
				  a->target.key, &op->ctx);
	ret = 0;
	if (posted == -FI_ENOTCONN) {
		fct_routed_give(&a->r, op);
		a->outcome[n] = FAILED;
		goto out;
	}
	FCT_CALL(t, posted);
out:
	return ret;
}

/* Slot by slot; what is still posted after the close says so. */
static int use_slots(struct anew *a)
{
	struct fct *t = a->r.l.t;
	struct fct_wait w;
	uint32_t next = 0;
	int ret;

	fct_wait_init(&w, t, "operations while their region is closed");
	do {
		while (next < SLOTS && a->r.busy < AHEAD)
			FCT_DO(post_slot(a, next++));
		FCT_DO(fct_routed_look(&a->r));
		if (!ret)
			FCT_DO(fct_wait_again(&w));
	} while (a->r.busy);
	FCT_CALL(t, fct_routed_write(&a->r, &a->r.conn[SAFE], a->r.local.buf, PART,
				     &a->beside, 0));
	ret = fct_routed_await(&a->r, 0, "another region");
out:
	return ret;
}

static int reg(struct anew *a, struct fct_mem *m)
{
	struct fct *t = a->r.l.t;
	int ret;

	FCT_CALL(t, fi_mr_reg(a->r.l.domain, m->buf, m->len,
			      FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &a->mr, NULL));
out:
	return ret;
}

/* In the middle of them: once the first bytes of a slot are there. */
static int close_between(struct anew *a, unsigned int time)
{
	const volatile uint8_t *byte = a->old.buf + (3 + time) * SLOT;
	uint64_t later = fct_now_ns();
	struct fct *t = a->r.l.t;
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, t, "the first of the operations");
	if (a->reads) {
		/* Nothing tells who is read: after a while. */
		later += (500 + 700 * (uint64_t)time) * 1000;
		do
			FCT_DO(fct_routed_look(&a->r));
		while (fct_now_ns() < later);
	} else {
		while (*byte == 0x77 && !ret) {
			FCT_DO(fct_routed_look(&a->r));
			FCT_DO(fct_wait_check(&w));
		}
	}
	FCT_CALL(t, fi_close(&a->mr->fid));
	a->mr = NULL;
	if (a->again)
		FCT_DO(reg(a, &a->new));
	else
		memset(a->old.buf, 0x55, a->old.len);
	ret = fct_routed_until_stop(&a->r);
out:
	return ret;
}

static bool whole(const uint8_t *at, uint32_t n)
{
	return fct_all(at + n * SLOT, SLOT, (uint8_t)(n + 1));
}

/* What has succeeded is in one of both regions, whole. */
static int check_written(struct anew *a)
{
	struct fct *t = a->r.l.t;
	uint32_t n;
	int ret = 0;

	for (n = 0; n < SLOTS; n++) {
		if (a->again && a->outcome[n] == SUCCEEDED && !whole(a->old.buf, n) &&
		    !whole(a->new.buf, n))
			FCT_FAIL(t, "write %u has succeeded and is in neither region", n);
		if (a->again && a->outcome[n] == FAILED &&
		    !fct_all(a->new.buf + n *SLOT, SLOT, 0x77))
			FCT_FAIL(t, "write %u has failed and is in the new region", n);
	}
	if (!a->again && !fct_all(a->old.buf, a->old.len, 0x55))
		FCT_FAIL(t, "a region was written to that was closed");
out:
	return ret;
}

static int check_read(struct anew *a)
{
	struct fct *t = a->r.l.t;
	const uint8_t *at;
	uint32_t n;
	int ret = 0;

	for (n = 0; n < SLOTS; n++) {
		at = a->r.local.buf + n * SLOT;
		if (a->outcome[n] == SUCCEEDED && !fct_all(at, SLOT, 0x77) &&
		    !fct_all(at, SLOT, 0x33))
			FCT_FAIL(t, "read %u has brought something of both regions", n);
	}
out:
	return ret;
}

static int exchange_outcomes(struct anew *a)
{
	struct fct *t = a->r.l.t;
	unsigned int failed = 0, n;
	int ret;

	if (fct_is_server(t))
		return fct_hear(t, "outcomes", a->outcome, sizeof(a->outcome));
	for (n = 0; n < SLOTS; n++) {
		FCT_TRUE(t, a->outcome[n] != NOT_POSTED);
		failed += a->outcome[n] == FAILED;
	}
	fct_note(t, "%u of %u failed", failed, SLOTS);
	/* After the close there is nothing any more but errors. */
	for (n = 1; n < SLOTS && !a->again; n++)
		FCT_TRUE(t, a->outcome[n - 1] == SUCCEEDED || a->outcome[n] == FAILED);
	ret = fct_tell(t, "outcomes", a->outcome, sizeof(a->outcome));
out:
	return ret;
}

static int prepare(struct anew *a)
{
	struct fct_target mine[2] = {{.key = KEY, .len = SLOTS * SLOT}}, theirs[2];
	struct fct *t = a->r.l.t;
	uint32_t n;
	int ret;

	memset(a->outcome, NOT_POSTED, sizeof(a->outcome));
	if (fct_is_server(t)) {
		memset(a->old.buf, 0x77, a->old.len);
		memset(a->new.buf, a->reads ? 0x33 : 0x77, a->new.len);
		FCT_DO(reg(a, &a->old));
		if (a->r.l.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
			mine[0].addr = (uintptr_t)a->old.buf;
		mine[0].key = fi_mr_key(a->mr);
		mine[1] = fct_mem_target(&a->r.l, &a->other);
		FCT_DO(fct_routed_stop_arm(&a->r));
	} else {
		for (n = 0; n < SLOTS; n++)
			memset(a->r.local.buf + n * SLOT, (int)n + 1, SLOT);
	}
	FCT_DO(fct_exchange(t, "regions", mine, theirs, sizeof(mine)));
	a->target = theirs[0];
	a->beside = theirs[1];
	ret = 0;
out:
	return ret;
}

static int close_once(struct anew *a, unsigned int time)
{
	struct fct *t = a->r.l.t;
	int ret;

	a->time = time;
	FCT_DO(prepare(a));
	FCT_DO(fct_barrier(t, "ready"));
	if (fct_is_client(t)) {
		FCT_DO(use_slots(a));
		FCT_DO(fct_routed_stop(&a->r));
	} else {
		FCT_DO(close_between(a, time));
	}
	FCT_DO(exchange_outcomes(a));
	if (fct_is_server(t) && !a->reads)
		FCT_DO(check_written(a));
	if (fct_is_client(t) && a->reads)
		FCT_DO(check_read(a));
	if (a->mr)
		FCT_CALL(t, fi_close(&a->mr->fid));
	a->mr = NULL;
	ret = fct_barrier(t, "checked");
out:
	return ret;
}

static int closing(struct fct *t, bool reads, bool again)
{
	struct routed_size size = {
		.connections = 1 + TIMES,
		.ops = 4 * AHEAD,
		.tx = 16,
		.rx = 16,
		.local = SLOTS * SLOT,
		.own_keys = again,
	};
	struct anew a = {.reads = reads, .again = again};
	unsigned int time;
	int ret;

	a.r.user = &a;
	a.r.ended = anew_ended;
	FCT_DO(fct_routed_up(&a.r, t, &size));
	if (fct_is_server(t)) {
		FCT_DO(fct_mem_alloc(&a.r.l, &a.old, SLOTS * SLOT, FI_SEND));
		FCT_DO(fct_mem_alloc(&a.r.l, &a.new, SLOTS * SLOT, FI_SEND));
	}
	FCT_DO(fct_mem_alloc(&a.r.l, &a.other, PART, FI_REMOTE_READ | FI_REMOTE_WRITE));
	for (time = 0; time < TIMES; time++)
		FCT_DO(close_once(&a, time));
out:
	if (a.mr)
		fi_close(&a.mr->fid);
	return fct_routed_down(&a.r, ret);
}

int fct_routed_closed_writing(struct fct *t)
{
	return closing(t, false, false);
}

int fct_routed_closed_reading(struct fct *t)
{
	return closing(t, true, false);
}

int fct_routed_anew_writing(struct fct *t)
{
	return closing(t, false, true);
}

int fct_routed_anew_reading(struct fct *t)
{
	return closing(t, true, true);
}
