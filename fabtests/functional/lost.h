/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_lost: peers that vanish. Each case is played by processes of its own: one
 * listens, one connects to it, and a bystander connects too and answers messages for as
 * long as the case lasts. The two first have a control channel.
 */
#ifndef FCT_LOST_H
#define FCT_LOST_H

#include "fct_op.h"

#define LOST_OPS 16u
#define LOST_LEN 256u

/* The connections of a process. */
enum { LOST_PEER, LOST_BYSTANDER, LOST_CONNS };

struct lost_play {
	const char *prov;	/* the only provider it is for; NULL: any */
	const char *const *env; /* name, value, ..., NULL: of both, before libfabric */
	/* Of the connecting process alone, which is started anew with argv. */
	const char *const *connects_env;
	char **argv;
	bool killed; /* the connecting process is */
	int (*listens)(void);
	int (*connects)(void);
};

/* What one of the two processes has. */
struct lost {
	struct fct_link l;
	struct fct_conn c[LOST_CONNS];
	struct fct_mem m;
	uint64_t caps; /* beyond the usual ones */
	/* Registers what the peer is to see in place of the memory; NULL: nothing. */
	int (*expose)(struct lost *p, struct fct_target *mine);
	/* Posts receives to the peer's connection in place of the early ones. */
	int (*receive)(struct lost *p);
	struct fct_target mine; /* of expose */
	struct fct_target peer; /* what the peer exposes */
	struct fct_ctx ctx[LOST_OPS], bystander[2];
	unsigned int early; /* receives posted before the peer's connection stands */
	unsigned int posted, ended[LOST_OPS];
	int err[LOST_OPS];  /* FI_E* of each that ended, 0: success */
	unsigned int first; /* the first to end in error */
	unsigned int failed;
	unsigned int shutdowns;
	pid_t pid;	/* of the process that connected */
	uint64_t round; /* of the bystander's messages */
};

/* lost.c: parts of a play */

int fct_lost_listen(struct lost *p); /* both connections, regions known */
int fct_lost_connect(struct lost *p);
/* The same, and waits for nothing but to be killed; makes progress until then. */
int fct_lost_wait(struct lost *p);
int fct_lost_serve(struct lost *p);
/* A message to the bystander and back, on the side that has one. */
int fct_lost_bystander(struct lost *p);
/* Posts to the peer's connection; addr is relative to what the peer exposes. */
ssize_t fct_lost_post(struct lost *p, const struct fct_op *op);
/* Sends that find no receive, and everything else behind them; receives. */
int fct_lost_post_all(struct lost *p);
int fct_lost_post_receives(struct lost *p, unsigned int count);
/* Completions are read until all that was posted has ended, each once. */
int fct_lost_await_ended(struct lost *p);
/* FI_SHUTDOWN of the peer's connection, and no other event. */
int fct_lost_await_shutdown(struct lost *p);
/* Nothing more is told; the bystander still answers. */
int fct_lost_quiet(struct lost *p);
/* What fi_cq_readerr said of the first is real, of all others FI_ECANCELED. */
int fct_lost_check_errors(struct lost *p);
int fct_lost_be_bystander(const struct fct_where *where);

/* lost_pmem.c: cases with persistent memory (FI_CAIRN_PMEM) */

/* Skips the case without such memory. */
int fct_lost_have_pmem(void);
/* For struct lost: the memory, and LOST_OPS receives of LOST_LEN bytes in it. */
int fct_lost_expose_pmem(struct lost *p, struct fct_target *mine);
int fct_lost_receive_pmem(struct lost *p);
/* Until the first of them is not zero, whoever reads completions. */
int fct_lost_await_message(struct lost *p);
/* The peer's process is stopped, and has noticed. */
int fct_lost_stand_still(struct lost *p);

/* Posts a write to 4096 * at in the memory that the peer exposes. */
ssize_t fct_lost_write_pmem(struct lost *p, unsigned int at, uint64_t flags);

/* lost_play.c: the processes */

/* For main, which does not go on if this is a process that was started anew. */
void fct_lost_play_again(int argc, char **argv, const struct fct_prog *prog,
			 int (*connects)(void));
int fct_lost_play(const struct lost_play *play);
/* Where it listens, for the bystander. */
int fct_lost_where_tell(const struct fct_where *where);

#endif
