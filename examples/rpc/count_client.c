/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of rpcgen's stubs over rpcrdma: count_client STACK ADDRESS [PORT]. It serves
 * the server's questions while it waits for its answers, and allows steps up to 100.
 */
#include <stdio.h>
#include <rdma/fi_cairn_rpc.h>
#include <rdma/fi_errno.h>
#include "count.h"
#include "watch.h"

/* Of rpcgen's watch_svc.c. */
void watch_prog_1(struct svc_req *request, SVCXPRT *xprt);

bool_t *watch_may_1_svc(int *number, struct svc_req *request)
{
	static bool_t answer;

	answer = *number <= 100;
	printf("the server asks: %d? %s\n", *number, answer ? "yes" : "no");
	return &answer;
}

static int steps(CLIENT *count)
{
	static step all[] = {{20, "the first"}, {1000, "too much"}, {22, "the last"}};
	int *total;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		total = count_add_1(&all[i], count);
		if (!total) {
			clnt_perror(count, "count_client");
			return 1;
		}
		printf("total %d\n", *total);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct fi_rpc *conn;
	CLIENT *count;
	SVCXPRT *xprt;
	int ret;

	if (argc < 3) {
		fprintf(stderr, "usage: count_client STACK ADDRESS [PORT]\n");
		return 2;
	}
	ret = fi_rpc_connect(argv[1], argv[2], argc > 3 ? argv[3] : "20435", NULL, &conn);
	if (ret) {
		fprintf(stderr, "count_client: %s\n", fi_strerror(-ret));
		return 1;
	}
	xprt = svc_fi_create(conn);
	count = clnt_fi_create(conn, COUNT_PROG, COUNT_VERS);
	if (!xprt || !count ||
	    !svc_register(xprt, WATCH_PROG, WATCH_VERS, watch_prog_1, 0))
		return 1;
	ret = steps(count);
	clnt_destroy(count);
	fi_rpc_close(conn);
	return ret;
}
