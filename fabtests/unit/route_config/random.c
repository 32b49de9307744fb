/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "random.h"

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(next() % limit);
}

static bool maybe(void)
{
	return next() & 1;
}

static const char *one_of(const char *const *words, uint32_t count)
{
	return words[below(count)];
}

#define ONE_OF(...)                                \
	one_of((const char *const[]){__VA_ARGS__}, \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void routing(FILE *out)
{
	uint32_t i, count = below(4);

	fprintf(out, "[routing]\n");
	for (i = 0; i < count; i++)
		if (maybe())
			fprintf(out, "prefix = 10.%u.%u.0/%u -> %u:%u\n", i, below(256),
				24 + below(9), 1 + below(9), below(9));
		else
			fprintf(out, "prefix = fd%02x:%x::/%u->%u:%u\n", i, below(65536),
				32 + below(97), 1 + below(9), below(9));
	if (maybe())
		fprintf(out, "ports = %u-%u\n", 1 + below(1000), 1001 + below(64000));
	if (maybe())
		fprintf(out, "heartbeat = %ums\n", 10 + below(59000));
	if (maybe())
		fprintf(out, "heartbeat_loss = %u\n", 1 + below(100));
	if (maybe())
		fprintf(out, "connect_timeout = %us\n", 1 + below(600));
}

static void router(FILE *out)
{
	uint32_t i, count = below(4);

	fprintf(out, "[router]\nid = %" PRIu64 "\n", next() | 1);
	if (maybe())
		fprintf(out, "name = r%u%s\n", below(100), ONE_OF("", ".x", "_y", "@z"));
	if (maybe())
		fprintf(out, "metric = %s\n",
			ONE_OF("hops", "widest,latency", "native, bandwidth",
			       "latency,hops,native,widest,bandwidth"));
	if (maybe())
		fprintf(out, "metric_scale = %s\n", ONE_OF("exact", "doc"));
	for (i = 0; i < count; i++)
		fprintf(out, "static = %u,%u%s\n", below(9), 10 + below(9),
			ONE_OF("", ",0:0", ", 20 , 21"));
	for (i = 0; i < count; i++)
		fprintf(out, "acl = %s -> %u:%s\n", ONE_OF("*", "3:*", "3:1"),
			1 + below(9), ONE_OF("*", "0", "4294967295"));
	if (maybe())
		fprintf(out, "control = /run/r %u.sock\n", below(100));
	if (maybe())
		fprintf(out, "metrics = %s%u\n",
			ONE_OF("", "10.0.0.1:", "0.0.0.0:", "[::1]:"), 1 + below(65535));
	if (maybe())
		fprintf(out, "workers = %u\n", 1 + below(16));
	if (maybe())
		fprintf(out, "connections = %u\n", 1 + below(1000000));
	if (maybe())
		fprintf(out, "slots = %u\n", 2 + below(65000));
	if (maybe())
		fprintf(out, "resolves = %u\n", 1 + below(1000000));
	if (maybe())
		fprintf(out, "refresh = %ums\n", 100 + below(1000000));
	if (maybe())
		fprintf(out, "hold_down = %ums-%us\n", 1 + below(1000), 1 + below(60));
}

static void uri(FILE *out, const char *name, const char *transport, uint32_t id)
{
	fprintf(out, "%s = %s://", name, transport);
	if (*transport == 'e')
		fprintf(out, "02:00:5e:00:%02x:%02x:%u\n", id, below(256),
			1 + below(65535));
	else
		fprintf(out, "%s%u:%u\n", ONE_OF("10.0.0.", "host", "a-b.c"), id,
			1 + below(65535));
}

static void keys(FILE *out, bool needed)
{
	if (!needed && maybe())
		return;
	fprintf(out, "key_file = /k%u\nkey_id = %u\n", below(100), 1 + below(100));
	if (maybe())
		fprintf(out, "key_file = /a b%u\nkey_id = %u\n", below(100),
			101 + below(100));
}

static void device_of_router(FILE *out, const char *transport, uint32_t index, bool wan)
{
	if (wan && maybe())
		fprintf(out, "peer_as = %u\n", 4 + below(9));
	if (maybe())
		uri(out, "uri", transport, 100 + index);
	if (maybe())
		fprintf(out, "transit = %s\n", ONE_OF("no", "yes"));
	if (maybe())
		fprintf(out, "rate = %u%s\n", 1 + below(1000),
			ONE_OF("", "K", ".5M", "G"));
	if (maybe())
		fprintf(out, "latency = %u%s\n", 1 + below(1000),
			ONE_OF("ns", "us", "ms"));
	if (maybe())
		fprintf(out, "cost = %u.%03u\n", 1 + below(1000), below(1000));
	if (maybe())
		fprintf(out, "caps = %s\n",
			ONE_OF("none", "zerocopy", "osbypass,rma", "rma,zerocopy"));
}

static void device(FILE *out, uint32_t index, bool of_router)
{
	const bool wan = of_router && index > 1 && maybe();
	const char *transport = ONE_OF("sock", "tcp", "verbs", "gni");
	uint32_t i, count = below(4);

	fprintf(out, "[dev%u]\ntransport = %s\n", index, transport);
	if (of_router || maybe())
		fprintf(out, "as = %u\n", wan ? 0 : 3);
	if (of_router || maybe())
		fprintf(out, "subnet = %u\n", index * 1000 + below(1000));
	for (i = 0; i < count; i++)
		uri(out, "router", transport, i);
	if (of_router)
		device_of_router(out, transport, index, wan);
	if (maybe() && !strcmp(transport, "verbs"))
		fprintf(out, "provider = %s\n", ONE_OF("pverbs", "verbs"));
	if (maybe())
		fprintf(out, "fabric = %s\n", ONE_OF("IB-0xfe80", "10.0.0.0/8", "#x"));
	if (maybe())
		fprintf(out, "domain = %s\n", ONE_OF("lo", "mlx5_0", "a\xc3\xa4"));
	if (maybe())
		fprintf(out, "frag = %u%s\n", 8192 + below(8192), ONE_OF("", ".0"));
	if (wan || maybe()) {
		keys(out, true);
		if (wan || maybe())
			fprintf(out, "auth = required\n");
	} else {
		keys(out, false);
	}
}

void random_config(uint64_t seed, char *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	uint32_t devices;
	bool of_router;

	state = seed;
	of_router = maybe();
	devices = 2 + below(4);
	if (maybe())
		routing(out);
	if (of_router)
		router(out);
	for (uint32_t i = 0; i < devices; i++)
		device(out, i, of_router);
	fclose(out);
}
