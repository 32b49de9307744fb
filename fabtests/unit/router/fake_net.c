/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "fake_net.h"

struct rte_arena {
	int unused;
};

struct rte_listener {
	struct rte_port *port;
	void (*request)(struct rte_request *request, void *context);
	void *context;
	union crn_addr addr;
};

int fake_listen_fails;
uint32_t fake_mute, fake_mute_ms;
uint8_t fake_flags;

struct fake_port *fake_port_of(struct rte_port *port)
{
	return crn_container_of(port, struct fake_port, port);
}

static ssize_t progress(struct rte_port *port)
{
	fake_port_of(port)->looks++;
	return fake_port_of(port)->work;
}

int rte_net_open(const struct rte_config_device *device, const char *lower,
		 struct rte_net **net, char why[256])
{
	(void)lower;
	*why = 0;
	fakes.done_at_post = true;
	fakes.progress = progress;
	*net = calloc(1, sizeof(**net));
	(*net)->device = device;
	(*net)->info = fi_allocinfo();
	strcpy((*net)->prov, "fake");
	return 0;
}

void rte_net_close(struct rte_net *net)
{
	fi_freeinfo(net->info);
	free(net);
}

/* A MAC address as an IPv6 address that contains it. */
int rte_net_resolve(const struct rte_net *net, const struct rte_uri *uri,
		    union crn_addr *addr)
{
	(void)net;
	memset(addr, 0, sizeof(*addr));
	if (uri->kind == RTE_HOST_IN) {
		addr->in.sin_family = AF_INET;
		addr->in.sin_port = htons(uri->port);
		memcpy(&addr->in.sin_addr, uri->addr, 4);
		return 0;
	}
	if (uri->kind == RTE_HOST_NAME)
		return -FI_ENODATA;
	addr->in6.sin6_family = AF_INET6;
	addr->in6.sin6_port = htons(uri->port);
	memcpy(&addr->in6.sin6_addr, uri->addr, 16);
	return 0;
}

void rte_net_uri(const struct rte_net *net, const struct sockaddr *addr,
		 struct rte_uri *uri)
{
	char text[RTE_URI_SIZE], host[CRN_ADDR_STRLEN];
	const char *why;

	snprintf(text, sizeof(text), "%s://%s",
		 rte_transport_attr(net->device->transport)->name,
		 crn_addr_str(addr, host));
	CT_EXPECT_EQ(rte_uri_parse(text, uri, &why), 0);
}

int rte_arena_open(const struct rte_arena_attr *attr, struct rte_arena **arena)
{
	(void)attr;
	*arena = calloc(1, sizeof(**arena));
	return 0;
}

void rte_arena_close(struct rte_arena *arena)
{
	free(arena);
}

int rte_port_open(const struct rte_port_attr *attr, struct rte_port **port)
{
	struct fake_port *fake = calloc(1, sizeof(*fake));

	fake->port.attr = *attr;
	fake->port.net = attr->net;
	crn_list_init(&fake->port.zombies);
	*port = &fake->port;
	return 0;
}

void rte_ports_linger(struct rte_port *const *ports, uint32_t count)
{
	(void)ports;
	(void)count;
}

int rte_port_close(struct rte_port *port)
{
	free(fake_port_of(port));
	return 0;
}

void rte_port_faults(struct rte_port *port, struct rte_faults *faults)
{
	port->faults = faults;
}

int rte_port_fds(struct rte_port *port, int fd[RTE_PORT_FDS])
{
	(void)port;
	fd[0] = fd[1] = fd[2] = -1;
	return 0;
}

int rte_port_trywait(struct rte_port *port)
{
	return fake_port_of(port)->trywait;
}

int rte_listen(struct rte_port *port, const struct sockaddr *addr,
	       void (*request)(struct rte_request *request, void *context), void *context,
	       struct rte_listener **listener)
{
	if (fake_listen_fails)
		return fake_listen_fails;
	*listener = calloc(1, sizeof(**listener));
	(*listener)->port = port;
	(*listener)->request = request;
	(*listener)->context = context;
	(*listener)->addr.in = (struct sockaddr_in){.sin_family = AF_INET,
						    .sin_port = htons(4711),
						    .sin_addr.s_addr = htonl(0x7f000001)};
	if (addr)
		memcpy(&(*listener)->addr, addr, crn_addr_len(addr));
	return 0;
}

int rte_listener_name(struct rte_listener *listener, union crn_addr *addr)
{
	*addr = listener->addr;
	return 0;
}

uint32_t rte_listener_sweep(struct rte_listener *listener, uint32_t ms,
			    union crn_addr *last)
{
	const uint32_t count = fake_mute;

	*last = listener->addr;
	fake_mute_ms = ms;
	fake_mute = 0;
	return count;
}

void rte_listener_close(struct rte_listener *listener)
{
	free(listener);
}

/* --- What tests do --- */

void fake_net_end(void)
{
	CT_EXPECT_STREQ(fake_end(), NULL);
	fakes.connect_ret = fakes.accept_ret = 0;
	fakes.crowded = false;
	fakes.at_close = NULL;
	fake_flags = 0;
}

struct rte_peer *fake_arrives(struct rte_listener *listener, enum rte_role role,
			      uint32_t as, uint32_t subnet, uint64_t node,
			      const char *address)
{
	struct rte_request request = {
		.listener = listener,
		.preamble = {.major = RTE_MAJOR,
			     .flags = fake_flags,
			     .role = (uint8_t)role,
			     .node = node,
			     .as = as,
			     .subnet = subnet},
		.address.in = {.sin_family = AF_INET, .sin_port = htons(1234)},
	};
	const uint32_t count = fakes.count;

	inet_pton(AF_INET, address, &request.address.in.sin_addr);
	fakes.rejected = false;
	listener->request(&request, listener->context);
	CT_EXPECT_EQ(fakes.rejected, fakes.count == count);
	return fakes.count == count ? NULL : fakes.last;
}

void fake_greets(struct rte_peer *peer, uint32_t as, uint32_t subnet, uint64_t node,
		 uint64_t epoch)
{
	if (!peer->remote.role)
		peer->remote.role = RTE_ROUTER;
	peer->remote.as = as;
	peer->remote.subnet = subnet;
	peer->remote.node = node;
	peer->hello.epoch = epoch;
	peer->state = RTE_PEER_UP;
	if (peer->ops->up)
		peer->ops->up(peer);
}

void fake_goes(struct rte_peer *peer, int err)
{
	fake_down(peer, err);
	CT_EXPECT_TRUE(peer->in->closed);
}

uint32_t fake_carries(const struct rte_peer *from, uint32_t first, struct rte_peer *to)
{
	const struct fake_message *message;
	uint32_t i;

	for (i = first; i < from->in->sent && !to->in->closed; i++) {
		message = fake_at(from, i);
		fake_say(to, message->bytes, message->len, NULL);
	}
	return from->in->sent;
}
