/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that a provider starts inside a program. The program chose which of its
 * threads handle signals (pthread_sigmask(3), sigwait(3)); a provider's thread would
 * receive signals that all of the program's threads block. So these threads block every
 * signal.
 */
#ifndef CRN_THREAD_H
#define CRN_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create(3) with default attributes, with every signal blocked from the
 * thread's begin. 0 or an errno. */
static inline int crn_thread_create(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

#endif
