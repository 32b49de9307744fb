/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that broke a connection: the peer's memory refused what it was offered for, which
 * a link that was lost is not. The peer may connect again and repeat the Call, which is
 * answered with ERR_CHUNK then rather than tried again (RFC 8166 section 4.5.3). The last
 * few of a domain are known, by the peer's host, XID and the Call's begin; connections
 * that are older than the break, of another program of that host, are none of theirs.
 */
#include <string.h>
#include <netinet/in.h>
#include "call.h"

/* The part of an address that a host has on each connection. */
static void poison_host(const struct sockaddr_storage *addr, struct in6_addr *host)
{
	memset(host, 0, sizeof(*host));
	if (addr->ss_family == AF_INET)
		memcpy(host, &((const struct sockaddr_in *)addr)->sin_addr,
		       sizeof(struct in_addr));
	else if (addr->ss_family == AF_INET6)
		*host = ((const struct sockaddr_in6 *)addr)->sin6_addr;
}

/* False: the lower provider's addresses say nothing about hosts. */
static bool poison_peer(struct rpr_ep *ep, struct in6_addr *host)
{
	static const struct in6_addr none;
	struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
	size_t len = sizeof(addr);

	if (fi_getpeer(ep->lower, &addr, &len))
		return false;
	poison_host(&addr, host);
	return memcmp(host, &none, sizeof(none)) != 0;
}

void rpr_poison_add(const struct rpr_serve *serve)
{
	struct rpr_ep *ep = serve->arrival.ep;
	struct rpr_domain *domain = ep->domain;
	struct rpr_poison *poison = &domain->poison[domain->poisons % RPR_POISONS];

	crn_lock_assert_held(rpr_lock_of(ep));
	/* What fails later is of the same cause. */
	if (ep->state != RPR_EP_UP || !poison_peer(ep, &poison->host))
		return;
	poison->xid = serve->xid;
	memcpy(poison->begin, serve->begin, sizeof(poison->begin));
	poison->after = domain->endpoints;
	poison->used = true;
	domain->poisons++;
}

static bool poison_is(const struct rpr_poison *poison, const struct rpr_serve *serve)
{
	struct rpr_ep *ep = serve->arrival.ep;
	struct in6_addr host;

	return poison->used && poison->xid == serve->xid && poison->after <= ep->number &&
	       !memcmp(poison->begin, serve->begin, sizeof(poison->begin)) &&
	       poison_peer(ep, &host) && !memcmp(&poison->host, &host, sizeof(host));
}

bool rpr_poison_take(const struct rpr_serve *serve)
{
	struct rpr_domain *domain = serve->arrival.ep->domain;
	struct rpr_poison *poison;

	for (poison = domain->poison; poison < domain->poison + RPR_POISONS; poison++) {
		if (!poison_is(poison, serve))
			continue;
		poison->used = false;
		return true;
	}
	return false;
}
