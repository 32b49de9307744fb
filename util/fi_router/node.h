/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The router daemon's state: what it has read, its devices, what it knows of its network,
 * and the questions that its parts ask of it. The main thread's; what worker/ runs beside
 * it may read all of it in its turns, and writes what is below `shared` alone.
 *
 * Who calls whom: the loop (serve.h) calls everybody; parts above this one ask frt_route
 * (route.h) and tell frt_node_*; this one calls transit through struct frt_transit_ops
 * alone.
 */
#ifndef FRT_NODE_H
#define FRT_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cairn/addr.h>
#include <cairn/deadline.h>
#include <cairn/list.h>
#include <cairn/lock.h>
#include "config/config.h"
#include "peer/fault.h"
#include "peer/peer.h"
#include "sync/sync.h"
#include "topo/topo.h"
#include "wire/wire.h"

struct frt_node;
struct frt_routes; /* route.c */
struct frt_worker; /* worker/ */

/* A file that was read; devices that were opened with it hold it. */
struct frt_file {
	struct rte_config *config;
	uint32_t users;
};

/* --- Devices --- */

#define FRT_WORKERS_MAX RTE_WORKERS_MAX /* beside the main thread */
#define FRT_RESERVE 16u			/* descriptors, at most */

/* What connections that have ended did at a device. */
struct frt_past {
	uint64_t rx, tx;	     /* messages */
	uint64_t rx_bytes, tx_bytes; /* of payload */
	/* Of those that were passed on: times that a peer there gave no credit, and for
	 * how long, together. */
	uint64_t stalls[RTE_LANES], stall_ns[RTE_LANES];
};

/* A device as one worker has it. */
struct frt_port {
	struct frt_device *device;
	struct frt_worker *worker;
	struct rte_port *port; /* NULL: the device does not work now */
	int fd[RTE_PORT_FDS];  /* in the worker's epoll; -1: not */
	bool fired;	       /* something has happened, or may have */
	uint32_t quiet;	       /* turns in a row in which nothing happened here */
	int failed;	       /* FI_E*: it works no more; 0: it does */
	struct frt_past past;  /* since the start of the daemon */
	/* Of struct frt_guest (device/): who has connected and said nothing yet. */
	struct crn_list guests;
};

struct frt_device {
	struct frt_node *node;
	struct frt_file *file; /* that it was opened with */
	/* In node->file, or what it was while the device is closed. */
	const struct rte_config_device *config;
	struct rte_net_id id; /* as the AS calls the subnet; also WANs */
	/* NULL: it does not work now; so is the next, which is at the main thread's port.
	 */
	struct rte_net *net;
	struct rte_listener *listener;
	struct frt_port at[FRT_WORKERS_MAX + 1]; /* by the worker's index */
	struct rte_auth_ring *keys;		 /* NULL: none */
	struct rte_auth_heard heard;		 /* proofs, at any worker's port */
	struct rte_uri uri;			 /* where others reach it; as text: */
	char uri_text[RTE_URI_SIZE];
	uint64_t rate; /* bit/s, never 0 */
	bool up;       /* it listens: the LSA says so */
	bool foreign;  /* a WAN: on it are routers of other AS */
	/* Of struct frt_adjacency (adjacency.h): connections to other routers. */
	struct crn_list adjacencies;
	/* Of struct frt_target: routers to connect to. */
	struct crn_list targets;
	uint32_t target_count;
	struct crn_deadline again; /* when it is opened again */
	struct crn_deadline sweep; /* mute.c: of TCP connections that send nothing */
	uint64_t mute;		   /* closed by sweeps in a row; 0: none lately */
	uint64_t mute_at;	   /* ms: the last one */
	uint32_t tries;		   /* without success */
};

/* --- Clients: hosts that programs connect from --- */

/* One host; two subnets may have hosts of one address. */
struct frt_client {
	struct crn_list entry;
	const struct frt_device *device;
	union crn_addr address; /* its port means nothing */
	uint32_t peers;		/* connections, among them those that have just begun */
	/* Of all its connections: landing slots that this router has granted for them, at
	 * either side, and keys of regions that it knows. */
	struct rte_quota slots, resolves;
};

/* --- Transit: connections that are passed on (transit.h) --- */

/*
 * How the node calls transit. All but request are called by the main thread, outside of
 * frt_route; those that are called in a callback of a peer say so.
 */
