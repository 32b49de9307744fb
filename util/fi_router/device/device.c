/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "inside.h"
#include "log.h"
#include "route/route.h"
#include "worker/worker.h"

/* ms until it is opened again: at first, and at most. */
#define AGAIN_FIRST 1000u
#define AGAIN_LAST 30000u

static void on_log(void *context, const char *text)
{
	const struct frt_device *device = context;

	frt_log_peer(FRT_WARN, "%s: %s", device->config->name, text);
}

static void on_denied(void *context, enum rte_denial why, const union crn_addr *who,
		      const char *text)
{
	const struct frt_device *device = context;

	frt_node_count(device->node, &device->node->counters.denied[why]);
	frt_log_peer(frt_log_first(FRT_WARN, &who->sa, why), "%s: %s",
		     device->config->name, text);
}

/* --- Keys --- */

void frt_device_keys(struct frt_device *device)
{
	struct rte_auth_ring *old = device->keys, *keys;
	char why[256] = "";
	uint32_t i;

	if (rte_auth_ring_read(device->config, &keys, why)) {
		frt_log(FRT_ERROR, "%s: no new keys: %s; SIGHUP reads them again",
			device->config->name, *why ? why : "no memory");
		return;
	}
	device->keys = keys;
	for (i = 0; i < device->node->workers; i++)
		if (device->at[i].port)
			device->at[i].port->attr.keys = keys;
	rte_auth_ring_free(old);
}

/* --- Opening --- */

static int open_port(struct frt_port *port)
{
	struct frt_device *device = port->device;
	struct frt_node *node = device->node;
	const struct rte_config *config = frt_config(node);
	const struct rte_port_attr attr = {
		.net = device->net,
		.arena = port->worker->arena,
		.self = {.role = RTE_ROUTER,
			 .node = config->router.id,
			 .epoch = node->epoch,
			 .name = device->file->config->router.name,
			 .as = config->router.as,
			 .uri = device->uri_text},
		.routing = &device->file->config->routing,
		.keys = device->keys,
		.heard = &device->heard,
		.denied = on_denied,
		.log = on_log,
		.context = device,
	};
	int ret = rte_port_open(&attr, &port->port);

	port->failed = 0;
	if (!ret && node->faults.count)
		rte_port_faults(port->port, &node->faults);
	frt_port_fired(port);
	return ret ? ret : frt_port_watch(port);
}

/* One for each worker. */
static int open_ports(struct frt_device *device)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < device->node->workers && !ret; i++)
		ret = open_port(&device->at[i]);
	return ret;
}

static void close_port(struct frt_port *port)
{
	int ret;

	if (!port->port)
		return;
	frt_port_unwatch(port);
	ret = rte_port_close(port->port);
	if (ret)
		frt_log(FRT_ERROR, "%s: its port cannot be closed: %s",
			port->device->config->name, fi_strerror(-ret));
	port->port = NULL;
}

/* Workers wait meanwhile, however many they are. */
static void close_ports(struct frt_device *device)
{
	struct rte_port *ports[FRT_WORKERS_MAX + 1];
	uint32_t count = 0, i;

	for (i = 0; i < device->node->workers; i++)
		if (device->at[i].port)
			ports[count++] = device->at[i].port;
	rte_ports_linger(ports, count);
	for (i = 0; i < device->node->workers; i++)
		close_port(&device->at[i]);
}

static int listen_at(struct frt_device *device, const struct sockaddr *addr)
{
	return rte_listen(frt_device_port(device), addr, frt_guest_request, device,
			  &device->listener);
}

/* A port of those that the file allows, at the device's own address. */
static int listen_somewhere(struct frt_device *device)
{
	const struct rte_config_routing *routing = &frt_config(device->node)->routing;
	const struct fi_info *info = device->net->info;
	union crn_addr addr = {.ss = {.ss_family = AF_UNSPEC}};
	uint32_t port;
	int ret = -FI_EADDRINUSE;

	if (!routing->port_first || !info->src_addr || info->src_addrlen > sizeof(addr) ||
	    !crn_addr_len((const struct sockaddr *)info->src_addr))
		return listen_at(device, NULL);
	memcpy(&addr, info->src_addr, info->src_addrlen);
	for (port = routing->port_first; ret && port <= routing->port_last; port++) {
		crn_addr_set_port(&addr.sa, (uint16_t)port);
		ret = listen_at(device, &addr.sa);
	}
	return ret;
}

/* Others are told of numbers: names may mean something else to them. */
static int open_listener(struct frt_device *device)
{
	const struct rte_config_uri *uri = &device->config->uri;
	union crn_addr addr;
	int ret;

	if (uri->text) {
		ret = rte_net_resolve(device->net, &uri->uri, &addr);
		if (!ret)
			ret = listen_at(device, &addr.sa);
	} else {
		ret = listen_somewhere(device);
	}
	if (ret)
		return ret;
	if (uri->text && uri->uri.kind != RTE_HOST_NAME) {
		device->uri = uri->uri;
	} else {
		ret = rte_listener_name(device->listener, &addr);
		if (!ret)
			rte_net_uri(device->net, &addr.sa, &device->uri);
	}
	rte_uri_print(&device->uri, device->uri_text);
	return ret;
}

static void close_listener(struct frt_device *device)
{
	frt_mute_stop(device);
	if (device->listener)
		rte_listener_close(device->listener);
	device->listener = NULL;
}

static void close_all(struct frt_device *device)
{
	close_listener(device);
	close_ports(device);
	if (device->net)
		rte_net_close(device->net);
	device->net = NULL;
	frt_file_put(device->file);
	device->file = NULL;
	/* What they waited for there is gone. */
	frt_workers_wake(device->node);
}

