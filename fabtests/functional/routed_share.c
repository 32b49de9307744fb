/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections over one router beside each other: what one waits for is not the others'
 * business. */
#include "routed.h"

/* --- One target stalls --- */

#define LEN ((size_t)65536) /* bytes of a message */
#define WINDOW 4u	    /* of each connection */
#define WORK 24u	    /* messages of each connection in a turn */
#define TURNS 5u	    /* of either kind */
#define STALL_TX 64u
#define STALL_LEN ((size_t)1 << 20)

struct share {
	struct routed r;
	bool repost;
	uint64_t arrived; /* of those that work */
};

static uint8_t *slot(struct share *s, uint32_t conn, uint64_t number)
{
	return s->r.local.buf + STALL_LEN + (conn * WINDOW + number % WINDOW) * LEN;
}

static uint64_t first_word(uint32_t conn, uint64_t number)
{
	return (uint64_t)conn << 32 | number;
}

static int share_arrived(struct share *s, const struct routed_op *op)
{
	struct routed_conn *conn = op->conn;
	uint8_t *at = slot(s, conn->index, op->number);
	uint64_t word;

	if (!conn->index)
		return 0;
	s->arrived++;
	memcpy(&word, at, sizeof(word));
	FCT_EQ(word, first_word(conn->index, op->number));
	memcpy(&word, at + LEN - sizeof(word), sizeof(word));
	FCT_EQ(word, first_word(conn->index, op->number));
	if (s->repost)
		FCT_CALL(fct_routed_recv(&s->r, conn, at, LEN, op->number + WINDOW));
	return 0;
}

static int share_ended(struct routed *r, struct routed_op *op, int err)
{
	struct share *s = r->user;

	if (err)
		return fct_fail("message %llu of connection %u: %s",
				(unsigned long long)op->number, op->conn->index,
				fi_strerror(err));
	return op->receives ? share_arrived(s, op) : 0;
}

static int send_one(struct share *s, struct routed_conn *conn, uint64_t number)
{
	const uint64_t word = first_word(conn->index, number);
	uint8_t *at = slot(s, conn->index, number);

	memcpy(at, &word, sizeof(word));
	memcpy(at + LEN - sizeof(word), &word, sizeof(word));
	return fct_routed_send(&s->r, conn, at, LEN, number);
}

/* Every connection but the first sends that many more; all of it completes. */
static int work(struct share *s, uint64_t until)
{
	struct routed *r = &s->r;
	struct fct_wait w;
	uint32_t i, left;
	int ret;

	fct_wait_init(&w, "the others' messages, while one target stalls");
	w.end_ms += 40000u * fct.scale;
	do {
		left = 0;
		for (i = 1; i < r->count; i++) {
			struct routed_conn *conn = &r->conn[i];

			ret = 0;
			while (!ret && conn->posted < until && conn->busy < WINDOW)
				ret = send_one(s, conn, conn->posted);
			if (ret != -FI_EAGAIN)
				FCT_CALL(ret);
			left += conn->done < until;
		}
		do
			ret = fct_routed_look(r);
		while (ret > 0);
		FCT_CALL(ret);
		FCT_DO(fct_wait_check(&w));
	} while (left);
	return 0;
}

