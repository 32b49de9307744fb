/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <rdma/fi_errno.h>
#include <cairn/cntr.h>
#include <cairn/nosys.h>

static struct crn_cntr *cntr_of(struct fid_cntr *fid)
{
	return crn_container_of(fid, struct crn_cntr, fid);
}

static void cntr_progress(struct crn_cntr *cntr)
{
	if (cntr->progress)
		cntr->progress(cntr);
}

static struct crn_cntr_values cntr_values(struct crn_cntr *cntr)
{
	return (struct crn_cntr_values){
		.value = atomic_load(&cntr->value),
		.errors = atomic_load(&cntr->errors),
		.sets = atomic_load(&cntr->sets),
	};
}

static bool cntr_is(struct crn_cntr *cntr, struct crn_cntr_values seen)
{
	return atomic_load(&cntr->value) == seen.value &&
	       atomic_load(&cntr->errors) == seen.errors &&
	       atomic_load(&cntr->sets) == seen.sets;
}

/*
 * Why a wake-up is never lost.
 *
 * All sleepers share one descriptor. A change makes it readable; poll looks again when
 * the sleeper runs, so clearing it before then would send that thread back to sleep.
 * Therefore each thread that may sleep is written down, and a change owes a wake-up to
 * every one of them. The descriptor is readable exactly while a wake-up is owed, and a
 * thread is owed one until it looks: with fi_trywait, fi_cntr_wait, fi_cntr_read or
 * fi_cntr_readerr. It may still sleep after any of these but fi_trywait, which it need
 * not call again; so the next change owes it another. A thread that would sleep while
 * others are owed waits for them shortly, since the descriptor cannot be made unreadable
 * for it alone, and is then told to look again.
 *
 * Nor is a change missed before the sleep: a sleeper writes itself down, arms the
 * counter, and then looks at the values; a change alters the values, and then looks
 * whether the counter is armed. In the order of sequential consistency one of them sees
 * the other.
 */

/* It looks now. Called with the lock held. */
static void cntr_told(struct crn_cntr *cntr, struct crn_cntr_sleeper *sleeper)
{
	crn_mutex_assert_held(&cntr->lock);
	if (!sleeper->owed)
		return;
	sleeper->owed = false;
	if (--cntr->owed)
		return;
	crn_wait_clear(&cntr->wait);
	pthread_cond_broadcast(&cntr->calm);
}

/* It looks, and does not sleep. Called with the lock held. */
static void cntr_back(struct crn_cntr *cntr, struct crn_cntr_sleeper *sleeper)
{
	crn_mutex_assert_held(&cntr->lock);
	if (sleeper->asleep)
		atomic_fetch_sub(&cntr->asleep, 1);
	sleeper->asleep = false;
	cntr_told(cntr, sleeper);
}

void crn_cntr_wake(struct crn_cntr *cntr)
{
	struct crn_cntr_sleeper *sleeper;
	struct crn_list *entry;

	pthread_mutex_lock(&cntr->lock);
	crn_list_for_each (entry, &cntr->sleepers) {
		sleeper = crn_container_of(entry, struct crn_cntr_sleeper, entry);
		if (!sleeper->asleep || sleeper->owed)
			continue;
		sleeper->owed = true;
		cntr->owed++;
	}
	if (cntr->owed)
		crn_wait_signal(&cntr->wait);
	pthread_mutex_unlock(&cntr->lock);
}

static void cntr_changed(struct crn_cntr *cntr)
{
	if (crn_unlikely(atomic_load(&cntr->armed)) &&
	    atomic_exchange(&cntr->armed, false))
		crn_cntr_wake(cntr);
}

/* Threads that have ended do not come back. Called with the lock held. */
static void cntr_bury(struct crn_cntr *cntr)
{
	struct crn_cntr_sleeper *sleeper;
	struct crn_list *entry, *next;

	crn_mutex_assert_held(&cntr->lock);
	crn_list_for_each_safe (entry, next, &cntr->sleepers) {
		sleeper = crn_container_of(entry, struct crn_cntr_sleeper, entry);
		if (!sleeper->tid || !syscall(SYS_tgkill, getpid(), sleeper->tid, 0) ||
		    errno != ESRCH)
			continue;
		cntr_back(cntr, sleeper);
		crn_list_del(&sleeper->entry);
		free(sleeper);
	}
}

/* What is written down of this thread; NULL: nothing. Called with the lock held. */
static struct crn_cntr_sleeper *cntr_find(struct crn_cntr *cntr, pid_t tid)
{
	struct crn_cntr_sleeper *sleeper;
	struct crn_list *entry;

	crn_mutex_assert_held(&cntr->lock);
	crn_list_for_each (entry, &cntr->sleepers) {
		sleeper = crn_container_of(entry, struct crn_cntr_sleeper, entry);
		if (sleeper->tid == tid)
			return sleeper;
	}
	return NULL;
}

/* The calling thread, for crn_cntr_trywait; NULL: no memory. */
static struct crn_cntr_sleeper *cntr_self(struct crn_cntr *cntr)
{
	const pid_t tid = gettid();
	struct crn_cntr_sleeper *self;

