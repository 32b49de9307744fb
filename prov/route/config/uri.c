/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "topo/topo.h"
#include "uri.h"
#include "value.h"

#define RTE_LABEL_MAX 63u /* RFC 1035 section 2.3.4 */
#define RTE_ZONE_MAX 15u  /* the name of a network interface */

#define RTE_NATIVE (RTE_CAP_ZEROCOPY | RTE_CAP_OSBYPASS | RTE_CAP_RMA)
#define RTE_HOST_IP (RTE_HOST_NAME | RTE_HOST_IN | RTE_HOST_IN6)

static const struct rte_transport_attr transports[RTE_TRANSPORTS] = {
	[RTE_TRANSPORT_SOCK] = {"sock", {"tcp"}, 0, NULL},
	[RTE_TRANSPORT_TCP] = {"tcp", {"tcp"}, 0, NULL},
	[RTE_TRANSPORT_VERBS] = {"verbs", {"pverbs", "verbs"}, RTE_NATIVE, NULL},
	[RTE_TRANSPORT_ETH] = {"eth",
			       {NULL},
			       0,
			       "no provider connects by MAC address; use transport verbs "
			       "and verbs://HOST:PORT"},
	[RTE_TRANSPORT_GNI] = {"gni", {"gni"}, RTE_NATIVE, NULL},
};

/* Of addresses that do not name their transport. */
static const struct {
	const char *name;
	uint16_t hosts;
} schemes[] = {
	{"fi_sockaddr_in", RTE_HOST_IN},
	{"fi_sockaddr_in6", RTE_HOST_IN6},
};

const struct rte_transport_attr *rte_transport_attr(enum rte_transport transport)
{
	return &transports[transport];
}

enum rte_transport rte_transport_find(const char *name)
{
	int i;

	for (i = RTE_TRANSPORT_ANY + 1; i < RTE_TRANSPORTS; i++)
		if (!strcmp(transports[i].name, name))
			return i;
	return RTE_TRANSPORT_ANY;
}

/* --- Reading --- */

static bool is_label(const char *label, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)label[i]) && label[i] != '-' &&
		    label[i] != '_')
			return false;
	return len && len <= RTE_LABEL_MAX && *label != '-' && label[len - 1] != '-';
}

/* RFC 1123 section 2.1; the last label is no number, so 10.0.0.256 is no name. */
static bool is_name(const char *name)
{
	size_t len;

	for (;; name += len + 1) {
		len = strcspn(name, ".");
		if (!is_label(name, len))
			return false;
		if (!name[len])
			return strspn(name, "0123456789") != len;
	}
}

static bool is_zone(const char *zone)
{
	const size_t len = strlen(zone);
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)zone[i]) && !strchr("_.-", zone[i]))
			return false;
	return len && len <= RTE_ZONE_MAX;
}

/* uri->host is "fe80::1%eth0". */
static bool take_in6(struct rte_uri *uri)
{
	char addr[INET6_ADDRSTRLEN], zone[RTE_ZONE_MAX + 1] = "";
	char *percent = strchr(uri->host, '%');

	if (percent) {
		if (!is_zone(percent + 1))
			return false;
		snprintf(zone, sizeof(zone), "%s", percent + 1);
		*percent = '\0';
	}
	if (inet_pton(AF_INET6, uri->host, uri->addr) != 1)
		return false;
	inet_ntop(AF_INET6, uri->addr, addr, sizeof(addr));
	snprintf(uri->host, sizeof(uri->host), "%s%s%s", addr, percent ? "%" : "", zone);
	return true;
}

