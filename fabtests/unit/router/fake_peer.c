/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "fake_peer.h"

struct rte_arena {
	int unused;
};

struct rte_listener {
	struct rte_port *port;
	void (*request)(struct rte_request *request, void *context);
	void *context;
	union crn_addr addr;
};

struct fake_peer *fake_peers[FAKE_PEERS];
uint32_t fake_peers_count;
uint32_t fake_rx_held;
int fake_net_fails, fake_listen_fails, fake_connect_fails, fake_accept_fails;
bool fake_rejected, fake_crowded;
uint8_t fake_flags;
void (*fake_meanwhile)(void);

/* --- Devices and ports --- */

int rte_net_open(const struct rte_config_device *device, const char *lower,
		 struct rte_net **net, char why[256])
{
	(void)lower;
	*why = 0;
	if (fake_net_fails)
		return fake_net_fails;
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
	memcpy(&addr->in6.sin6_addr, uri->addr, uri->kind == RTE_HOST_MAC ? 6 : 16);
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

struct fake_port *fake_port_of(struct rte_port *port)
{
	return crn_container_of(port, struct fake_port, port);
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

ssize_t rte_port_progress(struct rte_port *port)
{
	fake_port_of(port)->looks++;
	return fake_port_of(port)->work;
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

void rte_listener_close(struct rte_listener *listener)
{
	free(listener);
}

/* --- Peers --- */

static struct fake_peer *peer_new(struct rte_port *port, const struct rte_peer_ops *ops,
				  void *user)
{
	struct fake_peer *fake = calloc(1, sizeof(*fake));

	fake->peer.port = port;
	fake->peer.ops = ops;
	fake->peer.user = user;
	fake->peer.eager_max = RTE_EAGER;
	fake_peers[fake_peers_count++] = fake;
	return fake;
}

struct fake_peer *fake_of(struct rte_peer *peer)
{
	return crn_container_of(peer, struct fake_peer, peer);
}

struct fake_peer *fake_last(void)
{
	return fake_peers_count ? fake_peers[fake_peers_count - 1] : NULL;
}

int rte_peer_connect(struct rte_port *port, const struct sockaddr *addr, uint8_t flags,
		     const struct rte_peer_ops *ops, void *user, struct rte_peer **peer)
{
	struct fake_peer *fake;

	if (fake_connect_fails)
		return fake_connect_fails;
	fake = peer_new(port, ops, user);
	fake->peer.active = true;
	fake->peer.local.flags = flags;
	memcpy(&fake->peer.address, addr, crn_addr_len(addr));
	crn_addr_str(addr, fake->peer.text);
	*peer = &fake->peer;
	return 0;
}

int rte_peer_accept(struct rte_port *port, struct rte_request *request,
		    const struct rte_peer_ops *ops, void *user, struct rte_peer **peer)
{
	struct fake_peer *fake;

	if (fake_accept_fails) {
		rte_request_reject(request);
		return fake_accept_fails;
	}
	fake = peer_new(port, ops, user);
	fake->peer.address = request->address;
	fake->peer.remote = request->preamble;
	crn_addr_str(&request->address.sa, fake->peer.text);
	*peer = &fake->peer;
	return 0;
}

void rte_request_reject(struct rte_request *request)
{
	(void)request;
	fake_rejected = true;
}

void rte_request_full(struct rte_request *request)
{
	rte_request_reject(request);
}

bool rte_request_denied(struct rte_request *request)
{
	(void)request;
	return false;
}

void rte_peer_quota(struct rte_peer *peer, struct rte_quota *quota)
{
	(void)peer;
	(void)quota;
}

void rte_peer_close(struct rte_peer *peer, int status)
{
	void (*meanwhile)(void) = fake_meanwhile;

	CT_EXPECT_FALSE(fake_of(peer)->closed);
	fake_of(peer)->closed = true;
	fake_of(peer)->status = status;
	fake_meanwhile = NULL;
	if (meanwhile)
		meanwhile();
}

void rte_peer_bad(struct rte_peer *peer, const char *what)
{
	(void)what;
	fake_of(peer)->bad = true;
}

void rte_rx_put(struct rte_rx *rx)
{
	CT_EXPECT_NE(fake_rx_held, 0);
	fake_rx_held--;
	free((void *)(uintptr_t)rx->packet.bytes);
	free(rx);
}

struct rte_tx *rte_tx_get(struct rte_peer *peer, enum rte_lane lane, size_t room)
{
	struct fake_peer *fake = fake_of(peer);

	CT_EXPECT_EQ(lane, RTE_LANES);
	CT_EXPECT_LE(room, RTE_SEND_ROOM);
	CT_EXPECT_FALSE(fake->closed);
	if (fake->stuck)
		return NULL;
	fake->tx = (struct rte_tx){.peer = peer, .bytes = fake->room, .room = room};
	return &fake->tx;
}

/* Data, of which these peers have none. */
bool rte_tx_may(struct rte_peer *peer, enum rte_lane lane)
{
	(void)lane;
	return !fake_of(peer)->stuck;
}

bool rte_tx_slot(struct rte_tx *tx)
{
	(void)tx;
	return false;
}

void rte_tx_drop(struct rte_tx *tx)
{
	(void)tx;
}

void *rte_rx_desc(const struct rte_rx *rx, const struct rte_port *port)
{
	(void)rx;
	(void)port;
	return NULL;
}

bool rte_peer_later(struct rte_peer *peer)
{
	(void)peer;
	return false;
}

bool rte_peer_idle(const struct rte_peer *peer)
{
	(void)peer;
	return false;
}

struct rte_tx *rte_tx_placing(struct rte_peer *peer)
{
	(void)peer;
	return NULL;
}

void rte_tx_place(struct rte_tx *tx, uint64_t addr, uint64_t key, bool deliver)
{
	(void)tx;
	(void)addr;
	(void)key;
	(void)deliver;
}

void rte_peer_expect(struct rte_peer *peer, enum rte_lane lane, uint64_t bytes)
{
	(void)peer;
	(void)lane;
	(void)bytes;
}

void rte_arena_use(const struct rte_arena *arena, struct rte_arena_use *use)
{
	(void)arena;
	*use = (struct rte_arena_use){.bytes = 1000000, .bytes_taken = 4321};
}

bool rte_arena_room(const struct rte_arena *arena, uint32_t peers)
{
	(void)arena;
	return peers && !fake_crowded;
}

void rte_tx_post(struct rte_tx *tx)
{
	struct fake_peer *fake = fake_of(tx->peer);

	CT_EXPECT_LE(tx->len, tx->room);
	CT_ASSERT_LT(fake->sent, FAKE_MESSAGES);
	fake->message[fake->sent].bytes = malloc(tx->len);
	memcpy(fake->message[fake->sent].bytes, tx->bytes, tx->len);
	fake->message[fake->sent++].len = tx->len;
}

/* --- What tests do --- */

void fake_peers_free(void)
{
	uint32_t i, k;

	for (i = 0; i < fake_peers_count; i++) {
		for (k = 0; k < fake_peers[i]->sent; k++)
			free(fake_peers[i]->message[k].bytes);
		free(fake_peers[i]);
	}
	fake_peers_count = 0;
	CT_EXPECT_EQ(fake_rx_held, 0);
	fake_rx_held = 0;
	fake_net_fails = fake_listen_fails = fake_connect_fails = fake_accept_fails = 0;
	fake_flags = 0;
	fake_crowded = false;
}

struct fake_peer *fake_arrives(struct rte_listener *listener, enum rte_role role,
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
	const uint32_t count = fake_peers_count;

	inet_pton(AF_INET, address, &request.address.in.sin_addr);
	fake_rejected = false;
	listener->request(&request, listener->context);
	CT_EXPECT_EQ(fake_rejected, fake_peers_count == count);
	return fake_peers_count == count ? NULL : fake_last();
}

void fake_up(struct fake_peer *fake, uint32_t as, uint32_t subnet, uint64_t node,
	     uint64_t epoch)
{
	if (!fake->peer.remote.role)
		fake->peer.remote.role = RTE_ROUTER;
	fake->peer.remote.as = as;
	fake->peer.remote.subnet = subnet;
	fake->peer.remote.node = node;
	fake->peer.hello.epoch = epoch;
	fake->peer.state = RTE_PEER_UP;
	if (fake->peer.ops->up)
		fake->peer.ops->up(&fake->peer);
}

void fake_down(struct fake_peer *fake, int err)
{
	fake->peer.state = RTE_PEER_DOWN;
	fake->peer.ops->down(&fake->peer, err);
	CT_EXPECT_TRUE(fake->closed);
}

void fake_hears(struct fake_peer *fake, const void *bytes, size_t len)
{
	struct rte_rx *rx = calloc(1, sizeof(*rx));
	uint8_t *copy = malloc(len);

	memcpy(copy, bytes, len);
	rx->peer = &fake->peer;
	rx->lane = RTE_LANES;
	CT_EXPECT_EQ(rte_packet_parse(&rx->packet, copy, len), RTE_OK);
	rx->payload = (uint8_t *)(uintptr_t)rx->packet.payload;
	crn_list_init(&rx->entry);
	fake_rx_held++;
	fake->peer.ops->message(&fake->peer, rx);
}

uint32_t fake_carries(const struct fake_peer *from, uint32_t first, struct fake_peer *to)
{
	uint32_t i;

	for (i = first; i < from->sent && !to->closed; i++)
		fake_hears(to, from->message[i].bytes, from->message[i].len);
	return from->sent;
}

uint32_t fake_sent(const struct fake_peer *fake, uint8_t type)
{
	uint32_t i, count = 0;

	for (i = 0; i < fake->sent; i++)
		count += fake->message[i].bytes[2] == type;
	return count;
}
