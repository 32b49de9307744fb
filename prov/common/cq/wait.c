/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for completions: fi_cq_sread, fi_cq_signal, fi_trywait. */
#include <rdma/fi_errno.h>
#include "internal.h"

/*
 * The descriptor stays readable from a completion or signal to the trywait that finds
 * neither: several threads may sleep on it, and each has to find it readable when it
 * runs. Clearing, and writing down that somebody sleeps, are one step under the lock.
 */
static int cq_arm(struct crn_cq *cq)
{
	int ret = -FI_EAGAIN;

	crn_lock(cq->guard);
	if (!crn_cq_count(cq) && !cq->owed) {
		crn_wait_clear(&cq->wait);
		cq->armed = true;
		ret = 0;
	}
	crn_unlock(cq->guard);
	return ret;
}

static int cq_fall_asleep(struct crn_cq *cq)
{
	int ret = cq_arm(cq);

	return ret ? ret : crn_wait_arm(&cq->wait);
}

/* A signal that no thread in fi_cq_sread took, once. */
static bool cq_tell(struct crn_cq *cq)
{
	bool tell;

	crn_lock(cq->guard);
	tell = cq->kept && !cq->told;
	cq->told |= cq->kept;
	crn_unlock(cq->guard);
	return tell;
}

int crn_cq_trywait(struct crn_cq *cq)
{
	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	crn_cq_progress(cq);
	return cq_tell(cq) ? -FI_EAGAIN : cq_fall_asleep(cq);
}

int crn_cq_signal(struct fid_cq *fid)
{
	struct crn_cq *cq = crn_cq_of(fid);

	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	crn_lock(cq->guard);
	if (cq->sleepers) {
		cq->signals++;
		cq->owed = cq->sleepers;
	} else {
		cq->kept = true;
		cq->told = false;
	}
	crn_wait_signal(&cq->wait);
	crn_unlock(cq->guard);
	return 0;
}

/* The calling thread is in fi_cq_sread; returns the last signal that is not for it. */
static uint32_t cq_enter(struct crn_cq *cq)
{
	uint32_t seen;

	crn_lock(cq->guard);
	cq->sleepers++;
	seen = cq->signals;
	if (cq->kept) {
		cq->kept = false;
		cq->owed++;
		seen--;
	}
	crn_unlock(cq->guard);
	return seen;
}

static bool cq_signaled(struct crn_cq *cq, uint32_t seen)
{
	bool signaled;

	crn_lock(cq->guard);
	signaled = cq->signals != seen;
	crn_unlock(cq->guard);
	return signaled;
}

static void cq_leave(struct crn_cq *cq, uint32_t seen)
{
	crn_lock(cq->guard);
	cq->sleepers--;
	if (cq->signals != seen)
		cq->owed--;
	crn_unlock(cq->guard);
}

/*
 * Until there is something to look at: 0. -FI_ETIMEDOUT or -FI_EINTR: it is to be looked
 * at once more, for the time is over or a signal was handled. Otherwise the wait ends.
 */
static int cq_sleep(struct crn_cq *cq, uint64_t start, int timeout)
{
	int ret = cq_fall_asleep(cq);

	if (!ret)
		return crn_wait_poll(&cq->wait, crn_timeout_left(start, timeout));
	if (ret != -FI_EAGAIN)
		return ret;
	/* What made it look again may be another queue's, and come on and on. */
	return crn_timeout_left(start, timeout) ? 0 : -FI_ETIMEDOUT;
}

/* Bytes of an entry that is read. */
static size_t cq_entry_size(const struct crn_cq *cq)
{
	switch (cq->format) {
	case FI_CQ_FORMAT_CONTEXT:
		return sizeof(struct fi_cq_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	default:
		return sizeof(struct fi_cq_tagged_entry);
	}
}

/* Completions are taken as they come, so that no other thread waits for the same ones. */
static ssize_t cq_wait_read(struct crn_cq *cq, char *buf, size_t count, size_t want,
			    fi_addr_t *src_addr, int timeout, uint32_t seen)
{
	const uint64_t start = crn_now_ms();
	bool last = false;
	size_t done = 0;
	ssize_t ret;

	for (;;) {
		ret = crn_cq_readfrom(&cq->fid, buf + done * cq_entry_size(cq),
				      count - done, src_addr ? src_addr + done : NULL);
		if (ret > 0)
			done += (size_t)ret;
		if (done >= want || (ret < 0 && ret != -FI_EAGAIN))
			break;
		if (last || cq_signaled(cq, seen)) {
			ret = -FI_EAGAIN;
			break;
		}
		ret = cq_sleep(cq, start, timeout);
		last = ret == -FI_ETIMEDOUT || ret == -FI_EINTR;
		if (ret && !last)
			break;
	}
	return done ? (ssize_t)done : ret;
}

ssize_t crn_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr,
			 const void *cond, int timeout)
{
	struct crn_cq *cq = crn_cq_of(fid);
	size_t want = 1;
	uint32_t seen;
	ssize_t ret;

	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	if (!count)
		return crn_cq_read(fid, buf, 0);
	if (cq->wait_cond == FI_CQ_COND_THRESHOLD && cond)
		want = CRN_MIN((size_t)(uintptr_t)cond, count);
	seen = cq_enter(cq);
	ret = cq_wait_read(cq, buf, count, want, src_addr, timeout, seen);
	cq_leave(cq, seen);
	return ret;
}

ssize_t crn_cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
		     int timeout)
{
	return crn_cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}
