/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses, and which device port answers to one. */
#include <arpa/inet.h>
#include <string.h>
#include "cm.h"

bool svb_cm_addr_ok(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET || sa->sa_family == AF_INET6 ||
	       sa->sa_family == AF_IB;
}

socklen_t svb_cm_addr_len(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return sizeof(struct sockaddr_in6);
	}
}

const void *svb_cm_addr_ip(const struct sockaddr *sa, size_t *len)
{
	*len = sa->sa_family == AF_INET ? 4 : 16;
	switch (sa->sa_family) {
	case AF_INET:
		return &((const struct sockaddr_in *)sa)->sin_addr;
	case AF_IB:
		return &((const struct sockaddr_ib *)sa)->sib_addr;
	default:
		return &((const struct sockaddr_in6 *)sa)->sin6_addr;
	}
}

bool svb_cm_addr_any(const struct sockaddr *sa)
{
	static const uint8_t zeroes[16];
	size_t len;
	const void *ip = svb_cm_addr_ip(sa, &len);

	return !memcmp(ip, zeroes, len);
}

bool svb_cm_addr_loopback(const struct sockaddr *sa)
{
	size_t len;
	const uint8_t *ip = svb_cm_addr_ip(sa, &len);

	return len == 4 ? ip[0] == 127 : !memcmp(ip, &in6addr_loopback, 16);
}

static uint32_t svb_cm_addr_scope(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET6:
		return ((const struct sockaddr_in6 *)sa)->sin6_scope_id;
	case AF_IB:
		return svb_cm_addr_pkey(sa);
	default:
		return 0;
	}
}

bool svb_cm_addr_same(const struct sockaddr *a, const struct sockaddr *b)
{
	uint32_t x = svb_cm_addr_scope(a), y = svb_cm_addr_scope(b);
	size_t len, other;
	const void *ip = svb_cm_addr_ip(a, &len);

	return a->sa_family == b->sa_family &&
	       !memcmp(ip, svb_cm_addr_ip(b, &other), len) && (x == y || !x || !y);
}

uint16_t svb_cm_addr_pkey(const struct sockaddr *sa)
{
	return be16toh(((const struct sockaddr_ib *)sa)->sib_pkey);
}

/* IBA annex A11: the low 16 bits of the service ID. */
static uint64_t svb_cm_sid(const struct sockaddr *sa)
{
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)sa;

	return be64toh(ib->sib_sid & ib->sib_sid_mask);
}

static void svb_cm_set_sid(struct sockaddr *sa, uint64_t sid)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)sa;

	ib->sib_sid = htobe64(sid);
	ib->sib_sid_mask = ~0ull;
}

/* Service IDs of IP port spaces begin so: cma_select_ib_ps of the kernel's cma.c. */
#define SVB_CM_SID_SPACE 0xffffffffffff0000ull
#define SVB_CM_SID_OF(ps) ((uint64_t)(ps) << 16)

enum rdma_port_space svb_cm_addr_space(struct sockaddr *sa, enum rdma_port_space ps)
{
	static const enum rdma_port_space spaces[] = {RDMA_PS_IB, RDMA_PS_TCP,
						      RDMA_PS_UDP};
	struct sockaddr_ib *ib = (struct sockaddr_ib *)sa;
	uint64_t mask = be64toh(ib->sib_sid_mask) & SVB_CM_SID_SPACE;
	size_t i;

	for (i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		if ((ps != spaces[i] && ps != RDMA_PS_IB) ||
		    (svb_cm_sid(sa) ^ SVB_CM_SID_OF(spaces[i])) & mask)
			continue;
		svb_cm_set_sid(sa, SVB_CM_SID_OF(spaces[i]) | svb_cm_addr_port(sa));
		return spaces[i];
	}
	return 0;
}

uint16_t svb_cm_addr_port(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)sa)->sin_port);
	case AF_IB:
		return (uint16_t)svb_cm_sid(sa);
	default:
		return ntohs(((const struct sockaddr_in6 *)sa)->sin6_port);
	}
}

