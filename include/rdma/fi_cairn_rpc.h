/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ONC RPC over connections of the provider rpcrdma: libtirpc's CLIENT and SVCXPRT, in
 * both directions of one connection. The library is libcairn-rpc; see fi_cairn_rpc(3).
 *
 * Functions that return int return 0 or a negative FI_E* code of <rdma/fi_errno.h>.
 * Times are in milliseconds; a negative one waits without end.
 */
#ifndef FI_CAIRN_RPC_H
#define FI_CAIRN_RPC_H

#include <stddef.h>
#include <sys/socket.h>
#include <rpc/rpc.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A connection. Any thread may use it. */
struct fi_rpc;

/* What connections come in at. One thread at a time uses it. */
struct fi_rpc_listener;

/* What a connection is to be; 0 stands for the default. */
struct fi_rpc_attr {
	size_t calls;	   /* own Calls outstanding, at most; FI_RPCRDMA_CREDITS */
	size_t grant;	   /* the peer's Calls outstanding, at most; FI_RPCRDMA_CREDITS */
	size_t reply_size; /* bytes of the largest Reply; the largest message there is */
	int timeout;	   /* for connecting; 25,000 ms */
};

/*
 * Connects to a service. stack is the provider, such as "tcp;rpcrdma", or NULL for the
 * first that speaks FI_PROTO_CAIRN_RPC; attr may be NULL. The connection is the caller's,
 * to be closed with fi_rpc_close. -FI_ENODATA: no such provider; -FI_ETIMEDOUT;
 * -FI_ECONNREFUSED; other codes are the provider's.
 */
int fi_rpc_connect(const char *stack, const char *node, const char *service,
		   const struct fi_rpc_attr *attr, struct fi_rpc **conn);

/*
 * Listens. node may be NULL for any address, service NULL for any port, which
 * fi_rpc_getname tells. attr is that of connections that come in.
 */
int fi_rpc_listen(const char *stack, const char *node, const char *service,
		  const struct fi_rpc_attr *attr, struct fi_rpc_listener **listener);

/* Copies the address that a listener has; *len is the room, and then its length. */
int fi_rpc_getname(struct fi_rpc_listener *listener, struct sockaddr *addr, size_t *len);

/* A descriptor that poll(2) finds readable when fi_rpc_accept has something to do. */
int fi_rpc_listen_fd(struct fi_rpc_listener *listener);

/* Takes the next connection. -FI_EAGAIN: none came in time. */
int fi_rpc_accept(struct fi_rpc_listener *listener, int timeout, struct fi_rpc **conn);

/* Closes a listener; connections that it accepted live on. */
void fi_rpc_listen_close(struct fi_rpc_listener *listener);

/*
 * Ends a connection and gives it up: waiting calls end with RPC_CANTRECV, and its SVCXPRT
 * is destroyed, or is as soon as its dispatch function returns. CLIENTs remain to be
 * destroyed; their calls end with RPC_CANTSEND.
 */
void fi_rpc_close(struct fi_rpc *conn);

/*
 * For programs with a loop of their own instead of svc_run: dispatches Calls that came in
 * on the connection, waiting for the first. Returns how many, 0 if none came in time, or
 * -FI_ENOTCONN when the connection has ended. fi_rpc_fd is what to poll(2) before.
 */
int fi_rpc_serve(struct fi_rpc *conn, int timeout);
int fi_rpc_fd(struct fi_rpc *conn);

/* A CLIENT of a program. NULL: rpc_createerr says why. */
CLIENT *clnt_fi_create(struct fi_rpc *conn, rpcprog_t prog, rpcvers_t vers);

/* clnt_control: the largest Reply that a CLIENT expects, size_t, in bytes. */
#define CLSET_FI_REPLY_SIZE 0x43520001
#define CLGET_FI_REPLY_SIZE 0x43520002

/*
 * The SVCXPRT of a connection, registered: svc_run serves the Calls that come in on it,
 * to programs registered with svc_register(xprt, prog, vers, dispatch, 0) or svc_reg. One
 * connection has one. NULL: errno is EBUSY or ENOMEM.
 */
SVCXPRT *svc_fi_create(struct fi_rpc *conn);

/*
 * An SVCXPRT that accepts connections in svc_run and makes an SVCXPRT of each, which
 * closes its connection when it is destroyed. The listener is the SVCXPRT's from now on;
 * svc_destroy closes it. NULL: errno is ENOMEM.
 */
SVCXPRT *svc_fi_listen(struct fi_rpc_listener *listener);

/* The connection that an SVCXPRT of svc_fi_create or svc_fi_listen serves: for Calls to
 * the one who called. Valid while the SVCXPRT is. NULL for any other. */
struct fi_rpc *fi_rpc_of(const SVCXPRT *xprt);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
