/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include "router.h"

static const char router_conf[] =
	"[lo]\ntransport = tcp\nas = 3\nsubnet = 1\nrouter = tcp://127.0.0.1:1\n";

static struct rte_packet router_packet(uint8_t type, int status)
{
	struct rte_packet packet = {
		.head = {.type = type, .flags = status ? RTE_ERR : 0},
	};

	return packet;
}

static void router_post(struct rte_tx *tx, ssize_t len)
{
	CT_ASSERT_GT(len, 0);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

static void router_reply(struct router *router, struct rte_peer *peer)
{
	const bool accepts = router->answer == ROUTER_ACCEPTS;
	const int status = accepts ? 0 : router->status;
	struct rte_packet packet = router_packet(RTE_CONN_REP, status);
	struct rte_conn_rep rep = {
		.status = (uint32_t)status,
		.verdict = RTE_FAILED,
		.router = accepts      ? 0
			  : router->of ? router->of
				       : router->node,
		.frag = RTE_FRAG_MIN,
		.eager = 4096,
		.features = router->req.features & router->features,
	};
	struct rte_tx *tx = rte_tx_get(peer, RTE_LANES, RTE_HEAD_ROOM);

	CT_ASSERT_NE(tx, NULL);
	memcpy(rep.id, router->req.id, sizeof(rep.id));
	if (accepts)
		rep.verdict = RTE_ACCEPTED;
	packet.options.present = accepts ? 0 : 1u << RTE_TLV_WHY;
	packet.options.text[RTE_TLV_WHY] = "as the test says";
	if (router->answer == ROUTER_REDIRECTS) {
		rep.verdict = RTE_REDIRECT;
		packet.options.present |= 1u << RTE_TLV_URI;
		packet.options.text[RTE_TLV_URI] = router->uri;
	}
	router_post(tx, rte_conn_rep_pack(&packet, &rep, tx->bytes, tx->room));
}

static void router_asked(struct router *router, struct rte_peer *peer,
			 const struct rte_packet *packet)
{
	CT_EXPECT_EQ(rte_conn_req_parse(&router->req, packet), RTE_OK);
	router->asked++;
	memset(router->param, 0, sizeof(router->param));
	memcpy(router->param, packet->payload,
	       CRN_MIN(packet->head.plen, sizeof(router->param) - 1));
	if (router->answer != ROUTER_SILENT && router->answer != ROUTER_LEAVES)
		router_reply(router, peer);
}

static void router_forget(struct router *router, struct rte_peer *peer)
{
	unsigned int i;

	for (i = 0; i < router->peers; i++)
		if (router->peer[i] == peer)
			router->peer[i] = NULL;
	rte_peer_close(peer, 0);
}

static void router_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct router *router = peer->user;
	const uint8_t type = rx->packet.head.type;

	if (type == RTE_CONN_REQ)
		router_asked(router, peer, &rx->packet);
	router->acked += type == RTE_CONN_ACK;
	router->shut += type == RTE_SHUTDOWN;
	rte_rx_put(rx);
	if (type == RTE_CONN_REQ && router->answer == ROUTER_LEAVES)
		router_forget(router, peer);
}

static void router_down(struct rte_peer *peer, int err)
{
	router_forget(peer->user, peer);
}

static const struct rte_peer_ops router_ops = {
	.message = router_message,
	.down = router_down,
};

static void router_request(struct rte_request *request, void *context)
{
	struct router *router = context;

	CT_ASSERT_LT(router->peers, (unsigned int)ROUTER_PEERS);
	if (!rte_peer_accept(router->port, request, &router_ops, router,
			     &router->peer[router->peers]))
		router->peers++;
}

void router_open(struct router *router, uint64_t node)
{
	const struct rte_arena_attr memory = {.land_size = 65536, .messages = 1000};
	struct rte_port_attr attr = {
		.self = {.role = RTE_ROUTER, .node = node, .epoch = 1, .name = "r"},
	};
	union crn_addr addr = {.in = {.sin_family = AF_INET}};
	struct rte_config_errors errors = {0};
	char why[256];

	memset(router, 0, sizeof(*router));
	router->node = node;
	CT_ASSERT_EQ(rte_config_parse(router_conf, sizeof(router_conf) - 1, "r",
				      &router->config, &errors),
		     0);
	CT_ASSERT_EQ(rte_net_open(router->config->device, NULL, &router->net, why), 0);
	CT_ASSERT_EQ(rte_arena_open(&memory, &router->arena), 0);
	attr.net = router->net;
	attr.arena = router->arena;
	attr.routing = &router->config->routing;
	CT_ASSERT_EQ(rte_port_open(&attr, &router->port), 0);
	addr.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CT_ASSERT_EQ(rte_listen(router->port, &addr.sa, router_request, router,
				&router->listener),
		     0);
	CT_ASSERT_EQ(rte_listener_name(router->listener, &addr), 0);
	router->number = crn_addr_port(&addr.sa);
}

void router_turn(struct router *router)
{
	rte_port_progress(router->port);
}

void router_shutdown(struct router *router, int status)
{
	struct rte_packet packet = router_packet(RTE_SHUTDOWN, status);
	struct rte_shutdown shutdown = {.router = router->node,
					.status = (uint32_t)status};
	struct rte_peer *peer = router->peer[router->peers - 1];
	struct rte_tx *tx;

	CT_ASSERT_NE(peer, NULL);
	tx = rte_tx_get(peer, RTE_LANES, RTE_HEAD_ROOM);
	CT_ASSERT_NE(tx, NULL);
	memcpy(shutdown.id, router->req.id, sizeof(shutdown.id));
	router_post(tx, rte_shutdown_pack(&packet, &shutdown, tx->bytes, tx->room));
}

void router_close(struct router *router)
{
	unsigned int i;

	for (i = 0; i < router->peers; i++)
		if (router->peer[i])
			rte_peer_close(router->peer[i], 0);
	if (router->listener)
		rte_listener_close(router->listener);
	if (router->port)
		CT_EXPECT_EQ(rte_port_close(router->port), 0);
	if (router->arena)
		rte_arena_close(router->arena);
	if (router->net)
		rte_net_close(router->net);
	rte_config_free(router->config);
	memset(router, 0, sizeof(*router));
}

void router_config(const struct router *first, const struct router *second,
		   const char *routing)
{
	char lines[128];
	int len;

	len = snprintf(lines, sizeof(lines), "router = tcp://127.0.0.1:%u\n",
		       first->number);
	if (second)
		snprintf(lines + len, sizeof(lines) - (size_t)len,
			 "router = tcp://127.0.0.1:%u\n", second->number);
	ends_config(lines, routing);
}
