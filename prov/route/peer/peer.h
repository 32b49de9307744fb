/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers: whoever is at the other end of a connection of the lower provider, and speaks
 * the protocol of wire.h. What clients, routers and targets have in common: devices,
 * memory, the preambles and HELLOs that begin a connection, credits and landing slots,
 * signs of life. What a message means is the owner's business.
 *
 * A port is one device with one domain and one completion queue of the lower provider,
 * and everything that happens on it. All of a port's objects are guarded by one lock of
 * the owner's, held when any function here is called, and therefore in every callback;
 * an owner with one thread needs none. Callbacks may call every function but
 * rte_port_progress, rte_port_close and rte_ports_linger.
 */
#ifndef RTE_PEER_H
#define RTE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <cairn/addr.h>
#include <cairn/deadline.h>
#include <cairn/bytes.h>
#include <cairn/list.h>
#include "auth/auth.h"
#include "config/config.h"
#include "fault.h"
#include "flow/flow.h"
#include "wire/wire.h"

/* Bytes of a message in front of its eager payload: the longest header is that of a
 * CONN_REQ with a whole path and two addresses, or of an LSA. */
#define RTE_HEAD_ROOM 1536u
/* Bytes of a payload that a Send brings: what this end offers (wire: eager_max). */
#define RTE_EAGER 8192u
/* Bytes of a Send that is received. */
#define RTE_SEND_ROOM (RTE_HEAD_ROOM + RTE_EAGER)
/* Of a message without an eager payload. */
#define RTE_SMALL_ROOM 256u
/* The longest of these: a CONN_REQ with the application's bytes. */
#define RTE_WORDS_ROOM (RTE_HEAD_ROOM + 1024u)

/* --- Devices (net.c) --- */

/* A device of the configuration, found at a provider of libfabric. Any thread may read
 * it. */
struct rte_net {
	const struct rte_config_device *device;
	struct fi_info *info; /* of the lower provider, without a destination */
	struct fid_fabric *fabric;
	char prov[64]; /* "tcp" */
};

/*
 * lower: a provider in place of those of the transport (rte_transport_attr); NULL: none.
 * Where it looks: the device's fabric and domain, its uri, or whatever leads to its first
 * router. 0; -FI_ENODATA: no provider has it; or what libfabric returned. why: what to
 * tell people then.
 */
int rte_net_open(const struct rte_config_device *device, const char *lower,
		 struct rte_net **net, char why[256]);
void rte_net_close(struct rte_net *net);
/* An address of the device as the lower provider takes it: names are resolved, which may
 * take time. 0, or -FI_ENODATA: there is none. */
int rte_net_resolve(const struct rte_net *net, const struct rte_uri *uri,
		    union crn_addr *addr);
/* Addresses of a name that are looked at. */
#define RTE_NET_TURNS 8u
/* All that it has, at most those: how many there are. */
uint32_t rte_net_resolve_all(const struct rte_net *net, const struct rte_uri *uri,
			     union crn_addr addr[RTE_NET_TURNS]);
/* That one of them, from 0 on. -FI_ENODATA: there are not as many. */
int rte_net_resolve_turn(const struct rte_net *net, const struct rte_uri *uri,
			 uint32_t turn, union crn_addr *addr);
/* The same the other way round: host and port of an address as the device's URI. */
void rte_net_uri(const struct rte_net *net, const struct sockaddr *addr,
		 struct rte_uri *uri);

/* --- Memory (arena.c) --- */

/*
 * Buffers for messages and landing slots, registered once with each port that joined,
 * before any buffer is taken. Grows by chunks up to its bounds. One lock guards it and
 * the ports that joined.
 */
struct rte_arena;
struct rte_port;

struct rte_arena_attr {
	size_t land_size;  /* bytes of a landing slot: 4 KiB to RTE_FRAG_MAX */
	uint32_t lands;	   /* landing slots at most */
	uint32_t messages; /* buffers of RTE_SEND_ROOM bytes at most; of smaller ones: the
			    * same */
};

