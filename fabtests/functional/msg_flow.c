/* SPDX-License-Identifier: BSD-2-Clause */
/* Many messages in flight. */
#include "fct_fabric.h"

#define FLOOD_COUNT 4000u
#define FLOOD_LEN 256u
#define FLOOD_DEPTH 64u /* receives posted on each side */
#define FLOOD_WINDOW (FLOOD_DEPTH - 8)
#define FLOOD_ACK_EVERY (FLOOD_WINDOW / 2)
#define FLOOD_TX 32u /* send buffers */

/*
 * Each side floods the other; an acknowledgement returns credits when no data goes that
 * way.
 */
struct flood_msg {
	uint32_t ack_only;
	uint32_t seq;  /* of data messages */
	uint32_t seen; /* data messages received so far: returns credits */
	uint32_t fill[];
};

struct flood {
	struct fct_link l;
	struct fct_mem tx, rx;
	struct fct_ctx tx_ctx[FLOOD_TX], rx_ctx[FLOOD_DEPTH];
	uint32_t tx_busy; /* sends posted and not completed: they complete in order */
	uint32_t tx_next, tx_done;
	uint32_t sent, acked, seen, seen_told;
	uint32_t rx_next;
};

static int flood_post_recv(struct flood *f, uint32_t i)
{
	FCT_POST(f->l.rxcq, fi_recv(f->l.c.ep, f->rx.buf + (size_t)i * FLOOD_LEN,
				    FLOOD_LEN, f->rx.desc, 0, &f->rx_ctx[i]));
	return 0;
}

/* Returns 1 if one was sent, 0 if there is no room now. */
static int flood_send(struct flood *f, bool ack_only)
{
	uint32_t slot = f->tx_next % FLOOD_TX;
	uint8_t *buf = f->tx.buf + (size_t)slot * FLOOD_LEN;
	struct flood_msg *m = (struct flood_msg *)buf;
	size_t len =
		ack_only ? sizeof(*m) : sizeof(*m) + f->sent % (FLOOD_LEN - sizeof(*m));
	int ret;

	if (f->tx_busy == FLOOD_TX)
		return 0;
	m->ack_only = ack_only;
	m->seq = f->sent;
	m->seen = f->seen;
	fct_fill(buf + sizeof(*m), len - sizeof(*m), f->sent);
	ret = (int)fi_send(f->l.c.ep, buf, len, f->tx.desc, 0, &f->tx_ctx[slot]);
	if (ret == -FI_EAGAIN)
		return 0;
	FCT_CALL(ret);
	f->tx_next++;
	f->tx_busy++;
	f->seen_told = f->seen;
	f->sent += !ack_only;
	return 1;
}

static int flood_received(struct flood *f, const struct fi_cq_data_entry *e)
{
	uint32_t slot = f->rx_next++ % FLOOD_DEPTH;
	const uint8_t *buf = f->rx.buf + (size_t)slot * FLOOD_LEN;
	const struct flood_msg *m = (const struct flood_msg *)buf;

	FCT_TRUE(e->op_context == &f->rx_ctx[slot]);
	FCT_TRUE(e->len >= sizeof(*m));
	FCT_TRUE(m->seen >= f->acked && m->seen <= f->sent);
	f->acked = m->seen;
	if (!m->ack_only) {
		FCT_EQ(m->seq, f->seen);
		FCT_EQ(e->len, sizeof(*m) + m->seq % (FLOOD_LEN - sizeof(*m)));
		FCT_DATA(buf + sizeof(*m), e->len - sizeof(*m), m->seq);
		f->seen++;
	}
	return flood_post_recv(f, slot);
}

/* Returns 1 if a completion was handled, 0 if there was none. */
static int flood_reap(struct flood *f)
{
	struct fi_cq_data_entry e[8];
	ssize_t i, n = fi_cq_read(f->l.txcq, e, 8);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL)
		return fct_cq_fail(f->l.txcq, "a message of the flood");
	FCT_CALL(n);
	for (i = 0; i < n; i++) {
		if (e[i].flags & FI_RECV) {
			FCT_DO(flood_received(f, &e[i]));
			continue;
		}
		FCT_EQ(e[i].flags, FI_SEND | FI_MSG);
		FCT_TRUE(e[i].op_context == &f->tx_ctx[f->tx_done++ % FLOOD_TX]);
		f->tx_busy--;
	}
	return 1;
}

