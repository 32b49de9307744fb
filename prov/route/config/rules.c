/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What depends on several keywords of a file: the document's constraints (section
 * VII.A.1), ours, and defaults. What a wrong line has already spoiled is not told again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "read.h"

#define RULE_ERROR(reader, line, hint, ...) \
	rte_error((reader)->errors, (reader)->config->file, line, hint, __VA_ARGS__)

static uint32_t said_line(const struct rte_said *said, enum rte_section_kind kind,
			  const char *name)
{
	return said->key[rte_key_find(&rte_sections[kind], name)];
}

static uint32_t device_line(const struct rte_said *said, const char *name)
{
	return said_line(said, RTE_SECTION_DEVICE, name);
}

static bool on_wan(const struct rte_config_device *device)
{
	return device->has_as && device->at.as == RTE_AS_WAN;
}

/* --- One device --- */

static void rule_of_router(struct rte_reader *reader, const struct rte_said *said)
{
	const struct rte_section *section = &rte_sections[RTE_SECTION_DEVICE];
	uint32_t i;

	for (i = 0; i < section->keys && !reader->config->is_router; i++)
		if (section->key[i].of_router && said->key[i])
			RULE_ERROR(reader, said->key[i], "there is no [router]",
				   "%s is a keyword of routers", section->key[i].name);
}

static void rule_transport(struct rte_reader *reader, const struct rte_said *said,
			   struct rte_config_device *device)
{
	const char *nearest = rte_nearest_section(device->name);
	char hint[RTE_CONFIG_NAME_MAX + 32] = "";

	if (device_line(said, "transport")) {
		if (!device_line(said, "caps"))
			device->caps = rte_transport_attr(device->transport)->caps;
		return;
	}
	if (nearest)
		snprintf(hint, sizeof(hint), "did you mean [%s]?", nearest);
	RULE_ERROR(reader, device->line, hint, "device %s has no transport",
		   device->name);
}

/* One of those that its transport can run over. */
static void rule_provider(struct rte_reader *reader, const struct rte_said *said,
			  const struct rte_config_device *device)
{
	const struct rte_transport_attr *attr = rte_transport_attr(device->transport);
	char hint[64] = "";
	size_t len = 0;
	int i;

	if (!device->provider || device->transport == RTE_TRANSPORT_ANY)
		return;
	for (i = 0; i < RTE_LOWER_MAX && attr->lower[i]; i++) {
		if (!strcmp(attr->lower[i], device->provider))
			return;
		len += (size_t)snprintf(hint + len, sizeof(hint) - len, "%s%s",
					i ? " or " : "", attr->lower[i]);
	}
	RULE_ERROR(reader, device_line(said, "provider"), hint,
		   "provider %.60s does not suit transport %s", device->provider,
		   attr->name);
}

static void rule_suits(struct rte_reader *reader, const struct rte_config_device *device,
		       const struct rte_config_uri *uri)
{
	const struct rte_transport_attr *attr = rte_transport_attr(device->transport);
	char hint[48];

	if (device->transport == RTE_TRANSPORT_ANY ||
	    uri->uri.transport == device->transport)
		return;
	snprintf(hint, sizeof(hint), "%s://HOST:PORT", attr->name);
	RULE_ERROR(reader, uri->line, hint, "%.60s does not suit transport %s", uri->text,
		   attr->name);
}

static void rule_uris(struct rte_reader *reader, const struct rte_said *said,
		      struct rte_config_device *device)
{
	const struct rte_config_uri *router = device->router;
	uint32_t i, j;

	if (device->uri.text) {
		device->uri.line = device_line(said, "uri");
		rule_suits(reader, device, &device->uri);
	}
	for (i = 0; i < device->routers; i++) {
		rule_suits(reader, device, &router[i]);
		if (!reader->config->is_router && router[i].uri.kind == RTE_HOST_IN6)
			RULE_ERROR(reader, router[i].line, "name its IPv4 address",
				   "a client reaches routers by IPv4 alone, not %.60s",
				   router[i].text);
		if (device->uri.text && !strcmp(device->uri.text, router[i].text))
			RULE_ERROR(reader, router[i].line, NULL,
				   "router = %.60s is this router itself",
				   router[i].text);
		for (j = 0; j < i; j++)
			if (!strcmp(router[i].text, router[j].text))
				RULE_ERROR(reader, router[i].line, NULL,
					   "router = %.60s stands in line %u",
					   router[i].text, router[j].line);
	}
}

