/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric's tcp accepts a connection before anything is received over it, and waits for
 * its first bytes without a deadline. So hosts that connect and send nothing could take
 * all descriptors. The kernel keeps a connection until it has data, for a time; what is
 * accepted then and has still sent less than a preamble is shut down, which libfabric's
 * tcp takes for the end of the connection.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "inside.h"

/* s for which the kernel keeps a connection without data. */
#define MUTE_DEFER 10
/* enum of the kernel's states, which linux/tcp.h has not. */
#define MUTE_ESTABLISHED 1
#define MUTE_CLOSE_WAIT 8

void mute_defer(int fd)
{
	const int s = MUTE_DEFER;

	setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &s, sizeof(s));
}

struct mute {
	const union crn_addr *at;
	uint32_t ms;
	/* Results. */
	uint32_t *count;
	union crn_addr *last;
};

static bool is_any(const union crn_addr *addr)
{
	return addr->sa.sa_family == AF_INET6
		       ? IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr)
		       : addr->in.sin_addr.s_addr == htonl(INADDR_ANY);
}

/* A connection that was accepted at that address. */
static bool is_accepted(int fd, const union crn_addr *at)
{
	union crn_addr addr = {.ss = {.ss_family = AF_UNSPEC}};
	socklen_t len = sizeof(addr);
	int listens = 1;

	if (getsockname(fd, &addr.sa, &len) || !crn_addr_len(&addr.sa) ||
	    crn_addr_port(&addr.sa) != crn_addr_port(&at->sa) ||
	    !(is_any(at) || crn_addr_same_host(&addr.sa, &at->sa)))
		return false;
	len = sizeof(listens);
	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && !listens;
}

static bool is_mute(int fd, uint32_t ms)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	       (info.tcpi_state == MUTE_ESTABLISHED ||
		info.tcpi_state == MUTE_CLOSE_WAIT) &&
	       info.tcpi_bytes_received < RTE_PREAMBLE_LEN &&
	       info.tcpi_last_data_recv >= ms;
}

/* Of socket_find, which goes on. */
static bool shut_down(int fd, const void *what)
{
	const struct mute *mute = what;
	socklen_t len = sizeof(*mute->last);

	if (!is_accepted(fd, mute->at) || !is_mute(fd, mute->ms))
		return false;
	if (!getpeername(fd, &mute->last->sa, &len))
		++*mute->count;
	shutdown(fd, SHUT_RDWR);
	return false;
}

uint32_t rte_listener_sweep(struct rte_listener *listener, uint32_t ms,
			    union crn_addr *last)
{
	union crn_addr at;
	uint32_t count = 0;
	const struct mute mute = {&at, ms, &count, last};

	if (socket_below(listener->port) && !rte_listener_name(listener, &at))
		socket_find(shut_down, &mute);
	return count;
}
