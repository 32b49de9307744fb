/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "words.h"

#define GID_SIZE 16
#define ALL_ROUTERS_V4 0xe0000002u

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* 32 digits, with or without 0x. */
static bool parse_hex(const char *text, uint8_t gid[GID_SIZE])
{
	size_t i;

	if (!strncmp(text, "0x", 2))
		text += 2;
	if (strlen(text) != 2 * GID_SIZE)
		return false;
	for (i = 0; i < 2 * GID_SIZE; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	for (i = 0; i < GID_SIZE; i++)
		gid[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	return true;
}

bool imc_name_is_mgid(const char *text)
{
	struct pvb_mc_addr addr;
	struct in6_addr v6;
	uint8_t gid[GID_SIZE];

	return parse_hex(text, gid) ||
	       (inet_pton(AF_INET6, text, &v6) == 1 && !pvb_mc_unmap(v6.s6_addr, &addr));
}

/* FF0X::1 and ::2: the last 80 bits, which are all that an MGID has (draft section 8). */
static enum imc_kind kind_of_v6(const struct in6_addr *ip)
{
	static const uint8_t zeros[9];

	if (memcmp(ip->s6_addr + 6, zeros, sizeof(zeros)) != 0)
		return IMC_KIND_GROUP;
	if (ip->s6_addr[15] == 1)
		return IMC_KIND_ALL_NODE;
	return ip->s6_addr[15] == 2 ? IMC_KIND_ALL_ROUTER : IMC_KIND_GROUP;
}

static enum imc_kind kind_of(const struct pvb_mc_addr *addr)
{
	if (addr->family == AF_INET6)
		return kind_of_v6(&addr->ip.v6);
	if (addr->ip.v4.s_addr == htonl(INADDR_BROADCAST))
		return IMC_KIND_BROADCAST;
	return addr->ip.v4.s_addr == htonl(ALL_ROUTERS_V4) ? IMC_KIND_ALL_ROUTER
							   : IMC_KIND_GROUP;
}

void imc_name_of(const uint8_t mgid[GID_SIZE], struct imc_name *name)
{
	memset(name, 0, sizeof(*name));
	memcpy(name->mgid, mgid, GID_SIZE);
	name->ip = !pvb_mc_unmap(mgid, &name->addr);
	name->kind = name->ip ? kind_of(&name->addr) : IMC_KIND_OTHER;
}

/* An address has more bits than its MGID, so it stays as it was typed. */
static int of_v6(const struct pvb_mc_link *link, const struct in6_addr *ip,
		 struct imc_name *name, const char **why)
{
	uint8_t mgid[GID_SIZE];

	if (pvb_mc_map6(link, ip, mgid)) {
		*why = "neither an IPv6 multicast address nor an MGID of an IPoIB link";
		return -FI_EINVAL;
	}
	imc_name_of(mgid, name);
	name->addr.ip.v6 = *ip;
	return 0;
}

int imc_name_parse(const char *text, const struct pvb_mc_link *link, bool raw,
		   struct imc_name *name, const char **why)
{
	struct in6_addr v6;
	struct in_addr v4;
	uint8_t mgid[GID_SIZE];

	if (parse_hex(text, mgid)) {
		imc_name_of(mgid, name);
	} else if (inet_pton(AF_INET6, text, &v6) == 1) {
		imc_name_of(v6.s6_addr, name);
		if (!raw && !name->ip)
			return of_v6(link, &v6, name, why);
	} else if (!raw && inet_pton(AF_INET, text, &v4) == 1) {
		if (pvb_mc_map4(link, v4, mgid)) {
			*why = "not an IPv4 multicast address, nor 255.255.255.255";
			return -FI_EINVAL;
		}
		imc_name_of(mgid, name);
	} else {
		*why = raw ? "not an MGID" : "neither an IP address nor an MGID";
		return -FI_EINVAL;
	}
	if (name->mgid[0] == 0xff)
		return 0;
	*why = "not a multicast GID, which begins with ff";
	return -FI_EINVAL;
}

const char *imc_address_text(const struct imc_name *name, char text[IMC_TEXT])
{
	text[0] = '\0';
	if (name->ip)
		inet_ntop(name->addr.family, &name->addr.ip, text, IMC_TEXT);
	return text;
}

const char *imc_gid_text(const uint8_t gid[GID_SIZE], char text[IMC_TEXT])
{
	inet_ntop(AF_INET6, gid, text, IMC_TEXT);
	return text;
}

const char *imc_hex_text(const uint8_t gid[GID_SIZE], char text[IMC_TEXT])
{
	size_t i;

	for (i = 0; i < GID_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", gid[i]);
	return text;
}

const char *imc_kind_text(enum imc_kind kind)
{
	static const char *const texts[] = {
		[IMC_KIND_OTHER] = "other",	      [IMC_KIND_GROUP] = "group",
		[IMC_KIND_BROADCAST] = "broadcast",   [IMC_KIND_ALL_NODE] = "all-node",
		[IMC_KIND_ALL_ROUTER] = "all-router",
	};

	return texts[kind];
}