struct frt_transit_ops {
	/* Sets worker->transits of all workers. Before any device is opened. */
	int (*open)(struct frt_node *node);
	/* All its peers have been closed by device_gone. */
	void (*close)(struct frt_node *node);
	/*
	 * A peer of role CLIENT, or of role ROUTER that begins no adjacency, has sent its
	 * first CONN_REQ: rx, which is transit's to put. In the peer's callback, by the
	 * worker of that port. The peer is transit's: it sets its ops and user, and
	 * closes it. client: of a peer of role CLIENT, to be given back with
	 * frt_client_put once the peer has been closed.
	 */
	void (*request)(struct frt_port *port, struct rte_peer *peer,
			struct frt_client *client, struct rte_rx *rx);
	/* Closes all its peers of the device, whose ports are closed next. status: for
	 * SHUTDOWN and BYE. */
	void (*device_gone)(struct frt_node *node, struct frt_device *device, int status);
};

/* --- Questions --- */

/* A CONN_REQ: which way does it go? */
struct frt_question {
	const struct frt_device *in; /* that it has come over */
	const struct rte_peer *from;
	const struct frt_client *client; /* of from; NULL: a router */
	const struct rte_conn_req *req;
	const struct rte_options *options; /* of its packet */
};

enum frt_what {
	FRT_REFUSE,
	/* The target is on the subnet of that device: a peer to address is connected. */
	FRT_DELIVER,
	FRT_FORWARD, /* to the next router, at address */
	/* The client is told of uri, where a better router listens. */
	FRT_REDIRECT,
};

#define FRT_TEXT_SIZE 160u

struct frt_answer {
	enum frt_what what;
	/* DELIVER, FORWARD. */
	struct frt_device *device;
	union crn_addr address;
	/*
	 * What goes into the CONN_REQ beside ttl - 1 (of FORWARD) and what is narrowed:
	 * source (a client's is what this router has seen of it), and the path: 1 to
	 * RTE_TTL_MAX entries. On a path a WAN is of AS 0, also a private one.
	 */
	struct rte_end source;
	uint32_t hops;
	struct rte_hop path[RTE_TTL_MAX];
	uint64_t rate;	  /* bit/s of device */
	uint32_t latency; /* ns of device; 0: unknown */
	/* FORWARD: the next router, which is of that AS; REDIRECT: that one. */
	uint32_t as;
	uint64_t router;
	char uri[RTE_URI_SIZE]; /* FORWARD, REDIRECT: as others write it */
	/* REFUSE: FI_EHOSTUNREACH, FI_ENETUNREACH: no way there now; FI_EACCES; ELOOP;
	 * FI_ENOBUFS: the client has too many connections; FI_ENOMEM. */
	int status;
	char text[FRT_TEXT_SIZE]; /* REFUSE: why, for WHY and the log */
};

/* route.c. Pure but for a cache; the answer is the caller's memory. Any worker in its
 * turn. */
void frt_route(struct frt_node *node, const struct frt_question *question,
	       struct frt_answer *answer);

/* --- The node (node.c) --- */

/* Returns the time of day in ns since 1970, the unit of epochs. */
uint64_t frt_time_of_day(void);

/* While node->drain: drain.c. */
struct frt_draining {
	uint64_t since; /* ms, as all of them */
	uint64_t empty; /* since when nothing is left; 0: something is */
	bool exit;	/* the daemon ends when it is empty, ... */
	uint64_t until; /* ... or then, whatever is left; 0: not before */
	bool told;	/* the service manager, of so many connections: */
	uint32_t left;
	struct crn_deadline look; /* when it is looked at again */
};

struct frt_counters {
	uint64_t requests; /* for connections, of clients and routers */
	uint64_t delivered, forwarded, redirected, refused; /* answers of frt_route */
	uint64_t unreached; /* of those that went on: the next hop did not answer in time
			     */
	uint64_t accepted;  /* connections of the lower providers */
	uint64_t rejected;  /* of them: not accepted */
	uint64_t mute;	    /* TCP connections that were closed: they had sent nothing */
	uint64_t silent;    /* of them: no first message in time */
	/* Hosts that were not let in, by enum rte_denial. */
	uint64_t denied[RTE_DENIALS];
	uint64_t unknown_as;	    /* of another AS than may be there */
	uint64_t acl;		    /* requests that no acl allows */
	uint64_t quota_connections; /* clients that had as many as they may */
	uint64_t quota_slots;	    /* of clients that have gone */
	uint64_t quota_resolves;    /* the same */
	uint64_t adjacencies_up, adjacencies_down;
	uint64_t malformed;  /* messages of the exchange that could not be read */
	uint64_t queue_full; /* adjacencies that were closed: they did not read */
	uint64_t
		duplicate_id; /* connections and LSAs that show two routers with one id */
};

