/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues, connections, passive endpoints and connection requests. */
#ifndef PVB_OBJECTS_CONNECTION_H
#define PVB_OBJECTS_CONNECTION_H

#include <cairn/deadline.h>
#include "wire/wire.h"
#include "pverbs.h"

/* fclass of the context of a control connection's rdma_cm id: beside libfabric's own. */
#define PVB_CLASS_CONTROL_QP ((size_t)1 << 16)
/* The same of the id of a multicast group. */
#define PVB_CLASS_MC_GROUP ((size_t)1 << 17)

/* What is kept of an event after its acknowledgement. */
struct pvb_cm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	/* Of RDMA_CM_EVENT_MULTICAST_JOIN. */
	struct ibv_ah_attr group;
	uint32_t group_qkey;
	uint8_t len;
	uint8_t bytes[UINT8_MAX];
};

/* Bytes of an event in the queue, at most. */
#define PVB_CM_EVENT_MAX (sizeof(struct fi_eq_cm_entry) + UINT8_MAX)

struct pvb_eq;
struct pvb_ep;

/* What connection management does for rooms below it, by way of an event queue. */
struct pvb_cm_calls {
	/* Handles waiting events on behalf of a program that reads another queue; not
	 * while somebody else does. */
	void (*look)(struct pvb_eq *eq);
	/* With cm_lock held, as the next: the connection need not wait for its second one
	 * any more. */
	void (*second_over)(struct pvb_ep *ep);
	/* The peer has gone. */
	void (*disconnected)(struct pvb_ep *ep);
	/* An operation failed that no completion reports. Any thread, without cm_lock. */
	void (*failed)(struct pvb_ep *ep);
	/* fi_join(3). Without cm_lock. */
	int (*join)(struct pvb_ep *ep, const void *addr, uint64_t flags,
		    struct fid_mc **mc, void *context);
	/* A datagram endpoint closes. Without cm_lock. */
	void (*part)(struct pvb_ep *ep);
};

/* Power of two. */
#define PVB_MC_GROUP_BUCKETS 64u

/* The multicast groups of an event queue: mcast/. Guarded by cm_lock. */
struct pvb_eq_mcs {
	struct crn_list groups[PVB_MC_GROUP_BUCKETS]; /* struct pvb_mc_group, by name */
	struct crn_list reports; /* struct pvb_mc with something to tell */
	struct crn_list ports;	 /* struct pvb_mc_port, with FI_PVERBS_LINK */
	/* Where groups of that domain are joined from, until one of them ends; NULL: not
	 * known. */
	const struct pvb_domain *source_of;
	struct sockaddr_storage source;
	/* Of joins; fd -1: there was none yet. */
	struct crn_deadlines deadlines;
};

/* A device of datagram endpoints whose event queue this is: cq/async.c. */
struct pvb_eq_device {
	struct crn_list entry; /* of pvb_eq.devices */
	struct pvb_domain *domain;
	unsigned int users; /* endpoints */
	bool waits;	    /* the wait object has the descriptor of its events */
};

struct pvb_eq {
	struct crn_eq eq;
	struct pvb_fabric *fabric;
	const struct pvb_cm_calls *cm;
	pthread_mutex_t cm_lock;
	struct rdma_event_channel *channel;
	int timer;	       /* of cm/keepalive.c; -1: off */
	struct crn_list alive; /* connected endpoints, for it */
	/* Of persist/control/control_conn.c. */
	struct crn_list control_conns; /* whose control connection is being made */
	int control_conn_timer;	       /* -1: none yet */
	uint64_t control_conn_due; /* ms: the first of them has no more time; else ~0 */
	atomic_bool control_conn_moved; /* another EQ's thread has something for one */
	struct pvb_eq_mcs mcs;
	struct crn_list devices; /* struct pvb_eq_device; guarded by cm_lock */
	atomic_uint refs;
	atomic_uint looking; /* readers of completion queues: persist/initiator/defer.c */
};

/* Connection states; cm/state.c has the transitions. */
enum pvb_conn_state {
	PVB_CONN_NEW,	    /* no queue pair yet */
	PVB_CONN_ENABLED,   /* queue pair in INIT: receives may be posted */
	PVB_CONN_ADDR,	    /* requester: resolving the address */
	PVB_CONN_ROUTE,	    /* requester: resolving the route */
	PVB_CONN_REQUESTED, /* requester: waiting for the answer */
	PVB_CONN_ACCEPTED,  /* responder: waiting for the requester to confirm */
	PVB_CONN_CONTROL,   /* stands; waiting for its control connection */
	PVB_CONN_CONNECTED,
	PVB_CONN_SHUTDOWN, /* was connected; queue pair in ERR */
	PVB_CONN_FAILED,   /* was never connected; queue pair in ERR */
};

/* What connection management knows of a connection. */
struct pvb_conn {
	struct rdma_cm_id *id;		   /* NULL until connecting */
	_Atomic enum pvb_conn_state state; /* written with cm_lock held */
	bool responder;			   /* made for a request */
	struct pvb_connreq *req; /* the request, ours, until it is accepted; or NULL */
	struct pvb_handshake *handshake; /* NULL but while a requester connects */
	struct pvb_cm_data peer; /* what the peer's trailer said; no application data */
};

struct pvb_pep {
	struct fid_pep fid;
	struct pvb_fabric *fabric;
	struct fi_info *info; /* our copy */
	struct pvb_eq *eq;
	struct rdma_cm_id *id; /* NULL until fi_listen */
	struct crn_list entry; /* of pvb_fabric.listeners */
	int backlog;
	bool raw_cm;
};

/* fi_info.handle of an FI_CONNREQ: cm/request.h. */
struct pvb_connreq {
	struct fid fid;	   /* FI_CLASS_CONNREQ */
	struct pvb_eq *eq; /* whose channel the id is on; NULL: the fabric's */
	struct rdma_cm_id *id;
	struct crn_list entry;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	struct pvb_cm_data data;
	const struct pvb_pep *pep; /* the listener; NULL: closed before the request was
				      taken */
	struct pvb_domain *domain; /* of the endpoint that has taken it; NULL: none has */
	bool raw_cm;		   /* of the listener */
	atomic_bool dead;	   /* the requester gave up meanwhile */
};

static inline struct pvb_eq *pvb_eq_of(struct crn_eq *eq)
{
	return crn_container_of(eq, struct pvb_eq, eq);
}

#endif
