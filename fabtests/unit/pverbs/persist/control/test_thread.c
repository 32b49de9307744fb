/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread of a target whose program reads nothing, and its end. */
#include <poll.h>
#include <sys/eventfd.h>
#include "../durable.h"
#include "persist/control/internal.h"

static _Atomic int kick = -1; /* the thread's next read of it waits for another's write */

int __real_eventfd_read(int fd, eventfd_t *value);
int __wrap_eventfd_read(int fd, eventfd_t *value);

int __wrap_eventfd_read(int fd, eventfd_t *value)
{
	struct pollfd written = {.fd = fd, .events = POLLIN};

	if (atomic_load(&kick) == fd) {
		poll(&written, 1, -1);
		atomic_store(&kick, -1);
	}
	return __real_eventfd_read(fd, value);
}

CT_FIXTURE(control_thread, struct durable, durable_start, durable_close);

CT_TEST_F(control_thread, one_that_takes_the_kick_of_its_end_ends)
{
	struct pvb_control *control;

	control = t->control_qp->control;
	CT_ASSERT_EQ(pvb_control_thread_start(control), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	atomic_store(&kick, control->kick);
	/* It begins another turn, and stands before its read of the kick. */
	crn_wait_signal(&control->cq->wait);
	CT_EXPECT_SOON(ct_waits() == 2 && ct_waiting() == 1);
	pvb_control_thread_stop(control);
	CT_EXPECT_EQ(atomic_load(&kick), -1);
	CT_EXPECT_FALSE(control->threaded);
}
