/* SPDX-License-Identifier: BSD-2-Clause */
/* Insertion by node and service: one (fi_av_insertsvc), or a range of both
 * (fi_av_insertsym). */
#include <ctype.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

/* Digits at the end of a name that count: their value has 64 bits. */
#define AV_DIGITS_MAX 18

/* What a range begins with. */
struct av_range {
	const struct crn_av *av;
	const char *node;
	const char *service;
	size_t svccnt;
	/* Of a name: "host09" is followed by "host10". */
	size_t base; /* bytes before the digits */
	int width;   /* digits, 0: node is an address; successors have at least as many */
	uint64_t value; /* of the digits */
};

static int av_family(const struct crn_av *av)
{
	switch (av->form->format) {
	case FI_SOCKADDR_IN:
		return AF_INET;
	case FI_SOCKADDR_IN6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

static int av_resolve(const struct av_range *range, const char *node,
		      union crn_av_addr *out)
{
	union crn_addr found;
	int ret = crn_addr_resolve(node, range->service, av_family(range->av), false,
				   false, &found);

	if (!ret)
		memcpy(out, &found, crn_addr_len(&found.sa));
	return ret;
}

/* "10.0.0.1", "fe80::1%eth0": counted as an address, not as a name that ends in digits.
 */
static bool av_is_address(const char *node)
{
	union crn_addr addr;

	return !crn_addr_resolve(node, NULL, AF_UNSPEC, false, true, &addr);
}

/* -FI_EINVAL: the node has no successor. */
static int av_range_init(struct av_range *range)
{
	size_t at = strlen(range->node);

	if (av_is_address(range->node))
		return 0;
	while (at && isdigit((unsigned char)range->node[at - 1]) &&
	       range->width < AV_DIGITS_MAX) {
		at--;
		range->width++;
	}
	range->base = at;
	range->value = range->width ? strtoull(range->node + at, NULL, 10) : 0;
	return range->width ? 0 : -FI_EINVAL;
}

static int av_resolve_name(const struct av_range *range, size_t number,
			   union crn_av_addr *out)
{
	char node[NI_MAXHOST];
	const int len =
		snprintf(node, sizeof(node), "%.*s%0*llu", (int)range->base, range->node,
			 range->width, (unsigned long long)(range->value + number));

	return (size_t)len < sizeof(node) ? av_resolve(range, node, out) : -FI_EINVAL;
}

/* The host part, the highest byte first, plus number. -FI_EINVAL: it has no such value.
 */
static int av_host_add(union crn_av_addr *addr, uint64_t number)
{
	const bool in = addr->sa.sa_family == AF_INET;
	uint8_t *host =
		in ? (uint8_t *)&addr->in.sin_addr : (uint8_t *)&addr->in6.sin6_addr;
	size_t at = in ? sizeof(addr->in.sin_addr) : sizeof(addr->in6.sin6_addr);

	while (number && at--) {
		number += host[at];
		host[at] = (uint8_t)number;
		number >>= 8;
	}
	return number ? -FI_EINVAL : 0;
}

static int av_port_add(union crn_av_addr *addr, size_t number)
{
	const uint16_t first = crn_addr_port(&addr->sa);

	if (number > UINT16_MAX - (size_t)first)
		return -FI_EINVAL;
	crn_addr_set_port(&addr->sa, (uint16_t)(first + number));
	return 0;
}

/* All services of the number-th node: of its name, or of the address so many later. */
static void av_items_of_node(const struct av_range *range, size_t number,
			     struct crn_av_item *items)
{
	union crn_av_addr first = {.in6 = {0}};
	size_t i;
	int ret;

	if (number && range->width) {
		ret = av_resolve_name(range, number, &first);
	} else {
		ret = av_resolve(range, range->node, &first);
		if (!ret)
			ret = av_host_add(&first, number);
	}
	for (i = 0; i < range->svccnt; i++) {
		items[i].addr = first;
		items[i].err = ret ? -ret : -av_port_add(&items[i].addr, i);
	}
}

/* By the form's own names. */
static int av_items_of_form(const struct av_range *range, size_t nodecnt,
			    struct crn_av_item *items)
{
	const struct crn_av_form *form = range->av->form;
	size_t i, count = nodecnt * range->svccnt;

	if (!form->resolve)
		return -FI_ENOSYS;
	for (i = 0; i < count; i++)
		items[i].err =
			-form->resolve(range->node, i / range->svccnt, range->service,
				       i % range->svccnt, &items[i].addr);
	return 0;
}

/* By names of hosts and ports. */
static int av_items_of_hosts(struct av_range *range, size_t nodecnt,
			     struct crn_av_item *items)
{
	int ret = nodecnt > 1 ? av_range_init(range) : 0;
	size_t i;

	for (i = 0; !ret && range->svccnt && i < nodecnt; i++)
		av_items_of_node(range, i, items + i * range->svccnt);
	return ret;
}

int crn_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt,
		     const char *service, size_t svccnt, fi_addr_t *fi_addr,
		     uint64_t flags, void *context)
{
	struct crn_av *av = crn_container_of(fid, struct crn_av, fid);
	struct av_range range = {
		.av = av, .node = node, .service = service, .svccnt = svccnt};
	struct crn_av_item *items;
	size_t count;
	int ret;

	if (__builtin_mul_overflow(nodecnt, svccnt, &count))
		return -FI_EINVAL;
	ret = crn_av_insert_check(av, count, fi_addr, flags, context);
	if (ret)
		return ret;
	/* What counts up has to begin somewhere. */
	if ((!node && (!service || nodecnt > 1)) || (!service && svccnt > 1))
		return -FI_EINVAL;
	items = calloc(CRN_MAX(count, (size_t)1), sizeof(*items));
	if (!items)
		return -FI_ENOMEM;
	ret = crn_av_sockaddr(av->form->format)
		      ? av_items_of_hosts(&range, nodecnt, items)
		      : av_items_of_form(&range, nodecnt, items);
	if (!ret)
		ret = crn_av_insert_items(av, items, count, fi_addr, flags, context);
	free(items);
	return ret;
}

int crn_av_insertsvc(struct fid_av *fid, const char *node, const char *service,
		     fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	return crn_av_insertsym(fid, node, 1, service, 1, fi_addr, flags, context);
}