int rte_arena_open(const struct rte_arena_attr *attr, struct rte_arena **arena);
/* All ports have been closed. */
void rte_arena_close(struct rte_arena *arena);
struct rte_arena_use {
	uint32_t lands, lands_taken;
	uint32_t messages, messages_taken;
	uint64_t bytes, bytes_taken; /* of all of it, small messages as well */
};
void rte_arena_use(const struct rte_arena *arena, struct rte_arena_use *use);
/* There is room for so many more peers, and some is left for those that are there. */
bool rte_arena_room(const struct rte_arena *arena, uint32_t peers);

/* --- Ports (port.c) --- */

/* How a port introduces itself. */
struct rte_self {
	enum rte_role role; /* ROUTER; of programs CLIENT, and TARGET for who accepts */
	uint64_t node;	    /* the router's id, or a random one */
	uint64_t epoch;	    /* of its start */
	const char *name;   /* for people; NULL: none */
	/* Of a router, also on a WAN, which the preamble tells; 0: that of the device. */
	uint32_t as;
	/* Where it listens, for HELLO: the owner's text, which may be filled in later;
	 * NULL or "": it does not say. */
	const char *uri;
};

/* Why somebody is not let in (auth.c). */
enum rte_denial {
	RTE_DENIED_NO_PROOF, /* it cannot prove itself, or has not in time, or speaks
			      * before */
	RTE_DENIED_NO_KEY,   /* it asks for a proof, and this device has no key */
	RTE_DENIED_KEY_ID,   /* by a key that this device has not */
	RTE_DENIED_KEY,	     /* by another key of that number, or of other messages */
	RTE_DENIED_REPLAY,   /* by one that was heard before, or is this end's own */
	RTE_DENIALS,
};

struct rte_port_attr {
	struct rte_net *net;	 /* outlives the port */
	struct rte_arena *arena; /* the same */
	struct rte_self self;
	const struct rte_config_routing *routing; /* heartbeat, connect_timeout */
	/* Of each peer, from its beginning to its end; 0: as many as it needs. */
	uint16_t receives[RTE_LANES];
	uint16_t lands[RTE_LANES]; /* landing slots of each peer at most; 0: default */
	uint32_t cq_size;	   /* 0: the default */
	/* Of the device, for proofs. NULL: it has none. The owner may change it in the
	 * port at any time: peers that are up stay, others go on with the new ones. */
	const struct rte_auth_ring *keys;
	/* Proofs that were heard at this device, of an owner with several ports of it.
	 * NULL: the port remembers its own. */
	struct rte_auth_heard *heard;
	/* Somebody is not let in. text: who, why, and what to do. NULL: log is told. */
	void (*denied)(void *context, enum rte_denial why, const union crn_addr *who,
		       const char *text);
	/* What went wrong, for people, with the peer's address in it. NULL: nobody reads.
	 */
	void (*log)(void *context, const char *text);
	void *context;
};

struct rte_port {
	struct rte_port_attr attr;
	struct rte_net *net;
	struct rte_arena *arena;
	uint32_t index; /* of the arena's registrations */
	struct fid_domain *domain;
	struct fid_eq *eq;		    /* FI_WAIT_FD */
	struct fid_cq *cq;		    /* FI_WAIT_FD */
	struct crn_deadlines deadlines;	    /* the owner may have some of its own here */
	bool mr_local, virt_addr, prov_key; /* FI_MR_LOCAL, ... of the lower provider */
	uint64_t next_key;
	size_t lower_inject;
	size_t lower_iov; /* parts of a buffer */
	/* Bytes of an operation of RMA that keeps the order of routed ones; 0: none
	 * does, or no region can be reached by it. */
	size_t lower_rma;
	struct crn_list peers;	  /* of struct rte_peer */
	struct crn_list zombies;  /* closed, not freed yet */
	struct crn_list ready;	  /* peers to be told something */
	struct crn_list due;	  /* peers with messages of their own to send */
	struct crn_list grown;	  /* peers with more receives than the first */
	struct crn_deadline look; /* at those that have grown */
	struct crn_deadline kick; /* there is something to do that no descriptor tells */
	unsigned int depth;	  /* of progress */
	unsigned int more;	  /* completions that were read, and not told yet */
	unsigned int unsettled;	  /* peers that are not up yet */
	bool event;		  /* there may be one */
	bool slept;		  /* rte_port_trywait allowed it */
	bool lingered;		  /* rte_ports_linger has been called */
	struct rte_auth_heard *heard; /* NULL: there was no proof, or attr.heard has it */
	bool eq_armed, cq_armed;      /* and nobody has read from it since */
	uint64_t looked;	      /* ms: when events were looked for */
	struct rte_faults *faults;    /* NULL: none are injected */
	struct crn_deadline fault;    /* when what they made late goes on */
};

