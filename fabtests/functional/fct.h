/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Harness of the functional tests: options, roles, the control channel and the reporting
 * of cases.
 *
 * A program is a table of cases. Both sides, server and client, run the same case
 * function at the same time; t->role tells them apart. The client chooses the cases,
 * merges both results and prints them. Everything that is not the thing under test
 * (addresses, keys, "I am ready") goes over the control channel, a plain TCP or
 * socketpair stream, so that the data path carries only what a case sends.
 */
#ifndef FCT_H
#define FCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#define FCT_MAX_CASES 64
#define FCT_WHY_LEN 1024
#define FCT_CTL_PORT "47592"

enum fct_role { FCT_SERVER, FCT_CLIENT };
enum fct_result { FCT_PASS, FCT_FAIL, FCT_SKIP };

struct fct;
struct option;

struct fct_case {
	const char *name;
	const char *what;	   /* one line for -l */
	int (*run)(struct fct *t); /* 0, or < 0 after fct_fail or fct_skip */
};

struct fct_prog {
	const char *name;
	const char *what;
	const struct fct_case *cases;
	int n_cases;
	bool single; /* one process: no peer, no control channel */
	int ep_type; /* enum fi_ep_type; 0: FI_EP_MSG */
	bool forks; /* the client makes processes, and stays away from libfabric itself */
	/* What only this program takes; NULL: nothing. */
	const char *args; /* positional arguments, for the usage line */
	const struct option *options;
	const char *help;			 /* text of the options */
	int (*option)(int val, const char *arg); /* 0, or < 0: bad value */
};

struct fct_opts {
	const char *prov;  /* NULL: any; with lower, the whole stack */
	const char *lower; /* NULL: the provider's own choice */
	const char *fabric;
	const char *domain;
	const char *src;  /* local address; the server's default: see start_server */
	const char *port; /* fabric service of the server, NULL: the provider chooses */
	const char *host; /* of the server's control channel; NULL: this is the server */
	const char *ctl_port;
	const char *self; /* both sides from one command; the server's fabric address */
	const char *peer_prov;	 /* with self: the server's provider */
	const char *peer_domain; /* with self: the server's domain */
	const char *peer_netns;	 /* with self: of the server, as setns(2) takes it */
	unsigned int seconds;	 /* deadline of the whole run */
	bool verbose;
	bool list;
	const char *cases[FCT_MAX_CASES]; /* -t, in the order given; none: all */
	int n_cases;
	const char *except[FCT_MAX_CASES]; /* -x */
	int n_except;
	char **args; /* positional arguments that are not HOST */
	int n_args;
};

struct fct_frame;
struct fid_cq;
struct fid_eq;

/*
 * The one context of a process. Not thread safe.
 */
struct fct {
	const struct fct_prog *prog;
	struct fct_opts opts;
	enum fct_role role;
	pid_t server;	    /* with --self, in the client's process; else 0 */
	unsigned int scale; /* all waits are this many times longer (emulated machines) */

	const struct fct_case *cur; /* running case, NULL between cases */
	enum fct_result result;
	char why[FCT_WHY_LEN];
	bool followed; /* the result only follows the peer's: not reported on its own */

	int ctl; /* control channel, -1: none */
	bool ctl_eof;
	struct fct_frame *inbox; /* received, not yet consumed, in order */
	char *partial;		 /* bytes of a frame not complete yet */
	size_t partial_len;

	struct fid_cq *progress_cq[8]; /* driven while waiting on the control channel */
	int n_progress_cq;
	struct fid_eq *progress_eq;

	uint64_t next_key;   /* for providers that take application keys */
	uint64_t extra_mode; /* fi_info mode bits offered since this provider insists */
	int passed, failed, skipped;
};

static inline bool fct_is_server(const struct fct *t)
{
	return t->role == FCT_SERVER;
}

static inline bool fct_is_client(const struct fct *t)
{
	return t->role == FCT_CLIENT;
}

/* ---- fct_main.c: running a program ---- */

/*
 * The whole of a case-based program: options, both roles, summary. Returns the exit
 * status.
 */
int fct_main(int argc, char **argv, const struct fct_prog *prog);

/*
 * The parts, for programs that are not a table of cases. fct_start parses, forks with
 * --self and opens the control channel; in the returning process t->role is set. fct_stop
 * closes the channel, waits for the other process of --self and returns the exit status,
 * which is status unless the other side's is worse.
 */
int fct_start(struct fct *t, int argc, char **argv, const struct fct_prog *prog);
int fct_stop(struct fct *t, int status);
/* This process is in that network namespace (setns(2)) from here on: to be called before
 * libfabric looks at interfaces. 0, or -1 (a message was printed). */
int fct_enter_netns(const char *path);

/* ---- fct_opts.c ---- */

/* Returns 0, 1 (help or list was printed: exit 0) or < 0 (a message was printed). */
int fct_parse(struct fct_opts *o, int argc, char **argv, const struct fct_prog *prog);

/* ---- fct_report.c: results ---- */

