/* SPDX-License-Identifier: BSD-2-Clause */
/* A router with two devices among peers that do what the test says. */
#ifndef TRANSIT_WORLD_H
#define TRANSIT_WORLD_H

#include "cairn_test.h"
#include "route_fake/fake_peer.h"
#include "transit/transit.h"

#define WORLD_ID 77u	 /* of the router */
#define WORLD_NEXT 88u	 /* of the next one */
#define WORLD_EAGER 1000 /* bytes that out takes in a Send */

struct world {
	bool begun;
	struct frt_node node;
	struct frt_file file;
	struct rte_config config;
	struct rte_config_device config_device[2];
	struct frt_device device[2];
	struct rte_port port[2];
	struct frt_answer answer; /* of frt_route */
	struct rte_peer *in, *out;
	struct rte_conn_req req;    /* as it is asked */
	struct rte_options options; /* with it */
	uint32_t load;		    /* connections */
	uint32_t own_ttl;	    /* that frt_route_own was asked with */
};

extern struct world world;

/*
 * The answer is DELIVER; the rest of it and the request may be changed. Ends the world
 * that was there before: a test may have several, one after the other.
 */
void world_begin(void);
/* Checks that all connections are closed and all memory was returned. */
void world_end(void);
/* world_begin and world_open. */
void world_start(enum rte_role in, enum rte_role out);

/*
 * Fixtures: *t is &world. No connection, or one between routers. The test closes its
 * connection itself (world_tear_down), or need not.
 */
void world_set_up(struct world **t);
void world_set_up_routers(struct world **t);
void world_tear_down(struct world **t);
void world_tear_down_open(struct world **t);

/* Who asks: CLIENT or ROUTER. */
void world_ask(enum rte_role role);
/* The other peer is there, and has been sent CONN_REQ. */
void world_reach(enum rte_role in);
/* A connection from in to out, of those roles. Nothing that was said is left. */
void world_open(enum rte_role in, enum rte_role out);
/* Both programs have closed. */
void world_shut(void);

/* So much credit for both peers in both lanes. */
void world_credit(uint32_t credit);
/* Completes everything that was posted. NULL: nothing. */
void world_done(struct rte_peer *peer);

/* Time, and what it brings. */
void world_pass(unsigned int ms);
void world_rep(enum rte_verdict verdict, int status);
void world_ack(int status);
void world_shutdown(struct rte_peer *peer, int status);
/* One before it has waited for what was on its way. */
void world_shutdown_late(struct rte_peer *peer);

/* Bytes that differ from place to place. */
const uint8_t *world_bytes(size_t from);

/* A piece of an operation; what is 0 is what is usual: length is that of the payload. */
struct piece {
	uint8_t type; /* RTE_MSG */
	uint8_t flags;
	uint64_t seq;
	uint64_t length, offset;
	uint32_t len;
	bool slot;
	uint64_t ack;	    /* TLV */
	uint64_t addr, key; /* of a write */
};
void world_say(struct rte_peer *peer, const struct piece *piece);
void world_say_ack(struct rte_peer *peer, uint64_t request);

/* The next message to the peer is a piece like that, of world_bytes(offset). */
void world_expect(struct rte_peer *peer, const struct piece *piece);
void world_expect_ack(struct rte_peer *peer, uint64_t request);
/* The next is a write of the lower provider's, of world_bytes(offset), to key and addr.
 */
void world_expect_placed(struct rte_peer *peer, const struct piece *piece, bool deliver);
void world_expect_nothing(struct rte_peer *peer);

/* All that was posted is done; then both are closed. */
void world_expect_closed(void);

/* Of the only connection. */
const struct frt_lane *world_lane(enum frt_from from, enum rte_lane lane);

/* The next message to the peer, of that type, or NULL and a failed test. */
struct fake_message *world_next(struct rte_peer *peer, uint8_t type);
/* The next message is the CONN_REQ, or the CONN_REP, that was forwarded: zeros, and a
 * failed test, if not. Valid until the next call. */
const struct rte_conn_req *world_next_req(void);
const struct rte_conn_rep *world_next_rep(void);
/* CONN_REP of a failure. */
void world_expect_failed(int status, uint64_t router, const char *why);
/* CONN_ACK to out, with that status. */
void world_expect_given_up(int status);
void world_expect_shutdown(struct rte_peer *peer, int status, uint64_t router);
/* The same in order, late or not. */
void world_expect_shutdown_as(struct rte_peer *peer, bool late);

#endif
