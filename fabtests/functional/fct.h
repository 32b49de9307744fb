/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Harness of the functional tests: options, roles, the control channel and the reporting
 * of cases.
 *
 * A program is a table of cases. Both sides, server and client, run the same case
 * function at the same time; fct.role tells them apart. The client chooses the cases,
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
	struct fct_case *next;
	const char *name;
	const char *what; /* one line for -l */
	int (*run)(void); /* 0, or < 0 after fct_fail or fct_skip */
	const char *file; /* where it stands: the order of -l and of a run */
	int line;
};

/* The cases of the program, in order. */
extern struct fct_case *fct_cases;
void fct_case_add(struct fct_case *c);
/* NULL: there is none of that name. */
const struct fct_case *fct_find_case(const char *name);

/*
 * FCT_CASE(name, "one line for -l") { ... } is a case of the program whose file it stands
 * in.
 */
#define FCT_CASE(id, text)                                      \
	static int id##_case(void);                             \
	__attribute__((constructor)) static void id##_add(void) \
	{                                                       \
		static struct fct_case c = {.name = #id,        \
					    .what = text,       \
					    .run = id##_case,   \
					    .file = __FILE__,   \
					    .line = __LINE__};  \
                                                                \
		fct_case_add(&c);                               \
	}                                                       \
	static int id##_case(void)

/* A case that is a function called in a certain way. */
#define FCT_CASE_CALL(id, text, ...) \
	FCT_CASE(id, text)           \
	{                            \
		return __VA_ARGS__;  \
	}

