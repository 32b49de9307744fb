/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of peer.h that the data path calls. */
#include <errno.h>
#include <cairn/bytes.h>
#include "cairn_test.h"
#include "fake.h"

static struct fake_end *end_of(struct rte_peer *peer)
{
	return crn_container_of(peer, struct fake_end, peer);
}

bool rte_peer_later(struct rte_peer *peer)
{
	end_of(peer)->hungry |= peer->port->more;
	return peer->port->more;
}

bool rte_tx_may(struct rte_peer *peer, enum rte_lane lane)
{
	struct fake_end *end = end_of(peer);

	end->hungry |= !end->credits[lane];
	return end->credits[lane];
}

struct rte_tx *rte_tx_get(struct rte_peer *peer, enum rte_lane lane, size_t room)
{
	struct fake_end *end = end_of(peer);
	struct rte_tx_inside *in = end->tx;

	CT_EXPECT_LE(room, RTE_SEND_ROOM);
	if (!rte_tx_may(peer, lane)) {
		peer->stalls[lane]++;
		return NULL;
	}
	if (end->no_memory) {
		end->hungry = true;
		return NULL;
	}
	while (in < end->tx + FAKE_POOL && in->taken)
		in++;
	if (in == end->tx + FAKE_POOL) {
		end->hungry = true;
		return NULL;
	}
	end->credits[lane]--;
	memset(&in->tx, 0, sizeof(in->tx));
	in->tx.peer = peer;
	in->tx.lane = lane;
	in->tx.bytes = in->bytes;
	in->tx.room = room;
	in->tx.in = in;
	in->slot = RTE_SLOT_NONE;
	in->taken = true;
	in->posted = false;
	in->err = 0;
	in->straight = false;
	return &in->tx;
}

bool rte_peer_idle(const struct rte_peer *peer)
{
	return end_of((struct rte_peer *)peer)->credits[RTE_REQUESTS] == FAKE_CREDITS;
}

void rte_peer_lends(struct rte_peer *peer)
{
	end_of(peer)->lends = true;
}

struct rte_tx *rte_tx_direct(struct rte_peer *peer)
{
	struct fake_end *end = end_of(peer);
	struct rte_tx *tx;

	if (end->no_direct)
		return NULL;
	/* It takes no credit. */
	end->credits[RTE_REQUESTS]++;
	tx = rte_tx_get(peer, RTE_REQUESTS, 0);
	if (tx)
		tx->in->straight = true;
	else
		end->credits[RTE_REQUESTS]--;
	return tx;
}

ssize_t rte_tx_rma(struct rte_tx *tx, struct fi_msg_rma *msg, bool reads, uint64_t flags)
{
	struct fake_end *end = end_of(tx->peer);
	struct rte_tx_inside *in = tx->in;
	const size_t len = msg->msg_iov[0].iov_len;

	CT_EXPECT_TRUE(in->taken && in->straight && !in->posted && tx->done);
	CT_EXPECT_TRUE(msg->iov_count && msg->iov_count <= RTE_VC_IOV);
	CT_EXPECT_TRUE(msg->desc[0] || !end->port.mr_local);
	CT_EXPECT_FALSE(reads && (flags & FI_DELIVERY_COMPLETE));
	if (end->rma_again) {
		in->taken = false;
		return -FI_EAGAIN;
	}
	in->reads = reads;
	in->flags = flags;
	in->range = msg->rma_iov[0];
	in->iov_count = msg->iov_count;
	memcpy(in->iov, msg->msg_iov, msg->iov_count * sizeof(*in->iov));
	if (flags & FI_INJECT) {
		CT_EXPECT_TRUE(!reads && len <= FAKE_INJECTS && !tx->data_len);
		memcpy(in->bytes, in->iov[0].iov_base, len);
		in->iov[0].iov_base = in->bytes;
	}
	in->posted = true;
	end->out[end->out_count++] = in;
	return 0;
}

bool rte_tx_slot(struct rte_tx *tx)
{
	struct fake_end *end = end_of(tx->peer);
	uint32_t *slots = &end->slots[tx->lane];

	if (!*slots)
		return false;
	tx->in->slot = (uint32_t)__builtin_ctz(*slots);
	*slots &= *slots - 1;
	tx->slot_len = FAKE_SLOT_LEN;
	return true;
}

