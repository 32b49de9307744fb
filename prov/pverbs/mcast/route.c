/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an endpoint sends what is for a group, which may change at any moment. */
#include <stdlib.h>
#include "dgram/dgram.h"
#include "internal.h"

/* IB specification 1.7, section 10.5.2: the destination of all multicast. No queue pair
 * has that number. */
#define MC_QPN 0xffffffu

static int mc_peer(const struct pvb_mc *mc, const struct pvb_mc_to *to,
		   struct pvb_ud_peer *peer)
{
	struct pvb_domain *domain = mc->ep->domain;
	struct ibv_ah_attr attr = to->ah;

	attr.port_num = domain->ud->path.port;
	if (domain->ud->path.ethernet && pvb_params.traffic_class >= 0)
		attr.grh.traffic_class = (uint8_t)pvb_params.traffic_class;
	return -pvb_ah_get_attr(domain, &attr, MC_QPN, to->qkey, peer);
}

/* ah NULL: it is another's. */
static void mc_peer_put(const struct pvb_mc *mc, struct pvb_ud_peer *peer)
{
	if (peer->ah)
		pvb_ah_put(mc->ep->domain, peer);
}

static void mc_route_free(const struct pvb_mc *mc, struct pvb_mc_route *route)
{
	mc_peer_put(mc, &route->peer);
	mc_peer_put(mc, &route->copy);
	free(route);
}

static bool mc_same_peer(const struct pvb_ud_peer *a, const struct pvb_ud_peer *b)
{
	return a->handle == b->handle && a->qkey == b->qkey;
}

static bool mc_same_route(const struct pvb_mc_route *a, const struct pvb_mc_route *b)
{
	return a->drops == b->drops && a->max == b->max &&
	       mc_same_peer(&a->peer, &b->peer) && mc_same_peer(&a->copy, &b->copy);
}

/* Takes the route over. Handles are of the cache, so one that comes again is the same,
 * and there are no more routes than places that the group was at. */
static void mc_route_set(struct pvb_mc *mc, struct pvb_mc_route *route)
{
	struct pvb_mc_route *old = mc->routes;

	route->plain = !route->drops && !route->copy.handle;
	route->max = mc->mtu ? mc->mtu : UINT32_MAX;
	route->plain_max = route->plain ? route->max : 0;
	while (old && !mc_same_route(old, route))
		old = old->next;
	if (old) {
		mc_route_free(mc, route);
		route = old;
	} else {
		route->next = mc->routes;
		mc->routes = route;
	}
	atomic_store(&pvb_mc_slot_at(mc->ep, mc->addr)->route, route);
}

int pvb_mc_route_to(struct pvb_mc *mc, const struct pvb_mc_to *to,
		    const struct pvb_mc_to *copy)
{
	struct pvb_mc_route *route = calloc(1, sizeof(*route));
	int err;

	crn_mutex_assert_held(&mc->ep->eq->cm_lock);
	if (!route)
		return FI_ENOMEM;
	err = mc_peer(mc, to, &route->peer);
	if (!err && copy)
		err = mc_peer(mc, copy, &route->copy);
	if (err)
		mc_route_free(mc, route);
	else
		mc_route_set(mc, route);
	return err;
}

int pvb_mc_route_drop(struct pvb_mc *mc)
{
	struct pvb_mc_route *route = calloc(1, sizeof(*route));

	crn_mutex_assert_held(&mc->ep->eq->cm_lock);
	if (!route)
		return FI_ENOMEM;
	/* At its own port, so that nothing leaves that. */
	route->peer = mc->ep->dgram->self;
	route->peer.qpn = MC_QPN;
	route->peer.ah = NULL;
	route->drops = true;
	mc_route_set(mc, route);
	return 0;
}

void pvb_mc_route_none(struct pvb_mc *mc)
{
	crn_mutex_assert_held(&mc->ep->eq->cm_lock);
	atomic_store(&pvb_mc_slot_at(mc->ep, mc->addr)->route, NULL);
}

void pvb_mc_routes_put(struct pvb_mc *mc)
{
	const bool any = mc->routes;
	struct pvb_mc_route *route;

	while ((route = mc->routes)) {
		mc->routes = route->next;
		mc_route_free(mc, route);
	}
	if (any)
		pvb_ahs_sweep(mc->ep->domain);
}
