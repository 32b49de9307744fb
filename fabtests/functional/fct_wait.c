/* SPDX-License-Identifier: BSD-2-Clause */
/* Deadlines: of one wait, and of the whole run. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <rdma/fi_eq.h>

#include "fct.h"

#define FCT_WAIT_MS 20000
#define FCT_TCG_SCALE 10
#define FCT_ASK_MS 2000 /* for an answer from the other side, at the end of the run */
#define FCT_SPINS \
	4000 /* then the processor is given away for up to a millisecond a turn */

/* What the signal handler prints; one run a process. */
static _Atomic(const char *) watched_doing = "starting";

uint64_t fct_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t fct_now_ms(void)
{
	return fct_now_ns() / 1000000u;
}

/*
 * FCT_TIME_SCALE if set (valgrind and sanitizers need it too), else 10 where the
 * processor is QEMU's emulation, which names itself in CPUID leaf 0x40000000.
 */
unsigned int fct_time_scale(void)
{
	const char *env = getenv("FCT_TIME_SCALE");
	int scale = env ? atoi(env) : 0;

	if (scale > 0)
		return (unsigned int)scale;
#if defined(__x86_64__) || defined(__i386__)
	{
		unsigned int a = 0, sig[3] = {0};

		__cpuid(0x40000000, a, sig[0], sig[1], sig[2]);
		if (!memcmp(sig, "TCGTCGTCGTCG", sizeof(sig)))
			return FCT_TCG_SCALE;
	}
#endif
	return 1;
}

void fct_doing(const char *what)
{
	atomic_store_explicit(&watched_doing, what, memory_order_relaxed);
}

const char *fct_doing_what(void)
{
	return watched_doing;
}

void fct_wait_init(struct fct_wait *w, const char *what)
{
	w->what = what;
	w->end_ms = fct_now_ms() + (uint64_t)FCT_WAIT_MS * fct.scale;
	w->spins = 0;
	fct_doing(what);
}

int fct_wait_check(struct fct_wait *w)
{
	if (fct_ctl_peer_gave_up())
		return -1;
	if (fct_now_ms() < w->end_ms)
		return 0;
	return fct_fail("gave up waiting for %s after %u s", w->what,
			FCT_WAIT_MS / 1000 * fct.scale);
}

int fct_wait_again(struct fct_wait *w)
{
	struct pollfd pfd = {.fd = fct.ctl_eof ? -1 : fct.ctl, .events = POLLIN};

	w->spins++;
	if (w->spins < FCT_SPINS) {
		if (w->spins % 64)
			return 0;
		sched_yield();
		if (w->spins % 1024)
			return 0;
	} else {
		poll(&pfd, 1, 1);
	}
	return fct_wait_check(w);
}

static void put(const char *s)
{
	if (write(STDOUT_FILENO, s, strlen(s)) < 0)
		return;
}

static void put_number(unsigned int n)
{
	char digits[16], *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(p);
}

/* Only async-signal-safe calls: the process may be inside any library. */
static void put_doing(void)
{
	put(watched_doing);
	if (fct.result == FCT_FAIL) {
		put(", after: ");
		put(fct.why);
	}
}

static void asked(int sig)
{
	(void)sig;
	put_doing();
	_exit(3);
}

/* Completes the line with what the other side, this process's child, says of itself. */
static void put_other(void)
{
	const struct timespec step = {.tv_nsec = 10000000};
	int i;

	put("; server: waiting for ");
	kill(fct.server, SIGUSR1);
	for (i = 0; i < FCT_ASK_MS / 10; i++) {
		if (waitpid(fct.server, NULL, WNOHANG))
			return;
		nanosleep(&step, NULL);
	}
	put("the kernel: it does not answer a signal");
}

static void expired(int sig)
{
	(void)sig;
	put("not ok ");
	put(fct.cur ? fct.cur->name : fct.prog->name);
	put(": ");
	put(fct_role_name());
	put(": deadline of ");
	put_number(fct.opts.seconds);
	put(" s passed while waiting for ");
	put_doing();
	if (fct.server)
		put_other();
	put("\n");
	if (fct_is_client()) {
		put_number((unsigned int)fct.passed);
		put(" passed, ");
		put_number((unsigned int)fct.failed + 1);
		put(" failed, ");
		put_number((unsigned int)fct.skipped);
		put(" skipped\n");
	}
	_exit(3);
}

void fct_watchdog(void)
{
	struct itimerval it = {.it_value.tv_sec = fct.opts.seconds};
	struct sigaction sa = {.sa_handler = expired};

	/*
	 * The server allows a little more, so that the client, which reports, speaks
	 * first.
	 */
	if (fct_is_server())
		it.it_value.tv_sec += 2;
	sigaction(SIGALRM, &sa, NULL);
	if (fct_is_server()) {
		sa.sa_handler = asked;
		sigaction(SIGUSR1, &sa, NULL);
	}
	setitimer(ITIMER_REAL, &it, NULL);
}

void fct_watchdog_stop(void)
{
	struct itimerval it = {0};

	setitimer(ITIMER_REAL, &it, NULL);
}
