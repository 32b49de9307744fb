/* SPDX-License-Identifier: BSD-2-Clause */
/* The group that a socket address stands for. Pure. */
#include <string.h>
#include "cm.h"

/* "IPv6 address is an SA assigned MGID": cma_set_mgid of the kernel's cma.c. */
static bool svb_mgid_assigned(const uint8_t *ip, size_t len)
{
	return len == 16 && ip[0] == 0xff && (ip[1] & 0xf0) == 0x10 && ip[2] == 0xa0 &&
	       ip[3] == 0x1b;
}

/*
 * RFC 4391 section 4, as ip_ib_mc_map and ipv6_ib_mc_map of the kernel: the scope is that
 * of the link's broadcast group, which is link-local, the P_Key a full member's. The
 * signature is IPoIB's, or rdma_cm's for RDMA_PS_UDP (cma_set_mgid).
 */
static void svb_mgid_ip(const uint8_t *ip, size_t len, enum rdma_port_space ps,
			uint16_t pkey, uint8_t raw[16])
{
	raw[0] = 0xff;
	raw[1] = 0x12;
	raw[2] = len == 4 ? 0x40 : 0x60;
	raw[3] = ps == RDMA_PS_UDP ? 0x01 : 0x1b;
	raw[4] = (uint8_t)((pkey | SVB_PKEY_FULL) >> 8);
	raw[5] = (uint8_t)pkey;
	if (len == 16) {
		memcpy(raw + 6, ip + 6, 10);
		return;
	}
	memcpy(raw + 12, ip, 4);
	raw[12] &= 0x0f;
}

static int svb_mgid_ib(const struct sockaddr *sa, enum rdma_port_space ps, uint16_t pkey,
		       union ibv_gid *mgid)
{
	size_t len;
	const uint8_t *ip = svb_cm_addr_ip(sa, &len);

	if (sa->sa_family == AF_IB || svb_mgid_assigned(ip, len))
		memcpy(mgid->raw, ip, 16);
	else
		svb_mgid_ip(ip, len, ps, pkey, mgid->raw);
	return 0;
}

/*
 * cma_iboe_set_mgid and cma_iboe_join_multicast: RoCE version 2 has groups of IPv4 alone,
 * each of them the address itself.
 */
static int svb_mgid_roce(const struct sockaddr *sa, bool v2, union ibv_gid *mgid)
{
	size_t len;
	const uint8_t *ip = svb_cm_addr_ip(sa, &len);

	if (sa->sa_family == AF_IB || (v2 && len == 16))
		return v2 ? SVB_CM_ENOTSUPP : EINVAL;
	if (!v2 && len == 4) {
		mgid->raw[0] = 0xff;
		mgid->raw[1] = 0x0e;
	}
	if (len == 4)
		mgid->raw[10] = mgid->raw[11] = 0xff;
	memcpy(mgid->raw + 16 - len, ip, len);
	return 0;
}

int svb_cm_mgid(const struct sockaddr *sa, const struct svb_cm_link *link,
		union ibv_gid *mgid)
{
	memset(mgid, 0, sizeof(*mgid));
	/* The kernel lets the SA choose a group's GID, and refuses it on RoCE. */
	if (svb_cm_addr_any(sa))
		return EINVAL;
	return link->ib ? svb_mgid_ib(sa, link->ps, link->pkey, mgid)
			: svb_mgid_roce(sa, link->v2, mgid);
}
