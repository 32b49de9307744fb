/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "adjacency/adjacency.h"
#include "device/device.h"
#include "log.h"
#include "reload.h"
#include "route/route.h"

struct rte_config *frt_config_read(const char *path)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;
	int ret = rte_config_read(path, &config, &errors);

	if (!ret)
		ret = rte_config_check_keys(config, &errors);
	if (!ret)
		rte_config_check_names(config, &errors);
	rte_config_errors_print(&errors, stderr);
	if (!ret && config->is_router)
		return config;
	if (ret != -FI_EINVAL)
		fprintf(stderr, "fi_router: %s: %s\n", path,
			ret ? fi_strerror(-ret)
			    : "a client's: a router's has a section [router]");
	rte_config_free(config);
	return NULL;
}

/* --- What has changed --- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool frt_device_stays(const struct rte_config_device *a,
		      const struct rte_config_device *b)
{
	return b->routable && a->transport == b->transport && a->at.as == b->at.as &&
	       a->at.subnet == b->at.subnet && a->peer_as == b->peer_as &&
	       a->frag == b->frag && a->transfer == b->transfer && a->auth == b->auth &&
	       same_text(a->fabric, b->fabric) && same_text(a->domain, b->domain) &&
	       same_text(a->uri.text, b->uri.text);
}

static bool same_policy(const struct rte_policy *a, const struct rte_policy *b)
{
	return a->metrics == b->metrics && a->doc_scale == b->doc_scale &&
	       !memcmp(a->metric, b->metric, a->metrics * sizeof(a->metric[0]));
}

/* Of signs of life both ends of a connection have to think the same: they stay. */
static void keep_what_stays(const struct rte_config *old, struct rte_config *new)
{
	if (old->routing.heartbeat != new->routing.heartbeat ||
	    old->routing.heartbeat_loss != new->routing.heartbeat_loss ||
	    old->router.refresh != new->router.refresh ||
	    old->router.hold_first != new->router.hold_first ||
	    old->router.hold_last != new->router.hold_last)
		frt_log(FRT_WARN, "heartbeat, heartbeat_loss, refresh and hold_down hold "
				  "from the next start");
	if (!same_text(old->router.control, new->router.control) ||
	    !same_text(old->router.metrics, new->router.metrics))
		frt_log(FRT_WARN, "control and metrics hold from the next start");
	if (old->router.workers != new->router.workers)
		frt_log(FRT_WARN, "workers holds from the next start");
	new->routing.heartbeat = old->routing.heartbeat;
	new->routing.heartbeat_loss = old->routing.heartbeat_loss;
}

/* --- The change --- */

static const struct rte_config_device *section(const struct rte_config *config,
					       const char *name)
{
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		if (!strcmp(config->device[i].name, name))
			return &config->device[i];
	return NULL;
}

static void set_rate(struct frt_device *device)
{
	const char *from;

	if (device->config->rate)
		device->rate = device->config->rate;
	else if (device->net)
		device->rate = frt_device_rate(device->net, &from);
}

/* It has the new section from now on. */
static void move(struct frt_device *device, const struct rte_config_device *to)
{
	struct frt_node *node = device->node;
	struct rte_port_attr *attr;
	uint32_t i;

	device->config = to;
	frt_device_keys(device);
	set_rate(device);
	if (!device->net)
		return;
	device->net->device = to;
	for (i = 0; i < node->workers; i++) {
		attr = &device->at[i].port->attr;
		attr->routing = &frt_config(node)->routing;
		attr->self.name = frt_config(node)->router.name;
	}
	frt_file_put(device->file);
	device->file = frt_file_use(node->file);
}

static void devices_change(struct frt_node *node)
{
	const struct rte_config *config = frt_config(node);
	const struct rte_config_device *to;
	uint32_t i = 0, k;

	while (i < node->devices) {
		to = section(config, node->device[i]->config->name);
		if (to && frt_device_stays(node->device[i]->config, to)) {
			move(node->device[i++], to);
			continue;
		}
		frt_log(FRT_INFO, "%s: it is closed, as the file says",
			node->device[i]->config->name);
		frt_device_remove(node->device[i], FI_ESHUTDOWN);
	}
	for (i = 0; i < config->devices; i++) {
		if (!config->device[i].routable)
			continue;
		for (k = 0; k < node->devices; k++)
			if (node->device[k]->config == &config->device[i])
				break;
		if (k == node->devices && frt_device_add(node, &config->device[i]))
			frt_log(FRT_ERROR, "%s: no memory for it: SIGHUP tries again",
				config->device[i].name);
	}
}

int frt_reconfigure(struct frt_node *node, struct rte_config *config)
{
	struct frt_file *old = node->file, *new;
	const bool policy =
		!same_policy(&old->config->router.policy, &config->router.policy);

	if (config->router.id != old->config->router.id ||
	    config->router.as != old->config->router.as) {
		frt_log(FRT_ERROR,
			"%s: id and AS change with a restart alone; nothing has changed",
			config->file);
		rte_config_free(config);
		return -FI_EINVAL;
	}
	new = frt_file_new(config);
	if (!new) {
		rte_config_free(config);
		return -FI_ENOMEM;
	}
	keep_what_stays(old->config, config);
	node->file = new;
	if (policy && frt_routes_policy(node))
		frt_log(FRT_ERROR,
			"metric stays as it was: no memory; SIGHUP tries again");
	devices_change(node);
	frt_file_put(old);
	frt_routes_forget(node);
	node->changed = node->retarget = true;
	frt_log(FRT_INFO, "%s: it holds from now on", config->file);
	return 0;
}

int frt_reload(struct frt_node *node)
{
	struct rte_config *config = frt_config_read(node->path);

	if (config)
		return frt_reconfigure(node, config);
	frt_log(FRT_ERROR, "%s: what was read before holds: correct it, and send SIGHUP",
		node->path);
	return -FI_EINVAL;
}
