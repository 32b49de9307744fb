/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cairn/compat.h>
#include <cairn/wait.h>
#include "route_config/conf.h"
#include "world.h"

struct world world;

static struct rte_net some_net;

static void node_open(struct world *w, uint32_t at)
{
	struct frt_node *node = &w->node[at];
	const struct rte_config *config = w->config[at];
	struct frt_device *device;
	uint32_t i;

	memset(node, 0, sizeof(*node));
	node->file = frt_file_new(w->config[at]);
	node->epoch = 1;
	crn_list_init(&node->clients);
	w->db[at] = rte_lsdb_open();
	CT_EXPECT_EQ(frt_routes_open(node, w->db[at]), 0);
	for (i = 0; i < config->devices; i++) {
		device = &w->device[at][node->devices];
		if (!config->device[i].routable)
			continue;
		memset(device, 0, sizeof(*device));
		device->node = node;
		device->config = &config->device[i];
		device->id = frt_net_id(device->config);
		device->foreign = device->config->at.as == RTE_AS_WAN;
		device->rate = device->config->rate;
		device->up = true;
		device->net = &some_net;
		crn_list_init(&device->adjacencies);
		snprintf(device->uri_text, sizeof(device->uri_text), "%s",
			 device->config->uri.text ? device->config->uri.text : "");
		node->device[node->devices++] = device;
	}
}

static bool names(const struct frt_device *a, const struct frt_device *b)
{
	uint32_t i;

	for (i = 0; i < a->config->routers; i++)
		if (b->config->uri.text &&
		    rte_uri_same(&a->config->router[i].uri, &b->config->uri.uri))
			return true;
	return false;
}

static bool gone(const struct world *w, uint32_t at)
{
	return w->down[at] || w->killed[at];
}

/* Borders that are connected: one names the other. */
static void borders_meet(struct world *w, uint32_t a, uint32_t b)
{
	struct frt_border *border;
	struct frt_device *x, *y;
	uint32_t i, k;

	for (i = 0; i < w->node[a].devices; i++)
		for (k = 0; k < w->node[b].devices; k++) {
			x = w->node[a].device[i];
			y = w->node[b].device[k];
			if (!x->foreign || !y->foreign || gone(w, a) || gone(w, b) ||
			    !x->up || !y->up || x->id.subnet != y->id.subnet ||
			    !(names(x, y) || names(y, x)))
				continue;
			border = &w->border[w->borders++];
			*border = (struct frt_border){.device = x,
						      .as = w->config[b]->router.as,
						      .router = w->config[b]->router.id,
						      .cost = w->node[b].drain
								      ? FRT_REACH_DRAIN
								      : 0};
			snprintf(border->uri, sizeof(border->uri), "%s", y->uri_text);
			frt_border_add(&w->node[a], border);
		}
}

/* Everybody on a subnet is everybody's neighbour there. */
static void tell(struct world *w, uint32_t at)
{
	const uint32_t as = w->config[at]->router.as;
	static uint64_t id[RTE_LINKS_MAX][WORLD_ROUTERS];
	struct frt_self self;
	struct frt_device *device;
	uint32_t i, k, m;
	uint64_t router;

	frt_self_lsa(&w->node[at], &self);
	for (i = 0; i < self.lsa.links; i++) {
		self.link[i].neighbour = id[i];
		/* In the order of ids, which are small here. */
		for (router = 1; router < 64; router++) {
			k = world_router(w, as, router);
			if (k == RTE_NONE || k == at || gone(w, k))
				continue;
			device = frt_node_device(&w->node[k], self.link[i].scope_as,
						 self.link[i].subnet);
			if (device && device->up && device != w->cut &&
			    (!w->cut || w->cut != frt_node_device(&w->node[at],
								  self.link[i].scope_as,
								  self.link[i].subnet)))
				id[i][self.link[i].neighbours++] = router;
		}
	}
	self.lsa.as = as;
	self.lsa.router = w->config[at]->router.id;
	self.lsa.epoch = 1;
	self.lsa.seq = w->seq;
	self.lsa.lifetime = 3600000;
	if (w->down[at]) {
		self.lsa.links = 0;
		self.lsa.flags = RTE_LSA_WITHDRAW;
	}
	for (m = 0; m < w->routers; m++)
		if (w->config[m]->router.as == as) {
			CT_EXPECT_EQ(rte_lsdb_put(w->db[m], &self.lsa, crn_now_ms()), 1);
			frt_routes_put(&w->node[m], &self.lsa);
		}
}

