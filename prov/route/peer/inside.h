/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this room know of each other. */
#ifndef RTE_PEER_INSIDE_H
#define RTE_PEER_INSIDE_H

#include "peer.h"

/* Whose context a lower object or operation has. */
enum inside_kind { INSIDE_LISTENER, INSIDE_PEER, INSIDE_RX, INSIDE_TX, INSIDE_DATA };

/* Of an operation of the lower provider; begins with what FI_CONTEXT2 asks for. */
struct inside_op {
	struct fi_context2 context;
	enum inside_kind kind;
};

/* --- arena.c --- */

enum arena_class { ARENA_SMALL, ARENA_WORDS, ARENA_MESSAGE, ARENA_LAND, ARENA_CLASSES };

struct arena_chunk;

struct arena_buf {
	uint8_t *data;
	struct arena_chunk *chunk;
	struct arena_buf *next; /* free ones */
};

/* A lane that has been promised less than it could use; of rte_arena.hungry. */
struct arena_hunger {
	struct crn_list entry;
	void (*feed)(struct arena_hunger *hunger);
};

/* 0; -FI_ENOSPC: too many ports; what registering returned. */
int arena_join(struct rte_arena *arena, struct rte_port *port);
/* Nothing of it is used at that port any more. */
void arena_leave(struct rte_arena *arena, struct rte_port *port);
/* NULL: none is free, or there is no memory. */
struct arena_buf *arena_get(struct rte_arena *arena, enum arena_class class);
void arena_put(struct rte_arena *arena, enum arena_class class, struct arena_buf *buf);
void *arena_desc(const struct arena_buf *buf, const struct rte_port *port);
/* Where the lower provider of that port finds it. */
void arena_remote(const struct arena_buf *buf, const struct rte_port *port,
		  uint64_t *addr, uint64_t *key);
size_t arena_land_size(const struct rte_arena *arena);
/*
 * Half of the landing slots are for lanes in which large operations come one after the
 * other (one more: 1, one less: -1), each of which may have arena_fair of them in
 * advance, so that those that came first do not keep them all.
 */
void arena_warm(struct rte_arena *arena, int lanes);
uint32_t arena_fair(const struct rte_arena *arena);
/* Whoever was fed has no use for it: the next one is. */
void arena_pass_on(struct rte_arena *arena);
void arena_hungry(struct rte_arena *arena, struct arena_hunger *hunger);
/*
 * Receives, of ARENA_MESSAGE: each peer has PEER_LEAST. A lane that is used has more
 * (arena_grown; one more: 1, one less: -1), as long as there are some to spare, and no
 * more than arena_receives, so that those that came first do not keep them all.
 */
#define PEER_LEAST (RTE_LANES * RTE_RECEIVES_FIRST + PEER_SPARE)
void arena_peers(struct rte_arena *arena, int peers);
void arena_grown(struct rte_arena *arena, int lanes);
bool arena_spare(const struct rte_arena *arena);
uint32_t arena_receives(const struct rte_arena *arena);
/* Of another class than ARENA_LAND: told when one is free again. */
void arena_starving(struct rte_arena *arena, struct arena_hunger *hunger);

/* --- net.c --- */

/* The order of what the lower provider does, where it can be had: then the program's
 * operations may be its own. */
#define RTE_NET_ORDER                                                               \
	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS | \
	 FI_ORDER_SAW | FI_ORDER_SAS)

/* --- objects --- */

struct rte_listener {
	enum inside_kind kind;
	struct rte_port *port;
	struct fid_pep *pep;
	void (*request)(struct rte_request *request, void *context);
	void *context;
};

/* Receives beside those of the lanes: what needs no credit is not kept while requests and
 * responses come, so that there is always one. */
#define PEER_SPARE 1u

struct rte_rx_inside {
	struct inside_op op;
	struct crn_list all; /* of rte_peer_inside.rxs */
	struct rte_rx rx;
	struct arena_buf *buf;
	struct arena_buf *land; /* NULL: the payload is in buf */
	size_t len;
	struct crn_list entry; /* of rte_peer_inside.unposted, or late */
	bool held;	       /* by the owner */
	/* Of faults: what becomes of it then, and when, ms. */
	bool lost;
	uint64_t due;
	bool gone; /* it was given back, and is not posted again */
};

