/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "topo.h"

static size_t lsa_size(const struct rte_lsa *lsa)
{
	size_t size = sizeof(*lsa) + lsa->links * sizeof(*lsa->link);
	uint32_t i;

	for (i = 0; i < lsa->links; i++)
		size += lsa->link[i].neighbours * sizeof(*lsa->link[i].neighbour) +
			strlen(lsa->link[i].uri) + 1;
	return size;
}

struct rte_lsa *rte_lsa_copy(const struct rte_lsa *lsa)
{
	struct rte_lsa *copy = malloc(lsa_size(lsa));
	struct rte_link *link;
	uint64_t *neighbour;
	char *text;
	size_t len;
	uint32_t i;

	if (!copy)
		return NULL;
	*copy = *lsa;
	link = (struct rte_link *)(copy + 1);
	neighbour = (uint64_t *)(link + lsa->links);
	copy->link = link;
	for (i = 0; i < lsa->links; i++) {
		link[i] = lsa->link[i];
		len = link[i].neighbours * sizeof(*neighbour);
		if (len)
			memcpy(neighbour, lsa->link[i].neighbour, len);
		link[i].neighbour = neighbour;
		neighbour += link[i].neighbours;
	}
	text = (char *)neighbour;
	for (i = 0; i < lsa->links; i++) {
		len = strlen(lsa->link[i].uri) + 1;
		link[i].uri = memcpy(text, lsa->link[i].uri, len);
		text += len;
	}
	return copy;
}

static bool link_right(const struct rte_lsa *lsa, const struct rte_link *link)
{
	uint16_t i;

	if (!link->rate || link->neighbours > RTE_NEIGHBOURS_MAX ||
	    strlen(link->uri) > RTE_URI_MAX)
		return false;
	for (i = 0; i < link->neighbours; i++)
		if (link->neighbour[i] == lsa->router ||
		    link->neighbour[i] <= (i ? link->neighbour[i - 1] : 0))
			return false;
	return rte_lsa_link(lsa, link->scope_as, link->subnet) == link;
}

int rte_lsa_check(const struct rte_lsa *lsa)
{
	uint32_t i;

	if (lsa->as == RTE_AS_WAN || !lsa->router || lsa->links > RTE_LINKS_MAX ||
	    lsa->lifetime > RTE_LIFETIME_MAX ||
	    ((lsa->flags & RTE_LSA_WITHDRAW) && lsa->links))
		return -FI_EINVAL;
	for (i = 0; i < lsa->links; i++)
		if (!link_right(lsa, &lsa->link[i]))
			return -FI_EINVAL;
	return 0;
}

const struct rte_link *rte_lsa_link(const struct rte_lsa *lsa, uint32_t scope_as,
				    uint32_t subnet)
{
	uint32_t i;

	for (i = 0; i < lsa->links; i++)
		if (lsa->link[i].scope_as == scope_as && lsa->link[i].subnet == subnet)
			return &lsa->link[i];
	return NULL;
}

bool rte_link_names(const struct rte_link *link, uint64_t router)
{
	uint32_t low = 0, high = link->neighbours, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (link->neighbour[middle] == router)
			return true;
		if (link->neighbour[middle] < router)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int number_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int link_compare(const struct rte_link *a, const struct rte_link *b)
{
	const uint64_t fields[][2] = {
		{a->subnet, b->subnet},
		{a->scope_as, b->scope_as},
		{a->rate, b->rate},
		{a->latency, b->latency},
		{a->cost, b->cost},
		{a->caps, b->caps},
		{a->frag_max, b->frag_max},
		{a->up, b->up},
		{a->neighbours, b->neighbours},
	};
	int order = 0;
	size_t i;

	for (i = 0; !order && i < sizeof(fields) / sizeof(fields[0]); i++)
		order = number_compare(fields[i][0], fields[i][1]);
	for (i = 0; !order && i < a->neighbours; i++)
		order = number_compare(a->neighbour[i], b->neighbour[i]);
	return order ? order : strcmp(a->uri, b->uri);
}

int rte_lsa_compare(const struct rte_lsa *a, const struct rte_lsa *b)
{
	const uint64_t fields[][2] = {
		{a->epoch, b->epoch}, {a->seq, b->seq},	    {a->flags, b->flags},
		{a->load, b->load},   {a->links, b->links},
	};
	int order = 0;
	size_t i;

	for (i = 0; !order && i < sizeof(fields) / sizeof(fields[0]); i++)
		order = number_compare(fields[i][0], fields[i][1]);
	for (i = 0; !order && i < a->links; i++)
		order = link_compare(&a->link[i], &b->link[i]);
	return order;
}