void world_tell(struct world *w)
{
	uint32_t i, k;

	for (i = 0; i < w->borders; i++)
		frt_border_del(w->border[i].device->node, &w->border[i]);
	w->borders = 0;
	for (i = 0; i < w->routers; i++)
		for (k = 0; k < w->routers; k++)
			if (w->config[i]->router.as != w->config[k]->router.as)
				borders_meet(w, i, k);
	w->seq++;
	for (i = 0; i < w->routers; i++)
		if (!w->killed[i])
			tell(w, i);
}

static void open_configs(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->routers; i++)
		if (!w->config[i])
			abort();
	for (i = 0; i < w->routers; i++)
		node_open(w, i);
	world_tell(w);
}

void world_open(struct world *w, const char *const *path, uint32_t count)
{
	uint32_t i;
	size_t len;
	char *text;

	world_close(w);
	*w = (struct world){.routers = count};
	for (i = 0; i < count; i++) {
		text = conf_source(path[i], &len);
		w->config[i] = text ? conf_parse(text) : NULL;
		free(text);
	}
	open_configs(w);
}

void world_open_texts(struct world *w, const char *const *text, uint32_t count)
{
	uint32_t i;

	world_close(w);
	*w = (struct world){.routers = count};
	for (i = 0; i < count; i++)
		w->config[i] = conf_parse(text[i]);
	open_configs(w);
}

void world_close(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->routers; i++) {
		frt_routes_close(&w->node[i]);
		rte_lsdb_close(w->db[i]);
		frt_file_put(w->node[i].file);
		CT_EXPECT_TRUE(crn_list_empty(&w->node[i].clients));
	}
	w->routers = 0;
}

void world_tear_down(struct world **t)
{
	world_close(&world);
}

uint32_t world_router(const struct world *w, uint32_t as, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < w->routers; i++)
		if (w->config[i]->router.as == as && w->config[i]->router.id == id)
			return i;
	return RTE_NONE;
}

struct frt_device *world_device(struct world *w, uint32_t router, uint32_t as,
				uint32_t subnet)
{
	const struct rte_hop hop = {.scope_as = as, .subnet = subnet};
	struct frt_node *node = &w->node[router];
	uint32_t i;

	for (i = 0; i < node->devices; i++)
		if (node->device[i]->config->at.as == hop.scope_as &&
		    node->device[i]->config->at.subnet == hop.subnet)
			return node->device[i];
	return NULL;
}

/* --- Questions --- */

static void ask_open(struct ask *ask, struct world *w, uint32_t router,
		     struct rte_subnet over, struct rte_subnet from, struct rte_subnet to)
{
	memset(ask, 0, sizeof(*ask));
	ask->req = (struct rte_conn_req){
		.source = {.as = from.as, .subnet = from.subnet, .host = 0x0a000001},
		.target = {.as = to.as,
			   .subnet = to.subnet,
			   .host = 0x0a000002,
			   .port = 4711},
		.ttl = RTE_TTL_MAX,
	};
	ask->from.address.in = (struct sockaddr_in){.sin_family = AF_INET,
						    .sin_addr.s_addr = htonl(0x0a00000a)};
	ask->question.in = world_device(w, router, over.as, over.subnet);
	ask->question.from = &ask->from;
	ask->question.req = &ask->req;
	ask->question.options = &ask->options;
}