/* Records the first failure of the case with its place. Always returns -1. */
int fct_fail_at(struct fct *t, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The provider does not claim what the case needs. Always returns -1. */
int fct_skip(struct fct *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fct_note(struct fct *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *fct_role_name(const struct fct *t);

/*
 * Checks, for functions with `int ret` and a label `out:`; a check that fails records why
 * and goes there with ret < 0.
 */
#define FCT_FAIL(t, ...)                                               \
	do {                                                           \
		ret = fct_fail_at(t, __FILE__, __LINE__, __VA_ARGS__); \
		goto out;                                              \
	} while (0)

#define FCT_TRUE(t, expr)                                   \
	do {                                                \
		if (!(expr))                                \
			FCT_FAIL(t, "not true: %s", #expr); \
	} while (0)

#define FCT_EQ(t, have, want)                                                           \
	do {                                                                            \
		long long have_ = (long long)(have);                                    \
		long long want_ = (long long)(want);                                    \
                                                                                        \
		if (have_ != want_)                                                     \
			FCT_FAIL(t, "%s is %lld (0x%llx), expected %s = %lld (0x%llx)", \
				 #have, have_, (unsigned long long)have_, #want, want_, \
				 (unsigned long long)want_);                            \
	} while (0)

/* A libfabric call that must not fail; ret keeps its value. */
#define FCT_CALL(t, call)                                              \
	do {                                                           \
		fct_doing(t, #call);                                   \
		ret = (int)(call);                                     \
		if (ret < 0)                                           \
			FCT_FAIL(t, "%s returned %d (%s)", #call, ret, \
				 fi_strerror(-ret));                   \
	} while (0)

/* A libfabric call that must return exactly this error (0 is allowed). */
#define FCT_ERR(t, call, want)                                                           \
	do {                                                                             \
		fct_doing(t, #call);                                                     \
		ret = (int)(call);                                                       \
		if (ret != (want))                                                       \
			FCT_FAIL(t, "%s returned %d (%s), expected %s (%s)", #call, ret, \
				 ret <= 0 ? fi_strerror(-ret) : "positive", #want,       \
				 fi_strerror(-(want)));                                  \
		ret = 0;                                                                 \
	} while (0)

/* A libfabric call that must fail, with whatever error. */
#define FCT_REFUSED(t, call)                                                          \
	do {                                                                          \
		fct_doing(t, #call);                                                  \
		ret = (int)(call);                                                    \
		if (ret >= 0)                                                         \
			FCT_FAIL(t, "%s returned %d, expected an error", #call, ret); \
		ret = 0;                                                              \
	} while (0)

/* A harness function that has already recorded its failure. */
#define FCT_DO(call)              \
	do {                      \
		ret = (call);     \
		if (ret < 0)      \
			goto out; \
	} while (0)

/* ---- fct_ctl.c: the control channel ---- */

int fct_ctl_listen(const char *port); /* listening socket or < 0 (message printed) */
int fct_ctl_accept(struct fct *t, int listener);
int fct_ctl_connect(struct fct *t, const char *host, const char *port);
/* This host's address on the control channel, numeric; empty: unknown. */
void fct_ctl_local_address(struct fct *t, char *text, size_t len);
void fct_ctl_close(struct fct *t);

/* Both sides call it with the same tag; returns when both have. */
int fct_barrier(struct fct *t, const char *tag);
/* Both sides give len bytes and get the other's len bytes. */
int fct_exchange(struct fct *t, const char *tag, const void *mine, void *theirs,
		 size_t len);
/* One side sends, the other receives len bytes. */
int fct_tell(struct fct *t, const char *tag, const void *mine, size_t len);
int fct_hear(struct fct *t, const char *tag, void *theirs, size_t len);

/* Case control, used by fct_main.c. */
int fct_ctl_run(struct fct *t,
		const char *name); /* client: name of the next case, "" ends */
int fct_ctl_next(struct fct *t, char *name,
		 size_t len); /* server: 1, 0 at the end, < 0: gone */
int fct_ctl_end(struct fct *t, enum fct_result *peer, char *why, size_t len,
		bool *followed);

/* ---- fct_frame.c: its frames ---- */

/*
 * True, and the case's result set, if the peer has already ended this case without
 * success.
 */
bool fct_ctl_peer_gave_up(struct fct *t);

/* ---- fct_wait.c: deadlines ---- */

struct fct_wait {
	struct fct *t;
	const char *what;
	uint64_t end_ms;
	unsigned int spins;
};

uint64_t fct_now_ms(void);
uint64_t fct_now_ns(void);
/* Deadline of one wait: `what` completes the sentence "waiting for". */
void fct_wait_init(struct fct_wait *w, struct fct *t, const char *what);
/*
 * One more turn of a polling loop. 0: try again. < 0: deadline passed or the peer gave up
 * (recorded).
 */
int fct_wait_again(struct fct_wait *w);
/* The same after a wait of the caller's own: only looks at the deadline and the peer. */
int fct_wait_check(struct fct_wait *w);
void fct_watchdog(struct fct *t); /* starts the deadline of the whole run */
void fct_watchdog_stop(void);
void fct_doing(struct fct *t,
	       const char *what); /* for the watchdog's message; what must live on */
const char *fct_doing_what(void);
unsigned int fct_time_scale(void);

/* ---- fct_progress.c ---- */

/*
 * Drives manual progress of the case's queues: the other side may need it while this one
 * waits for something else. Completions and events stay where they are.
 */
void fct_progress(struct fct *t);

#endif
