/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * librdmacm's objects and what its pieces ask of each other. They behave as librdmacm 44,
 * 56 and 65 with the kernel's ib_cm, iw_cm and rdma_ucm.
 *
 * One mutex guards all of it. Whoever holds it may send; what is meant for an id of the
 * same process is handled before the mutex is given back (svb_cm_unlock), so a process
 * that talks to itself has no thread and one order of events.
 */
#ifndef SVB_CM_CM_H
#define SVB_CM_CM_H

#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/rdma_verbs.h>
#include "ports.h"
#include "subnet/subnet.h"
#include "verbs/verbs.h"
#include "wire.h"

/*
 *   requester                           responder
 *   IDLE, BOUND, ADDR, ROUTE            IDLE, BOUND, LISTEN
 *   ROUTE --rdma_connect--> REQ_SENT    (new id) REQ_RCVD
 *   REQ_SENT --REP--> REP_RCVD          REQ_RCVD --rdma_accept--> REP_SENT
 *   REP_RCVD --RTU sent--> STANDS       REP_SENT --RTU--> STANDS
 *   STANDS --rdma_disconnect--> DREQ_SENT --DREP--> OVER
 *   STANDS --DREQ--> DREQ_RCVD --rdma_disconnect--> OVER
 *   UD: ROUTE --> REQ_SENT --SIDR REP--> STANDS; REQ_RCVD --> STANDS
 *   A failure or a rejection: OVER.
 */
enum svb_cm_state {
	SVB_CM_IDLE,
	SVB_CM_BOUND,
	SVB_CM_ADDR,
	SVB_CM_ROUTE,
	SVB_CM_LISTEN,
	SVB_CM_REQ_SENT,
	SVB_CM_REQ_RCVD,
	SVB_CM_REP_RCVD,
	SVB_CM_REP_SENT,
	SVB_CM_STANDS,
	SVB_CM_DREQ_SENT,
	SVB_CM_DREQ_RCVD,
	SVB_CM_OVER,
};

struct svb_cm_channel {
	struct rdma_event_channel ch; /* readable while there are events */
	int count_fd; /* an eventfd that counts them; ch's, with a thread */
	struct crn_list events;
	unsigned int readers; /* threads in rdma_get_cm_event */
	bool closed;	      /* the last of them frees it */
};

struct svb_cm_mcast {
	struct crn_list entry;
	struct sockaddr_storage addr;
	union ibv_gid mgid;
	uint16_t mlid;
	struct svb_group_attr attr; /* of the group, on InfiniBand */
	uint64_t handle;	    /* of the join in the subnet; 0: none */
	bool send_only; /* joined without receiving: the queue pair is not attached */
	bool member;	/* the join was answered */
	bool attached;
	uint32_t unacked; /* events given and not acknowledged */
	void *context;
};

struct svb_cm_id {
	struct rdma_cm_id id;
	uint32_t handle;
	enum svb_cm_state state;
	bool sync; /* made without a channel: calls wait for their event */
	bool reuseaddr;
	bool afonly;
	bool connect_failed;	 /* CONNECT_ERROR was reported: nothing more is */
	uint32_t unacked;	 /* events given and not acknowledged */
	int backlog;		 /* LISTEN: requests that may still wait to be read */
	enum rdma_port_space ps; /* whose port it has: that of id, or of a service ID */
	int64_t binding;	 /* entry in the table of ports; -1: none */
	/* Ports of both ends, and which of their GIDs the addresses are. */
	const struct svb_port *port;
	const struct svb_port *peer_port;
	uint32_t gid;
	uint32_t peer_gid;
	int pkey; /* index in the port's table; -1: it is not there */
	/* The other end. */
	uint32_t peer;	  /* token of its process; 0: none */
	uint32_t peer_id; /* its handle */
	uint32_t peer_qpn;
	uint32_t peer_psn;
	uint32_t qpn;
	uint32_t psn;
	uint32_t qkey;
	uint8_t initiator_depth;
	uint8_t responder_resources;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t tos;
	uint8_t ack_timeout; /* 0: the default */
	uint64_t deadline;   /* ns: when the state ends by itself; 0: never */
	struct ibv_ece ece;
	struct ibv_ece peer_ece;
	struct ibv_sa_path_rec path;
	struct crn_list mcasts;
	struct svb_cm_msg *held; /* a request that found nobody listening; NULL: none */
	uint32_t looks;		 /* how often somebody is still looked for */
	/* rdma_create_ep: for the queue pairs of requests, and data for rdma_connect. */
	struct ibv_qp_init_attr *qp_attr;
	uint8_t *connect;
	size_t connect_len;
	/* rdma_resolve_addrinfo: what rdma_query_addrinfo gives away; NULL: nothing. */
	struct rdma_addrinfo *found;
};

