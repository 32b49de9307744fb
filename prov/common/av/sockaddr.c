/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of socket addresses: what an address vector has to know of them. */
#include <stdio.h>
#include <string.h>
#include "internal.h"

/* Of an array of FI_SOCKADDR each element is as long as its family says. */
static size_t av_any_len(const void *addr)
{
	struct sockaddr sa;

	memcpy(&sa.sa_family, (const char *)addr + offsetof(struct sockaddr, sa_family),
	       sizeof(sa.sa_family));
	return crn_addr_len(&sa);
}

static size_t av_in_len(const void *addr)
{
	return sizeof(struct sockaddr_in);
}

static size_t av_in6_len(const void *addr)
{
	return sizeof(struct sockaddr_in6);
}

static bool av_any_valid(const void *addr, size_t len)
{
	return crn_addr_valid(addr, len, FI_SOCKADDR);
}

static bool av_in_valid(const void *addr, size_t len)
{
	return crn_addr_valid(addr, len, FI_SOCKADDR_IN);
}

static bool av_in6_valid(const void *addr, size_t len)
{
	return crn_addr_valid(addr, len, FI_SOCKADDR_IN6);
}

/* Of host and port; a scope does not count when one of two addresses has none. */
static uint32_t av_sockaddr_hash(const void *addr)
{
	const union crn_av_addr *a = addr;
	const uint16_t port = crn_addr_port(&a->sa);
	uint32_t hash = crn_av_hash(CRN_AV_HASH, &port, sizeof(port));

	if (a->sa.sa_family == AF_INET)
		return crn_av_hash(hash, &a->in.sin_addr, sizeof(a->in.sin_addr));
	return crn_av_hash(hash, &a->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}

static bool av_sockaddr_same(const void *a, const void *b)
{
	return crn_addr_port(a) == crn_addr_port(b) && crn_addr_same_host(a, b);
}

static int av_sockaddr_text(const void *addr, char *buf, size_t size)
{
	const struct sockaddr *sa = addr;
	char text[CRN_ADDR_STRLEN];
	const char *prefix = "";

	if (sa->sa_family == AF_INET)
		prefix = "fi_sockaddr_in://";
	else if (sa->sa_family == AF_INET6)
		prefix = "fi_sockaddr_in6://";
	return snprintf(buf, size, "%s%s", prefix, crn_addr_str(sa, text));
}

static const struct crn_av_form av_sockaddr_forms[] = {
	{.format = FI_SOCKADDR,
	 .len = av_any_len,
	 .valid = av_any_valid,
	 .hash = av_sockaddr_hash,
	 .same = av_sockaddr_same,
	 .text = av_sockaddr_text},
	{.format = FI_SOCKADDR_IN,
	 .len = av_in_len,
	 .valid = av_in_valid,
	 .hash = av_sockaddr_hash,
	 .same = av_sockaddr_same,
	 .text = av_sockaddr_text},
	{.format = FI_SOCKADDR_IN6,
	 .len = av_in6_len,
	 .valid = av_in6_valid,
	 .hash = av_sockaddr_hash,
	 .same = av_sockaddr_same,
	 .text = av_sockaddr_text},
};

const struct crn_av_form *crn_av_sockaddr(uint32_t format)
{
	size_t i;

	for (i = 0; i < CRN_COUNT(av_sockaddr_forms); i++) {
		if (av_sockaddr_forms[i].format == format)
			return &av_sockaddr_forms[i];
	}
	return NULL;
}
