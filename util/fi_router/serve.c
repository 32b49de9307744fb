/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "control/control.h"
#include "device/device.h"
#include "log.h"
#include "lookup.h"
#include "notify.h"
#include "reload.h"
#include "serve.h"
#include "worker/worker.h"

/* ms after SIGTERM. */
#define END_MOST 1000u
/* ms between looks meanwhile. */
#define END_LOOK 10
/* Turns with work in a row after which signals are looked for. */
#define TURNS 256u
/* Taken at once. */
#define EVENTS 16

/* --- Signals --- */

static void stop(struct frt_serve *serve)
{
	struct frt_node *node = serve->node;
	uint32_t i;

	frt_log(FRT_INFO, "it ends: others are told");
	frt_notify("STOPPING=1");
	serve->ends = crn_now_ms() + END_MOST;
	node->stopping = true;
	for (i = 0; i < node->devices; i++)
		node->transit->device_gone(node, node->device[i], FI_ESHUTDOWN);
	frt_workers_wake(node);
	frt_sync_bye(node, crn_now_ms());
}

static void stop_by_signal(struct frt_serve *serve)
{
	if (serve->signalled) {
		frt_log(FRT_WARN, "the second signal: it ends at once");
		_exit(1);
	}
	serve->signalled = true;
	if (!serve->ends)
		stop(serve);
}

static void reload(struct frt_serve *serve)
{
	char state[64];

	if (serve->node->stopping)
		return;
	/* systemd.service(5), Type=notify-reload. */
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 frt_worker_now() / 1000);
	frt_notify(state);
	frt_reload(serve->node);
	frt_notify("READY=1");
}

static void take_signals(struct frt_serve *serve)
{
	struct signalfd_siginfo info;

	while (read(serve->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(serve);
		else
			stop_by_signal(serve);
	}
}

/* --- Turns --- */

static size_t turn(struct frt_serve *serve)
{
	struct frt_node *node = serve->node;
	size_t work = frt_worker_turn(node->worker[0]);

	/* What has arrived is handed over before time passes for rte_sync. */
	if (node->failed)
		frt_devices_look(node);
	frt_lookups_run(node);
	if (node->leave && !serve->ends)
		stop(serve);
	if (node->moved || node->changed || node->retarget || node->stopping)
		frt_sync_turn(node, crn_now_ms());
	return work;
}

/* Those who ask. True: there is more to do at once. */
static bool answer(struct frt_serve *serve)
{
	const bool more = frt_control_run(serve->control);

	return frt_metrics_run(serve->metrics) || more;
}

/* Who looks for work before it sleeps looks for these now and then. */
static bool goes_on(struct frt_serve *serve, size_t work)
{
	if (!frt_worker_goes_on(serve->node->worker[0], work))
		return false;
	if (serve->node->worker[0]->turns % TURNS == 0) {
		take_signals(serve);
		answer(serve);
	}
	return true;
}

/* --- What it sleeps on --- */

static bool may_sleep(struct frt_serve *serve)
{
	const struct frt_node *node = serve->node;

	return frt_worker_may_sleep(node->worker[0]) && !node->moved && !node->changed &&
	       !node->retarget && !node->failed;
}

/* The others work meanwhile, and only then. */
static int sleep_on(struct frt_node *node, struct epoll_event *events, int timeout)
{
	int count;

	frt_workers_release(node);
	count = epoll_wait(node->epfd, events, EVENTS, timeout);
	frt_workers_hold(node);
	return count;
}

/* A worker has: what for is found in the node. */
static void nudged(struct frt_node *node)
{
	uint64_t count;

	if (read(node->nudge, &count, sizeof(count)) < 0)
		frt_log(FRT_DEBUG, "nobody has nudged: %s", strerror(errno));
}

/* Those at which something has happened, also while others keep it busy. */
static void wait_for_work(struct frt_serve *serve, int timeout)
{
	struct epoll_event events[EVENTS];
	int count = sleep_on(serve->node, events, timeout), i;
	bool signals = false;

	for (i = 0; i < count; i++) {
		/* Whatever else wakes the loop may be somebody who asks. */
		if (!events[i].data.ptr)
			serve->asked = true;
		else if (events[i].data.ptr == serve)
			signals = true;
		else if (events[i].data.ptr == serve->node)
			nudged(serve->node);
		else
			frt_port_fired(events[i].data.ptr);
	}
	if (signals)
		take_signals(serve);
}

static bool lingers(const struct rte_port *port)
{
	return port && !crn_list_empty(&port->zombies);
}

/* Everything that was to be sent is, or nobody takes it any more. */
static bool is_over(const struct frt_serve *serve)
{
	const struct frt_node *node = serve->node;
	uint32_t i, k;

	if (!serve->ends)
		return false;
	if (crn_now_ms() >= serve->ends)
		return true;
	if (!frt_sync_silent(node))
		return false;
	for (i = 0; i < node->devices; i++)
		for (k = 0; k < node->workers; k++)
			if (lingers(node->device[i]->at[k].port))
				return false;
	return true;
}

void frt_serve(struct frt_serve *serve)
{
	while (!is_over(serve)) {
		if (goes_on(serve, turn(serve)))
			continue;
		if (!may_sleep(serve) || serve->asked)
			wait_for_work(serve, 0);
		else
			wait_for_work(serve, serve->ends ? END_LOOK : -1);
		if (serve->asked)
			serve->asked = answer(serve);
	}
}

/* --- Begin and end --- */

/* who: serve for signals, the node for nudges; NULL: to be woken is enough. */
static int watch(struct frt_serve *serve, int fd, void *who)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = who};

	return epoll_ctl(serve->node->epfd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int frt_serve_open(struct frt_serve *serve, struct frt_node *node)
{
	sigset_t set;
	int ret;

	*serve = (struct frt_serve){.node = node, .signals = -1};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	node->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (node->epfd >= 0)
		serve->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	node->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (serve->signals < 0 || node->nudge < 0)
		return -errno;
	ret = frt_lookups_open(node);
	if (!ret)
		ret = watch(serve, node->wake, NULL);
	if (!ret)
		ret = watch(serve, node->nudge, node);
	if (!ret)
		ret = watch(serve, serve->signals, serve);
	return ret ? ret : watch(serve, node->deadlines.fd, NULL);
}

void frt_serve_close(struct frt_serve *serve)
{
	frt_lookups_close(serve->node);
	frt_node_reserve_drop(serve->node);
	if (serve->signals >= 0)
		close(serve->signals);
	if (serve->node->nudge >= 0)
		close(serve->node->nudge);
	if (serve->node->epfd >= 0)
		close(serve->node->epfd);
	serve->signals = serve->node->nudge = serve->node->epfd = -1;
}
