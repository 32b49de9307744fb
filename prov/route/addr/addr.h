/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of the provider: where an endpoint is, as FI_SOCKADDR_IN6, and what else a
 * program may write in its place. All functions are thread safe.
 *
 *	0  fd, 'r', 't'		so that no address of a network looks like it
 *	3  transport		enum rte_transport
 *	4  AS, 8 subnet, 12 host, each 4 bytes in network order
 *
 * and the port in sin6_port.
 */
#ifndef RTE_ADDR_H
#define RTE_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cairn/addr.h>
#include "config/config.h"
#include "peer/peer.h"
#include "wire/wire.h"

/* ---- pack.c ---- */

void rte_addr_pack(const struct rte_end *end, struct sockaddr_in6 *addr);
bool rte_addr_is_routed(const struct sockaddr *addr);
/* False: it is an address of another kind. */
bool rte_addr_parse(const struct sockaddr *addr, struct rte_end *end);
/* Host and port, for the lower provider. */
void rte_addr_lower(const struct rte_end *end, union crn_addr *addr);
/* Whether both are on the same subnet. */
static inline bool rte_addr_near(const struct rte_end *a, const struct rte_end *b)
{
	return a->as == b->as && a->subnet == b->subnet;
}

/* ---- place.c: from other addresses ---- */

/* How a device sees addresses. */
struct rte_addr_view {
	const struct rte_config *config;
	struct rte_end own;  /* of the device, port 0 */
	struct in_addr mask; /* of the network of own.host */
};

/*
 * Of a device whose net is open: its own IPv4 address is that of the lower provider, or
 * the one from which its first router is reached. 0, or -FI_ENODATA: it has none.
 */
int rte_addr_see(const struct rte_config *config, const struct rte_net *net,
		 struct rte_addr_view *view);
/*
 * Where an address is: routed ones say so, others are looked up in the configuration's
 * prefixes; then an address of the device's own network, or of this host, is on its
 * subnet. 0; -FI_EHOSTUNREACH: nobody knows; -FI_EADDRNOTAVAIL: it is of no kind that can
 * be (IPv6).
 */
int rte_addr_place(const struct rte_addr_view *view, const struct sockaddr *addr,
		   struct rte_end *end);
/* The same of an address as text, "fi_route://...", "cci://...", "tcp://...". Names are
 * resolved. -FI_EINVAL: it is none. */
int rte_addr_text(const struct rte_addr_view *view, const char *text,
		  struct rte_end *end);
/* Whether a program that names this address as its own means this device; end: what is
 * the device's own, with the port. */
bool rte_addr_own(const struct rte_addr_view *view, const struct sockaddr *addr,
		  struct rte_end *end);

#endif
