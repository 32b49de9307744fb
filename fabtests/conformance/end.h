/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end: an endpoint of rpcrdma in rpc mode, as a program uses it. */
#ifndef CONF_END_H
#define CONF_END_H

#include <rdma/fi_ext_cairn.h>
#include "lower.h"

/* What the endpoint is to be, before it is enabled. */
struct end_setup {
	size_t calls; /* FI_OPT_CAIRN_RPC_CALLS */
	size_t grant; /* and so on */
	size_t copy;
	size_t reply_size;
	int chunks;
	int system_err;
	unsigned int receives; /* posted before it connects */
	size_t receive_size;   /* bytes of each */
};

/* A send or a receive of the program, and its completion. */
struct op {
	struct fi_context2 context;
	struct op *next;  /* of all */
	struct op *after; /* of received */
	uint8_t *buf;
	size_t size;
	struct fid_mr *mr;
	bool takes; /* a receive of messages */
	bool done;
	unsigned int when; /* completions of this endpoint before it */
	int err;	   /* 0, or a positive code */
	int prov_errno;
	uint64_t flags;
	uint64_t data;
	size_t len;
	size_t olen;
};

struct end {
	struct side side;
	struct fi_cairn_ops_rpc_stats *stats;
	bool mr_local;
	unsigned int completions;
	struct op *received, **received_last; /* completed receives that nobody took */
	struct op *ops;
};

/* As raw_open. */
void end_open(struct end *end);
/* With queues of its own in the fabric and domain of another. */
void end_open_in(struct end *end, const struct end *other);
void end_close(struct end *end);
void end_listen(struct end *end);
/* An endpoint connects; or accepts the request that came. With data of the program. */
void end_connect(struct end *end, const struct end_setup *setup, const void *addr,
		 const char *data);
void end_accept(struct end *end, const struct end_setup *setup, const char *data);
/* Closes the endpoint alone, and forgets what came. */
void end_drop(struct end *end);

/* ---- messages: each returns what the call of libfabric did ---- */

/* A buffer of the program until the endpoint is dropped, in an op of its own. */
struct op *end_op(struct end *end, size_t size);
ssize_t end_send(struct end *end, struct op *op, size_t len, uint64_t flags);
/* Several parts of op's buffer, of these lengths; with ddp, FI_CAIRN_RPC_DDP. */
ssize_t end_sendv(struct end *end, struct op *op, const size_t *lens, size_t count,
		  uint64_t ddp, uint64_t flags);
ssize_t end_recv(struct end *end, struct op *op);
/* FI_CAIRN_RPC_RESULT or FI_CAIRN_RPC_REPLY. */
ssize_t end_recv_for(struct end *end, struct op *op, uint32_t xid, uint64_t flag);
/* The next receive that completed; waits for it. Never NULL. */
struct op *end_take(struct end *end);

/* Did a receive that nobody took end well? Those of a lost connection end with an error.
 */
bool end_got_message(const struct end *end);

/* ---- what it says ---- */

struct fi_cairn_rpc_limits end_limits(struct end *end);
struct fi_cairn_rpc_stats end_stats(struct end *end);
int end_set(struct end *end, int option, int value);

#endif
