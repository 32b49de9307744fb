/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cairn/thread.h>
#include "engine.h"
#include "step.h"

#define SVB_DEATHS 4
#define SVB_EVENTS 16
#define SVB_LOOK_MS 50
#define SVB_MS 1000000ull /* ns */

struct svb_watch {
	struct crn_list entry;
	int fd;
	svb_service_fn fn;
	void *arg;
	bool gone; /* unwatched; freed by the thread */
};

struct svb_service {
	pthread_mutex_t mutex;
	pthread_cond_t idle; /* no call is under way */
	pthread_t thread;
	bool runs;
	bool stop;
	int epoll_fd;
	int bell_fd;
	uint32_t bell;
	struct crn_list watches;
	struct svb_watch *calling;
	uint32_t peers[SVB_PROC_MAX / 32]; /* watched, by index */
	/* Tokens of those looked at from time to time: where there is no pidfd_open, or
	 * no memory. */
	uint32_t looked_at[SVB_PROC_MAX];
	uint32_t lookings;
	struct {
		svb_death_fn fn;
		void *arg;
	} deaths[SVB_DEATHS];
	int death_count;
};

static struct svb_service svb_service = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.idle = PTHREAD_COND_INITIALIZER,
	.epoll_fd = -1,
};

/* Time until the next deadline, ms rounded up; -1: none. */
static int svb_service_sleep(void)
{
	uint64_t next = __atomic_load_n(&svb_self.seg->next_deadline, __ATOMIC_SEQ_CST);
	uint64_t now = next ? svb_now() : 0;

	if (!next)
		return -1;
	if (next <= now)
		return 0;
	next = (next - now + SVB_MS - 1) / SVB_MS;
	return next > 3600000 ? 3600000 : (int)next;
}

static int svb_service_timeout(void)
{
	int sleep = svb_service_sleep();

	if (!__atomic_load_n(&svb_service.lookings, __ATOMIC_RELAXED))
		return sleep;
	return sleep < 0 || sleep > SVB_LOOK_MS ? SVB_LOOK_MS : sleep;
}

static void svb_service_until(uint64_t until)
{
	__atomic_store_n(&svb_self.seg->sleeps_until, until, __ATOMIC_SEQ_CST);
}

/* Whoever sets a deadline after this thread looked finds that it sleeps. */
static int svb_service_wait(struct epoll_event *events)
{
	int timeout, count;

	svb_service_until(UINT64_MAX);
	timeout = svb_service_timeout();
	if (timeout >= 0)
		svb_service_until(svb_now() + (uint64_t)timeout * SVB_MS);
	count = epoll_wait(svb_service.epoll_fd, events, SVB_EVENTS, timeout);
	svb_service_until(0);
	return count;
}

static void svb_service_call(struct svb_watch *watch)
{
	pthread_mutex_lock(&svb_service.mutex);
	if (!watch->gone) {
		svb_service.calling = watch;
		pthread_mutex_unlock(&svb_service.mutex);
		watch->fn(watch->fd, watch->arg);
		pthread_mutex_lock(&svb_service.mutex);
		svb_service.calling = NULL;
		pthread_cond_broadcast(&svb_service.idle);
	}
	pthread_mutex_unlock(&svb_service.mutex);
}

/* Frees what was unwatched: no event of it is left in hand now. */
static void svb_service_sweep(void)
{
	struct crn_list *at, *next;
	struct svb_watch *watch;

	pthread_mutex_lock(&svb_service.mutex);
	crn_list_for_each_safe (at, next, &svb_service.watches) {
		watch = (struct svb_watch *)((char *)at -
					     offsetof(struct svb_watch, entry));
		if (!watch->gone)
			continue;
		crn_list_del(at);
		free(watch);
	}
	pthread_mutex_unlock(&svb_service.mutex);
}

static void svb_service_look(void);

static void *svb_service_main(void *arg)
{
	struct epoll_event events[SVB_EVENTS];
	int count, i;

	while (!__atomic_load_n(&svb_service.stop, __ATOMIC_ACQUIRE)) {
		count = svb_service_wait(events);
		for (i = 0; i < count; i++)
			svb_service_call(events[i].data.ptr);
		svb_engine_timers();
		svb_service_look();
		svb_service_sweep();
	}
	return NULL;
}

static void svb_service_rung(int fd, void *arg)
{
	while (!__atomic_load_n(&svb_service.stop, __ATOMIC_ACQUIRE) &&
	       !svb_bell_take(fd))
		;
}