static void set_rate(struct frt_device *device)
{
	const char *from = "of its section";

	device->rate = device->config->rate;
	if (!device->rate)
		device->rate = frt_device_rate(device->net, &from);
	frt_log(FRT_INFO, "%s: %" PRIu32 ":%" PRIu32 ", %s over %s, %.6g Gb/s (%s)",
		device->config->name, device->config->at.as, device->config->at.subnet,
		device->uri_text, device->net->prov, (double)device->rate / 1e9, from);
}

/* What the log says where the device cannot listen. */
static void listen_text(const struct frt_device *device, char why[256])
{
	const struct rte_config_routing *routing = &frt_config(device->node)->routing;

	if (device->config->uri.text)
		snprintf(why, 256, "cannot listen at %.200s (its uri)",
			 device->config->uri.text);
	else if (routing->port_first)
		snprintf(
			why, 256,
			"cannot listen at any of the ports %u to %u (ports in [routing])",
			routing->port_first, routing->port_last);
	else
		snprintf(why, 256, "cannot listen at any port");
}

static void open_device(struct frt_device *device)
{
	struct frt_node *node = device->node;
	const char *what = "no provider";
	char why[256] = "";
	uint64_t wait;
	int ret;

	device->file = frt_file_use(node->file);
	frt_device_keys(device);
	ret = rte_net_open(device->config, node->lower, &device->net, why);
	if (!ret) {
		what = "it cannot be opened";
		ret = open_ports(device);
	}
	if (!ret) {
		listen_text(device, why);
		ret = open_listener(device);
	}
	if (!ret) {
		device->tries = 0;
		device->up = true;
		node->changed = node->retarget = true;
		frt_workers_wake(node);
		set_rate(device);
		frt_mute_start(device);
		return;
	}
	close_all(device);
	wait = CRN_MIN(AGAIN_FIRST << CRN_MIN(device->tries, 5u), AGAIN_LAST);
	frt_log(device->tries ? FRT_DEBUG : FRT_ERROR, "%s: %s: %s; trying again",
		device->config->name, *why ? why : what, fi_strerror(-ret));
	device->tries++;
	crn_deadline_add(&node->deadlines, &device->again, crn_now_ms() + wait);
}

static void on_again(struct crn_deadline *deadline)
{
	struct frt_device *device = crn_container_of(deadline, struct frt_device, again);

	if (!device->node->stopping)
		open_device(device);
}

static void set_port(struct frt_port *port, struct frt_device *device,
		     struct frt_worker *worker)
{
	int i;

	port->device = device;
	port->worker = worker;
	for (i = 0; i < RTE_PORT_FDS; i++)
		port->fd[i] = -1;
	crn_list_init(&port->guests);
}

int frt_device_add(struct frt_node *node, const struct rte_config_device *config)
{
	struct frt_device *device = calloc(1, sizeof(*device));
	uint32_t i;

	if (!device)
		return -FI_ENOMEM;
	device->node = node;
	device->config = config;
	device->id = frt_net_id(config);
	device->foreign = config->at.as == RTE_AS_WAN;
	device->rate = config->rate ? config->rate : 1;
	for (i = 0; i < node->workers; i++)
		set_port(&device->at[i], device, node->worker[i]);
	device->again.expired = on_again;
	crn_list_init(&device->adjacencies);
	crn_list_init(&device->targets);
	node->device[node->devices++] = device;
	open_device(device);
	return 0;
}

/* --- The end --- */

/* To accept a socket and to read what it asks for are two looks of libfabric's tcp. */
#define LOOKS 4

/* Whoever has asked by now is rejected, for it would wait for its time to be over. */
static void hear(struct frt_device *device)
{
	struct rte_port *port = frt_device_port(device);
	int i;

	for (i = 0; i < LOOKS; i++) {
		port->event = true;
		rte_port_progress(port);
	}
}

static void down(struct frt_device *device, int status)
{
	struct frt_node *node = device->node;

	device->up = false;
	node->changed = true;
	crn_deadline_remove(&node->deadlines, &device->again);
	if (!device->net)
		return;
	/* To close a peer makes progress: those who have not begun anything go first, so
	 * that nothing begins behind the others' backs. */
	hear(device);
	close_listener(device);
	frt_guests_close(device, status);
	node->transit->device_gone(node, device, status);
	frt_adjacencies_close(device, status);
	close_all(device);
}

void frt_device_remove(struct frt_device *device, int status)
{
	struct frt_node *node = device->node;
	uint32_t i;

	down(device, status);
	for (i = 0; node->device[i] != device; i++)
		;
	node->device[i] = node->device[--node->devices];
	frt_routes_forget(node);
	rte_auth_ring_free(device->keys);
	free(device);
}

void frt_device_failed(struct frt_device *device, int err)
{
	frt_log(FRT_ERROR, "%s: it does not work any more: %s; it is opened again",
		device->config->name, fi_strerror(-err));
	down(device, FI_EHOSTUNREACH);
	crn_deadline_add(&device->node->deadlines, &device->again,
			 crn_now_ms() + AGAIN_FIRST);
}

static int failure(const struct frt_device *device)
{
	uint32_t i;

	for (i = 0; i < device->node->workers; i++)
		if (device->at[i].failed)
			return device->at[i].failed;
	return 0;
}

void frt_devices_look(struct frt_node *node)
{
	uint32_t i;

	node->failed = false;
	for (i = 0; i < node->devices; i++)
		if (failure(node->device[i]))
			frt_device_failed(node->device[i], -failure(node->device[i]));
}
