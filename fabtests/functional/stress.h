/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_stress: both sides do the same to each other, everything at once, from several
 * threads over several connections ("lanes") that may be closed and opened again
 * meanwhile. A lane has tasks; a task is an operation, or a chain of them, with memory of
 * its own on both sides, so that whoever looks at it knows every byte that must be there.
 *
 * Objects live in hubs: one domain with its queues and lanes. With FI_THREAD_SAFE all
 * threads share one hub; with FI_THREAD_DOMAIN each has its own.
 *
 * Locks, in the order they are taken: st_lane.use (posting shares it, opening and closing
 * has it alone), st_hub.reading (whoever holds entries of the queue shares it; alone,
 * nobody does), st.failing. What happens to completions takes st_lane.use only if it is
 * free.
 */
#ifndef FCT_STRESS_H
#define FCT_STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <rdma/fi_atomic.h>

#include "fct_fabric.h"

#define ST_HUBS 8u /* at most */
#define ST_LANES 16u
#define ST_THREADS 8u

#define ST_TASKS 12u	       /* of a lane */
#define ST_CHAIN 4u	       /* operations of a task at a time */
#define ST_SLOT ((size_t)8192) /* bytes of a task, on either side */
#define ST_PART (ST_SLOT / ST_CHAIN)
#define ST_FIXED ((size_t)16384) /* bytes that are only read */
#define ST_RECVS 16u		 /* posted for a lane */
#define ST_WINDOW 16384u	 /* more than can be under way */

enum st_ctx_state { ST_IDLE, ST_POSTED, ST_QUIET };

/* The context of one operation. */
struct st_ctx {
	struct fct_ctx fi; /* first: the provider's */
	_Atomic uint32_t state;
	uint32_t recv;	      /* 1 + index of a receive; 0: of a task */
	struct st_lane *lane; /* NULL: a shared receive */
	struct st_task *task;
};

enum st_task_state { ST_FREE, ST_BUSY, ST_READY };
enum st_kind {
	ST_MESSAGES,  /* a chain of sends */
	ST_ANNOUNCED, /* a write, a message about it, reads until the peer has seen it */
	ST_WITH_DATA, /* the same, the write's data being the message */
	ST_ECHO,      /* a write, and a read behind it */
	ST_FIXEDS,    /* a chain of reads */
	ST_ADD,	      /* atomics */
	ST_FETCH,
	ST_SWAP,
	ST_KINDS,
};

/* The newest write of a task to its slot at the peer that is known to be there. */
struct st_wrote {
	uint64_t seq; /* 0: none */
	uint64_t len;
	uint32_t echo;
};

struct st_task {
	_Atomic uint32_t state;
	_Atomic uint32_t left; /* completions to come */
	_Atomic bool failed;
	enum st_kind kind;
	uint32_t index, stage;
	uint64_t seq;	  /* rises with each use */
	uint32_t at, ops; /* of a chain: posted, all */
	size_t len;
	struct st_wrote wrote;
	uint8_t *own;	   /* memory of this use only, or NULL */
	struct fid_mr *mr; /* and its registration */
	struct st_ctx ctx[ST_CHAIN];
};

/* What the peer may write, read and count in. */
struct st_exposed {
	_Atomic uint64_t word[8];	 /* ST_ADD, ST_FETCH and ST_SWAP, by kind */
	_Atomic uint64_t seen[ST_TASKS]; /* written by the owner: newest announced write
					    that was verified */
	_Alignas(64) uint8_t slot[ST_TASKS][ST_SLOT];
	uint8_t fixed[ST_FIXED];
};

struct st_local {
	uint8_t from[ST_TASKS][ST_SLOT];
	uint8_t to[ST_TASKS][ST_SLOT];
};

/* In persistent memory when there is such, for durable messages. */
struct st_recvs {
	_Alignas(64) uint8_t buf[ST_RECVS][ST_PART];
};

/* Of one direction of one connection. */
struct st_count {
	uint32_t posted, done; /* messages; done: known to have succeeded */
	uint32_t received;
};

/* With the connection request. How the lane's connection before ended, as the client saw
 * it. */
