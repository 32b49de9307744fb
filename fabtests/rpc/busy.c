/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer that always has another Call, and one that is gone. */
#include <poll.h>
#include <pthread.h>
#include "rpct.h"

#define FLOOD 1 /* the procedure that calls NULLPROC until it is told to stop */
#define MOST_MS 30000
#define SLOW_MS 5 /* of NULLPROC: Calls come in faster */
#define WAIT_MS 1000

static _Atomic bool floods, stop;
static _Atomic int dispatched;

/* Without waiting for the Replies: as many as there are credits. */
static void flood(SVCXPRT *xprt)
{
	CLIENT *client = rpct_client(fi_rpc_of(xprt), OTHER_PROG, OTHER_VERS, 0);
	const long begin = rpct_ms();
	struct timeval none = {0};

	floods = true;
	while (!stop && rpct_ms() - begin < MOST_MS &&
	       clnt_call(client, NULLPROC, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void,
			 NULL, none) == RPC_TIMEDOUT)
		;
	floods = false;
	clnt_destroy(client);
}

static void dispatch(struct svc_req *request, SVCXPRT *xprt)
{
	dispatched++;
	if (request->rq_proc == FLOOD)
		flood(xprt);
	else
		poll(NULL, 0, SLOW_MS);
	svc_sendreply(xprt, (xdrproc_t)xdr_void, NULL);
}

static bool serve(struct fi_rpc *conn)
{
	return svc_register(svc_fi_create(conn), OTHER_PROG, OTHER_VERS, dispatch, 0);
}

static void *peer(void *arg)
{
	struct fi_rpc *conn;

	if (rpct_connect(arg, NULL, &conn))
		return NULL;
	if (serve(conn))
		while (fi_rpc_serve(conn, 10000) > 0)
			;
	fi_rpc_close(conn);
	return NULL;
}

static enum clnt_stat call(CLIENT *client, rpcproc_t proc)
{
	return clnt_call(client, proc, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void,
			 NULL, (struct timeval){0});
}

/* Both return while the peer goes on. */
static bool returns(struct fi_rpc *conn)
{
	CLIENT *waits = rpct_client(conn, OTHER_PROG, OTHER_VERS, WAIT_MS);
	CLIENT *starts = rpct_client(conn, OTHER_PROG, OTHER_VERS, 0);
	const long begin = rpct_ms();

	RPCT_CHECK(call(starts, FLOOD) == RPC_TIMEDOUT);
	while (!floods && rpct_ms() - begin < MOST_MS)
		fi_rpc_serve(conn, 1);
	RPCT_CHECK(floods);
	RPCT_CHECK(call(waits, FLOOD) == RPC_TIMEDOUT);
	RPCT_CHECK(floods);
	RPCT_CHECK(fi_rpc_serve(conn, WAIT_MS) > 0);
	RPCT_CHECK(floods);
	clnt_destroy(starts);
	clnt_destroy(waits);
	return true;
}

bool rpct_busy_peer(struct rpct *t)
{
	struct fi_rpc_listener *listener;
	struct rpct reached;
	struct fi_rpc *conn;
	pthread_t thread;
	bool ok;

	RPCT_CHECK(rpct_listen(t, t->address, &listener, &reached));
	RPCT_CHECK(!pthread_create(&thread, NULL, peer, &reached));
	RPCT_CHECK(!fi_rpc_accept(listener, 10000, &conn));
	RPCT_CHECK(serve(conn));
	floods = stop = false;
	ok = returns(conn);
	stop = true;
	fi_rpc_close(conn);
	pthread_join(thread, NULL);
	fi_rpc_listen_close(listener);
	return ok;
}

/* ---- the last Calls ---- */

#define LAST 3
#define LAST_MS 10000

/* The first Reply brings the credits; no other is waited for. */
static void *leaver(void *arg)
{
	struct timeval none = {0};
	struct fi_rpc *conn;
	CLIENT *client;

	if (rpct_connect(arg, NULL, &conn))
		return NULL;
	client = rpct_client(conn, OTHER_PROG, OTHER_VERS, 10000);
	call(client, NULLPROC);
	clnt_control(client, CLSET_TIMEOUT, (void *)&none);
	for (int i = 0; i < LAST; i++)
		call(client, NULLPROC);
	clnt_destroy(client);
	fi_rpc_close(conn);
	return NULL;
}

/* As svc_run does it. */
static void run(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	const long begin = rpct_ms();

	while (dispatched <= LAST && rpct_ms() - begin < LAST_MS)
		if (poll(&polled, 1, LAST_MS) > 0)
			svc_getreq_common(fd);
}

/* What came in before the connection ended is dispatched. */
bool rpct_last_calls(struct rpct *t)
{
	struct fi_rpc_listener *listener;
	struct rpct reached;
	struct fi_rpc *conn;
	pthread_t thread;

	RPCT_CHECK(rpct_listen(t, t->address, &listener, &reached));
	RPCT_CHECK(!pthread_create(&thread, NULL, leaver, &reached));
	RPCT_CHECK(!fi_rpc_accept(listener, 10000, &conn));
	RPCT_CHECK(serve(conn));
	dispatched = 0;
	RPCT_CHECK(fi_rpc_serve(conn, 10000) == 1);
	pthread_join(thread, NULL);
	run(fi_rpc_fd(conn));
	RPCT_CHECK(dispatched == LAST + 1);
	fi_rpc_close(conn);
	fi_rpc_listen_close(listener);
	return true;
}
