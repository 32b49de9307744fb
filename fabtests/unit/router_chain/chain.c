/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "chain.h"
#include "route/route.h"

struct chain chain;

static void on_target(struct rte_request *request, void *context)
{
	struct chain_end *end = &chain.target[chain.targets++];

	(void)context;
	CT_EXPECT_EQ(rte_peer_accept(chain.target_port, request, &chain_end_ops, end,
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

/* In the place of route/own.c: nobody begins a probe. */
void frt_route_own(struct frt_node *node, const struct rte_conn_req *req,
		   struct frt_answer *answer)
{
	(void)node;
	(void)req;
	*answer = (struct frt_answer){.what = FRT_REFUSE, .status = FI_EHOSTUNREACH};
}

static void first_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct chain_router *router = peer->user;
	struct frt_client *client = NULL;

	if (peer->remote.role == RTE_CLIENT)
		client =
			frt_client_get(&router->node, &router->device[0], &peer->address);
	frt_transit_ops.request(&router->device[0].at[0], peer, client, rx);
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

	CT_EXPECT_EQ(rte_peer_accept(router->device[0].at[0].port, request, &first_ops,
				     router, &peer),
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
	const struct rte_arena_attr attr = {.land_size = CHAIN_LAND,
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
	CT_ASSERT_EQ(frt_workers_open(&router->node, 1), 0);
	router->node.id = id;
	CT_ASSERT_EQ(frt_transit_ops.open(&router->node), 0);
	router->arena = arena_open();
	for (i = 0; i < 2; i++) {
		router->config_device[i].frag = CHAIN_LAND;
		router->device[i].config = &router->config_device[i];
		router->device[i].rate = 1000000000;
		router->device[i].at[0].device = &router->device[i];
		router->device[i].at[0].worker = router->node.worker[0];
		router->device[i].at[0].port = port_open(router->arena, RTE_ROUTER, id);
		router->node.device[router->node.devices++] = &router->device[i];
	}
	listen_at(router->device[0].at[0].port, on_router, router, &router->listener,
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
		CT_EXPECT_EQ(rte_port_close(router->device[i].at[0].port), 0);
		router->device[i].at[0].port = NULL;
	}
	CT_EXPECT_EQ(frt_transit_count(&router->node), 0);
	CT_EXPECT_TRUE(crn_list_empty(&router->node.clients));
	frt_transit_ops.close(&router->node);
	frt_workers_close(&router->node);
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
	chain_end_begin();
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
	CT_EXPECT_EQ(rte_peer_connect(chain.client_port, &chain.router[0].address.sa, 0,
				      &chain_end_ops, end, &end->peer),
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
			if (chain.router[i].device[k].at[0].port)
				rte_port_progress(chain.router[i].device[k].at[0].port);
		crn_deadlines_run(&chain.router[i].node.deadlines);
	}
	for (i = 0; i < CHAIN_CONNS; i++) {
		chain_pump(&chain.client[i]);
		chain_pump(&chain.target[i]);
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
