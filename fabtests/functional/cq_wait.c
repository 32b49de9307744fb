/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking on a completion queue. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cq.h"

#define ROUNDS 2000u
/* A sleep this long in a loop of round trips is a lost wake-up. Where the machine stood
 * still the completion may come just when it ends: not for so long. */
#define NAP_MS 15000

/*
 * The wait object is an optional service: a provider without it does not open such a CQ.
 */
static int up(struct cq_side *s, struct fct *t, enum fi_wait_obj wait, unsigned int recvs)
{
	struct fct_setup setup = {.caps = FI_MSG};

	setup.cq_wait = wait;
	return fct_cq_up(s, t, &setup, recvs);
}

static int one_timeout(struct cq_side *s, int ms)
{
	struct fi_cq_data_entry e;
	struct fct *t = s->l.t;
	uint64_t start = fct_now_ns(), took;
	int ret;

	FCT_ERR(t, fi_cq_sread(s->l.rxcq, &e, 1, NULL, ms), -FI_EAGAIN);
	took = (fct_now_ns() - start) / 1000000;
	fct_note(t, "fi_cq_sread of %d ms took %llu ms", ms, (unsigned long long)took);
	if (took + 1 < (uint64_t)ms)
		FCT_FAIL(t, "fi_cq_sread with %d ms returned after %llu ms", ms,
			 (unsigned long long)took);
	if (took > (uint64_t)ms + 20000 * t->scale)
		FCT_FAIL(t, "fi_cq_sread with %d ms took %llu ms", ms,
			 (unsigned long long)took);
out:
	return ret;
}

static int take(struct cq_side *s, const void *ctx, int timeout)
{
	struct fi_cq_data_entry e;
	struct fct *t = s->l.t;
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, "a completion by fi_cq_sread");
	/* A wake-up without an entry is allowed (fi_cq(3)); the deadline is not. */
	while ((n = fi_cq_sread(s->l.rxcq, &e, 1, NULL, timeout)) == -FI_EAGAIN) {
		FCT_DO(fct_wait_check(&w));
	}
	if (n == -FI_EAVAIL)
		return fct_cq_fail(t, s->l.rxcq, "a completion by fi_cq_sread");
	FCT_CALL(t, n);
	FCT_EQ(t, n, 1);
	FCT_TRUE(t, e.op_context == ctx);
	ret = 0;
out:
	return ret;
}

/*
 * Messages received and sends completed so far; a message may come in before the own send
 * is complete.
 */
struct count {
	unsigned int sent, received;
};

/* One more entry in the CQ, by whatever way of sleeping. */
typedef int (*sleep_fn)(struct cq_side *s, struct fi_cq_data_entry *e);

static int until(struct cq_side *s, struct count *c, unsigned int sent,
		 unsigned int received, sleep_fn await)
{
	struct fi_cq_data_entry e;
	int ret;

	while (c->sent < sent || c->received < received) {
		ret = await(s, &e);
		if (ret)
			return ret;
		if (e.op_context == &s->ctx[0])
			c->received++;
		else
			c->sent++;
	}
	return 0;
}

/* The receive of a round is posted before the message that asks for it goes out. */
static int round_trips(struct cq_side *s, sleep_fn await)
{
	struct count c = {.sent = 0};
	struct fct *t = s->l.t;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client(t)) {
			FCT_DO(fct_cq_post_send(s, 1));
			FCT_DO(until(s, &c, i + 1, i + 1, await));
			FCT_DO(fct_cq_post_recv(s, 0));
		} else {
			FCT_DO(until(s, &c, i, i + 1, await));
			FCT_DO(fct_cq_post_recv(s, 0));
			FCT_DO(fct_cq_post_send(s, 1));
		}
	}
	ret = until(s, &c, ROUNDS, ROUNDS, await);
out:
	return ret;
}

static int sleep_sread(struct cq_side *s, struct fi_cq_data_entry *e)
{
	struct fct *t = s->l.t;
	struct fct_wait w;
	uint64_t start;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, "a completion by fi_cq_sread");
	for (;;) {
		start = fct_now_ms();
		n = fi_cq_sread(s->l.rxcq, e, 1, NULL, NAP_MS * (int)t->scale);
		if (n == 1)
			return 0;
		if (n != -FI_EAGAIN)
			return n == -FI_EAVAIL
				       ? fct_cq_fail(t, s->l.rxcq, "a message")
				       : fct_fail_at(t, __FILE__, __LINE__,
						     "fi_cq_sread returned %zd (%s)", n,
						     fi_strerror((int)-n));
		if (fct_now_ms() - start >= (uint64_t)NAP_MS * t->scale &&
		    fi_cq_read(s->l.rxcq, e, 1) == 1)
			return fct_fail_at(t, __FILE__, __LINE__,
					   "fi_cq_sread slept %d ms beside a completion",
					   NAP_MS * (int)t->scale);
		FCT_DO(fct_wait_check(&w));
	}
