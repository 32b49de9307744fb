/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults: what becomes of a message, and messages that are late. */
#include <string.h>
#include <cairn/wait.h>
#include "inside.h"

#define AT_TYPE 2 /* in a message (wire.h) */

/* --- Rules --- */

static enum rte_fault_class class_of(uint8_t type)
{
	static const uint8_t classes[RTE_TYPES] = {
		[RTE_DIGEST] = RTE_FAULT_LINKS,
		[RTE_LSREQ] = RTE_FAULT_LINKS,
		[RTE_LSA] = RTE_FAULT_LINKS,
		[RTE_AS_REACH] = RTE_FAULT_LINKS,
		[RTE_HEARTBEAT] = RTE_FAULT_KEEPALIVES,
		[RTE_CONN_REQ] = RTE_FAULT_CONTROL,
		[RTE_CONN_REP] = RTE_FAULT_CONTROL,
		[RTE_CONN_ACK] = RTE_FAULT_CONTROL,
		[RTE_SHUTDOWN] = RTE_FAULT_CONTROL,
		[RTE_MSG] = RTE_FAULT_DATA,
		[RTE_WRITE] = RTE_FAULT_DATA,
		[RTE_READ_REQ] = RTE_FAULT_DATA,
		[RTE_READ_FRAG] = RTE_FAULT_DATA,
		[RTE_ACK] = RTE_FAULT_ACKS,
		[RTE_NACK] = RTE_FAULT_ACKS,
		[RTE_MR_RESOLVE] = RTE_FAULT_CONTROL,
		[RTE_MR_INFO] = RTE_FAULT_CONTROL,
		[RTE_MR_INVAL] = RTE_FAULT_CONTROL,
		[RTE_KEEPALIVE] = RTE_FAULT_KEEPALIVES,
		[RTE_GRANT] = RTE_FAULT_GRANTS,
	};

	return type < RTE_TYPES ? (enum rte_fault_class)classes[type] : RTE_FAULT_ALL;
}

static bool of_peer(const struct rte_fault *fault, const struct rte_peer *peer,
		    enum rte_fault_way way)
{
	if (!(fault->ways & way) || (fault->most && fault->hits >= fault->most))
		return false;
	if (fault->device[0] && strcmp(fault->device, peer->port->net->device->name))
		return false;
	if (fault->router &&
	    (peer->remote.role != RTE_ROUTER || peer->remote.node != fault->router))
		return false;
	return fault->host.sa.sa_family == AF_UNSPEC ||
	       crn_addr_same_host(&fault->host.sa, &peer->address.sa);
}

/* splitmix64: the same messages for the same seed. */
static bool happens(struct rte_fault *fault)
{
	uint64_t z = fault->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return z % RTE_FAULT_ALWAYS < fault->chance;
}

/* The first rule that fits decides; NULL: none does. */
static const struct rte_fault *judge(const struct rte_peer *peer, enum rte_fault_way way,
				     uint8_t type)
{
	struct rte_faults *faults = peer->port->faults;
	struct rte_fault *fault = NULL;
	uint32_t i;

	crn_lock(&faults->lock);
	for (i = 0; i < faults->count && !fault; i++) {
		fault = &faults->fault[i];
		if (!of_peer(fault, peer, way) ||
		    (fault->class != RTE_FAULT_ALL && fault->class != class_of(type)) ||
		    !happens(fault))
			fault = NULL;
	}
	if (fault)
		fault->hits++;
	crn_unlock(&faults->lock);
	return fault;
}

/* Nothing passes, now. */
static bool blocked(const struct rte_peer *peer, enum rte_fault_way way)
{
	struct rte_faults *faults = peer->port->faults;
	bool found = false;
	uint32_t i;

	crn_lock(&faults->lock);
	for (i = 0; i < faults->count && !found; i++)
		found = faults->fault[i].act == RTE_FAULT_BLACKHOLE &&
			of_peer(&faults->fault[i], peer, way);
	crn_unlock(&faults->lock);
	return found;
}

/* --- What is late --- */

static struct rte_rx_inside *first_rx(const struct rte_peer_inside *in)
{
	return crn_list_empty(&in->late)
		       ? NULL
		       : crn_container_of(in->late.next, struct rte_rx_inside, entry);
}

static struct rte_tx_inside *first_tx(const struct rte_peer_inside *in)
{
	return crn_list_empty(&in->stuck)
		       ? NULL
		       : crn_container_of(in->stuck.next, struct rte_tx_inside, entry);
}

