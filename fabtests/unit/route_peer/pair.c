/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "pair.h"

#define PAIR_LAND 65536u

static struct rte_config *pair_config(unsigned int heartbeat)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config = NULL;
	char text[256];

	snprintf(text, sizeof(text),
		 "[lo]\ntransport = tcp\nas = 1\nsubnet = 1\nrouter = tcp://127.0.0.1:1\n"
		 "[routing]\nheartbeat = %ums\nconnect_timeout = 5s\n",
		 heartbeat ? heartbeat : 1000);
	CT_EXPECT_EQ(rte_config_parse(text, strlen(text), "test", &config, &errors), 0);
	return config;
}

static void end_log(void *context, const char *text)
{
	struct pair_end *end = context;

	snprintf(end->log, sizeof(end->log), "%s", text);
	end->lines++;
}

static void end_denied(void *context, enum rte_denial why, const union crn_addr *who,
		       const char *text)
{
	struct pair_end *end = context;

	CT_EXPECT_EQ(who->sa.sa_family, AF_INET);
	end->denied[why]++;
	end_log(context, text);
}

static void end_up(struct rte_peer *peer)
{
	((struct pair_end *)peer->user)->ups++;
}

static void end_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct pair_end *end = peer->user;

	end->messages++;
	crn_list_add_tail(&end->rxs, &rx->entry);
}

static void end_ready(struct rte_peer *peer)
{
	((struct pair_end *)peer->user)->readies++;
}

static void end_down(struct rte_peer *peer, int err)
{
	struct pair_end *end = peer->user;

	end->downs++;
	end->err = err;
}

static const struct rte_peer_ops end_ops = {
	.up = end_up,
	.message = end_message,
	.ready = end_ready,
	.down = end_down,
};

static void end_open(struct pair_end *end, const struct pair_attr *attr, int which)
{
	const bool crowded = which == PAIR_B && attr->crowded;
	const struct rte_arena_attr arena = {
		.land_size = PAIR_LAND,
		.lands = attr->lands,
		.messages = crowded	     ? 1
			    : attr->messages ? attr->messages
					     : 1000,
	};
	struct rte_port_attr port = {
		.self = {.role = attr->role[which] ? attr->role[which] : RTE_CLIENT,
			 .node = 77u + (unsigned int)which,
			 .epoch = 5,
			 .name = which == PAIR_A ? "first" : "second"},
		.keys = attr->keys[which],
		.denied = end_denied,
		.log = end_log,
		.context = end,
	};
	char why[256] = "";

	crn_list_init(&end->rxs);
	end->config = pair_config(attr->heartbeat);
	if (attr->requires[which])
		end->config->device[0].auth = RTE_AUTH_REQUIRED;
	CT_ASSERT_EQ(rte_net_open(&end->config->device[0], NULL, &end->net, why), 0);
	CT_ASSERT_EQ(rte_arena_open(&arena, &end->arena), 0);
	if (!attr->elastic[which]) {
		port.receives[RTE_REQUESTS] =
			attr->receives[RTE_REQUESTS] ? attr->receives[RTE_REQUESTS] : 12;
		port.receives[RTE_RESPONSES] =
			attr->receives[RTE_RESPONSES] ? attr->receives[RTE_RESPONSES] : 6;
	}
	port.net = end->net;
	port.arena = end->arena;
	port.routing = &end->config->routing;
	CT_ASSERT_EQ(rte_port_open(&port, &end->port), 0);
}

static void pair_request(struct rte_request *request, void *context)
{
	struct pair *pair = context;
	struct pair_end *end = &pair->end[PAIR_B];

	if (pair->meddle)
		pair->meddle(request);
	if (pair->refuse)
		rte_request_reject(request);
	else if (pair->full)
		rte_request_full(request);
	else
		pair->ret =
			rte_peer_accept(end->port, request, &end_ops, end, &end->peer);
}