int rte_port_open(const struct rte_port_attr *attr, struct rte_port **port);
/* Its listeners and peers have been closed. -FI_EBUSY: they have not. */
int rte_port_close(struct rte_port *port);
/* Several are to be closed next: their closed peers send what they still have, for as
 * long as rte_port_close would wait for those of one. */
void rte_ports_linger(struct rte_port *const *ports, uint32_t count);

/* Events, completions and deadlines: callbacks are called. How many there were; 0: none.
 * Work that is left makes it readable again. */
ssize_t rte_port_progress(struct rte_port *port);
/*
 * For an owner that sleeps: the descriptors of eq, cq and deadlines may be polled after 0
 * (fi_trywait(3)), until the next rte_port_progress; -FI_EAGAIN: there is something to
 * do.
 */
#define RTE_PORT_FDS 3
int rte_port_fds(struct rte_port *port, int fd[RTE_PORT_FDS]);
int rte_port_trywait(struct rte_port *port);

/* --- Listening (listen.c) --- */

struct rte_listener;

/* Somebody who wants to connect; valid during the callback, or until it is answered. */
struct rte_request {
	struct rte_listener *listener;
	struct rte_preamble preamble;
	uint8_t said[RTE_PREAMBLE_LEN]; /* the same, as it came */
	struct fi_info *info;		/* of the lower provider */
	union crn_addr address;		/* of who asks */
};

/*
 * addr: NULL or port 0: the lower provider chooses. request: is answered with
 * rte_peer_accept or rte_request_reject, then or later, also by another port of the same
 * net. Who speaks another protocol is never heard of.
 */
int rte_listen(struct rte_port *port, const struct sockaddr *addr,
	       void (*request)(struct rte_request *request, void *context), void *context,
	       struct rte_listener **listener);
int rte_listener_name(struct rte_listener *listener, union crn_addr *addr);
void rte_listener_close(struct rte_listener *listener);
/*
 * Shuts down what has connected there for at least so many ms and has sent nothing yet,
 * not even a preamble. Returns how many, and sets *last to the address of one of them.
 * Nothing, over a lower provider without sockets.
 */
uint32_t rte_listener_sweep(struct rte_listener *listener, uint32_t ms,
			    union crn_addr *last);
void rte_request_reject(struct rte_request *request);
/* The same, and who asked learns who rejects it (remote), and that it has no room now:
 * its down is called with FI_ENOBUFS. */
void rte_request_full(struct rte_request *request);
/* One of both asks for a proof that the other has no key for: port->attr.denied is told,
 * and it is rejected. False: it may be accepted. */
bool rte_request_denied(struct rte_request *request);

/* --- Peers (peer.c, hello.c, auth.c, life.c) --- */

struct rte_peer;
struct rte_rx;
struct rte_tx;

struct rte_peer_ops {
	/* HELLOs have been exchanged: hello and remote are there. NULL: nothing. */
	void (*up)(struct rte_peer *peer);
	/*
	 * A message, well formed but for what its type's parser says, which is neither of
	 * hello.c nor GRANT, KEEPALIVE, BYE: those are not the owner's. It is kept, and
	 * with it its place in the lane, until rte_rx_put.
	 */
	void (*message)(struct rte_peer *peer, struct rte_rx *rx);
	/* rte_tx_get or rte_tx_slot had nothing before, and may have something now. */
	void (*ready)(struct rte_peer *peer);
	/*
	 * It is over, err is a positive FI_E*: FI_ECONNABORTED for the peer's orderly end
	 * (FI_SHUTDOWN, BYE), FI_ETIMEDOUT for silence or a connection that did not come
	 * about, FI_EACCES for proofs that one of both did not accept, FI_ECONNREFUSED,
	 * FI_EIO, ... Nothing is received or sent any more.
	 * Called once, and not for one that was closed; rte_peer_close has to follow.
	 */
	void (*down)(struct rte_peer *peer, int err);
};

