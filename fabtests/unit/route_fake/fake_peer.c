/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include <cairn/compat.h>

#include "fake_peer.h"

struct fakes fakes;

struct rte_rx_inside {
	uint8_t *bytes, *payload;
	size_t len, plen;
};

struct rte_tx_inside {
	struct fake_message *message; /* NULL: not posted */
	bool slot;
	uint8_t bytes[RTE_SEND_ROOM];
};

static void rule(bool kept, const char *what)
{
	if (!kept && !fakes.wrong)
		fakes.wrong = what;
}

void fake_begin(void)
{
	fakes = (struct fakes){0};
	crn_list_init(&fakes.peers);
}

void fake_port(struct rte_port *port)
{
	*port = (struct rte_port){0};
	crn_list_init(&port->peers);
	crn_list_init(&port->zombies);
	crn_list_init(&port->ready);
}

/* --- Peers --- */

static struct rte_peer *peer_new(struct rte_port *port)
{
	struct rte_peer *peer = calloc(1, sizeof(*peer) + sizeof(*peer->in));

	peer->in = (struct rte_peer_inside *)(peer + 1);
	peer->port = port;
	peer->eager_max = RTE_EAGER;
	peer->frag_max = 65536;
	crn_list_init(&peer->in->messages);
	if (!fakes.count++)
		crn_list_init(&fakes.peers);
	crn_list_add_tail(&fakes.peers, &peer->in->entry);
	return peer;
}

static void peer_up(struct rte_peer *peer, enum rte_role role, uint64_t node)
{
	peer->state = RTE_PEER_UP;
	peer->remote.role = (uint8_t)role;
	peer->remote.node = node;
	snprintf(peer->text, sizeof(peer->text), "peer %u of role %u", (unsigned int)node,
		 (unsigned int)role);
}

struct rte_peer *fake_peer(struct rte_port *port, enum rte_role role, uint64_t node)
{
	struct rte_peer *peer = peer_new(port);

	peer->address.in = (struct sockaddr_in){.sin_family = AF_INET,
						.sin_addr.s_addr = htonl(0x0a000001),
						.sin_port = htons(999)};
	peer_up(peer, role, node);
	return peer;
}

struct rte_peer *fake_peer_at(uint32_t at)
{
	struct crn_list *entry;

	if (at >= fakes.count)
		return NULL;
	for (entry = fakes.peers.next; at; at--)
		entry = entry->next;
	return (struct rte_peer *)crn_container_of(entry, struct rte_peer_inside, entry) -
	       1;
}

static struct rte_peer *peer_of(struct rte_port *port, const struct sockaddr *addr,
				const struct rte_peer_ops *ops, void *user)
{
	struct rte_peer *peer = peer_new(port);

	peer->ops = ops;
	peer->user = user;
	memcpy(&peer->address, addr, crn_addr_len(addr));
	crn_addr_str(addr, peer->text);
	fakes.last = peer;
	return peer;
}

int rte_peer_connect(struct rte_port *port, const struct sockaddr *addr, uint8_t flags,
		     const struct rte_peer_ops *ops, void *user, struct rte_peer **peer)
{
	if (fakes.connect_ret)
		return fakes.connect_ret;
	*peer = peer_of(port, addr, ops, user);
	(*peer)->active = true;
	(*peer)->local.flags = flags;
	fakes.connected = (*peer)->address;
	return 0;
}

int rte_peer_accept(struct rte_port *port, struct rte_request *request,
		    const struct rte_peer_ops *ops, void *user, struct rte_peer **peer)
{
	if (fakes.accept_ret) {
		rte_request_reject(request);
		return fakes.accept_ret;
	}
	*peer = peer_of(port, &request->address.sa, ops, user);
	(*peer)->remote = request->preamble;
	return 0;
}

void rte_request_reject(struct rte_request *request)
{
	(void)request;
	fakes.rejected = true;
}

void rte_request_full(struct rte_request *request)
{
	rte_request_reject(request);
}

bool rte_request_denied(struct rte_request *request)
{
	(void)request;
	return false;
}

void fake_up(struct rte_peer *peer, enum rte_role role, uint64_t node)
{
	peer_up(peer, role, node);
	peer->ops->up(peer);
}

