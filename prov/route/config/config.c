/* SPDX-License-Identifier: BSD-2-Clause */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "keys.h"

void rte_config_free(struct rte_config *config)
{
	uint32_t i;

	if (!config)
		return;
	for (i = 0; i < config->devices; i++) {
		rte_section_free(&rte_sections[RTE_SECTION_DEVICE], &config->device[i]);
		free(config->device[i].name);
	}
	free(config->device);
	rte_section_free(&rte_sections[RTE_SECTION_ROUTER], &config->router);
	rte_section_free(&rte_sections[RTE_SECTION_ROUTING], &config->routing);
	free(config->file);
	free(config);
}

static void write_section(FILE *out, const char *name, const struct rte_section *section,
			  const void *base, bool is_router)
{
	const struct rte_key *key;
	uint32_t i, count;

	fprintf(out, "[%s]\n", name);
	for (key = section->key; key < section->key + section->keys; key++) {
		count = key->of_router && !is_router ? 0 : rte_key_count(key, base);
		for (i = 0; i < count; i++) {
			fprintf(out, "%s = ", key->name);
			key->type->print(key, rte_key_at(key, base, i), out);
			fputc('\n', out);
		}
	}
}

static void write_named(FILE *out, enum rte_section_kind kind, const void *base)
{
	write_section(out, rte_sections[kind].name, &rte_sections[kind], base, true);
}

int rte_config_write(FILE *out, const struct rte_config *config)
{
	const struct rte_config_device *device;

	write_named(out, RTE_SECTION_ROUTING, &config->routing);
	if (config->is_router) {
		fputc('\n', out);
		write_named(out, RTE_SECTION_ROUTER, &config->router);
	}
	for (device = config->device; device < config->device + config->devices;
	     device++) {
		fputc('\n', out);
		write_section(out, device->name, &rte_sections[RTE_SECTION_DEVICE],
			      device, config->is_router);
	}
	return fflush(out) || ferror(out) ? -FI_EIO : 0;
}

/* --- What is asked of it --- */

static bool prefix_has(const struct rte_config_prefix *prefix, const uint8_t *addr)
{
	const unsigned int bytes = prefix->bits / 8, bits = prefix->bits % 8;

	return !memcmp(prefix->addr, addr, bytes) &&
	       (!bits || !((prefix->addr[bytes] ^ addr[bytes]) >> (8 - bits)));
}

const struct rte_config_prefix *rte_config_prefix_find(const struct rte_config *config,
						       const struct sockaddr *addr)
{
	const struct rte_config_prefix *best = NULL, *prefix = config->routing.prefix;
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;
	int family = addr->sa_family;
	const uint8_t *bytes;
	uint32_t i;

	if (family == AF_INET) {
		bytes = (const uint8_t *)&((const struct sockaddr_in *)addr)->sin_addr;
	} else if (family == AF_INET6) {
		bytes = in6->s6_addr;
		if (IN6_IS_ADDR_V4MAPPED(in6)) {
			family = AF_INET;
			bytes += 12;
		}
	} else {
		return NULL;
	}
	for (i = 0; i < config->routing.prefixes; i++)
		if (prefix[i].family == family &&
		    (!best || prefix[i].bits > best->bits) &&
		    prefix_has(&prefix[i], bytes))
			best = &prefix[i];
	return best;
}

static bool match_has(const struct rte_config_match *match, struct rte_subnet subnet)
{
	return match->any_as ||
	       (match->subnet.as == subnet.as &&
		(match->any_subnet || match->subnet.subnet == subnet.subnet));
}

bool rte_config_allows(const struct rte_config *config, struct rte_subnet from,
		       struct rte_subnet to)
{
	const struct rte_config_acl *acl = config->router.acl;
	uint32_t i;

	for (i = 0; i < config->router.acls; i++)
		if (match_has(&acl[i].from, from) && match_has(&acl[i].to, to))
			return true;
	return !config->router.acls;
}