void pair_open(struct pair *pair, const struct pair_attr *attr)
{
	union crn_addr any = {.in = {.sin_family = AF_INET}};

	pair_close(pair);
	pair->a = &pair->end[PAIR_A];
	pair->b = &pair->end[PAIR_B];
	pair->crowded = attr->crowded;
	end_open(&pair->end[PAIR_A], attr, PAIR_A);
	end_open(&pair->end[PAIR_B], attr, PAIR_B);
	any.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CT_ASSERT_EQ(rte_listen(pair->end[PAIR_B].port, &any.sa, pair_request, pair,
				&pair->listener),
		     0);
	CT_ASSERT_EQ(rte_listener_name(pair->listener, &pair->address), 0);
}

void pair_begin(struct pair *pair)
{
	struct pair_end *end = &pair->end[PAIR_A];

	CT_ASSERT_EQ(rte_peer_connect(end->port, &pair->address.sa, 0, &end_ops, end,
				      &end->peer),
		     0);
}

void pair_connect(struct pair *pair)
{
	pair_begin(pair);
	PAIR_UNTIL(pair, pair->end[PAIR_A].ups && pair->end[PAIR_B].ups);
}

void pair_up(struct pair *pair, const struct pair_attr *attr)
{
	pair_open(pair, attr);
	pair_connect(pair);
}

void pair_turn(struct pair *pair)
{
	rte_port_progress(pair->end[PAIR_A].port);
	rte_port_progress(pair->end[PAIR_B].port);
}

void pair_expect_left(const struct pair_end *end, int err)
{
	CT_EXPECT_EQ(end->err, err);
	CT_EXPECT_EQ(end->lines, 1);
	CT_EXPECT_STRSTR(end->log, end->peer->text);
}

void pair_put_all(struct pair_end *end)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&end->rxs)))
		rte_rx_put(crn_container_of(entry, struct rte_rx, entry));
}

void pair_end_bare(struct pair_end *end)
{
	if (!end->ep)
		return;
	end->ep->msg = end->msg;
	end->ep->rma = end->rma;
	end->ep = NULL;
}

static void end_close(struct pair_end *end)
{
	struct rte_arena_use use;

	if (end->port)
		CT_EXPECT_EQ(rte_port_close(end->port), 0);
	if (end->arena) {
		rte_arena_use(end->arena, &use);
		CT_EXPECT_EQ(use.lands_taken, 0);
		CT_EXPECT_EQ(use.messages_taken, 0);
		rte_arena_close(end->arena);
	}
	if (end->net)
		rte_net_close(end->net);
	rte_config_free(end->config);
}

void pair_part(struct pair *pair)
{
	struct pair_end *end;
	int i;

	for (i = 0; i < PAIR_ENDS; i++) {
		end = &pair->end[i];
		pair_end_bare(end);
		if (end->config)
			pair_put_all(end);
		if (end->peer)
			rte_peer_close(end->peer, 0);
		end->peer = NULL;
	}
}

void pair_close(struct pair *pair)
{
	int i;

	pair_part(pair);
	if (pair->listener)
		rte_listener_close(pair->listener);
	for (i = 0; i < PAIR_ENDS; i++)
		end_close(&pair->end[i]);
	memset(pair, 0, sizeof(*pair));
}

bool pair_send(struct pair_end *end, const struct pair_message *message,
	       void (*done)(struct rte_tx *tx, int err), void *user)
{
	const bool first = !message->offset,
		   last = message->offset + message->piece == message->len;
	struct rte_packet packet = {
		.head = {.type = RTE_MSG,
			 .flags = (uint8_t)((first ? RTE_FIRST : 0) |
					    (last ? RTE_LAST : 0)),
			 .plen = (uint32_t)message->piece,
			 .seq = message->seq},
	};
	struct rte_msg msg = {
		.slot = message->slot ? 0 : RTE_SLOT_NONE,
		.length = message->len,
		.offset = message->offset,
	};
	struct rte_tx *tx = rte_tx_get(end->peer, RTE_REQUESTS, RTE_SMALL_ROOM);

	if (!tx)
		return false;
	if (message->slot && !rte_tx_slot(tx)) {
		rte_tx_drop(tx);
		return false;
	}
	tx->len = (size_t)rte_msg_pack(&packet, &msg, tx->bytes, tx->room);
	tx->data = (const uint8_t *)message->data + message->offset;
	tx->data_len = message->piece;
	tx->done = done;
	tx->user = user;
	rte_tx_post(tx);
	return true;
}