struct st_hello {
	uint32_t lane, epoch;
	struct st_count last;
};

enum st_lane_state { ST_DOWN, ST_OPENING, ST_UP };

struct st_lane {
	struct st_hub *hub;
	uint32_t number;
	pthread_rwlock_t use;
	_Atomic uint32_t state;
	_Atomic bool ending; /* somebody has begun to close it: operations may fail */
	bool selective;	     /* completions only where they are asked for */
	_Atomic uint32_t epoch;
	struct fi_info *info;
	struct fid_ep *ep;
	struct fct_mem exposed_mem, recvs_mem, local_mem;
	struct st_exposed *exposed;
	struct st_local *local;
	struct st_recvs *recvs;
	void *recvs_desc;
	struct fct_target peer;
	struct st_task task[ST_TASKS];
	struct st_ctx recv[ST_RECVS];
	_Atomic uint32_t outstanding; /* contexts in ST_POSTED, but receives */
	/* This connection's. */
	_Atomic uint64_t next_message;
	_Atomic uint32_t posted, done, received;
	_Atomic uint32_t atomics[ST_KINDS]; /* succeeded, by kind */
	_Atomic uint64_t messages_seen[ST_WINDOW], fetched[ST_WINDOW];
	_Atomic uint64_t swapped; /* what the peer's word was last */
	_Atomic int err;	  /* FI_E* of the first operation that failed; 0: none */
	struct st_count last;	  /* of the connection before */
	uint64_t deadline_ms;	  /* of what it waits for */
};

struct st_hub {
	struct st *s;
	struct fct_link l;
	struct fid_ep *srx;
	struct fid_cntr *tx_cntr, *rx_cntr;
	_Atomic uint64_t tx_count, rx_count; /* what they must say at the end */
	struct fct_mem recv_mem;	     /* of shared receives */
	struct fid_mr *pmem_mr;		     /* of all that fct_st_pmem_take gives */
	struct st_ctx *recv;		     /* shared: ST_RECVS for each lane */
	pthread_rwlock_t reading;
	uint32_t lanes;
	struct st_lane *lane[ST_LANES];
	/* What the thread that opens and closes connections is at; NULL: nothing. */
	const char *_Atomic managing;
};

/* What a case is made of. */
struct st_mode {
	enum fi_threading threading;
	bool shared_rx;
	bool counters;
	bool reopen;
	bool small;   /* queues as small as can be asked for */
	bool waits;   /* fi_cq_sread */
	bool durable; /* FI_COMMIT_COMPLETE, to what FI_CAIRN_PMEM names */
};

/* The client's, and the server learns them. */
struct st_opts {
	uint32_t lanes, threads;
	uint32_t ms;
	uint64_t seed;
};
extern struct st_opts fct_st_opts;

enum st_phase { ST_RUN, ST_SETTLE, ST_DRAIN, ST_END };

struct st {
	struct st_mode mode;
	uint64_t caps;
	_Atomic uint64_t next_key; /* of regions that tasks register */
	struct st_opts o;
	uint32_t hubs;
	struct st_hub *hub[ST_HUBS];
	_Atomic uint32_t phase;
	/* What the provider has not, found out while running. */
	_Atomic bool no_delivery, no_atomics;
	uint8_t *pmem; /* this side's half, mapped, or NULL */
	size_t pmem_len, pmem_used;
	_Atomic uint64_t operations, completions, failures, stalls, reopened, durable;
	pthread_mutex_t failing;
	_Atomic bool failed;
	char why[FCT_WHY_LEN];
};

/* Of one thread. */
struct st_rng {
	uint64_t x;
};

static inline uint64_t st_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t st_random(struct st_rng *rng)
{
	return st_mix(rng->x += 0x9e3779b97f4a7c15u);
}

/* Less than n. */
static inline uint32_t st_below(struct st_rng *rng, uint32_t n)
{
	return (uint32_t)((st_random(rng) >> 32) * n >> 32);
}

/* ---- stress.c ---- */

