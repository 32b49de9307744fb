/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signs of life of an endpoint's host, where its program need not give any: over tcp the
 * kernel there acknowledges also what a program that computes, or stands still, does not
 * read. With nothing to acknowledge it is asked by keep-alive probes, which end the
 * connection by themselves; with data outstanding it has to answer what is sent again, or
 * probes of a window that is full.
 */
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "inside.h"

/* So often nothing was acknowledged: one may be lost. */
#define HOST_UNANSWERED 2

struct host_ends {
	union crn_addr own, peer;
};

static bool same(const union crn_addr *a, const union crn_addr *b)
{
	return a->sa.sa_family == b->sa.sa_family && crn_addr_len(&a->sa) &&
	       crn_addr_same_host(&a->sa, &b->sa) &&
	       crn_addr_port(&a->sa) == crn_addr_port(&b->sa);
}

static bool is_between(int fd, const void *what)
{
	const struct host_ends *ends = what;
	union crn_addr addr = {.ss = {.ss_family = AF_UNSPEC}};
	socklen_t len = sizeof(addr);

	if (getsockname(fd, &addr.sa, &len) || !same(&addr, &ends->own))
		return false;
	len = sizeof(addr);
	return !getpeername(fd, &addr.sa, &len) && same(&addr, &ends->peer);
}

static bool ends_of(const struct rte_peer_inside *in, struct host_ends *ends)
{
	size_t own = sizeof(ends->own), peer = sizeof(ends->peer);

	*ends = (struct host_ends){0};
	return !fi_getname(&in->ep->fid, &ends->own, &own) &&
	       !fi_getpeer(in->ep, &ends->peer, &peer);
}

/* Whole seconds, one at least, between probes, of which the last one is unanswered when
 * the time is over. */
static void ask_when_idle(int fd, uint64_t ms, uint32_t probes)
{
	const int on = 1, count = (int)probes;
	const int pause = (int)CRN_MAX(ms / ((uint64_t)(probes + 1) * 1000), 1u);

	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof(pause));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof(pause));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

bool host_begin(struct rte_peer *peer)
{
	const struct rte_config_routing *routing = peer->port->attr.routing;
	struct rte_peer_inside *in = peer->in;
	struct host_ends ends;

	in->socket = socket_below(peer->port) && ends_of(in, &ends)
			     ? socket_find(is_between, &ends)
			     : -1;
	if (in->socket < 0)
		return false;
	ask_when_idle(in->socket, (uint64_t)routing->heartbeat * routing->heartbeat_loss,
		      routing->heartbeat_loss);
	return true;
}

bool host_gone(const struct rte_peer *peer)
{
	const struct rte_config_routing *routing = peer->port->attr.routing;
	const uint64_t ms = (uint64_t)routing->heartbeat * routing->heartbeat_loss;
	struct tcp_info info;
	struct host_ends ends;
	socklen_t len = sizeof(info);

	if (getsockopt(peer->in->socket, IPPROTO_TCP, TCP_INFO, &info, &len) ||
	    info.tcpi_last_ack_recv < ms ||
	    CRN_MAX(info.tcpi_retransmits, info.tcpi_probes) < HOST_UNANSWERED)
		return false;
	/* The provider may have closed it, and somebody has the number now. */
	return ends_of(peer->in, &ends) && is_between(peer->in->socket, &ends);
}