struct rte_tx_inside {
	struct inside_op op;
	struct inside_op data_op;
	struct rte_tx tx;
	struct crn_list entry; /* free, sent or stuck */
	struct arena_buf *buf;
	enum arena_class class;
	bool last; /* buf is the peer's last */
	struct rte_grant_slot slot;
	bool written; /* into the slot: the message is next */
	bool places;  /* rte_tx_place: slot is where, and there is no message */
	bool deliver; /* the same: FI_DELIVERY_COMPLETE */
	bool posted;
	/* Of faults: it is not sent, or not before, ms; 0: it is. */
	bool lost;
	uint64_t due;
};

/* Landing slots that were promised to the peer, or that it promised. */
#define PEER_LANDS 16u

enum land_state { LAND_NONE, LAND_GRANTED, LAND_FILLED };

struct peer_inlet {
	struct rte_inlet flow;
	uint32_t most;	  /* receives */
	uint32_t more;	  /* receives that the peer does not know of yet */
	uint32_t asked;	  /* credits that it does not know it is asked for */
	uint32_t share;	  /* landing slots at most */
	uint32_t granted; /* and not filled */
	uint32_t used;	  /* granted or filled */
	uint32_t untold;  /* granted, and the peer does not know */
	uint64_t want;	  /* bytes that are still to come */
	bool warm;	  /* large operations come one after the other */
	struct {
		enum land_state state;
		bool told; /* the peer knows of it */
		struct arena_buf *buf;
	} land[PEER_LANDS];
	struct arena_hunger hunger;
	struct rte_peer *peer;
	enum rte_lane lane;
};

/* Messages that can be on their way at a time; more are made when they are needed. */
struct peer_txs {
	struct peer_txs *next;
	uint32_t count;
	struct rte_tx_inside tx[];
};

struct peer_outlet {
	struct rte_outlet flow;
	uint32_t slots, first;
	struct rte_grant_slot slot[PEER_LANDS]; /* a ring */
};

/* Messages of one's own that need no credit: KEEPALIVE, GRANT, HELLO, BYE. */
#define PEER_TXS_CONTROL 8u

struct rte_peer_inside {
	enum inside_kind kind;
	struct rte_peer peer;
	struct fid_ep *ep;
	struct crn_list entry; /* of port->peers or zombies */
	struct crn_list ready; /* of port->ready */
	struct crn_list due;   /* of port->due */
	struct crn_deadline deadline;
	struct crn_list rxs; /* of struct rte_rx_inside: all that there are */
	uint32_t rx_count;
	struct crn_list unposted; /* receives that the lower provider had no room for */
	struct crn_list late;	  /* messages that a fault holds up */
	struct peer_txs *tx;
	uint32_t txs, txs_used;
	uint32_t txs_most;
	bool elastic;	       /* receives come and go: known once it is up */
	struct crn_list grown; /* of port->grown */
	uint64_t seen;	       /* messages at the last look */
	uint64_t told;	       /* ms: when it was last told of credits alone */
	/* To send from when the arena has none; NULL: in use. With it the peer goes on,
	 * one message at a time, whoever has the others. */
	struct arena_buf *last;
	enum arena_class last_class;
	struct crn_list txs_free, sent, stuck;
	uint32_t waits;		    /* 1 << lane, or RTE_LANES: rte_tx_get had nothing */
	struct arena_hunger hunger; /* for a buffer to send */
	struct peer_inlet inlet[RTE_LANES];
	struct peer_outlet outlet[RTE_LANES];
	struct rte_quota *quota; /* of landing slots; NULL: none */
	uint32_t held;		 /* rte_rx of the owner */
	bool heard;		 /* something since the last look */
	uint32_t silent;	 /* looks without */
	uint64_t next_look;	 /* ms, when it was due */
	int socket;		 /* below it, of an endpoint whose host is looked after */
	bool answer;		 /* a KEEPALIVE is due */
	uint64_t echo;
	int failed;	 /* to be told with ops->down */
	int shut;	 /* what the lower endpoint refuses everything with */
	bool unsettled;	 /* it counts in port->unsettled */
	bool closed;	 /* by the owner */
	bool ended;	 /* the lower endpoint is closed */
	bool parted;	 /* the other end has said its last */
	bool lends;	 /* rte_peer_lends */
	bool denied;	 /* its proof: BYE says so */
	uint32_t key_id; /* of this end's proof */
	struct rte_auth_talk talk;
	uint64_t linger; /* ms, until when it waits for the other end's last */
	char name[64];
};