void svb_cm_addr_set_port(struct sockaddr *sa, uint16_t port)
{
	switch (sa->sa_family) {
	case AF_INET:
		((struct sockaddr_in *)sa)->sin_port = htons(port);
		break;
	case AF_IB:
		svb_cm_set_sid(sa, (svb_cm_sid(sa) & SVB_CM_SID_SPACE) | port);
		break;
	default:
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
	}
}

static const sa_family_t svb_cm_families[] = {
	[SVB_CM_INET] = AF_INET,
	[SVB_CM_INET6] = AF_INET6,
	[SVB_CM_IB] = AF_IB,
};

void svb_cm_addr_to_wire(const struct sockaddr *sa, struct svb_cm_wire_addr *wire)
{
	size_t len;
	const void *ip = svb_cm_addr_ip(sa, &len);

	for (wire->family = 0; svb_cm_families[wire->family] != sa->sa_family;)
		wire->family++;
	wire->port = svb_cm_addr_port(sa);
	wire->scope = svb_cm_addr_scope(sa);
	memcpy(wire->addr, ip, len);
}

void svb_cm_addr_of_wire(struct sockaddr_storage *to, const struct svb_cm_wire_addr *wire,
			 enum rdma_port_space ps)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	memset(to, 0, sizeof(*to));
	to->ss_family = svb_cm_families[wire->family];
	switch (wire->family) {
	case SVB_CM_INET:
		memcpy(&in->sin_addr, wire->addr, 4);
		break;
	case SVB_CM_INET6:
		memcpy(&in6->sin6_addr, wire->addr, 16);
		in6->sin6_scope_id = wire->scope;
		break;
	default:
		svb_cm_addr_ib((struct sockaddr_ib *)to, wire->addr,
			       (uint16_t)wire->scope);
		svb_cm_set_sid((struct sockaddr *)to, SVB_CM_SID_OF(ps));
	}
	svb_cm_addr_set_port((struct sockaddr *)to, wire->port);
}

void svb_cm_addr_ib(struct sockaddr_ib *ib, const uint8_t gid[16], uint16_t pkey)
{
	memset(ib, 0, sizeof(*ib));
	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(pkey);
	memcpy(&ib->sib_addr, gid, 16);
}

/* AF_IB: the port that has a GID; there are none on Ethernet (rdma_cap_af_ib). */
static const struct svb_port *svb_cm_gid_find(const struct sockaddr *sa, uint32_t *gid)
{
	const struct svb_port *port;
	uint32_t index;
	size_t len;
	const void *raw = svb_cm_addr_ip(sa, &len);

	*gid = 0;
	if (svb_self.settings.link != SVB_LINK_IB)
		return NULL;
	if (svb_cm_addr_loopback(sa))
		return svb_port_by_index(0);
	for (index = 0; index < SVB_MAX_DEVICES * SVB_MAX_PORTS; index++) {
		port = svb_port_by_index(index);
		for (*gid = 0; port && *gid < port->gids; ++*gid)
			if (!memcmp(&port->gid[*gid], raw, len))
				return port;
	}
	return NULL;
}

const struct svb_port *svb_cm_addr_find(const struct sockaddr *sa, uint32_t *gid)
{
	uint32_t scope = svb_cm_addr_scope(sa), index, i;
	const struct svb_address *address;
	const struct svb_port *port;
	size_t len;
	const void *ip = svb_cm_addr_ip(sa, &len);

	if (sa->sa_family == AF_IB)
		return svb_cm_gid_find(sa, gid);
	for (index = 0; index < SVB_MAX_DEVICES * SVB_MAX_PORTS; index++) {
		port = svb_port_by_index(index);
		for (i = 0; port && i < port->addresses; i++) {
			address = &port->address[i];
			if (address->family != sa->sa_family ||
			    memcmp(address->addr, ip, len))
				continue;
			if (scope && address->ifindex && scope != address->ifindex)
				continue;
			*gid = address->gid;
			return port;
		}
	}
	/* As the kernel does: the machine's own addresses belong to its first device. */
	port = svb_port_by_index(0);
	*gid = port ? port->own_gid : 0;
	return svb_cm_addr_loopback(sa) ? port : NULL;
}