struct fct_prog {
	const char *name;
	const char *what;
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

extern struct fct fct;

static inline bool fct_is_server(void)
{
	return fct.role == FCT_SERVER;
}

static inline bool fct_is_client(void)
{
	return fct.role == FCT_CLIENT;
}

/* ---- fct_main.c: running a program ---- */

/*
 * The whole of a case-based program: options, both roles, summary. Returns the exit
 * status.
 */
int fct_main(int argc, char **argv, const struct fct_prog *prog);

/* FCT_PROGRAM(.name = ..., .what = ...) is the main function of such a program. */
#define FCT_PROGRAM(...)                                    \
	int main(int argc, char **argv)                     \
	{                                                   \
		const struct fct_prog prog = {__VA_ARGS__}; \
                                                            \
		return fct_main(argc, argv, &prog);         \
	}

/*
 * The parts, for programs that are not a table of cases. fct_start parses, forks with
 * --self and opens the control channel; in the returning process fct.role is set.
 * fct_stop closes the channel, waits for the other process of --self and returns the exit
 * status, which is status unless the other side's is worse.
 */
int fct_start(int argc, char **argv, const struct fct_prog *prog);
int fct_stop(int status);
/* This process is in that network namespace (setns(2)) from here on: to be called before
 * libfabric looks at interfaces. 0, or -1 (a message was printed). */
int fct_enter_netns(const char *path);

/* ---- fct_opts.c ---- */

/* Returns 0, 1 (help or list was printed: exit 0) or < 0 (a message was printed). */
int fct_parse(struct fct_opts *o, int argc, char **argv, const struct fct_prog *prog);
/* The number in an option's value, which may end in K or M; 0: it is none from least, at
 * least 1, to most (a message was printed). */
uint64_t fct_number(const char *text, uint64_t least, uint64_t most);

/* ---- fct_report.c: results ---- */

/* Records the first failure of the case with its place. Always returns -1. */
int fct_fail_at(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Without the place, where the text says enough. */
#define fct_fail(...) fct_fail_at(NULL, 0, __VA_ARGS__)
/* The provider does not claim what the case needs. Always returns -1. */
int fct_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fct_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *fct_role_name(void);

/*
 * Checks, for functions that return an int: a check that fails records why and returns
 * -1. What such a function has opened is a variable of FCT_AUTO.
 */
#define FCT_FAIL(...) return fct_fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define FCT_TRUE(expr)                                   \
	do {                                             \
		if (!(expr))                             \
			FCT_FAIL("not true: %s", #expr); \
	} while (0)

#define FCT_EQ(have, want)                                                              \
	do {                                                                            \
		long long have_ = (long long)(have);                                    \
		long long want_ = (long long)(want);                                    \
                                                                                        \
		if (have_ != want_)                                                     \
			FCT_FAIL("%s is %lld (0x%llx), expected %s = %lld (0x%llx)",    \
				 #have, have_, (unsigned long long)have_, #want, want_, \
				 (unsigned long long)want_);                            \
	} while (0)

/* A libfabric call that must not fail. */
#define FCT_CALL(call)                                               \
	do {                                                         \
		int ret_;                                            \
                                                                     \
		fct_doing(#call);                                    \
		ret_ = (int)(call);                                  \
		if (ret_ < 0)                                        \
			FCT_FAIL("%s returned %d (%s)", #call, ret_, \
				 fi_strerror(-ret_));                \
	} while (0)

/* A libfabric call that must return exactly this error (0 is allowed). */
#define FCT_ERR(call, want)                                                            \
	do {                                                                           \
		int ret_;                                                              \
                                                                                       \
		fct_doing(#call);                                                      \
		ret_ = (int)(call);                                                    \
		if (ret_ != (want))                                                    \
			FCT_FAIL("%s returned %d (%s), expected %s (%s)", #call, ret_, \
				 ret_ <= 0 ? fi_strerror(-ret_) : "positive", #want,   \
				 fi_strerror(-(want)));                                \
	} while (0)

/* A libfabric call that must fail, with whatever error. */
#define FCT_REFUSED(call)                                                           \
	do {                                                                        \
		int ret_;                                                           \
                                                                                    \
		fct_doing(#call);                                                   \
		ret_ = (int)(call);                                                 \
		if (ret_ >= 0)                                                      \
			FCT_FAIL("%s returned %d, expected an error", #call, ret_); \
	} while (0)

/* A harness function that has already recorded its failure. */
#define FCT_DO(call)               \
	do {                       \
		if ((call) < 0)    \
			return -1; \
	} while (0)

/* The same; var is the value, which is not negative. */
#define FCT_GET(var, call)         \
	do {                       \
		(var) = (call);    \
		if ((var) < 0)     \
			return -1; \
	} while (0)

/* A local variable that this function takes down, by its address, when it goes out of
 * scope. */
#define FCT_AUTO(end) __attribute__((cleanup(end)))

/* 0, or -1 once the case has failed or is skipped: for what is taken down by FCT_AUTO. */
static inline int fct_ret(void)
{
	return fct.result == FCT_PASS ? 0 : -1;
}

/* ---- fct_ctl.c: the control channel ---- */

int fct_ctl_listen(const char *port); /* listening socket or < 0 (message printed) */
int fct_ctl_accept(int listener);
int fct_ctl_connect(const char *host, const char *port);
/* This host's address on the control channel, numeric; empty: unknown. */
void fct_ctl_local_address(char *text, size_t len);
void fct_ctl_close(void);

/* Both sides call it with the same tag; returns when both have. */
int fct_barrier(const char *tag);
/* Both sides give len bytes and get the other's len bytes. */
int fct_exchange(const char *tag, const void *mine, void *theirs, size_t len);
/* One side sends, the other receives len bytes. */
int fct_tell(const char *tag, const void *mine, size_t len);
int fct_hear(const char *tag, void *theirs, size_t len);

/* Case control, used by fct_main.c. */
int fct_ctl_run(const char *name);	  /* client: name of the next case, "" ends */
int fct_ctl_next(char *name, size_t len); /* server: 1, 0 at the end, < 0: gone */
int fct_ctl_end(enum fct_result *peer, char *why, size_t len, bool *followed);

/* ---- fct_frame.c: its frames ---- */

/*
 * True, and the case's result set, if the peer has already ended this case without
 * success.
 */
bool fct_ctl_peer_gave_up(void);

/* ---- fct_wait.c: deadlines ---- */

struct fct_wait {
	const char *what;
	uint64_t end_ms;
	unsigned int spins;
};

uint64_t fct_now_ms(void);
uint64_t fct_now_ns(void);
/* Deadline of one wait: `what` completes the sentence "waiting for". */
void fct_wait_init(struct fct_wait *w, const char *what);
/*
 * One more turn of a polling loop. 0: try again. < 0: deadline passed or the peer gave up
 * (recorded).
 */
int fct_wait_again(struct fct_wait *w);
/* The same after a wait of the caller's own: only looks at the deadline and the peer. */
int fct_wait_check(struct fct_wait *w);
/*
 * As long as the condition holds, looks: 1, 0: nothing was there, < 0: recorded, and -1
 * is returned. What is waited for is given time again whenever there was something.
 */
#define FCT_WAIT_WHILE(condition, waited_for, look)             \
	do {                                                    \
		struct fct_wait w_;                             \
		int ret_;                                       \
                                                                \
		fct_wait_init(&w_, waited_for);                 \
		while (condition) {                             \
			FCT_GET(ret_, look);                    \
			if (ret_)                               \
				fct_wait_init(&w_, waited_for); \
			else                                    \
				FCT_DO(fct_wait_again(&w_));    \
		}                                               \
	} while (0)
void fct_watchdog(void); /* starts the deadline of the whole run */
void fct_watchdog_stop(void);
void fct_doing(const char *what); /* for the watchdog's message; what must live on */
const char *fct_doing_what(void);
unsigned int fct_time_scale(void);

/* ---- fct_used.c: what a process has ---- */

int fct_descriptors(void);
/* KiB of a process' memory, by a name of /proc/PID/status: "VmRSS", "RssAnon"; < 0:
 * unknown. */
long fct_memory_kib(pid_t pid, const char *name);

/* ---- fct_child.c: processes that a case starts ---- */

/* What came of one, in memory that it shares. */
struct fct_outcome {
	enum fct_result result;
	bool followed;
	char why[FCT_WHY_LEN];
};

/* Zeroed, and for all processes; to be unmapped. NULL: recorded. */
void *fct_child_memory(size_t len);
/* As fork(2), < 0 being recorded; the new process ends with its parent, and has a
 * deadline of its own. */
pid_t fct_child(void);
/* Ends it, without a control channel. */
_Noreturn void fct_child_end(struct fct_outcome *o);
/* For the parent: its end is the case's result. o: NULL for one that says nothing. */
int fct_child_result(const char *name, const struct fct_outcome *o, int how);
/* The same after its end. */
int fct_child_join(pid_t pid, const char *name, const struct fct_outcome *o);
/* Waits for one of them, whose pid is 0 from then on. */
int fct_child_next(pid_t *pids, uint32_t count, uint32_t *which, int *how);
/* Until the process, which was told to stop, stands still. */
int fct_child_still(pid_t pid);
/* Ends those that still run. */
void fct_child_kill(pid_t *pids, uint32_t count);

/* ---- fct_progress.c ---- */

/*
 * Drives manual progress of the case's queues: the other side may need it while this one
 * waits for something else. Completions and events stay where they are.
 */
void fct_progress(void);

#endif
