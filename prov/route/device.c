/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "cm/cm.h"
#include "device.h"
#include "keyring.h"

/* Of a device's memory: landing slots, and messages that are in it. */
#define DEVICE_LANDS 256u
#define DEVICE_MESSAGES 65536u

/* ---- descriptors ---- */

static int device_arm(struct crn_wait_source *source)
{
	struct rte_device_source *own =
		crn_container_of(source, struct rte_device_source, source);
	struct rte_device *device = own->device;
	int ret;

	crn_lock(&device->lock);
	ret = rte_port_trywait(device->port);
	crn_unlock(&device->lock);
	return ret;
}

static void device_unwatch(struct rte_device *device)
{
	int i;

	for (i = 0; i < RTE_PORT_FDS; i++)
		crn_wait_remove(&device->sources[i].source);
}

/* The first one arms all: rte_port_trywait looks at everything. */
static int device_watch(struct rte_device *device)
{
	int fd[RTE_PORT_FDS], i, ret = rte_port_fds(device->port, fd);

	for (i = 0; !ret && i < RTE_PORT_FDS; i++) {
		device->sources[i].device = device;
		device->sources[i].source.fd = fd[i];
		device->sources[i].source.arm = i ? NULL : device_arm;
		ret = crn_wait_add(&device->fabric->wait, &device->sources[i].source);
	}
	if (ret)
		device_unwatch(device);
	return ret;
}

/* ---- opening ---- */

static void device_log(void *context, const char *text)
{
	const struct rte_device *device = context;

	RTE_INFO(FI_LOG_EP_CTRL, "%s: %s\n", device->config->name, text);
}

/* ms: anybody may try to get in, and tries again. */
#define DENIED_AGAIN 1000u

static void device_denied(void *context, enum rte_denial why, const union crn_addr *who,
			  const char *text)
{
	struct rte_device *device = context;

	(void)why;
	(void)who;
	if (device->denied && crn_now_ms() - device->denied < DENIED_AGAIN) {
		device_log(device, text);
		return;
	}
	device->denied = crn_now_ms();
	RTE_WARN(FI_LOG_EP_CTRL, "%s: %s\n", device->config->name, text);
}

static uint64_t device_random(void)
{
	uint64_t value = 0;

	while (!value)
		if (getrandom(&value, sizeof(value), 0) < 0)
			value = crn_now_ms();
	return value;
}

static int device_open_port(struct rte_device *device)
{
	const struct rte_arena_attr memory = {
		.land_size = device->config->frag,
		.lands = DEVICE_LANDS,
		.messages = DEVICE_MESSAGES,
	};
	struct rte_port_attr attr = {
		.net = device->net,
		.self = {.role = RTE_CLIENT, .node = device_random()},
		.routing = &device->fabric->config->routing,
		.keys = device->keyring.ring,
		.denied = device_denied,
		.log = device_log,
		.context = device,
	};
	int ret = rte_arena_open(&memory, &device->arena);

	if (ret)
		return ret;
	attr.arena = device->arena;
	attr.self.epoch = device_random();
	ret = rte_port_open(&attr, &device->port);
	if (ret)
		rte_arena_close(device->arena);
	return ret;
}

static int device_open_net(struct rte_device *device)
{
	char why[256];
	int ret = rte_net_open(device->config, rte_params.lower, &device->net, why);

	if (ret) {
		RTE_WARN(FI_LOG_FABRIC, "device %s: %s\n", device->config->name, why);
		return ret;
	}
	ret = rte_addr_see(device->fabric->config, device->net, &device->view);
	if (ret) {
		RTE_WARN(FI_LOG_FABRIC,
			 "device %s has no IPv4 address towards its first router: give "
			 "its interface one, or name another with domain\n",
			 device->config->name);
		rte_net_close(device->net);
	}
	return ret;
}

static int device_open(struct rte_device *device)
{
	int ret = device_open_net(device);

	if (ret)
		return ret;
	ret = rte_keyring_open(device);
	if (ret)
		goto err_net;
	ret = device_open_port(device);
	if (ret)
		goto err_keys;
	ret = device_watch(device);
	if (!ret)
		return 0;
	rte_port_close(device->port);
	rte_arena_close(device->arena);
err_keys:
	rte_keyring_close(device);
err_net:
	rte_net_close(device->net);
	return ret;
}

