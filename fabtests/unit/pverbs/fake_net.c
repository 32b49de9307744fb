/* SPDX-License-Identifier: BSD-2-Clause */
/* Interface addresses and routes: getifaddrs(3), and crn_addr_source by --wrap. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake_net.h"

#define FAKE_INTERFACES 16
#define FAKE_ROUTES 16

static struct fake_interface interfaces[FAKE_INTERFACES];
static unsigned int interface_count;

static struct {
	union crn_addr dest, source;
} routes[FAKE_ROUTES];
static unsigned int route_count;

void fake_net_reset(void)
{
	interface_count = 0;
	route_count = 0;
}

/* A link-local address needs a scope: interface 7. */
union crn_addr fake_addr(const char *text, uint16_t port)
{
	union crn_addr addr = {.ss = {0}};

	if (inet_pton(AF_INET, text, &addr.in.sin_addr) == 1) {
		addr.sa.sa_family = AF_INET;
	} else {
		CT_EXPECT_EQ(inet_pton(AF_INET6, text, &addr.in6.sin6_addr), 1);
		addr.sa.sa_family = AF_INET6;
		if (crn_addr_is_linklocal(&addr.sa))
			addr.in6.sin6_scope_id = 7;
	}
	crn_addr_set_port(&addr.sa, port);
	return addr;
}

void fake_add_addr(const char *text, struct fake_device *device, uint8_t port,
		   unsigned int flags)
{
	interfaces[interface_count++] = (struct fake_interface){
		.addr = fake_addr(text, 0),
		.device = device,
		.port = port,
		.flags = flags,
	};
}

void fake_add_route(const char *dest, const char *source)
{
	routes[route_count].dest = fake_addr(dest, 0);
	routes[route_count++].source = fake_addr(source, 0);
}

const struct fake_interface *fake_interface_of(const struct sockaddr *sa)
{
	for (unsigned int i = 0; i < interface_count; i++) {
		if (crn_addr_same_host(sa, &interfaces[i].addr.sa))
			return &interfaces[i];
	}
	return NULL;
}

/* Every interface has an entry without address too, as those of AF_PACKET may be. */
int getifaddrs(struct ifaddrs **out)
{
	unsigned int i, count = 2 * interface_count;
	int err = fake_enter(FAKE_GETIFADDRS);
	struct ifaddrs *list;

	if (err) {
		errno = err;
		return -1;
	}
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -1;
	for (i = 0; i < count; i++) {
		list[i].ifa_next = i + 1 < count ? &list[i + 1] : NULL;
		list[i].ifa_flags = interfaces[i / 2].flags;
		if (i % 2)
			list[i].ifa_addr = &interfaces[i / 2].addr.sa;
	}
	fake_objects++;
	*out = list;
	return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
	fake_objects--;
	free(list);
}

int __wrap_crn_addr_source(const struct sockaddr *dest, union crn_addr *out);
int __wrap_crn_addr_source(const struct sockaddr *dest, union crn_addr *out)
{
	for (unsigned int i = 0; i < route_count; i++) {
		if (crn_addr_same_host(dest, &routes[i].dest.sa)) {
			*out = routes[i].source;
			return 0;
		}
	}
	return -FI_ENETUNREACH;
}
