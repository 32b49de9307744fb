/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages, writes and reads of all sizes, both ways at once; every byte is compared when
 * a completion says that it is there.
 *
 * Each side sends items, which the other one knows by their number. An item is a message,
 * a write and an empty message behind it, or a write with data: each takes one receive,
 * so the next completion of a receive is the next item. How many have been compared is
 * written into a word of the sender's, who has no more than WINDOW on the way.
 */
#include "routed.h"

#define WINDOW 8u
#define MOST ((size_t)4 << 20) /* bytes of an item */
#define ROOM (MOST + 64)       /* with bytes behind it that stay */
#define READS 4u

enum item { MESSAGE, NOTED, WITH_DATA, ITEMS };
enum kind { ITEM, READ };

/* Exposed: a word, slots for writes, what is read. */
#define SLOTS_AT ((size_t)4096)
#define FIXED_AT (SLOTS_AT + WINDOW * ROOM)
#define EXPOSED (FIXED_AT + MOST)
/* Local: receives, items, reads. */
#define ITEMS_AT (WINDOW * ROOM)
#define READS_AT (ITEMS_AT + WINDOW * ROOM)
#define LOCAL (READS_AT + READS * ROOM)

#define FIXED_SEED 99u

struct mixed {
	struct routed r;
	uint64_t all, sent, got, told;
	uint32_t item_busy[WINDOW];
	bool read_busy[READS];
	bool noted; /* the write of the next item has been posted */
	uint64_t reads, read_turn;
	uint64_t bytes;
};

/* splitmix64 */
static uint64_t chance(uint64_t n)
{
	n += 0x9e3779b97f4a7c15;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
	n = (n ^ n >> 27) * 0x94d049bb133111eb;
	return n ^ n >> 31;
}

/* Of very many items most are small: a million take minutes, and not hours. */
#define VERY_MANY 100000u
#define LARGE 64u /* one in so many of them may be */

static size_t size_of(uint64_t by)
{
	static const size_t edges[] = {0,      1,      4096,	 4097,	 8191,
				       8192,   8193,   65536,	 262143, 262144,
				       262145, 524289, MOST - 1, MOST};
	static const size_t below[] = {64,   64,   64,	  64,	 8192,
				       8192, 8192, 65536, 65536, 65536};
	const unsigned int kind = (unsigned int)(by % 100);

	by >>= 8;
	if (fct_routed.iterations >= VERY_MANY && (by >> 40) % LARGE)
		return by % below[kind % 10];
	if (kind < 10)
		return edges[by % (sizeof(edges) / sizeof(edges[0]))];
	if (kind == 10)
		return by % MOST;
	if (kind < 18)
		return by % (MOST / 8);
	return by % below[kind % 10];
}

/* Of the client's items and the server's. */
static uint64_t seed(bool client, uint64_t n)
{
	return n * 2 + client;
}

static size_t item_size(bool client, uint64_t n)
{
	return size_of(chance(seed(client, n) ^ 0x5a17));
}

static enum item item_kind(bool client, uint64_t n)
{
	const uint64_t by = chance(seed(client, n) ^ 0xc0de) % 10;

	return by < 6 ? MESSAGE : by < 8 ? NOTED : WITH_DATA;
}

static uint8_t *receive_at(struct mixed *m, uint64_t n)
{
	return m->r.local.buf + n % WINDOW * ROOM;
}

static volatile uint64_t *compared(struct mixed *m)
{
	return (volatile uint64_t *)m->r.exposed.buf;
}

/* --- What arrives --- */

static int post_receive(struct mixed *m, uint64_t n)
{
	uint8_t *at = receive_at(m, n);

	memset(at, 0xee, 64);
	FCT_CALL(fct_routed_recv(&m->r, &m->r.conn[0], at, MOST, n));
	return 0;
}

static int item_arrived(struct mixed *m, const struct routed_op *op)
{
	const bool client = !fct_is_client();
	const uint64_t n = m->got++;
	const enum item kind = item_kind(client, n);
	const size_t len = item_size(client, n);
	const struct fi_cq_data_entry *e = &m->r.entry;
	uint8_t *at = receive_at(m, n);

	if (op->number != n)
		FCT_FAIL("receive %llu has ended before receive %llu",
			 (unsigned long long)op->number, (unsigned long long)n);
	if (kind == MESSAGE)
		FCT_EQ(e->len, len);
	if (kind == NOTED)
		FCT_EQ(e->len, 0);
	if (kind == WITH_DATA) {
		FCT_TRUE(e->flags & FI_REMOTE_CQ_DATA);
		FCT_EQ(e->data, n);
	}
	if (kind != MESSAGE) {
		FCT_TRUE(fct_all(at, 64, 0xee));
		at = m->r.exposed.buf + SLOTS_AT + n % WINDOW * ROOM;
	}
	if (fct_compare(at, len, seed(client, n), 0, "an item"))
		FCT_FAIL("item %llu, of kind %d and %zu bytes: %s", (unsigned long long)n,
			 kind, len, fct.why);
	memset(at, 0x11, len);
	m->bytes += len;
	if (n + WINDOW < m->all)
		FCT_DO(post_receive(m, n + WINDOW));
	return 0;
}

static int read_ended(struct mixed *m, const struct routed_op *op)
{
	const uint32_t slot = (uint32_t)(op->number % READS);
	const uint64_t at = op->number / READS;

	m->read_busy[slot] = false;
	m->bytes += op->len;
	return fct_compare(m->r.local.buf + READS_AT + slot * ROOM, op->len, FIXED_SEED,
			   at, "a read");
}