static void rule_wan(struct rte_reader *reader, const struct rte_said *said,
		     const struct rte_config_device *device)
{
	if (on_wan(device) && !reader->config->is_router)
		RULE_ERROR(reader, device_line(said, "as"), "there is no [router]",
			   "as = 0 is a WAN, which only routers are on");
	if (device->peer_as && device->has_as && !on_wan(device))
		RULE_ERROR(reader, device_line(said, "peer_as"), "as = 0",
			   "peer_as is of a private WAN, this device is in AS %" PRIu32,
			   device->at.as);
}

/* Routers on a WAN are those of others: they prove who they are. */
static void rule_auth(struct rte_reader *reader, const struct rte_said *said,
		      struct rte_config_device *device)
{
	uint32_t line = device_line(said, "auth"), i;

	if (on_wan(device) && line && device->auth == RTE_AUTH_OPEN)
		RULE_ERROR(reader, line, "auth = required",
			   "nobody is let in from a WAN unauthenticated");
	if (on_wan(device))
		device->auth = RTE_AUTH_REQUIRED;
	if (device->auth == RTE_AUTH_REQUIRED && !device->keys)
		RULE_ERROR(reader, line ? line : device->line, "key_file and key_id",
			   "device %s %s has no key", device->name,
			   on_wan(device) ? "is on a WAN and" : "requires auth and");
	for (i = 0; i < device->keys; i++)
		if (!device->key[i].id)
			RULE_ERROR(reader, device->key[i].line, NULL,
				   "this key_file has no key_id behind it");
}

/* Section VII.A.1: all three, of a client; a router may wait for others to connect. */
static void rule_routable(struct rte_reader *reader, struct rte_config_device *device)
{
	const bool router = device->routers || reader->config->is_router;

	device->routable = device->has_as && device->has_subnet && router;
	if (!device->routable)
		rte_warning(reader->errors, reader->config->file, device->line, NULL,
			    "device %s is not routable: no%s%s%s", device->name,
			    device->has_as ? "" : " as",
			    device->has_subnet ? "" : " subnet", router ? "" : " router");
}

static void rules_device(struct rte_reader *reader, const struct rte_said *said,
			 struct rte_config_device *device)
{
	rule_of_router(reader, said);
	if (said->wrong)
		return;
	rule_transport(reader, said, device);
	rule_provider(reader, said, device);
	rule_uris(reader, said, device);
	rule_wan(reader, said, device);
	rule_auth(reader, said, device);
	rule_routable(reader, device);
	if (!device->transit)
		device->caps |= RTE_CAP_NOTRANSIT;
}

/* --- A router --- */

static int router_defaults(struct rte_config_router *router)
{
	char text[64];
	int ret = 0;

	if (!router->name) {
		snprintf(text, sizeof(text), "R%" PRIu64, router->id);
		ret = rte_text_set(&router->name, text);
	}
	if (!ret && !router->control) {
		snprintf(text, sizeof(text), "/run/cairn/router-%" PRIu64 ".sock",
			 router->id);
		ret = rte_text_set(&router->control, text);
	}
	return ret;
}

/* Its AS is that of its first device which is on no WAN. */
static void rule_as(struct rte_reader *reader)
{
	struct rte_config *config = reader->config;
	struct rte_config_device *device;
	uint32_t i, first = 0;

	for (i = 0; i < config->devices; i++) {
		device = &config->device[i];
		if (!device->has_as || on_wan(device))
			continue;
		if (!config->router.as) {
			config->router.as = device->at.as;
			first = device_line(&reader->device[i], "as");
		} else if (device->at.as != config->router.as) {
			RULE_ERROR(reader, device_line(&reader->device[i], "as"), NULL,
				   "a router is in one AS, %" PRIu32 " in line %u",
				   config->router.as, first);
		}
	}
	for (i = 0; i < config->devices; i++)
		if (config->device[i].peer_as &&
		    config->device[i].peer_as == config->router.as)
			RULE_ERROR(reader, device_line(&reader->device[i], "peer_as"),
				   NULL, "peer_as is the AS of this router itself");
}

