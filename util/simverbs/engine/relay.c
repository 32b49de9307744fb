/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cairn/thread.h>
#include "engine.h"
#include "step.h"

/* Bytes of the staging area. */
#define SVB_STAGING (1u << 20)
/* Looking whether the other process lives is a system call or two. */
#define SVB_RELAY_YIELDS 64

_Static_assert(SVB_RELAY_PIECES >= SVB_MAX_SGE, "SVB_RELAY_PIECES");

static struct {
	pthread_mutex_t mutex; /* of the thread's beginning and end */
	pthread_t thread;
	bool runs;
	bool stop;
	int fd;
	uint32_t bell;
	pthread_mutex_t staging_mutex; /* one transfer of this process at a time */
	uint64_t staging;	       /* offset in the own segment; 0: none yet */
} svb_relay = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.staging_mutex = PTHREAD_MUTEX_INITIALIZER,
	.fd = -1,
};

/* Opens the segment of the asking process as a file: copying with pread and pwrite
 * returns an error for unmapped memory instead of a signal. */
static int svb_relay_open(uint32_t token)
{
	uint32_t index = svb_token_index(token);
	char name[32];

	if (!index ||
	    svb_token(index, svb_self.registry->entry[index].generation) != token)
		return -1;
	snprintf(name, sizeof(name), "seg.%u", index);
	return openat(svb_self.dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
}

static int svb_relay_copy(const struct svb_relay_sh *ask, int fd)
{
	uint64_t at = ask->staging;
	ssize_t done;
	uint32_t i;

	for (i = 0; i < ask->count; i++) {
		void *where = (void *)(uintptr_t)ask->piece[i].at;
		uint64_t len = ask->piece[i].len;

		if (len > SVB_STAGING || at + len > ask->staging + SVB_STAGING)
			return EINVAL;
		/* As an adapter: sanitizers of this process, which know nothing of
		 * who asks and why it may, do not see it. */
		done = syscall(ask->write ? SYS_pread64 : SYS_pwrite64, fd, where, len,
			       (off_t)at);
		if (done != (ssize_t)len)
			return EFAULT;
		at += len;
	}
	return 0;
}

/* Executes the request to this process, which may contain garbage. */
static void svb_relay_serve(void)
{
	struct svb_relay_sh *sh = &svb_self.seg->relay, ask;
	uint32_t asked = SVB_RELAY_ASKED;
	int fd, ret = EINVAL;

	if (!__atomic_compare_exchange_n(&sh->state, &asked, SVB_RELAY_BUSY, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	memcpy(&ask, sh, sizeof(ask));
	fd = svb_relay_open(ask.from);
	if (fd >= 0 && ask.count <= SVB_RELAY_PIECES &&
	    svb_seg_holds(ask.staging, SVB_STAGING))
		ret = svb_relay_copy(&ask, fd);
	if (fd >= 0)
		close(fd);
	sh->result = (uint32_t)ret;
	__atomic_store_n(&sh->state, SVB_RELAY_DONE, __ATOMIC_RELEASE);
}

static void *svb_relay_main(void *arg)
{
	while (!__atomic_load_n(&svb_relay.stop, __ATOMIC_ACQUIRE)) {
		svb_bell_take(svb_relay.fd);
		svb_relay_serve();
	}
	return NULL;
}

static int svb_relay_begin(void)
{
	int ret;

	svb_relay.fd = svb_bell_open(0, &svb_relay.bell);
	if (svb_relay.fd < 0)
		return errno;
	svb_relay.stop = false;
	ret = crn_thread_create(&svb_relay.thread, svb_relay_main, NULL);
	if (ret) {
		svb_bell_close(svb_relay.fd, svb_relay.bell);
		return ret;
	}
	svb_relay.runs = true;
	__atomic_store_n(&svb_self.seg->relay.bell, svb_relay.bell, __ATOMIC_RELEASE);
	/* Somebody may have asked before there was a bell to ring. */
	svb_bell_ring(svb_relay.bell);
	return 0;
}

int svb_relay_start(void)
{
	int ret = 0;

	if (!svb_self.settings.threads)
		return 0;
	pthread_mutex_lock(&svb_relay.mutex);
	if (!svb_relay.runs)
		ret = svb_relay_begin();
	pthread_mutex_unlock(&svb_relay.mutex);
	return ret;
}

void svb_relay_look(void)
{
	struct svb_relay_sh *sh = &svb_self.seg->relay;

	if (svb_likely(!__atomic_load_n(&sh->wanted, __ATOMIC_ACQUIRE)))
		return;
	if (svb_self.settings.threads)
		svb_relay_start();
	else
		svb_relay_serve();
}

/* Wakes the other process to look at the request. */
static void svb_relay_rouse(struct svb_seg *seg)
{
	uint32_t bell = __atomic_load_n(&seg->relay.bell, __ATOMIC_ACQUIRE);

	if (bell) {
		svb_bell_ring(bell);
		return;
	}
	__atomic_store_n(&seg->relay.wanted, 1, __ATOMIC_RELEASE);
	svb_engine_wake(seg);
}

/*
 * Waits while the state of the other's box is one of those. The other may itself be
 * waiting for this process. False when it has ended, or has not begun in time.
 */
static bool svb_relay_wait(struct svb_seg *seg, uint32_t states)
{
	uint64_t give_up = svb_now() + svb_self.settings.retry_cap * 1000000ull;
	struct svb_relay_sh *sh = &seg->relay;
	uint32_t state, tries = 0;

	while (1u << ((state = __atomic_load_n(&sh->state, __ATOMIC_ACQUIRE)) & 31) &
	       states) {
		if (!svb_self.settings.threads)
			svb_relay_serve();
		sched_yield();
		if (++tries % SVB_RELAY_YIELDS)
			continue;
		if (!svb_registry_alive(svb_token(seg->index, seg->generation)))
			return false;
		svb_relay_rouse(seg);
		/* A request that was begun is always finished. */
		if (svb_now() > give_up && state == SVB_RELAY_ASKED &&
		    __atomic_compare_exchange_n(&sh->state, &state, SVB_RELAY_FREE, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

/* One piece of work, of which the other's part is in its box. */
static int svb_relay_ask(const struct svb_span *other, bool write)
{
	struct svb_relay_sh *sh = &other->seg->relay;
	int ret = ESRCH, i;

	svb_lock(&sh->lock);
	/* Waits for a request of a process that has ended. */
	if (!svb_relay_wait(other->seg, 1u << SVB_RELAY_ASKED | 1u << SVB_RELAY_BUSY))
		goto out;
	sh->from = svb_lock_token;
	sh->write = write;
	sh->staging = svb_relay.staging;
	sh->count = (uint32_t)other->count;
	for (i = 0; i < other->count; i++) {
		sh->piece[i].at = (uintptr_t)other->iov[i].iov_base;
		sh->piece[i].len = other->iov[i].iov_len;
	}
	__atomic_store_n(&sh->state, SVB_RELAY_ASKED, __ATOMIC_RELEASE);
	svb_relay_rouse(other->seg);
	if (!svb_relay_wait(other->seg, 1u << SVB_RELAY_ASKED | 1u << SVB_RELAY_BUSY))
		goto out;
	ret = (int)sh->result;
	__atomic_store_n(&sh->state, SVB_RELAY_FREE, __ATOMIC_RELEASE);
out:
	svb_unlock(&sh->lock);
	return ret;
}

static int svb_relay_part(struct svb_span *own, struct svb_span *other, bool write)
{
	size_t len = own->length < SVB_STAGING ? own->length : SVB_STAGING;
	struct svb_span part = *other, mine = *own, staging;
	int ret;

	svb_span_cut(&part, len);
	svb_span_cut(&mine, len);
	svb_span_of_range(&staging, svb_self.seg,
			  svb_seg_at(svb_self.seg, svb_relay.staging), len);
	if (write)
		svb_move(&staging, &mine);
	ret = svb_relay_ask(&part, write);
	if (!ret && !write)
		svb_move(&mine, &staging);
	svb_span_skip(own, len);
	svb_span_skip(other, len);
	return ret;
}

int svb_relay_transfer(struct svb_span *own, struct svb_span *other, bool write)
{
	int ret = 0;

	pthread_mutex_lock(&svb_relay.staging_mutex);
	if (!svb_relay.staging)
		svb_relay.staging = svb_seg_alloc(SVB_STAGING);
	if (!svb_relay.staging)
		ret = ENOMEM;
	while (!ret && own->length)
		ret = svb_relay_part(own, other, write);
	pthread_mutex_unlock(&svb_relay.staging_mutex);
	return ret;
}

void svb_relay_stop(void)
{
	struct timespec until;

	if (!svb_relay.runs)
		return;
	__atomic_store_n(&svb_relay.stop, true, __ATOMIC_RELEASE);
	shutdown(svb_relay.fd, SHUT_RD);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_timedjoin_np(svb_relay.thread, NULL, &until))
		return;
	svb_bell_close(svb_relay.fd, svb_relay.bell);
	svb_relay.runs = false;
}

void svb_relay_forget(void)
{
	if (svb_relay.runs)
		close(svb_relay.fd);
	svb_relay.runs = false;
	svb_relay.staging = 0;
	pthread_mutex_init(&svb_relay.mutex, NULL);
	pthread_mutex_init(&svb_relay.staging_mutex, NULL);
}
