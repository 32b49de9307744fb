/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cairn_bench: latency and throughput of one connection. */
#ifndef BENCH_H
#define BENCH_H

#include "fct_fabric.h"

enum bench_mode {
	BENCH_PINGPONG,
	BENCH_STREAM,
	BENCH_WRITE,
	BENCH_READ,
	BENCH_CONNECT,
	BENCH_PUSH,
	BENCH_PULL,
};

extern const char *const bench_mode_names[];

/* The client's choice, told to the server before the connection is made. */
struct bench_job {
	uint32_t mode;
	uint32_t inject;     /* messages by fi_inject */
	uint64_t size;	     /* bytes of a message or a write */
	uint64_t iterations; /* what counts: round trips, messages, ... */
	uint64_t warmup;     /* the same before the clock starts */
	uint64_t batch;	     /* ping-pong: round trips between two looks at the clock */
	uint32_t window;     /* all but pingpong and connect: operations in flight */
	uint32_t signal;     /* the same: every so many makes a completion */
	uint32_t sleep;	     /* ping-pong: both sides sleep until something arrives */
	uint32_t unused;
};

struct bench {
	struct fct_link l;
	struct bench_job job;
	struct fct_mem tx, rx, acks;
	struct fct_mem land; /* push, pull: the server's slots */
	struct fct_target
		peer; /* write, read, push: the server's region; pull: the client's */
	struct fct_ctx *tx_ctx, *rx_ctx;
	struct fct_conn *conns;	  /* connect: the server's, until fct_link_down */
	struct fct_wait idle;	  /* since the last completion, roughly */
	uint64_t sent, completed; /* transmit completions */
	uint64_t received;
};

/* Reads completions once; unlucky: turns without one, for the deadline. */
int bench_reap(struct bench *b, unsigned int *unlucky);
/* Sleeps until there are completions, and reads them. */
int bench_doze(struct bench *b, struct fct_wait *w);
int bench_post_recv(struct bench *b, uint64_t n);
int bench_send(struct bench *b);

/* bench_lat.c, bench_bw.c: both sides, from connected to done; the client prints. */
int bench_pingpong(struct bench *b);
int bench_stream(struct bench *b);
int bench_transfer(struct bench *b);
/* bench_hop.c */
int bench_hop(struct bench *b);
/* The client's line, of what was moved in that time. */
void bench_print_bw(const struct bench *b, uint64_t ns);
/* bench_conn.c */
int bench_connect(struct bench *b);

#endif
