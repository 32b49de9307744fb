/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "keys.h"

static int is_wanted(const char *what, char wanted[RTE_WANTED_SIZE])
{
	snprintf(wanted, RTE_WANTED_SIZE, "%s", what);
	return -FI_EINVAL;
}

static void skip_space(const char **text)
{
	*text += strspn(*text, " \t");
}

static bool take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

static bool take_u32(const char **text, uint32_t most, uint32_t *value)
{
	uint64_t number;

	if (!rte_take_number(text, most, &number))
		return false;
	*value = (uint32_t)number;
	return true;
}

/* "->" with white space around it. */
static bool take_arrow(const char **text)
{
	skip_space(text);
	if (strncmp(*text, "->", 2))
		return false;
	*text += 2;
	skip_space(text);
	return true;
}

static void print_subnet(const struct rte_subnet *subnet, FILE *out)
{
	fprintf(out, "%" PRIu32 ":%" PRIu32, subnet->as, subnet->subnet);
}

/* --- prefix = 10.0.2.0/24 -> 3:2 --- */

static bool take_address(const char **text, struct rte_config_prefix *prefix)
{
	const size_t len = strcspn(*text, "/");
	char host[INET6_ADDRSTRLEN];

	if (len >= sizeof(host))
		return false;
	memcpy(host, *text, len);
	host[len] = '\0';
	*text += len;
	prefix->family = strchr(host, ':') ? AF_INET6 : AF_INET;
	return inet_pton(prefix->family, host, prefix->addr) == 1;
}

/* Sets those behind the prefix to 0; true: they were. */
static bool clear_host_bits(struct rte_config_prefix *prefix)
{
	bool clear = true;
	unsigned int bit;

	for (bit = prefix->bits; bit < 8 * sizeof(prefix->addr); bit++)
		if (prefix->addr[bit / 8] & 0x80 >> bit % 8) {
			prefix->addr[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
			clear = false;
		}
	return clear;
}

static void print_prefix(const struct rte_config_prefix *prefix, FILE *out)
{
	char host[INET6_ADDRSTRLEN];

	inet_ntop(prefix->family, prefix->addr, host, sizeof(host));
	fprintf(out, "%s/%u", host, prefix->bits);
}

static int type_prefix_parse(const struct rte_key *key, const char *text, void *at,
			     char wanted[RTE_WANTED_SIZE])
{
	struct rte_config_prefix prefix = {0};
	char host[INET6_ADDRSTRLEN];
	uint32_t bits;

	if (!take_address(&text, &prefix) || !take_char(&text, '/') ||
	    !take_u32(&text, prefix.family == AF_INET ? 32 : 128, &bits) ||
	    !take_arrow(&text) || !take_u32(&text, UINT32_MAX - 1, &prefix.to.as) ||
	    !take_char(&text, ':') || !take_u32(&text, UINT32_MAX, &prefix.to.subnet) ||
	    *text)
		return is_wanted("ADDRESS/BITS -> AS:SUBNET", wanted);
	prefix.bits = (uint8_t)bits;
	if (!clear_host_bits(&prefix)) {
		inet_ntop(prefix.family, prefix.addr, host, sizeof(host));
		snprintf(wanted, RTE_WANTED_SIZE, "that network is %s/%u", host, bits);
		return -FI_EINVAL;
	}
	/* rte_config_prefix_find takes such an address for one of IPv4. */
	if (prefix.family == AF_INET6 &&
	    IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)prefix.addr))
		return is_wanted("that is IPv4: a.b.c.d/BITS", wanted);
	if (prefix.to.as == RTE_AS_WAN)
		return is_wanted("nobody but routers is on a WAN, AS 0", wanted);
	*(struct rte_config_prefix *)at = prefix;
	return 0;
}

static void type_prefix_print(const struct rte_key *key, const void *at, FILE *out)
{
	const struct rte_config_prefix *prefix = at;

	print_prefix(prefix, out);
	fputs(" -> ", out);
	print_subnet(&prefix->to, out);
}

const struct rte_type rte_type_prefix = {
	.parse = type_prefix_parse,
	.print = type_prefix_print,
};