out:
	return ret;
}

static int exchange_loop(struct fct *t, enum fi_wait_obj wait, sleep_fn await)
{
	struct cq_side s;
	int ret;

	FCT_DO(up(&s, t, wait, 1));
	if (fct_is_client(t))
		FCT_DO(fct_cq_post_recv(&s, 0));
	FCT_DO(fct_barrier(t, "both ready"));
	ret = round_trips(&s, await);
out:
	return fct_link_down(&s.l, ret);
}

int fct_cq_sread_loop(struct fct *t)
{
	return exchange_loop(t, FI_WAIT_UNSPEC, sleep_sread);
}

int fct_cq_sread_threshold(struct fct *t)
{
	struct fi_cq_attr attr = {.size = 64,
				  .format = FI_CQ_FORMAT_DATA,
				  .wait_obj = FI_WAIT_UNSPEC,
				  .wait_cond = FI_CQ_COND_THRESHOLD};
	struct fct_setup setup = {.caps = FI_MSG, .tx_size = 16, .rx_size = 16};
	struct fi_cq_data_entry e[8];
	struct fid_cq *cq = NULL;
	unsigned int i, got = 0;
	struct cq_side s;
	ssize_t n;
	int ret;

	FCT_DO(fct_link_open(&s.l, t, &setup));
	ret = fi_cq_open(s.l.domain, &attr, &cq, NULL);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP || ret == -FI_EINVAL) {
		ret = fct_skip(t, "FI_CQ_COND_THRESHOLD: %s", fi_strerror(-ret));
		goto out;
	}
	FCT_CALL(t, ret);
	s.l.cqs[s.l.n_cqs++] = cq;
	s.l.c.rxcq = cq;
	FCT_DO(fct_conn_up(&s.l, &s.l.c));
	FCT_DO(fct_mem_alloc(&s.l, &s.m, 64 * CQ_LEN, FI_SEND | FI_RECV));
	for (i = 0; fct_is_server(t) && i < 4; i++)
		FCT_DO(fct_cq_post_recv(&s, i));
	FCT_DO(fct_barrier(t, "receives posted"));
	for (i = 0; fct_is_client(t) && i < 4; i++)
		FCT_DO(fct_cq_post_send(&s, i));
	/* The condition is a hint: fewer entries may be returned, but all must come. */
	while (fct_is_server(t) && got < 4) {
		n = fi_cq_sread(cq, e, 8, (void *)(uintptr_t)4, 20000 * (int)t->scale);
		FCT_CALL(t, n);
		for (i = 0; i < (unsigned int)n; i++)
			FCT_TRUE(t, e[i].op_context == &s.ctx[got + i]);
		fct_note(t, "%zd entries", n);
		got += (unsigned int)n;
	}
	ret = fct_barrier(t, "received");
out:
	return fct_link_down(&s.l, ret);
}

struct sleeper {
	struct fid_cq *cq;
	atomic_bool done;
	ssize_t n;
};

static void *sleep_forever(void *arg)
{
	struct sleeper *z = arg;
	struct fi_cq_data_entry e;

	z->n = fi_cq_sread(z->cq, &e, 1, NULL, -1);
	atomic_store(&z->done, true);
	return NULL;
}

/* The thread still holds the CQ: nothing may be closed, so the process ends here. */
static void end_asleep(struct fct *t, const char *name)
{
	printf("not ok %s: %s: %s\n", name, fct_role_name(t), t->why);
	fflush(stdout);
	_exit(1);
}

static int receive_asleep(struct cq_side *s, struct sleeper *z)
{
	struct fct *t = s->l.t;
	struct fct_wait w;
	int ret;

	/* Whether it sleeps by then changes what is tested, not what comes out. */
	usleep(20000);
	FCT_DO(fct_conn_up(&s->l, &s->l.c));
	FCT_DO(fct_cq_post_recv(s, 0));
	FCT_DO(fct_barrier(t, "receive posted"));
	fct_wait_init(&w, t, "a thread in fi_cq_sread to have the message");
	while (!ret && !atomic_load(&z->done))
		ret = fct_wait_again(&w);
out:
	return ret;
}

/* The queue under a layer's may not be there yet when the thread falls asleep. */
int fct_cq_asleep_first(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_wait = FI_WAIT_UNSPEC};
	struct sleeper z = {.n = 0};
	struct cq_side s = {.l.t = t};
	pthread_t thread;
	int ret;

	FCT_DO(fct_link_open(&s.l, t, &setup));
	FCT_DO(fct_mem_alloc(&s.l, &s.m, CQ_LEN, FI_SEND | FI_RECV));
	if (fct_is_client(t)) {
		FCT_DO(fct_conn_up(&s.l, &s.l.c));
		FCT_DO(fct_barrier(t, "receive posted"));
		FCT_DO(fct_cq_post_send(&s, 0));
	} else {
		z.cq = s.l.rxcq;
		FCT_TRUE(t, !pthread_create(&thread, NULL, sleep_forever, &z));
		if (receive_asleep(&s, &z))
			end_asleep(t, "asleep_first");
		pthread_join(thread, NULL);
		FCT_EQ(t, z.n, 1);
	}
	ret = fct_barrier(t, "received");
