/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of libcairn-rpc: a case has a connection to a server in another process. */
#ifndef FABTESTS_RPC_RPCT_H
#define FABTESTS_RPC_RPCT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <rdma/fi_cairn_rpc.h>
#include <rdma/fi_errno.h>
#include "trial.h"

#define RPCT_LONG (1 << 20) /* bytes */

struct rpct_server {
	pid_t pid;
	char port[8];
};

struct rpct {
	const char *stack, *address;
	struct rpct_server server;
	struct fi_rpc *conn; /* a case that closes it sets it to NULL */
	CLIENT *trial;	     /* TRIAL_PROG */
};

/* False, with a line that says where, unless the condition holds. */
#define RPCT_CHECK(condition)                                                      \
	do {                                                                       \
		if (!(condition)) {                                                \
			printf("#   %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			return false;                                              \
		}                                                                  \
	} while (0)

/* fi_cairn_clnt.c */
int rpct_connect(const struct rpct *t, const struct fi_rpc_attr *attr,
		 struct fi_rpc **conn);
bool rpct_server_start(const struct rpct *t, struct rpct_server *server);
/* False: it did not end as it should. */
bool rpct_server_stop(struct rpct_server *server);
/* A CLIENT that waits so long. */
CLIENT *rpct_client(struct fi_rpc *conn, rpcprog_t prog, rpcvers_t vers, int ms);
long rpct_ms(void);

/* services.c */
int rpct_serve(const char *stack, const char *address);
bool rpct_serve_back(struct fi_rpc *conn); /* BACK_PROG */
/* Bytes that are not the same everywhere. */
bool rpct_blob(blob *blob, size_t len, int seed);
bool rpct_blob_is(const blob *blob, size_t len, int seed);
/* What BACK_CLOSE closes. */
extern struct fi_rpc *rpct_to_close;

/* calls.c */
bool rpct_small(struct rpct *t);
bool rpct_long(struct rpct *t);
bool rpct_inline(struct rpct *t);
bool rpct_programs(struct rpct *t);
bool rpct_refused(struct rpct *t);
bool rpct_too_long(struct rpct *t);
bool rpct_auth(struct rpct *t);
bool rpct_control(struct rpct *t);
bool rpct_xid(struct rpct *t);
/* auth.c */
bool rpct_serve_sealed(void); /* the flavor that rpct_sealed has */
bool rpct_rpc_version(struct rpct *t);
bool rpct_refresh(struct rpct *t);
bool rpct_gss(struct rpct *t);
bool rpct_sealed(struct rpct *t);
/* back.c */
bool rpct_reverse(struct rpct *t);
bool rpct_reverse_nobody(struct rpct *t);
bool rpct_nested(struct rpct *t);
bool rpct_threads(struct rpct *t);
bool rpct_beside(struct rpct *t);
bool rpct_own_loop(struct rpct *t);
/* listen.c: a listener of this process, at an address or, NULL, at any, and how it is
 * reached. */
bool rpct_listen(const struct rpct *t, const char *address,
		 struct fi_rpc_listener **listener, struct rpct *reached);
bool rpct_any_address(struct rpct *t);
bool rpct_many(struct rpct *t);
/* busy.c */
bool rpct_busy_peer(struct rpct *t);
bool rpct_last_calls(struct rpct *t);
/* ends.c */
bool rpct_destroyed_in_call(struct rpct *t);
bool rpct_timeout(struct rpct *t);
bool rpct_timeout_seconds(struct rpct *t);
bool rpct_timeout_credit(struct rpct *t);
bool rpct_silent(struct rpct *t);
bool rpct_killed(struct rpct *t);
bool rpct_nobody(struct rpct *t);
bool rpct_close_order(struct rpct *t);
bool rpct_close_client(struct rpct *t);
bool rpct_descriptors(struct rpct *t);
bool rpct_memory(struct rpct *t);
bool rpct_close_inside(struct rpct *t);
bool rpct_close_waiting(struct rpct *t);

#endif
