/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of events, ports of ids, ECE options. */
#include <arpa/inet.h>
#include <errno.h>
#include "cm.h"

SVB_API const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
		[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
		[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
		[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
		[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
		[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
		[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
		[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
		[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
		[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
		[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
		[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
		[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
		[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
		[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
		[SVB_CM_EVENT_ADDRINFO_RESOLVED] = "RDMA_CM_EVENT_ADDRINFO_RESOLVED",
		[SVB_CM_EVENT_ADDRINFO_ERROR] = "RDMA_CM_EVENT_ADDRINFO_ERROR",
	};

	return (unsigned int)event < sizeof(names) / sizeof(names[0]) ? names[event]
								      : "UNKNOWN EVENT";
}

static __be16 svb_cm_port_of(const struct sockaddr *sa)
{
	return svb_cm_addr_ok(sa) ? htons(svb_cm_addr_port(sa)) : 0;
}

SVB_API __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return svb_cm_port_of(&id->route.addr.src_addr);
}

SVB_API __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return svb_cm_port_of(&id->route.addr.dst_addr);
}

SVB_API int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!ece || ece->comp_mask)
		return svb_cm_result(ece ? EINVAL : EFAULT);
	svb_cm_lock();
	svb_cm_id(id)->ece = *ece;
	svb_cm_unlock();
	return 0;
}

SVB_API int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!ece || ece->comp_mask)
		return svb_cm_result(ece ? EINVAL : EFAULT);
	svb_cm_lock();
	*ece = svb_cm_id(id)->peer_ece;
	svb_cm_unlock();
	return 0;
}
