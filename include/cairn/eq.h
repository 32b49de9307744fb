/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event queue (fi_eq(3)): a complete fid_eq for a provider to embed in its own.
 *
 * The queue owns copies of what is written to it. Events stay in order; an error entry
 * blocks reads of what follows it (-FI_EAVAIL) until fi_eq_readerr takes it. Reading with
 * FI_PEEK leaves the event. A buffer too small for the event gives -FI_ETOOSMALL and
 * leaves it too; only the connection data behind a fi_eq_cm_entry is cut to the room
 * there is, for a peer chooses its length. Other flags are -FI_EBADFLAGS. The queue grows
 * on demand up to a bound well above the size asked for: CM events must not be lost, but
 * a program that never reads must not eat memory without limit either (fi_eq_write then
 * gives -FI_EAGAIN).
 *
 * fi_eq_sread may be called by several threads; with FI_WAIT_NONE it gives -FI_ENOSYS, as
 * it could not wait.
 */
#ifndef CRN_EQ_H
#define CRN_EQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <rdma/fabric.h>
#include <rdma/fi_eq.h>
#include <cairn/list.h>
#include <cairn/lock.h>
#include <cairn/wait.h>

struct crn_eq_event;

struct crn_eq {
	struct fid_eq fid;
	const struct fi_provider *prov; /* for log lines */
	struct crn_lock lock;		/* guards what follows */
	struct crn_list events;		/* of struct crn_eq_event, oldest first */
	size_t count;
	size_t limit; /* most events held */
	struct crn_eq_event
		*last_error;	    /* read last; its err_data is still the reader's */
	struct crn_eq_event *spare; /* crn_eq_reserve; NULL: none */
	size_t spare_len;	    /* bytes of data it has room for */
	bool writable;		    /* FI_WRITE: fi_eq_write allowed */
	_Atomic bool woken;	    /* crn_eq_wake signaled the wait object */
	/*
	 * Of the fabric, set by the provider after crn_eq_init if it knows: below 1.5,
	 * fi_eq_readerr does not look at the caller's err_data_size.
	 */
	uint32_t api_version;
	struct fid_fabric *fabric; /* it belongs to; set by the provider, for crn_ep */
	_Atomic unsigned int refs; /* of crn_ep and crn_av: bound to it */
	struct crn_wait wait;
	/*
	 * Called without the lock before a read looks at the queue: moves events of the
	 * provider's own sources (a CM channel, a lower EQ) into the queue with
	 * crn_eq_insert. NULL: there are none. A negative return other than -FI_EAGAIN
	 * is passed to a reader who finds the queue empty.
	 */
	int (*progress)(struct crn_eq *eq);
};

/*
 * Prepares an embedded queue and fills fid (fclass, context, ops). attr may be NULL
 * (defaults: size 256, FI_WAIT_NONE). wait_set is not offered. The close op of
 * eq->fid.fid.ops belongs to crn_eq (-FI_EBUSY while refs is not 0): a provider that
 * embeds it sets fid.fid.ops to a table of its own that uses crn_eq_control etc. and
 * calls crn_eq_fini in its close. Errors: -FI_EINVAL (unknown flags), -FI_ENOSYS (wait
 * object), -FI_ENOMEM, -FI_EMFILE.
 */
int crn_eq_init(struct crn_eq *eq, const struct fi_provider *prov,
		const struct fi_eq_attr *attr, void *context,
		int (*progress)(struct crn_eq *eq));
void crn_eq_fini(struct crn_eq *eq);

/*
 * Appends an event; buf (len bytes: fi_eq_entry or fi_eq_cm_entry with data) is copied.
 * The struct fi_info of an FI_CONNREQ belongs to the queue until it is read; it is
 * freed with the queue or by crn_eq_forget (info->handle is the caller's business). fid
 * is the object the event is about, for crn_eq_forget; NULL: none. 0, -FI_ENOMEM, or
 * -FI_EAGAIN at the bound: nothing was taken.
 */
int crn_eq_insert(struct crn_eq *eq, uint32_t event, fid_t fid, const void *buf,
		  size_t len);

/* Appends an error entry; err->err_data (err->err_data_size bytes) is copied. Errors as
 * crn_eq_insert. */
int crn_eq_insert_err(struct crn_eq *eq, const struct fi_eq_err_entry *err);

/*
 * Makes sure that the next crn_eq_insert or crn_eq_insert_err with at most len bytes of
 * data needs no memory: before an event is taken from a source that does not tell it
 * twice. One thread at a time reserves and inserts: what another inserts meanwhile may
 * take it; fi_eq_write does not use it. 0 or -FI_ENOMEM.
 */
int crn_eq_reserve(struct crn_eq *eq, size_t len);

/*
 * Several events at once, or none: an operation that reports more than one makes them
 * ready while it can still fail, and appends them in one step, with none of anybody else
 * between them. batch is a list of the caller's. crn_eq_prepare and crn_eq_prepare_err
 * take what crn_eq_insert and crn_eq_insert_err take, and return 0 or -FI_ENOMEM;
 * crn_eq_insert_batch empties the list, or returns -FI_EAGAIN when the bound allows not
 * all of them. crn_eq_drop_batch frees what is in it.
 */
int crn_eq_prepare(struct crn_list *batch, uint32_t event, fid_t fid, const void *buf,
		   size_t len);
int crn_eq_prepare_err(struct crn_list *batch, const struct fi_eq_err_entry *err);
int crn_eq_insert_batch(struct crn_eq *eq, struct crn_list *batch);
void crn_eq_drop_batch(struct crn_list *batch);

/* Drops every queued event about fid: what fi_close of that object promises. */
void crn_eq_forget(struct crn_eq *eq, fid_t fid);

/* True while an FI_CONNREQ with this info->handle waits to be read. */
bool crn_eq_has_request(struct crn_eq *eq, const struct fid *handle);

/*
 * Takes the oldest FI_CONNREQ about fid out of the queue, for who closes what listens:
 * its info, now the caller's, or NULL when there is none.
 */
struct fi_info *crn_eq_take_request(struct crn_eq *eq, fid_t fid);

/* True when a read would return an event without calling progress. */
bool crn_eq_pending(struct crn_eq *eq);

/*
 * True at the bound, when crn_eq_insert would refuse. A source that can wait is left
 * alone then; only the reader makes room, so "not full" stays true for whoever inserts
 * alone.
 */
bool crn_eq_full(struct crn_eq *eq);

/*
 * Wakes who waits for the queue, though it may be empty: there is progress to be made
 * that no source of its wait object tells of. The next read makes it.
 */
void crn_eq_wake(struct crn_eq *eq);

/*
 * For fi_trywait: progress, then 0 when it is safe to block on the wait descriptor, or
 * -FI_EAGAIN when there is something to read, or what crn_wait_arm returned for the
 * sources of the wait object. fi_eq_sread arms them as well.
 */
int crn_eq_trywait(struct crn_eq *eq);

/* For the provider's fi_ops of the queue: FI_GETWAIT, FI_GETWAITOBJ; no binding. */
int crn_eq_control(struct fid *fid, int command, void *arg);

/* crn_container_of for ops that get the fid. */
static inline struct crn_eq *crn_eq_of(struct fid_eq *fid)
{
	return crn_container_of(fid, struct crn_eq, fid);
}

#endif
