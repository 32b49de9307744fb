/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cairn/compat.h>
#include <cairn/wait.h>
#include "adjacency/inside.h"
#include "log.h"
#include "one.h"
#include "route_config/conf.h"

struct one one;
static struct one *current;

static int transit_open(struct frt_node *node)
{
	(void)node;
	return 0;
}

static void transit_close(struct frt_node *node)
{
	(void)node;
}

static void transit_request(struct frt_port *port, struct rte_peer *peer,
			    struct frt_client *client, struct rte_rx *rx)
{
	CT_EXPECT_EQ(port->worker->node, &current->node);
	current->requests++;
	current->late += current->gone != 0;
	current->port = port;
	current->peer = peer;
	current->client = client;
	current->rx = rx;
}

static void transit_gone(struct frt_node *node, struct frt_device *device, int status)
{
	(void)node;
	(void)device;
	(void)status;
	current->gone++;
}

static const struct frt_transit_ops transit = {
	.open = transit_open,
	.close = transit_close,
	.request = transit_request,
	.device_gone = transit_gone,
};

void one_open(struct one *router, const char *text)
{
	struct frt_node *node = &router->node;
	struct rte_config *config = conf_parse(text ? text : ONE_TEXT(""));
	uint32_t i;

	one_close(router);
	ct_time_stop();
	memset(router, 0, sizeof(*router));
	current = router;
	node->epfd = -1;
	node->epoch = 100;
	node->transit = &transit;
	node->file = frt_file_new(config);
	crn_list_init(&node->clients);
	CT_EXPECT_EQ(crn_deadlines_init(&node->deadlines), 0);
	CT_EXPECT_EQ(frt_workers_open(node, CRN_MAX(config->router.workers, 1u)), 0);
	CT_EXPECT_EQ(frt_lookups_open(node), 0);
	CT_EXPECT_EQ(frt_sync_open(node), 0);
	for (i = 0; i < config->devices; i++)
		CT_EXPECT_EQ(frt_device_add(node, &config->device[i]), 0);
	one_turn(router);
}

void one_close(struct one *router)
{
	struct frt_node *node = &router->node;

	if (!node->file)
		return;
	if (router->rx)
		rte_rx_put(router->rx);
	frt_client_put(node, router->client);
	/* The peer of a request is transit's to close. */
	if (router->peer)
		rte_peer_close(router->peer, 0);
	while (node->devices)
		frt_device_remove(node->device[0], 0);
	frt_node_reserve_drop(node);
	frt_sync_close(node);
	frt_file_put(node->file);
	CT_EXPECT_TRUE(crn_list_empty(&node->clients));
	CT_EXPECT_EQ(node->guests, 0);
	frt_workers_close(node);
	crn_deadlines_fini(&node->deadlines);
	frt_lookups_close(node);
	fake_net_end();
	node->file = NULL;
}

void one_set_up(struct one **t)
{
	*t = &one;
	one_open(&one, NULL);
}

void one_tear_down(struct one **t)
{
	one_close(&one);
	fake_listen_fails = 0;
}

void one_turn(struct one *router)
{
	/* What the first turn has begun at once, too. */
	frt_sync_turn(&router->node, crn_now_ms());
	crn_deadlines_run(&router->node.deadlines);
	frt_sync_turn(&router->node, crn_now_ms());
}

void one_passes(struct one *router, unsigned int ms)
{
	unsigned int at;

	for (at = 0; at < ms; at += 10) {
		ct_time_pass(10);
		one_turn(router);
	}
}

struct frt_device *one_device(struct one *router, const char *name)
{
	uint32_t i;

	for (i = 0; i < router->node.devices; i++)
		if (!strcmp(router->node.device[i]->config->name, name))
			return router->node.device[i];
	return NULL;
}

struct rte_peer *one_adjacent(struct one *router, uint64_t id)
{
	struct frt_adjacency *adjacency =
		frt_adjacency_find(one_device(router, "a"), 3, id);

	return adjacency ? adjacency->peer : NULL;
}

void one_heartbeat(struct rte_peer *fake)
{
	const struct rte_packet packet = {.head.type = RTE_HEARTBEAT};
	const struct rte_heartbeat beat = {.stamp = 1};
	uint8_t bytes[256];
	const ssize_t len = rte_heartbeat_pack(&packet, &beat, bytes, sizeof(bytes));

	CT_ASSERT_GT(len, 0);
	fake_say(fake, bytes, (size_t)len, NULL);
}

void one_conn_req(struct rte_peer *fake)
{
	const struct rte_packet packet = {.head.type = RTE_CONN_REQ};
	const struct rte_conn_req req = {.source = {.as = 3, .subnet = 1, .transport = 1},
					 .target = {.as = 3, .subnet = 2, .transport = 1},
					 .ttl = 16,
					 .frag = RTE_FRAG_MIN,
					 .eager = 512,
					 .timeout = 1000};
	uint8_t bytes[512];
	const ssize_t len = rte_conn_req_pack(&packet, &req, bytes, sizeof(bytes));

	CT_ASSERT_GT(len, 0);
	fake_say(fake, bytes, (size_t)len, NULL);
}

struct rte_peer *one_visitor(struct one *router, uint64_t id, uint64_t epoch)
{
	struct rte_peer *fake = fake_arrives(one_device(router, "a")->listener,
					     RTE_ROUTER, 3, 1, id, "10.0.1.9");

	if (!fake)
		return NULL;
	fake_greets(fake, 3, 1, id, epoch);
	one_heartbeat(fake);
	return fake;
}

static FILE *log_file;
static int log_kept; /* the standard error */

void one_log_begin(void)
{
	frt_log_open(0);
	/* Whatever other tests have written. */
	ct_time_pass(60000);
	fflush(stderr);
	log_kept = dup(STDERR_FILENO);
	log_file = tmpfile();
	CT_ASSERT_NE(log_file, NULL);
	dup2(fileno(log_file), STDERR_FILENO);
}

unsigned int one_log_end(const char *text)
{
	unsigned int count = 0;
	char line[1024];

	fflush(stderr);
	dup2(log_kept, STDERR_FILENO);
	close(log_kept);
	rewind(log_file);
	while (fgets(line, sizeof(line), log_file))
		count += strstr(line, text) != NULL;
	fclose(log_file);
	return count;
}

static int say_bytes(void *context, const void *bytes, size_t len)
{
	fake_say(context, bytes, len, NULL);
	return 0;
}

void one_lsa(struct rte_peer *fake, const struct rte_lsa *lsa)
{
	const struct rte_sync_message message = {.type = RTE_SYNC_LSA, .lsa = lsa};
	struct frt_stamps stamps = {0};

	CT_EXPECT_EQ(frt_say(&message, &stamps, 1, 4096, say_bytes, fake), 0);
}