static inline struct rte_peer_inside *inside_of(struct rte_peer *peer)
{
	return peer->in;
}

void port_log(struct rte_port *port, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The port's descriptors become readable: there is something to do. */
void port_kick(struct rte_port *port);
void port_drain(struct rte_port *port);

/* --- peer.c --- */

struct rte_preamble port_preamble(const struct rte_port *port, enum rte_role role);
/* It is up. */
void peer_up(struct rte_peer *peer);
/* BYE arrived. */
void peer_parted(struct rte_peer *peer, const struct rte_packet *packet);
/* The end of it, from wherever it is noticed: ops->down is called by progress. */
void peer_fail(struct rte_peer *peer, int err);
/*
 * The lower provider does not take what is posted. An endpoint that was shut refuses
 * everything, also while its event, and what arrived before that, still wait to be read:
 * then the peer ends with the event, or RTE_PEER_LINGER later.
 */
void peer_refuses(struct rte_peer *peer, int err);
/* Events of the lower provider. */
void peer_connected(struct rte_peer *peer, const void *data, size_t len);
void peer_refused(struct rte_peer *peer, int err, const void *data, size_t len);
/* Tells the owner what peer_fail said. */
void peer_tell(struct rte_peer *peer);
/* It is up, or never will be. */
void peer_settled(struct rte_peer_inside *in);
/* Frees a closed one, if nothing of it is outstanding. False: later. */
bool peer_reap(struct rte_peer *peer, bool now);

/* --- hello.c --- */

/* status: of a HELLO_ACK. */
void hello_send(struct rte_peer *peer, uint8_t type, int status);
/* HELLO or HELLO_ACK arrived. */
void hello_take(struct rte_peer *peer, const struct rte_packet *packet);
/* Anything arrived, and it is not up: nothing but what makes it so is heard. */
void greeting_take(struct rte_peer *peer, const struct rte_packet *packet);

/* --- auth.c --- */

/* Of this end's preamble: enum rte_preamble_flag. */
uint8_t auth_flags(const struct rte_port *port);
/* One of both asks for a proof that the other has no key for: port->attr.denied is told.
 * local: the flags of this end. */
bool auth_hopeless(const struct rte_port *port, uint8_t local,
		   const struct rte_preamble *remote, const union crn_addr *who);
/* One of both asks for proofs: then the HELLOs are in them. */
bool auth_asked(const struct rte_peer *peer);
/* Once both have said HELLO: are proofs to follow? Then the active end's is sent. */
bool auth_begins(struct rte_peer *peer);
/* AUTH arrived. */
void auth_take(struct rte_peer *peer, const struct rte_packet *packet);
/* Instead of AUTH it does something else; err: of its end. */
void auth_missed(struct rte_peer *peer, const char *what, int err);
/* The other end does not accept this end's proof. */
void auth_unheard(struct rte_peer *peer);

/* --- life.c --- */

/* Once it is up. */
void life_begin(struct rte_peer *peer);
/* Until it is up. */
void life_wait(struct rte_peer *peer);
/* From in->shut until the lower provider's event: it does not wait for ever. */
void life_shut(struct rte_peer *peer);
void life_take(struct rte_peer *peer, const struct rte_packet *packet);

/* --- grant.c --- */

void grant_open(struct rte_peer *peer);
void grant_close(struct rte_peer *peer);
/* GRANT of the peer. */
void grant_take(struct rte_peer *peer, const struct rte_packet *packet);
/* The slot of a message: its buffer, or NULL: it was never granted. */
struct arena_buf *grant_fill(struct rte_peer *peer, enum rte_lane lane, uint32_t id);
void grant_empty(struct rte_peer *peer, enum rte_lane lane, struct arena_buf *land);
/* What a message says of those that follow. */
void grant_announced(struct rte_peer *peer, const struct rte_rx *rx);
/* Slots that the peer does not know of yet are told. False: later. */
bool grant_send(struct rte_peer *peer);

/* --- fault.c; the port has faults --- */

/* A message of len bytes. True: that is settled, or will be. */
bool fault_arrives(struct rte_rx_inside *in, size_t len);
/* A message that is to be posted. True: the same. */
bool fault_leaves(struct rte_tx_inside *in);
/* The first that is stuck has to wait for a fault. */
bool fault_keeps(const struct rte_tx_inside *tx);

/* --- socket.c --- */

/* Is there a socket below each endpoint of the port? */
bool socket_below(const struct rte_port *port);
/* The descriptor for which that is true; -1: none. Those that were opened last are asked
 * first. */
int socket_find(bool (*is)(int fd, const void *what), const void *what);

/* --- host.c --- */

/* The peer is up. False: its lower provider alone knows. */
bool host_begin(struct rte_peer *peer);
/* It has not acknowledged anything for heartbeat_loss heartbeats, though it was asked. */
bool host_gone(const struct rte_peer *peer);

/* --- mute.c --- */

/* The kernel keeps what connects there until it has sent something, for a time. */
void mute_defer(int fd);

/* --- hurry.c --- */

/* Who connects there and sends half of what begins a connection holds nothing up. */
void listener_hurry(struct rte_listener *listener);

/* --- elastic.c --- */

/* How a peer begins: fixed, or with what each lane keeps. */
void elastic_open(struct rte_peer *peer);
void elastic_close(struct rte_peer *peer);
/* HELLO says whether the peer knows how receives come and go. False: there is no memory
 * for them. */
bool elastic_begin(struct rte_peer *peer, const struct rte_hello *hello);
/* The lane could use more receives. */
void elastic_wants(struct peer_inlet *inlet);
/* RECEIVES of the peer. True: that receive is given back. */
bool elastic_take(struct rte_peer *peer, const struct rte_packet *packet);
/* Of either end, there is something to tell. */
bool elastic_due(const struct rte_peer_inside *in);
/* The peer is told. False: later. */
bool elastic_send(struct rte_peer *peer);
/* Its lower provider's port ends, or begins. */
void elastic_port(struct rte_port *port, bool opens);

/* --- receive.c --- */

/* Its payload is a program's. */
static inline bool peer_carries_data(uint8_t type)
{
	return type == RTE_MSG || type == RTE_WRITE || type == RTE_READ_FRAG;
}

/* So many receives, and posted as soon as there is an endpoint. False: no memory. */
bool receive_fill(struct rte_peer *peer, uint32_t count);
void receive_free(struct rte_rx_inside *in);
int receive_start(struct rte_peer *peer);
void receive_again(struct rte_peer *peer);
void receive_done(struct rte_rx_inside *in, size_t len);
void receive_failed(struct rte_rx_inside *in, int err);
/* A fault has held it up; lost: nobody hears of it, and the hop's accounts are right. */
void receive_late(struct rte_rx_inside *in, size_t len, bool lost);

/* --- send.c --- */

/* rte_tx_post without faults; and with one: it is sent later, or lost. */
void send_post(struct rte_tx *tx);
void send_late(struct rte_tx_inside *in);

/* Messages that can be on their way, as many as a peer begins with. False: no memory. */
bool send_open(struct rte_peer_inside *in);
void send_close(struct rte_peer_inside *in);
void send_done(struct rte_tx_inside *in, int err);
/* What the lower provider had no room for. */
void send_again(struct rte_peer *peer);
/* The owner may try again, if it could not. lane: RTE_LANES: any. */
void send_ready(struct rte_peer *peer, enum rte_lane lane);
/* One for this room's own messages, though the peer is not up. */
struct rte_tx *send_control(struct rte_peer *peer);
/* The hop's own messages that are due: credits, grants, answers. */
void send_due(struct rte_peer *peer);
/* Fills in what is the hop's own, which rte_tx_post does as well. */
void send_fields(struct rte_tx *tx);
/* Those that were not sent are free. */
void send_forget(struct rte_peer *peer);
/* Has send_due something to do? Then by the end of progress. */
void send_note(struct rte_peer *peer);

#endif