enum rte_peer_state {
	RTE_PEER_CONNECTING, /* the lower connection comes about */
	RTE_PEER_GREETING,   /* HELLO and HELLO_ACK */
	RTE_PEER_PROVING,    /* AUTH of both, if one asks for it */
	RTE_PEER_UP,
	RTE_PEER_DOWN,
};

#define RTE_PEER_TEXT 96

struct rte_peer {
	struct rte_port *port;
	const struct rte_peer_ops *ops; /* the owner may change it at any time */
	void *user;
	enum rte_peer_state state;
	bool active; /* this end connected */
	union crn_addr address;
	char text[RTE_PEER_TEXT]; /* address and, once it is known, name */
	/* Where it listens, as its HELLO says; "": it does not say. */
	char uri[RTE_TEXT_MAX + 1];
	struct rte_preamble local, remote;
	uint8_t minor;		     /* that is spoken */
	struct rte_hello hello;	     /* of the peer */
	uint32_t eager_max;	     /* bytes of a payload in a Send to it */
	uint32_t frag_max;	     /* bytes of its landing slots; 0: it has none */
	uint64_t stats_rx, stats_tx; /* messages */
	uint64_t stats_rx_bytes, stats_tx_bytes; /* of payload */
	uint64_t stalls[RTE_LANES];		 /* times that a lane had no credit */
	/* The rest is of this room's files. */
	struct rte_peer_inside *in;
};

/* Begins a connection. flags: of the preamble. ops->up or ops->down follows, within
 * connect_timeout. 0, or why it cannot even begin. */
int rte_peer_connect(struct rte_port *port, const struct sockaddr *addr, uint8_t flags,
		     const struct rte_peer_ops *ops, void *user, struct rte_peer **peer);
/* Accepts who asked, over any port of the same net. An error: it was rejected;
 * -FI_EACCES: as by rte_request_denied. */
int rte_peer_accept(struct rte_port *port, struct rte_request *request,
		    const struct rte_peer_ops *ops, void *user, struct rte_peer **peer);
/*
 * Ends it. done of what was posted is called in here, with FI_ECANCELED: messages that
 * have no data beside their bytes are still sent if they can be, others are given up. No
 * other callback is called, and memory of the owner's is not touched after it, or, in a
 * callback, after rte_port_progress. What it received may be kept for longer. status: 0,
 * or FI_E* that BYE tells the peer.
 */
void rte_peer_close(struct rte_peer *peer, int status);
/* Within a callback for it: the peer has broken the protocol. ops->down follows with
 * FI_EIO; what: for the log. */
void rte_peer_bad(struct rte_peer *peer, const char *what);

/* --- What arrives (receive.c) --- */

struct rte_rx {
	struct rte_peer *peer;
	struct crn_list entry; /* the owner's */
	uint64_t user;	       /* the same */
	enum rte_lane lane;    /* RTE_LANES: none */
	struct rte_packet packet;
	/* head.plen bytes, behind the message or in a landing slot; of another type than
	 * MSG, WRITE, READ_FRAG: packet.payload. */
	uint8_t *payload;
	struct rte_rx_inside *in;
};

/* Its place in the lane is free again, and so is its memory. Also after the peer was
 * closed, but before its port is. */
void rte_rx_put(struct rte_rx *rx);
/* To send the payload on over that port, of the same arena: its descriptor. */
void *rte_rx_desc(const struct rte_rx *rx, const struct rte_port *port);
/*
 * So many bytes are still to come in that lane, beside those that were announced: landing
 * slots are granted as there are. Done by itself for the rest of what began with a
 * message; called for what an owner asks for (READ_REQ).
 */