/* Mutex held. */
static int svb_service_add(int fd, svb_service_fn fn, void *arg)
{
	struct svb_watch *watch = calloc(1, sizeof(*watch));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	if (!watch)
		return ENOMEM;
	*watch = (struct svb_watch){.fd = fd, .fn = fn, .arg = arg};
	if (epoll_ctl(svb_service.epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		free(watch);
		return errno;
	}
	crn_list_init(&watch->entry);
	crn_list_add_tail(&svb_service.watches, &watch->entry);
	return 0;
}

/* Mutex held. */
static int svb_service_begin(void)
{
	int ret;

	if (svb_service.runs || !svb_self.settings.threads)
		return 0;
	crn_list_init(&svb_service.watches);
	svb_service.stop = false;
	svb_service.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (svb_service.epoll_fd < 0)
		return errno;
	svb_service.bell_fd = svb_bell_open(SVB_BELL_SERVICE, &svb_service.bell);
	ret = svb_service.bell_fd < 0 ? errno : 0;
	if (!ret) {
		int on = 1;

		ret = ioctl(svb_service.bell_fd, FIONBIO, &on) ? errno : 0;
		if (!ret)
			ret = svb_service_add(svb_service.bell_fd, svb_service_rung,
					      NULL);
		/* From the first time it sleeps on it can be woken. */
		__atomic_store_n(&svb_self.seg->service, 1, __ATOMIC_SEQ_CST);
		if (!ret)
			ret = crn_thread_create(&svb_service.thread, svb_service_main,
						NULL);
		if (ret) {
			svb_self.seg->service = 0;
			svb_bell_close(svb_service.bell_fd, svb_service.bell);
		}
	}
	if (ret) {
		close(svb_service.epoll_fd);
		return ret;
	}
	svb_service.runs = true;
	return 0;
}

int svb_service_start(void)
{
	int ret;

	if (__atomic_load_n(&svb_service.runs, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&svb_service.mutex);
	ret = svb_service_begin();
	pthread_mutex_unlock(&svb_service.mutex);
	return ret;
}

int svb_service_watch(int fd, svb_service_fn fn, void *arg)
{
	int ret;

	pthread_mutex_lock(&svb_service.mutex);
	ret = svb_service_begin();
	if (!ret && svb_service.runs)
		ret = svb_service_add(fd, fn, arg);
	pthread_mutex_unlock(&svb_service.mutex);
	return ret;
}

void svb_service_unwatch(int fd)
{
	struct svb_watch *watch;
	struct crn_list *at;

	pthread_mutex_lock(&svb_service.mutex);
	if (svb_service.runs) {
		crn_list_for_each (at, &svb_service.watches) {
			watch = (struct svb_watch *)((char *)at -
						     offsetof(struct svb_watch, entry));
			if (watch->fd != fd || watch->gone)
				continue;
			epoll_ctl(svb_service.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
			watch->gone = true;
			while (svb_service.calling == watch &&
			       !pthread_equal(pthread_self(), svb_service.thread))
				pthread_cond_wait(&svb_service.idle, &svb_service.mutex);
			break;
		}
	}
	pthread_mutex_unlock(&svb_service.mutex);
}

int svb_service_on_death(svb_death_fn fn, void *arg)
{
	int ret = ENOSPC;

	pthread_mutex_lock(&svb_service.mutex);
	if (svb_service.death_count < SVB_DEATHS) {
		svb_service.deaths[svb_service.death_count].fn = fn;
		svb_service.deaths[svb_service.death_count++].arg = arg;
		ret = 0;
	}
	pthread_mutex_unlock(&svb_service.mutex);
	return ret;
}

/*
 * Requests that waited for the dead now wait for their retries to end. Events that it
 * counted but did not live to ring are rung.
 */
static void svb_peer_gone(uint32_t index)
{
	struct svb_qp_sh *qp;
	struct svb_cq_sh *cq;
	uint32_t i;

	if (svb_unlikely(svb_self.model))
		svb_self.model->settle(0);
	pthread_mutex_lock(&svb_self.mutex);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++) {
		if (!svb_self.qp[i])
			continue;
		qp = svb_seg_qp(svb_self.seg, i);
		if (qp->type == IBV_QPT_RC && SVB_QP_PROC(svb_get(qp->dest_qpn)) == index)
			svb_engine_run(svb_self.seg, qp);
		if (__atomic_load_n(&qp->events, __ATOMIC_ACQUIRE))
			svb_bell_ring(qp->async);
	}
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_CQ]; i++) {
		if (!svb_self.cq[i])
			continue;
		cq = svb_seg_cq(svb_self.seg, i);
		if (__atomic_load_n(&cq->events, __ATOMIC_ACQUIRE))
			svb_bell_ring(cq->bell);
	}
	pthread_mutex_unlock(&svb_self.mutex);
}

static void svb_service_died(uint32_t token)
{
	uint32_t index = svb_token_index(token);
	int i;

	svb_registry_bury(token);
	pthread_mutex_lock(&svb_service.mutex);
	svb_service.peers[index / 32] &= ~(1u << index % 32);
	pthread_mutex_unlock(&svb_service.mutex);
	svb_peer_gone(index);
	for (i = 0; i < svb_service.death_count; i++)
		svb_service.deaths[i].fn(token, svb_service.deaths[i].arg);
}

