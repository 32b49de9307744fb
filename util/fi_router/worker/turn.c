/* SPDX-License-Identifier: BSD-2-Clause */
/* One turn: what the main thread's loop and those of workers have in common. */
#include <sched.h>
#include <time.h>

#include "worker.h"

/* A port at which nothing has happened for so many turns is looked at less often while
 * others are busy: each look is a system call or two. */
#define QUIET 64u
#define QUIET_LOOK 16u

uint64_t frt_worker_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct frt_port *port_of(const struct frt_worker *worker, uint32_t device)
{
	return &worker->node->device[device]->at[worker->index];
}

/* How much there was to do. */
static size_t progress(struct frt_port *port)
{
	ssize_t ret;

	port->fired = false;
	if (!port->port || port->failed)
		return 0;
	ret = rte_port_progress(port->port);
	if (ret < 0) {
		port->failed = (int)-ret;
		frt_node_failed(port->worker->node);
	}
	port->quiet = ret ? 0 : port->quiet + 1;
	return ret != 0;
}

size_t frt_worker_turn(struct frt_worker *worker)
{
	const struct frt_node *node = worker->node;
	size_t work = 0;
	uint32_t i;

	worker->turns++;
	for (i = 0; i < node->devices; i++)
		if (port_of(worker, i)->fired)
			work += progress(port_of(worker, i));
	return work + crn_deadlines_run(worker->deadlines);
}

static void look_at_all(struct frt_worker *worker)
{
	struct frt_port *port;
	uint32_t i;

	for (i = 0; i < worker->node->devices; i++) {
		port = port_of(worker, i);
		port->fired = port->quiet <= QUIET || worker->turns % QUIET_LOOK == 0;
	}
}

bool frt_worker_goes_on(struct frt_worker *worker, size_t work)
{
	if (!worker->busy)
		return false;
	if (work)
		worker->last = frt_worker_now();
	else if (frt_worker_now() - worker->last >= worker->busy)
		return false;
	else
		sched_yield(); /* What it waits for may need this processor. */
	look_at_all(worker);
	return true;
}

bool frt_worker_may_sleep(struct frt_worker *worker)
{
	const struct frt_node *node = worker->node;
	struct frt_port *port;
	bool may = true;
	uint32_t i;

	for (i = 0; i < node->devices; i++) {
		port = port_of(worker, i);
		port->fired = port->port && rte_port_trywait(port->port);
		may = may && !port->fired;
		/* What closes lingers, of which no descriptor tells. */
		port->fired |= node->stopping;
	}
	return may;
}
