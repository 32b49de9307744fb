/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection in rpcrdma's rpc mode. Returns and threads: as link.h. */
#ifndef LNK_RPC_H
#define LNK_RPC_H

#include <rdma/fi_ext_cairn.h>
#include "link.h"

/* What a connection is opened with; 0: the provider's default. */
struct lnk_rpc {
	size_t calls, grant; /* Calls outstanding of this end, and of the peer */
	size_t receives;     /* posted */
	size_t entries;	     /* of the completion queue */
};

/*
 * The first offer of provider, a stack that ends with rpcrdma, opened. flags: FI_SOURCE
 * for one that is to listen, whose host may be NULL.
 */
int lnk_rpc_open(struct lnk *link, const struct lnk_rpc *wish, const char *provider,
		 const char *host, const char *port, uint64_t flags);
/* An endpoint for info that receives may be posted to, and what it has agreed to. */
int lnk_rpc_endpoint(struct lnk *link, struct fi_info *info, const struct lnk_rpc *wish,
		     struct fi_cairn_rpc_limits *limits);
int lnk_rpc_limits(struct lnk *link, struct fi_cairn_rpc_limits *limits);

/* SIGUSR1 is a wish to see the state of the connection. */
int lnk_rpc_catch(void);
/* Where there was one since: the state goes to stderr. Call it now and then. */
void lnk_rpc_show(struct lnk *link);

#endif
