/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Credentials of a flavor of the tests' own: what a peer refuses of a Call's head, and
 * what belongs to each of two Calls that are dispatched on top of each other.
 */
#include "rpct.h"
#include <rpc/svc_mt.h> /* behind rpc.h, whose types it uses */

#define FLAVOR 0x20435200
#define UNKNOWN 0x20435201 /* no server has it */
#define SEAL 0x5ea1ed
#define VERSION_AT 8 /* rpcvers of a Call */
#define MOST 20	     /* refreshes; a call that asks for more would never end */

struct own_auth {
	AUTH auth;
	u_int flavor, refreshed; /* the latter: from the next refresh on */
	u_int rpcvers;
	u_int verifier, seal; /* of the last Reply */
	int refreshes;
};

static struct own_auth *own(AUTH *auth)
{
	return auth->ah_private;
}

static void own_nothing(AUTH *auth)
{
}

static int own_marshal(AUTH *auth, XDR *xdrs)
{
	const u_int at = xdr_getpos(xdrs);
	u_int none = AUTH_NONE, length = 0;

	return xdr_setpos(xdrs, VERSION_AT) && xdr_u_int(xdrs, &own(auth)->rpcvers) &&
	       xdr_setpos(xdrs, at) && xdr_u_int(xdrs, &own(auth)->flavor) &&
	       xdr_u_int(xdrs, &length) && xdr_u_int(xdrs, &none) &&
	       xdr_u_int(xdrs, &length);
}

static int own_validate(AUTH *auth, struct opaque_auth *verifier)
{
	own(auth)->verifier = (u_int)verifier->oa_flavor;
	return TRUE;
}

static int own_refresh(AUTH *auth, void *reply)
{
	own(auth)->flavor = own(auth)->refreshed;
	return ++own(auth)->refreshes < MOST;
}

static int own_wrap(AUTH *auth, XDR *xdrs, xdrproc_t put, caddr_t args)
{
	return put(xdrs, args);
}

static int own_unwrap(AUTH *auth, XDR *xdrs, xdrproc_t take, caddr_t results)
{
	own(auth)->seal = 0;
	return take(xdrs, results) &&
	       (own(auth)->flavor != FLAVOR || xdr_u_int(xdrs, &own(auth)->seal));
}

static struct auth_ops own_ops = {
	.ah_nextverf = own_nothing,
	.ah_marshal = own_marshal,
	.ah_validate = own_validate,
	.ah_refresh = own_refresh,
	.ah_destroy = own_nothing,
	.ah_wrap = own_wrap,
	.ah_unwrap = own_unwrap,
};

/* The status of NULLPROC with them. */
static enum clnt_stat null_call(struct rpct *t, struct own_auth *with,
				struct rpc_err *err)
{
	const struct timeval time = {.tv_sec = 5};
	AUTH *before = t->trial->cl_auth;
	enum clnt_stat stat;

	with->auth = (AUTH){.ah_ops = &own_ops, .ah_private = with};
	t->trial->cl_auth = &with->auth;
	stat = clnt_call(t->trial, NULLPROC, (xdrproc_t)xdr_void, NULL,
			 (xdrproc_t)xdr_void, NULL, time);
	clnt_geterr(t->trial, err);
	t->trial->cl_auth = before;
	return stat;
}

/* RFC 5531 section 9: RPC_MISMATCH. */
bool rpct_rpc_version(struct rpct *t)
{
	struct own_auth other = {.flavor = AUTH_NONE, .rpcvers = 3};
	struct rpc_err err;

	RPCT_CHECK(null_call(t, &other, &err) == RPC_VERSMISMATCH);
	RPCT_CHECK(err.re_vers.low == 2 && err.re_vers.high == 2);
	other.rpcvers = 2;
	RPCT_CHECK(null_call(t, &other, &err) == RPC_SUCCESS);
	return true;
}

/* Credentials that are refused are refreshed, twice in a call. */
bool rpct_refresh(struct rpct *t)
{
	struct own_auth old = {.flavor = UNKNOWN, .refreshed = AUTH_NONE, .rpcvers = 2};
	struct own_auth bad = {.flavor = UNKNOWN, .refreshed = UNKNOWN, .rpcvers = 2};
	struct rpc_err err;

	RPCT_CHECK(null_call(t, &old, &err) == RPC_SUCCESS);
	RPCT_CHECK(old.refreshes == 1);
	RPCT_CHECK(null_call(t, &bad, &err) == RPC_AUTHERROR);
	RPCT_CHECK(err.re_why == AUTH_REJECTEDCRED);
	RPCT_CHECK(bad.refreshes == 2);
	return true;
}

/* A server without a GSS name, or of what it cannot take apart. */
bool rpct_gss(struct rpct *t)
{
	struct own_auth gss = {.flavor = RPCSEC_GSS,
			       .refreshed = RPCSEC_GSS,
			       .rpcvers = 2};
	struct rpc_err err;

	RPCT_CHECK(null_call(t, &gss, &err) == RPC_AUTHERROR);
	RPCT_CHECK(err.re_why == AUTH_BADCRED || err.re_why == AUTH_REJECTEDCRED);
	gss.flavor = AUTH_NONE;
	RPCT_CHECK(null_call(t, &gss, &err) == RPC_SUCCESS);
	return true;
}

/* The Call in between has no credentials. */
bool rpct_sealed(struct rpct *t)
{
	struct own_auth sealed = {.flavor = FLAVOR, .rpcvers = 2};
	AUTH *before = t->trial->cl_auth;
	int depth, levels;
	bool good = true;

	RPCT_CHECK(rpct_serve_back(t->conn));
	sealed.auth = (AUTH){.ah_ops = &own_ops, .ah_private = &sealed};
	for (depth = 0; depth < 3 && good; depth++) {
		t->trial->cl_auth = &sealed.auth;
		sealed.verifier = 0;
		good = trial_nest_3(&depth, &levels, t->trial) == RPC_SUCCESS &&
		       levels == 2 * depth + 1 && sealed.verifier == FLAVOR &&
		       sealed.seal == SEAL;
		t->trial->cl_auth = before;
	}
	RPCT_CHECK(good);
	/* And not those of a Call that comes later. */
	depth = 0;
	RPCT_CHECK(trial_nest_3(&depth, &levels, t->trial) == RPC_SUCCESS);
	return true;
}

/* ---- the server ---- */

static int seal_wrap(SVCAUTH *auth, XDR *xdrs, xdrproc_t put, caddr_t results)
{
	u_int seal = SEAL;

	return put(xdrs, results) && xdr_u_int(xdrs, &seal);
}

static int seal_unwrap(SVCAUTH *auth, XDR *xdrs, xdrproc_t take, caddr_t args)
{
	return take(xdrs, args);
}

static int seal_destroy(SVCAUTH *auth)
{
	return TRUE;
}

static enum auth_stat seal(struct svc_req *request, struct rpc_msg *msg)
{
	static struct svc_auth_ops ops = {
		.svc_ah_wrap = seal_wrap,
		.svc_ah_unwrap = seal_unwrap,
		.svc_ah_destroy = seal_destroy,
	};

	request->rq_xprt->xp_verf = (struct opaque_auth){.oa_flavor = FLAVOR};
	SVC_XP_AUTH(request->rq_xprt).svc_ah_ops = &ops;
	return AUTH_OK;
}

bool rpct_serve_sealed(void)
{
	return !svc_auth_reg(FLAVOR, seal);
}
