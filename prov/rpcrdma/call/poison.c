/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that broke a connection: memory that the peer offered could not be reached. It
 * may connect again and repeat the Call, which is answered with ERR_CHUNK then rather
 * than tried again (RFC 8166 section 4.5.3). The last few of a domain are known, by XID
 * and the peer's host.
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

void rpr_poison_add(struct rpr_ep *ep, uint32_t xid)
{
	struct rpr_domain *domain = ep->domain;
	struct rpr_poison *poison = &domain->poison[domain->poisons % RPR_POISONS];

	crn_lock_assert_held(rpr_lock_of(ep));
	/* What fails later is of the same cause. */
	if (ep->state != RPR_EP_UP || !poison_peer(ep, &poison->host))
		return;
	poison->xid = xid;
	poison->used = true;
	domain->poisons++;
}

bool rpr_poison_take(struct rpr_ep *ep, uint32_t xid)
{
	struct rpr_domain *domain = ep->domain;
	struct rpr_poison *poison;
	struct in6_addr host;

	for (poison = domain->poison; poison < domain->poison + RPR_POISONS; poison++) {
		if (!poison->used || poison->xid != xid || !poison_peer(ep, &host) ||
		    memcmp(&poison->host, &host, sizeof(host)) != 0)
			continue;
		poison->used = false;
		return true;
	}
	return false;
}
