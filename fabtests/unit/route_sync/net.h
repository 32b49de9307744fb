/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulated networks: routers, links between two of them, and what may happen to messages
 * on the way. Events happen in the order of their times, and everything follows from the
 * seed.
 */
#ifndef SYNC_NET_H
#define SYNC_NET_H

#include "cairn_test.h"
#include "message.h"

#define NET_AS 3u
#define NET_ROUTERS 33u
#define NET_LINKS 128u
#define NET_REFRESH 10000u
#define NET_LIFE (3 * NET_REFRESH)
#define NET_RECONNECT 500u /* ms between tries */
#define NET_CROSSINGS 200000u

enum net_state { NET_OFF, NET_RUNS, NET_STOPPED };

struct net;

struct net_event {
	uint64_t at, number; /* ms; events of one time in the order of numbers */
	uint32_t link, connection;
	int32_t to; /* end; -1: the two try to connect; -2, -3: end 0, 1 goes down */
	struct rte_sync_message message;
};

struct net_router {
	struct net *net;
	uint32_t at;
	enum net_state state;
	struct rte_sync *sync;
	uint64_t epoch;
	uint64_t due; /* ms, its next tick; UINT64_MAX while it does not run */
	uint32_t load;
	uint32_t events[RTE_SYNC_REACHES + 1];
	struct net_event *waiting; /* what came while it was stopped */
	uint32_t waits;
};

struct net_link {
	struct net *net;
	uint32_t end[2]; /* routers */
	uint32_t delay;	 /* ms, at least; faults add to it */
	bool blocked[2]; /* what end i sends is lost */
	struct rte_adjacency *adjacency[2];
	bool lost[2];	     /* RTE_SYNC_LOST has been told: it goes down soon */
	uint32_t connection; /* its number: what older ones carry does not arrive */
	uint64_t arrives[2]; /* ms, the last message that end i has sent */
};

/* Of 1,000 messages; ms. */
struct net_faults {
	uint32_t loss, duplicates;
	uint32_t no_memory; /* when a message comes, or a tick */
	uint32_t delay;
	bool reorders;
};

/* An LSA on a link. */
struct net_crossing {
	uint64_t router, epoch, seq;
	uint32_t link;
	uint32_t from; /* end */
};

struct net {
	uint64_t now;
	struct net_router router[NET_ROUTERS];
	uint32_t routers;
	struct net_link link[NET_LINKS];
	uint32_t links;
	struct net_faults faults;
	uint64_t random;
	struct net_event *event; /* a heap */
	uint32_t events, events_size;
	uint64_t numbers;
	struct net_crossing *crossing; /* all of them, once there is room for them */
	uint32_t crossings;
	uint64_t sent[RTE_SYNC_BYE + 1]; /* messages by type */
};

/* No router runs yet. A network that is open is closed first. */
void net_open(struct net *net, uint32_t routers, uint64_t seed);
void net_close(struct net *net);
uint32_t net_link(struct net *net, uint32_t a, uint32_t b);
uint32_t net_draw(struct net *net, uint32_t below);

/* It starts, with a higher epoch, and its links try to connect. */
void net_start(struct net *net, uint32_t router);
void net_start_all(struct net *net);
/* kill -9 of a host: silence. */
void net_kill(struct net *net, uint32_t router);
/* An orderly end. */
void net_end(struct net *net, uint32_t router);
/* SIGSTOP: messages wait for it. And SIGCONT. */
void net_stop(struct net *net, uint32_t router);
void net_go_on(struct net *net, uint32_t router);
/* Nothing passes any more, or in one direction, or again. */
void net_block(struct net *net, uint32_t link, bool from_first, bool from_second);
/* A change of what it says of itself. */
void net_change(struct net *net, uint32_t router);

void net_run(struct net *net, uint64_t ms);
/* Until all know what they should (net_agrees), at most so long: ms that it took, or
 * UINT64_MAX. */
uint64_t net_settle(struct net *net, uint64_t most);

/* From here on crossings are kept. */
void net_record(struct net *net);

/* --- net_check.c --- */

/*
 * In each part of the network all know of each of them its latest words, and these name
 * exactly the neighbours that it reaches. Of those that it does not reach, all know the
 * same.
 */
bool net_agrees(const struct net *net);
/* Does router a know of router b? */
bool net_knows(const struct net *net, uint32_t a, uint32_t b);
/* Is there a way from a to b, as router `of` knows the graph? */
bool net_route(const struct net *net, uint32_t of, uint32_t a, uint32_t b);
/* How often the LSA that crossed a link most often in one direction did so. */
uint32_t net_most_crossings(struct net *net);
static inline uint64_t net_id(uint32_t router)
{
	return 100 + 7 * (uint64_t)router;
}
/* The subnet of a link, and one behind each router. */
static inline uint32_t net_subnet(uint32_t link)
{
	return 1000 + link;
}
static inline uint32_t net_stub(uint32_t router)
{
	return 1 + router;
}

#endif
