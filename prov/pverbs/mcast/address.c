/* SPDX-License-Identifier: BSD-2-Clause */
/* Forms of a group's address. Pure. */
#include <arpa/inet.h>
#include <string.h>
#include <infiniband/ib.h>
#include "sa/sa.h"
#include "mcast.h"

/* IB specification 1.7, section 4.1.1. */
#define MC_GID 0xff

static const uint8_t mc_mapped[12] = {[10] = 0xff, 0xff};

/* 224.0.0.0/4, and the limited broadcast, which IPoIB has a group for (RFC 4391). */
static bool mc_ipv4(const uint8_t *ip)
{
	return ip[0] >> 4 == 0xe || (ip[0] & ip[1] & ip[2] & ip[3]) == 0xff;
}

static int mc_set(struct pvb_mc_name *name, sa_family_t family, const void *bytes,
		  size_t len)
{
	name->family = family;
	memcpy(name->bytes, bytes, len);
	return 0;
}

static int mc_name_in(const uint8_t *ip, struct pvb_mc_name *name)
{
	return mc_ipv4(ip) ? mc_set(name, AF_INET, ip, 4) : -FI_EINVAL;
}

/* A GID as it is. On RoCE that of an IPv4 group is the address itself. */
static int mc_name_gid(const uint8_t *gid, bool ethernet, struct pvb_mc_name *name)
{
	if (gid[0] == MC_GID)
		return ethernet ? -FI_ENOSYS : mc_set(name, AF_IB, gid, 16);
	if (!ethernet || memcmp(gid, mc_mapped, sizeof(mc_mapped)) != 0)
		return -FI_EINVAL;
	return mc_name_in(gid + sizeof(mc_mapped), name);
}

static int mc_name_in6(const uint8_t *ip, bool ethernet, struct pvb_mc_name *name)
{
	if (!memcmp(ip, mc_mapped, sizeof(mc_mapped)))
		return mc_name_in(ip + sizeof(mc_mapped), name);
	if (ip[0] != MC_GID)
		return -FI_EINVAL;
	return ethernet ? -FI_ENOSYS : mc_set(name, AF_INET6, ip, 16);
}

int pvb_mc_name(const void *addr, bool ethernet, struct pvb_mc_name *name)
{
	const uint8_t *bytes = addr;
	sa_family_t family;

	if (!addr)
		return -FI_EINVAL;
	memset(name, 0, sizeof(*name));
	memcpy(&family, bytes, sizeof(family));
	/* No family is these. */
	if (bytes[0] == MC_GID || !family)
		return mc_name_gid(bytes, ethernet, name);
	switch (family) {
	case AF_INET:
		return mc_name_in(bytes + offsetof(struct sockaddr_in, sin_addr), name);
	case AF_INET6:
		return mc_name_in6(bytes + offsetof(struct sockaddr_in6, sin6_addr),
				   ethernet, name);
	case AF_IB:
		return mc_name_gid(bytes + offsetof(struct sockaddr_ib, sib_addr),
				   ethernet, name);
	default:
		return -FI_EINVAL;
	}
}

int pvb_mc_name_on(const struct pvb_ud_link *link, struct pvb_mc_name *name)
{
	const struct pvb_mc_link map = {link->profile, link->pkey, link->scope};
	struct in6_addr v6;
	struct in_addr v4;
	uint8_t mgid[16];
	int ret;

	if (!link->on || name->family == AF_IB)
		return 0;
	memcpy(&v4, name->bytes, sizeof(v4));
	memcpy(&v6, name->bytes, sizeof(v6));
	ret = name->family == AF_INET ? pvb_mc_map4(&map, v4, mgid)
				      : pvb_mc_map6(&map, &v6, mgid);
	return ret ? ret : mc_set(name, AF_IB, mgid, sizeof(mgid));
}

const char *pvb_mc_text(const struct pvb_mc_name *name, char text[PVB_MC_STRLEN])
{
	return inet_ntop(name->family == AF_INET ? AF_INET : AF_INET6, name->bytes, text,
			 PVB_MC_STRLEN);
}

void pvb_mc_sockaddr(const struct pvb_mc_name *name, union pvb_mc_sockaddr *out)
{
	size_t offset = offsetof(struct sockaddr_ib, sib_addr);

	memset(out, 0, sizeof(*out));
	out->sa.sa_family = name->family;
	if (name->family == AF_INET)
		offset = offsetof(struct sockaddr_in, sin_addr);
	else if (name->family == AF_INET6)
		offset = offsetof(struct sockaddr_in6, sin6_addr);
	memcpy((uint8_t *)out + offset, name->bytes, name->family == AF_INET ? 4 : 16);
}
