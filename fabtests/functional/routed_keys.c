/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that do not allow what is asked for: the operation ends in an error that says so,
 * what is behind it is cancelled, since it may rely on what is missing, and so ends the
 * connection; other connections go on.
 */
#include "routed.h"

#define PART ((size_t)4096)
#define LARGE ((size_t)300000)

/* Uses of a key: then it may have been lent to whoever executes what it allows. */
#define OFTEN 6

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

	if (op->receives || op->kind == GOOD) {
		if (err)
			FCT_FAIL("an operation beside %s: %s",
				 refusals[op->number % REFUSALS].what, fi_strerror(err));
		return 0;
	}
	if (op->kind == BEHIND) {
		if (err != FI_ECANCELED)
			FCT_FAIL("what is behind %s: %d (%s)", refusals[op->number].what,
				 err, fi_strerror(err));
		return 0;
	}
	k->errors++;
	if (!err)
		FCT_FAIL("%s has succeeded", refusals[op->number].what);
	if (err != FI_EKEYREJECTED && err != FI_EACCES)
		FCT_FAIL("%s: %d (%s)", refusals[op->number].what, err, fi_strerror(err));
	return 0;
}

/* What is refused by the call itself has no completion. */
static int post_refusal(struct keys *k, unsigned int which, uint64_t *accepted)
{
	const struct refusal *f = &refusals[which];
	struct routed_conn *conn = &k->r.conn[1 + which];
	struct fct_target to = k->target[f->region];
	int n;

	to.addr += f->offset;
	if (f->bad_key)
		to.key ^= 0x5a5a5a;
	n = fct_routed_post(&k->r, conn,
			    &(struct fct_op){.form = f->reads ? FCT_READ : FCT_WRITE,
					     .buf = k->r.local.buf +
						    (f->reads ? 2 : 3) * LARGE,
					     .len = f->len,
					     .addr = to.addr,
					     .key = to.key},
			    BAD, which);
	*accepted += !n;
	if (n != -FI_EINVAL)
		FCT_CALL(n);
	return 0;
}

/* A read that comes too late, if the connection's end was not faster. */
static int post_behind(struct keys *k, unsigned int which)
{
	const int n = fct_routed_post(&k->r, &k->r.conn[1 + which],
				      &(struct fct_op){.form = FCT_READ,
						       .buf = k->r.local.buf + 2 * LARGE,
						       .len = PART,
						       .addr = k->target[FREE].addr,
						       .key = k->target[FREE].key},
				      BEHIND, which);

	if (n != -FI_ENOTCONN)
		FCT_CALL(n);
	return 0;
}

/* A write, and a read of that, which succeed. */
static int beside(struct keys *k, struct routed_conn *conn, unsigned int which)
{
	const size_t len = which % 3 ? PART : LARGE;
	uint8_t *local = k->r.local.buf;

	fct_fill(local, len, which);
	memset(local + LARGE, 0, len);
	FCT_CALL(fct_routed_write(&k->r, conn, local, len, &k->target[FREE], which));
	FCT_CALL(fct_routed_read(&k->r, conn, local + LARGE, len, &k->target[FREE],
				 which));
	FCT_DO(fct_routed_await(&k->r, 0, "what is not refused"));
	FCT_DATA(local + LARGE, len, which);
	return 0;
}

static int refuse(struct keys *k, unsigned int which, uint64_t *accepted)
{
	struct routed_conn *conn = &k->r.conn[1 + which];
	uint8_t *local = k->r.local.buf;
	const uint64_t before = *accepted;
	int i;

	memset(local + 2 * LARGE, 0x11, LARGE);
	for (i = 0; i < OFTEN; i++)
		FCT_DO(beside(k, conn, which));
	FCT_DO(post_refusal(k, which, accepted));
	if (*accepted == before)
		return 0;
	FCT_DO(post_behind(k, which));
	FCT_DO(fct_routed_await(&k->r, 0, refusals[which].what));
	FCT_TRUE(fct_all(local + 2 * LARGE, LARGE, 0x11));
	return beside(k, &k->r.conn[SAFE], which);
}

static int open_regions(struct keys *k)
{
	static const uint64_t access[REGIONS] = {
		[FREE] = FI_REMOTE_READ | FI_REMOTE_WRITE,
		[READABLE] = FI_REMOTE_READ,
		[WRITABLE] = FI_REMOTE_WRITE,
	};
	struct fct_target mine[REGIONS];
	int i;

	for (i = 0; i < REGIONS; i++) {
		FCT_DO(fct_mem_alloc(&k->r.l, &k->region[i], LARGE, access[i]));
		memset(k->region[i].buf, 0x22, LARGE);
		mine[i] = fct_mem_target(&k->r.l, &k->region[i]);
	}
	return fct_exchange("regions", mine, k->target, sizeof(mine));
}

FCT_CASE(refused, "what a key does not allow fails alone")
{
	const struct routed_size size = {.connections = 1 + REFUSALS,
					 .ops = 64,
					 .tx = 16,
					 .rx = 16,
					 .local = 4 * LARGE};
	FCT_AUTO(fct_routed_end) struct keys k = {0};
	uint64_t accepted = 0;
	unsigned int which;

	k.r.user = &k;
	k.r.ended = keys_ended;
	FCT_DO(fct_routed_up(&k.r, &size));
	FCT_DO(open_regions(&k));
	if (fct_is_server())
		FCT_DO(fct_routed_stop_arm(&k.r));
	FCT_DO(fct_barrier("ready"));
	if (fct_is_server()) {
		FCT_DO(fct_routed_until_stop(&k.r));
		FCT_TRUE(fct_all(k.region[READABLE].buf, LARGE, 0x22));
		FCT_TRUE(fct_all(k.region[WRITABLE].buf, LARGE, 0x22));
	} else {
		for (which = 0; which < REFUSALS; which++)
			FCT_DO(refuse(&k, which, &accepted));
		FCT_EQ(k.errors, accepted);
		FCT_DO(fct_routed_stop(&k.r));
	}
	return 0;
}
