/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of libcairn-rpc share. A connection's lock guards all of it. Nobody
 * holds it while a dispatch function runs, or in poll(2).
 */
#ifndef LIB_RPC_CONN_H
#define LIB_RPC_CONN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_cairn.h>
#include <rdma/fi_cairn_rpc.h>

#define CRPC_XID_LEN 4

#define crpc_container_of(ptr, type, field) \
	((type *)(void *)((char *)(ptr)-offsetof(type, field)))

/* One that is shared: that of a listener, by the connections that come in. */
struct crpc_fabric {
	struct fid_fabric *fabric;
	unsigned int refs; /* atomic */
};

/* How an operation of the endpoint ended. */
struct crpc_done {
	size_t len;   /* bytes received */
	int err;      /* FI_E*, positive */
	uint64_t xid; /* of the Call that an error is about */
};

/* The context of an operation: what its end is told. */
struct crpc_op {
	void (*done)(struct fi_rpc *conn, struct crpc_op *op,
		     const struct crpc_done *done);
};

/* A receive, and then what it received. */
struct crpc_buf {
	struct crpc_op op;
	struct crpc_buf *next;
	size_t len, room; /* bytes */
	_Alignas(8) uint8_t bytes[];
};

/* A Call of this end, from its XID on until nobody has a use for it. */
struct crpc_call {
	struct crpc_call *next;
	uint32_t xid;
	uint8_t *msg; /* owned */
	size_t len;
	struct crpc_buf *reply; /* owned; the Reply chunk, or the receive it came in */
	struct crpc_op sent, replied;
	bool sending;	/* the peer may still read msg */
	bool exposed;	/* reply is a Reply chunk that the peer may still write */
	bool answered;	/* by a Reply, or with err */
	bool abandoned; /* its caller does not wait any more */
	int err;	/* FI_E*, positive */
};

enum crpc_state { CRPC_CONNECTING, CRPC_UP, CRPC_DOWN };

struct crpc_reply;
struct crpc_svc;

struct fi_rpc {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* something may be over; CLOCK_MONOTONIC */
	unsigned int refs;    /* the owner's, each CLIENT's, the SVCXPRT's */
	enum crpc_state state;
	int err;     /* why it is down, FI_E*, positive */
	bool driven; /* a thread is in poll(2) for all that wait */

	struct crpc_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_eq *eq;
	/* Of cq and eq, theirs. */
	int cq_fd, eq_fd;
	int kick; /* eventfd: another thread has moved the connection on */
	/* epoll: cq_fd, eq_fd and bell. The kernel bounds how many of them what the
	 * connections of a listener share may be in, and by how deep it is: epoll_ctl(2)
	 * fails then. So nothing is in between. */
	int fd;
	int bell; /* eventfd: there is something to serve, and nobody does */

	size_t max_msg;	    /* bytes */
	size_t reply_size;  /* bytes of a Reply, what CLIENTs begin with */
	size_t recv_inline; /* bytes of a Reply that needs no Reply chunk */
	int recv_kind;	    /* enum fi_cairn_rpc_recv of the endpoint */
	uint32_t next_xid;
	struct crpc_call *calls;
	struct crpc_reply *replies; /* being sent */

	struct crpc_buf *posted; /* all receives that are not in other hands */
	struct crpc_buf *queue;	 /* Calls that are to be dispatched, oldest first */
	struct crpc_buf *spare;	 /* receives to be posted again */
	struct crpc_svc *svc;
};

/* fabric.c: what fi_getinfo, fi_fabric and a connection need. */
int crpc_info(const char *stack, const char *node, const char *service, uint64_t flags,
	      struct fi_info **info);
int crpc_fabric_open(struct fi_info *info, struct crpc_fabric **fabric);
void crpc_fabric_put(struct crpc_fabric *fabric);
/* The descriptor of a queue, in epoll from now on. */
int crpc_wait_fd(struct fid *fid, int epoll, int *fd);

/* conn.c: a connection that is not connected yet, with receives posted. The first
 * reference is the caller's. */
int crpc_open(struct crpc_fabric *fabric, struct fi_info *info,
	      const struct fi_rpc_attr *attr, struct fi_rpc **conn);
void crpc_get(struct fi_rpc *conn);
void crpc_put(struct fi_rpc *conn);

/* recv.c: receives for Calls and for Replies. */
int crpc_recv_start(struct fi_rpc *conn);
struct crpc_buf *crpc_buf_alloc(size_t room);
void crpc_buf_put(struct fi_rpc *conn, struct crpc_buf *buf);
void crpc_recv_free(struct fi_rpc *conn);

/* call.c: with the lock held. */
struct crpc_call *crpc_call_new(struct fi_rpc *conn, uint32_t xid);
int crpc_call_send(struct fi_rpc *conn, struct crpc_call *call, size_t reply_size,
		   const struct timespec *until);
void crpc_call_reply(struct fi_rpc *conn, struct crpc_buf *reply);
void crpc_call_lost(struct fi_rpc *conn, uint64_t xid, int err);
void crpc_call_abandon(struct fi_rpc *conn, struct crpc_call *call);
void crpc_call_free_all(struct fi_rpc *conn);
uint32_t crpc_xid(struct fi_rpc *conn);

/* reply.c: sends msg, whose memory it takes over, even if it fails. */
int crpc_reply_send(struct fi_rpc *conn, uint8_t *msg, size_t len);
void crpc_reply_free_all(struct fi_rpc *conn);

/*
 * encode.c: a message in memory of its own, as large as it needs, up to most bytes; *len
 * is a guess at first. NULL: fill has failed, or it is too long.
 */
uint8_t *crpc_encode(bool (*fill)(XDR *xdrs, void *arg), void *arg, size_t most,
		     size_t *len);

/* xdr_void of the type that xdrproc_t has. */
bool_t crpc_xdr_nothing(XDR *xdrs, ...);

/* progress.c: takes what has happened, and arms the descriptors. With the lock held. */
void crpc_progress(struct fi_rpc *conn);
void crpc_down(struct fi_rpc *conn, int err);

/*
 * wait.c: until over says so; meanwhile Calls that come in are dispatched if serve is
 * set. With the lock held, which it gives up meanwhile. False: the time is over.
 */
bool crpc_wait(struct fi_rpc *conn, bool (*over)(struct fi_rpc *conn, void *arg),
	       void *arg, const struct timespec *until, bool serve);
/* Who waits looks again. With the lock held. */
void crpc_wake(struct fi_rpc *conn);
void crpc_deadline(struct timespec *until, int64_t ms);
/* ms from now, -1 for one that never comes. */
int crpc_left(const struct timespec *until);

/* svc.c: with the lock held. */
bool crpc_svc_serve(struct fi_rpc *conn); /* dispatches one Call, without the lock */
void crpc_svc_ring(struct fi_rpc *conn);  /* the bell is as it should be */
void crpc_svc_close(struct fi_rpc *conn); /* without the lock */
void crpc_svc_own(SVCXPRT *xprt);	  /* its end closes the connection */

/* svc_reject.c: answers a Call that no dispatch function answered. */
void crpc_reject(struct fi_rpc *conn, const struct crpc_buf *call, enum accept_stat stat);

#endif
