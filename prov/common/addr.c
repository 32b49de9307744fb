/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <cairn/addr.h>
#include <cairn/compat.h>

/* Any port does for a socket that never sends; this one is "discard". */
#define PROBE_PORT 9

static const struct sockaddr_in *addr_in(const struct sockaddr *sa)
{
	return (const struct sockaddr_in *)sa;
}

static const struct sockaddr_in6 *addr_in6(const struct sockaddr *sa)
{
	return (const struct sockaddr_in6 *)sa;
}

size_t crn_addr_len(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

uint32_t crn_addr_format(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return FI_SOCKADDR_IN;
	case AF_INET6:
		return FI_SOCKADDR_IN6;
	default:
		return FI_FORMAT_UNSPEC;
	}
}

bool crn_addr_valid(const void *addr, size_t len, uint32_t format)
{
	struct sockaddr sa;
	uint32_t found;

	if (!addr || len < sizeof(sa.sa_family))
		return false;
	memcpy(&sa.sa_family, addr, sizeof(sa.sa_family));
	found = crn_addr_format(&sa);
	if (found == FI_FORMAT_UNSPEC || len < crn_addr_len(&sa))
		return false;
	return format == FI_FORMAT_UNSPEC || format == FI_SOCKADDR || format == found;
}

bool crn_addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	uint32_t scope_a, scope_b;

	if (a->sa_family != b->sa_family)
		return false;
	switch (a->sa_family) {
	case AF_INET:
		return addr_in(a)->sin_addr.s_addr == addr_in(b)->sin_addr.s_addr;
	case AF_INET6:
		scope_a = addr_in6(a)->sin6_scope_id;
		scope_b = addr_in6(b)->sin6_scope_id;
		return IN6_ARE_ADDR_EQUAL(&addr_in6(a)->sin6_addr,
					  &addr_in6(b)->sin6_addr) &&
		       (!scope_a || !scope_b || scope_a == scope_b);
	default:
		return false;
	}
}

/* IPv4 in host byte order. */
static uint32_t addr_ipv4(const struct sockaddr *sa)
{
	return ntohl(addr_in(sa)->sin_addr.s_addr);
}

bool crn_addr_is_any(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return addr_ipv4(sa) == INADDR_ANY;
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&addr_in6(sa)->sin6_addr);
	default:
		return false;
	}
}

bool crn_addr_is_loopback(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return addr_ipv4(sa) >> 24 == 127; /* RFC 1122 section 3.2.1.3 */
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&addr_in6(sa)->sin6_addr);
	default:
		return false;
	}
}

bool crn_addr_is_linklocal(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return addr_ipv4(sa) >> 16 == 0xa9fe; /* RFC 3927: 169.254/16 */
	case AF_INET6:
		return IN6_IS_ADDR_LINKLOCAL(&addr_in6(sa)->sin6_addr);
	default:
		return false;
	}
}

uint16_t crn_addr_port(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return ntohs(addr_in(sa)->sin_port);
	case AF_INET6:
		return ntohs(addr_in6(sa)->sin6_port);
	default:
		return 0;
	}
}

void crn_addr_set_port(struct sockaddr *sa, uint16_t port)
{
	switch (sa->sa_family) {
	case AF_INET:
		((struct sockaddr_in *)sa)->sin_port = htons(port);
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
		break;
	}
}

void *crn_addr_dup(const struct sockaddr *sa)
{
	size_t len = crn_addr_len(sa);
	void *copy = len ? malloc(len) : NULL;

	return copy ? memcpy(copy, sa, len) : NULL;
}

int crn_addr_copy_out(const struct sockaddr *sa, void *addr, size_t *addrlen)
{
	size_t len = crn_addr_len(sa);
	size_t room = *addrlen;

	*addrlen = len;
	if (CRN_MIN(len, room))
		memcpy(addr, sa, CRN_MIN(len, room));
	return room < len ? -FI_ETOOSMALL : 0;
}

const char *crn_addr_str(const struct sockaddr *sa, char buf[CRN_ADDR_STRLEN])
{
	char host[INET6_ADDRSTRLEN];
	char scope[sizeof("%4294967295")] = "";

	switch (sa->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &addr_in(sa)->sin_addr, host, sizeof(host));
		snprintf(buf, CRN_ADDR_STRLEN, "%s:%u", host, crn_addr_port(sa));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &addr_in6(sa)->sin6_addr, host, sizeof(host));
		if (addr_in6(sa)->sin6_scope_id)
			snprintf(scope, sizeof(scope), "%%%u",
				 addr_in6(sa)->sin6_scope_id);
		snprintf(buf, CRN_ADDR_STRLEN, "[%s%s]:%u", host, scope,
			 crn_addr_port(sa));
		break;
	default:
		snprintf(buf, CRN_ADDR_STRLEN, "(unknown family %u)", sa->sa_family);
	}
	return buf;
}

/* The first so many that are of use; their number, or as crn_addr_resolve. */
static int resolve(const char *node, const char *service, const struct addrinfo *hints,
		   union crn_addr *out, uint32_t most)
{
	struct addrinfo *found, *ai;
	uint32_t count = 0;
	int ret = getaddrinfo(node, service, hints, &found);

	if (ret)
		return ret == EAI_MEMORY ? -FI_ENOMEM : -FI_ENODATA;
	for (ai = found; ai && count < most; ai = ai->ai_next) {
		if (!crn_addr_valid(ai->ai_addr, ai->ai_addrlen, FI_FORMAT_UNSPEC))
			continue;
		memset(&out[count], 0, sizeof(*out));
		memcpy(&out[count], ai->ai_addr, crn_addr_len(ai->ai_addr));
		count++;
	}
	freeaddrinfo(found);
	return count ? (int)count : -FI_ENODATA;
}

int crn_addr_resolve(const char *node, const char *service, int family, bool passive,
		     bool numeric, union crn_addr *out)
{
	const struct addrinfo hints = {
		.ai_flags = (passive ? AI_PASSIVE : 0) | (numeric ? AI_NUMERICHOST : 0),
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
	};
	const int ret = resolve(node, service, &hints, out, 1);

	return ret < 0 ? ret : 0;
}

int crn_addr_resolve_all(const char *node, const char *service, int family,
			 union crn_addr *out, uint32_t most)
{
	const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};

	return resolve(node, service, &hints, out, most);
}

int crn_addr_source(const struct sockaddr *dest, union crn_addr *out)
{
	union crn_addr to = {.ss = {0}};
	socklen_t len = (socklen_t)crn_addr_len(dest);
	int fd, ret = 0;

	if (!len)
		return -FI_EINVAL;
	memcpy(&to, dest, len);
	crn_addr_set_port(&to.sa, PROBE_PORT);
	fd = socket(dest->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memset(out, 0, sizeof(*out));
	if (connect(fd, &to.sa, len) || getsockname(fd, &out->sa, &len))
		ret = -errno;
	else
		crn_addr_set_port(&out->sa, 0);
	close(fd);
	return ret;
}