static int flood_loop(struct flood *f)
{
	struct fct_wait w;
	int did, ret = 0;

	fct_wait_init(&w, "the flood to move");
	while (f->seen_told < FLOOD_COUNT || f->acked < FLOOD_COUNT || f->tx_busy) {
		did = 0;
		if (f->sent < FLOOD_COUNT && f->sent - f->acked < FLOOD_WINDOW)
			FCT_DO(did = flood_send(f, false));
		else if (f->seen - f->seen_told >= FLOOD_ACK_EVERY ||
			 (f->seen == FLOOD_COUNT && f->seen_told < FLOOD_COUNT))
			FCT_DO(did = flood_send(f, true));
		FCT_GET(ret, flood_reap(f));
		if (did || ret)
			fct_wait_init(&w, "the flood to move");
		else
			FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

FCT_CASE(flood, "thousands of messages both ways, in order, under credits")
{
	/*
	 * A transmit queue shorter than what is sent at once, so that -FI_EAGAIN happens.
	 */
	struct fct_setup s = {.caps = FI_MSG, .tx_size = 16, .rx_size = FLOOD_DEPTH};
	FCT_AUTO(fct_link_end) struct flood f = {0};
	uint32_t i;

	FCT_DO(fct_link_up(&f.l, &s));
	FCT_DO(fct_mem_alloc(&f.l, &f.tx, FLOOD_TX * FLOOD_LEN, FI_SEND));
	FCT_DO(fct_mem_alloc(&f.l, &f.rx, FLOOD_DEPTH * FLOOD_LEN, FI_RECV));
	for (i = 0; i < FLOOD_DEPTH; i++)
		FCT_DO(flood_post_recv(&f, i));
	FCT_DO(fct_barrier("receives posted"));
	return flood_loop(&f);
}

/* ---- */

#define FULL_TX 16u
#define FULL_LEN 64u
#define FULL_DEPTH 256u
#define FULL_LIMIT 100000u /* a queue that takes this many is not bounded */

static int full_recv(struct fct_link *l, struct fct_mem *m, struct fct_ctx *ctx,
		     uint32_t slot)
{
	FCT_POST(l->rxcq, fi_recv(l->c.ep, m->buf + (size_t)slot * FULL_LEN, FULL_LEN,
				  m->desc, 0, &ctx[slot]));
	return 0;
}

/* Receives until the message that says how many there were. */
static int full_server(struct fct_link *l, struct fct_mem *m, struct fct_ctx *ctx)
{
	uint32_t n = 0, slot, total = UINT32_MAX;
	struct fi_cq_data_entry e;
	const uint32_t *msg;

	while (n < total) {
		slot = n % FULL_DEPTH;
		msg = (const uint32_t *)(m->buf + (size_t)slot * FULL_LEN);
		FCT_DO(fct_comp(l->rxcq, &ctx[slot], FI_RECV | FI_MSG, &e,
				"the next message"));
		FCT_EQ(msg[0], n);
		if (msg[1])
			total = n + 1;
		n++;
		FCT_DO(full_recv(l, m, ctx, slot));
	}
	return 0;
}

static int full_send(struct fct_link *l, struct fct_mem *m, struct fct_ctx *ctx,
		     uint32_t n, bool last)
{
	uint32_t *msg = (uint32_t *)(m->buf + (size_t)(n % FULL_LIMIT) * 8);

	msg[0] = n;
	msg[1] = last;
	return (int)fi_send(l->c.ep, msg, 8, m->desc, 0, &ctx[n % FULL_DEPTH]);
}

static int full_client(struct fct_link *l, struct fct_mem *m, struct fct_ctx *ctx)
{
	uint32_t posted = 0, done = 0, refused = 0;
	struct fi_cq_data_entry e;
	int ret = 0;

	/*
	 * Nothing is read until the queue is full; then one completion makes room for at
	 * least one send.
	 */
	while (posted < FULL_LIMIT - 1 && refused < 100) {
		ret = full_send(l, m, ctx, posted, false);
		if (!ret) {
			posted++;
			continue;
		}
		FCT_ERR(ret, -FI_EAGAIN);
		refused++;
		FCT_DO(fct_comp(l->txcq, &ctx[done % FULL_DEPTH], FI_SEND | FI_MSG, &e,
				"the oldest send of a full queue"));
		done++;
	}
	while ((ret = full_send(l, m, ctx, posted, true)) == -FI_EAGAIN) {
		FCT_DO(fct_comp(l->txcq, &ctx[done % FULL_DEPTH], FI_SEND | FI_MSG, &e,
				"a send"));
		done++;
	}
	FCT_CALL(ret);
	posted++;
	while (done < posted) {
		FCT_DO(fct_comp(l->txcq, &ctx[done % FULL_DEPTH], FI_SEND | FI_MSG, &e,
				"a send"));
		done++;
	}
	fct_note("%u sends, refused %u times", posted, refused);
	FCT_DO(fct_cq_quiet(l->txcq, "after the last send"));
	if (!refused)
		return fct_skip(
			"took %u sends without a completion being read: the queue "
			"has no bound",
			posted);
	return 0;
}

FCT_CASE(queue_full, "a full transmit queue says -FI_EAGAIN and recovers")
{
	struct fct_setup s = {.caps = FI_MSG,
			      .tx_size = FULL_TX,
			      .rx_size = FULL_DEPTH,
			      .split_cq = true};
	struct fct_ctx ctx[FULL_DEPTH];
	struct fct_mem m;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	uint32_t i;

	FCT_DO(fct_link_up(&l, &s));
	FCT_DO(fct_mem_alloc(&l, &m, FULL_LIMIT * 8 + FULL_DEPTH * FULL_LEN,
			     FI_SEND | FI_RECV));
	for (i = 0; fct_is_server() && i < FULL_DEPTH; i++)
		FCT_DO(full_recv(&l, &m, ctx, i));
	FCT_DO(fct_barrier("receives posted"));
	return fct_is_server() ? full_server(&l, &m, ctx) : full_client(&l, &m, ctx);
}

/* ---- */

#define BIDI_COUNT 16u
#define BIDI_LEN (1u << 20)

FCT_CASE(bidirectional, "large messages both ways at once")
{
	struct fct_setup s = {.caps = FI_MSG,
			      .tx_size = BIDI_COUNT,
			      .rx_size = BIDI_COUNT};
	struct fct_ctx tx_ctx[BIDI_COUNT], rx_ctx[BIDI_COUNT];
	uint32_t i, sent = 0, received = 0, base = fct_is_client() ? 100 : 200;
	struct fi_cq_data_entry e;
	struct fct_mem tx, rx;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	size_t len = BIDI_LEN;

	FCT_DO(fct_link_up(&l, &s));
	if (len > l.c.info->ep_attr->max_msg_size)
		len = l.c.info->ep_attr->max_msg_size;
	FCT_DO(fct_mem_alloc(&l, &tx, BIDI_COUNT * len, FI_SEND));
	FCT_DO(fct_mem_alloc(&l, &rx, BIDI_COUNT * len, FI_RECV));
	for (i = 0; i < BIDI_COUNT; i++) {
		fct_fill(tx.buf + i * len, len, base + i);
		FCT_POST(l.rxcq,
			 fi_recv(l.c.ep, rx.buf + i * len, len, rx.desc, 0, &rx_ctx[i]));
	}
	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; i < BIDI_COUNT; i++)
		FCT_POST(l.txcq,
			 fi_send(l.c.ep, tx.buf + i * len, len, tx.desc, 0, &tx_ctx[i]));
	while (sent < BIDI_COUNT || received < BIDI_COUNT) {
		FCT_DO(fct_comp_any(l.txcq, &e, "messages in both directions"));
		if (e.flags & FI_SEND) {
			FCT_TRUE(sent < BIDI_COUNT && e.op_context == &tx_ctx[sent]);
			sent++;
			continue;
		}
		FCT_TRUE(received < BIDI_COUNT && e.op_context == &rx_ctx[received]);
		FCT_EQ(e.len, len);
		received++;
	}
	for (i = 0; i < BIDI_COUNT; i++)
		FCT_DATA(rx.buf + i * len, len, (fct_is_client() ? 200 : 100) + i);
	return 0;
}