static void svb_service_death(int fd, void *arg)
{
	svb_service_unwatch(fd);
	close(fd);
	svb_service_died((uint32_t)(uintptr_t)arg);
}

static void svb_service_look(void)
{
	uint32_t index, token;

	if (!__atomic_load_n(&svb_service.lookings, __ATOMIC_RELAXED))
		return;
	for (index = 1; index < SVB_PROC_MAX; index++) {
		token = __atomic_load_n(&svb_service.looked_at[index], __ATOMIC_ACQUIRE);
		if (!token || svb_registry_alive(token))
			continue;
		__atomic_store_n(&svb_service.looked_at[index], 0, __ATOMIC_RELEASE);
		__atomic_sub_fetch(&svb_service.lookings, 1, __ATOMIC_RELAXED);
		svb_service_died(token);
	}
}

/* From time to time: needs neither a descriptor nor memory. Returns 0. */
static int svb_service_look_at(uint32_t token)
{
	__atomic_store_n(&svb_service.looked_at[svb_token_index(token)], token,
			 __ATOMIC_RELEASE);
	__atomic_add_fetch(&svb_service.lookings, 1, __ATOMIC_RELAXED);
	svb_bell_ring(svb_service.bell);
	return 0;
}

/* Mutex held. pid: its number here, 0: it has none. */
static int svb_service_add_peer(uint32_t token, pid_t pid)
{
	int fd = svb_life_watch(svb_token_index(token)), ret;

	/* valgrind does not know the call, and says so each time. */
	errno = ENOSYS;
	if (fd < 0 && pid && !svb_self.valgrind)
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno != ENOSYS)
		return errno;
	if (fd < 0)
		return svb_service_look_at(token);
	ret = svb_service_add(fd, svb_service_death, (void *)(uintptr_t)token);
	if (!ret)
		return 0;
	close(fd);
	return ret == ENOMEM ? svb_service_look_at(token) : ret;
}

int svb_service_watch_peer(uint32_t index)
{
	struct svb_entry *entry;
	int ret;

	if (!index || index >= SVB_PROC_MAX || index == svb_self.index)
		return 0;
	entry = &svb_self.registry->entry[index];
	pthread_mutex_lock(&svb_service.mutex);
	ret = svb_service_begin();
	if (!ret && svb_service.runs &&
	    !(svb_service.peers[index / 32] >> index % 32 & 1)) {
		ret = svb_service_add_peer(svb_token(index, entry->generation),
					   (pid_t)svb_registry_pid(index));
		if (!ret)
			svb_service.peers[index / 32] |= 1u << index % 32;
	}
	pthread_mutex_unlock(&svb_service.mutex);
	return ret;
}

void svb_service_deadline(const struct svb_seg *seg, uint64_t deadline)
{
	const uint64_t until = __atomic_load_n(&seg->sleeps_until, __ATOMIC_SEQ_CST);

	/* It sleeps whole milliseconds. A bell for each request would cost more than the
	 * request. */
	if (until > deadline && until - deadline > SVB_MS &&
	    __atomic_load_n(&seg->service, __ATOMIC_RELAXED))
		svb_bell_ring(svb_bell_name(seg->index, SVB_BELL_SERVICE));
}

void svb_service_stop(void)
{
	struct timespec until;

	if (!svb_service.runs)
		return;
	__atomic_store_n(&svb_service.stop, true, __ATOMIC_RELEASE);
	/* Readable from now on, even if somebody removed the bell's file. */
	shutdown(svb_service.bell_fd, SHUT_RD);
	/* What it is in the middle of may wait for whoever is leaving. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_timedjoin_np(svb_service.thread, NULL, &until))
		return;
	svb_bell_close(svb_service.bell_fd, svb_service.bell);
	close(svb_service.epoll_fd);
	svb_service.runs = false;
	svb_self.seg->service = 0;
}

void svb_service_hold(void)
{
	pthread_mutex_lock(&svb_service.mutex);
}

void svb_service_let_go(void)
{
	pthread_mutex_unlock(&svb_service.mutex);
}

void svb_service_forget(void)
{
	struct crn_list *at, *next;
	struct svb_watch *watch;

	if (svb_service.runs) {
		close(svb_service.epoll_fd);
		close(svb_service.bell_fd);
		crn_list_for_each_safe (at, next, &svb_service.watches) {
			watch = (struct svb_watch *)((char *)at -
						     offsetof(struct svb_watch, entry));
			if (watch->fn == svb_service_death && !watch->gone)
				close(watch->fd);
			free(watch);
		}
	}
	svb_service = (struct svb_service){
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.idle = PTHREAD_COND_INITIALIZER,
		.epoll_fd = -1,
	};
}
