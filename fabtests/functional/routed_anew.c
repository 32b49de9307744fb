/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions that are closed while they are used, and others that get their keys: memory
 * that was closed is not touched any more, and no operation is in two regions.
 */
#include "routed.h"

#define PART ((size_t)4096)
#define SLOTS 48u
#define SLOT ((size_t)700000) /* some fragments */
#define AHEAD 8u	      /* operations outstanding */
#define KEY 4711u
#define TIMES 8u
/* The connection that is never in trouble. */
#define SAFE 0u

enum kind { BESIDE, SLOTTED };
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

	if (op->kind == SLOTTED)
		a->outcome[op->number] = err ? FAILED : SUCCEEDED;
	else if (err)
		return fct_fail("beside a closed region: %s", fi_strerror(err));
	return 0;
}

static int post_slot(struct anew *a, uint32_t n)
{
	struct routed_conn *conn = &a->r.conn[1 + a->time];
	const uint64_t at = a->target.addr + n * SLOT;
	const struct fct_op op = {.form = a->reads ? FCT_READ : FCT_WRITE,
				  .buf = a->r.local.buf + n * SLOT,
				  .len = SLOT,
				  .addr = at,
				  .key = a->target.key};
	const int posted = fct_routed_post(&a->r, conn, &op, SLOTTED, n);

	if (posted == -FI_ENOTCONN) {
		a->outcome[n] = FAILED;
		return 0;
	}
	FCT_CALL(posted);
	return 0;
}

/* Slot by slot; what is still posted after the close says so. */
static int use_slots(struct anew *a)
{
	struct fct_wait w;
	uint32_t next = 0;
	int ret;

	fct_wait_init(&w, "operations while their region is closed");
	do {
		while (next < SLOTS && a->r.busy < AHEAD)
			FCT_DO(post_slot(a, next++));
		FCT_GET(ret, fct_routed_look(&a->r));
		if (!ret)
			FCT_DO(fct_wait_again(&w));
	} while (a->r.busy);
	FCT_CALL(fct_routed_write(&a->r, &a->r.conn[SAFE], a->r.local.buf, PART,
				  &a->beside, 0));
	return fct_routed_await(&a->r, 0, "another region");
}

static int reg(struct anew *a, struct fct_mem *m)
{
	FCT_CALL(fi_mr_reg(a->r.l.domain, m->buf, m->len,
			   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &a->mr, NULL));
	return 0;
}

/* In the middle of them: once the first bytes of a slot are there. */
static int close_between(struct anew *a, unsigned int time)
{
	const volatile uint8_t *byte = a->old.buf + (3 + time) * SLOT;
	uint64_t later = fct_now_ns();
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "the first of the operations");
	if (a->reads) {
		/* Nothing tells who is read: after a while. */
		later += (500 + 700 * (uint64_t)time) * 1000;
		do
			FCT_GET(ret, fct_routed_look(&a->r));
		while (fct_now_ns() < later);
	} else {
		while (*byte == 0x77 && !ret) {
			FCT_DO(fct_routed_look(&a->r));
			FCT_DO(fct_wait_check(&w));
		}
	}
	FCT_CALL(fi_close(&a->mr->fid));
	a->mr = NULL;
	if (a->again)
		FCT_DO(reg(a, &a->new));
	else
		memset(a->old.buf, 0x55, a->old.len);
	return fct_routed_until_stop(&a->r);
}

static bool whole(const uint8_t *at, uint32_t n)
{
	return fct_all(at + n * SLOT, SLOT, (uint8_t)(n + 1));
}

/* What has succeeded is in one of both regions, whole. */
static int check_written(struct anew *a)
{
	uint32_t n;

	for (n = 0; n < SLOTS; n++) {
		if (a->again && a->outcome[n] == SUCCEEDED && !whole(a->old.buf, n) &&
		    !whole(a->new.buf, n))
			FCT_FAIL("write %u has succeeded and is in neither region", n);
		if (a->again && a->outcome[n] == FAILED &&
		    !fct_all(a->new.buf + n *SLOT, SLOT, 0x77))
			FCT_FAIL("write %u has failed and is in the new region", n);
	}
	if (!a->again && !fct_all(a->old.buf, a->old.len, 0x55))
		FCT_FAIL("a region was written to that was closed");
	return 0;
}

