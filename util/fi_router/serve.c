/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
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

/* ms after SIGTERM. */
#define END_MOST 1000u
/* ms between looks meanwhile. */
#define END_LOOK 10
/* Turns with work in a row after which signals are looked for. */
#define TURNS 256u
/* Taken at once. */
#define EVENTS 16

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- Signals --- */

static void stop(struct frt_serve *serve)
{
	struct frt_node *node = serve->node;
	uint32_t i;

	if (serve->ends) {
		frt_log(FRT_WARN, "the second signal: it ends at once");
		_exit(1);
	}
	frt_log(FRT_INFO, "it ends: others are told");
	frt_notify("STOPPING=1");
	serve->ends = crn_now_ms() + END_MOST;
	node->stopping = true;
	for (i = 0; i < node->devices; i++)
		node->transit->device_gone(node, node->device[i], FI_ESHUTDOWN);
	frt_sync_bye(node, crn_now_ms());
}

static void reload(struct frt_serve *serve)
{
	char state[64];

	if (serve->node->stopping)
		return;
	/* systemd.service(5), Type=notify-reload. */
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 now_ns() / 1000);
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
			stop(serve);
	}
}

/* --- Turns --- */

/* A device at which nothing has happened for so many turns is looked at less often while
 * others are busy: each look is a system call or two. */
#define QUIET 64u
#define QUIET_LOOK 16u

/* How much there was to do. */
static size_t progress(struct frt_device *device)
{
	ssize_t ret;

	device->fired = false;
	if (!device->port)
		return 0;
	ret = rte_port_progress(device->port);
	if (ret < 0)
		frt_device_failed(device, (int)ret);
	device->quiet = ret ? 0 : device->quiet + 1;
	return ret != 0;
}

static size_t turn(struct frt_serve *serve)
{
	struct frt_node *node = serve->node;
	size_t work = 0;
	uint32_t i;

	serve->turns++;
	for (i = 0; i < node->devices; i++)
		if (node->device[i]->fired)
			work += progress(node->device[i]);
	/* What has arrived is handed over before time passes for rte_sync. */
	work += crn_deadlines_run(&node->deadlines);
	frt_lookups_run(node);
	if (node->moved || node->changed || node->retarget || node->stopping)
		frt_sync_turn(node, crn_now_ms());
	return work;
}

/* --- Who looks before it sleeps --- */

static void look_at_all(struct frt_serve *serve)
{
	struct frt_node *node = serve->node;
	struct frt_device *device;
	uint32_t i;

	for (i = 0; i < node->devices; i++) {
		device = node->device[i];
		device->fired = device->quiet <= QUIET || serve->turns % QUIET_LOOK == 0;
	}
}

/* Is there to be another turn at once? */
static bool goes_on(struct frt_serve *serve, size_t work)
{
	if (!serve->busy)
		return false;
	if (work)
		serve->last = now_ns();
	else if (now_ns() - serve->last >= serve->busy)
		return false;
	else
		sched_yield(); /* What it waits for may need this processor. */
	if (serve->turns % TURNS == 0) {
		take_signals(serve);
		frt_control_run(serve->control);
	}
	look_at_all(serve);
	return true;
}

/* --- Who sleeps --- */

/* Devices with something to do count as fired, all others can be waited for. */
static bool may_sleep(struct frt_serve *serve)
{
	const struct frt_node *node = serve->node;
	struct frt_device *device;
	bool may = !node->moved && !node->changed && !node->retarget;
	uint32_t i;

	for (i = 0; i < node->devices; i++) {
		device = node->device[i];
		device->fired = device->port && rte_port_trywait(device->port);
		may = may && !device->fired;
		/* What closes lingers, of which no descriptor tells. */
		device->fired |= serve->ends != 0;
	}
	return may;
}

/* Those at which something has happened, also while others keep it busy. */
static void wait_for_work(struct frt_serve *serve, int timeout)
{
	struct epoll_event events[EVENTS];
	struct frt_device *device;
	int count = epoll_wait(serve->node->epfd, events, EVENTS, timeout), i;
	bool signals = false;

	for (i = 0; i < count; i++) {
		device = events[i].data.ptr;
		signals |= events[i].data.ptr == serve;
		/* Whatever else wakes the loop may be somebody who asks. */
		serve->asked |= !device;
		if (!device || events[i].data.ptr == serve)
			continue;
		device->fired = true;
		device->quiet = 0;
	}
	if (signals)
		take_signals(serve);
}

/* Everything that was to be sent is, or nobody takes it any more. */
static bool is_over(const struct frt_serve *serve)
{
	const struct frt_node *node = serve->node;
	uint32_t i;

	if (!serve->ends)
		return false;
	if (crn_now_ms() >= serve->ends)
		return true;
	if (!frt_sync_silent(node))
		return false;
	for (i = 0; i < node->devices; i++)
		if (node->device[i]->port &&
		    !crn_list_empty(&node->device[i]->port->zombies))
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
			serve->asked = frt_control_run(serve->control);
	}
}

/* --- Begin and end --- */

/* who: serve for signals; NULL: to be woken is enough. */
static int watch(struct frt_serve *serve, int fd, void *who)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = who};

	return epoll_ctl(serve->node->epfd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int frt_serve_open(struct frt_serve *serve, struct frt_node *node, uint32_t busy_us)
{
	sigset_t set;
	int ret;

	*serve = (struct frt_serve){.node = node,
				    .busy = (uint64_t)busy_us * 1000,
				    .signals = -1};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	node->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (node->epfd >= 0)
		serve->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (serve->signals < 0)
		return -errno;
	ret = frt_lookups_open(node);
	if (!ret)
		ret = watch(serve, node->wake, NULL);
	if (!ret)
		ret = watch(serve, serve->signals, serve);
	return ret ? ret : watch(serve, node->deadlines.fd, NULL);
}

void frt_serve_close(struct frt_serve *serve)
{
	frt_lookups_close(serve->node);
	if (serve->signals >= 0)
		close(serve->signals);
	if (serve->node->epfd >= 0)
		close(serve->node->epfd);
	serve->signals = serve->node->epfd = -1;
}
