/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queue in memory (fi_cq(3)): a complete fid_cq for a provider to embed, whose
 * operations end in software.
 *
 * No completion is ever lost: the provider reserves an entry for the completion before
 * it accepts an operation, and returns -FI_EAGAIN if there is none. An entry stays
 * reserved from crn_cq_reserve to crn_cq_release, or until the completion is read. The
 * queue has at least as many entries as the program asked for (fi_cq_attr.size), and as
 * the attached queues hold operations: crn_cq_attach.
 *
 * Completions are read in the order in which they were written. An error stays in its
 * place among them: reads give what is before it, then -FI_EAVAIL until fi_cq_readerr
 * takes it.
 *
 * Any thread may write and read, any number may wait. Reserving takes no lock; writing
 * and reading take one; with `locked` false no call takes a lock. A provider that
 * reserves and writes with a lock of its own held makes that the queue's: crn_cq_guard.
 */
#ifndef CRN_CQ_H
#define CRN_CQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <cairn/compat.h>
#include <cairn/lock.h>
#include <cairn/wait.h>

/* A completion; fi_cq(3) says which fields are valid. */
struct crn_cq_comp {
	struct fi_cq_tagged_entry entry; /* the other formats are prefixes of it */
	fi_addr_t src_addr;		 /* FI_ADDR_NOTAVAIL: not known */
};

struct crn_cq_err_data {
	size_t len; /* bytes of data */
	uint8_t data[];
};

/* An entry of the ring. */
struct crn_cq_slot {
	struct crn_cq_comp comp;
	size_t olen; /* this and what follows: of errors only */
	int err;     /* positive FI_E* code; 0: a success */
	int prov_errno;
	struct crn_cq_err_data *err_data; /* owned; NULL: none */
};

struct crn_cq {
	struct fid_cq fid;
	struct fid_domain *domain; /* the domain of the queue */
	_Atomic uint32_t room;	   /* entries that are neither reserved nor filled */
	_Atomic uint32_t count;	   /* completions to be read; changed under the lock */
	struct crn_lock *guard;	   /* guards the fields below: lock, or the provider's */
	struct crn_lock lock;	   /* what writing takes; off with a guard of its own */
	struct crn_cq_slot *ring;
	uint32_t mask;	  /* slots of ring - 1: a power of two of them */
	uint32_t head;	  /* the oldest completion */
	uint64_t pledged; /* entries promised to what is attached */
	enum fi_cq_format format;
	enum fi_cq_wait_cond wait_cond;
	struct crn_wait wait;
	bool armed;			    /* the next completion signals wait */
	struct crn_cq_err_data *last_error; /* read last; still the reader's */
	/*
	 * fi_cq_signal, which wakes every thread in fi_cq_sread or, if there is none,
	 * the next thread that calls it.
	 */
	uint32_t signals;  /* given so far */
	uint32_t sleepers; /* threads in fi_cq_sread */
	uint32_t owed;	   /* of them, those that have not seen the last signal */
	bool kept;	   /* a signal for the next thread that calls fi_cq_sread */
	bool told;	   /* fi_trywait has reported it */
	/* Below 1.5, fi_cq_readerr does not look at err_data_size; set by the provider
	 * after crn_cq_init if it knows. */
	uint32_t api_version;
	_Atomic unsigned int refs; /* attached */
	/*
	 * The provider sets these after crn_cq_init; NULL: none.
	 *
	 * Called without the lock when a read finds nothing, and before a wait: drives
	 * what completes operations, which writes to this queue. Whatever it polls is
	 * also added as a source of wait (crn_wait_add), so that it wakes sleeping
	 * threads.
	 */
	void (*progress)(struct crn_cq *cq);
	/*
	 * Of a queue with crn_cq_guard, both or none: a read calls the first in place of
	 * progress, with the guard held, and the second afterwards, without, when it
	 * found nothing, and now and then.
	 */
	void (*progress_guarded)(struct crn_cq *cq);
	void (*idle)(struct crn_cq *cq);
	uint32_t reads; /* with progress_guarded */
	/* fi_cq_strerror; NULL: prov_errno is an errno value of either sign. */
	const char *(*strerror)(struct crn_cq *cq, int prov_errno, const void *err_data);
};

