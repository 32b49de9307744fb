/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "addresses.h"
#include "gids.h"
#include "pkeys.h"
#include "settings.h"

/* Where a value may be written to: one function for each kind of value. */
struct svb_key {
	const char *name;
	bool (*set)(const struct svb_key *key, void *at, const char *text);
	size_t offset; /* in struct svb_settings, or struct svb_device_settings */
	double least, most;
	double unit; /* how many of ours make one of the file's */
	const char *const *names;
	const char *preset;
};

static bool svb_number(const struct svb_key *key, const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value >= key->least && *value <= key->most;
}

static bool svb_set_u32(const struct svb_key *key, void *at, const char *text)
{
	double value;

	if (!svb_number(key, text, &value) || value != floor(value))
		return false;
	*(uint32_t *)at = (uint32_t)value;
	return true;
}

static bool svb_set_u64(const struct svb_key *key, void *at, const char *text)
{
	double value;

	if (!svb_number(key, text, &value))
		return false;
	*(uint64_t *)at = (uint64_t)(value * key->unit);
	return true;
}

static bool svb_set_double(const struct svb_key *key, void *at, const char *text)
{
	return svb_number(key, text, at);
}

static bool svb_set_bool(const struct svb_key *key, void *at, const char *text)
{
	bool on =
		!strcasecmp(text, "on") || !strcasecmp(text, "yes") || !strcmp(text, "1");

	*(bool *)at = on;
	return on || !strcasecmp(text, "off") || !strcasecmp(text, "no") ||
	       !strcmp(text, "0");
}

/* least is the value that the first name stands for. */
static bool svb_set_enum(const struct svb_key *key, void *at, const char *text)
{
	int i;

	for (i = 0; key->names[i]; i++)
		if (!strcasecmp(text, key->names[i])) {
			*(int *)at = (int)key->least + i;
			return true;
		}
	return false;
}

static bool svb_set_string(const struct svb_key *key, void *at, const char *text)
{
	return snprintf(at, (size_t)key->most, "%s", text) < (int)key->most;
}

static bool svb_set_joins(const struct svb_key *key, void *at, const char *text)
{
	return svb_join_rules_parse(at, text);
}

static bool svb_set_sa(const struct svb_key *key, void *at, const char *text)
{
	return svb_sa_rules_parse(at, text);
}

static bool svb_set_groups(const struct svb_key *key, void *at, const char *text)
{
	return svb_made_groups_parse(at, text);
}

static const char *const svb_link_names[] = {"infiniband", "roce", "iwarp", NULL};
static const char *const svb_domain_names[] = {"dmp", "mhp", "wsp", NULL};
static const char *const svb_copy_names[] = {"auto", "direct", "thread", NULL};
static const char *const svb_auto_names[] = {"off", "on", "auto", NULL};
static const char *const svb_drain_names[] = {"at_once", "random", "explore", NULL};
static const char *const svb_removal_names[] = {"off", "flush", "silent", NULL};
static const char *const svb_gid_names[] = {"v1", "v2", "both", NULL};
static const char *const svb_mtu_names[] = {"256", "512", "1024", "2048", "4096", NULL};

#define SVB_AUTO 2

#define SVB_KEY(name_, kind, field, ...)                                    \
	{                                                                   \
		.name = (name_), .set = svb_set_##kind,                     \
		.offset = offsetof(struct svb_settings, field), __VA_ARGS__ \
	}

