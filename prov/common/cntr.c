/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <time.h>
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
	};
}

static bool cntr_is(struct crn_cntr *cntr, struct crn_cntr_values seen)
{
	return atomic_load(&cntr->value) == seen.value &&
	       atomic_load(&cntr->errors) == seen.errors;
}

/*
 * A change before the waiter armed is seen by its next look at the values; one after it
 * finds the counter armed. Both rest on the sequentially consistent order of the change,
 * of armed, and of the look.
 */
static void cntr_changed(struct crn_cntr *cntr)
{
	if (crn_unlikely(atomic_load(&cntr->armed)) &&
	    atomic_exchange(&cntr->armed, false))
		crn_wait_signal(&cntr->wait);
}

static int cntr_arm(struct crn_cntr *cntr)
{
	crn_wait_clear(&cntr->wait);
	atomic_store(&cntr->armed, true);
	return cntr->arm ? cntr->arm(cntr) : 0;
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
	cntr_progress(cntr_of(fid));
	return atomic_load(&cntr_of(fid)->value);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
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
	atomic_store(&cntr_of(fid)->stale, true);
	cntr_changed(cntr_of(fid));
	return 0;
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	atomic_store(&cntr_of(fid)->errors, value);
	atomic_store(&cntr_of(fid)->stale, true);
	cntr_changed(cntr_of(fid));
	return 0;
}

/* Progresses, and blocks until the values are no longer those seen. */
static int cntr_drive(struct crn_cntr *cntr, struct crn_cntr_values seen, int timeout)
{
	int ret;

	cntr_progress(cntr);
	if (!cntr_is(cntr, seen))
		return 0;
	ret = cntr_arm(cntr);
	if (ret || !cntr_is(cntr, seen))
		return ret;
	return crn_wait_poll(&cntr->wait, timeout);
}

/* Until the driver is back. Called with the lock held. */
static void cntr_follow(struct crn_cntr *cntr, int timeout)
{
	struct timespec end;

	if (timeout < 0) {
		pthread_cond_wait(&cntr->back, &cntr->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout / 1000;
	end.tv_nsec += timeout % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
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
	int ret;

	cntr_progress(cntr);
	ret = cntr_arm(cntr);
	if (ret)
		return ret;
	if (!atomic_exchange(&cntr->stale, false) && cntr_is(cntr, cntr->seen))
		return 0;
	cntr->seen = cntr_values(cntr);
	return -FI_EAGAIN;
}

int crn_cntr_control(struct fid *fid, int command, void *arg)
{
	return crn_wait_control(&crn_container_of(fid, struct crn_cntr, fid.fid)->wait,
				command, arg);
}

static int cntr_close(struct fid *fid)
{
	crn_cntr_fini(crn_container_of(fid, struct crn_cntr, fid.fid));
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
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fid_ops;
	cntr->fid.ops = &cntr_ops;
	cntr->progress = progress;
	return 0;

err_lock:
	pthread_mutex_destroy(&cntr->lock);
err_wait:
	crn_wait_fini(&cntr->wait);
	return ret;
}

void crn_cntr_fini(struct crn_cntr *cntr)
{
	pthread_cond_destroy(&cntr->back);
	pthread_mutex_destroy(&cntr->lock);
	crn_wait_fini(&cntr->wait);
}
