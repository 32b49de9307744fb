/* SPDX-License-Identifier: BSD-2-Clause */
#include "layout.h"
#include "links.h"

/* The numbers that a link begins with. */
struct rte_link_head {
	uint32_t subnet, scope_as;
	uint64_t rate;
	uint32_t latency, cost, frag_max;
	uint16_t caps;
	uint8_t state;
	uint16_t neighbours;
	uint8_t uri_len;
	uint32_t length;
};

RTE_FIELDS(link_head, RTE_LINK_HEAD_FIELDS)

#define LINK_HEAD RTE_SUM(RTE_LINK_HEAD_FIELDS)

_Static_assert(RTE_LSA_NEIGHBOURS >= RTE_LINKS_MAX * RTE_NEIGHBOURS_MAX,
	       "room for what rte_lsa_check accepts");
_Static_assert(RTE_LSA_LIST_MAX >=
		       RTE_LINKS_MAX *
			       (LINK_HEAD + RTE_NEIGHBOURS_MAX * sizeof(uint64_t) +
				RTE_URI_MAX + 1),
	       "bytes for what rte_lsa_check accepts");

/* With at least one 0 behind it. */
static size_t uri_room(size_t uri_len)
{
	return (uri_len + 8) & ~(size_t)7;
}

static size_t link_len(size_t neighbours, size_t uri_len)
{
	return LINK_HEAD + neighbours * sizeof(uint64_t) + uri_room(uri_len);
}

/* An empty one is right. */
static bool uri_right(const char *uri, size_t uri_len)
{
	return uri_len ? rte_text_right(uri, uri_len + 1) : !*uri;
}

/* Of all bytes of a link, 0: it is beyond the bounds. */
static size_t link_check(const struct rte_link *link, size_t *uri_len)
{
	*uri_len = strnlen(link->uri, RTE_URI_MAX + 1);
	if (link->neighbours > RTE_NEIGHBOURS_MAX || *uri_len > RTE_URI_MAX ||
	    !uri_right(link->uri, *uri_len))
		return 0;
	return link_len(link->neighbours, *uri_len);
}

ssize_t rte_links_len(const struct rte_lsa *lsa)
{
	size_t sum = 0, len, uri_len;
	uint32_t i;

	if (lsa->links > RTE_LINKS_MAX)
		return -FI_EINVAL;
	for (i = 0; i < lsa->links; i++) {
		len = link_check(&lsa->link[i], &uri_len);
		if (!len)
			return -FI_EINVAL;
		sum += len;
	}
	return (ssize_t)sum;
}

static void link_pack(uint8_t *at, const struct rte_link *link, size_t len,
		      size_t uri_len)
{
	const struct rte_link_head head = {.subnet = link->subnet,
					   .scope_as = link->scope_as,
					   .rate = link->rate,
					   .latency = link->latency,
					   .cost = link->cost,
					   .frag_max = link->frag_max,
					   .caps = link->caps,
					   .state = link->up,
					   .neighbours = link->neighbours,
					   .uri_len = (uint8_t)uri_len,
					   .length = (uint32_t)len};

	put_link_head(at, &head);
	at += LINK_HEAD;
	crn_put_le64s(at, link->neighbour, link->neighbours);
	at += link->neighbours * sizeof(uint64_t);
	crn_put_le64(at + uri_room(uri_len) - sizeof(uint64_t), 0);
	memcpy(at, link->uri, uri_len);
}

ssize_t rte_links_pack(const struct rte_lsa *lsa, void *buf, size_t size)
{
	struct crn_pack out;
	size_t len, uri_len;
	uint8_t *at;
	uint32_t i;

	if (lsa->links > RTE_LINKS_MAX)
		return -FI_EINVAL;
	crn_pack_init(&out, buf, size);
	for (i = 0; i < lsa->links; i++) {
		len = link_check(&lsa->link[i], &uri_len);
		if (!len)
			return -FI_EINVAL;
		at = crn_pack_room(&out, len);
		if (at)
			link_pack(at, &lsa->link[i], len, uri_len);
	}
	return crn_pack_len(&out);
}

/* A link behind its head, all of which is in in: neighbours, URI, TLVs. */
static enum rte_bad link_rest_parse(struct rte_link *link, uint64_t *neighbour,
				    const struct rte_link_head *head,
				    struct crn_unpack *in)
{
	const uint8_t *at = crn_unpack_ref(in, head->neighbours * sizeof(uint64_t));

	link->neighbour = neighbour;
	link->neighbours = head->neighbours;
	crn_get_le64s(at, neighbour, head->neighbours);
	link->uri = (const char *)crn_unpack_ref(in, uri_room(head->uri_len));
	if (!uri_right(link->uri, head->uri_len))
		return RTE_BAD_TEXT;
	/* None is known. */
	return in->left ? rte_tlv_parse(NULL, 0, in) : RTE_OK;
}

static enum rte_bad link_parse(struct rte_link *link, uint64_t *neighbour,
			       struct crn_unpack *in)
{
	const uint8_t *at = crn_unpack_ref(in, LINK_HEAD);
	struct rte_link_head head;
	struct crn_unpack rest;

	if (!at)
		return RTE_BAD_SHORT;
	get_link_head(at, &head);
	if (head.neighbours > RTE_NEIGHBOURS_MAX)
		return RTE_BAD_LIMIT;
	if (head.state > 1)
		return RTE_BAD_VALUE;
	if (head.length % 8 || head.length < link_len(head.neighbours, head.uri_len))
		return RTE_BAD_RANGE;
	crn_unpack_part(in, head.length - LINK_HEAD, &rest);
	if (in->failed)
		return RTE_BAD_SHORT;
	*link = (struct rte_link){.subnet = head.subnet,
				  .scope_as = head.scope_as,
				  .rate = head.rate,
				  .latency = head.latency,
				  .cost = head.cost,
				  .frag_max = head.frag_max,
				  .caps = head.caps,
				  .up = head.state};
	return link_rest_parse(link, neighbour, &head, &rest);
}

enum rte_bad rte_lsa_parse(struct rte_lsa_room *room, const struct rte_lsa_piece *piece,
			   const void *list, size_t len)
{
	enum rte_bad bad = RTE_OK;
	struct crn_unpack in;
	size_t neighbours = 0;
	uint32_t i;

	if (piece->links > RTE_LINKS_MAX)
		return RTE_BAD_LIMIT;
	if (len != piece->total)
		return RTE_BAD_PIECE;
	crn_unpack_init(&in, list, len);
	for (i = 0; i < piece->links && bad == RTE_OK; i++) {
		bad = link_parse(&room->link[i], &room->neighbour[neighbours], &in);
		neighbours += bad == RTE_OK ? room->link[i].neighbours : 0;
	}
	room->lsa = (struct rte_lsa){.as = piece->as,
				     .flags = piece->flags,
				     .router = piece->router,
				     .epoch = piece->epoch,
				     .seq = piece->seq,
				     .lifetime = piece->lifetime,
				     .load = piece->load,
				     .links = piece->links,
				     .link = room->link};
	if (bad != RTE_OK)
		return bad;
	return in.left ? RTE_BAD_PLEN : RTE_OK;
}