/* From any thread; the first is the case's reason. Always -1. */
int fct_st_fail(struct st *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- stress_run.c ---- */

/* A case. */
int fct_st_run(const struct st_mode *mode);

/* ---- stress_hub.c: objects that last ---- */

int fct_st_hub_open(struct st *s, uint32_t lanes, struct st_hub **hub);
/* Closes everything; with ret == 0 both sides wait for each other first. */
int fct_st_hub_close(struct st_hub *hub, int ret);
/* Do counters and words agree with what was posted? */
int fct_st_hub_check(struct st_hub *hub);

/* ---- stress_recv.c: receives ---- */

/* Posts the receive of this context, of a lane or shared. -FI_EAGAIN: later. */
int fct_st_hub_recv(struct st_hub *hub, struct st_ctx *ctx);
/* The buffer of a receive. */
uint8_t *fct_st_recv_buf(struct st_hub *hub, struct st_ctx *ctx);

/* ---- stress_pmem.c: persistent memory ---- */

/* Maps this side's half of what FI_CAIRN_PMEM names; without it the case is skipped. */
int fct_st_pmem_open(struct st *s);
void fct_st_pmem_close(struct st *s);
/* Registers it with the hub's domain. */
int fct_st_pmem_reg(struct st_hub *hub);
/* A piece for one lane or queue, zeroed; NULL when nothing is left. */
void *fct_st_pmem_take(struct st *s, size_t len);
/* Both sides: the newest writes of each lane are in its peer's slots. */
int fct_st_pmem_check(struct st_hub *hub);

/* ---- stress_lane.c: connections ---- */

/* The client begins to connect. */
int fct_st_lane_connect(struct st_lane *lane);
/* Closes the endpoint; every context has completed then. */
int fct_st_lane_close(struct st_lane *lane);
/* One look at the event queue, and for the client, with may_close, at what to close and
 * open. */
int fct_st_cm_step(struct st_hub *hub, struct st_rng *rng, bool may_close);

/* ---- stress_task.c: what is done ---- */

/* One task of the lane begins or goes on. 1: something was done. */
int fct_st_task_step(struct st_lane *lane, struct st_rng *rng, bool may_begin);
/* All completions of its stage are there. */
void fct_st_task_ready(struct st_task *task);
/* After its lane is closed. */
void fct_st_task_forget(struct st_task *task);

/* ---- stress_post.c: the call forms ---- */

struct st_op {
	enum st_kind kind; /* ST_MESSAGES: a send, ST_ECHO: a write, ST_FIXEDS: a read, or
			      an atomic */
	uint8_t *buf;
	size_t len;
	void *desc;
	uint64_t addr;		   /* at the peer */
	uint64_t operand, compare; /* of atomics */
	bool with_data;
	uint32_t data;
	bool quiet; /* no completion is wanted */
	bool more;  /* another one follows at once */
	struct st_ctx *ctx;
};

/*
 * Posts by a form picked at random, all of which mean the same. Counts what is to
 * complete. 0, -FI_EAGAIN, or another error, which is the connection's end.
 */
ssize_t fct_st_post(struct st_lane *lane, struct st_rng *rng, const struct st_op *op);

/* ---- stress_comp.c: completions and contents ---- */

/* Reads the queue once. 1: something was there; 0; < 0: recorded. */
int fct_st_comp_step(struct st_hub *hub, struct st_rng *rng);
/* While nobody else reads: until it is empty. */
int fct_st_comp_all(struct st_hub *hub);

struct st_head {
	uint32_t lane, epoch;
	uint64_t seq;	  /* of messages, of a lane */
	uint32_t len;	  /* of all of it */
	uint32_t task;	  /* 1 + the task whose write is announced; 0: none */
	uint64_t written; /* its seq */
};

/* The first bytes of a slot that was written. */
struct st_written {
	uint64_t seq;
	uint64_t len;
};

/* ---- stress_fill.c: contents ---- */

/* who: 1 the client's data, 0 the server's */
uint64_t fct_st_seed(const struct st_lane *lane, bool mine, uint32_t what, uint64_t seq);
void fct_st_fill(uint8_t *buf, size_t len, uint64_t seed);
/* The first byte that differs, or len. */
size_t fct_st_differs(const uint8_t *buf, size_t len, uint64_t seed, size_t position);

#endif