void rte_tx_post(struct rte_tx *tx)
{
	struct fake_end *end = end_of(tx->peer);

	CT_EXPECT_TRUE(tx->in->taken && !tx->in->posted);
	CT_EXPECT_LE(tx->len, tx->room);
	CT_EXPECT_TRUE(!tx->slot_len || tx->data_len);
	CT_EXPECT_TRUE(!tx->data_len || tx->done);
	CT_EXPECT_TRUE(!tx->data_len || tx->desc || !end->port.mr_local);
	tx->in->posted = true;
	end->out[end->out_count++] = tx->in;
}

void rte_tx_drop(struct rte_tx *tx)
{
	end_of(tx->peer)->credits[tx->lane]++;
	tx->in->taken = false;
}

void rte_rx_put(struct rte_rx *rx)
{
	struct fake_end *from = rx->in->from;

	CT_EXPECT_TRUE(rx->in->taken);
	rx->in->taken = false;
	if (!from)
		return;
	from->credits[rx->lane]++;
	if (rx->in->slot != RTE_SLOT_NONE)
		from->slots[rx->lane] |= 1u << rx->in->slot;
}

void rte_peer_expect(struct rte_peer *peer, enum rte_lane lane, uint64_t bytes)
{
	CT_EXPECT_EQ(lane, RTE_RESPONSES);
	end_of(peer)->expected += bytes;
}

void rte_peer_bad(struct rte_peer *peer, const char *what)
{
	struct fake_end *end = end_of(peer);

	end->bad = what;
	rte_vc_stop(&end->vc, EPROTO, 0);
}

static struct rte_rx_inside *rx_take(struct fake_end *end)
{
	struct rte_rx_inside *in = end->rx;

	while (in->taken)
		in++;
	CT_EXPECT_LT(in - end->rx, FAKE_POOL);
	in->taken = true;
	in->from = NULL;
	in->slot = RTE_SLOT_NONE;
	in->rx.peer = &end->peer;
	in->rx.in = in;
	return in;
}

static void rx_give(struct fake_end *to, struct rte_rx_inside *in, size_t len)
{
	struct rte_rx *rx = &in->rx;

	CT_EXPECT_EQ(rte_packet_parse(&rx->packet, in->bytes, len), RTE_OK);
	rx->lane = rte_message_lane(rx->packet.head.type);
	rx->payload = in->slot == RTE_SLOT_NONE ? (uint8_t *)rx->packet.payload
						: to->landing[rx->lane][in->slot];
	rte_vc_message(&to->vc, rx);
}

void fake_inject(struct fake_end *to, const uint8_t *bytes, size_t len)
{
	struct rte_rx_inside *in = rx_take(to);

	memcpy(in->bytes, bytes, len);
	rx_give(to, in, len);
}

/* What the lower provider sends, read now. Bytes of the message. */
static size_t transfer(struct fake_end *to, const struct rte_tx_inside *tx,
		       struct rte_rx_inside *rx)
{
	const uint32_t slot = tx->slot;
	size_t len = tx->tx.len;

	memcpy(rx->bytes, tx->bytes, len);
	rx->slot = slot;
	if (slot != RTE_SLOT_NONE) {
		CT_EXPECT_LE(tx->tx.data_len, FAKE_SLOT_LEN);
		memcpy(to->landing[tx->tx.lane][slot], tx->tx.data, tx->tx.data_len);
		crn_put_le32(rx->bytes + RTE_HEAD_LEN, slot);
	} else if (tx->tx.data_len) {
		memcpy(rx->bytes + len, tx->tx.data, tx->tx.data_len);
		len += tx->tx.data_len;
	}
	return len;
}

static void note(struct fake_end *from, const struct rte_rx_inside *in, size_t len)
{
	struct fake_seen *seen = &from->seen[from->seen_count++ % FAKE_LOG];
	struct rte_read_frag frag;
	struct rte_packet packet;
	struct rte_nack nack;
	struct rte_ack ack;

	CT_EXPECT_EQ(rte_packet_parse(&packet, in->bytes, len), RTE_OK);
	memset(seen, 0, sizeof(*seen));
	seen->type = packet.head.type;
	seen->flags = packet.head.flags;
	seen->plen = packet.head.plen;
	seen->seq = packet.head.seq;
	seen->slotted = in->slot != RTE_SLOT_NONE;
	seen->rode = packet.options.present & (1u << RTE_TLV_ACK);
	if (seen->type == RTE_ACK && rte_ack_parse(&ack, &packet) == RTE_OK)
		seen->request = ack.request;
	if (seen->type == RTE_NACK && rte_nack_parse(&nack, &packet) == RTE_OK)
		seen->request = nack.request;
	if (seen->type == RTE_READ_FRAG && rte_read_frag_parse(&frag, &packet) == RTE_OK)
		seen->request = frag.request;
}

