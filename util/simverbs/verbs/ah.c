/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ports.h"
#include "verbs.h"

SVB_API struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	const struct svb_port *port = svb_port_of(pd->context, attr->port_num);
	struct svb_ah *ah;

	/* There are no datagrams. */
	if (svb_self.iwarp) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!port || attr->sl > 15 ||
	    (attr->is_global && attr->grh.sgid_index >= port->gids) ||
	    (!attr->is_global && svb_self.settings.link != SVB_LINK_IB)) {
		errno = EINVAL;
		return NULL;
	}
	if (svb_removed_ctx(pd->context))
		return NULL;
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->attr = *attr;
	svb_pd_hold(pd);
	return &ah->ibv;
}

SVB_API int ibv_destroy_ah(struct ibv_ah *ah)
{
	svb_pd_drop(ah->pd);
	free(ah);
	return 0;
}

/* The GID that a datagram went to, for the answer to come from; of a group the first of
 * its type. */
static uint8_t svb_ah_source(const struct svb_port *port,
			     const struct svb_grh_route *route)
{
	uint32_t i, first = port->gids;

	for (i = 0; i < port->gids; i++) {
		if (port->gid_type[i] != route->type)
			continue;
		if (!memcmp(&port->gid[i], &route->dgid, sizeof(route->dgid)))
			return (uint8_t)i;
		if (first == port->gids)
			first = i;
	}
	return (uint8_t)(first < port->gids ? first : 0);
}

/* The answer goes where the datagram came from, and comes from where that went. */
SVB_API int ibv_init_ah_from_wc(struct ibv_context *ctx, uint8_t port_num,
				struct ibv_wc *wc, struct ibv_grh *grh,
				struct ibv_ah_attr *attr)
{
	const struct svb_port *port = svb_port_of(ctx, port_num);
	struct svb_grh_route route;

	if (!port) {
		errno = EINVAL;
		return -1;
	}
	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	if (!svb_grh_read(&route, grh, port->gid_types)) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	attr->is_global = 1;
	attr->grh.dgid = route.sgid;
	attr->grh.sgid_index = svb_ah_source(port, &route);
	attr->grh.flow_label = route.flow_label;
	attr->grh.traffic_class = route.traffic_class;
	attr->grh.hop_limit = 0xff;
	return 0;
}

SVB_API struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					     struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}

SVB_API int ibv_resolve_eth_l2_from_gid(struct ibv_context *ctx, struct ibv_ah_attr *attr,
					uint8_t eth_mac[6], uint16_t *vid)
{
	const struct svb_port *port = svb_port_of_ah(attr);

	if (!port)
		return EHOSTUNREACH;
	memset(eth_mac, 0, 6);
	/* Locally administered; as little looked at as the devices have Ethernet. */
	eth_mac[0] = 2;
	eth_mac[5] = (uint8_t)port->index;
	*vid = 0xffff;
	return 0;
}