struct frt_node {
	const char *path;  /* of the configuration */
	const char *lower; /* a provider in place of the transports'; NULL: none */
	struct frt_file *file;
	uint64_t epoch; /* of the start: ns of the time of day */
	uint64_t id;	/* the router's, which does not change */
	bool early; /* it offers what the first version did, for tests of mixed ones */
	/* The first is the main thread's; beside it there are none, or two and more. */
	struct frt_worker *worker[FRT_WORKERS_MAX + 1];
	uint32_t workers;
	struct frt_device *device[RTE_CONFIG_DEVICES_MAX];
	uint32_t devices;
	struct rte_sync *sync;
	struct frt_routes *routes;
	const struct frt_transit_ops *transit;
	/* Taken when a connection begins and ends, for no message; guards what several
	 * workers write: the next five, `changed` when the load does, the cache of
	 * routes. */
	struct crn_lock shared;
	struct crn_list clients; /* of struct frt_client */
	struct frt_counters counters;
	uint32_t load;	    /* connections, of transit */
	uint32_t load_most; /* since memory last went back */
	uint32_t guests;    /* of all devices */
	bool failed;	    /* a port: the main thread looks for it */
	bool scarce;	    /* descriptors: new connections are refused */
	bool out;	    /* another router has this router's id: rte_sync_is_out */
	/* The main thread's again. */
	bool drain;		  /* takes no new clients; frt_node_drain */
	struct rte_faults faults; /* injected on purpose (control/) */
	struct frt_draining draining;
	bool leave; /* the loop is to end, as by SIGTERM */
	/* To be done before the loop sleeps: */
	bool moved;			/* the exchange has gone on: frt_sync_turn */
	bool changed;			/* the LSA is to be made anew */
	bool retarget;			/* other routers may have to be connected to */
	bool news;			/* link states have changed */
	struct crn_deadlines deadlines; /* all but the ports' own */
	struct crn_deadline tick;	/* of sync */
	struct crn_list lookups;	/* of struct frt_lookup (lookup.c) */
	uint32_t lookup_count;
	int wake;  /* an eventfd: one of them is over */
	int nudge; /* an eventfd: a worker has something for the main thread */
	int epfd;  /* what the main thread sleeps on */
	int reserve[FRT_RESERVE]; /* descriptors that are held back... */
	uint32_t reserved;	  /* ...so many of them */
	uint64_t reserve_limit;	  /* of open files, as they were held back */
	bool stopping;		  /* nothing is begun any more */
};

static inline const struct rte_config *frt_config(const struct frt_node *node)
{
	return node->file->config;
}

/* The main thread's. */
static inline struct rte_port *frt_device_port(const struct frt_device *device)
{
	return device->at[0].port;
}

/* One more of node->counters, or of guests. Any worker in its turn; so are those of
 * clients below. */
void frt_node_count(struct frt_node *node, uint64_t *counter);
void frt_node_guests(struct frt_node *node, int more);
/* A port has failed: the main thread is told. */
void frt_node_failed(struct frt_node *node);
/* Transit has a connection more; false: there are `most` already. */
bool frt_node_load_add(struct frt_node *node, uint32_t most);
void frt_node_load_sub(struct frt_node *node);
/* Gives memory back to the system when half of many connections have ended. The main
 * thread's. */
void frt_node_trim(struct frt_node *node);
/* What others are told: rounded. */
uint32_t frt_node_load_told(const struct frt_node *node);
/*
 * Is there a descriptor for one more lower connection? The last of them are for
 * fi_routectl and for this router's own connections to others, half of those also for
 * who may be a neighbour: the lower provider, which takes one before anybody is asked,
 * would look for ever at who waits for one. Says in the log when that changes.
 */
bool frt_node_descriptors(struct frt_node *node, bool neighbour);
/*
 * The last descriptors are held back by numbers of their own, for no lower provider asks
 * before it accepts. Holds those that can be held of the limit that there is now.
 */
void frt_node_reserve(struct frt_node *node);
/* Frees one of them, for what accepts next. False: none is left. */
bool frt_node_reserve_use(struct frt_node *node);
void frt_node_reserve_drop(struct frt_node *node);
/* No new connections of clients; others are told. */
void frt_node_drain(struct frt_node *node, bool drain);
/* The device on that subnet, as the AS calls it; NULL: there is none. */
struct frt_device *frt_node_device(const struct frt_node *node, uint32_t scope_as,
				   uint32_t subnet);

/* How the AS calls the subnet of a device. */
struct rte_net_id frt_net_id(const struct rte_config_device *device);

/* Takes the configuration over. NULL: no memory. */
struct frt_file *frt_file_new(struct rte_config *config);
struct frt_file *frt_file_use(struct frt_file *file);
void frt_file_put(struct frt_file *file);

/* NULL: no memory. */
struct frt_client *frt_client_get(struct frt_node *node, const struct frt_device *device,
				  const union crn_addr *address);
/* Adds what clients have of counters as long as they are there. The main thread. */
void frt_clients_count(const struct frt_node *node, struct frt_counters *counters);
/* One connection less. NULL is allowed. */
void frt_client_put(struct frt_node *node, struct frt_client *client);

#endif
