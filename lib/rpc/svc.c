/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of an SVCXPRT, and who dispatches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include "svc.h"

/* RFC 8166 section 9: netids of this transport. */
static void svc_names(struct crpc_svc *svc, int family)
{
	strcpy(svc->netid, family == AF_INET6 ? "rdma6" : "rdma");
	svc->xprt.xp_netid = svc->netid;
}

/* Addresses are a courtesy: a provider may have others than those of IP. */
static void svc_address(struct netbuf *to, struct fid_ep *ep,
			int (*get)(struct fid_ep *ep, void *addr, size_t *len))
{
	struct sockaddr_storage addr;
	size_t len = sizeof(addr);

	memset(&addr, 0, len);
	if (get(ep, &addr, &len) || len > sizeof(addr))
		return;
	to->buf = calloc(1, sizeof(addr));
	if (!to->buf)
		return;
	memcpy(to->buf, &addr, len);
	to->len = (u_int)len;
	to->maxlen = sizeof(addr);
}

static int svc_own_name(struct fid_ep *ep, void *addr, size_t *len)
{
	return fi_getname(&ep->fid, addr, len);
}

static void svc_addresses(struct crpc_svc *svc)
{
	SVCXPRT *xprt = &svc->xprt;
	const struct sockaddr *peer;

	svc_address(&xprt->xp_rtaddr, svc->conn->ep, fi_getpeer);
	svc_address(&xprt->xp_ltaddr, svc->conn->ep, svc_own_name);
	peer = xprt->xp_rtaddr.buf;
	svc_names(svc, peer ? peer->sa_family : AF_INET);
	if (peer && xprt->xp_rtaddr.len <= sizeof(xprt->xp_raddr)) {
		memcpy(&xprt->xp_raddr, peer, xprt->xp_rtaddr.len);
		xprt->xp_addrlen = (int)xprt->xp_rtaddr.len;
	}
}

static struct crpc_svc *svc_alloc(struct fi_rpc *conn)
{
	struct crpc_svc *svc = calloc(1, sizeof(*svc));

	if (!svc)
		return NULL;
	svc->conn = conn;
	svc->xprt.xp_fd = conn->fd;
	svc->xprt.xp_ops = &crpc_xp_ops;
	svc->xprt.xp_ops2 = &crpc_xp_ops2;
	svc->xprt.xp_p1 = svc;
	svc->xprt.xp_p3 = &svc->ext;
	svc_addresses(svc);
	return svc;
}

static void svc_free(struct crpc_svc *svc)
{
	if (svc->ext.xp_auth.svc_ah_private)
		SVCAUTH_DESTROY(&svc->ext.xp_auth);
	free(svc->xprt.xp_rtaddr.buf);
	free(svc->xprt.xp_ltaddr.buf);
	free(svc);
}

SVCXPRT *svc_fi_create(struct fi_rpc *conn)
{
	struct crpc_svc *svc = svc_alloc(conn);

	if (!svc) {
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_lock(&conn->lock);
	if (conn->svc) {
		pthread_mutex_unlock(&conn->lock);
		svc_free(svc);
		errno = EBUSY;
		return NULL;
	}
	conn->svc = svc;
	conn->refs++;
	pthread_mutex_unlock(&conn->lock);
	xprt_register(&svc->xprt);
	/* What came in before is to be found. */
	pthread_mutex_lock(&conn->lock);
	crpc_progress(conn);
	pthread_mutex_unlock(&conn->lock);
	return &svc->xprt;
}

struct fi_rpc *fi_rpc_of(const SVCXPRT *xprt)
{
	const struct crpc_svc *svc = xprt->xp_p1;

	return xprt->xp_ops == &crpc_xp_ops ? svc->conn : NULL;
}

void crpc_svc_own(SVCXPRT *xprt)
{
	struct crpc_svc *svc = xprt->xp_p1;

	svc->owns = true;
}

void crpc_svc_destroy(SVCXPRT *xprt)
{
	struct crpc_svc *svc = xprt->xp_p1;
	struct fi_rpc *conn = svc->conn;
	bool owns, now;

	pthread_mutex_lock(&conn->lock);
	/* libtirpc has a use for it until the dispatch function returns. */
	now = !svc->top && !svc->lent;
	svc->destroyed = true;
	owns = svc->owns;
	if (now)
		conn->svc = NULL;
	pthread_mutex_unlock(&conn->lock);
	if (!now)
		return;
	xprt_unregister(xprt);
	svc_free(svc);
	if (owns)
		fi_rpc_close(conn);
	crpc_put(conn);
}

void crpc_svc_close(struct fi_rpc *conn)
{
	struct crpc_svc *svc;

	pthread_mutex_lock(&conn->lock);
	svc = conn->svc;
	/* The connection is being closed already. */
	if (svc)
		svc->owns = false;
	pthread_mutex_unlock(&conn->lock);
	if (svc)
		crpc_svc_destroy(&svc->xprt);
}

void crpc_svc_ring(struct fi_rpc *conn)
{
	const struct crpc_svc *svc = conn->svc;
	eventfd_t rings;

	if (svc && !svc->top && (conn->queue || conn->state == CRPC_DOWN))
		eventfd_write(conn->bell, 1);
	else
		eventfd_read(conn->bell, &rings);
}

/* Nobody is there who could answer. */
static bool svc_refuse(struct fi_rpc *conn)
{
	struct crpc_buf *call = conn->queue;

	conn->queue = call->next;
	crpc_reject(conn, call, PROG_UNAVAIL);
	crpc_buf_put(conn, call);
	return true;
}

bool crpc_svc_serve(struct fi_rpc *conn)
{
	struct crpc_svc *svc = conn->svc;
	const bool lent = svc && svc->lent;

	if (!conn->queue)
		return false;
	if (!svc)
		return svc_refuse(conn);
	if (crpc_svc_busy(svc) || (lent && !svc->top))
		return false;
	svc->lent = true;
	pthread_mutex_unlock(&conn->lock);
	svc_getreq_common(svc->xprt.xp_fd);
	pthread_mutex_lock(&conn->lock);
	svc->lent = lent;
	crpc_svc_ring(conn);
	/* Another Call is another thread's, if this one has what it waits for. */
	crpc_wake(conn);
	if (svc->destroyed && !svc->top && !lent) {
		pthread_mutex_unlock(&conn->lock);
		crpc_svc_destroy(&svc->xprt);
		pthread_mutex_lock(&conn->lock);
	}
	return true;
}