static const char *take_name(struct rte_uri *uri)
{
	char *at;

	uri->kind = RTE_HOST_IN;
	if (inet_pton(AF_INET, uri->host, uri->addr) == 1)
		return NULL;
	uri->kind = RTE_HOST_NAME;
	for (at = uri->host; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return is_name(uri->host) ? NULL : "the host is neither a name nor an address";
}

/* The host; *text moves to the colon before the port. Or what is wrong. */
static const char *take_host(const char **text, struct rte_uri *uri)
{
	const bool in6 = **text == '[';
	size_t len;

	*text += in6;
	len = strcspn(*text, in6 ? "]" : ":");
	if (len > RTE_HOST_MAX)
		return "the host is too long";
	memcpy(uri->host, *text, len);
	*text += len;
	if (!in6)
		return take_name(uri);
	if (!**text)
		return "there is no ] behind the IPv6 address";
	++*text;
	uri->kind = RTE_HOST_IN6;
	return take_in6(uri) ? NULL : "that is no IPv6 address";
}

static const char *take_host_port(const char *text, uint16_t hosts, struct rte_uri *uri)
{
	const char *why = take_host(&text, uri);
	uint64_t port;

	if (why)
		return why;
	if (*text != ':')
		return "there is no :PORT behind the host";
	text++;
	if (strchr(text, ':'))
		return "an IPv6 address stands in brackets";
	if (!rte_take_number(&text, UINT16_MAX, &port) || *text)
		return "the port is a number up to 65535";
	uri->port = (uint16_t)port;
	return hosts & uri->kind ? NULL : "this form has no addresses of that kind";
}

/* "32:126" and what comes behind it. */
static bool take_subnet(const char **text, char behind, struct rte_uri *uri)
{
	uint64_t as, subnet;

	if (!rte_take_number(text, UINT32_MAX, &as) || *(*text)++ != ':' ||
	    !rte_take_number(text, UINT32_MAX, &subnet) || *(*text)++ != behind)
		return false;
	uri->routed = true;
	uri->as = (uint32_t)as;
	uri->subnet = (uint32_t)subnet;
	return true;
}

/* Behind "SCHEME://" of that length. */
static const char *take_scheme(const char *text, size_t len, struct rte_uri *uri)
{
	const char *rest = text + len + 3;
	size_t i;

	for (i = RTE_TRANSPORT_ANY + 1; i < RTE_TRANSPORTS; i++)
		if (strlen(transports[i].name) == len &&
		    !memcmp(transports[i].name, text, len)) {
			uri->transport = (enum rte_transport)i;
			if (transports[i].refused)
				return transports[i].refused;
			return take_host_port(rest, RTE_HOST_IP, uri);
		}
	for (i = 0; i < CRN_COUNT(schemes); i++)
		if (strlen(schemes[i].name) == len && !memcmp(schemes[i].name, text, len))
			return take_host_port(rest, schemes[i].hosts, uri);
	return "that transport is unknown";
}

static const char *take_uri(const char *text, struct rte_uri *uri)
{
	static const char route[] = "fi_route://", cci[] = "cci://";
	const char *at;

	if (!strncmp(text, cci, sizeof(cci) - 1)) {
		text += sizeof(cci) - 1;
		if (!take_subnet(&text, ':', uri))
			return "it is cci://AS:SUBNET:HOST:PORT";
		return take_host_port(text, RTE_HOST_IP, uri);
	}
	if (!strncmp(text, route, sizeof(route) - 1)) {
		text += sizeof(route) - 1;
		if (!take_subnet(&text, '/', uri))
			return "it is fi_route://AS:SUBNET/TRANSPORT://HOST:PORT";
	}
	at = strstr(text, "://");
	if (!at)
		return "there is no TRANSPORT://";
	return take_scheme(text, (size_t)(at - text), uri);
}

int rte_uri_parse(const char *text, struct rte_uri *uri, const char **why)
{
	memset(uri, 0, sizeof(*uri));
	*why = take_uri(text, uri);
	return *why ? -FI_EINVAL : 0;
}

/* --- Writing --- */

static const char *uri_scheme(const struct rte_uri *uri)
{
	if (uri->transport != RTE_TRANSPORT_ANY)
		return transports[uri->transport].name;
	return uri->kind == RTE_HOST_IN6 ? "fi_sockaddr_in6" : "fi_sockaddr_in";
}

static void print_host(const struct rte_uri *uri, char *buf, int len)
{
	const bool in6 = uri->kind == RTE_HOST_IN6;

	snprintf(buf + len, RTE_URI_SIZE - (size_t)len, "%s%s%s:%u", in6 ? "[" : "",
		 uri->host, in6 ? "]" : "", uri->port);
}

const char *rte_uri_print_cci(const struct rte_uri *uri, char buf[RTE_URI_SIZE])
{
	print_host(uri, buf,
		   snprintf(buf, RTE_URI_SIZE, "cci://%" PRIu32 ":%" PRIu32 ":", uri->as,
			    uri->subnet));
	return buf;
}

const char *rte_uri_print(const struct rte_uri *uri, char buf[RTE_URI_SIZE])
{
	int len = 0;

	/* No other form has a name without its transport. */
	if (uri->transport == RTE_TRANSPORT_ANY && uri->kind == RTE_HOST_NAME)
		return rte_uri_print_cci(uri, buf);
	if (uri->routed)
		len = snprintf(buf, RTE_URI_SIZE, "fi_route://%" PRIu32 ":%" PRIu32 "/",
			       uri->as, uri->subnet);
	len += snprintf(buf + len, RTE_URI_SIZE - (size_t)len, "%s://", uri_scheme(uri));
	print_host(uri, buf, len);
	return buf;
}

bool rte_uri_same(const struct rte_uri *a, const struct rte_uri *b)
{
	return a->transport == b->transport && a->routed == b->routed && a->as == b->as &&
	       a->subnet == b->subnet && a->kind == b->kind && a->port == b->port &&
	       !strcmp(a->host, b->host);
}
