/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting for something at a connection. One of the threads that wait sleeps in poll(2)
 * and moves the connection on for all; the others sleep on the condition until it is
 * over for them, or until they are to be the one.
 */
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include "conn.h"

#define NS 1000000000L
#define NS_OF_MS 1000000L

void crpc_deadline(struct timespec *until, int64_t ms)
{
	clock_gettime(CLOCK_MONOTONIC, until);
	if (ms < 0 || ms > INT_MAX) {
		until->tv_sec = INT_MAX;
		return;
	}
	until->tv_sec += ms / 1000;
	until->tv_nsec += ms % 1000 * NS_OF_MS;
	if (until->tv_nsec >= NS) {
		until->tv_sec++;
		until->tv_nsec -= NS;
	}
}

int crpc_left(const struct timespec *until)
{
	struct timespec now;
	int64_t ns;

	if (until->tv_sec == INT_MAX)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (until->tv_sec - now.tv_sec) * NS + until->tv_nsec - now.tv_nsec;
	/* Rounded up, for one that sleeps less looks again and again. */
	return ns <= 0 ? 0 : (int)((ns + NS_OF_MS - 1) / NS_OF_MS);
}

void crpc_wake(struct fi_rpc *conn)
{
	pthread_cond_broadcast(&conn->moved);
	if (conn->driven)
		eventfd_write(conn->kick, 1);
}

static void wait_drive(struct fi_rpc *conn, const struct timespec *until)
{
	struct pollfd fds[] = {
		{.fd = conn->cq_fd, .events = POLLIN},
		{.fd = conn->eq_fd, .events = POLLIN},
		{.fd = conn->kick, .events = POLLIN},
	};
	eventfd_t kicks;

	conn->driven = true;
	pthread_mutex_unlock(&conn->lock);
	poll(fds, 3, crpc_left(until));
	pthread_mutex_lock(&conn->lock);
	conn->driven = false;
	eventfd_read(conn->kick, &kicks);
	crpc_progress(conn);
}

bool crpc_wait(struct fi_rpc *conn, bool (*over)(struct fi_rpc *conn, void *arg),
	       void *arg, const struct timespec *until, bool serve)
{
	bool is_over;

	crpc_progress(conn);
	/* The time is over also where the peer always has another Call. */
	while (!(is_over = over(conn, arg)) && crpc_left(until)) {
		if (serve && crpc_svc_serve(conn))
			continue;
		if (conn->driven)
			pthread_cond_timedwait(&conn->moved, &conn->lock, until);
		else
			wait_drive(conn, until);
	}
	/* Somebody else is to drive. */
	if (!conn->driven)
		pthread_cond_broadcast(&conn->moved);
	return is_over;
}
