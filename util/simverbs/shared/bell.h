/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bells: descriptors that another process can make readable.
 *
 * A bell is a Unix datagram socket bound to a file in the directory. The reason for a
 * ring is in shared memory and counted there; the datagram only wakes. So a surplus,
 * lost or garbage datagram does no harm. A bell is named by a number: the index of its
 * process and a serial; 0 names none.
 */
#ifndef SVB_SHARED_BELL_H
#define SVB_SHARED_BELL_H

#include <infiniband/verbs.h>
#include <stdint.h>

#define SVB_BELL_BITS 20
/* The serial of the service thread's bell. */
#define SVB_BELL_SERVICE 1u

static inline uint32_t svb_bell_name(uint32_t index, uint32_t serial)
{
	return index << SVB_BELL_BITS | serial;
}

/*
 * Opens a bell of this process, close-on-exec and blocking. serial 0 takes the next one.
 * Returns its descriptor and stores its name, or -1 with errno.
 */
int svb_bell_open(uint32_t serial, uint32_t *name);
void svb_bell_close(int fd, uint32_t name);

/* Makes a bell readable. Never blocks; a full queue means it is readable already. */
void svb_bell_ring(uint32_t name);

/*
 * Takes one ring, blocking unless the descriptor is non-blocking. Returns 0 or an errno
 * (EAGAIN, EINTR).
 */
int svb_bell_take(int fd);

/* Makes sure the bell is readable: for who took a ring and leaves something behind. */
void svb_bell_keep(int fd, uint32_t name);

/* Notes an asynchronous event in *events (1 << enum ibv_event_type) and rings the
 * context's bell. */
void svb_async_raise(uint32_t *events, uint32_t bell, enum ibv_event_type type);

/*
 * The sign that this process lives: a listening socket, which the system closes when it
 * ends or runs another program. Watch gives a descriptor that becomes readable then, or
 * -1 when the process of that index shows no sign.
 */
int svb_life_open(void);
int svb_life_watch(uint32_t index);

#endif