static int check_read(struct anew *a)
{
	const uint8_t *at;
	uint32_t n;

	for (n = 0; n < SLOTS; n++) {
		at = a->r.local.buf + n * SLOT;
		if (a->outcome[n] == SUCCEEDED && !fct_all(at, SLOT, 0x77) &&
		    !fct_all(at, SLOT, 0x33))
			FCT_FAIL("read %u has brought something of both regions", n);
	}
	return 0;
}

static int exchange_outcomes(struct anew *a)
{
	unsigned int failed = 0, n;

	if (fct_is_server())
		return fct_hear("outcomes", a->outcome, sizeof(a->outcome));
	for (n = 0; n < SLOTS; n++) {
		FCT_TRUE(a->outcome[n] != NOT_POSTED);
		failed += a->outcome[n] == FAILED;
	}
	fct_note("%u of %u failed", failed, SLOTS);
	/* After the close there is nothing any more but errors. */
	for (n = 1; n < SLOTS && !a->again; n++)
		FCT_TRUE(a->outcome[n - 1] == SUCCEEDED || a->outcome[n] == FAILED);
	return fct_tell("outcomes", a->outcome, sizeof(a->outcome));
}

static int prepare(struct anew *a)
{
	struct fct_target mine[2] = {{.key = KEY, .len = SLOTS * SLOT}}, theirs[2];
	uint32_t n;

	memset(a->outcome, NOT_POSTED, sizeof(a->outcome));
	if (fct_is_server()) {
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
	FCT_DO(fct_exchange("regions", mine, theirs, sizeof(mine)));
	a->target = theirs[0];
	a->beside = theirs[1];
	return 0;
}

static int close_once(struct anew *a, unsigned int time)
{
	a->time = time;
	FCT_DO(prepare(a));
	FCT_DO(fct_barrier("ready"));
	if (fct_is_client()) {
		FCT_DO(use_slots(a));
		FCT_DO(fct_routed_stop(&a->r));
	} else {
		FCT_DO(close_between(a, time));
	}
	FCT_DO(exchange_outcomes(a));
	if (fct_is_server() && !a->reads)
		FCT_DO(check_written(a));
	if (fct_is_client() && a->reads)
		FCT_DO(check_read(a));
	if (a->mr)
		FCT_CALL(fi_close(&a->mr->fid));
	a->mr = NULL;
	return fct_barrier("checked");
}

static void end_anew(struct anew *a)
{
	if (a->mr)
		fi_close(&a->mr->fid);
	fct_routed_end(&a->r);
}

static int closing(bool reads, bool again)
{
	struct routed_size size = {
		.connections = 1 + TIMES,
		.ops = 4 * AHEAD,
		.tx = 16,
		.rx = 16,
		.local = SLOTS * SLOT,
		.own_keys = again,
	};
	FCT_AUTO(end_anew) struct anew a = {.reads = reads, .again = again};
	unsigned int time;

	a.r.user = &a;
	a.r.ended = anew_ended;
	FCT_DO(fct_routed_up(&a.r, &size));
	if (fct_is_server()) {
		FCT_DO(fct_mem_alloc(&a.r.l, &a.old, SLOTS * SLOT, FI_SEND));
		FCT_DO(fct_mem_alloc(&a.r.l, &a.new, SLOTS * SLOT, FI_SEND));
	}
	FCT_DO(fct_mem_alloc(&a.r.l, &a.other, PART, FI_REMOTE_READ | FI_REMOTE_WRITE));
	for (time = 0; time < TIMES; time++)
		FCT_DO(close_once(&a, time));
	return 0;
}

FCT_CASE_CALL(closed_writing, "a region is closed while it is written to",
	      closing(false, false))

FCT_CASE_CALL(closed_reading, "a region is closed while it is read", closing(true, false))

FCT_CASE_CALL(anew_writing, "another region gets the key while that is written to",
	      closing(false, true))

FCT_CASE_CALL(anew_reading, "another region gets the key while that is read",
	      closing(true, true))