out:
	return fct_link_down(&s.l, ret);
}

/* Looks that one signal may cost who only uses fi_trywait, poll and fi_cq_read. */
#define SIGNAL_LOOKS 10

/* As such a program does it; fails when it finds no rest. */
static int come_to_rest(struct cq_side *s)
{
	struct fid *fid = &s->l.rxcq->fid;
	struct pollfd pollfd = {.events = POLLIN};
	struct fct *t = s->l.t;
	struct fi_cq_data_entry e;
	int i, ret;

	FCT_CALL(t, fi_control(fid, FI_GETWAIT, &pollfd.fd));
	for (i = 0; i < SIGNAL_LOOKS; i++) {
		FCT_ERR(t, fi_cq_read(s->l.rxcq, &e, 1), -FI_EAGAIN);
		ret = fi_trywait(s->l.fabric, &fid, 1);
		if (ret == -FI_EAGAIN)
			continue;
		FCT_CALL(t, ret);
		if (!poll(&pollfd, 1, 0))
			return 0;
	}
	FCT_FAIL(t, "fi_trywait or poll still says so after %d looks", i);
out:
	return ret;
}

int fct_cq_signal_fd(struct fct *t)
{
	struct pollfd pollfd = {.events = POLLIN};
	struct cq_side s;
	int i, ret;

	FCT_DO(up(&s, t, FI_WAIT_FD, 0));
	FCT_CALL(t, fi_control(&s.l.rxcq->fid, FI_GETWAIT, &pollfd.fd));
	for (i = 0; i < 3; i++) {
		FCT_DO(come_to_rest(&s));
		ret = fi_cq_signal(s.l.rxcq);
		if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP) {
			ret = fct_skip(t, "fi_cq_signal: %s", fi_strerror(-ret));
			goto out;
		}
		FCT_CALL(t, ret);
		FCT_EQ(t, poll(&pollfd, 1, (int)(20000 * t->scale)), 1);
	}
	FCT_DO(come_to_rest(&s));
	ret = fct_barrier(t, "at rest");
out:
	return fct_link_down(&s.l, ret);
}

/* After fi_trywait the descriptor tells of the next completion. */
static int sleep_fd_once(struct cq_side *s, int fd)
{
	struct fid *fids[] = {&s->l.rxcq->fid};
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	struct fct *t = s->l.t;
	int ret;

	ret = fi_trywait(s->l.fabric, fids, 1);
	if (ret == -FI_EAGAIN)
		return 0;
	FCT_CALL(t, ret);
	ret = poll(&pfd, 1, NAP_MS * (int)t->scale);
	if (ret < 0)
		FCT_FAIL(t, "poll failed");
out:
	return ret;
}

static int epoll_fd = -1;

static int sleep_epoll(struct cq_side *s, struct fi_cq_data_entry *e)
{
	struct fid *fids[] = {&s->l.rxcq->fid};
	struct epoll_event ev;
	struct fct *t = s->l.t;
	struct fct_wait w;
	ssize_t n;
	int ready, ret;

	fct_wait_init(&w, t, "a completion by epoll");
	for (;;) {
		n = fi_cq_read(s->l.rxcq, e, 1);
		if (n == 1)
			return 0;
		if (n == -FI_EAVAIL)
			return fct_cq_fail(t, s->l.rxcq, "a message");
		if (n != -FI_EAGAIN)
			FCT_FAIL(t, "fi_cq_read returned %zd", n);
		ret = fi_trywait(s->l.fabric, fids, 1);
		if (ret == -FI_EAGAIN)
			continue;
		FCT_CALL(t, ret);
		ready = epoll_wait(epoll_fd, &ev, 1, NAP_MS * (int)t->scale);
		if (ready)
			continue;
		if (fi_cq_read(s->l.rxcq, e, 1) == 1)
			FCT_FAIL(t,
				 "epoll slept %d ms beside a completion: a wake-up was "
				 "lost",
				 NAP_MS * (int)t->scale);
		FCT_DO(fct_wait_check(&w));
	}
out:
	return ret;
}

int fct_cq_fd_loop(struct fct *t)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct cq_side s;
	int fd = -1, ret;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	FCT_DO(up(&s, t, FI_WAIT_FD, 1));
	FCT_CALL(t, fi_control(&s.l.rxcq->fid, FI_GETWAIT, &fd));
	FCT_TRUE(t, !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev));
	if (fct_is_client(t))
		FCT_DO(fct_cq_post_recv(&s, 0));
	FCT_DO(fct_barrier(t, "both ready"));
	ret = round_trips(&s, sleep_epoll);
out:
	close(epoll_fd);
	return fct_link_down(&s.l, ret);
}
