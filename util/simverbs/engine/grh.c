/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include "grh.h"

/* The next header of a GRH, of InfiniBand and RoCE version 1 (IBA 5.2.2). */
#define SVB_GRH_NEXT 0x1b
/* Bytes around the payload that a header counts: BTH, DETH and ICRC; UDP's header. */
#define SVB_GRH_AROUND (12 + 8 + 4)
#define SVB_GRH_UDP 8
/* Where the header of IPv4 lies. */
#define SVB_GRH_IPV4 20

static bool svb_gid_mapped(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static void svb_gid_map(union ibv_gid *gid, uint32_t addr)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &addr, 4);
}

/* RFC 791. */
static uint16_t svb_ip_checksum(const struct iphdr *ip)
{
	uint16_t words[sizeof(*ip) / 2];
	uint32_t sum = 0;
	size_t i;

	memcpy(words, ip, sizeof(words));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

static void svb_grh_ipv4(struct ibv_grh *grh, const struct ibv_global_route *to,
			 const union ibv_gid *sgid, uint32_t length)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tos = to->traffic_class,
		.tot_len = htobe16(
			(uint16_t)(sizeof(ip) + SVB_GRH_UDP + length + SVB_GRH_AROUND)),
		.frag_off = htobe16(IP_DF),
		.ttl = to->hop_limit,
		.protocol = IPPROTO_UDP,
	};

	memcpy(&ip.saddr, sgid->raw + 12, 4);
	memcpy(&ip.daddr, to->dgid.raw + 12, 4);
	ip.check = svb_ip_checksum(&ip);
	memset(grh, 0, sizeof(*grh));
	memcpy((char *)grh + SVB_GRH_IPV4, &ip, sizeof(ip));
}

enum svb_l3 svb_grh_make(struct ibv_grh *grh, const struct ibv_global_route *to,
			 const union ibv_gid *sgid, enum ibv_gid_type type,
			 uint32_t length)
{
	const bool v2 = type == IBV_GID_TYPE_ROCE_V2;

	if (v2 && svb_gid_mapped(sgid) && svb_gid_mapped(&to->dgid)) {
		svb_grh_ipv4(grh, to, sgid, length);
		return SVB_L3_IPV4;
	}
	*grh = (struct ibv_grh){
		.version_tclass_flow =
			htobe32(6u << 28 | (uint32_t)to->traffic_class << 20 |
				(to->flow_label & 0xfffff)),
		.paylen = htobe16(
			(uint16_t)(length + SVB_GRH_AROUND + (v2 ? SVB_GRH_UDP : 0))),
		.next_hdr = v2 ? IPPROTO_UDP : SVB_GRH_NEXT,
		.hop_limit = to->hop_limit,
		.sgid = *sgid,
		.dgid = to->dgid,
	};
	return v2 ? SVB_L3_IPV6 : SVB_L3_GRH;
}

/* The first 20 bytes may be anything: only a header whose checksum holds is one. */
static bool svb_grh_read_ipv4(struct svb_grh_route *route, const struct ibv_grh *grh)
{
	struct iphdr ip;

	memcpy(&ip, (const char *)grh + SVB_GRH_IPV4, sizeof(ip));
	if (ip.version != 4 || ip.ihl != 5 || svb_ip_checksum(&ip))
		return false;
	*route = (struct svb_grh_route){
		.type = IBV_GID_TYPE_ROCE_V2,
		.traffic_class = ip.tos,
	};
	svb_gid_map(&route->sgid, ip.saddr);
	svb_gid_map(&route->dgid, ip.daddr);
	return true;
}

bool svb_grh_read(struct svb_grh_route *route, const struct ibv_grh *grh, bool roce)
{
	const uint32_t flow = be32toh(grh->version_tclass_flow);

	if (roce && svb_grh_read_ipv4(route, grh))
		return true;
	*route = (struct svb_grh_route){
		.sgid = grh->sgid,
		.dgid = grh->dgid,
		.type = !roce			       ? IBV_GID_TYPE_IB
			: grh->next_hdr == IPPROTO_UDP ? IBV_GID_TYPE_ROCE_V2
						       : IBV_GID_TYPE_ROCE_V1,
		.flow_label = flow & 0xfffff,
		.traffic_class = (uint8_t)(flow >> 20),
	};
	return flow >> 28 == 6;
}