/* When the first of them goes on; UINT64_MAX: there is none, or nobody knows. */
static uint64_t peer_next(struct rte_peer_inside *in)
{
	const struct rte_rx_inside *rx = first_rx(in);
	const struct rte_tx_inside *tx = first_tx(in);
	uint64_t next = UINT64_MAX;

	if (rx && !blocked(&in->peer, RTE_FAULT_IN))
		next = rx->due;
	if (tx && tx->due && !blocked(&in->peer, RTE_FAULT_OUT))
		next = CRN_MIN(next, tx->due);
	return next;
}

static struct rte_peer_inside *peer_of(const struct crn_list *entry)
{
	return crn_container_of(entry, struct rte_peer_inside, entry);
}

/* One message that is late no more. What comes of it may close any peer. */
static bool let_one_in(struct rte_port *port, uint64_t now)
{
	const struct crn_list *entry;
	struct rte_rx_inside *rx;

	crn_list_for_each (entry, &port->peers) {
		rx = first_rx(peer_of(entry));
		if (!rx || peer_of(entry)->failed || rx->due > now ||
		    blocked(rx->rx.peer, RTE_FAULT_IN))
			continue;
		crn_list_del(&rx->entry);
		receive_late(rx, rx->len, rx->lost);
		return true;
	}
	return false;
}

static void watch(struct rte_port *port)
{
	const struct crn_list *entry;
	uint64_t next = UINT64_MAX;
	bool late = false;

	crn_list_for_each (entry, &port->peers) {
		next = CRN_MIN(next, peer_next(peer_of(entry)));
		late = late || !crn_list_empty(&peer_of(entry)->late);
	}
	if (next != UINT64_MAX)
		crn_deadline_add(&port->deadlines, &port->fault, next);
	else if (!late && !port->faults->count)
		port->faults = NULL;
}

static void some_are_due(struct crn_deadline *deadline)
{
	struct rte_port *port = crn_container_of(deadline, struct rte_port, fault);
	const uint64_t now = crn_now_ms();
	const struct crn_list *entry;

	while (let_one_in(port, now))
		;
	crn_list_for_each (entry, &port->peers)
		if (!crn_list_empty(&peer_of(entry)->stuck))
			send_note(&peer_of(entry)->peer);
	watch(port);
}

void rte_port_faults(struct rte_port *port, struct rte_faults *faults)
{
	port->faults = faults;
	port->fault.expired = some_are_due;
	crn_deadline_add(&port->deadlines, &port->fault, crn_now_ms());
}

static uint64_t due(const struct rte_fault *fault)
{
	const bool delay = fault && fault->act == RTE_FAULT_DELAY;

	return crn_now_ms() + (delay ? fault->delay : 0);
}

/* --- What arrives, and what leaves --- */

bool fault_arrives(struct rte_rx_inside *in, size_t len)
{
	struct rte_peer *peer = in->rx.peer;
	const struct rte_fault *fault =
		judge(peer, RTE_FAULT_IN, len > AT_TYPE ? in->buf->data[AT_TYPE] : 0);
	const bool waits = !crn_list_empty(&peer->in->late);

	in->lost = fault && fault->act == RTE_FAULT_DROP;
	if (!waits && (!fault || fault->act == RTE_FAULT_DUPLICATE))
		return false;
	if (!waits && in->lost) {
		receive_late(in, len, true);
		return true;
	}
	in->len = len;
	in->due = due(fault);
	crn_list_add_tail(&peer->in->late, &in->entry);
	watch(peer->port);
	return true;
}

bool fault_keeps(const struct rte_tx_inside *tx)
{
	return tx->due > crn_now_ms() || blocked(tx->tx.peer, RTE_FAULT_OUT);
}

/* The same once more, if there is room; what it says is said twice. */
static void send_twice(struct rte_tx_inside *in)
{
	const struct rte_tx *tx = &in->tx;
	struct rte_tx *copy;

	if (in->places || tx->data_len || tx->slot_len || tx->len > RTE_SMALL_ROOM)
		return;
	copy = rte_tx_get(tx->peer, tx->lane, tx->len);
	if (!copy)
		return;
	memcpy(copy->bytes, tx->bytes, tx->len);
	copy->len = tx->len;
	send_post(copy);
}

bool fault_leaves(struct rte_tx_inside *in)
{
	const uint8_t type = in->places ? RTE_WRITE : in->tx.bytes[AT_TYPE];
	const struct rte_fault *fault = judge(in->tx.peer, RTE_FAULT_OUT, type);

	if (!fault)
		return false;
	switch (fault->act) {
	case RTE_FAULT_DUPLICATE:
		send_twice(in);
		return false;
	case RTE_FAULT_DROP:
		/* A write that was done nobody can undo, and one that was not done has to
		 * be told. */
		if (in->places)
			return false;
		in->lost = true;
		break;
	default:
		in->due = due(fault);
		break;
	}
	send_late(in);
	watch(in->tx.peer->port);
	return true;
}
