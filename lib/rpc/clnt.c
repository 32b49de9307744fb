/* SPDX-License-Identifier: BSD-2-Clause */
/* libtirpc's CLIENT. */
#include <errno.h>
#include <stdlib.h>
#include "clnt.h"

#define WAIT_S 25
#define REFRESHES 2 /* of credentials that the peer refused, for one call */

/* A call, from its arguments to its results. */
struct clnt_try {
	CLIENT *client;
	struct crpc_clnt *clnt;
	struct crpc_call *call;
	struct rpc_msg head;
	rpcproc_t proc;
	xdrproc_t xargs, xres;
	void *args, *res;
	struct timespec until;
	bool wait; /* false: no time is given to the Reply */
	struct rpc_err err;
};

static void try_fail(struct clnt_try *try, enum clnt_stat stat, int err)
{
	try->err.re_status = stat;
	try->err.re_errno = err;
}

static bool try_fill(XDR *xdrs, void *arg)
{
	struct clnt_try *try = arg;
	AUTH *auth = try->client->cl_auth;
	uint32_t proc = try->proc;

	return xdr_callhdr(xdrs, &try->head) && xdr_u_int32_t(xdrs, &proc) &&
	       AUTH_MARSHALL(auth, xdrs) && AUTH_WRAP(auth, xdrs, try->xargs, try->args);
}

/* The XID is taken first: it is in what some flavors sign. */
static bool try_begin(struct clnt_try *try)
{
	struct crpc_clnt *clnt = try->clnt;

	pthread_mutex_lock(&clnt->conn->lock);
	if (!clnt->xid_set)
		clnt->xid = crpc_xid(clnt->conn);
	clnt->xid_set = false;
	try->call = crpc_call_new(clnt->conn, clnt->xid);
	try->head.rm_xid = clnt->xid;
	try->head.rm_direction = CALL;
	try->head.rm_call.cb_rpcvers = RPC_MSG_VERSION;
	try->head.rm_call.cb_prog = clnt->prog;
	try->head.rm_call.cb_vers = clnt->vers;
	if (try->call)
		try->call->len = clnt->guess;
	pthread_mutex_unlock(&clnt->conn->lock);
	if (!try->call)
		try_fail(try, RPC_SYSTEMERROR, ENOMEM);
	return try->call;
}

static bool try_encode(struct clnt_try *try)
{
	struct crpc_call *call = try->call;

	call->msg = crpc_encode(try_fill, try, try->clnt->conn->max_msg, &call->len);
	if (!call->msg)
		try_fail(try, RPC_CANTENCODEARGS, 0);
	return call->msg;
}

static bool try_over(struct fi_rpc *conn, void *arg)
{
	const struct crpc_call *call = arg;

	return (call->answered && !call->exposed && !call->sending) ||
	       conn->state == CRPC_DOWN;
}

/* With the lock held. */
static bool try_send(struct clnt_try *try)
{
	int ret = crpc_call_send(try->clnt->conn, try->call, try->clnt->reply_size,
				 &try->until);

	if (!ret)
		return true;
	if (ret == -FI_ETIMEDOUT)
		try_fail(try, RPC_TIMEDOUT, 0);
	else
		try_fail(try, RPC_CANTSEND, -ret);
	return false;
}

/* Of a Call without a Reply (rpc_err). */
static int answer_errno(const struct fi_rpc *conn, const struct crpc_call *call)
{
	if (conn->state == CRPC_DOWN)
		return ECONNRESET;
	/* A Reply longer than its receive: a code of libfabric's own. */
	return call->err == FI_ETRUNC ? EMSGSIZE : call->err;
}

/* With the lock held. */
static bool try_answer(struct clnt_try *try)
{
	struct fi_rpc *conn = try->clnt->conn;
	struct crpc_call *call = try->call;

	if (!try->wait || !crpc_wait(conn, try_over, call, &try->until, true))
		try_fail(try, RPC_TIMEDOUT, 0);
	else if (call->answered && !call->err)
		return true;
	else
		try_fail(try, RPC_CANTRECV, answer_errno(conn, call));
	return false;
}

static bool try_exchange(struct clnt_try *try)
{
	bool answered;

	pthread_mutex_lock(&try->clnt->conn->lock);
	try->clnt->guess = try->call->len;
	answered = try_send(try) && try_answer(try);
	pthread_mutex_unlock(&try->clnt->conn->lock);
	return answered;
}

static void try_results(struct clnt_try *try, XDR *xdrs, struct rpc_msg *reply)
{
	AUTH *auth = try->client->cl_auth;

	if (!AUTH_VALIDATE(auth, &reply->acpted_rply.ar_verf)) {
		try->err.re_status = RPC_AUTHERROR;
		try->err.re_why = AUTH_INVALIDRESP;
	} else if (!AUTH_UNWRAP(auth, xdrs, try->xres, try->res)) {
		try_fail(try, RPC_CANTDECODERES, 0);
	}
}