void fake_down(struct rte_peer *peer, int err)
{
	rule(!peer->in->closed && peer->state != RTE_PEER_DOWN, "down twice");
	peer->state = RTE_PEER_DOWN;
	if (peer->ops->down)
		peer->ops->down(peer, err);
}

void rte_peer_bad(struct rte_peer *peer, const char *what)
{
	rule(!peer->in->closed, "rte_peer_bad of one that is closed");
	peer->in->bad = true;
	peer->in->what = what;
}

static void peer_bad(struct rte_peer *peer)
{
	if (!peer->in->bad || peer->in->closed)
		return;
	peer->in->bad = false;
	fake_down(peer, EPROTO);
}

static void peer_ready(struct rte_peer *peer)
{
	if (!peer->in->wants_ready || peer->in->closed)
		return;
	peer->in->wants_ready = false;
	peer->ops->ready(peer);
	peer_bad(peer);
}

void fake_credit(struct rte_peer *peer, enum rte_lane lane, uint32_t credit)
{
	peer->in->credit[lane] += credit;
	peer_ready(peer);
}

void fake_memory(struct rte_peer *peer, bool there)
{
	peer->in->no_memory = peer->in->no_words = !there;
	if (there)
		peer_ready(peer);
}

/* --- What arrives --- */

static void *copy(const void *bytes, size_t len)
{
	void *to = malloc(len ? len : 1);

	memcpy(to, bytes, len);
	return to;
}

void fake_say(struct rte_peer *peer, const void *bytes, size_t len, const void *payload)
{
	struct rte_rx *rx = calloc(1, sizeof(*rx) + sizeof(*rx->in));

	rx->in = (struct rte_rx_inside *)(rx + 1);
	rx->in->bytes = copy(bytes, len);
	rx->in->len = len;
	rx->peer = peer;
	crn_list_init(&rx->entry);
	rule(rte_packet_parse(&rx->packet, rx->in->bytes, len) == RTE_OK,
	     "the test says what is no message");
	rx->lane = rte_message_lane(rx->packet.head.type);
	rx->payload = (uint8_t *)rx->packet.payload;
	if (payload) {
		rx->in->plen = rx->packet.head.plen;
		rx->in->payload = rx->payload = copy(payload, rx->in->plen);
	}
	peer->in->receives++;
	peer->ops->message(peer, rx);
	peer_bad(peer);
}

/* Whoever still reads it sees that it is gone. */
void rte_rx_put(struct rte_rx *rx)
{
	struct rte_rx_inside *in = rx->in;

	rule(rx->peer->in->receives, "rte_rx_put of more than there was");
	rx->peer->in->receives--;
	memset(in->bytes, 0xdd, in->len);
	if (in->payload)
		memset(in->payload, 0xdd, in->plen);
	free(in->bytes);
	free(in->payload);
	free(rx);
}

void *rte_rx_desc(const struct rte_rx *rx, const struct rte_port *port)
{
	fakes.described = port;
	return (char *)rx->in + port->index;
}

void rte_peer_expect(struct rte_peer *peer, enum rte_lane lane, uint64_t bytes)
{
	rule(lane == RTE_RESPONSES, "what is expected comes as responses");
	peer->in->expected += bytes;
}

void rte_arena_use(const struct rte_arena *arena, struct rte_arena_use *use)
{
	(void)arena;
	*use = (struct rte_arena_use){.bytes = 1000000, .bytes_taken = 4321};
}

bool rte_arena_room(const struct rte_arena *arena, uint32_t peers)
{
	(void)arena;
	return peers && !fakes.crowded;
}

/* --- What is sent --- */

bool rte_tx_may(struct rte_peer *peer, enum rte_lane lane)
{
	struct rte_peer_inside *in = peer->in;
	const bool may = peer->state == RTE_PEER_UP && !in->no_memory &&
			 (lane == RTE_LANES ? !in->no_words : in->credit[lane] > 0);

	rule(!in->closed, "a message for a peer that is closed");
	in->wants_ready |= !may;
	return may;
}

bool rte_peer_later(struct rte_peer *peer)
{
	rule(!peer->in->closed, "a message for a peer that is closed");
	peer->in->wants_ready |= peer->port->more;
	return peer->port->more;
}