/* Who sleeps already has not armed it. */
static void device_announce(struct rte_fabric *fabric)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &fabric->eqs)
		crn_eq_wake(&crn_container_of(entry, struct rte_eq, entry)->eq);
}

static int device_new(struct rte_fabric *fabric, const struct rte_config_device *config,
		      struct rte_device **out)
{
	struct rte_device *device = calloc(1, sizeof(*device));
	int ret;

	if (!device)
		return -FI_ENOMEM;
	device->fabric = fabric;
	device->config = config;
	crn_list_init(&device->entry);
	crn_list_init(&device->incoming);
	crn_list_init(&device->peps);
	crn_list_init(&device->untold);
	crn_lock_init(&device->lock, true);
	ret = device_open(device);
	if (ret) {
		free(device);
		return ret;
	}
	crn_list_add_tail(&fabric->devices, &device->entry);
	atomic_fetch_add(&fabric->used, 1);
	device_announce(fabric);
	*out = device;
	return 0;
}

static void device_close(struct rte_device *device)
{
	device_unwatch(device);
	crn_lock(&device->lock);
	rte_incoming_drop_all(device);
	rte_port_close(device->port);
	crn_unlock(&device->lock);
	rte_keyring_close(device);
	rte_arena_close(device->arena);
	rte_net_close(device->net);
	crn_lock_fini(&device->lock);
	free(device);
}

/* ---- of a fabric ---- */

static struct rte_device *device_find(struct rte_fabric *fabric,
				      const struct rte_config_device *config)
{
	struct rte_device *device;
	struct crn_list *entry;

	crn_list_for_each (entry, &fabric->devices) {
		device = crn_container_of(entry, struct rte_device, entry);
		if (device->config == config)
			return device;
	}
	return NULL;
}

static const struct rte_config_device *device_config(const struct rte_config *config,
						     const char *name)
{
	uint32_t i;

	for (i = 0; name && i < config->devices; i++) {
		if (config->device[i].routable && !strcmp(config->device[i].name, name))
			return &config->device[i];
	}
	return NULL;
}

int rte_device_get(struct rte_fabric *fabric, const struct fi_info *info,
		   struct rte_device **device)
{
	const struct rte_config_device *config =
		device_config(fabric->config, info->domain_attr->name);
	int ret = 0;

	if (!config)
		return -FI_ENODATA;
	crn_lock(&fabric->lock);
	*device = device_find(fabric, config);
	if (!*device)
		ret = device_new(fabric, config, device);
	if (!ret)
		(*device)->refs++;
	crn_unlock(&fabric->lock);
	return ret;
}

void rte_device_put(struct rte_device *device)
{
	struct rte_fabric *fabric = device->fabric;

	crn_lock(&fabric->lock);
	if (--device->refs == 0) {
		crn_list_del(&device->entry);
		atomic_fetch_sub(&fabric->used, 1);
		device_close(device);
	}
	crn_unlock(&fabric->lock);
}

void rte_device_progress(struct rte_device *device)
{
	crn_lock_assert_held(&device->lock);
	rte_port_progress(device->port);
	rte_news_again(device);
}

void rte_fabric_progress(struct rte_fabric *fabric, const struct rte_device *but)
{
	struct rte_device *device;
	struct crn_list *entry;

	/* Of most programs it is the only one. A new one has its turn the next time. */
	if (but && atomic_load_explicit(&fabric->used, memory_order_relaxed) == 1)
		return;
	crn_lock(&fabric->lock);
	crn_list_for_each (entry, &fabric->devices) {
		device = crn_container_of(entry, struct rte_device, entry);
		if (device == but)
			continue;
		crn_lock(&device->lock);
		rte_device_progress(device);
		crn_unlock(&device->lock);
	}
	crn_unlock(&fabric->lock);
}

bool rte_fabric_keeps(struct rte_fabric *fabric, const struct crn_eq *eq)
{
	struct rte_device *device;
	struct crn_list *entry;
	bool keeps = false;

	crn_lock(&fabric->lock);
	crn_list_for_each (entry, &fabric->devices) {
		device = crn_container_of(entry, struct rte_device, entry);
		crn_lock(&device->lock);
		keeps = keeps || rte_news_kept(device, eq);
		crn_unlock(&device->lock);
	}
	crn_unlock(&fabric->lock);
	return keeps;
}
