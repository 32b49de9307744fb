/* SPDX-License-Identifier: BSD-2-Clause */
/* A CLIENT of a connection. The connection's lock guards it. */
#ifndef LIB_RPC_CLNT_H
#define LIB_RPC_CLNT_H

#include "conn.h"

struct crpc_clnt {
	CLIENT client;
	struct fi_rpc *conn;
	unsigned int refs; /* the program, and each call that is under way */
	rpcprog_t prog;
	rpcvers_t vers;
	struct timeval wait;
	bool wait_set;		  /* by clnt_control: for every call */
	uint32_t xid;		  /* of the last call, or of the next */
	bool xid_set;		  /* the next */
	size_t reply_size, guess; /* bytes */
	bool close;		  /* the connection, when this is destroyed */
	struct rpc_err err;	  /* of the last call */
};

bool_t crpc_clnt_control(CLIENT *client, u_int request, void *info);
bool crpc_time_ok(const struct timeval *time);

#endif
