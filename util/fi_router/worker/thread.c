/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of workers, and how the main thread holds them. */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <cairn/thread.h>

#include "worker.h"

/* Taken at once. */
#define EVENTS 16
/* ms between looks while the router ends. */
#define END_LOOK 10

/* --- One thread --- */

static void all_fired(struct frt_worker *worker)
{
	uint32_t i;

	for (i = 0; i < worker->node->devices; i++)
		frt_port_fired(&worker->node->device[i]->at[worker->index]);
}

/* In its turn. What was waited for may be of devices that the main thread has freed
 * since: then it has woken this one. */
static void take_events(struct frt_worker *worker, const struct epoll_event *events,
			int count)
{
	uint64_t wakes;
	ssize_t ret;
	int i;

	if (worker->woken) {
		ret = read(worker->wake, &wakes, sizeof(wakes));
		(void)ret;
		worker->woken = false;
		all_fired(worker);
		return;
	}
	for (i = 0; i < count; i++)
		if (events[i].data.ptr)
			frt_port_fired(events[i].data.ptr);
}

/* ms to wait for events; -1: as long as nothing happens. */
static int work(struct frt_worker *worker)
{
	const size_t done = frt_worker_turn(worker);

	if (frt_worker_goes_on(worker, done) || !frt_worker_may_sleep(worker))
		return 0;
	return worker->node->stopping ? END_LOOK : -1;
}

static void *run(void *arg)
{
	struct frt_worker *worker = arg;
	struct epoll_event events[EVENTS];
	int count = 0, timeout;
	bool quits = false;

	while (!quits) {
		frt_turnstile_enter(&worker->turnstile);
		take_events(worker, events, count);
		timeout = work(worker);
		quits = worker->quits;
		frt_turnstile_leave(&worker->turnstile);
		if (!quits)
			count = epoll_wait(worker->epfd, events, EVENTS, timeout);
	}
	return NULL;
}

/* --- All of them --- */

int frt_workers_start(struct frt_node *node, uint64_t busy)
{
	struct frt_worker *worker;
	uint32_t i;
	int ret;

	/* The main thread holds all others while it looks for work. */
	if (node->workers == 1)
		node->worker[0]->busy = busy;
	frt_workers_hold(node);
	for (i = 1; i < node->workers; i++) {
		worker = node->worker[i];
		worker->busy = busy;
		frt_worker_wake(worker);
		ret = crn_thread_create(&worker->thread, run, worker);
		if (ret)
			return -ret;
		worker->runs = true;
	}
	return 0;
}

void frt_workers_join(struct frt_node *node)
{
	uint32_t i;

	for (i = 1; i < node->workers; i++)
		node->worker[i]->quits = true;
	frt_workers_wake(node);
	frt_workers_release(node);
	for (i = 1; i < node->workers; i++) {
		if (node->worker[i]->runs)
			pthread_join(node->worker[i]->thread, NULL);
		node->worker[i]->runs = false;
	}
}

void frt_workers_hold(struct frt_node *node)
{
	uint32_t i;

	for (i = 1; i < node->workers; i++)
		frt_turnstile_enter(&node->worker[i]->turnstile);
}

void frt_workers_release(struct frt_node *node)
{
	uint32_t i;

	for (i = 1; i < node->workers; i++)
		frt_turnstile_leave(&node->worker[i]->turnstile);
}

void frt_worker_wake(struct frt_worker *worker)
{
	const uint64_t one = 1;

	if (!worker->index || worker->woken)
		return;
	worker->woken = true;
	if (write(worker->wake, &one, sizeof(one)) < 0)
		worker->woken = false; /* It cannot: the counter is far from full. */
}

void frt_workers_wake(struct frt_node *node)
{
	uint32_t i;

	for (i = 1; i < node->workers; i++)
		frt_worker_wake(node->worker[i]);
}
