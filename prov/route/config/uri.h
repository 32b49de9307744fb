/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transports, and addresses as text: the document "Routing Heterogeneous CCI Subnets",
 * section VII.A. Pure: names are not resolved.
 *
 *	sock://host:port  tcp://host:port  verbs://host:port  gni://host:port
 *	cci://32:126:10.101.50.37:6744       AS, subnet, host, port
 *	fi_route://32:126/gni://10.101.50.37:6744
 *	fi_sockaddr_in://10.0.0.1:7000       fi_addr_str of libfabric; also _in6
 *
 * An IPv6 address stands in brackets, [fe80::1%eth0]:7000. The document's addresses of
 * Ethernet by MAC address are refused: no provider of libfabric connects by them.
 */
#ifndef RTE_CONFIG_URI_H
#define RTE_CONFIG_URI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a name (RFC 1035 section 2.3.4), or of an IPv6 address with its zone. */
#define RTE_HOST_MAX 253u
/* Text of any struct rte_uri with its final 0. */
#define RTE_URI_SIZE (RTE_HOST_MAX + 64u)

enum rte_transport {
	RTE_TRANSPORT_ANY, /* the address does not say: cci://, fi_sockaddr_in:// */
	RTE_TRANSPORT_SOCK,
	RTE_TRANSPORT_TCP,
	RTE_TRANSPORT_VERBS,
	RTE_TRANSPORT_ETH, /* refused; keeps the number of GNI in addresses */
	RTE_TRANSPORT_GNI,
	RTE_TRANSPORTS,
};

enum rte_host {
	RTE_HOST_NAME = 1 << 0,
	RTE_HOST_IN = 1 << 1,
	RTE_HOST_IN6 = 1 << 2,
};

#define RTE_LOWER_MAX 2

struct rte_transport_attr {
	const char *name;		  /* and the scheme of its addresses */
	const char *lower[RTE_LOWER_MAX]; /* providers of libfabric, best first */
	uint16_t caps;	     /* enum rte_cap, of a device that does not say */
	const char *refused; /* why no device can have it; NULL: devices can */
};

/* Not of RTE_TRANSPORT_ANY. */
const struct rte_transport_attr *rte_transport_attr(enum rte_transport transport);
/* RTE_TRANSPORT_ANY: there is none of that name. The transport may be a refused one. */
enum rte_transport rte_transport_find(const char *name);

struct rte_uri {
	enum rte_transport transport;
	bool routed; /* as and subnet are known */
	uint32_t as;
	uint32_t subnet;
	enum rte_host kind;
	/* The name in lower case; an IPv4 or IPv6 address as inet_ntop(3) writes it, with
	 * %zone. */
	char host[RTE_HOST_MAX + 1];
	uint8_t addr[16]; /* 4 or 16 bytes of an address, network order */
	uint16_t port;	  /* 0: any */
};

/* -FI_EINVAL, and what is wrong in why (text that stays). */
int rte_uri_parse(const char *text, struct rte_uri *uri, const char **why);

/* Writes at most RTE_URI_SIZE bytes, the same text for the same address; returns buf. A
 * routed one is fi_route://. */
const char *rte_uri_print(const struct rte_uri *uri, char buf[RTE_URI_SIZE]);
/* As cci://AS:SN:host:port, which leaves the transport out. */
const char *rte_uri_print_cci(const struct rte_uri *uri, char buf[RTE_URI_SIZE]);

bool rte_uri_same(const struct rte_uri *a, const struct rte_uri *b);

#endif
