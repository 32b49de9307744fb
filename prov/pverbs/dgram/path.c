/* SPDX-License-Identifier: BSD-2-Clause */
/* The port, GID and partition that datagrams leave from. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include "device/device.h"
#include "dgram.h"
#include "internal.h"

/* Membership in a partition is not part of its number (IB specification 1.7, 10.9.1). */
#define UD_PKEY_NUMBER 0x7fff

/* Higher is better; 0: not wanted. */
static int ud_gid_rank(const struct ibv_gid_entry *entry, int index)
{
	const int wanted = pvb_params.gid_index;
	int version;

	if (wanted >= 0 && wanted != index)
		return 0;
	if (entry->gid_type == IBV_GID_TYPE_IB)
		return 1;
	version = entry->gid_type == IBV_GID_TYPE_ROCE_V1 ? 1 : 2;
	if (pvb_params.roce_version && version != pvb_params.roce_version)
		return 0;
	return version;
}

/* The entry of the port's table that has the GID; of none, the first that is wanted. 0,
 * -FI_EADDRNOTAVAIL, or a shortage. */
static int ud_path_gid(struct ibv_context *verbs, const struct ibv_port_attr *port,
		       const struct pvb_ud_addr *src, struct pvb_ud_path *path)
{
	const bool any = pvb_ud_no_gid(src);
	struct ibv_gid_entry entry;
	int i, err, rank, best = 0;

	for (i = 0; i < port->gid_tbl_len; i++) {
		err = ibv_query_gid_ex(verbs, path->port, (uint32_t)i, &entry, 0);
		if (pvb_is_shortage(-err))
			return -err;
		if (err)
			continue;
		if (!any && memcmp(entry.gid.raw, src->gid, sizeof(src->gid)) != 0)
			continue;
		rank = ud_gid_rank(&entry, i);
		if (rank <= best)
			continue;
		best = rank;
		memcpy(path->addr.gid, entry.gid.raw, sizeof(path->addr.gid));
		path->sgid_index = (uint8_t)i;
	}
	return best ? 0 : -FI_EADDRNOTAVAIL;
}

/* FI_PVERBS_PKEY's entry, or src's, or the first: 0, -FI_EADDRNOTAVAIL, or a shortage. */
static int ud_path_pkey(struct ibv_context *verbs, const struct ibv_port_attr *port,
			const struct pvb_ud_addr *src, struct pvb_ud_path *path)
{
	const int wanted = pvb_params.pkey ? pvb_params.pkey : src->pkey;
	__be16 pkey;
	int i;

	for (i = 0; i < port->pkey_tbl_len; i++) {
		errno = 0;
		if (ibv_query_pkey(verbs, path->port, i, &pkey)) {
			if (pvb_is_shortage(-errno))
				return -errno;
			continue;
		}
		if (!pkey)
			continue;
		if (wanted && ((ntohs(pkey) ^ wanted) & UD_PKEY_NUMBER))
			continue;
		path->addr.pkey = ntohs(pkey);
		path->pkey_index = (uint16_t)i;
		return 0;
	}
	return -FI_EADDRNOTAVAIL;
}

int pvb_ud_path_port(struct ibv_context *verbs, uint8_t number,
		     const struct pvb_ud_addr *src, struct pvb_ud_path *path)
{
	struct ibv_port_attr port;
	int ret;

	memset(path, 0, sizeof(*path));
	path->port = number;
	ret = -ibv_query_port(verbs, number, &port);
	if (ret)
		return ret;
	ret = ud_path_gid(verbs, &port, src, path);
	if (!ret)
		ret = ud_path_pkey(verbs, &port, src, path);
	if (ret)
		return ret;
	if (port.state != IBV_PORT_ACTIVE)
		return -FI_ENETDOWN;
	path->ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	path->addr.lid = path->ethernet ? 0 : port.lid;
	path->addr.service = src->service;
	path->mtu = 128u << port.active_mtu;
	return 0;
}

int pvb_ud_path_find(struct ibv_context *verbs, const struct pvb_ud_addr *src,
		     struct pvb_ud_path *path)
{
	struct ibv_device_attr device;
	int found, ret = -ibv_query_device(verbs, &device);
	int port; /* a device may have 255 */

	if (ret)
		return ret;
	ret = -FI_EADDRNOTAVAIL;
	for (port = 1; port <= device.phys_port_cnt; port++) {
		found = pvb_ud_path_port(verbs, (uint8_t)port, src, path);
		if (!found || pvb_is_shortage(found))
			return found;
		if (found != -FI_EADDRNOTAVAIL)
			ret = found;
	}
	return ret;
}