/* True: the credentials are other ones now, and the call is to be made again. */
static bool try_decode(struct clnt_try *try, int *refreshes)
{
	const struct crpc_buf *buf = try->call->reply;
	struct rpc_msg reply = {.rm_xid = 0};
	bool again = false;
	XDR xdrs;

	reply.acpted_rply.ar_verf = _null_auth;
	reply.acpted_rply.ar_results.proc = crpc_xdr_nothing;
	xdrmem_create(&xdrs, (char *)buf->bytes, (u_int)buf->len, XDR_DECODE);
	if (!xdr_replymsg(&xdrs, &reply)) {
		try_fail(try, RPC_CANTDECODERES, 0);
	} else {
		_seterr_reply(&reply, &try->err);
		if (try->err.re_status == RPC_SUCCESS)
			try_results(try, &xdrs, &reply);
		else if ((*refreshes)--)
			again = AUTH_REFRESH(try->client->cl_auth, &reply);
	}
	if (reply.rm_reply.rp_stat == MSG_ACCEPTED && reply.acpted_rply.ar_verf.oa_base) {
		xdrs.x_op = XDR_FREE;
		xdr_opaque_auth(&xdrs, &reply.acpted_rply.ar_verf);
	}
	xdr_destroy(&xdrs);
	return again;
}

static void try_end(struct clnt_try *try)
{
	struct crpc_clnt *clnt = try->clnt;

	pthread_mutex_lock(&clnt->conn->lock);
	/* What was never sent has nobody to answer it. */
	if (try->call && !try->call->msg)
		try->call->answered = true;
	if (try->call)
		crpc_call_abandon(clnt->conn, try->call);
	clnt->err = try->err;
	crpc_progress(clnt->conn);
	pthread_mutex_unlock(&clnt->conn->lock);
}

static void clnt_time(struct clnt_try *try, struct timeval given)
{
	struct crpc_clnt *clnt = try->clnt;
	int64_t ms;

	pthread_mutex_lock(&clnt->conn->lock);
	if (!clnt->wait_set && crpc_time_ok(&given))
		clnt->wait = given;
	ms = (int64_t)clnt->wait.tv_sec * 1000 + (clnt->wait.tv_usec + 999) / 1000;
	pthread_mutex_unlock(&clnt->conn->lock);
	try->wait = ms;
	/* One whose Reply nobody waits for may still wait for a credit. */
	crpc_deadline(&try->until, ms ? ms : WAIT_S * 1000);
}

/* The program may destroy it while another thread's call goes on. */
static void clnt_keep(struct crpc_clnt *clnt)
{
	pthread_mutex_lock(&clnt->conn->lock);
	clnt->refs++;
	pthread_mutex_unlock(&clnt->conn->lock);
}

static void clnt_release(struct crpc_clnt *clnt)
{
	struct fi_rpc *conn = clnt->conn;
	bool last;

	pthread_mutex_lock(&conn->lock);
	last = !--clnt->refs;
	pthread_mutex_unlock(&conn->lock);
	if (!last)
		return;
	free(clnt);
	crpc_put(conn);
}

static enum clnt_stat clnt_fi_call(CLIENT *client, rpcproc_t proc, xdrproc_t xargs,
				   void *args, xdrproc_t xres, void *res,
				   struct timeval timeout)
{
	struct clnt_try try = {
		.client = client,
		.clnt = client->cl_private,
		.proc = proc,
		.xargs = xargs,
		.args = args,
		.xres = xres,
		.res = res,
	};
	int refreshes = REFRESHES;
	bool again;

	clnt_keep(try.clnt);
	clnt_time(&try, timeout);
	do {
		again = false;
		try.err.re_status = RPC_SUCCESS;
		if (try_begin(&try) && try_encode(&try) && try_exchange(&try))
			again = try_decode(&try, &refreshes);
		try_end(&try);
	} while (again);
	clnt_release(try.clnt);
	return try.err.re_status;
}

static void clnt_fi_abort(CLIENT *client)
{
}

static void clnt_fi_geterr(CLIENT *client, struct rpc_err *err)
{
	struct crpc_clnt *clnt = client->cl_private;

	pthread_mutex_lock(&clnt->conn->lock);
	*err = clnt->err;
	pthread_mutex_unlock(&clnt->conn->lock);
}

static bool_t clnt_fi_freeres(CLIENT *client, xdrproc_t xres, void *res)
{
	xdr_free(xres, res);
	return TRUE;
}

static void clnt_fi_destroy(CLIENT *client)
{
	struct crpc_clnt *clnt = client->cl_private;

	if (clnt->close)
		fi_rpc_close(clnt->conn);
	clnt_release(clnt);
}

static struct clnt_ops clnt_ops = {
	.cl_call = clnt_fi_call,
	.cl_abort = clnt_fi_abort,
	.cl_geterr = clnt_fi_geterr,
	.cl_freeres = clnt_fi_freeres,
	.cl_destroy = clnt_fi_destroy,
	.cl_control = crpc_clnt_control,
};

CLIENT *clnt_fi_create(struct fi_rpc *conn, rpcprog_t prog, rpcvers_t vers)
{
	struct crpc_clnt *clnt = calloc(1, sizeof(*clnt));
	AUTH *auth = clnt ? authnone_create() : NULL;

	if (!auth) {
		free(clnt);
		rpc_createerr.cf_stat = RPC_SYSTEMERROR;
		rpc_createerr.cf_error.re_errno = ENOMEM;
		return NULL;
	}
	crpc_get(conn);
	clnt->conn = conn;
	clnt->refs = 1;
	clnt->prog = prog;
	clnt->vers = vers;
	clnt->wait.tv_sec = WAIT_S;
	clnt->reply_size = conn->reply_size;
	clnt->client.cl_ops = &clnt_ops;
	clnt->client.cl_private = clnt;
	clnt->client.cl_auth = auth;
	return &clnt->client;
}