static const struct svb_key svb_keys[] = {
	SVB_KEY("devices", u32, devices, .least = 1, .most = SVB_MAX_DEVICES,
		.preset = "1"),
	SVB_KEY("link_layer", enum, link, .names = svb_link_names,
		.preset = "infiniband"),
	SVB_KEY("gid_types", enum, gid_types, .least = SVB_GIDS_V1,
		.names = svb_gid_names, .preset = "v2"),
	SVB_KEY("mtu", enum, mtu, .least = IBV_MTU_256, .names = svb_mtu_names,
		.preset = "4096"),
	SVB_KEY("max_qp", u32, max_qp, .least = 1, .most = SVB_MAX_QP, .preset = "32768"),
	SVB_KEY("max_qp_wr", u32, max_qp_wr, .least = 1, .most = 65536,
		.preset = "16384"),
	SVB_KEY("max_sge", u32, max_sge, .least = 1, .most = SVB_MAX_SGE, .preset = "32"),
	SVB_KEY("max_cq", u32, max_cq, .least = 1, .most = SVB_MAX_CQ, .preset = "16384"),
	SVB_KEY("max_cqe", u32, max_cqe, .least = 1, .most = 1 << 22, .preset = "131072"),
	SVB_KEY("max_mr", u32, max_mr, .least = 1, .most = SVB_MAX_MR - 1,
		.preset = "524288"),
	SVB_KEY("max_srq", u32, max_srq, .most = SVB_MAX_SRQ, .preset = "4096"),
	SVB_KEY("max_srq_wr", u32, max_srq_wr, .least = 1, .most = 65536,
		.preset = "32767"),
	SVB_KEY("max_inline", u32, max_inline, .most = 4096, .preset = "512"),
	SVB_KEY("max_rd_atomic", u32, max_rd_atomic, .most = 255, .preset = "128"),
	SVB_KEY("max_mcast", u32, max_mcast, .most = SVB_MAX_MCAST, .preset = "4096"),
	SVB_KEY("flush", bool, flush, .preset = "on"),
	SVB_KEY("atomics", enum, atomics, .names = svb_auto_names, .preset = "auto"),
	SVB_KEY("immediate", enum, immediate, .names = svb_auto_names, .preset = "auto"),
	SVB_KEY("latency_us", u64, latency, .most = 1e7, .unit = 1000, .preset = "0"),
	SVB_KEY("loss", double, loss, .most = 1, .preset = "0"),
	SVB_KEY("error", double, error, .most = 1, .preset = "0"),
	SVB_KEY("ud_loss", double, ud_loss, .most = 1, .preset = "0"),
	SVB_KEY("ud_duplicate", double, ud_duplicate, .most = 1, .preset = "0"),
	SVB_KEY("ud_reorder", double, ud_reorder, .most = 1, .preset = "0"),
	SVB_KEY("seed", u64, seed, .most = 9e15, .unit = 1, .preset = "1"),
	SVB_KEY("persistence", enum, domain, .names = svb_domain_names, .preset = "dmp"),
	SVB_KEY("ddio", bool, ddio, .preset = "on"),
	SVB_KEY("relaxed", bool, relaxed, .preset = "off"),
	SVB_KEY("persistent_file", string, persistent, .most = 256, .preset = ""),
	SVB_KEY("drain", enum, drain, .names = svb_drain_names, .preset = "at_once"),
	SVB_KEY("power_fail", u32, power_fail, .most = 1e9, .preset = "0"),
	SVB_KEY("choices", string, choices, .most = 4096, .preset = ""),
	SVB_KEY("retry_ms", u32, retry_cap, .least = 1, .most = 600000, .preset = "1000"),
	SVB_KEY("copy", enum, copy, .names = svb_copy_names, .preset = "auto"),
	SVB_KEY("removal", enum, removal, .names = svb_removal_names, .preset = "off"),
	SVB_KEY("events", bool, events, .preset = "off"),
	SVB_KEY("join_fail", joins, join_fail, .preset = ""),
	SVB_KEY("sa_fail", sa, sa_fail, .preset = ""),
	SVB_KEY("umad", bool, umad, .preset = "on"),
	SVB_KEY("groups", groups, groups, .preset = "auto"),
	SVB_KEY("mlids", u32, mlids, .least = 1, .most = SVB_MAX_GROUPS,
		.preset = "4096"),
	SVB_KEY("threads", bool, threads, .preset = "on"),
};

#define SVB_DEVICE_KEY(name_, kind, field, ...)                                    \
	{                                                                          \
		.name = (name_), .set = svb_set_##kind,                            \
		.offset = offsetof(struct svb_device_settings, field), __VA_ARGS__ \
	}

static const struct svb_key svb_device_keys[] = {
	SVB_DEVICE_KEY("name", string, name, .most = 32, .preset = ""),
	SVB_DEVICE_KEY("ports", u32, ports, .least = 1, .most = SVB_MAX_PORTS,
		       .preset = "1"),
	SVB_DEVICE_KEY("pkeys", string, pkeys, .most = 256, .preset = "0xffff"),
	SVB_DEVICE_KEY("address", string, address, .most = 512, .preset = ""),
};

#define SVB_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool svb_key_set(const struct svb_key *keys, size_t count, void *base,
			const char *name, const char *text)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(keys[i].name, name))
			return keys[i].set(&keys[i], (char *)base + keys[i].offset, text);
	return false;
}

static void svb_preset(const struct svb_key *keys, size_t count, void *base)
{
	size_t i;

	for (i = 0; i < count; i++)
		keys[i].set(&keys[i], (char *)base + keys[i].offset, keys[i].preset);
}

/* inih: non-zero is success. Sections are "device", or "sim0" to "sim7". */
static int svb_ini(void *arg, const char *section, const char *name, const char *value)
{
	struct svb_settings *settings = arg;
	unsigned int device;
	char rest;

	if (sscanf(section, "sim%u%c", &device, &rest) == 1 && device < SVB_MAX_DEVICES &&
	    svb_key_set(svb_device_keys, SVB_COUNT(svb_device_keys),
			&settings->device[device], name, value))
		return 1;
	if (!strcmp(section, "device") &&
	    svb_key_set(svb_keys, SVB_COUNT(svb_keys), settings, name, value))
		return 1;
	fprintf(stderr, "simverbs: [%s] %s = %s is no setting or out of range\n", section,
		name, value);
	return 0;
}

