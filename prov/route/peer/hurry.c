/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric's tcp (1.17) reads what a connecting socket says first with a blocking
 * recv(2): a header, then the data that the header announces. Who sends the one without
 * the other would stop everything here for as long as it likes. Sockets that are accepted
 * inherit the timeout of the one that listens; who has not sent all of it by then is
 * refused.
 */
#include <sys/socket.h>
#include <sys/time.h>
#include "inside.h"

/* us. Both go in one piece. Once a socket is a connection's it does not block. */
#define HURRY_WAIT 10000

static bool listens_at(int fd, const void *what)
{
	const union crn_addr *at = what;
	union crn_addr addr = {.ss = {.ss_family = AF_UNSPEC}};
	socklen_t len = sizeof(addr);
	int listens = 0;

	if (getsockname(fd, &addr.sa, &len) || addr.sa.sa_family != at->sa.sa_family)
		return false;
	len = sizeof(listens);
	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && listens &&
	       crn_addr_len(&at->sa) && crn_addr_same_host(&addr.sa, &at->sa) &&
	       crn_addr_port(&addr.sa) == crn_addr_port(&at->sa);
}

void listener_hurry(struct rte_listener *listener)
{
	const struct timeval wait = {.tv_usec = HURRY_WAIT};
	union crn_addr at;
	int fd;

	if (!socket_below(listener->port) || rte_listener_name(listener, &at))
		return;
	fd = socket_find(listens_at, &at);
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	mute_defer(fd);
}
