/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls to the end that listens. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rpct.h"

static bool echo(CLIENT *client, size_t len, int seed)
{
	blob sent, back = {.blob_val = NULL};

	RPCT_CHECK(rpct_blob(&sent, len, seed));
	RPCT_CHECK(trial_echo_3(&sent, &back, client) == RPC_SUCCESS);
	RPCT_CHECK(rpct_blob_is(&back, len, seed));
	free(sent.blob_val);
	RPCT_CHECK(clnt_freeres(client, (xdrproc_t)xdr_blob, (void *)&back));
	return true;
}

bool rpct_small(struct rpct *t)
{
	for (int i = 0; i < 300; i++)
		RPCT_CHECK(echo(t->trial, (size_t)i % 17, i));
	return true;
}

bool rpct_long(struct rpct *t)
{
	static const size_t lens[] = {900,   1000,  2000,  3999,  4000,	  4001,	    4096,
				      65480, 65535, 65536, 65537, 200001, RPCT_LONG};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		RPCT_CHECK(echo(t->trial, lens[i], (int)i));
	return true;
}

/* Replies that need no chunk come into receives that were posted before the connection
 * was there. */
bool rpct_inline(struct rpct *t)
{
	static const size_t lens[] = {900, 996, 997, 1000, 2000, 4039, 4040};
	/* With 28 bytes in front of it, 4,096. */
	const struct fi_rpc_attr attr = {.reply_size = 4068};
	struct fi_rpc *conn;
	CLIENT *client;

	RPCT_CHECK(rpct_connect(t, &attr, &conn) == 0);
	client = rpct_client(conn, TRIAL_PROG, TRIAL_VERS, 5000);
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		RPCT_CHECK(echo(client, lens[i], (int)i));
	clnt_destroy(client);
	fi_rpc_close(conn);
	return true;
}

bool rpct_programs(struct rpct *t)
{
	CLIENT *other = rpct_client(t->conn, OTHER_PROG, OTHER_VERS, 5000);
	CLIENT *again = rpct_client(t->conn, TRIAL_PROG, TRIAL_VERS, 5000);
	int next;

	for (int i = 0; i < 50; i++) {
		RPCT_CHECK(other_next_1(&i, &next, other) == RPC_SUCCESS);
		RPCT_CHECK(next == i + 1);
		RPCT_CHECK(echo(t->trial, 20, i));
		RPCT_CHECK(echo(again, 30, i));
	}
	clnt_destroy(other);
	RPCT_CHECK(echo(again, 10, 0));
	clnt_destroy(again);
	return true;
}

static enum clnt_stat call_nothing(CLIENT *client, rpcproc_t proc, struct rpc_err *err)
{
	const struct timeval time = {.tv_sec = 5};
	enum clnt_stat stat;

	stat = clnt_call(client, proc, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void,
			 NULL, time);
	clnt_geterr(client, err);
	return stat;
}

bool rpct_refused(struct rpct *t)
{
	CLIENT *none = rpct_client(t->conn, 0x20435269, 1, 5000);
	CLIENT *version = rpct_client(t->conn, TRIAL_PROG, 9, 5000);
	struct rpc_err err;
	char longer[] = "longer than eight";
	name sent = longer, back = NULL;

	RPCT_CHECK(call_nothing(none, 0, &err) == RPC_PROGUNAVAIL);
	RPCT_CHECK(call_nothing(version, 0, &err) == RPC_PROGVERSMISMATCH);
	RPCT_CHECK(err.re_vers.low == TRIAL_VERS && err.re_vers.high == TRIAL_VERS);
	RPCT_CHECK(call_nothing(t->trial, 77, &err) == RPC_PROCUNAVAIL);
	RPCT_CHECK(call_nothing(t->trial, TRIAL_ECHO, &err) == RPC_CANTDECODEARGS);
	RPCT_CHECK(trial_name_3(&sent, &back, t->trial) == RPC_CANTENCODEARGS);
	RPCT_CHECK(call_nothing(t->trial, 0, &err) == RPC_SUCCESS);
	longer[8] = 0;
	RPCT_CHECK(trial_name_3(&sent, &back, t->trial) == RPC_SUCCESS);
	RPCT_CHECK(!strcmp(back, longer));
	free(back);
	clnt_destroy(none);
	clnt_destroy(version);
	return true;
}

/* A Reply that does not fit is an error of its call alone. */
bool rpct_too_long(struct rpct *t)
{
	delayed ask = {.len = 100000};
	blob back = {.blob_val = NULL}, sent;
	size_t most = 1u << 31, is = 0;

	RPCT_CHECK(!clnt_control(t->trial, CLSET_FI_REPLY_SIZE, (void *)&most));
	most = 50000;
	RPCT_CHECK(clnt_control(t->trial, CLSET_FI_REPLY_SIZE, (void *)&most));
	RPCT_CHECK(clnt_control(t->trial, CLGET_FI_REPLY_SIZE, (void *)&is) &&
		   is == most);
	RPCT_CHECK(trial_late_3(&ask, &back, t->trial) == RPC_SYSTEMERROR);
	ask.len = 40000;
	RPCT_CHECK(trial_late_3(&ask, &back, t->trial) == RPC_SUCCESS);
	RPCT_CHECK(rpct_blob_is(&back, 40000, 0));
	free(back.blob_val);
	/* None at all. */
	most = 0;
	RPCT_CHECK(clnt_control(t->trial, CLSET_FI_REPLY_SIZE, (void *)&most));
	memset(&back, 0, sizeof(back));
	RPCT_CHECK(trial_late_3(&ask, &back, t->trial) == RPC_SYSTEMERROR);
	RPCT_CHECK(echo(t->trial, 500, 0));
	RPCT_CHECK(rpct_blob(&sent, 2 * RPCT_LONG, 0));
	RPCT_CHECK(trial_echo_3(&sent, &back, t->trial) == RPC_CANTENCODEARGS);
	free(sent.blob_val);
	return true;
}

