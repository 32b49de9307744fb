/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_router(8): passes connections on between networks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "adjacency/adjacency.h"
#include "control/control.h"
#include "device/device.h"
#include "drain.h"
#include "log.h"
#include "notify.h"
#include "options.h"
#include "reload.h"
#include "serve.h"
#include "transit/transit.h"
#include "worker/worker.h"

/* Bytes of landing slots at most, and at least so many of them; buffers for messages. */
#define LAND_BYTES (256u << 20)
#define LANDS_LEAST 64u
#define LANDS_MOST 4096u
#define MESSAGES 16384u
/* So small a part of them for a main thread that passes nothing on. */
#define NETWORK_PART 8u

/* The bounds hold for all that pass connections on: each has its part. The main thread
 * beside them has adjacencies. */
static uint32_t parts(const struct frt_worker *worker)
{
	const uint32_t workers = frt_workers_count(worker->node);

	return worker->index || workers == 1 ? workers : NETWORK_PART;
}

static int open_arena(struct frt_worker *worker)
{
	const struct rte_config *config = frt_config(worker->node);
	struct rte_arena_attr attr = {.land_size = RTE_FRAG_MIN};
	uint32_t i, lands;

	for (i = 0; i < config->devices; i++)
		attr.land_size = CRN_MAX(attr.land_size, (size_t)config->device[i].frag);
	lands = (uint32_t)CRN_MIN(LAND_BYTES / attr.land_size, (size_t)LANDS_MOST);
	attr.lands = CRN_MAX(lands, LANDS_LEAST) / parts(worker);
	attr.messages = MESSAGES / parts(worker);
	return rte_arena_open(&attr, &worker->arena);
}

static int open_workers(struct frt_node *node)
{
	uint32_t i;
	int ret = frt_workers_open(node, frt_workers_wanted(frt_config(node),
							    frt_processors()));

	for (i = 0; i < node->workers && !ret; i++)
		ret = open_arena(node->worker[i]);
	return ret;
}

static int open_node(struct frt_node *node)
{
	int ret;

	rte_faults_init(&node->faults);
	node->epoch = frt_time_of_day();
	node->id = frt_config(node)->router.id;
	ret = open_workers(node);
	if (!ret)
		ret = frt_sync_open(node);
	if (!ret)
		ret = node->transit->open(node);
	return ret;
}

static int open_devices(struct frt_node *node)
{
	const struct rte_config *config = frt_config(node);
	uint32_t i;
	int ret = 0;

	for (i = 0; i < config->devices && !ret; i++)
		if (config->device[i].routable)
			ret = frt_device_add(node, &config->device[i]);
	return ret;
}

/* Nobody uses it any more: what is still taken was lost. */
static void close_arena(struct rte_arena *arena)
{
	struct rte_arena_use use;

	rte_arena_use(arena, &use);
	if (use.lands_taken || use.messages_taken)
		frt_log(FRT_ERROR,
			"%" PRIu32 " landing slots and %" PRIu32
			" messages were not given back: please report it",
			use.lands_taken, use.messages_taken);
	rte_arena_close(arena);
}

static void close_node(struct frt_node *node)
{
	uint32_t i;

	while (node->devices)
		frt_device_remove(node->device[0], FI_ESHUTDOWN);
	if (node->sync)
		node->transit->close(node);
	frt_sync_close(node);
	for (i = 0; i < node->workers; i++)
		if (node->worker[i]->arena)
			close_arena(node->worker[i]->arena);
	frt_workers_close(node);
	frt_file_put(node->file);
}

static void say_what_is_served(const struct frt_node *node)
{
	const struct rte_config_router *router = &frt_config(node)->router;
	const uint32_t workers = frt_workers_count(node);
	char state[128];
	uint32_t up = 0, i;

	for (i = 0; i < node->devices; i++)
		up += node->device[i]->up;
	snprintf(state, sizeof(state),
		 "READY=1\nSTATUS=%" PRIu32 " of %" PRIu32 " networks", up,
		 node->devices);
	frt_log(FRT_INFO,
		"%s, router %" PRIu64 " of AS %" PRIu32 ", serves %" PRIu32 " of %" PRIu32
		" networks of %s with %" PRIu32 " worker%s",
		router->name, router->id, router->as, up, node->devices, node->path,
		workers, workers == 1 ? "" : "s");
	frt_notify(state);
}

static int serve_all(struct frt_serve *serve, const struct frt_options *options)
{
	struct frt_node *node = serve->node;
	int ret = frt_workers_start(node, (uint64_t)options->busy * 1000);

	if (!ret) {
		/* It serves as well without anybody who asks. */
		frt_control_open(node, &serve->control);
		serve->metrics = frt_metrics_open(node);
		say_what_is_served(node);
		frt_serve(serve);
		frt_control_close(serve->control);
		frt_metrics_close(serve->metrics);
	}
	frt_workers_join(node);
	return ret;
}

static int run(struct frt_node *node, const struct frt_options *options)
{
	struct frt_serve serve;
	int ret = crn_deadlines_init(&node->deadlines);

	if (ret)
		return ret;
	ret = frt_serve_open(&serve, node);
	if (!ret)
		ret = open_node(node);
	if (!ret)
		ret = open_devices(node);
	if (!ret)
		ret = serve_all(&serve, options);
	frt_drain_close(node);
	close_node(node);
	frt_serve_close(&serve);
	crn_deadlines_fini(&node->deadlines);
	return ret;
}

/* Every worker has some for each device, and every connection two. Nothing here uses
 * select(2), for which the usual limit is. */
static void take_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	static struct frt_node node;
	struct frt_options options;
	struct rte_config *config;
	int ret;

	frt_options(argc, argv, &options);
	frt_log_open(options.verbose);
	config = frt_config_read(options.config);
	if (!config)
		return 1;
	if (options.check) {
		rte_config_free(config);
		return 0;
	}
	take_descriptors();
	node.path = options.config;
	node.lower = getenv("FI_ROUTE_LOWER");
	node.early = getenv("FI_ROUTER_EARLY");
	node.transit = &frt_transit_ops;
	node.file = frt_file_new(config);
	crn_list_init(&node.clients);
	ret = node.file ? run(&node, &options) : -FI_ENOMEM;
	if (ret)
		frt_log(FRT_ERROR, "it cannot run: %s", fi_strerror(-ret));
	return ret ? 1 : 0;
}
