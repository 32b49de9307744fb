/* SPDX-License-Identifier: BSD-2-Clause */
/* Workers as objects: how many there are, and which one takes a connection. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "worker.h"

uint32_t frt_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CRN_MAX((uint32_t)CPU_COUNT(&set), 1u);
}

uint32_t frt_workers_wanted(const struct rte_config *config, uint32_t processors)
{
	uint32_t devices = 0, i;

	if (config->router.workers)
		return config->router.workers;
	for (i = 0; i < config->devices; i++)
		devices += config->device[i].routable;
	/* Workers that wait for each other's processors do not share them fairly. */
	processors = CRN_MAX(processors, 2u) - 1;
	return CRN_MAX(CRN_MIN(CRN_MIN(devices, processors), FRT_WORKERS_MAX), 1u);
}

/* --- Begin and end --- */

static int watch(struct frt_worker *worker, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	return epoll_ctl(worker->epfd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* What the main thread has of the loop's own. */
static int open_thread(struct frt_worker *worker)
{
	int ret = crn_deadlines_init(&worker->own);

	if (ret)
		return ret;
	worker->deadlines = &worker->own;
	worker->epfd = epoll_create1(EPOLL_CLOEXEC);
	worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->epfd < 0 || worker->wake < 0)
		return -errno;
	ret = watch(worker, worker->wake);
	return ret ? ret : watch(worker, worker->own.fd);
}

static int open_worker(struct frt_node *node)
{
	struct frt_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return -FI_ENOMEM;
	worker->node = node;
	worker->index = node->workers;
	worker->epfd = node->epfd;
	worker->wake = worker->own.fd = -1;
	worker->deadlines = &node->deadlines;
	frt_turnstile_init(&worker->turnstile);
	node->worker[node->workers++] = worker;
	return worker->index ? open_thread(worker) : 0;
}

int frt_workers_open(struct frt_node *node, uint32_t count)
{
	const uint32_t threads = count > 1 ? count : 0;
	int ret = crn_lock_init(&node->shared, threads);

	while (!ret && node->workers < 1 + threads)
		ret = open_worker(node);
	return ret;
}

static void close_worker(struct frt_worker *worker)
{
	if (worker->index) {
		if (worker->own.fd >= 0)
			crn_deadlines_fini(&worker->own);
		if (worker->wake >= 0)
			close(worker->wake);
		if (worker->epfd >= 0)
			close(worker->epfd);
	}
	frt_turnstile_fini(&worker->turnstile);
	free(worker);
}

void frt_workers_close(struct frt_node *node)
{
	while (node->workers)
		close_worker(node->worker[--node->workers]);
	crn_lock_fini(&node->shared);
}

/* --- Who takes a connection --- */

struct frt_worker *frt_worker_choose(const struct frt_node *node)
{
	struct frt_worker *best = node->worker[node->workers - 1];
	uint32_t i;

	for (i = node->workers - 1; i-- > 1;)
		if (node->worker[i]->connections <= best->connections)
			best = node->worker[i];
	return best;
}

uint32_t frt_workers_count(const struct frt_node *node)
{
	return CRN_MAX(node->workers, 2u) - 1;
}
