/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses, and which device port answers to one. */
#include <arpa/inet.h>
#include <string.h>
#include "cm.h"

bool svb_cm_addr_ok(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET || sa->sa_family == AF_INET6;
}

socklen_t svb_cm_addr_len(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					: sizeof(struct sockaddr_in6);
}

const void *svb_cm_addr_ip(const struct sockaddr *sa, size_t *len)
{
	*len = sa->sa_family == AF_INET ? 4 : 16;
	return sa->sa_family == AF_INET
		       ? (const void *)&((const struct sockaddr_in *)sa)->sin_addr
		       : (const void *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
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
	return sa->sa_family == AF_INET6
		       ? ((const struct sockaddr_in6 *)sa)->sin6_scope_id
		       : 0;
}

bool svb_cm_addr_same(const struct sockaddr *a, const struct sockaddr *b)
{
	uint32_t x = svb_cm_addr_scope(a), y = svb_cm_addr_scope(b);
	size_t len, other;
	const void *ip = svb_cm_addr_ip(a, &len);

	return a->sa_family == b->sa_family &&
	       !memcmp(ip, svb_cm_addr_ip(b, &other), len) && (x == y || !x || !y);
}

uint16_t svb_cm_addr_port(const struct sockaddr *sa)
{
	return ntohs(sa->sa_family == AF_INET
			     ? ((const struct sockaddr_in *)sa)->sin_port
			     : ((const struct sockaddr_in6 *)sa)->sin6_port);
}

void svb_cm_addr_set_port(struct sockaddr *sa, uint16_t port)
{
	if (sa->sa_family == AF_INET)
		((struct sockaddr_in *)sa)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
}

void svb_cm_addr_to_wire(const struct sockaddr *sa, struct svb_cm_wire_addr *wire)
{
	size_t len;
	const void *ip = svb_cm_addr_ip(sa, &len);

	wire->v6 = sa->sa_family == AF_INET6;
	wire->port = svb_cm_addr_port(sa);
	wire->scope = svb_cm_addr_scope(sa);
	memcpy(wire->addr, ip, len);
}

void svb_cm_addr_of_wire(struct sockaddr_storage *to, const struct svb_cm_wire_addr *wire)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	memset(to, 0, sizeof(*to));
	to->ss_family = wire->v6 ? AF_INET6 : AF_INET;
	if (wire->v6) {
		memcpy(&in6->sin6_addr, wire->addr, 16);
		in6->sin6_scope_id = wire->scope;
	} else {
		memcpy(&in->sin_addr, wire->addr, 4);
	}
	svb_cm_addr_set_port((struct sockaddr *)to, wire->port);
}

const struct svb_port *svb_cm_addr_find(const struct sockaddr *sa, uint32_t *gid)
{
	uint32_t scope = svb_cm_addr_scope(sa), index, i;
	const struct svb_address *address;
	const struct svb_port *port;
	size_t len;
	const void *ip = svb_cm_addr_ip(sa, &len);

	for (index = 0; index < SVB_MAX_DEVICES * SVB_MAX_PORTS; index++) {
		port = svb_port_by_index(index);
		for (i = 0; port && i < port->addresses; i++) {
			address = &port->address[i];
			if (address->family != sa->sa_family ||
			    memcmp(address->addr, ip, len))
				continue;
			if (scope && address->ifindex && scope != address->ifindex)
				continue;
			*gid = i + 1;
			return port;
		}
	}
	/* As the kernel does: the machine's own addresses belong to its first device. */
	*gid = 0;
	return svb_cm_addr_loopback(sa) ? svb_port_by_index(0) : NULL;
}
