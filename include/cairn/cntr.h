/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counter kept in memory (fi_cntr(3)): a complete fid_cntr for a provider to embed.
 * Adding is one atomic instruction; a waiter is woken only when there is one.
 *
 * fi_cntr_wait may be called by several threads, each with its threshold; with
 * FI_WAIT_NONE it gives -FI_ENOSYS. A change of the error value ends it with -FI_EAVAIL.
 * Waiting on the descriptor (FI_GETWAIT, fi_trywait) is for one thread, and not while
 * another is in fi_cntr_wait.
 */
#ifndef CRN_CNTR_H
#define CRN_CNTR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

struct crn_cntr_values {
	uint64_t value;
	uint64_t errors;
};

struct crn_cntr {
	struct fid_cntr fid;
	_Atomic uint64_t value;
	_Atomic uint64_t errors;
	_Atomic bool armed; /* the next change signals the wait object */
	_Atomic bool stale; /* set by fi_cntr_set and _seterr: seen means nothing */
	struct crn_cntr_values seen; /* when crn_cntr_trywait last looked */
	struct crn_wait wait;
	/*
	 * Of the threads inside fi_cntr_wait one drives: it makes progress and blocks on
	 * the wait object. The others wait for it to come back, for a wait object that
	 * each of them could clear would lose the wake-up of another.
	 */
	pthread_mutex_t lock; /* guards what follows */
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
	 * provider after crn_cntr_init; NULL: there is nothing to do.
	 */
	int (*arm)(struct crn_cntr *cntr);
};

/*
 * Prepares an embedded counter and fills fid. attr may be NULL. Only
 * FI_CNTR_EVENTS_COMP is offered. As with crn_eq, the close op is the provider's: it
 * calls crn_cntr_fini. Errors: -FI_ENOSYS (events or wait object), -FI_EINVAL (flags),
 * -FI_ENOMEM, -FI_EMFILE.
 */
int crn_cntr_init(struct crn_cntr *cntr, const struct fi_cntr_attr *attr, void *context,
		  void (*progress)(struct crn_cntr *cntr));
void crn_cntr_fini(struct crn_cntr *cntr);

/* An operation ended well, or in error. */
void crn_cntr_inc(struct crn_cntr *cntr);
void crn_cntr_inc_err(struct crn_cntr *cntr);

/*
 * For fi_trywait: progress, then 0 when it is safe to block on the wait descriptor, or
 * -FI_EAGAIN when the counter changed since the last call.
 */
int crn_cntr_trywait(struct crn_cntr *cntr);

/* For the provider's fi_ops of the counter: FI_GETWAIT, FI_GETWAITOBJ. */
int crn_cntr_control(struct fid *fid, int command, void *arg);

#endif
