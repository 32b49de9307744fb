/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which addresses the user wants: the GID index and the partition of a connection follow
 * from its address.
 */
#include <arpa/inet.h>
#include <string.h>
#include "device.h"
#include "internal.h"

/* Membership in a partition is not part of its number (IB specification 1.7, 10.9.1). */
#define PVB_PKEY_NUMBER 0x7fff

void pvb_gid_of_addr(const struct sockaddr *sa, uint8_t *gid)
{
	memset(gid, 0, 16);
	if (sa->sa_family == AF_INET6) {
		memcpy(gid, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr,
		       16);
		return;
	}
	gid[10] = 0xff;
	gid[11] = 0xff;
	memcpy(&gid[12], &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
}

static bool pvb_path_gid_wanted(const struct rdma_cm_id *id)
{
	const union ibv_gid *own = &id->route.addr.addr.ibaddr.sgid;
	union ibv_gid gid, mapped;

	if (pvb_params.gid_index < 0)
		return true;
	/* An entry that is not in use is zero. */
	if (ibv_query_gid(id->verbs, id->port_num, pvb_params.gid_index, &gid) ||
	    (!gid.global.subnet_prefix && !gid.global.interface_id))
		return false;
	pvb_gid_of_addr(&id->route.addr.src_addr, mapped.raw);
	return !memcmp(&gid, own, sizeof(gid)) || !memcmp(&gid, &mapped, sizeof(gid));
}

bool pvb_path_wanted(const struct rdma_cm_id *id)
{
	const int pkey = ntohs(id->route.addr.addr.ibaddr.pkey);

	if (pvb_params.pkey && ((pkey ^ pvb_params.pkey) & PVB_PKEY_NUMBER))
		return false;
	return pvb_path_gid_wanted(id);
}
