/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wait objects of event queues, completion queues and counters (fi_eq(3), fi_cq(3)).
 *
 * FI_WAIT_UNSPEC and FI_WAIT_FD are an epoll descriptor: it watches one eventfd for
 * crn_wait_signal, and the descriptors of devices or of the lower provider.
 * FI_WAIT_POLLFD (fi_poll(3)) is a list with that descriptor as its one entry, which
 * never changes. FI_WAIT_NONE has no descriptor; other wait objects are refused.
 *
 * What a layer waits for (a lower completion queue, a lower event queue, its deadlines)
 * are sources: descriptors, some of which report an event only once they are armed.
 * crn_wait_arm arms all of them, for fi_trywait.
 *
 * All functions are thread safe against each other except init and fini.
 */
#ifndef CRN_WAIT_H
#define CRN_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_eq.h>
#include <cairn/list.h>
#include <cairn/lock.h>

struct crn_wait {
	enum fi_wait_obj obj;	 /* FI_WAIT_NONE, FI_WAIT_FD or FI_WAIT_POLLFD */
	int epfd;		 /* given to the application, closed by fini; -1: none */
	int evfd;		 /* software signal, inside epfd; -1: none */
	struct crn_lock lock;	 /* guards sources; held while they are armed */
	struct crn_list sources; /* of struct crn_wait_source */
};

/*
 * What a wait object waits for; its owner embeds it, once for each wait object, and sets
 * fd and arm before crn_wait_add. All zero is a source of no wait object.
 */
struct crn_wait_source {
	int fd; /* readable when there is something; its owner closes it after removal */
	/*
	 * As fi_trywait(3): 0 when fd becomes readable with whatever comes from now on,
	 * -FI_EAGAIN when something is there, or another code. Called in any thread, and
	 * by one at a time for each wait object; must neither add nor remove sources of
	 * that object, nor wait for a lock under which another thread does. NULL: fd is
	 * readable for as long as there is something.
	 */
	int (*arm)(struct crn_wait_source *source);
	struct crn_wait *wait; /* that it was added to; NULL: none */
	bool paused;	       /* crn_wait_pause */
	struct crn_list entry;
};

/* A source made of an object of another provider, or of a layer's own. */
struct crn_wait_lower {
	struct crn_wait_source source;
	struct fid_fabric *fabric;
	struct fid *fid;
};

/* A source that is another wait object: ready when that one is. */
struct crn_wait_inner {
	struct crn_wait_source source;
	struct crn_wait *inner;
};

/*
 * wait_obj is the application's wish: UNSPEC and FD become FD. Errors: -FI_ENOSYS for a
 * wait object that is not offered, -FI_EMFILE and the like when descriptors run out.
 */
int crn_wait_init(struct crn_wait *wait, enum fi_wait_obj wait_obj);
/* Sources that are left are removed. */
void crn_wait_fini(struct crn_wait *wait);

/*
 * Adds a source. 0, or -errno (-EEXIST: its descriptor is watched already), after which
 * it is a source of no wait object. With FI_WAIT_NONE nothing is added: 0.
 */
int crn_wait_add(struct crn_wait *wait, struct crn_wait_source *source);

/*
 * Removes a source from the wait object that it was added to, if any. Its arm is not
 * running when this returns, and is not called again.
 */
void crn_wait_remove(struct crn_wait_source *source);

/*
 * Until crn_wait_resume the source neither makes the wait object readable nor is armed:
 * what it has cannot be taken. Who sleeps is not armed for it after that: wake it.
 * Nothing for a source of no wait object.
 */
void crn_wait_pause(struct crn_wait_source *source);
void crn_wait_resume(struct crn_wait_source *source);

/*
 * crn_wait_add for a queue or counter of the fabric that was opened with a wait object:
 * its descriptor is what FI_GETWAIT gives, fi_trywait arms it. Also what these two
 * return. Removed with crn_wait_remove(&lower->source).
 */
int crn_wait_add_lower(struct crn_wait *wait, struct crn_wait_lower *lower,
		       struct fid_fabric *fabric, struct fid *fid);

/*
 * crn_wait_add for a wait object with a descriptor, which outlives the source: sources
 * that many wait objects share are added to one inner object, which is added to each of
 * the others.
 * -FI_EINVAL: inner has FI_WAIT_NONE. The outer object may be inside no inner one.
 */
int crn_wait_add_inner(struct crn_wait *wait, struct crn_wait_inner *node,
		       struct crn_wait *inner);

/*
 * Arms the sources, for fi_trywait after the object's owner has looked whether there is
 * something to read: 0 when each of them is armed, otherwise what the first that is not
 * returned: with -FI_EAGAIN there is progress to be made before anybody blocks. 0 with
 * FI_WAIT_NONE.
 */
int crn_wait_arm(struct crn_wait *wait);

/* Adds or removes a descriptor to be watched for reading, which needs no arming and no
 * memory. add: 0 or -errno. With FI_WAIT_NONE both do nothing. */
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
 * fi_control on the owning object: FI_GETWAIT (int *, or struct fi_wait_pollfd * with
 * FI_WAIT_POLLFD: -FI_ETOOSMALL when it has room for no entry; -FI_ENODATA with
 * FI_WAIT_NONE) and FI_GETWAITOBJ (enum fi_wait_obj *). Other commands: -FI_ENOSYS.
 */
int crn_wait_control(struct crn_wait *wait, int command, void *arg);

/* Milliseconds of CLOCK_MONOTONIC, for deadlines. */
uint64_t crn_now_ms(void);
/* The same, of the kernel's last tick (1 to 10 ms ago), which costs a fraction. */
uint64_t crn_tick_ms(void);

/*
 * What is left of timeout_ms (negative: no limit) since start_ms, for a wait that is
 * entered again: negative for no limit, otherwise >= 0.
 */
int crn_timeout_left(uint64_t start_ms, int timeout_ms);

#endif
