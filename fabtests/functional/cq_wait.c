/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking on a completion queue. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fct_op.h"

#define LEN 64u
#define ROUNDS 2000u
/* A sleep this long in a loop of round trips is a lost wake-up. Where the machine stood
 * still the completion may come just when it ends: not for so long. */
#define NAP_MS 15000

/*
 * Messages received and sends completed so far; a message may come in before the own send
 * is complete.
 */
struct count {
	unsigned int sent, received;
};

/* One more entry in the CQ, by whatever way of sleeping. */
typedef int (*sleep_fn)(struct fct_parts *s, struct fi_cq_data_entry *e);

static int until(struct fct_parts *s, struct count *c, unsigned int sent,
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
static int round_trips(struct fct_parts *s, sleep_fn await)
{
	struct count c = {.sent = 0};
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client()) {
			FCT_DO(fct_part_post(s, FCT_SEND, 1, 0));
			FCT_DO(until(s, &c, i + 1, i + 1, await));
			FCT_DO(fct_part_post(s, FCT_RECV, 0, 0));
		} else {
			FCT_DO(until(s, &c, i, i + 1, await));
			FCT_DO(fct_part_post(s, FCT_RECV, 0, 0));
			FCT_DO(fct_part_post(s, FCT_SEND, 1, 0));
		}
	}
	return until(s, &c, ROUNDS, ROUNDS, await);
}

static int sleep_sread(struct fct_parts *s, struct fi_cq_data_entry *e)
{
	struct fct_wait w;
	uint64_t start;
	ssize_t n;

	fct_wait_init(&w, "a completion by fi_cq_sread");
	for (;;) {
		start = fct_now_ms();
		n = fi_cq_sread(s->l.rxcq, e, 1, NULL, NAP_MS * (int)fct.scale);
		if (n == 1)
			return 0;
		if (n != -FI_EAGAIN)
			return n == -FI_EAVAIL
				       ? fct_cq_fail(s->l.rxcq, "a message")
				       : fct_fail_at(__FILE__, __LINE__,
						     "fi_cq_sread returned %zd (%s)", n,
						     fi_strerror((int)-n));
		if (fct_now_ms() - start >= (uint64_t)NAP_MS * fct.scale &&
		    fi_cq_read(s->l.rxcq, e, 1) == 1)
			return fct_fail_at(__FILE__, __LINE__,
					   "fi_cq_sread slept %d ms beside a completion",
					   NAP_MS * (int)fct.scale);
		FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

static int exchange_loop(enum fi_wait_obj wait, sleep_fn await)
{
	const struct fct_setup setup = {.caps = FI_MSG, .cq_wait = wait};
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};

	FCT_DO(fct_parts_up(&s, &setup, LEN, 2, 1));
	if (fct_is_client())
		FCT_DO(fct_part_post(&s, FCT_RECV, 0, 0));
	FCT_DO(fct_barrier("both ready"));
	return round_trips(&s, await);
}

FCT_CASE_CALL(sread_loop, "thousands of round trips by fi_cq_sread",
	      exchange_loop(FI_WAIT_UNSPEC, sleep_sread))

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
static void end_asleep(const char *name)
{
	printf("not ok %s: %s: %s\n", name, fct_role_name(), fct.why);
	fflush(stdout);
	_exit(1);
}

static int receive_asleep(struct fct_parts *s, struct sleeper *z)
{
	/* Whether it sleeps by then changes what is tested, not what comes out. */
	usleep(20000);
	FCT_DO(fct_conn_up(&s->l, &s->l.c));
	FCT_DO(fct_part_post(s, FCT_RECV, 0, 0));
	FCT_DO(fct_barrier("receive posted"));
	FCT_WAIT_WHILE(!atomic_load(&z->done),
		       "a thread in fi_cq_sread to have the message", 0);
	return 0;
}

/* The queue under a layer's may not be there yet when the thread falls asleep. */
FCT_CASE(asleep_first, "a thread sleeps before its first endpoint is enabled")
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_wait = FI_WAIT_UNSPEC};
	struct sleeper z = {.n = 0};
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	pthread_t thread;

	FCT_DO(fct_link_open(&s.l, &setup));
	FCT_DO(fct_parts_alloc(&s, LEN, 1));
	if (fct_is_client()) {
		FCT_DO(fct_conn_up(&s.l, &s.l.c));
		FCT_DO(fct_barrier("receive posted"));
		FCT_DO(fct_part_post(&s, FCT_SEND, 0, 0));
	} else {
		z.cq = s.l.rxcq;
		FCT_TRUE(!pthread_create(&thread, NULL, sleep_forever, &z));
		if (receive_asleep(&s, &z))
			end_asleep("asleep_first");
		pthread_join(thread, NULL);
		FCT_EQ(z.n, 1);
	}
	return fct_barrier("received");
}

static int epoll_fd = -1;

static int sleep_epoll(struct fct_parts *s, struct fi_cq_data_entry *e)
{
	struct fid *fids[] = {&s->l.rxcq->fid};
	struct epoll_event ev;
	struct fct_wait w;
	ssize_t n;
	int ready, ret;

	fct_wait_init(&w, "a completion by epoll");
	for (;;) {
		n = fi_cq_read(s->l.rxcq, e, 1);
		if (n == 1)
			return 0;
		if (n == -FI_EAVAIL)
			return fct_cq_fail(s->l.rxcq, "a message");
		if (n != -FI_EAGAIN)
			FCT_FAIL("fi_cq_read returned %zd", n);
		ret = fi_trywait(s->l.fabric, fids, 1);
		if (ret == -FI_EAGAIN)
			continue;
		FCT_CALL(ret);
		ready = epoll_wait(epoll_fd, &ev, 1, NAP_MS * (int)fct.scale);
		if (ready)
			continue;
		if (fi_cq_read(s->l.rxcq, e, 1) == 1)
			FCT_FAIL("epoll slept %d ms beside a completion: a wake-up was "
				 "lost",
				 NAP_MS * (int)fct.scale);
		FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

FCT_CASE(fd_loop, "thousands of round trips by epoll and fi_trywait, no wake-up lost")
{
	const struct fct_setup setup = {.caps = FI_MSG, .cq_wait = FI_WAIT_FD};
	struct epoll_event ev = {.events = EPOLLIN};
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	int fd = -1, ret;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	FCT_DO(fct_parts_up(&s, &setup, LEN, 2, 1));
	FCT_CALL(fi_control(&s.l.rxcq->fid, FI_GETWAIT, &fd));
	FCT_TRUE(!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev));
	if (fct_is_client())
		FCT_DO(fct_part_post(&s, FCT_RECV, 0, 0));
	FCT_DO(fct_barrier("both ready"));
	ret = round_trips(&s, sleep_epoll);
	close(epoll_fd);
	return ret;
}