void ask_client(struct ask *ask, struct world *w, uint32_t router, struct rte_subnet from,
		struct rte_subnet to)
{
	ask_open(ask, w, router, from, from, to);
	ask->from.remote = (struct rte_preamble){.role = RTE_CLIENT,
						 .as = from.as,
						 .subnet = from.subnet};
	ask->client.peers = 1;
	ask->question.client = &ask->client;
}

void ask_router(struct ask *ask, struct world *w, uint32_t router, uint32_t peer_as,
		struct rte_subnet over, struct rte_subnet from, struct rte_subnet to,
		const struct rte_hop *path, uint32_t hops)
{
	ask_open(ask, w, router, over, from, to);
	ask->from.remote = (struct rte_preamble){.role = RTE_ROUTER, .as = peer_as};
	if (!hops)
		return;
	ask->options.present = 1u << RTE_TLV_PATH;
	ask->options.hops = hops;
	memcpy(ask->options.hop, path, hops * sizeof(*path));
}

enum frt_what ask(struct ask *ask, struct world *w, uint32_t router)
{
	frt_route(&w->node[router], &ask->question, &ask->answer);
	return ask->answer.what;
}

/* --- The whole way --- */

static void add(char text[WORLD_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(char text[WORLD_TEXT], const char *format, ...)
{
	const size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, WORLD_TEXT - len, format, args);
	va_end(args);
}

static void add_net(char text[WORLD_TEXT], uint32_t as, uint32_t subnet)
{
	add(text, as == RTE_AS_WAN ? "W%" PRIu32 : "%" PRIu32, subnet);
}

static const char *arrived(const struct ask *ask, struct rte_subnet from,
			   char text[WORLD_TEXT])
{
	uint32_t i;

	add(text, ": ");
	add_net(text, from.as, from.subnet);
	for (i = 0; i < ask->answer.hops; i++) {
		add(text, ",");
		add_net(text, ask->answer.path[i].scope_as, ask->answer.path[i].subnet);
	}
	return text;
}

const char *world_ask(struct world *w, uint32_t router, struct rte_subnet from,
		      struct rte_subnet to, char text[WORLD_TEXT])
{
	uint32_t steps, as = w->config[router]->router.as;
	struct ask now, next;

	*text = 0;
	ask_client(&now, w, router, from, to);
	for (steps = 0; steps < 40; steps++) {
		ask(&now, w, router);
		switch (now.answer.what) {
		case FRT_REFUSE:
			add(text, " R%" PRIu64 " refuses with %d",
			    w->config[router]->router.id, now.answer.status);
			return text;
		case FRT_REDIRECT:
			router = world_router(w, as, now.answer.router);
			ask_client(&now, w, router, from, to);
			break;
		case FRT_DELIVER:
			add(text, "%sR%" PRIu64, *text ? "," : "",
			    w->config[router]->router.id);
			CT_EXPECT_EQ(now.answer.device->config->at.subnet, to.subnet);
			CT_EXPECT_EQ(now.answer.device->config->at.as, to.as);
			return arrived(&now, from, text);
		case FRT_FORWARD:
			add(text, "%sR%" PRIu64, *text ? "," : "",
			    w->config[router]->router.id);
			as = w->config[router]->router.as;
			router = world_router(w, now.answer.as, now.answer.router);
			CT_EXPECT_NE(router, RTE_NONE);
			ask_router(&next, w, router, as, now.answer.device->config->at,
				   from, to, now.answer.path, now.answer.hops);
			CT_EXPECT_NE(next.question.in, NULL);
			/* The address is the one that it listens at there. */
			CT_EXPECT_STREQ(now.answer.uri, next.question.in->uri_text);
			next.req.ttl = (uint8_t)(now.req.ttl - 1);
			now = next;
			now.question.from = &now.from;
			now.question.req = &now.req;
			now.question.options = &now.options;
			break;
		}
	}
	add(text, " goes on for ever");
	return text;
}