void rte_peer_expect(struct rte_peer *peer, enum rte_lane lane, uint64_t bytes);

/* Landing slots that are granted to the peer count there from now on, those that it has
 * already too. Before rte_peer_close of the peer, or the end of the quota: NULL. */
void rte_peer_quota(struct rte_peer *peer, struct rte_quota *quota);

/* --- What is sent (send.c) --- */

/*
 * A message: the owner takes one, packs into bytes, sets what follows, and posts it.
 * Messages of a peer are sent in the order in which they are posted. Fields of the
 * header that are the hop's (minor, credits, vc) are filled in by rte_tx_post; so is
 * `slot` in the body of MSG, WRITE, READ_FRAG, when rte_tx_slot took one.
 */
struct rte_tx {
	struct rte_peer *peer;
	enum rte_lane lane;
	uint8_t *bytes;
	size_t room; /* bytes of bytes */
	size_t len;  /* packed: header, and the payload as far as it was copied behind it
		      */
	/* The rest of the payload, which stays untouched until done: registered memory
	 * where the lower provider wants FI_MR_LOCAL. 0 bytes: there is none. */
	const void *data;
	size_t data_len;
	void *desc;
	size_t slot_len; /* bytes of the landing slot; 0: none was taken */
	void *user;
	uint64_t number;
	/* The lower provider has it no more. err: 0 or a positive FI_E*. NULL: nobody
	 * asks. */
	void (*done)(struct rte_tx *tx, int err);
	struct rte_tx_inside *in;
};

/*
 * lane: of rte_message_lane, RTE_LANES for what needs no credit. room: bytes that are
 * packed, at most RTE_SEND_ROOM. NULL: the lane has no credit, or there is no memory now,
 * and ops->ready follows when that has changed; or the peer is not up.
 */
struct rte_tx *rte_tx_get(struct rte_peer *peer, enum rte_lane lane, size_t room);
/* Would rte_tx_get give one? If not, ops->ready follows. */
bool rte_tx_may(struct rte_peer *peer, enum rte_lane lane);
/*
 * May what the other end is to be told wait, since more of its kind may follow at once?
 * True: within progress, and ops->ready follows before it ends; false: now is the time.
 */
bool rte_peer_later(struct rte_peer *peer);
/* Takes a landing slot of the lane, into which data goes: slot_len is its bytes. False:
 * there is none now. */
bool rte_tx_slot(struct rte_tx *tx);
void rte_tx_post(struct rte_tx *tx);
/* Gives it back unsent, with its credit and slot. */
void rte_tx_drop(struct rte_tx *tx);

/*
 * An operation of the lower provider's own, in the order of messages: done, user, number
 * and data_len are set (0: it has no data beside it), there are no bytes. NULL: not now;
 * ops->ready may follow.
 */
struct rte_tx *rte_tx_direct(struct rte_peer *peer);
/* flags: FI_INJECT, FI_DELIVERY_COMPLETE. Sets msg->context. Not 0: tx has been given
 * back. */
ssize_t rte_tx_rma(struct rte_tx *tx, struct fi_msg_rma *msg, bool reads, uint64_t flags);
/*
 * A write of the lower provider's own, of what was received, in the order of messages: of
 * rte_tx_placing data, data_len, desc, done, user and number are set, and rte_tx_place
 * says where it goes. deliver: it is done when it is there. NULL: not now, and ops->ready
 * follows.
 */
struct rte_tx *rte_tx_placing(struct rte_peer *peer);
void rte_tx_place(struct rte_tx *tx, uint64_t addr, uint64_t key, bool deliver);
/* The peer is known to have nothing any more of the requests that were sent to it. */
bool rte_peer_idle(const struct rte_peer *peer);
/* The peer may reach memory of this end's owner until its lower connection is closed,
 * which is later than rte_peer_close: while rte_port_lent. */
void rte_peer_lends(struct rte_peer *peer);
/* ms that a closed peer has at most for what it still has. */
#define RTE_PEER_LINGER 1000u
bool rte_port_lent(const struct rte_port *port);

#endif