struct rte_tx *rte_tx_get(struct rte_peer *peer, enum rte_lane lane, size_t room)
{
	struct rte_tx *tx;

	rule(room <= RTE_SEND_ROOM, "more room than a message has");
	if (!rte_tx_may(peer, lane))
		return NULL;
	tx = malloc(sizeof(*tx) + sizeof(*tx->in));
	memset(tx, 0xa5, sizeof(*tx) + sizeof(*tx->in));
	tx->in = (struct rte_tx_inside *)(tx + 1);
	tx->in->message = NULL;
	tx->in->slot = false;
	tx->peer = peer;
	tx->lane = lane;
	tx->bytes = tx->in->bytes;
	tx->room = room;
	tx->slot_len = 0;
	tx->data_len = 0;
	tx->done = NULL;
	tx->number = 0;
	tx->user = NULL;
	if (lane != RTE_LANES)
		peer->in->credit[lane]--;
	peer->in->taken++;
	return tx;
}

bool rte_tx_slot(struct rte_tx *tx)
{
	struct rte_peer_inside *in = tx->peer->in;

	rule(!tx->in->slot, "two slots for one message");
	if (!in->slots[tx->lane])
		return false;
	in->slots[tx->lane]--;
	tx->slot_len = in->slot_len;
	tx->in->slot = true;
	return true;
}

void rte_tx_drop(struct rte_tx *tx)
{
	struct rte_peer_inside *in = tx->peer->in;

	rule(!tx->in->message, "a message that was posted is dropped");
	if (tx->lane != RTE_LANES)
		in->credit[tx->lane]++;
	if (tx->in->slot)
		in->slots[tx->lane]++;
	in->taken--;
	free(tx);
}

/* Byte 24 of those that have a payload: its slot. */
#define SLOT_AT 24

static struct fake_message *message_new(struct rte_tx *tx, size_t len)
{
	struct fake_message *message = calloc(1, sizeof(*message) + len);

	message->tx = tx;
	message->len = len;
	return message;
}

static struct fake_message *arrive(struct rte_tx *tx)
{
	struct fake_message *message = message_new(tx, tx->len + tx->data_len);
	size_t len = tx->len;

	memcpy(message->bytes, tx->bytes, tx->len);
	if (tx->data_len)
		memcpy(message->bytes + tx->len, tx->data, tx->data_len);
	message->slot = tx->in->slot;
	if (message->slot)
		crn_put_le32(message->bytes + SLOT_AT, 7);
	else
		len = message->len;
	rule(rte_packet_parse(&message->packet, message->bytes, len) == RTE_OK,
	     "what is posted is no message");
	message->payload =
		message->slot ? message->bytes + tx->len : message->packet.payload;
	return message;
}

static void sent(struct rte_tx *tx, struct fake_message *message)
{
	struct rte_peer_inside *in = tx->peer->in;

	rule(!tx->data_len || fakes.described == tx->peer->port,
	     "a payload with the descriptor of another port");
	tx->in->message = message;
	crn_list_add_tail(&in->messages, &message->entry);
	in->taken--;
	in->posted++;
	in->sent++;
}

static void complete(struct fake_message *message, int err)
{
	struct rte_tx *tx = message->tx;

	message->tx = NULL;
	tx->peer->in->posted--;
	rule(!tx->data_len || !memcmp(message->bytes + message->len - tx->data_len,
				      tx->data, tx->data_len),
	     "a payload was touched before its done");
	if (tx->done)
		tx->done(tx, err);
	free(tx);
}

void rte_tx_post(struct rte_tx *tx)
{
	struct rte_peer_inside *in = tx->peer->in;
	struct fake_message *message = arrive(tx);

	rule(!in->closed, "rte_tx_post to a peer that is closed");
	rule(tx->len <= tx->room, "more was packed than there is room for");
	rule(!tx->in->message, "rte_tx_post twice");
	rule(!tx->in->slot || tx->data_len <= tx->slot_len, "more than the slot holds");
	rule(tx->in->slot || message->packet.head.plen <= RTE_EAGER_MAX,
	     "more than a Send holds");
	rule(rte_message_lane(message->packet.head.type) == tx->lane ||
		     tx->lane == RTE_LANES,
	     "a message in the lane of others");
	sent(tx, message);
	if (fakes.done_at_post)
		complete(message, 0);
}