static int mixed_ended(struct routed *r, struct routed_op *op, int err)
{
	struct mixed *m = r->user;

	if (err)
		return fct_fail("%s %llu: %s", op->receives ? "receive" : "operation",
				(unsigned long long)op->number, fi_strerror(err));
	if (op->receives)
		return item_arrived(m, op);
	if (op->kind == READ)
		return read_ended(m, op);
	m->item_busy[op->number % WINDOW]--;
	return 0;
}

/* --- What is sent: these return libfabric's codes --- */

static ssize_t post_piece(struct mixed *m, uint64_t n, enum item kind, bool note)
{
	const struct fct_op op = {
		.form = note || kind == MESSAGE ? FCT_SEND
			: kind == WITH_DATA	? FCT_WRITEDATA
						: FCT_WRITE,
		.buf = m->r.local.buf + ITEMS_AT + n % WINDOW * ROOM,
		.len = note ? 0 : item_size(fct_is_client(), n),
		.addr = m->r.peer.addr + SLOTS_AT + n % WINDOW * ROOM,
		.key = m->r.peer.key,
		.data = n,
	};
	const int ret = fct_routed_post(&m->r, &m->r.conn[0], &op, ITEM, n);

	m->item_busy[n % WINDOW] += !ret;
	return ret;
}

static ssize_t send_item(struct mixed *m)
{
	const bool client = fct_is_client();
	const uint64_t n = m->sent;
	const enum item kind = item_kind(client, n);
	ssize_t ret;

	if (!m->noted) {
		if (n == m->all || n - *compared(m) >= WINDOW || m->item_busy[n % WINDOW])
			return -FI_EAGAIN;
		fct_fill(m->r.local.buf + ITEMS_AT + n % WINDOW * ROOM,
			 item_size(client, n), seed(client, n));
		ret = post_piece(m, n, kind, false);
		if (ret)
			return ret;
		m->noted = kind == NOTED;
	}
	if (m->noted) {
		ret = post_piece(m, n, kind, true);
		if (ret)
			return ret;
	}
	m->noted = false;
	m->sent++;
	return 0;
}

static ssize_t send_read(struct mixed *m)
{
	const uint64_t by = chance(m->reads ^ 0xeead);
	const uint32_t slot = (uint32_t)(m->reads % READS);
	const size_t len = size_of(by), at = (size_t)(chance(by) % (MOST - len + 1));
	const struct fct_op op = {.form = FCT_READ,
				  .buf = m->r.local.buf + READS_AT + slot * ROOM,
				  .len = len,
				  .addr = m->r.peer.addr + FIXED_AT + at,
				  .key = m->r.peer.key};
	int ret;

	/* About one for three items. */
	if (m->reads * 3 > m->sent || m->sent == m->all || m->read_busy[slot])
		return -FI_EAGAIN;
	memset(op.buf, 0x11, len);
	ret = fct_routed_post(&m->r, &m->r.conn[0], &op, READ,
			      (uint64_t)at * READS + slot);
	if (ret)
		return ret;
	m->read_busy[slot] = true;
	m->reads++;
	return 0;
}

static ssize_t send_word(struct mixed *m)
{
	const uint64_t word = m->got;
	ssize_t ret;

	if (word < m->told + 2 && (word < m->all || m->told == word))
		return -FI_EAGAIN;
	ret = fi_inject_write(m->r.conn[0].c.ep, &word, sizeof(word), 0, m->r.peer.addr,
			      m->r.peer.key);
	if (!ret)
		m->told = word;
	return ret;
}

static int send_some(struct mixed *m)
{
	ssize_t (*const sends[])(struct mixed * m) = {send_word, send_item, send_read};
	size_t i;
	ssize_t n;

	for (i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
		n = sends[i](m);
		if (n != -FI_EAGAIN)
			FCT_CALL(n);
	}
	return 0;
}

static bool mixed_over(struct mixed *m)
{
	return m->sent == m->all && m->got == m->all && m->told == m->all &&
	       *compared(m) == m->all && !m->r.busy;
}

static int mix(struct mixed *m)
{
	struct fct_wait w;
	uint64_t seen = 0;
	int ret = 0;

	fct_wait_init(&w, "the next item");
	while (!mixed_over(m)) {
		FCT_DO(send_some(m));
		FCT_GET(ret, fct_routed_look(&m->r));
		if (ret)
			continue;
		if (seen != m->got)
			fct_wait_init(&w, "the next item");
		seen = m->got;
		FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

FCT_CASE(mixed, "messages, writes and reads of all sizes, both ways: every byte")
{
	const struct routed_size size = {.connections = 1,
					 .ops = 4 * WINDOW,
					 .tx = 4 * WINDOW,
					 .rx = 2 * WINDOW,
					 .exposed = EXPOSED,
					 .local = LOCAL};
	FCT_AUTO(fct_routed_end) struct mixed m = {.all = fct_routed.iterations};
	uint64_t begun = fct_now_ms();
	uint64_t n;

	m.r.user = &m;
	m.r.ended = mixed_ended;
	FCT_DO(fct_routed_up(&m.r, &size));
	fct_fill(m.r.exposed.buf + FIXED_AT, MOST, FIXED_SEED);
	for (n = 0; n < WINDOW && n < m.all; n++)
		FCT_DO(post_receive(&m, n));
	FCT_DO(fct_barrier("ready"));
	FCT_DO(mix(&m));
	if (fct_is_client())
		fct_routed_say(&m.r,
			       "%llu items each way and %llu reads, %llu MB, %llu ms",
			       (unsigned long long)m.all, (unsigned long long)m.reads,
			       (unsigned long long)m.bytes / 1000000,
			       (unsigned long long)(fct_now_ms() - begun));
	return 0;
}
