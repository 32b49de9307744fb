/* SPDX-License-Identifier: BSD-2-Clause */
/* prov/route/peer without a lower provider: what is connected, closed and sent is kept,
 * and tests say what arrives. */
#ifndef ROUTER_FAKE_PEER_H
#define ROUTER_FAKE_PEER_H

#include "cairn_test.h"
#include "peer/peer.h"

#define FAKE_PEERS 640u
#define FAKE_MESSAGES 512u

struct fake_peer {
	struct rte_peer peer;
	bool closed;
	int status; /* of rte_peer_close */
	bool bad;   /* rte_peer_bad */
	bool stuck; /* rte_tx_get has nothing */
	uint32_t sent;
	struct {
		uint8_t *bytes;
		size_t len;
	} message[FAKE_MESSAGES];
	struct rte_tx tx;
	uint8_t room[RTE_SEND_ROOM];
};

struct fake_port {
	struct rte_port port;
	ssize_t work;	/* of rte_port_progress */
	int trywait;	/* of rte_port_trywait */
	uint32_t looks; /* calls of rte_port_progress */
};

/* All peers of this test, in the order in which they were made. */
extern struct fake_peer *fake_peers[FAKE_PEERS];
extern uint32_t fake_peers_count;
/* Messages that were received and not put. */
extern uint32_t fake_rx_held;
/* rte_net_open, rte_listen, rte_peer_connect and rte_peer_accept return it. */
extern int fake_net_fails, fake_listen_fails, fake_connect_fails, fake_accept_fails;
/* Of the last rte_request: it was rejected. */
extern bool fake_rejected;
/* There is no memory for connections. */
extern bool fake_crowded;
/* Of the preambles of those that arrive. */
extern uint8_t fake_flags;
/* The next rte_peer_close makes progress, as it does outside of a callback: what happens
 * then. NULL: nothing. */
extern void (*fake_meanwhile)(void);

/* Forgets all. At the end of each test. */
void fake_peers_free(void);
struct fake_peer *fake_of(struct rte_peer *peer);
struct fake_port *fake_port_of(struct rte_port *port);
/* The newest; NULL: there is none. */
struct fake_peer *fake_last(void);

/* Somebody connects to a device's listener. NULL: was rejected. */
struct fake_peer *fake_arrives(struct rte_listener *listener, enum rte_role role,
			       uint32_t as, uint32_t subnet, uint64_t node,
			       const char *address);
/* It is up: HELLOs have been exchanged. */
void fake_up(struct fake_peer *fake, uint32_t as, uint32_t subnet, uint64_t node,
	     uint64_t epoch);
void fake_down(struct fake_peer *fake, int err);
/* A message arrives, as it was packed. */
void fake_hears(struct fake_peer *fake, const void *bytes, size_t len);
/* What one has sent from there on arrives at another. */
uint32_t fake_carries(const struct fake_peer *from, uint32_t first, struct fake_peer *to);
/* How many messages of a type it has been sent. */
uint32_t fake_sent(const struct fake_peer *fake, uint8_t type);

#endif
