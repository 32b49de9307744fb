/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of peer.h without a network, for who stands on them: peers that do what
 * the test says. What is posted is kept as it would arrive, and stays with the "lower
 * provider" until the test says done.
 *
 * Checked as it goes: a payload is not touched before its done, a receive is put once, a
 * message is posted or dropped once, a peer is closed once, and nothing is called with
 * one that is closed. fake_end checks that all has been given back.
 *
 * A peer is made by fake_peer, or by what calls rte_peer_connect and rte_peer_accept;
 * then it is up, says something, and ends, and a test looks at what it was sent
 * (fake_next, fake_at) and how it was closed.
 */
#ifndef FAKE_PEER_H
#define FAKE_PEER_H

#include "peer/peer.h"

/* A message that was posted, as it arrives. */
struct fake_message {
	struct crn_list entry;
	struct rte_tx *tx; /* NULL: its done was called */
	bool slot;	   /* the payload went into a landing slot */
	/* It is no message: rte_tx_place; its payload are the bytes. */
	bool placed, deliver;
	uint64_t addr, key;
	struct rte_packet packet;
	const uint8_t *payload; /* packet.head.plen bytes */
	size_t len;
	uint8_t bytes[];
};

struct rte_peer_inside {
	struct crn_list entry; /* of all */
	uint32_t credit[RTE_LANES];
	uint32_t slots[RTE_LANES];
	size_t slot_len;
	bool no_memory;
	bool no_words; /* no memory for what belongs to no lane */
	bool wants_ready;
	bool closed, bad;
	bool idle;	   /* rte_peer_idle */
	int status;	   /* of rte_peer_close */
	const char *what;  /* of rte_peer_bad */
	uint64_t expected; /* bytes, of rte_peer_expect */
	uint32_t receives; /* not put yet */
	uint32_t taken;	   /* rte_tx_get: neither posted nor dropped */
	uint32_t posted;   /* done has not been called */
	uint32_t read;	   /* messages that fake_next has returned */
	uint32_t sent;	   /* messages in the list */
	struct crn_list messages;
	struct rte_quota *quota; /* of rte_peer_quota */
};

struct fakes {
	struct crn_list peers;		  /* in the order in which they were made */
	uint32_t count;			  /* of them */
	int connect_ret;		  /* of rte_peer_connect */
	int accept_ret;			  /* of rte_peer_accept, which rejects then */
	bool rejected;			  /* the last request */
	bool crowded;			  /* no memory for connections */
	union crn_addr connected;	  /* where the last one went */
	struct rte_peer *last;		  /* that was connected or accepted */
	const struct rte_port *described; /* of the last rte_rx_desc */
	bool done_at_close;		  /* and not with the next progress */
	bool done_at_post;		  /* at once */
	/* Within the next rte_peer_close, once; NULL: nothing. */
	void (*at_close)(struct rte_peer *peer);
	ssize_t (*progress)(struct rte_port *port); /* NULL: as rte_port_progress says */
	const char *wrong; /* the first broken rule; NULL: none */
};

extern struct fakes fakes;

void fake_begin(void);
/* NULL, or which rule was broken, or what was not given back; frees all. */
const char *fake_end(void);

void fake_port(struct rte_port *port);
/* The peer of that number, from 0, or NULL. */
struct rte_peer *fake_peer_at(uint32_t at);
/* One that has connected, and is up. */
struct rte_peer *fake_peer(struct rte_port *port, enum rte_role role, uint64_t node);
/* What rte_peer_connect began comes about; fields of *peer that the test has not set are
 * RTE_EAGER, 65536 bytes for fragments. */
void fake_up(struct rte_peer *peer, enum rte_role role, uint64_t node);
void fake_down(struct rte_peer *peer, int err);
/* More credit, or memory again: ready is called if it was wanted. */
void fake_credit(struct rte_peer *peer, enum rte_lane lane, uint32_t credit);
void fake_memory(struct rte_peer *peer, bool there);

/* The peer says that. payload: in a landing slot; NULL: it is in bytes. */
void fake_say(struct rte_peer *peer, const void *bytes, size_t len, const void *payload);
/* The next message to the peer, or NULL; that of a number, and how many of a type there
 * are. Valid until fake_end. */
struct fake_message *fake_next(struct rte_peer *peer);
struct fake_message *fake_at(const struct rte_peer *peer, uint32_t at);
uint32_t fake_sent(const struct rte_peer *peer, uint8_t type);
/* Completes the oldest count messages that were posted. */
void fake_done(struct rte_peer *peer, uint32_t count, int err);

#endif
