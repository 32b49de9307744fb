/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "addresses.h"
#include "gids.h"
#include "pkeys.h"

static void svb_gid_of_address(const struct svb_address *address, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (address->family == AF_INET6) {
		memcpy(gid->raw, address->addr, 16);
		return;
	}
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, address->addr, 4);
}

static void svb_port_add(struct svb_port *port, const struct svb_address *address)
{
	struct svb_address *added = &port->address[port->addresses];
	union ibv_gid gid;

	if (!svb_gid_fits(port))
		return;
	svb_gid_of_address(address, &gid);
	*added = *address;
	added->gid = svb_gid_add(port, &gid);
	port->addresses++;
}

/* Names the interface that has an address, if any. */
static void svb_address_interface(struct svb_address *address, const struct ifaddrs *list)
{
	const void *addr;

	for (; list; list = list->ifa_next) {
		if (!list->ifa_addr || list->ifa_addr->sa_family != address->family)
			continue;
		addr = address->family == AF_INET
			       ? (void *)&((struct sockaddr_in *)list->ifa_addr)->sin_addr
			       : (void *)&((struct sockaddr_in6 *)list->ifa_addr)
					 ->sin6_addr;
		if (memcmp(addr, address->addr, address->family == AF_INET ? 4 : 16))
			continue;
		snprintf(address->ifname, sizeof(address->ifname), "%s", list->ifa_name);
		address->ifindex = if_nametoindex(list->ifa_name);
		return;
	}
}

/* "@0x8008": the link of an address is in that partition of the port's. */
static bool svb_address_partition(struct svb_address *address,
				  const struct svb_port *port, char *text)
{
	char *at = strchr(text, '@');
	uint16_t pkey;
	int index;

	if (!at)
		return true;
	*at = '\0';
	if (!svb_pkey_parse(at + 1, &pkey))
		return false;
	index = svb_pkey_index(port, pkey);
	address->pkey = (uint32_t)index;
	return index >= 0;
}

/* "10.77.0.1/24", "fd77::1@0x8008"; prefix and partition are optional. */
static bool svb_address_parse(struct svb_address *address, const struct svb_port *port,
			      char *text)
{
	char *slash, *end;
	unsigned long most, prefix;

	memset(address, 0, sizeof(*address));
	if (!svb_address_partition(address, port, text))
		return false;
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	address->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	most = address->family == AF_INET6 ? 128 : 32;
	if (inet_pton(address->family, text, address->addr) != 1)
		return false;
	prefix = slash ? strtoul(slash + 1, &end, 10) : most;
	if ((slash && (end == slash + 1 || *end)) || prefix > most)
		return false;
	address->prefix = (uint8_t)prefix;
	return true;
}

static uint8_t svb_prefix_of(const struct sockaddr *mask)
{
	const uint8_t *bytes =
		mask->sa_family == AF_INET
			? (void *)&((struct sockaddr_in *)mask)->sin_addr
			: (void *)&((struct sockaddr_in6 *)mask)->sin6_addr;
	uint8_t prefix = 0;
	int i;

	for (i = 0; i < (mask->sa_family == AF_INET ? 4 : 16); i++)
		prefix += (uint8_t)__builtin_popcount(bytes[i]);
	return prefix;
}

/* Every address of the machine; loopback last, for who has nothing else. */
static void svb_port_adopt(struct svb_port *port, const struct ifaddrs *list,
			   bool loopback)
{
	struct svb_address address;

	for (; list; list = list->ifa_next) {
		if (!list->ifa_addr || !list->ifa_netmask ||
		    !(list->ifa_flags & IFF_LOOPBACK) == loopback)
			continue;
		memset(&address, 0, sizeof(address));
		address.family = list->ifa_addr->sa_family;
		if (address.family == AF_INET)
			memcpy(address.addr,
			       &((struct sockaddr_in *)list->ifa_addr)->sin_addr, 4);
		else if (address.family == AF_INET6)
			memcpy(address.addr,
			       &((struct sockaddr_in6 *)list->ifa_addr)->sin6_addr, 16);
		else
			continue;
		address.prefix = svb_prefix_of(list->ifa_netmask);
		snprintf(address.ifname, sizeof(address.ifname), "%s", list->ifa_name);
		address.ifindex = if_nametoindex(list->ifa_name);
		svb_port_add(port, &address);
	}
}

int svb_addresses_load(struct svb_device_settings *device, uint32_t index,
		       const struct ifaddrs *list)
{
	char text[sizeof(device->address)], *word, *save;
	struct svb_port *port = &device->port[0];
	struct svb_address address;

	if (!*device->address && !index) {
		svb_port_adopt(port, list, false);
		svb_port_adopt(port, list, true);
		return 0;
	}
	strcpy(text, device->address);
	for (word = strtok_r(text, " ,", &save); word;
	     word = strtok_r(NULL, " ,", &save)) {
		if (!svb_address_parse(&address, port, word)) {
			fprintf(stderr, "simverbs: [sim%u] address: %s is none\n", index,
				word);
			return EINVAL;
		}
		svb_address_interface(&address, list);
		svb_port_add(port, &address);
	}
	return 0;
}