/* "max_cqe" is SIMVERBS_MAX_CQE, and "address" of device 1 SIMVERBS_SIM1_ADDRESS. */
static const char *svb_variable(const char *prefix, const char *name, char *variable,
				size_t size)
{
	char *at;

	snprintf(variable, size, "SIMVERBS_%s%s", prefix, name);
	for (at = variable; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return getenv(variable);
}

static int svb_environment(const struct svb_key *keys, size_t count, void *base,
			   const char *prefix)
{
	char variable[64];
	const char *text;
	size_t i;

	for (i = 0; i < count; i++) {
		text = svb_variable(prefix, keys[i].name, variable, sizeof(variable));
		if (!text || keys[i].set(&keys[i], (char *)base + keys[i].offset, text))
			continue;
		fprintf(stderr, "simverbs: %s=%s is out of range\n", variable, text);
		return EINVAL;
	}
	return 0;
}

static uint32_t svb_port_own_gid(struct svb_port *port, uint64_t id, enum svb_link link)
{
	union ibv_gid gid = {0};

	if (link == SVB_LINK_IWARP) {
		/* The MAC address, and nothing else, as iWARP drivers have it. */
		memcpy(gid.raw, &id, 3);
		memcpy(gid.raw + 3, (char *)&id + 5, 3);
	} else {
		gid.global.subnet_prefix = htobe64(0xfe80ull << 48);
		gid.global.interface_id = id;
	}
	return svb_gid_add(port, &gid);
}

/* GUIDs are locally administered and the same in every process: "sim", device, port. */
static void svb_device_fill(struct svb_settings *settings, uint32_t index)
{
	struct svb_device_settings *device = &settings->device[index];
	struct svb_port *port;
	uint64_t id;
	uint32_t i;

	if (!*device->name)
		snprintf(device->name, sizeof(device->name), "sim%u", index);
	device->guid = 0x02736d00766200ull << 8 | index << 4;
	for (i = 0; i < device->ports; i++) {
		port = &device->port[i];
		port->index = index * SVB_MAX_PORTS + i;
		port->lid =
			settings->link == SVB_LINK_IB ? (uint16_t)(port->index + 1) : 0;
		id = htobe64(device->guid + i + 1);
		if (settings->link == SVB_LINK_ROCE)
			port->gid_types = settings->gid_types;
		port->own_gid = svb_port_own_gid(port, id, settings->link);
	}
}

/* RFC 5040 knows neither atomics nor immediate data nor flushes. */
static void svb_settings_iwarp(struct svb_settings *settings)
{
	bool iwarp = settings->link == SVB_LINK_IWARP;

	settings->flush &= !iwarp;
	if (settings->atomics == SVB_AUTO)
		settings->atomics = !iwarp;
	if (settings->immediate == SVB_AUTO)
		settings->immediate = !iwarp;
}

int svb_settings_load(struct svb_settings *settings)
{
	const char *file = getenv("SIMVERBS_CONFIG");
	struct ifaddrs *list = NULL;
	char prefix[16];
	uint32_t i;
	int ret;

	memset(settings, 0, sizeof(*settings));
	svb_preset(svb_keys, SVB_COUNT(svb_keys), settings);
	for (i = 0; i < SVB_MAX_DEVICES; i++)
		svb_preset(svb_device_keys, SVB_COUNT(svb_device_keys),
			   &settings->device[i]);
	ret = file && *file ? ini_parse(file, svb_ini, settings) : 0;
	if (ret) {
		fprintf(stderr, "simverbs: %s: %s %d\n", file,
			ret < 0 ? "cannot be read," : "error in line", ret);
		ret = EINVAL;
	}
	if (!ret)
		ret = svb_environment(svb_keys, SVB_COUNT(svb_keys), settings, "");
	svb_settings_iwarp(settings);
	settings->ud_seed = settings->seed;
	if (getifaddrs(&list))
		list = NULL;
	for (i = 0; i < settings->devices && !ret; i++) {
		snprintf(prefix, sizeof(prefix), "sim%u_", i);
		ret = svb_environment(svb_device_keys, SVB_COUNT(svb_device_keys),
				      &settings->device[i], prefix);
		svb_device_fill(settings, i);
		if (!ret)
			ret = svb_pkeys_load(&settings->device[i], i, settings->link);
		if (!ret)
			ret = svb_addresses_load(&settings->device[i], i, list);
	}
	if (list)
		freeifaddrs(list);
	if (ret)
		settings->devices = 0;
	return ret;
}

bool svb_settings_modelled(const struct svb_settings *settings)
{
	return *settings->persistent && (settings->drain != SVB_DRAIN_AT_ONCE ||
					 settings->power_fail || *settings->choices);
}

/* Machines are told apart by the file's name. */
uint32_t svb_settings_machine(const struct svb_settings *settings)
{
	const char *file = settings->persistent;
	uint32_t hash = 2166136261u;

	if (!svb_settings_modelled(settings))
		return 0;
	for (; *file; file++)
		hash = (hash ^ (uint8_t)*file) * 16777619u;
	return hash | 4;
}