bool rpct_auth(struct rpct *t)
{
	int who = 0;

	RPCT_CHECK(trial_who_3(NULL, &who, t->trial) == RPC_SUCCESS && who == -1);
	auth_destroy(t->trial->cl_auth);
	t->trial->cl_auth = authunix_create_default();
	RPCT_CHECK(trial_who_3(NULL, &who, t->trial) == RPC_SUCCESS);
	RPCT_CHECK(who == (int)getuid());
	RPCT_CHECK(echo(t->trial, RPCT_LONG, 0));
	auth_destroy(t->trial->cl_auth);
	t->trial->cl_auth = authnone_create();
	return true;
}

bool rpct_control(struct rpct *t)
{
	struct timeval time = {.tv_sec = 3, .tv_usec = 1}, is;
	uint32_t number = 0x12345678, got = 0;
	struct sockaddr_storage addr, same = {.ss_family = 0};
	struct netbuf netbuf = {.buf = &same, .maxlen = sizeof(same)};
	int fd = -1;

	RPCT_CHECK(clnt_control(t->trial, CLSET_TIMEOUT, (void *)&time));
	RPCT_CHECK(clnt_control(t->trial, CLGET_TIMEOUT, (void *)&is));
	RPCT_CHECK(is.tv_sec == 3 && is.tv_usec == 1);
	time.tv_sec = -1;
	RPCT_CHECK(!clnt_control(t->trial, CLSET_TIMEOUT, (void *)&time));
	RPCT_CHECK(clnt_control(t->trial, CLSET_XID, (void *)&number));
	RPCT_CHECK(echo(t->trial, 4, 0));
	RPCT_CHECK(clnt_control(t->trial, CLGET_XID, (void *)&got) && got == number);
	RPCT_CHECK(echo(t->trial, 4, 0));
	RPCT_CHECK(clnt_control(t->trial, CLGET_XID, (void *)&got) && got != number);
	RPCT_CHECK(clnt_control(t->trial, CLGET_PROG, (void *)&got) && got == TRIAL_PROG);
	RPCT_CHECK(clnt_control(t->trial, CLGET_VERS, (void *)&got) && got == TRIAL_VERS);
	RPCT_CHECK(clnt_control(t->trial, CLGET_FD, (void *)&fd) &&
		   fd == fi_rpc_fd(t->conn));
	RPCT_CHECK(clnt_control(t->trial, CLGET_SERVER_ADDR, (void *)&addr));
	RPCT_CHECK(addr.ss_family == AF_INET);
	RPCT_CHECK(clnt_control(t->trial, CLGET_SVC_ADDR, (void *)&netbuf));
	RPCT_CHECK(netbuf.len == sizeof(struct sockaddr_in) &&
		   !memcmp(&addr, &same, netbuf.len));
	got = 8;
	RPCT_CHECK(clnt_control(t->trial, CLSET_VERS, (void *)&got));
	RPCT_CHECK(call_nothing(t->trial, 0, &(struct rpc_err){.re_status = 0}) ==
		   RPC_PROGVERSMISMATCH);
	RPCT_CHECK(!clnt_control(t->trial, CLSET_RETRY_TIMEOUT, (void *)&is));
	RPCT_CHECK(!clnt_control(t->trial, CLGET_VERS, NULL));
	return true;
}

/* Calls that are outstanding have their XIDs to themselves. */
bool rpct_xid(struct rpct *t)
{
	CLIENT *hasty = rpct_client(t->conn, TRIAL_PROG, TRIAL_VERS, 100);
	delayed ask = {.ms = 500, .len = 1};
	blob back = {.blob_val = NULL};
	struct rpc_err err;
	uint32_t xid, got;

	RPCT_CHECK(echo(t->trial, 4, 0));
	RPCT_CHECK(clnt_control(t->trial, CLGET_XID, (void *)&xid));
	xid++;
	RPCT_CHECK(clnt_control(hasty, CLSET_XID, (void *)&xid));
	RPCT_CHECK(trial_late_3(&ask, &back, hasty) == RPC_TIMEDOUT);
	RPCT_CHECK(clnt_control(hasty, CLSET_XID, (void *)&xid));
	RPCT_CHECK(call_nothing(hasty, 0, &err) == RPC_CANTSEND);
	RPCT_CHECK(err.re_errno == EALREADY);
	RPCT_CHECK(echo(t->trial, 4, 0));
	RPCT_CHECK(clnt_control(t->trial, CLGET_XID, (void *)&got) && got == xid + 1);
	clnt_destroy(hasty);
	return true;
}
