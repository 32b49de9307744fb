/* SPDX-License-Identifier: BSD-2-Clause */
/* A router on the loopback address that answers CONN_REQ as the test says. */
#ifndef ROUTE_ROUTER_H
#define ROUTE_ROUTER_H

#include "ends.h"

#define ROUTER_PEERS 64

enum router_answer {
	ROUTER_SILENT,
	ROUTER_FAILS,	  /* with status */
	ROUTER_REDIRECTS, /* to uri */
	ROUTER_ACCEPTS,	  /* as if it were the way to a target */
	ROUTER_LEAVES,	  /* closes the connection */
};

struct router {
	struct rte_config *config;
	struct rte_net *net;
	struct rte_arena *arena;
	struct rte_port *port;
	struct rte_listener *listener;
	uint16_t number; /* where it listens */
	uint64_t node;
	enum router_answer answer;
	int status;
	uint64_t of; /* whose status that is; 0: its own */
	char uri[64];
	uint64_t features; /* that it leaves of those which are asked for */
	struct rte_peer *peer[ROUTER_PEERS];
	unsigned int peers, asked, acked, shut;
	struct rte_conn_req req; /* the last one */
	char param[64];
};

void router_open(struct router *router, uint64_t node);
void router_turn(struct router *router);
/* Closes what is open. */
void router_close(struct router *router);
/* ends_config with one router, or with both: second may be NULL. */
void router_config(const struct router *first, const struct router *second,
		   const char *routing);
/* Ends the connection that was accepted last, with SHUTDOWN and that status. */
void router_shutdown(struct router *router, int status);

#endif
