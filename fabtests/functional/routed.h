/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases of fi_cairn_routed: what a connection over routers may take of others, of its
 * routers and of its ends. One process has many connections, whose operations are taken
 * from one stock: so each completion has an operation that waits for it, or is one too
 * many.
 */
#ifndef FCT_ROUTED_H
#define FCT_ROUTED_H

#include "fct_op.h"

#define ROUTED_ROUTERS 8u

struct routed;
struct routed_conn;

struct routed_op {
	struct fct_ctx ctx; /* first: the provider's */
	struct routed_op *next;
	struct routed_conn *conn;
	bool busy;     /* its completion is still to come */
	bool receives; /* a receive */
	uint32_t kind; /* the case's, as is the number */
	uint64_t number;
	size_t len;
};

struct routed_conn {
	struct fct_conn c; /* first */
	uint32_t index;
	unsigned int shutdowns;
	uint32_t busy; /* operations that are not receives */
	uint64_t posted, done;
	uint64_t arrived; /* receives that have ended well */
	uint64_t bytes;	  /* of operations that have ended well */
};

struct routed {
	struct fct_link l;
	struct routed_conn *conn;
	uint32_t count;
	struct fct_mem exposed, local;
	struct fct_target peer;
	struct routed_op *op, *free;
	uint32_t ops, busy;	       /* receives are busy as well */
	uint64_t failed;	       /* operations that ended in error */
	struct fi_cq_data_entry entry; /* of the operation that has ended well */
	/* An operation has ended; err is FI_E* or 0. 0, or < 0 after fct_fail. NULL: no
	 * operation may fail. */
	int (*ended)(struct routed *r, struct routed_op *op, int err);
	void *user;
};

/* --- Options --- */

struct routed_options {
	uint32_t connections;	      /* -n */
	uint64_t iterations;	      /* -i */
	bool full;		      /* --full */
	pid_t router[ROUTED_ROUTERS]; /* -r */
	uint32_t routers;
	const char *end;       /* -e: a command that ends, or drains, a router */
	uint32_t quota;	       /* -q: connections of a client; 0: not known */
	uint64_t quota_router; /* the router's id, which says so */
};

extern struct routed_options fct_routed;

/* A shell begins to run fct_routed.end. */
int fct_routed_command(pid_t *pid);

/* --- routed.c --- */

/* What one side has of each thing. */
struct routed_size {
	uint32_t connections, ops;
	uint32_t tx, rx; /* of each connection, outstanding */
	size_t exposed, local;
	bool own_keys; /* the case chooses keys: not FI_MR_PROV_KEY */
};

int fct_routed_up(struct routed *r, const struct routed_size *size);
/* Objects and no connection; connections are made with fct_conn_up. */
int fct_routed_open(struct routed *r, const struct routed_size *size);
/* For FCT_AUTO: of a struct routed, or one that begins with it. */
void fct_routed_end(void *routed);

/* Posts it, with the local memory, and returns what libfabric returned; -FI_EAGAIN: the
 * stock is empty, too. kind and number are the case's. */
int fct_routed_post(struct routed *r, struct routed_conn *conn, const struct fct_op *what,
		    uint32_t kind, uint64_t number);
int fct_routed_send(struct routed *r, struct routed_conn *conn, const void *buf,
		    size_t len, uint64_t number);
int fct_routed_recv(struct routed *r, struct routed_conn *conn, void *buf, size_t len,
		    uint64_t number);
int fct_routed_write(struct routed *r, struct routed_conn *conn, const void *buf,
		     size_t len, const struct fct_target *to, uint64_t number);
int fct_routed_read(struct routed *r, struct routed_conn *conn, void *buf, size_t len,
		    const struct fct_target *from, uint64_t number);

/* One completion: 1, 0: there is none, < 0. */
int fct_routed_look(struct routed *r);
/* Whose endpoint this is; NULL: no connection's. */
struct routed_conn *fct_routed_conn_of(struct routed *r, fid_t fid);
/* One event, which has to be FI_SHUTDOWN: the same. */
int fct_routed_event(struct routed *r);
/* Until no more than so many are busy. */
int fct_routed_await(struct routed *r, uint32_t busy, const char *what);

/* Reads of r->peer, all at once, which are counted in conn[].bytes. */
struct routed_reading {
	uint32_t count;	 /* connections, the first ones */
	uint32_t window; /* outstanding on each; r->local has room for them */
	size_t len;
	uint64_t ms, least; /* so long, and so many reads of all together */
};

int fct_routed_read_all(struct routed *r, const struct routed_reading *how, double *rate);
/* Fails unless the Jain index of conn[].bytes is that high. */
int fct_routed_fair(struct routed *r, double least);

/* The last message: who waits for it looks all the time, so that it answers in time. */
int fct_routed_stop_arm(struct routed *r);
int fct_routed_stop(struct routed *r);
int fct_routed_until_stop(struct routed *r);

/* For people, whatever is shown besides. */
void fct_routed_say(const struct routed *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void fct_routed_sort(uint64_t *values, size_t count);

#endif
