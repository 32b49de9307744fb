/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "chain.h"

#define LAND 65536u
#define PATTERN (4u << 20)

struct chain chain;

static uint8_t pattern[PATTERN];

/* Bytes of a message: around what is copied, what fits into a Send, and into a slot. */
static uint32_t message_len(uint64_t seq)
{
	static const uint32_t lens[] = {
		1,	  0,	7,	  512,		513,	 RTE_EAGER, RTE_EAGER + 1,
		LAND - 1, LAND, LAND + 1, 3 * LAND + 5, 1u << 20};

	return lens[seq % CRN_COUNT(lens)];
}

static const uint8_t *message_at(uint64_t seq, uint64_t offset)
{
	return pattern + seq % 251 + offset;
}

static void conn_id(uint32_t conn, uint8_t id[RTE_CONN_ID_LEN])
{
	memset(id, 0, RTE_CONN_ID_LEN);
	id[0] = (uint8_t)conn;
}

/* --- What ends say --- */

/* There is always memory. */
static void say(struct rte_peer *peer, ssize_t (*pack)(void *, void *, size_t),
		void *what)
{
	struct rte_tx *tx = rte_tx_get(peer, RTE_LANES, RTE_SEND_ROOM);
	ssize_t len;

	CT_ASSERT_NE(tx, NULL);
	len = pack(what, tx->bytes, tx->room);
	CT_ASSERT_GT(len, 0);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

static ssize_t pack_req(void *end, void *bytes, size_t size)
{
	const struct rte_packet packet = {.head = {.type = RTE_CONN_REQ}};
	struct rte_conn_req req = {.ttl = RTE_TTL_MAX,
				   .frag = RTE_FRAG_MAX,
				   .eager = RTE_EAGER,
				   .timeout = 10000};

	conn_id(((struct chain_end *)end)->conn, req.id);
	return rte_conn_req_pack(&packet, &req, bytes, size);
}

static ssize_t pack_rep(void *req, void *bytes, size_t size)
{
	const struct rte_conn_req *asked = req;
	const struct rte_packet packet = {.head = {.type = RTE_CONN_REP}};
	struct rte_conn_rep rep = {.verdict = RTE_ACCEPTED,
				   .frag = asked->frag,
				   .eager = asked->eager};

	memcpy(rep.id, asked->id, sizeof(rep.id));
	return rte_conn_rep_pack(&packet, &rep, bytes, size);
}

static ssize_t pack_ack(void *end, void *bytes, size_t size)
{
	const struct rte_packet packet = {.head = {.type = RTE_CONN_ACK}};
	struct rte_conn_ack ack = {0};

	conn_id(((struct chain_end *)end)->conn, ack.id);
	return rte_conn_ack_pack(&packet, &ack, bytes, size);
}

static ssize_t pack_shutdown(void *end, void *bytes, size_t size)
{
	const struct rte_packet packet = {.head = {.type = RTE_SHUTDOWN}};
	struct rte_shutdown shutdown = {0};

	conn_id(((struct chain_end *)end)->conn, shutdown.id);
	return rte_shutdown_pack(&packet, &shutdown, bytes, size);
}

static void flown(struct rte_tx *tx, int err)
{
	(void)err;
	((struct chain_end *)tx->user)->flying--;
}

static bool send_piece(struct chain_end *end)
{
	const uint64_t seq = end->sent + 1;
	const uint32_t len = message_len(seq);
	const uint64_t left = len - end->offset;
	struct rte_tx *tx = rte_tx_get(end->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	struct rte_packet packet = {.head = {.type = RTE_MSG, .seq = seq}};
	struct rte_msg msg = {.slot = RTE_SLOT_NONE,
			      .length = len,
			      .offset = end->offset};
	uint64_t piece = CRN_MIN(left, (uint64_t)end->eager);

	if (!tx)
		return false;
	if (left > end->eager && rte_tx_slot(tx)) {
		piece = CRN_MIN(left, (uint64_t)CRN_MIN(tx->slot_len, (size_t)end->frag));
		msg.slot = 0;
	}
	packet.head.plen = (uint32_t)piece;
	packet.head.flags = end->offset ? 0 : RTE_FIRST;
	if (piece == left)
		packet.head.flags |= RTE_LAST | (end->ask ? RTE_ACKREQ : 0);
	tx->len = (size_t)rte_msg_pack(&packet, &msg, tx->bytes, tx->room);
	tx->data = message_at(seq, end->offset);
	tx->data_len = piece;
	tx->user = end;
	tx->done = flown;
	end->flying++;
	rte_tx_post(tx);
	end->offset += piece;
	if (piece < left)
		return true;
	end->offset = 0;
	end->sent = seq;
	return true;
}

static void pump(struct chain_end *end)
{
	if (!end->open || !end->peer || end->peer->state != RTE_PEER_UP)
		return;
	while (end->sent < end->wanted)
		if (!send_piece(end))
			return;
	if (!end->closing)
		return;
	end->closing = false;
	say(end->peer, pack_shutdown, end);
}

/* --- What ends hear --- */

static void hear_data(struct chain_end *end, const struct rte_rx *rx)
{
	const struct rte_head *head = &rx->packet.head;
	struct rte_msg msg;

	CT_ASSERT_EQ(rte_msg_parse(&msg, &rx->packet), RTE_OK);
	CT_EXPECT_EQ(head->seq, end->received + 1);
	CT_EXPECT_EQ(msg.length, message_len(head->seq));
	CT_EXPECT_EQ(msg.offset, end->arrived);
	/* Whoever is last before an end acknowledges. */
	CT_EXPECT_FALSE(head->flags & RTE_ACKREQ);
	if (head->plen)
		CT_EXPECT_MEMEQ(rx->payload, message_at(head->seq, msg.offset),
				head->plen);
	end->arrived += head->plen;
	if (!(head->flags & RTE_LAST))
		return;
	CT_EXPECT_EQ(end->arrived, msg.length);
	end->arrived = 0;
	end->received = head->seq;
}

static void hear_rep(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_conn_rep rep;

	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, packet), RTE_OK);
	end->verdict = rep.verdict;
	end->status = (int)rep.status;
	end->router = rep.router;
	if (rep.verdict != RTE_ACCEPTED)
		return;
	end->frag = rep.frag;
	end->eager = rep.eager;
	end->open = true;
	say(end->peer, pack_ack, end);
}

