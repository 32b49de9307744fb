/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SVCXPRT of a connection. libtirpc keeps what it knows of the Call that is being
 * dispatched in the SVCXPRT, so one thread dispatches at a time. A dispatch function that
 * waits for a Call of its own dispatches what comes in meanwhile, on top of it.
 */
#ifndef LIB_RPC_SVC_H
#define LIB_RPC_SVC_H

#include "conn.h"
#include <rpc/svc_mt.h> /* behind rpc.h, whose types it uses */

/* A Call that is being dispatched, and what the SVCXPRT said of the one below. */
struct crpc_frame {
	struct crpc_frame *below;
	struct crpc_buf *call; /* owned */
	XDR args;
	uint32_t xid;
	enum accept_stat unanswered; /* what a Call without a Reply is answered with */
	bool answered;
	struct opaque_auth verf;
	SVCAUTH auth;
};

struct crpc_svc {
	SVCXPRT xprt;
	SVCXPRT_EXT ext;
	struct fi_rpc *conn;
	struct crpc_frame *top;
	pthread_t thread; /* of the frames */
	bool lent;	  /* to a thread that waits for something else */
	bool idle;	  /* there was no Call when libtirpc asked */
	bool owns;	  /* the connection ends with it */
	bool destroyed;	  /* by a dispatch function */
	char netid[8];
};

/* Does another thread dispatch? */
bool crpc_svc_busy(const struct crpc_svc *svc);
void crpc_svc_push(struct crpc_svc *svc, struct crpc_frame *frame);
void crpc_svc_pop(struct crpc_svc *svc);

extern const struct xp_ops crpc_xp_ops;
extern const struct xp_ops2 crpc_xp_ops2;
void crpc_svc_destroy(SVCXPRT *xprt);

#endif
