/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wait objects of event queues, completion queues and counters (fi_eq(3), fi_cq(3)).
 *
 * FI_WAIT_UNSPEC and FI_WAIT_FD are an epoll descriptor: it watches one eventfd for
 * what software signals and any descriptor that hardware or a lower layer signals.
 * FI_WAIT_NONE has no descriptor; other wait objects are refused.
 *
 * All functions are thread safe against each other except init and fini.
 */
#ifndef CRN_WAIT_H
#define CRN_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_eq.h>

struct crn_wait {
	enum fi_wait_obj obj; /* FI_WAIT_NONE or FI_WAIT_FD */
	int epfd;	      /* given to the application, closed by fini; -1: none */
	int evfd;	      /* software signal, inside epfd; -1: none */
};

/*
 * wait_obj is the application's wish: UNSPEC and FD become FD. Errors: -FI_ENOSYS for a
 * wait object that is not offered, -FI_EMFILE and the like when descriptors run out.
 */
int crn_wait_init(struct crn_wait *wait, enum fi_wait_obj wait_obj);
void crn_wait_fini(struct crn_wait *wait);

/* Adds or removes a descriptor to be watched for reading. add: 0 or -errno. With
 * FI_WAIT_NONE both do nothing. */
int crn_wait_add_fd(struct crn_wait *wait, int fd);
void crn_wait_del_fd(struct crn_wait *wait, int fd);

/* Makes the wait object readable until crn_wait_clear. Async-signal-unsafe, never blocks.
 */
void crn_wait_signal(struct crn_wait *wait);
void crn_wait_clear(struct crn_wait *wait);

/*
 * Blocks until the wait object is readable: 0 when it is, -FI_ETIMEDOUT after timeout_ms
 * (negative: no limit), -FI_EINTR when a signal was handled, -FI_ENOSYS with
 * FI_WAIT_NONE.
 */
int crn_wait_poll(struct crn_wait *wait, int timeout_ms);

/*
 * fi_control on the owning object: FI_GETWAIT (int *, -FI_ENODATA with FI_WAIT_NONE) and
 * FI_GETWAITOBJ (enum fi_wait_obj *). Other commands: -FI_ENOSYS.
 */
int crn_wait_control(struct crn_wait *wait, int command, void *arg);

/* Milliseconds of CLOCK_MONOTONIC, for deadlines. */
uint64_t crn_now_ms(void);

/*
 * What is left of timeout_ms (negative: no limit) since start_ms, for a wait that is
 * entered again: negative for no limit, otherwise >= 0.
 */
int crn_timeout_left(uint64_t start_ms, int timeout_ms);

#endif