static void hear_req(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_conn_req req;

	CT_ASSERT_EQ(rte_conn_req_parse(&req, packet), RTE_OK);
	CT_EXPECT_EQ(packet->options.hops, chain.routers);
	CT_EXPECT_EQ(req.ttl, RTE_TTL_MAX - chain.routers + 1);
	end->conn = req.id[0];
	end->frag = req.frag;
	end->eager = req.eager;
	say(end->peer, pack_rep, &req);
}

static void hear_shutdown(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_shutdown shutdown;

	CT_ASSERT_EQ(rte_shutdown_parse(&shutdown, packet), RTE_OK);
	end->shut = true;
	end->status = (int)shutdown.status;
	end->router = shutdown.router;
}

static void hear_ack(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_ack ack = {.request = packet->options.ack};

	if (packet->head.type == RTE_ACK)
		CT_ASSERT_EQ(rte_ack_parse(&ack, packet), RTE_OK);
	CT_EXPECT_GT(ack.request, end->acked);
	CT_EXPECT_LE(ack.request, end->sent);
	end->acked = ack.request;
}

static void hear(struct chain_end *end, struct rte_rx *rx)
{
	const struct rte_packet *packet = &rx->packet;

	if (packet->options.present & 1u << RTE_TLV_ACK)
		hear_ack(end, packet);
	switch (packet->head.type) {
	case RTE_MSG:
		hear_data(end, rx);
		return;
	case RTE_ACK:
		hear_ack(end, packet);
		return;
	case RTE_CONN_REQ:
		hear_req(end, packet);
		return;
	case RTE_CONN_REP:
		hear_rep(end, packet);
		return;
	case RTE_CONN_ACK:
		end->open = true;
		return;
	case RTE_SHUTDOWN:
		hear_shutdown(end, packet);
		return;
	default:
		CT_EXPECT_STREQ(rte_message_name(packet->head.type), "nothing");
	}
}

static void on_up(struct rte_peer *peer)
{
	if (peer->active)
		say(peer, pack_req, peer->user);
}

static void on_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct chain_end *end = peer->user;

	if (end->hold && rx->lane < RTE_LANES) {
		crn_list_add_tail(&end->held, &rx->entry);
		return;
	}
	hear(end, rx);
	rte_rx_put(rx);
}