static void router_ack(struct fake_end *to, uint64_t seq)
{
	const struct rte_ack ack = {.request = seq};
	struct rte_packet packet = {.head = {.type = RTE_ACK}};
	uint8_t bytes[64];
	const ssize_t len = rte_ack_pack(&packet, &ack, bytes, sizeof(bytes));

	fake_inject(to, bytes, (size_t)len);
}

/* The lower provider knows the region by its key. */
static void straight(struct fake_end *from, struct rte_tx_inside *tx)
{
	const struct crn_mr *mr = from->other->lent;
	uint8_t *at;
	size_t i;

	from->straight++;
	from->dones[from->done_count++] = tx;
	CT_ASSERT_TRUE(mr && tx->range.key == mr->number);
	CT_ASSERT_TRUE(tx->range.addr >= FAKE_BASE &&
		       tx->range.addr - FAKE_BASE + tx->range.len <= mr->len);
	at = (uint8_t *)mr->buf + (tx->range.addr - FAKE_BASE);
	for (i = 0; i < tx->iov_count; i++) {
		if (tx->reads)
			memcpy(tx->iov[i].iov_base, at, tx->iov[i].iov_len);
		else
			memcpy(at, tx->iov[i].iov_base, tx->iov[i].iov_len);
		at += tx->iov[i].iov_len;
	}
}

bool fake_deliver(struct fake *fake, struct fake_end *from)
{
	struct rte_tx_inside *tx = from->out[0];
	struct rte_rx_inside *rx;
	struct fake_seen *seen;
	size_t len;

	if (!from->out_count)
		return false;
	memmove(from->out, from->out + 1, --from->out_count * sizeof(*from->out));
	if (tx->straight) {
		straight(from, tx);
		return true;
	}
	rx = rx_take(from->other);
	rx->from = from;
	len = transfer(from->other, tx, rx);
	note(from, rx, len);
	seen = &from->seen[(from->seen_count - 1) % FAKE_LOG];
	from->dones[from->done_count++] = tx;
	if (from->done_first && !from->hold_done)
		fake_done(from);
	/* What is said of keys is for the router. */
	if (!fake->direct && seen->type == RTE_MR_INFO)
		rte_rx_put(&rx->rx);
	else
		rx_give(from->other, rx, len);
	if (fake->router_acks && seen->type == RTE_MSG &&
	    (seen->flags & (RTE_ACKREQ | RTE_DELIVER | RTE_COMMIT)) == RTE_ACKREQ)
		router_ack(from, seen->seq);
	return true;
}

void fake_done(struct fake_end *end)
{
	struct rte_tx_inside *in;
	struct rte_tx tx;

	while (end->done_count) {
		in = end->dones[0];
		memmove(end->dones, end->dones + 1,
			--end->done_count * sizeof(*end->dones));
		tx = in->tx;
		/* What was to be sent is the program's again. */
		memset(in->bytes, 0xee, sizeof(in->bytes));
		in->taken = false;
		end->hungry = true;
		if (tx.done)
			tx.done(&tx, in->err);
	}
}

static bool end_step(struct fake *fake, struct fake_end *end)
{
	bool any = fake_deliver(fake, end);

	if (end->done_count && !end->hold_done) {
		fake_done(end);
		any = true;
	}
	if (end->hungry) {
		end->hungry = false;
		rte_vc_ready(&end->vc);
		any |= end->out_count != 0;
	}
	return any;
}

void fake_run(struct fake *fake)
{
	bool any;

	do {
		any = end_step(fake, &fake->a);
		any |= end_step(fake, &fake->b);
	} while (any);
}

uint32_t fake_rx_kept(const struct fake_end *end)
{
	uint32_t i, count = 0;

	for (i = 0; i < FAKE_POOL; i++)
		count += end->rx[i].taken;
	return count;
}

uint32_t fake_sent(const struct fake_end *end, uint8_t type)
{
	uint32_t i, count = 0;

	for (i = 0; i < CRN_MIN(end->seen_count, FAKE_LOG); i++)
		count += end->seen[i].type == type;
	return count;
}