	pthread_mutex_lock(&cntr->lock);
	self = cntr_find(cntr, tid);
	if (!self) {
		cntr_bury(cntr);
		self = calloc(1, sizeof(*self));
		if (self) {
			self->tid = tid;
			crn_list_add_tail(&cntr->sleepers, &self->entry);
		}
	}
	if (self)
		cntr_back(cntr, self);
	pthread_mutex_unlock(&cntr->lock);
	return self;
}

/* The calling thread is about to look at the values. After fi_trywait it may sleep all
 * the same, and has to be woken by the changes to come. */
static void cntr_looks(struct crn_cntr *cntr)
{
	struct crn_cntr_sleeper *self;

	if (crn_likely(!atomic_load(&cntr->asleep)))
		return;
	pthread_mutex_lock(&cntr->lock);
	self = cntr_find(cntr, gettid());
	if (self) {
		cntr_told(cntr, self);
		if (self->asleep)
			atomic_store(&cntr->armed, true);
	}
	pthread_mutex_unlock(&cntr->lock);
}

/* A moment from now, of the clock that crn_now_ms reads. */
static struct timespec cntr_end(int timeout)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout / 1000;
	end.tv_nsec += timeout % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	return end;
}

/* How long to wait for threads that have been woken to run, before looking again. */
#define CNTR_CALM_MS 1

/* Others are owed a wake-up: gives them time to come for it. Called with the lock held.
 */
static void cntr_calm(struct crn_cntr *cntr)
{
	const struct timespec end = cntr_end(CNTR_CALM_MS);

	crn_mutex_assert_held(&cntr->lock);
	while (cntr->owed && !pthread_cond_timedwait(&cntr->calm, &cntr->lock, &end))
		;
	if (cntr->owed)
		cntr_bury(cntr);
}

/*
 * 0: the caller may block on the descriptor, having seen these values, until it calls
 * cntr_back. -FI_EAGAIN: it has to look again.
 */
static int cntr_fall_asleep(struct crn_cntr *cntr, struct crn_cntr_sleeper *self,
			    struct crn_cntr_values seen)
{
	int ret;

	pthread_mutex_lock(&cntr->lock);
	self->asleep = true;
	atomic_fetch_add(&cntr->asleep, 1);
	pthread_mutex_unlock(&cntr->lock);
	atomic_store(&cntr->armed, true);
	ret = cntr->arm ? cntr->arm(cntr) : 0;
	if (!ret)
		ret = crn_wait_arm(&cntr->wait);
	if (!ret && !cntr_is(cntr, seen))
		ret = -FI_EAGAIN;
	pthread_mutex_lock(&cntr->lock);
	if (!ret && cntr->owed)
		ret = -FI_EAGAIN;
	if (ret)
		cntr_back(cntr, self);
	if (ret == -FI_EAGAIN && cntr->owed)
		cntr_calm(cntr);
	pthread_mutex_unlock(&cntr->lock);
	return ret;
}

void crn_cntr_inc(struct crn_cntr *cntr)
{
	atomic_fetch_add(&cntr->value, 1);
	cntr_changed(cntr);
}

void crn_cntr_inc_err(struct crn_cntr *cntr)
{
	atomic_fetch_add(&cntr->errors, 1);
	cntr_changed(cntr);
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	cntr_looks(cntr_of(fid));
	cntr_progress(cntr_of(fid));
	return atomic_load(&cntr_of(fid)->value);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	cntr_looks(cntr_of(fid));
	cntr_progress(cntr_of(fid));
	return atomic_load(&cntr_of(fid)->errors);
}

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
	atomic_fetch_add(&cntr_of(fid)->value, value);
	cntr_changed(cntr_of(fid));
	return 0;
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	atomic_fetch_add(&cntr_of(fid)->errors, value);
	cntr_changed(cntr_of(fid));
	return 0;
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
	atomic_store(&cntr_of(fid)->value, value);
	atomic_fetch_add(&cntr_of(fid)->sets, 1);
	cntr_changed(cntr_of(fid));
	return 0;
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	atomic_store(&cntr_of(fid)->errors, value);
	atomic_fetch_add(&cntr_of(fid)->sets, 1);
	cntr_changed(cntr_of(fid));
	return 0;
}

/* Progresses, and blocks until the values are no longer those seen. */
static int cntr_drive(struct crn_cntr *cntr, struct crn_cntr_values seen, int timeout)
{
	struct crn_cntr_sleeper *self = &cntr->driver;
	int ret;

	cntr_progress(cntr);
	if (!cntr_is(cntr, seen))
		return 0;
	ret = cntr_fall_asleep(cntr, self, seen);
	if (ret)
		return ret == -FI_EAGAIN ? 0 : ret;
	ret = crn_wait_poll(&cntr->wait, timeout);
	pthread_mutex_lock(&cntr->lock);
	cntr_back(cntr, self);
	pthread_mutex_unlock(&cntr->lock);
	return ret;
}