static void rule_devices(struct rte_reader *reader)
{
	const struct rte_config *config = reader->config;
	bool unknown = reader->section_lost;
	uint32_t i, routable = 0;

	for (i = 0; i < config->devices; i++) {
		unknown |= reader->device[i].wrong;
		routable += config->device[i].routable;
	}
	/* Who knows what was meant to be one. */
	if (unknown)
		return;
	if (routable < 2)
		RULE_ERROR(reader, config->router.line, NULL,
			   "a router has two or more devices with as and subnet");
	else if (!config->router.as)
		RULE_ERROR(reader, config->router.line, NULL,
			   "a router has a device on a subnet of its AS, not only on "
			   "WANs");
}

static void rule_pair(struct rte_reader *reader, uint32_t i, uint32_t j)
{
	const struct rte_config_device *a = &reader->config->device[i];
	const struct rte_config_device *b = &reader->config->device[j];

	if (a->has_subnet && b->has_subnet && a->at.as == b->at.as &&
	    a->at.subnet == b->at.subnet && a->has_as && b->has_as)
		RULE_ERROR(reader, device_line(&reader->device[j], "subnet"), NULL,
			   "%" PRIu32 ":%" PRIu32 " is the subnet of device %s, too",
			   b->at.as, b->at.subnet, a->name);
	if (a->uri.text && b->uri.text && !strcmp(a->uri.text, b->uri.text))
		RULE_ERROR(reader, b->uri.line, NULL,
			   "%.60s is the uri of device %s, too", b->uri.text, a->name);
}

static int rules_router(struct rte_reader *reader)
{
	struct rte_config_router *router = &reader->config->router;
	const uint32_t devices = reader->config->devices;
	const char *why;
	uint32_t i, j;

	router->line = reader->router.line;
	if (!said_line(&reader->router, RTE_SECTION_ROUTER, "metric"))
		rte_policy_parse("bandwidth", &router->policy, &why);
	if (!said_line(&reader->router, RTE_SECTION_ROUTER, "id"))
		RULE_ERROR(reader, router->line, "id = 1", "[router] has no id");
	rule_as(reader);
	rule_devices(reader);
	for (j = 0; j < devices; j++)
		for (i = 0; i < j; i++)
			if (!reader->device[i].wrong && !reader->device[j].wrong)
				rule_pair(reader, i, j);
	for (i = 0; i < router->routes; i++)
		for (j = 0; j < router->route[i].subnets; j++)
			if (router->route[i].subnet[j].as == RTE_AS_OWN)
				router->route[i].subnet[j].as = router->as;
	return router_defaults(router);
}

static bool same_prefix(const struct rte_config_prefix *a,
			const struct rte_config_prefix *b)
{
	return a->family == b->family && a->bits == b->bits &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

static void rule_prefixes(struct rte_reader *reader)
{
	const struct rte_config_prefix *prefix = reader->config->routing.prefix;
	uint32_t i, j;

	for (i = 0; i < reader->config->routing.prefixes; i++)
		for (j = 0; j < i; j++)
			if (same_prefix(&prefix[i], &prefix[j])) {
				RULE_ERROR(reader, prefix[i].line, NULL,
					   "that prefix stands in line %u",
					   prefix[j].line);
				break;
			}
}

int rte_rules(struct rte_reader *reader)
{
	struct rte_config *config = reader->config;
	uint32_t i;

	rule_prefixes(reader);
	for (i = 0; i < config->devices; i++)
		rules_device(reader, &reader->device[i], &config->device[i]);
	if (config->is_router)
		return rules_router(reader);
	if (!config->devices && !reader->errors->errors)
		rte_warning(reader->errors, config->file, 0, NULL, "there is no device");
	return 0;
}