bool rte_peer_idle(const struct rte_peer *peer)
{
	return peer->in->idle;
}

struct rte_tx *rte_tx_placing(struct rte_peer *peer)
{
	return rte_tx_get(peer, RTE_LANES, 0);
}

void rte_tx_place(struct rte_tx *tx, uint64_t addr, uint64_t key, bool deliver)
{
	struct fake_message *message = message_new(tx, tx->data_len);

	rule(!tx->peer->in->closed, "rte_tx_place at a peer that is closed");
	memcpy(message->bytes, tx->data, tx->data_len);
	message->payload = message->bytes;
	message->placed = true;
	message->deliver = deliver;
	message->addr = addr;
	message->key = key;
	sent(tx, message);
}

struct fake_message *fake_at(const struct rte_peer *peer, uint32_t at)
{
	struct crn_list *entry;

	if (at >= peer->in->sent)
		return NULL;
	for (entry = peer->in->messages.next; at; at--)
		entry = entry->next;
	return crn_container_of(entry, struct fake_message, entry);
}

struct fake_message *fake_next(struct rte_peer *peer)
{
	struct fake_message *message = fake_at(peer, peer->in->read);

	peer->in->read += message != NULL;
	return message;
}

uint32_t fake_sent(const struct rte_peer *peer, uint8_t type)
{
	struct crn_list *entry;
	uint32_t count = 0;

	crn_list_for_each (entry, &peer->in->messages)
		count += crn_container_of(entry, struct fake_message, entry)
				 ->packet.head.type == type;
	return count;
}

void fake_done(struct rte_peer *peer, uint32_t count, int err)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &peer->in->messages) {
		struct fake_message *message =
			crn_container_of(entry, struct fake_message, entry);

		if (!message->tx || !count)
			continue;
		complete(message, err);
		count--;
	}
	rule(!count, "the test completes more than there is");
}

void rte_peer_quota(struct rte_peer *peer, struct rte_quota *quota)
{
	peer->in->quota = quota;
}

void rte_peer_close(struct rte_peer *peer, int status)
{
	void (*at_close)(struct rte_peer * peer) = fakes.at_close;

	rule(!peer->in->closed, "rte_peer_close twice");
	peer->in->closed = true;
	peer->in->status = status;
	peer->state = RTE_PEER_DOWN;
	if (fakes.done_at_close)
		fake_done(peer, peer->in->posted, FI_ECANCELED);
	fakes.at_close = NULL;
	if (at_close)
		at_close(peer);
}

/* What closed peers had posted is over; nothing else happens by itself. */
ssize_t rte_port_progress(struct rte_port *port)
{
	struct crn_list *entry;
	ssize_t work = 0;

	if (fakes.progress)
		return fakes.progress(port);
	crn_list_for_each (entry, &fakes.peers) {
		struct rte_peer_inside *in =
			crn_container_of(entry, struct rte_peer_inside, entry);
		struct rte_peer *peer = (struct rte_peer *)in - 1;

		if (peer->port != port || !in->closed)
			continue;
		work += in->posted;
		fake_done(peer, in->posted, 0);
	}
	return work;
}

/* --- The end --- */

static void peer_free(struct rte_peer *peer)
{
	struct crn_list *entry;

	rule(peer->in->closed, "a peer was not closed");
	rule(!peer->in->receives, "a receive was not put");
	rule(!peer->in->taken, "a message was neither posted nor dropped");
	rule(!peer->in->posted, "the test has not completed a message");
	while ((entry = crn_list_pop(&peer->in->messages)))
		free(crn_container_of(entry, struct fake_message, entry));
	free(peer);
}

const char *fake_end(void)
{
	const char *wrong;
	struct crn_list *entry;

	for (; fakes.count && (entry = crn_list_pop(&fakes.peers)); fakes.count--)
		peer_free((struct rte_peer *)crn_container_of(entry,
							      struct rte_peer_inside,
							      entry) -
			  1);
	wrong = fakes.wrong;
	fakes.wrong = NULL;
	fakes.last = NULL;
	return wrong;
}
