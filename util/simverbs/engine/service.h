/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service thread: deadlines while nobody polls, the death of peers, and messages of
 * the connection manager. Started when it is first needed; a process that only
 * communicates with itself, without latency, has none.
 */
#ifndef SVB_ENGINE_SERVICE_H
#define SVB_ENGINE_SERVICE_H

#include <stdint.h>

struct svb_seg;

/* Called in the service thread when fd is readable. */
typedef void (*svb_service_fn)(int fd, void *arg);

/* Called in the service thread when the process of that token has ended. */
typedef void (*svb_death_fn)(uint32_t token, void *arg);

/* Starts the thread if it does not run. Returns 0 or an errno; 0 when settings.threads is
 * off. */
int svb_service_start(void);

/* Watches a descriptor, starting the thread. Returns 0 or an errno. Unwatch waits for a
 * call under way unless made by it. */
int svb_service_watch(int fd, svb_service_fn fn, void *arg);
void svb_service_unwatch(int fd);

/* Tells of the death of every watched peer from now on. At most 4. Returns 0 or ENOSPC.
 */
int svb_service_on_death(svb_death_fn fn, void *arg);

/* Watches the process that has this index now; starts the thread. Returns 0 or an
 * errno. */
int svb_service_watch_peer(uint32_t index);

/* The thread of that process, if it has one, is to look no more than a millisecond after
 * the deadline (ns, CLOCK_MONOTONIC), which seg->next_deadline says. */
void svb_service_deadline(const struct svb_seg *seg, uint64_t deadline);

/* Ends the thread, if any, or gives up after a second. */
void svb_service_stop(void);

/* Around a fork: nothing is half done when it happens; the child forgets the thread. */
void svb_service_hold(void);
void svb_service_let_go(void);
void svb_service_forget(void);

#endif
