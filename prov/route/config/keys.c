/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <cairn/compat.h>
#include "keys.h"

static const char *const scale_words[] = {"exact", "doc", NULL};
static const char *const bool_words[] = {"no", "yes", NULL};
static const char *const auth_words[] = {"open", "required", NULL};
static const char *const transfer_words[] = {"push", NULL};

#define AT(section_, field_)                                      \
	.offset = offsetof(struct rte_config_##section_, field_), \
	.width = sizeof(((struct rte_config_##section_ *)0)->field_)

#define NUMBER(section_, field_, units_, least_, most_)                  \
	.type = &rte_type_number, AT(section_, field_), .units = units_, \
	.least = (least_), .most = (most_)

#define WORDS(section_, field_, words_) \
	.type = &rte_type_words, AT(section_, field_), .words = words_

#define LIST(section_, field_, count_, item_, most_)                                   \
	.offset = offsetof(struct rte_config_##section_, field_), .repeats = true,     \
	.list = &(const struct rte_list)                                               \
	{                                                                              \
		.count = offsetof(struct rte_config_##section_, count_),               \
		.item = sizeof(item_), .line = offsetof(item_, line), .most = (most_), \
	}

/* clang-format off */
static const struct rte_key routing_keys[] = {
	{.name = "prefix", .type = &rte_type_prefix,
	 LIST(routing, prefix, prefixes, struct rte_config_prefix, RTE_CONFIG_PREFIXES_MAX)},
	{.name = "ports", .type = &rte_type_range, AT(routing, port_first),
	 .units = rte_units_none, .least = 1, .most = UINT16_MAX},
	{.name = "heartbeat", NUMBER(routing, heartbeat, rte_units_ms, 10, 60000),
	 .preset = 1000},
	{.name = "heartbeat_loss", NUMBER(routing, heartbeat_loss, rte_units_none, 1, 100),
	 .preset = 3},
	{.name = "connect_timeout",
	 NUMBER(routing, connect_timeout, rte_units_ms, 100, 600000), .preset = 5000},
};

static const struct rte_key router_keys[] = {
	{.name = "name", .type = &rte_type_name, AT(router, name)},
	{.name = "id", .type = &rte_type_id, AT(router, id), .least = 1, .most = UINT64_MAX},
	{.name = "metric", .type = &rte_type_policy, AT(router, policy)},
	{.name = "metric_scale", WORDS(router, policy.doc_scale, scale_words)},
	{.name = "static", .type = &rte_type_static,
	 LIST(router, route, routes, struct rte_config_static, RTE_CONFIG_STATICS_MAX)},
	{.name = "acl", .type = &rte_type_acl,
	 LIST(router, acl, acls, struct rte_config_acl, RTE_CONFIG_ACLS_MAX)},
	{.name = "control", .type = &rte_type_path, AT(router, control)},
	{.name = "metrics", .type = &rte_type_listen, AT(router, metrics)},
	{.name = "workers", NUMBER(router, workers, rte_units_none, 1, RTE_WORKERS_MAX)},
	{.name = "connections", NUMBER(router, connections, rte_units_none, 1, 1000000),
	 .preset = 1024},
	{.name = "slots", NUMBER(router, slots, rte_units_none, 2, 65536), .preset = 256},
	{.name = "resolves", NUMBER(router, resolves, rte_units_none, 1, 1000000),
	 .preset = 4096},
	{.name = "refresh",
	 NUMBER(router, refresh, rte_units_ms, 100, RTE_LIFETIME_MAX / 3), .preset = 10000},
	{.name = "hold_down", .type = &rte_type_range, AT(router, hold_first),
	 .units = rte_units_ms, .least = 1, .most = 60000, .preset = 50, .preset_last = 1000},
};

static const struct rte_key device_keys[] = {
	{.name = "transport", .type = &rte_type_transport, AT(device, transport)},
	/* The last AS is reserved (RFC 7300). */
	{.name = "as", NUMBER(device, at.as, rte_units_none, 0, UINT32_MAX - 1),
	 .has = offsetof(struct rte_config_device, has_as)},
	{.name = "subnet", NUMBER(device, at.subnet, rte_units_none, 0, UINT32_MAX),
	 .has = offsetof(struct rte_config_device, has_subnet)},
	{.name = "router", .type = &rte_type_uri,
	 LIST(device, router, routers, struct rte_config_uri, RTE_CONFIG_ROUTERS_MAX)},
	{.name = "uri", .type = &rte_type_uri, AT(device, uri), .of_router = true},
	{.name = "provider", .type = &rte_type_text, AT(device, provider)},
	{.name = "fabric", .type = &rte_type_text, AT(device, fabric)},
	{.name = "domain", .type = &rte_type_text, AT(device, domain)},
	{.name = "peer_as", NUMBER(device, peer_as, rte_units_none, 1, UINT32_MAX - 1),
	 .of_router = true},
	{.name = "transit", WORDS(device, transit, bool_words), .preset = true,
	 .of_router = true},
	{.name = "rate", NUMBER(device, rate, rte_units_rate, 1, 1000000000000000),
	 .of_router = true},
	{.name = "latency", NUMBER(device, latency, rte_units_ns, 1, 4000000000),
	 .of_router = true},
	{.name = "cost", NUMBER(device, cost, rte_units_milli, 1, 4000000000),
	 .of_router = true},
	{.name = "caps", .type = &rte_type_caps, AT(device, caps), .of_router = true},
	{.name = "frag", NUMBER(device, frag, rte_units_bytes, 4096, 16 << 20),
	 .preset = 256 << 10},
	{.name = "transfer", WORDS(device, transfer, transfer_words)},
	{.name = "auth", WORDS(device, auth, auth_words)},
	{.name = "key_file", .type = &rte_type_key_file,
	 LIST(device, key, keys, struct rte_config_key, RTE_CONFIG_KEYS_MAX)},
	{.name = "key_id", .type = &rte_type_key_id, .repeats = true},
};
/* clang-format on */

_Static_assert(CRN_COUNT(device_keys) <= RTE_KEYWORDS_MAX, "all keywords have a place");

const struct rte_section rte_sections[RTE_SECTIONS] = {
	[RTE_SECTION_ROUTING] = {"routing", routing_keys, CRN_COUNT(routing_keys)},
	[RTE_SECTION_ROUTER] = {"router", router_keys, CRN_COUNT(router_keys)},
	[RTE_SECTION_DEVICE] = {NULL, device_keys, CRN_COUNT(device_keys)},
};

uint32_t rte_key_find(const struct rte_section *section, const char *name)
{
	uint32_t i;

	for (i = 0; i < section->keys; i++)
		if (!strcmp(section->key[i].name, name))
			break;
	return i;
}

void *rte_key_at(const struct rte_key *key, const void *base, uint32_t index)
{
	char *at = (char *)base + key->offset;

	return key->list ? *(char **)at + index * key->list->item : at;
}

uint32_t rte_key_count(const struct rte_key *key, const void *base)
{
	if (key->list)
		return *(const uint32_t *)((const char *)base + key->list->count);
	if (key->has)
		return *(const bool *)((const char *)base + key->has);
	return !key->type->is_set || key->type->is_set(key, rte_key_at(key, base, 0));
}

void rte_section_preset(const struct rte_section *section, void *base)
{
	const struct rte_key *key;
	char *at;

	for (key = section->key; key < section->key + section->keys; key++) {
		at = rte_key_at(key, base, 0);
		if (key->preset)
			rte_number_set(at, key->width, key->preset);
		if (key->preset_last)
			rte_number_set(at + key->width, key->width, key->preset_last);
	}
}

void rte_section_free(const struct rte_section *section, void *base)
{
	const struct rte_key *key;
	uint32_t i;

	for (key = section->key; key < section->key + section->keys; key++) {
		if (key->type->release)
			for (i = rte_key_count(key, base); i--;)
				key->type->release(rte_key_at(key, base, i));
		if (key->list)
			free(rte_key_at(key, base, 0));
	}
}