static int take_work(struct share *s, uint64_t until)
{
	const uint64_t all = until * (s->r.count - 1);
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "the others' messages, while one target stalls");
	w.end_ms += 40000u * fct.scale;
	while (s->arrived < all) {
		FCT_GET(ret, fct_routed_look(&s->r));
		if (!ret && ++w.spins % 256 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

/* The first connection has sent what it may, and nobody takes it. */
static int stall(struct share *s)
{
	unsigned int i;

	for (i = 0; i < STALL_TX; i++)
		FCT_CALL(fct_routed_send(&s->r, &s->r.conn[0], s->r.local.buf, STALL_LEN,
					 i));
	return 0;
}

static int unstall(struct share *s)
{
	static const char what[] = "more of what the stalled target was sent";
	const uint64_t until = s->r.conn[0].arrived + STALL_TX;
	struct fct_wait w;
	uint64_t posted = 0;
	int ret;

	/* Nothing may have come before there was a receive. */
	FCT_EQ(s->r.conn[0].arrived % STALL_TX, 0);
	fct_wait_init(&w, what);
	while (s->r.conn[0].arrived < until) {
		for (; posted < STALL_TX; posted++)
			FCT_CALL(fct_routed_recv(&s->r, &s->r.conn[0], s->r.local.buf,
						 STALL_LEN, posted));
		FCT_GET(ret, fct_routed_look(&s->r));
		if (ret)
			fct_wait_init(&w, what);
		else
			FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

static int await_sent(struct share *s)
{
	static const char what[] = "more of what was sent to the stalled target";

	FCT_WAIT_WHILE(s->r.conn[0].busy, what, fct_routed_look(&s->r));
	return 0;
}

static int turn(struct share *s, unsigned int n, uint64_t *ns)
{
	const bool client = fct_is_client(), stalls = n % 2;
	const uint64_t until = (uint64_t)WORK * (n + 1);
	uint64_t begun;

	if (client && stalls)
		FCT_DO(stall(s));
	FCT_DO(fct_barrier("the turn begins"));
	begun = fct_now_ns();
	FCT_DO(client ? work(s, until) : take_work(s, until));
	*ns = fct_now_ns() - begun;
	if (stalls)
		FCT_TRUE(!client || s->r.conn[0].busy);
	FCT_DO(fct_barrier("the turn ends"));
	if (stalls)
		FCT_DO(client ? await_sent(s) : unstall(s));
	return fct_barrier("nobody stalls");
}

static void say_ratio(const struct share *s, uint64_t free_ns[TURNS],
		      uint64_t stalled_ns[TURNS])
{
	const uint64_t bytes = (uint64_t)(s->r.count - 1) * WORK * LEN;

	fct_routed_sort(free_ns, TURNS);
	fct_routed_sort(stalled_ns, TURNS);
	fct_routed_say(&s->r,
		       "%u connections: %.0f MB/s; beside a stalled one %.0f MB/s: "
		       "ratio %.2f",
		       s->r.count - 1, (double)bytes * 1e3 / (double)free_ns[TURNS / 2],
		       (double)bytes * 1e3 / (double)stalled_ns[TURNS / 2],
		       (double)free_ns[TURNS / 2] / (double)stalled_ns[TURNS / 2]);
}

static int post_windows(struct share *s)
{
	uint32_t i, n;

	for (i = 1; i < s->r.count; i++)
		for (n = 0; n < WINDOW; n++)
			FCT_CALL(fct_routed_recv(&s->r, &s->r.conn[i], slot(s, i, n), LEN,
						 n));
	return 0;
}

FCT_CASE(stalled, "many connections work beside one whose target takes nothing")
{
	const uint32_t count = fct_routed.connections;
	const struct routed_size size = {
		.connections = count,
		.ops = count * WINDOW + 2 * STALL_TX,
		.tx = STALL_TX,
		.rx = STALL_TX,
		.local = STALL_LEN + (size_t)count * WINDOW * LEN,
	};
	uint64_t ns[2][TURNS];
	FCT_AUTO(fct_routed_end) struct share s = {.repost = true};
	unsigned int n;

	s.r.user = &s;
	s.r.ended = share_ended;
	FCT_DO(fct_routed_up(&s.r, &size));
	if (fct_is_server())
		FCT_DO(post_windows(&s));
	for (n = 0; n < 2 * TURNS; n++)
		FCT_DO(turn(&s, n, &ns[n % 2][n / 2]));
	if (fct_is_client())
		say_ratio(&s, ns[0], ns[1]);
	return 0;
}

/* --- Readers of one target --- */

#define READERS 32u
#define READ_LEN ((size_t)65536)
#define READ_WINDOW 4u
#define READ_MS 2000u
#define READS_LEAST 3200u /* of all: few may be shared in any way */
#define FAIR 0.95

static int read_fairly(struct routed *r)
{
	const struct routed_reading how = {.count = READERS,
					   .window = READ_WINDOW,
					   .len = READ_LEN,
					   .ms = READ_MS,
					   .least = READS_LEAST};
	double rate;

	FCT_DO(fct_routed_read_all(r, &how, &rate));
	FCT_DO(fct_routed_await(r, 0, "the last reads"));
	FCT_DO(fct_routed_fair(r, FAIR));
	return fct_routed_stop(r);
}

FCT_CASE(fair, "32 readers of one target get the same")
{
	const struct routed_size size = {
		.connections = READERS,
		.ops = READERS * READ_WINDOW + 1,
		.tx = 16,
		.rx = 16,
		.exposed = READ_LEN,
		.local = READERS * READ_WINDOW * READ_LEN,
	};
	FCT_AUTO(fct_routed_end) struct routed r = {0};

	FCT_DO(fct_routed_up(&r, &size));
	if (fct_is_server())
		FCT_DO(fct_routed_stop_arm(&r));
	FCT_DO(fct_barrier("reading begins"));
	return fct_is_client() ? read_fairly(&r) : fct_routed_until_stop(&r);
}
