/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <arpa/inet.h>
#include "addr.h"

static const uint8_t addr_tag[3] = {0xfd, 'r', 't'};

static void put32(uint8_t *to, uint32_t value)
{
	value = htonl(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return ntohl(value);
}

void rte_addr_pack(const struct rte_end *end, struct sockaddr_in6 *addr)
{
	uint8_t *bytes = addr->sin6_addr.s6_addr;

	memset(addr, 0, sizeof(*addr));
	addr->sin6_family = AF_INET6;
	addr->sin6_port = htons(end->port);
	memcpy(bytes, addr_tag, sizeof(addr_tag));
	bytes[3] = end->transport;
	put32(bytes + 4, end->as);
	put32(bytes + 8, end->subnet);
	put32(bytes + 12, end->host);
}

bool rte_addr_is_routed(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	return addr->sa_family == AF_INET6 &&
	       !memcmp(in6->sin6_addr.s6_addr, addr_tag, sizeof(addr_tag)) &&
	       in6->sin6_addr.s6_addr[3] < RTE_TRANSPORTS;
}

bool rte_addr_parse(const struct sockaddr *addr, struct rte_end *end)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const uint8_t *bytes = in6->sin6_addr.s6_addr;

	if (!rte_addr_is_routed(addr))
		return false;
	*end = (struct rte_end){
		.as = get32(bytes + 4),
		.subnet = get32(bytes + 8),
		.host = get32(bytes + 12),
		.port = ntohs(in6->sin6_port),
		.transport = bytes[3],
	};
	return true;
}

void rte_addr_lower(const struct rte_end *end, union crn_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->in.sin_family = AF_INET;
	addr->in.sin_port = htons(end->port);
	addr->in.sin_addr.s_addr = htonl(end->host);
}
