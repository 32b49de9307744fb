/* SPDX-License-Identifier: BSD-2-Clause */
/* What both ends serve. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "rpct.h"

/* Of rpcgen's stubs. */
void trial_prog_3(struct svc_req *request, SVCXPRT *xprt);
void other_prog_1(struct svc_req *request, SVCXPRT *xprt);
void back_prog_1(struct svc_req *request, SVCXPRT *xprt);

struct fi_rpc *rpct_to_close;

bool rpct_blob(blob *to, size_t len, int seed)
{
	to->blob_len = (u_int)len;
	to->blob_val = malloc(len + 1);
	for (size_t i = 0; to->blob_val && i < len; i++)
		to->blob_val[i] = (char)(i * 7 + (i >> 8) + (size_t)seed);
	return to->blob_val;
}

bool rpct_blob_is(const blob *is, size_t len, int seed)
{
	if (is->blob_len != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (is->blob_val[i] != (char)(i * 7 + (i >> 8) + (size_t)seed))
			return false;
	}
	return true;
}

static bool_t copy(const blob *from, blob *to)
{
	to->blob_len = from->blob_len;
	to->blob_val = malloc(from->blob_len + 1);
	if (to->blob_val && from->blob_len)
		memcpy(to->blob_val, from->blob_val, from->blob_len);
	return to->blob_val ? TRUE : FALSE;
}

static CLIENT *back(const struct svc_req *request)
{
	return clnt_fi_create(fi_rpc_of(request->rq_xprt), BACK_PROG, BACK_VERS);
}

bool_t trial_echo_3_svc(blob *arg, blob *result, struct svc_req *request)
{
	return copy(arg, result);
}

bool_t trial_late_3_svc(delayed *arg, blob *result, struct svc_req *request)
{
	poll(NULL, 0, arg->ms);
	return rpct_blob(result, (size_t)arg->len, 0);
}

bool_t trial_nest_3_svc(int *arg, int *result, struct svc_req *request)
{
	CLIENT *client = back(request);
	enum clnt_stat stat = RPC_SUCCESS;

	*result = 0;
	if (*arg > 0)
		stat = back_nest_1(arg, result, client);
	*result += 1;
	clnt_destroy(client);
	return stat == RPC_SUCCESS;
}

bool_t trial_back_echo_3_svc(blob *arg, blob *result, struct svc_req *request)
{
	CLIENT *client = back(request);
	enum clnt_stat stat;

	memset(result, 0, sizeof(*result));
	stat = back_echo_1(arg, result, client);
	clnt_destroy(client);
	return stat == RPC_SUCCESS;
}

bool_t trial_back_stat_3_svc(int *arg, int *result, struct svc_req *request)
{
	const struct timeval time = {.tv_sec = 5};
	CLIENT *client = clnt_fi_create(fi_rpc_of(request->rq_xprt), (rpcprog_t)*arg, 1);

	*result = clnt_call(client, NULLPROC, (xdrproc_t)xdr_void, NULL,
			    (xdrproc_t)xdr_void, NULL, time);
	clnt_destroy(client);
	return TRUE;
}

bool_t trial_who_3_svc(void *arg, int *result, struct svc_req *request)
{
	const struct authunix_parms *parms = (void *)request->rq_clntcred;

	*result = request->rq_cred.oa_flavor == AUTH_SYS ? (int)parms->aup_uid : -1;
	return TRUE;
}

bool_t trial_silent_3_svc(void *arg, int *result, struct svc_req *request)
{
	return FALSE;
}

bool_t trial_back_close_3_svc(void *arg, int *result, struct svc_req *request)
{
	CLIENT *client = back(request);

	*result = back_close_1(NULL, NULL, client);
	clnt_destroy(client);
	return TRUE;
}

bool_t trial_name_3_svc(name *arg, name *result, struct svc_req *request)
{
	*result = strdup(*arg);
	return TRUE;
}

bool_t other_next_1_svc(int *arg, int *result, struct svc_req *request)
{
	*result = *arg + 1;
	return TRUE;
}

bool_t back_nest_1_svc(int *arg, int *result, struct svc_req *request)
{
	CLIENT *client =
		clnt_fi_create(fi_rpc_of(request->rq_xprt), TRIAL_PROG, TRIAL_VERS);
	int less = *arg - 1;
	enum clnt_stat stat;

	stat = trial_nest_3(&less, result, client);
	*result += 1;
	clnt_destroy(client);
	return stat == RPC_SUCCESS;
}

bool_t back_echo_1_svc(blob *arg, blob *result, struct svc_req *request)
{
	return copy(arg, result);
}

bool_t back_close_1_svc(void *arg, void *result, struct svc_req *request)
{
	fi_rpc_close(rpct_to_close);
	return TRUE;
}

int trial_prog_3_freeresult(SVCXPRT *xprt, xdrproc_t xdr, caddr_t result)
{
	xdr_free(xdr, result);
	return TRUE;
}

int other_prog_1_freeresult(SVCXPRT *xprt, xdrproc_t xdr, caddr_t result)
{
	return TRUE;
}

int back_prog_1_freeresult(SVCXPRT *xprt, xdrproc_t xdr, caddr_t result)
{
	xdr_free(xdr, result);
	return TRUE;
}

bool rpct_serve_back(struct fi_rpc *conn)
{
	SVCXPRT *xprt = svc_fi_create(conn);

	/* Programs are the process's: the same again is no mistake. */
	return xprt && svc_register(xprt, BACK_PROG, BACK_VERS, back_prog_1, 0);
}

static void serve_end(int number)
{
	svc_exit();
}

int rpct_serve(const char *stack, const char *address)
{
	struct fi_rpc_listener *listener;
	struct sockaddr_in addr;
	size_t len = sizeof(addr);
	SVCXPRT *xprt;
	int ret;

	ret = fi_rpc_listen(stack, address, NULL, NULL, &listener);
	if (!ret)
		ret = fi_rpc_getname(listener, (struct sockaddr *)&addr, &len);
	if (ret) {
		fprintf(stderr, "server: %s\n", fi_strerror(-ret));
		return 1;
	}
	xprt = svc_fi_listen(listener);
	if (!xprt || !rpct_serve_sealed() ||
	    !svc_register(xprt, TRIAL_PROG, TRIAL_VERS, trial_prog_3, 0) ||
	    !svc_register(xprt, OTHER_PROG, OTHER_VERS, other_prog_1, 0))
		return 1;
	signal(SIGTERM, serve_end);
	printf("%d\n", ntohs(addr.sin_port));
	fflush(stdout);
	svc_run();
	signal(SIGTERM, SIG_IGN);
	svc_destroy(xprt);
	svc_unreg(TRIAL_PROG, TRIAL_VERS);
	svc_unreg(OTHER_PROG, OTHER_VERS);
	return 0;
}