void chain_let_go(struct chain_end *end)
{
	struct crn_list *entry;
	struct rte_rx *rx;

	end->hold = false;
	while ((entry = crn_list_pop(&end->held))) {
		rx = crn_container_of(entry, struct rte_rx, entry);
		hear(end, rx);
		rte_rx_put(rx);
	}
}

static void on_ready(struct rte_peer *peer)
{
	pump(peer->user);
}

static void on_down(struct rte_peer *peer, int err)
{
	struct chain_end *end = peer->user;

	end->err = err;
	end->peer = NULL;
	end->open = false;
	rte_peer_close(peer, 0);
}

static const struct rte_peer_ops end_ops = {
	.up = on_up, .message = on_message, .ready = on_ready, .down = on_down};

static void on_target(struct rte_request *request, void *context)
{
	struct chain_end *end = &chain.target[chain.targets++];

	(void)context;
	CT_EXPECT_EQ(rte_peer_accept(chain.target_port, request, &end_ops, end,
				     &end->peer),
		     0);
}

/* --- Routers --- */

/* In the place of route/: the next in the chain. */
void frt_route(struct frt_node *node, const struct frt_question *question,
	       struct frt_answer *answer)
{
	struct chain_router *router = crn_container_of(node, struct chain_router, node);
	const uint32_t at = (uint32_t)(router - chain.router);

	memset(answer, 0, sizeof(*answer));
	answer->device = &router->device[1];
	answer->source = question->req->source;
	answer->hops = chain.routers;
	answer->what = at + 1 == chain.routers ? FRT_DELIVER : FRT_FORWARD;
	answer->address = chain.address;
	if (answer->what == FRT_FORWARD) {
		answer->address = router[1].address;
		answer->router = CHAIN_ID + at + 1;
	}
}

static void first_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct chain_router *router = peer->user;
	struct frt_client *client = NULL;

	if (peer->remote.role == RTE_CLIENT)
		client =
			frt_client_get(&router->node, &router->device[0], &peer->address);
	frt_transit_ops.request(&router->node, &router->device[0], peer, client, rx);
}

static void first_down(struct rte_peer *peer, int err)
{
	(void)err;
	rte_peer_close(peer, 0);
}

static const struct rte_peer_ops first_ops = {.message = first_message,
					      .down = first_down};

static void on_router(struct rte_request *request, void *context)
{
	struct chain_router *router = context;
	struct rte_peer *peer;

	CT_EXPECT_EQ(rte_peer_accept(router->device[0].port, request, &first_ops, router,
				     &peer),
		     0);
}

static struct rte_port *port_open(struct rte_arena *arena, enum rte_role role,
				  uint64_t node)
{
	const struct rte_port_attr attr = {
		.net = chain.net,
		.arena = arena,
		.self = {.role = role, .node = node, .epoch = 1},
		.routing = &chain.config->routing,
	};
	struct rte_port *port = NULL;

	CT_EXPECT_EQ(rte_port_open(&attr, &port), 0);
	return port;
}

static void listen_at(struct rte_port *port,
		      void (*request)(struct rte_request *, void *), void *context,
		      struct rte_listener **listener, union crn_addr *address)
{
	union crn_addr any = {.in = {.sin_family = AF_INET}};

	any.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CT_ASSERT_EQ(rte_listen(port, &any.sa, request, context, listener), 0);
	CT_ASSERT_EQ(rte_listener_name(*listener, address), 0);
}

static struct rte_arena *arena_open(void)
{
	const struct rte_arena_attr attr = {.land_size = LAND,
					    .lands = 64,
					    .messages = 2000};
	struct rte_arena *arena = NULL;

	CT_EXPECT_EQ(rte_arena_open(&attr, &arena), 0);
	return arena;
}

static void router_open(struct chain_router *router, uint64_t id)
{
	size_t i;

	router->config.router.id = id;
	router->file.config = &router->config;
	router->node.file = &router->file;
	crn_list_init(&router->node.clients);
	CT_ASSERT_EQ(crn_deadlines_init(&router->node.deadlines), 0);
	CT_ASSERT_EQ(frt_transit_ops.open(&router->node), 0);
	router->arena = arena_open();
	for (i = 0; i < 2; i++) {
		router->config_device[i].frag = LAND;
		router->device[i].config = &router->config_device[i];
		router->device[i].rate = 1000000000;
		router->device[i].port = port_open(router->arena, RTE_ROUTER, id);
		router->node.device[router->node.devices++] = &router->device[i];
	}
	listen_at(router->device[0].port, on_router, router, &router->listener,
		  &router->address);
}

