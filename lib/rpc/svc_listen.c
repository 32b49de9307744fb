/* SPDX-License-Identifier: BSD-2-Clause */
/* The SVCXPRT that accepts connections in svc_run. No Call comes in on it. */
#include <errno.h>
#include <stdlib.h>
#include "conn.h"
#include <rpc/svc_mt.h> /* behind rpc.h, whose types it uses */

struct svc_listen {
	SVCXPRT xprt;
	SVCXPRT_EXT ext;
	struct fi_rpc_listener *listener;
};

static bool_t svc_listen_recv(SVCXPRT *xprt, struct rpc_msg *msg)
{
	struct svc_listen *svc = xprt->xp_p1;
	struct fi_rpc *conn;
	SVCXPRT *made;

	while (!fi_rpc_accept(svc->listener, 0, &conn)) {
		made = svc_fi_create(conn);
		if (made)
			crpc_svc_own(made);
		else
			fi_rpc_close(conn);
	}
	return FALSE;
}

static enum xprt_stat svc_listen_stat(SVCXPRT *xprt)
{
	return XPRT_IDLE;
}

static bool_t svc_listen_args(SVCXPRT *xprt, xdrproc_t xargs, void *args)
{
	return FALSE;
}

static bool_t svc_listen_reply(SVCXPRT *xprt, struct rpc_msg *msg)
{
	return FALSE;
}

static bool_t svc_listen_control(SVCXPRT *xprt, const u_int request, void *info)
{
	return FALSE;
}

static void svc_listen_destroy(SVCXPRT *xprt)
{
	struct svc_listen *svc = xprt->xp_p1;

	xprt_unregister(xprt);
	fi_rpc_listen_close(svc->listener);
	free(svc);
}

static const struct xp_ops listen_ops = {
	.xp_recv = svc_listen_recv,
	.xp_stat = svc_listen_stat,
	.xp_getargs = svc_listen_args,
	.xp_reply = svc_listen_reply,
	.xp_freeargs = svc_listen_args,
	.xp_destroy = svc_listen_destroy,
};

static const struct xp_ops2 listen_ops2 = {.xp_control = svc_listen_control};

SVCXPRT *svc_fi_listen(struct fi_rpc_listener *listener)
{
	struct svc_listen *svc = calloc(1, sizeof(*svc));

	if (!svc) {
		errno = ENOMEM;
		return NULL;
	}
	svc->listener = listener;
	svc->xprt.xp_fd = fi_rpc_listen_fd(listener);
	svc->xprt.xp_ops = &listen_ops;
	svc->xprt.xp_ops2 = &listen_ops2;
	svc->xprt.xp_p1 = svc;
	svc->xprt.xp_p3 = &svc->ext;
	xprt_register(&svc->xprt);
	/* What came in before is accepted, and the descriptor armed. */
	svc_listen_recv(&svc->xprt, NULL);
	return &svc->xprt;
}