/*
 * Prepares an embedded queue and fills fid. locked: threads may call at the same time
 * (FI_THREAD_SAFE). Its close is fi_close(3) of the queue alone; a provider that embeds
 * it sets fid.fid.ops to a table of its own, with crn_cq_control, and calls crn_cq_fini.
 * Errors: -FI_EINVAL (no attr, flags, wait condition), -FI_ENOSYS (format or wait
 * object), -FI_ENOMEM (also for a size that no memory has), -FI_EMFILE.
 */
int crn_cq_init(struct crn_cq *cq, struct fid_domain *domain,
		const struct fi_cq_attr *attr, bool locked, void *context);

/*
 * Right after crn_cq_init: lock guards the queue in place of its own. Whoever reserves,
 * releases and writes holds it; all other calls are made without, and take it. It
 * outlives the queue.
 */
static inline void crn_cq_guard(struct crn_cq *cq, struct crn_lock *lock)
{
	cq->guard = lock;
	cq->lock.on = false;
}

/* Frees what the queue has; unread completions are lost. -FI_EBUSY: something is
 * attached, nothing was done. */
int crn_cq_fini(struct crn_cq *cq);

/*
 * Attaches a queue that holds up to depth operations and will report its completions
 * here: adds entries for them. 0 or -FI_ENOMEM.
 */
int crn_cq_attach(struct crn_cq *cq, uint32_t depth);
/*
 * Undoes crn_cq_attach. All its operations have completed or were released with
 * crn_cq_release.
 */
void crn_cq_detach(struct crn_cq *cq, uint32_t depth);

/*
 * Reserves an entry for the completion of an operation. False: the queue is full until
 * a completion is read.
 */
CRN_INLINE bool crn_cq_reserve(struct crn_cq *cq)
{
	uint32_t room = atomic_load_explicit(&cq->room, memory_order_relaxed);

	if (!cq->lock.on) {
		if (room)
			atomic_store_explicit(&cq->room, room - 1, memory_order_relaxed);
		return room;
	}
	while (room && !atomic_compare_exchange_weak_explicit(&cq->room, &room, room - 1,
							      memory_order_relaxed,
							      memory_order_relaxed))
		;
	return room;
}

/* Releases count entries: of operations that report nothing, or were not accepted. */
CRN_INLINE void crn_cq_release(struct crn_cq *cq, uint32_t count)
{
	if (cq->lock.on)
		atomic_fetch_add_explicit(&cq->room, count, memory_order_relaxed);
	else
		atomic_store_explicit(
			&cq->room,
			atomic_load_explicit(&cq->room, memory_order_relaxed) + count,
			memory_order_relaxed);
}

/* Writes a successful completion into a reserved entry. */
void crn_cq_write(struct crn_cq *cq, const struct crn_cq_comp *comp);

/*
 * Writes an error into a reserved entry. err->err > 0; err_data (err_data_size bytes)
 * is copied. Without memory for the copy the error is reported without its data.
 */
void crn_cq_write_err(struct crn_cq *cq, const struct fi_cq_err_entry *err,
		      fi_addr_t src_addr);

/*
 * For fi_trywait: progress, then 0 when it is safe to block on the wait descriptor,
 * -FI_EAGAIN when a completion or a signal (fi_cq_signal) is pending,
 * -FI_ENOSYS with FI_WAIT_NONE, or what crn_wait_arm returned for the sources of the wait
 * object.
 */
int crn_cq_trywait(struct crn_cq *cq);

/* For the provider's fi_ops of the queue: FI_GETWAIT, FI_GETWAITOBJ. */
int crn_cq_control(struct fid *fid, int command, void *arg);

/* crn_container_of for ops that get the fid. */
static inline struct crn_cq *crn_cq_of(struct fid_cq *fid)
{
	return crn_container_of(fid, struct crn_cq, fid);
}

#endif