static void router_close(struct chain_router *router)
{
	struct rte_arena_use use;
	size_t i;

	if (router->listener)
		rte_listener_close(router->listener);
	for (i = 0; i < 2; i++) {
		frt_transit_ops.device_gone(&router->node, &router->device[i],
					    FI_ESHUTDOWN);
		CT_EXPECT_EQ(rte_port_close(router->device[i].port), 0);
		router->device[i].port = NULL;
	}
	CT_EXPECT_EQ(frt_transit_count(&router->node), 0);
	CT_EXPECT_TRUE(crn_list_empty(&router->node.clients));
	frt_transit_ops.close(&router->node);
	rte_arena_use(router->arena, &use);
	CT_EXPECT_EQ(use.messages_taken, 0);
	CT_EXPECT_EQ(use.lands_taken, 0);
	rte_arena_close(router->arena);
	crn_deadlines_fini(&router->node.deadlines);
}

/* --- All of it --- */

static struct rte_config *read_config(void)
{
	static const char text[] =
		"[lo]\ntransport = tcp\nas = 1\nsubnet = 1\nrouter = tcp://127.0.0.1:1\n";
	struct rte_config_errors errors = {0};
	struct rte_config *config = NULL;

	CT_EXPECT_EQ(rte_config_parse(text, strlen(text), "test", &config, &errors), 0);
	return config;
}

void chain_open(uint32_t routers)
{
	char why[256] = "";
	uint32_t i;

	memset(&chain, 0, sizeof(chain));
	for (i = 0; i < PATTERN; i++)
		pattern[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	chain.config = read_config();
	CT_ASSERT_EQ(rte_net_open(&chain.config->device[0], NULL, &chain.net, why), 0);
	chain.arena = arena_open();
	chain.client_port = port_open(chain.arena, RTE_CLIENT, 1);
	chain.target_port = port_open(chain.arena, RTE_TARGET, 2);
	listen_at(chain.target_port, on_target, NULL, &chain.listener, &chain.address);
	chain.routers = routers;
	for (i = 0; i < routers; i++)
		router_open(&chain.router[i], CHAIN_ID + i);
	for (i = 0; i < CHAIN_CONNS; i++) {
		crn_list_init(&chain.client[i].held);
		crn_list_init(&chain.target[i].held);
	}
}

struct chain_end *chain_connect(void)
{
	struct chain_end *end = &chain.client[chain.conns];

	end->conn = chain.conns++;
	CT_EXPECT_EQ(rte_peer_connect(chain.client_port, &chain.router[0].address.sa,
				      &end_ops, end, &end->peer),
		     0);
	return end;
}

static void join(struct chain_end *client)
{
	CHAIN_UNTIL(client->open && chain.target[client->conn].open);
}

struct chain_end *chain_join(void)
{
	struct chain_end *client = chain_connect();

	join(client);
	return client;
}

void chain_turn(void)
{
	uint32_t i, k;

	rte_port_progress(chain.client_port);
	rte_port_progress(chain.target_port);
	for (i = 0; i < chain.routers; i++) {
		for (k = 0; k < 2; k++)
			if (chain.router[i].device[k].port)
				rte_port_progress(chain.router[i].device[k].port);
		crn_deadlines_run(&chain.router[i].node.deadlines);
	}
	for (i = 0; i < CHAIN_CONNS; i++) {
		pump(&chain.client[i]);
		pump(&chain.target[i]);
	}
}

static void end_close(struct chain_end *end)
{
	struct rte_peer *peer = end->peer;

	chain_let_go(end);
	end->peer = NULL;
	if (peer)
		rte_peer_close(peer, 0);
}

void chain_close(void)
{
	uint32_t i;

	for (i = 0; i < CHAIN_CONNS; i++) {
		end_close(&chain.client[i]);
		end_close(&chain.target[i]);
	}
	if (chain.listener)
		rte_listener_close(chain.listener);
	for (i = 0; i < chain.routers; i++)
		router_close(&chain.router[i]);
	CT_EXPECT_EQ(rte_port_close(chain.client_port), 0);
	CT_EXPECT_EQ(rte_port_close(chain.target_port), 0);
	rte_arena_close(chain.arena);
	rte_net_close(chain.net);
	rte_config_free(chain.config);
}
