/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that posts no receive: the sender is told -FI_EAGAIN after a bounded number of
 * operations, routers hold a bounded part of them, and everything arrives in the end.
 */
#include "routed.h"

#define TX 128u /* operations of the sender, outstanding */
#define RX 16u	/* receives, once there are some */
#define BUFS 8u /* with different contents */
#define ROUNDS 4u
#define QUIET_MS 200u
/* What the way may take off the sender, in messages, for each of its hops. */
#define HELD 32u
/* KiB that a router may need for all that, and in later rounds beyond the first. */
#define NEEDED 32768
#define LATER 1024

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_IS_KNOWN false /* a sanitizer has some of its own */
#else
#define MEMORY_IS_KNOWN true
#endif

struct flow {
	struct routed r;
	size_t len;
	bool inject;
	long before[ROUTED_ROUTERS], full[ROUNDS][ROUTED_ROUTERS]; /* KiB */
};

static uint8_t *buffer(struct flow *f, uint64_t number)
{
	return f->r.local.buf + (number % BUFS) * f->len;
}

/* --- The sender --- */

static int post(struct flow *f, uint64_t number)
{
	struct routed_conn *conn = &f->r.conn[0];
	int ret;

	if (!f->inject)
		return fct_routed_send(&f->r, conn, buffer(f, number), f->len, number);
	ret = (int)fi_inject(conn->c.ep, buffer(f, number), f->len, 0);
	if (!ret)
		conn->posted++;
	return ret;
}

/* Until nothing has been accepted, and nothing completed, for a while. */
static int fill(struct flow *f, uint64_t *number)
{
	const uint64_t quiet = (uint64_t)QUIET_MS * fct.scale;
	uint64_t last = fct_now_ms();
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, "-FI_EAGAIN to stay");
	do {
		ret = post(f, *number);
		if (!ret) {
			++*number;
			last = fct_now_ms();
			FCT_DO(fct_wait_check(&w));
			continue;
		}
		FCT_EQ(ret, -FI_EAGAIN);
		FCT_GET(ret, fct_routed_look(&f->r));
		if (ret)
			last = fct_now_ms();
		FCT_DO(fct_wait_again(&w));
	} while (fct_now_ms() - last < quiet);
	return 0;
}

static void look_at_routers(long kib[ROUTED_ROUTERS])
{
	uint32_t i;

	for (i = 0; i < fct_routed.routers; i++)
		kib[i] = fct_memory_kib(fct_routed.router[i], "VmRSS");
}

/* Of what was accepted the way has taken off no more than it may. */
static int check_bounds(struct flow *f, unsigned int round, uint64_t accepted)
{
	const uint64_t hops = fct_routed.routers + 1;
	uint32_t i;

	look_at_routers(f->full[round]);
	if (accepted > TX + hops * HELD)
		FCT_FAIL("%llu messages of %zu bytes were accepted, of which %u wait",
			 (unsigned long long)accepted, f->len, TX);
	for (i = 0; MEMORY_IS_KNOWN && i < fct_routed.routers; i++) {
		FCT_TRUE(f->before[i] > 0 && f->full[round][i] > 0);
		if (f->full[0][i] > f->before[i] + NEEDED)
			FCT_FAIL("router %u had %ld KiB, and has %ld", i + 1,
				 f->before[i], f->full[0][i]);
		if (f->full[round][i] > f->full[0][i] + LATER)
			FCT_FAIL("router %u had %ld KiB, and has %ld in round %u", i + 1,
				 f->full[0][i], f->full[round][i], round);
	}
	return 0;
}

static int send_round(struct flow *f, unsigned int round, uint64_t *number)
{
	const uint64_t first = *number;
	uint64_t accepted;

	FCT_DO(fill(f, number));
	accepted = *number - first;
	FCT_DO(check_bounds(f, round, accepted));
	FCT_DO(fct_tell("accepted", &accepted, sizeof(accepted)));
	FCT_DO(fct_routed_await(&f->r, 0, "every message to complete"));
	if (round == ROUNDS - 1)
		fct_routed_say(&f->r,
			       "%llu messages of %zu bytes accepted, router 1 of %u: "
			       "%ld KiB before, %ld then, %ld in the last round",
			       (unsigned long long)accepted, f->len, fct_routed.routers,
			       f->before[0], f->full[0][0], f->full[round][0]);
	return fct_barrier("arrived");
}

/* --- The target --- */

static int arrived(struct routed *r, struct routed_op *op, int err)
{
	struct flow *f = r->user;

	if (err)
		FCT_FAIL("message %llu: %s", (unsigned long long)op->number,
			 fi_strerror(err));
	if (op->receives)
		FCT_DATA(buffer(f, op->number), f->len, op->number % BUFS);
	return 0;
}

static int receive_round(struct flow *f, uint64_t *number)
{
	struct fct_wait w;
	uint64_t accepted, end;
	int ret;

	FCT_DO(fct_hear("accepted", &accepted, sizeof(accepted)));
	end = *number + accepted;
	fct_wait_init(&w, "every message to arrive");
	while (f->r.conn[0].arrived < end) {
		/* Two of them never have one buffer. */
		while (*number < end && f->r.busy < BUFS) {
			memset(buffer(f, *number), 0, f->len);
			FCT_CALL(fct_routed_recv(&f->r, &f->r.conn[0], buffer(f, *number),
						 f->len, *number));
			++*number;
		}
		FCT_GET(ret, fct_routed_look(&f->r));
		if (!ret)
			FCT_DO(fct_wait_again(&w));
	}
	return fct_barrier("arrived");
}

static int unposted(size_t len, bool inject)
{
	const struct routed_size size = {
		.connections = 1, .ops = 2 * TX, .tx = TX, .rx = RX, .local = BUFS * len};
	FCT_AUTO(fct_routed_end) struct flow f = {.len = len, .inject = inject};
	uint64_t number = 0;
	unsigned int round;

	f.r.user = &f;
	f.r.ended = arrived;
	FCT_DO(fct_routed_up(&f.r, &size));
	look_at_routers(f.before);
	for (round = 0; round < BUFS && fct_is_client(); round++)
		fct_fill(buffer(&f, round), len, round);
	for (round = 0; round < ROUNDS; round++)
		FCT_DO(fct_is_client() ? send_round(&f, round, &number)
				       : receive_round(&f, &number));
	return 0;
}

FCT_CASE_CALL(unposted_byte,
	      "1 byte each, and no receives: -FI_EAGAIN, and all arrive later",
	      unposted(1, false))

FCT_CASE_CALL(unposted_eager, "8 KiB each", unposted(8192, false))

FCT_CASE_CALL(unposted_large, "1 MiB each", unposted(1 << 20, false))

FCT_CASE_CALL(unposted_inject, "the same by fi_inject", unposted(1, true))
