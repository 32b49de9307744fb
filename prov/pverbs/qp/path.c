/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_cm finds the path between two queue pairs from their addresses. A user can
 * influence it by the choice of addresses (which determine the GID index and the
 * partition), a traffic class (passed to the kernel), timers and a smaller MTU (set in
 * the queue pair), and a required RoCE version.
 */
#include <string.h>
#include "device/device.h"
#include "qp.h"

/* The DiffServ field is the upper six bits of a traffic class (RFC 2474 section 3). */
static int pvb_path_tclass(const struct pvb_ep *ep)
{
	if (ep->attr.tclass & FI_TC_DSCP)
		return fi_tc_dscp_get(ep->attr.tclass) << 2 & UINT8_MAX;
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

int pvb_path_check(const struct pvb_domain *domain, const struct ibv_qp_attr *attr,
		   int mask)
{
	struct ibv_gid_entry entry;
	int version;

	if (!pvb_params.roce_version || !(mask & IBV_QP_AV) || !attr->ah_attr.is_global)
		return 0;
	if (ibv_query_gid_ex(domain->verbs, attr->ah_attr.port_num,
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
		 pvb_domain_device(domain), attr->ah_attr.port_num, version,
		 pvb_params.roce_version);
	return -FI_EHOSTUNREACH;
}
