/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client with several connections, whose operations have numbers, and their target.
 * Somebody may kill or hold up either of them, or whatever is between them, at any time;
 * the client connects again and goes on. What both have done stands in a file that they
 * share, the ledger: so each can be held to what the other was told, also after its end.
 *
 * What has to hold, whatever happens:
 *	an operation completes once, and in time; those of a connection in their order;
 *	messages come in the order of their numbers, none of them twice, none left out;
 *	what is reported as delivered is: a write stands in the target's memory when it
 *	completes, and stays there; a message has been taken by the target in the end;
 *	what is read is what the target has there;
 *	an operation that fails at a router names it.
 */
#ifndef FAILOVER_H
#define FAILOVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define FVO_CONNS 16u
#define FVO_GENS 64u /* connections of one number whose messages are remembered */
/* Connections whose writes have memory of their own: an older one may still write. */
#define FVO_AREAS 4u
#define FVO_WINDOW 12u	/* operations of a connection */
#define FVO_RECEIVES 6u /* the same, at the target */
#define FVO_LEN ((size_t)100000)
#define FVO_MAGIC 0x66616f76u

/* --- ledger.c --- */

struct fvo_arrived {
	uint32_t gen;	 /* from 1 on; 0: none yet */
	uint64_t number; /* messages that have come */
};

/* One writer of each field; the other one only looks. */
struct fvo_ledger {
	uint32_t magic;
	/* The target's. */
	uint32_t starts; /* processes that it has been */
	uint32_t target_bad;
	struct fvo_arrived arrived[FVO_CONNS][FVO_GENS];
	/* The client's. */
	uint32_t gen[FVO_CONNS]; /* the last one */
	uint32_t up;		 /* connections */
	uint32_t client_bad;
	uint64_t ok, failed; /* operations */
	uint64_t lost;	     /* connections that had been up */
	uint64_t refused;    /* that did not come about */
	/* The target's memory: what is written, and what is read. */
	uint8_t written[FVO_CONNS][FVO_AREAS][FVO_WINDOW][FVO_LEN];
	uint8_t pattern[FVO_LEN];
};

/* NULL: it was printed why not. */
struct fvo_ledger *fvo_ledger_open(const char *path, bool make);

/* In front of each message and write. */
struct fvo_head {
	uint32_t conn, gen;
	uint64_t number;
	uint64_t len;
};

void fvo_fill(uint8_t *buf, const struct fvo_head *head);
/* Head and data. */
bool fvo_is(const uint8_t *buf, const struct fvo_head *head);

uint64_t fvo_now(void); /* ms */
/* ms that anything may take: far more than it does on a machine that is not loaded. */
uint64_t fvo_patience(void);

/* --- link.c --- */

struct fvo_link {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
};

/* 0, or it was printed why not. */
int fvo_link_open(struct fvo_link *link, const char *node, const char *port,
		  bool listens);
void fvo_link_close(struct fvo_link *link);
/* Bound, and enabled. */
int fvo_endpoint(const struct fvo_link *link, struct fi_info *info, void *context,
		 struct fid_ep **ep);

/* What the client says when it connects, and what it is told. */
struct fvo_hello {
	uint32_t conn, gen;
};

struct fvo_region {
	uint64_t addr, key;
};

/* --- tally.c --- */

/* Errors by what they are and the router that they name. */
void fvo_tally(const char *what, int err, const void *err_data, size_t len);
/* ms from the last operation that ended well to the next one, over another connection. */
void fvo_tally_gap(uint64_t ms);
void fvo_tally_print(void);

/* --- client.c, op.c --- */

enum fvo_kind {
	FVO_INJECT, /* fi_inject: no completion */
	FVO_BUFFERED,
	FVO_SENT,
	FVO_DELIVERED,
	FVO_WRITE,
	FVO_READ,
	FVO_KINDS
};

struct fvo_conn;

struct fvo_op {
	struct fi_context2 context; /* first: the provider's */
	struct fvo_conn *conn;
	enum fvo_kind kind;
	bool busy;
	struct fvo_head head;
	uint64_t turn;		  /* of those of its connection that complete */
	uint64_t since;		  /* ms */
	struct fvo_head standing; /* its last write that has completed; len 0: none */
	uint8_t *buf;
};

enum fvo_state { FVO_IDLE, FVO_CONNECTING, FVO_UP, FVO_ENDING };

struct fvo_conn {
	struct fvo_client *client;
	uint32_t index, gen;
	enum fvo_state state;
	struct fid_ep *ep;
	struct fvo_region region;
	uint64_t again; /* ms: when it connects */
	uint64_t random;
	uint64_t messages; /* the next one's number */
	uint64_t writes;
	uint64_t delivered;	  /* so many messages have been */
	uint64_t turns, complete; /* of operations that complete */
	uint32_t starts;	  /* of the target, when this one came about */
	uint32_t shutdowns, busy;
	uint64_t well;	/* ms: when an operation ended well */
	uint64_t ended; /* ms: when its end was noticed */
	bool recovers;	/* one has been lost, and nothing has ended well since */
	struct fvo_op op[FVO_WINDOW];
	uint8_t buf[FVO_WINDOW][FVO_LEN];
};

/* Messages of a connection that is over which the target has to have taken in the end. */
struct fvo_promise {
	uint32_t conn, gen, starts;
	uint64_t delivered;
};

#define FVO_PROMISES 4096u

struct fvo_client {
	const struct fvo_options *options;
	struct fvo_link link;
	struct fvo_ledger *ledger;
	struct fid_mr *mr;
	void *desc;
	struct fvo_conn *conn;
	struct fvo_promise promise[FVO_PROMISES];
	uint32_t promises;
};

void fvo_bad(struct fvo_conn *conn, const char *what);
/* One operation more; false: not now, or the connection is over. */
bool fvo_post(struct fvo_conn *conn);
/* One completion; false: there is none. */
bool fvo_complete(struct fvo_client *client);
/* It is over, for whatever reason. */
void fvo_conn_ends(struct fvo_conn *conn);

/* --- serve.c, run.c, try.c: exit statuses --- */

struct fvo_options {
	const char *node, *port, *ledger;
	uint32_t conns, idle; /* idle: us between two looks in which nothing happened */
	uint32_t seconds;     /* of run: 0: until SIGTERM */
	uint64_t seed;
	bool small;  /* no operation has more than one piece */
	bool beside; /* of try: somebody else counts in the ledger */
};

int fvo_serve(const struct fvo_options *options);
int fvo_run(const struct fvo_options *options);
/* Connects, again and again until it works; prints how long that took. */
int fvo_try(const struct fvo_options *options);

extern volatile sig_atomic_t fvo_ends; /* SIGTERM */

#endif
