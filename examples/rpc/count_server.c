/* SPDX-License-Identifier: BSD-2-Clause */
/* A server of rpcgen's stubs over rpcrdma: count_server STACK [ADDRESS [PORT]] */
#include <stdio.h>
#include <rdma/fi_cairn_rpc.h>
#include <rdma/fi_errno.h>
#include "count.h"
#include "watch.h"

/* Of rpcgen's count_svc.c. */
void count_prog_1(struct svc_req *request, SVCXPRT *xprt);

static int total;

/* In the other direction of the connection that the Call came in on. */
static bool_t may(const struct svc_req *request, int number)
{
	CLIENT *watch =
		clnt_fi_create(fi_rpc_of(request->rq_xprt), WATCH_PROG, WATCH_VERS);
	bool_t answer, *result;

	if (!watch)
		return FALSE;
	result = watch_may_1(&number, watch);
	answer = result && *result;
	clnt_destroy(watch);
	return answer;
}

int *count_add_1_svc(step *wanted, struct svc_req *request)
{
	if (may(request, wanted->number))
		total += wanted->number;
	return &total;
}

int *count_total_1_svc(void *none, struct svc_req *request)
{
	return &total;
}

int main(int argc, char **argv)
{
	struct fi_rpc_listener *listener;
	SVCXPRT *xprt;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: count_server STACK [ADDRESS [PORT]]\n");
		return 2;
	}
	ret = fi_rpc_listen(argv[1], argc > 2 ? argv[2] : NULL,
			    argc > 3 ? argv[3] : "20435", NULL, &listener);
	if (ret) {
		fprintf(stderr, "count_server: %s\n", fi_strerror(-ret));
		return 1;
	}
	xprt = svc_fi_listen(listener);
	if (!xprt || !svc_register(xprt, COUNT_PROG, COUNT_VERS, count_prog_1, 0))
		return 1;
	printf("listening\n");
	fflush(stdout);
	svc_run();
	return 0;
}
