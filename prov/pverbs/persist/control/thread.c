/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Automatic progress for the target of durable operations, whose program may never read
 * a completion queue. The thread executes requests of peers and handles answers; it
 * leaves completions to the program.
 */
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <cairn/thread.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/persist.h"
#include "control.h"
#include "internal.h"

/* How long it polls a sequence word before it sleeps, ns: the request arrives some
 * microseconds before the data. */
#define PVB_SEQ_WORD_LOOKS 200000

static int64_t pvb_seq_word_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pvb_seq_word_look(struct pvb_control *control)
{
	int64_t end;

	/* Once: a sequence word that is not on its way by then is left to the timer. */
	if (!atomic_exchange(&control->fresh, false))
		return;
	end = pvb_seq_word_now() + PVB_SEQ_WORD_LOOKS;
	while (atomic_load(&control->waiting) && pvb_seq_word_now() < end)
		pvb_control_progress(control);
}

/* Releases the lock between two pieces. */
static void pvb_turns_finish(struct pvb_control *control)
{
	while (atomic_load(&control->runnable) && !atomic_load(&control->stopping))
		pvb_control_progress(control);
}

static void *pvb_control_run(void *arg)
{
	struct pvb_control *control = arg;
	struct pollfd fds[] = {
		{.fd = control->kick, .events = POLLIN},
		{.fd = control->cq->wait.epfd, .events = POLLIN},
		{.fd = control->timer, .events = POLLIN},
	};
	eventfd_t kicks;

	for (;;) {
		/* First: the kick that is taken here may be the last. */
		eventfd_read(control->kick, &kicks);
		if (atomic_load(&control->stopping))
			break;
		pvb_async_progress(control->domain);
		/* The device was removed: there are no peers to serve, and its
		 * descriptors stay readable. */
		if (pvb_removed(control->domain))
			break;
		pvb_control_arm(control);
		pvb_seq_word_look(control);
		pvb_turns_finish(control);
		poll(fds, CRN_COUNT(fds), -1);
	}
	return NULL;
}

static void pvb_control_thread_kick(struct pvb_control *control)
{
	eventfd_write(control->kick, 1);
}

int pvb_control_thread_start(struct pvb_control *control)
{
	int ret;

	if (control->threaded)
		return 0;
	control->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control->kick < 0)
		return pvb_errno();
	ret = -crn_thread_create(&control->thread, pvb_control_run, control);
	if (ret) {
		close(control->kick);
		return ret;
	}
	control->threaded = true;
	return 0;
}

void pvb_control_thread_stop(struct pvb_control *control)
{
	if (!control->threaded)
		return;
	atomic_store(&control->stopping, true);
	pvb_control_thread_kick(control);
	pthread_join(control->thread, NULL);
	close(control->kick);
	control->threaded = false;
}

void pvb_control_thread_pass(struct pvb_control *control)
{
	if (!pthread_equal(pthread_self(), control->thread))
		pvb_control_thread_kick(control);
}