/* Until the driver is back. Called with the lock held. */
static void cntr_follow(struct crn_cntr *cntr, int timeout)
{
	struct timespec end;

	crn_mutex_assert_held(&cntr->lock);
	if (timeout < 0) {
		pthread_cond_wait(&cntr->back, &cntr->lock);
		return;
	}
	end = cntr_end(timeout);
	pthread_cond_timedwait(&cntr->back, &cntr->lock, &end);
}

/*
 * One round of waiting, with the lock held: whoever finds nobody driving drives. The
 * driver returns at every change after the values it saw under the lock, and wakes the
 * others, so what a follower saw under the lock is never older than what wakes it.
 */
static int cntr_wait_round(struct crn_cntr *cntr, struct crn_cntr_values seen,
			   int timeout)
{
	int ret;

	crn_mutex_assert_held(&cntr->lock);
	if (cntr->driven) {
		cntr_follow(cntr, timeout);
		return 0;
	}
	cntr->driven = true;
	pthread_mutex_unlock(&cntr->lock);
	ret = cntr_drive(cntr, seen, timeout);
	pthread_mutex_lock(&cntr->lock);
	cntr->driven = false;
	pthread_cond_broadcast(&cntr->back);
	return ret;
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct crn_cntr *cntr = cntr_of(fid);
	uint64_t errors = atomic_load(&cntr->errors);
	uint64_t start = crn_now_ms();
	struct crn_cntr_values seen;
	int left, ret = 0;

	if (cntr->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	cntr_looks(cntr);
	cntr_progress(cntr);
	pthread_mutex_lock(&cntr->lock);
	for (;;) {
		seen = cntr_values(cntr);
		if (seen.value >= threshold) {
			ret = 0;
			break;
		}
		if (seen.errors != errors) {
			ret = -FI_EAVAIL;
			break;
		}
		left = crn_timeout_left(start, timeout);
		if (!ret && !left)
			ret = -FI_ETIMEDOUT;
		if (ret)
			break;
		ret = cntr_wait_round(cntr, seen, left);
	}
	pthread_mutex_unlock(&cntr->lock);
	return ret;
}

int crn_cntr_trywait(struct crn_cntr *cntr)
{
	struct crn_cntr_sleeper *self = cntr_self(cntr);
	int ret;

	if (!self)
		return -FI_ENOMEM;
	cntr_progress(cntr);
	if (cntr_is(cntr, self->seen)) {
		ret = cntr_fall_asleep(cntr, self, self->seen);
		if (ret != -FI_EAGAIN)
			return ret;
	}
	self->seen = cntr_values(cntr);
	return -FI_EAGAIN;
}

int crn_cntr_control(struct fid *fid, int command, void *arg)
{
	return crn_wait_control(&crn_container_of(fid, struct crn_cntr, fid.fid)->wait,
				command, arg);
}

static int cntr_close(struct fid *fid)
{
	struct crn_cntr *cntr = crn_container_of(fid, struct crn_cntr, fid.fid);

	if (atomic_load(&cntr->refs))
		return -FI_EBUSY;
	crn_cntr_fini(cntr);
	return 0;
}

static struct fi_ops cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cntr_close,
	.bind = crn_nosys_bind,
	.control = crn_cntr_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};

/* Followers wait with deadlines of the clock that crn_now_ms reads. */
static int cntr_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int ret = pthread_condattr_init(&attr);

	if (ret)
		return -ret;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	ret = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -ret;
}

int crn_cntr_init(struct crn_cntr *cntr, const struct fi_cntr_attr *attr, void *context,
		  void (*progress)(struct crn_cntr *cntr))
{
	int ret;

	if (attr && attr->events != FI_CNTR_EVENTS_COMP)
		return -FI_ENOSYS;
	if (attr && attr->flags)
		return -FI_EINVAL;
	memset(cntr, 0, sizeof(*cntr));
	ret = crn_wait_init(&cntr->wait, attr ? attr->wait_obj : FI_WAIT_NONE);
	if (ret)
		return ret;
	ret = -pthread_mutex_init(&cntr->lock, NULL);
	if (ret)
		goto err_wait;
	ret = cntr_cond_init(&cntr->back);
	if (ret)
		goto err_lock;
	ret = cntr_cond_init(&cntr->calm);
	if (ret)
		goto err_back;
	crn_list_init(&cntr->sleepers);
	crn_list_add_tail(&cntr->sleepers, &cntr->driver.entry);
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fid_ops;
	cntr->fid.ops = &cntr_ops;
	cntr->progress = progress;
	return 0;

err_back:
	pthread_cond_destroy(&cntr->back);
err_lock:
	pthread_mutex_destroy(&cntr->lock);
err_wait:
	crn_wait_fini(&cntr->wait);
	return ret;
}

void crn_cntr_fini(struct crn_cntr *cntr)
{
	struct crn_list *entry;

	crn_list_del(&cntr->driver.entry);
	while ((entry = crn_list_pop(&cntr->sleepers)))
		free(crn_container_of(entry, struct crn_cntr_sleeper, entry));
	pthread_cond_destroy(&cntr->calm);
	pthread_cond_destroy(&cntr->back);
	pthread_mutex_destroy(&cntr->lock);
	crn_wait_fini(&cntr->wait);
}
