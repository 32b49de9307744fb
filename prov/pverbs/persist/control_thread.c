/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of its own, for the target of durable operations: a program that waits for
 * nothing reads no completion queue. The thread handles what peers ask and takes note of
 * answers; completions it leaves to the program.
 */
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include "control.h"

/* Looks for a doorbell that long before it sleeps, ns: the request was faster than the
 * data by some microseconds. */
#define PVB_BELL_LOOKS 200000

static int64_t pvb_bell_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pvb_bell_look(struct pvb_control *control)
{
	const int64_t end = pvb_bell_now() + PVB_BELL_LOOKS;

	while (atomic_load(&control->waiting) && pvb_bell_now() < end)
		pvb_control_progress(control);
}

static void *pvb_control_run(void *arg)
{
	struct pvb_control *control = arg;
	struct pollfd fds[] = {
		{.fd = control->stop, .events = POLLIN},
		{.fd = control->cq->wait.epfd, .events = POLLIN},
		{.fd = control->timer, .events = POLLIN},
	};

	do {
		pvb_control_arm(control);
		pvb_bell_look(control);
		poll(fds, CRN_COUNT(fds), -1);
	} while (!fds[0].revents);
	return NULL;
}

int pvb_control_thread_start(struct pvb_control *control)
{
	int ret;

	if (control->threaded)
		return 0;
	control->stop = eventfd(0, EFD_CLOEXEC);
	if (control->stop < 0)
		return pvb_errno();
	ret = -pthread_create(&control->thread, NULL, pvb_control_run, control);
	if (ret) {
		close(control->stop);
		return ret;
	}
	control->threaded = true;
	return 0;
}

void pvb_control_thread_stop(struct pvb_control *control)
{
	if (!control->threaded)
		return;
	eventfd_write(control->stop, 1);
	pthread_join(control->thread, NULL);
	close(control->stop);
	control->threaded = false;
}
