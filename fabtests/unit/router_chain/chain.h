/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chain of routers over provider tcp on the loopback device, in one process: clients
 * connect to the first, the last one to a target. Ends speak the protocol as a program's
 * provider does, and check what arrives.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include "cairn_test.h"
#include "peer/peer.h"
#include "transit/transit.h"

#define CHAIN_ROUTERS 3
#define CHAIN_CONNS 4
#define CHAIN_LAND 65536u /* bytes of a landing slot */
/* The id of the first router; then one more for each. */
#define CHAIN_ID 100u

/* One end of a connection, which sends messages 1, 2, ..., wanted. */
struct chain_end {
	struct rte_peer *peer; /* NULL: closed */
	uint32_t conn;
	uint32_t frag, eager; /* of the path */
	bool open, hold;      /* hold: what arrives is not put */
	bool closing;	      /* SHUTDOWN follows what is wanted */
	int err;	      /* of ops->down */
	/* Sent. */
	uint64_t wanted, sent, offset, acked;
	uint32_t flying; /* messages with payload that are not done */
	bool ask;	 /* for acknowledgements */
	/* Received: the last whole one, and how much of the next. */
	uint64_t received, arrived;
	struct crn_list held;
	/* How it ended, or did not begin. */
	uint8_t verdict;
	bool shut;
	int status;
	uint64_t router;
};

struct chain_router {
	struct frt_node node;
	struct frt_file file;
	struct rte_config config;
	struct rte_config_device config_device[2];
	struct frt_device device[2];
	struct rte_arena *arena;
	struct rte_listener *listener;
	union crn_addr address;
};

struct chain {
	struct rte_config *config;
	struct rte_net *net;
	uint32_t routers;
	struct chain_router router[CHAIN_ROUTERS];
	struct rte_arena *arena; /* of the ends */
	struct rte_port *client_port, *target_port;
	struct rte_listener *listener; /* NULL: nobody listens */
	union crn_addr address;
	struct chain_end client[CHAIN_CONNS], target[CHAIN_CONNS];
	uint32_t conns, targets;
};

extern struct chain chain;

void chain_open(uint32_t routers);
/* Another connection, of which nothing has come about yet. */
struct chain_end *chain_connect(void);
/* And it is open at both ends; the target of client[i] is target[i]. */
struct chain_end *chain_join(void);
/* All is given back. */
void chain_close(void);
/* Progress of all. */
void chain_turn(void);
/* Turns until it is so, for at most 20 s. */
#define CHAIN_UNTIL(condition)                                                     \
	do {                                                                       \
		const uint64_t end_ = crn_now_ms() + 20000;                        \
		bool so_;                                                          \
		while (!(so_ = (condition)) && crn_now_ms() < end_)                \
			chain_turn();                                              \
		CT_OR_RETURN(ct_truth(__FILE__, __LINE__, #condition, so_, true)); \
	} while (0)

/* --- Ends (chain_end.c) --- */

extern const struct rte_peer_ops chain_end_ops;
void chain_end_begin(void);
/* Sends what can be sent. */
void chain_pump(struct chain_end *end);
/* What an end has held is put, and nothing is held any more. */
void chain_let_go(struct chain_end *end);

#endif