/* An event; given to the program as the pointer to its first member. */
struct svb_cm_event {
	struct rdma_cm_event event;
	struct crn_list entry;
	struct svb_cm_id *owner; /* waits for the acknowledgement */
	struct svb_cm_mcast *mcast;
	uint8_t data[SVB_CM_MAX_DATA];
};

static inline struct svb_cm_id *svb_cm_id(struct rdma_cm_id *id)
{
	return (struct svb_cm_id *)id;
}

/* An errno, or 0, as librdmacm's functions return it. */
static inline int svb_cm_result(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

static inline bool svb_cm_iwarp(void)
{
	return svb_self.settings.link == SVB_LINK_IWARP;
}

/* box.c */

/*
 * Takes the lock, joins, and handles messages of peers. Errors of joining appear when
 * an id is bound.
 */
void svb_cm_lock(void);
void svb_cm_unlock(void);
/* The same lock, for a thread that reads an event; whether such a one waits for it. */
void svb_cm_lock_reader(void);
bool svb_cm_reader_comes(void);
/* Waits, with the mutex given up, until somebody calls svb_cm_wake. */
void svb_cm_wait(void);
void svb_cm_wake(void);
/* Opens the mailbox and the timer and has them watched. Returns 0 or an errno. */
int svb_cm_start(void);
/*
 * Sends a message from an id to its peer; fills in the addresses. Set a timer before.
 */
void svb_cm_send(struct svb_cm_id *id, struct svb_cm_msg *msg);
/* Sends an answer without an id: to a message whose id does not exist. */
void svb_cm_answer(const struct svb_cm_msg *to, enum svb_cm_type type, uint32_t reason);
/* Publishes whether an id exists: peers send no message without an answer to an id that
 * does not. */
void svb_cm_publish(struct svb_cm_id *id, bool there);
/* Has svb_cm_peer_died called when that process ends. */
void svb_cm_watch(uint32_t token);
/* Sets the timer of the id's state; a change of state stops it. 0: no timer. */
void svb_cm_set_timer(struct svb_cm_id *id, uint32_t ms);
/*
 * For processes without a thread, after svb_cm_start. Adds to an epoll descriptor what is
 * readable when a peer sent something or the time of a state is over; who takes the lock
 * then sees to it. Returns 0 or an errno.
 */
int svb_cm_box_watch(int epoll_fd);

/* ms: how long an answer may take: 16 attempts of 4.2 s each, as the kernel's cma.c has
 * it. */
#define SVB_CM_PATIENCE 67000u
/* ms: from the end of a connection to TIMEWAIT_EXIT. */
#define SVB_CM_TIMEWAIT 2000u

/* dispatch.c: what a message, a timer, or the end of a process does. */
void svb_cm_handle(const struct svb_cm_msg *msg);
/* Whether a message to an id that does not exist is answered. */
bool svb_cm_is_answered(enum svb_cm_type type);
void svb_cm_expired(struct svb_cm_id *id);
void svb_cm_peer_died(uint32_t token);

/* channel.c */
struct rdma_event_channel *svb_cm_new_channel(void);
static inline struct svb_cm_channel *svb_cm_channel(struct rdma_event_channel *channel)
{
	return (struct svb_cm_channel *)channel;
}
/* Adds one event to the count. */
void svb_cm_channel_count(struct svb_cm_channel *channel);
/*
 * Takes one event from the count if that needs no waiting. Where the system cannot
 * promise it (EOPNOTSUPP before Linux 5.8) the count stays. Returns 0 or an errno.
 */
int svb_cm_channel_try(int fd);

/* event.c */

/* Adds an event without data to the id's channel. NULL when there is no memory, not even
 * of the events kept for that. */
struct svb_cm_event *svb_cm_report(struct svb_cm_id *id, enum rdma_cm_event_type type,
				   int status);
/* Frees an event that is in no list. */
void svb_cm_event_free(struct svb_cm_event *event);
/* Private data of a message, padded as an adapter shows it. */
const void *svb_cm_event_data(struct svb_cm_event *event, const struct svb_cm_msg *msg);
/* Parameters of a message for connected queue pairs. */
void svb_cm_event_conn(struct svb_cm_event *event, const struct svb_cm_msg *msg);
/* Lets threads that wait for the lock read the events of the id first. */
void svb_cm_let_read(struct svb_cm_id *id);
/* Drops events of the id that nobody has read; requests among them are rejected. */
void svb_cm_forget_events(struct svb_cm_id *id);
/* The same for events of a multicast group that is left. */
void svb_cm_forget_join(struct svb_cm_id *id, struct svb_cm_mcast *mcast);
/* Moves unread events of the id to another channel. */
void svb_cm_move_events(struct svb_cm_id *id, struct svb_cm_channel *to);
/* For an id without a channel of the program's: waits for the event of a call. */
int svb_cm_complete(struct svb_cm_id *id);

/* id.c */
struct svb_cm_id *svb_cm_alloc(struct rdma_event_channel *channel, void *context,
			       enum rdma_port_space ps);
/*
 * The slot of a handle in the table; the tag of a handle changes with each use of the
 * slot.
 */
uint32_t svb_cm_slot(uint32_t handle);
/* Tells the peer that it goes away, as the kernel does. With the mutex. */
void svb_cm_tell_peer(struct svb_cm_id *id);
/* Removes an id; informs the peer. With the mutex. */
void svb_cm_drop(struct svb_cm_id *id);
/* Informs the peer of the end of an id, depending on the id's state. */
void svb_cm_tell_peer(struct svb_cm_id *id);
struct svb_cm_id *svb_cm_find(uint32_t handle);
void svb_cm_each(void (*fn)(struct svb_cm_id *id, void *arg), void *arg);
void svb_cm_forget_ids(void);
/* Gives an id a channel of its own: calls wait. Returns 0 or an errno. */
int svb_cm_make_sync(struct svb_cm_id *id);

/* sockaddr.c */
bool svb_cm_addr_ok(const struct sockaddr *sa);
socklen_t svb_cm_addr_len(const struct sockaddr *sa);
/* The address in network byte order, and how many bytes it has. */
const void *svb_cm_addr_ip(const struct sockaddr *sa, size_t *len);
bool svb_cm_addr_any(const struct sockaddr *sa);
bool svb_cm_addr_loopback(const struct sockaddr *sa);
/* The same host part. */
bool svb_cm_addr_same(const struct sockaddr *a, const struct sockaddr *b);
uint16_t svb_cm_addr_port(const struct sockaddr *sa);
void svb_cm_addr_set_port(struct sockaddr *sa, uint16_t port);
void svb_cm_addr_to_wire(const struct sockaddr *sa, struct svb_cm_wire_addr *wire);
/* ps: of the service ID of an AF_IB address. */
void svb_cm_addr_of_wire(struct sockaddr_storage *to, const struct svb_cm_wire_addr *wire,
			 enum rdma_port_space ps);
/* AF_IB: makes one without a service ID; the P_Key of one; the port space of its service
 * ID, which becomes that and the port. 0: none that an id of ps may have. */
void svb_cm_addr_ib(struct sockaddr_ib *ib, const uint8_t gid[16], uint16_t pkey);
uint16_t svb_cm_addr_pkey(const struct sockaddr *sa);
enum rdma_port_space svb_cm_addr_space(struct sockaddr *sa, enum rdma_port_space ps);
/* The port that answers to an address, and which of its GIDs it is; NULL: none. */
const struct svb_port *svb_cm_addr_find(const struct sockaddr *sa, uint32_t *gid);

/* device.c */

/* Ties the id to the device that has the port. Returns 0 or an errno. */
int svb_cm_attach(struct svb_cm_id *id, const struct svb_port *port, uint32_t gid);
/* The id is in that partition. */
void svb_cm_set_pkey(struct svb_cm_id *id, uint16_t pkey);
void svb_cm_fill_path(struct svb_cm_id *id);

/* port_event.c: ids hear of what happens to their port, from now on. */
void svb_cm_port_event_watch(void);

/* removal.c: ids hear when their device is taken away, from now on. */
void svb_cm_removal_watch(void);

/* ports.c: which id of which process has which port. */

/* Binds the id's source address; port 0 is replaced by a free one. Returns 0 or an errno.
 */
int svb_cm_port_bind(struct svb_cm_id *id);
int svb_cm_port_listen(struct svb_cm_id *id);
void svb_cm_port_release(struct svb_cm_id *id);
/* Finds the listener of an address. */
bool svb_cm_port_find(enum rdma_port_space ps, const struct sockaddr *dst,
		      uint32_t *token, uint32_t *handle);

/* Was there a listener until a moment ago? */
bool svb_cm_port_was(enum rdma_port_space ps, const struct sockaddr *dst);

/* bind.c */
int svb_cm_bind(struct svb_cm_id *id, const struct sockaddr *addr);

/* connect.c, listen.c, ud.c, end.c: handlers of messages, and what they share
 */
void svb_cm_on_req(struct svb_cm_id *listen, const struct svb_cm_msg *msg);
void svb_cm_on_rep(struct svb_cm_id *id, const struct svb_cm_msg *msg);
void svb_cm_on_rtu(struct svb_cm_id *id, const struct svb_cm_msg *msg);
void svb_cm_on_rej(struct svb_cm_id *id, const struct svb_cm_msg *msg);
void svb_cm_on_dreq(struct svb_cm_id *id, const struct svb_cm_msg *msg);
void svb_cm_on_drep(struct svb_cm_id *id, const struct svb_cm_msg *msg);
void svb_cm_on_sidr_rep(struct svb_cm_id *id, const struct svb_cm_msg *msg);
/* Puts a program's private data into a message. Returns 0 or EINVAL when it is too long.
 */
int svb_cm_set_data(struct svb_cm_msg *msg, const void *data, size_t len);
/* Sends SIDR's answer. */
int svb_cm_sidr_accept(struct svb_cm_id *id, const struct rdma_conn_param *param);
int svb_cm_sidr_reject(struct svb_cm_id *id, const void *data, uint8_t len);
/* The answer to a request came and the queue pair is the id's: connects it. */
int svb_cm_confirm(struct svb_cm_id *id);
/*
 * A request was held because nobody listened: looks for a listener again, and sends the
 * request or gives up.
 */
void svb_cm_release(struct svb_cm_id *id);
/* iWARP: a queue pair in error has no stream any more; that ends the connection. */
void svb_cm_check_stream(struct svb_cm_id *id, void *unused);
/* Ends a connection and reports that to the program. */
void svb_cm_disconnected(struct svb_cm_id *id, int status);

/* The Q_Key of IPoIB's broadcast group that opensm makes. */
#define SVB_CM_IPOIB_QKEY 0xb1bu

/* ENOTSUPP of the kernel, which has no name here. */
#define SVB_CM_ENOTSUPP 524

/* mgid.c: the link of an id, as far as it has to do with groups. */
struct svb_cm_link {
	bool ib;
	bool v2; /* RoCE, and its version 2 */
	enum rdma_port_space ps;
	uint16_t pkey;
};
/* The GID of the group. Returns 0 or the errno of the join. */
int svb_cm_mgid(const struct sockaddr *sa, const struct svb_cm_link *link,
		union ibv_gid *mgid);

/* mcast.c */
/* The join was reported: attaches the queue pair. Returns 0 or an errno. */
int svb_cm_mcast_joined(struct svb_cm_id *id, struct svb_cm_mcast *mcast);
void svb_cm_mcast_drop(struct svb_cm_id *id);

/* qp.c */
int svb_cm_qp_attr(struct svb_cm_id *id, struct ibv_qp_attr *attr, int *mask);
/* Takes the id's queue pair, or on iWARP the one with the number qpn, to RTS. */
int svb_cm_qp_connect(struct svb_cm_id *id);
void svb_cm_qp_error(struct svb_cm_id *id);
bool svb_cm_qp_failed(struct svb_cm_id *id);
void svb_cm_ah(const struct svb_cm_id *id, struct ibv_ah_attr *ah);

#endif