/* --- static = 3,2,1,0:0 --- */

/* N, which is known to be of the own AS later, or 0:N. */
static bool take_hop(const char **text, struct rte_subnet *hop)
{
	uint32_t number;

	skip_space(text);
	if (!take_u32(text, UINT32_MAX, &number))
		return false;
	*hop = (struct rte_subnet){.as = RTE_AS_OWN, .subnet = number};
	if (**text == ':') {
		++*text;
		if (number != RTE_AS_WAN || !take_u32(text, UINT32_MAX, &hop->subnet))
			return false;
		hop->as = RTE_AS_WAN;
	}
	skip_space(text);
	return true;
}

static bool hop_repeated(const struct rte_subnet *hops, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (hops[i].as == hops[count].as && hops[i].subnet == hops[count].subnet)
			return true;
	return false;
}

/* The number of subnets, or -FI_EINVAL. */
static int take_hops(const char *text, struct rte_subnet *hops,
		     char wanted[RTE_WANTED_SIZE])
{
	uint32_t count = 0;

	do {
		if (count == RTE_CONFIG_STATIC_MAX)
			return is_wanted("at most 65 subnets", wanted);
		if (!take_hop(&text, &hops[count]))
			return is_wanted("subnets from the source on, SUBNET,... or "
					 "0:SUBNET for a WAN",
					 wanted);
		if (hop_repeated(hops, count))
			return is_wanted("a subnet stands there twice", wanted);
		if (count++ > 1 && hops[count - 2].as == RTE_AS_WAN)
			return is_wanted("a WAN is the first or the last", wanted);
	} while (take_char(&text, ','));
	if (*text)
		return is_wanted("subnets are separated by commas", wanted);
	return count < 2 ? is_wanted("at least two subnets", wanted) : (int)count;
}

static int type_static_parse(const struct rte_key *key, const char *text, void *at,
			     char wanted[RTE_WANTED_SIZE])
{
	struct rte_subnet hops[RTE_CONFIG_STATIC_MAX];
	struct rte_config_static *route = at;
	int count = take_hops(text, hops, wanted);

	if (count < 0)
		return count;
	route->subnet = malloc((size_t)count * sizeof(*hops));
	if (!route->subnet)
		return -FI_ENOMEM;
	memcpy(route->subnet, hops, (size_t)count * sizeof(*hops));
	route->subnets = (uint32_t)count;
	return 0;
}

static void type_static_print(const struct rte_key *key, const void *at, FILE *out)
{
	const struct rte_config_static *route = at;
	uint32_t i;

	for (i = 0; i < route->subnets; i++)
		fprintf(out, "%s%s%" PRIu32, i ? "," : "",
			route->subnet[i].as == RTE_AS_WAN ? "0:" : "",
			route->subnet[i].subnet);
}

static void type_static_release(void *at)
{
	free(((struct rte_config_static *)at)->subnet);
}

const struct rte_type rte_type_static = {
	.parse = type_static_parse,
	.print = type_static_print,
	.release = type_static_release,
};

/* --- acl = 3:1 -> 4:* --- */

/* "*", "AS:*" or "AS:SUBNET". */
static bool take_match(const char **text, struct rte_config_match *match)
{
	*match = (struct rte_config_match){0};
	match->any_as = match->any_subnet = take_char(text, '*');
	if (match->any_as)
		return true;
	if (!take_u32(text, UINT32_MAX - 1, &match->subnet.as) || !match->subnet.as ||
	    !take_char(text, ':'))
		return false;
	match->any_subnet = take_char(text, '*');
	return match->any_subnet || take_u32(text, UINT32_MAX, &match->subnet.subnet);
}

static int type_acl_parse(const struct rte_key *key, const char *text, void *at,
			  char wanted[RTE_WANTED_SIZE])
{
	struct rte_config_acl acl = {0};

	if (!take_match(&text, &acl.from) || !take_arrow(&text) ||
	    !take_match(&text, &acl.to) || *text)
		return is_wanted("SOURCE -> DESTINATION, each AS:SUBNET, AS:* or *",
				 wanted);
	*(struct rte_config_acl *)at = acl;
	return 0;
}

