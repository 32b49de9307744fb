/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of its own, for the target of durable operations: a program that waits for
 * nothing reads no completion queue. The thread handles what peers ask and takes note of
 * answers; completions it leaves to the program.
 */
#include <poll.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include "control.h"

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
