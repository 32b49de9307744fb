/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counter kept in memory (fi_cntr(3)): a complete fid_cntr for a provider to embed.
 * Adding is one atomic instruction; a waiter is woken only when there is one.
 *
 * Any number of threads may wait at the same time, in fi_cntr_wait, each with its
 * threshold, or on the descriptor (FI_GETWAIT) after fi_trywait. With FI_WAIT_NONE
 * fi_cntr_wait gives -FI_ENOSYS. A change of the error value ends it with -FI_EAVAIL.
 *
 * A thread that got 0 from fi_trywait and neither comes back to the counter after a
 * change nor ends costs the others: they find the descriptor readable, and look about
 * once a millisecond.
 */
#ifndef CRN_CNTR_H
#define CRN_CNTR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <cairn/compat.h>
#include <cairn/list.h>
#include <cairn/wait.h>

struct crn_cntr_values {
	uint64_t value;
	uint64_t errors;
	uint64_t sets; /* calls of fi_cntr_set and _seterr, which may restore earlier
			* values */
};

/* A thread that may be blocked on the descriptor: cq/cntr.c. */
struct crn_cntr_sleeper {
	struct crn_list entry;
	pid_t tid;		     /* 0: the driver thread (below) */
	struct crn_cntr_values seen; /* when its crn_cntr_trywait last looked */
	bool asleep;		     /* it may block, or does */
	bool owed; /* the counter changed since; the thread has not been told yet */
};

struct crn_cntr {
	struct fid_cntr fid;
	_Atomic uint64_t value;
	_Atomic uint64_t errors;
	_Atomic uint64_t sets;
	_Atomic bool armed;	     /* the next change wakes the sleeping threads */
	_Atomic unsigned int asleep; /* of sleepers */
	struct fid_domain *domain;   /* its domain; set by the provider, for crn_ep */
	_Atomic unsigned int refs;   /* endpoints (crn_ep) bound to it */
	struct crn_wait wait;	     /* readable while owed */
	pthread_mutex_t lock;	     /* guards the fields below; taken last */
	struct crn_list sleepers;    /* of struct crn_cntr_sleeper */
	unsigned int owed;	     /* of them */
	pthread_cond_t calm;	     /* owed is 0 */
	/*
	 * Of the threads inside fi_cntr_wait one drives: it makes progress and blocks on
	 * the wait object, and the others wait for it to come back.
	 */
	struct crn_cntr_sleeper driver;
	pthread_cond_t back;
	bool driven;
	/*
	 * Called by fi_cntr_read, fi_cntr_readerr and fi_cntr_wait before they look:
	 * drives what advances the counter. NULL: nothing to drive.
	 */
	void (*progress)(struct crn_cntr *cntr);
	/*
	 * A descriptor that becomes readable when progress would find something may be
	 * added with crn_wait_add_fd(&cntr->wait, fd). Called right before anybody blocks
	 * on the wait object: makes such descriptors report what comes from now on, and
	 * progresses once more. 0, or a negative code that ends the wait. Set by the
	 * provider after crn_cntr_init; NULL: there is nothing to do. Sources
	 * (crn_wait_add) are armed after it.
	 */
	int (*arm)(struct crn_cntr *cntr);
};

/*
 * Prepares an embedded counter and fills fid. attr may be NULL. Only
 * FI_CNTR_EVENTS_COMP is offered. As with crn_eq, the close op is the provider's: it
 * calls crn_cntr_fini; that of crn_cntr gives -FI_EBUSY while refs is not 0. Errors:
 * -FI_ENOSYS (events or wait object), -FI_EINVAL (flags), -FI_ENOMEM, -FI_EMFILE.
 */
int crn_cntr_init(struct crn_cntr *cntr, const struct fi_cntr_attr *attr, void *context,
		  void (*progress)(struct crn_cntr *cntr));
void crn_cntr_fini(struct crn_cntr *cntr);

/* An operation completed successfully, or in error. */
void crn_cntr_inc(struct crn_cntr *cntr);
void crn_cntr_inc_err(struct crn_cntr *cntr);

/* Wakes all sleeping threads, which check again: the provider has something to arm. */
void crn_cntr_wake(struct crn_cntr *cntr);

/*
 * For fi_trywait: progress, then 0 when it is safe to block on the wait descriptor, or
 * -FI_EAGAIN when the counter changed since this thread's last call. -FI_ENOMEM.
 */
int crn_cntr_trywait(struct crn_cntr *cntr);

/* For the provider's fi_ops of the counter: FI_GETWAIT, FI_GETWAITOBJ. */
int crn_cntr_control(struct fid *fid, int command, void *arg);

#endif