static void print_match(const struct rte_config_match *match, FILE *out)
{
	if (match->any_as)
		fputc('*', out);
	else if (match->any_subnet)
		fprintf(out, "%" PRIu32 ":*", match->subnet.as);
	else
		print_subnet(&match->subnet, out);
}

static void type_acl_print(const struct rte_key *key, const void *at, FILE *out)
{
	const struct rte_config_acl *acl = at;

	print_match(&acl->from, out);
	fputs(" -> ", out);
	print_match(&acl->to, out);
}

const struct rte_type rte_type_acl = {
	.parse = type_acl_parse,
	.print = type_acl_print,
};

/* --- router = sock://host:7000, uri = sock://host:7000 --- */

static int type_uri_parse(const struct rte_key *key, const char *text, void *at,
			  char wanted[RTE_WANTED_SIZE])
{
	struct rte_config_uri uri = {0};
	char buf[RTE_URI_SIZE];
	const char *why;

	if (rte_uri_parse(text, &uri.uri, &why))
		return is_wanted(why, wanted);
	if (uri.uri.routed)
		return is_wanted("an address on this subnet, TRANSPORT://HOST:PORT",
				 wanted);
	if (!uri.uri.port)
		return is_wanted("nobody listens at port 0", wanted);
	uri.text = strdup(rte_uri_print(&uri.uri, buf));
	if (!uri.text)
		return -FI_ENOMEM;
	*(struct rte_config_uri *)at = uri;
	return 0;
}

static void type_uri_print(const struct rte_key *key, const void *at, FILE *out)
{
	fputs(((const struct rte_config_uri *)at)->text, out);
}

static void type_uri_release(void *at)
{
	free(((struct rte_config_uri *)at)->text);
}

static bool type_uri_is_set(const struct rte_key *key, const void *at)
{
	return ((const struct rte_config_uri *)at)->text;
}

const struct rte_type rte_type_uri = {
	.parse = type_uri_parse,
	.print = type_uri_print,
	.release = type_uri_release,
	.is_set = type_uri_is_set,
};

/* --- key_file = /etc/cairn/wan.key, and behind it key_id = 7 --- */

static int type_key_file_parse(const struct rte_key *key, const char *text, void *at,
			       char wanted[RTE_WANTED_SIZE])
{
	struct rte_config_key item = {0};

	if (!rte_path_right(text))
		return is_wanted("an absolute path without ;", wanted);
	if (rte_text_set(&item.file, text))
		return -FI_ENOMEM;
	*(struct rte_config_key *)at = item;
	return 0;
}

static void type_key_file_print(const struct rte_key *key, const void *at, FILE *out)
{
	const struct rte_config_key *item = at;

	fprintf(out, "%s\nkey_id = %" PRIu32, item->file, item->id);
}

static void type_key_file_release(void *at)
{
	free(((struct rte_config_key *)at)->file);
}

const struct rte_type rte_type_key_file = {
	.parse = type_key_file_parse,
	.print = type_key_file_print,
	.release = type_key_file_release,
};

/* at is the device. */
static int type_key_id_parse(const struct rte_key *key, const char *text, void *at,
			     char wanted[RTE_WANTED_SIZE])
{
	struct rte_config_device *device = at;
	uint32_t id;

	if (!take_u32(&text, UINT32_MAX, &id) || *text || !id)
		return is_wanted("a number from 1 to 4294967295", wanted);
	if (!device->keys || device->key[device->keys - 1].id)
		return is_wanted("it stands behind its key_file", wanted);
	if (device->keys == 2 && device->key[0].id == id)
		return is_wanted("the other key has it", wanted);
	device->key[device->keys - 1].id = id;
	return 0;
}

/* key_file has it. */
static bool type_key_id_is_set(const struct rte_key *key, const void *at)
{
	return false;
}

const struct rte_type rte_type_key_id = {
	.parse = type_key_id_parse,
	.is_set = type_key_id_is_set,
};
