/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path between two queue pairs is what rdma_cm finds for their addresses. What a user
 * may want otherwise: other addresses (the GID index and the partition follow from the
 * address), a traffic class (told to the kernel), timers and a smaller MTU (set in the
 * queue pair), and not to talk RoCE of the wrong version.
 */
#include <arpa/inet.h>
#include <string.h>
#include "pverbs.h"

/* Membership in a partition is not part of its number (IB specification 1.7, 10.9.1). */
#define PVB_PKEY_NUMBER 0x7fff

/* The GID that an IP address has on RoCE (RFC 4291 section 2.5.5.2 for IPv4). */
static void pvb_path_gid(const struct sockaddr *sa, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (sa->sa_family == AF_INET6) {
		memcpy(gid->raw,
		       &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr,
		       sizeof(gid->raw));
		return;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], &((const struct sockaddr_in *)(const void *)sa)->sin_addr,
	       4);
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
	pvb_path_gid(&id->route.addr.src_addr, &mapped);
	return !memcmp(&gid, own, sizeof(gid)) || !memcmp(&gid, &mapped, sizeof(gid));
}

bool pvb_path_wanted(const struct rdma_cm_id *id)
{
	const int pkey = ntohs(id->route.addr.addr.ibaddr.pkey);

	if (pvb_params.pkey && ((pkey ^ pvb_params.pkey) & PVB_PKEY_NUMBER))
		return false;
	return pvb_path_gid_wanted(id);
}

/* The DiffServ field is the upper six bits of a traffic class (RFC 2474 section 3). */
static int pvb_path_tclass(const struct pvb_ep *ep)
{
	const uint32_t wishes[] = {ep->info->tx_attr->tclass, ep->domain_tclass};
	size_t i;

	for (i = 0; i < CRN_COUNT(wishes); i++) {
		if (wishes[i] & FI_TC_DSCP)
			return fi_tc_dscp_get(wishes[i]) << 2 & UINT8_MAX;
	}
	return pvb_params.traffic_class;
}

void pvb_path_option(const struct pvb_ep *ep, struct rdma_cm_id *id)
{
	int wanted = pvb_path_tclass(ep);
	uint8_t tos = (uint8_t)wanted;

	if (wanted >= 0 &&
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		PVB_WARN(FI_LOG_EP_CTRL, "traffic class %d is not set: %s\n", wanted,
			 fi_strerror(-pvb_errno()));
}

static enum ibv_mtu pvb_path_mtu(enum ibv_mtu found)
{
	enum ibv_mtu mtu = found;

	while (pvb_params.path_mtu && mtu > IBV_MTU_256 &&
	       128 << (int)mtu > pvb_params.path_mtu)
		mtu--;
	return mtu;
}

void pvb_path_attr(struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_PATH_MTU)
		attr->path_mtu = pvb_path_mtu(attr->path_mtu);
	if ((mask & IBV_QP_MIN_RNR_TIMER) && pvb_params.rnr_timer >= 0)
		attr->min_rnr_timer = (uint8_t)pvb_params.rnr_timer;
	if ((mask & IBV_QP_TIMEOUT) && pvb_params.ack_timeout >= 0)
		attr->timeout = (uint8_t)pvb_params.ack_timeout;
}

int pvb_path_check(const struct pvb_ep *ep, const struct ibv_qp_attr *attr, int mask)
{
	struct ibv_gid_entry entry;
	int version;

	if (!pvb_params.roce_version || !(mask & IBV_QP_AV) || !attr->ah_attr.is_global)
		return 0;
	if (ibv_query_gid_ex(ep->domain->verbs, attr->ah_attr.port_num,
			     attr->ah_attr.grh.sgid_index, &entry, 0) ||
	    entry.gid_type == IBV_GID_TYPE_IB)
		return 0;
	version = entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? 1 : 2;
	if (version == pvb_params.roce_version)
		return 0;
	PVB_WARN(FI_LOG_EP_CTRL,
		 "%s port %u: rdma_cm chose RoCE version %d, FI_PVERBS_ROCE_VERSION is "
		 "%d; "
		 "the system's choice is default_roce_mode of the device in configfs "
		 "(cma_roce_mode of rdma-core sets it)\n",
		 pvb_domain_device(ep->domain), attr->ah_attr.port_num, version,
		 pvb_params.roce_version);
	return -FI_EHOSTUNREACH;
}
