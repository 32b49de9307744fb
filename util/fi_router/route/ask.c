/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer to a CONN_REQ: may it pass, and where does it go on? */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "inside.h"

int frt_refuse(struct frt_answer *answer, int status, const char *format, ...)
{
	va_list args;

	answer->what = FRT_REFUSE;
	answer->status = status;
	va_start(args, format);
	vsnprintf(answer->text, sizeof(answer->text), format, args);
	va_end(args);
	return status;
}

static uint32_t own_as(const struct frt_node *node)
{
	return frt_config(node)->router.as;
}

/* --- May it pass? --- */

/* The IPv4 address of who has come, also inside IPv6; 0: it has none. */
static uint32_t seen_host(const union crn_addr *from)
{
	if (from->sa.sa_family == AF_INET)
		return ntohl(from->in.sin_addr.s_addr);
	if (from->sa.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&from->in6.sin6_addr))
		return ntohl(from->in6.sin6_addr.s6_addr32[3]);
	return 0;
}

/* What a client says of itself does not count: its subnet is the one it has come over,
 * and its address the one it has. */
static void set_source(const struct frt_question *question, struct frt_answer *answer)
{
	answer->source = question->req->source;
	if (!question->client)
		return;
	answer->source.as = question->in->config->at.as;
	answer->source.subnet = question->in->config->at.subnet;
	answer->source.host = seen_host(&question->from->address);
}

/* What is known of this router's links is what the other one advertises. */
static int check_out(const struct frt_node *node, struct frt_answer *answer)
{
	return node->out ? frt_refuse(answer, FI_EHOSTUNREACH,
				      "another router has the id of this one, which "
				      "was started earlier: give each its own")
			 : 0;
}

static int check_client(struct frt_node *node, const struct frt_question *question,
			struct frt_answer *answer)
{
	const uint32_t most = frt_config(node)->router.connections;
	const struct rte_end *target = &question->req->target;

	if (question->client->peers > most) {
		node->counters.quota_connections++;
		return frt_refuse(answer, FI_ENOBUFS,
				  "this client has %" PRIu32
				  " connections, as many as it may (connections)",
				  most);
	}
	if (target->as == answer->source.as && target->subnet == answer->source.subnet)
		return frt_refuse(answer, ELOOP,
				  "%" PRIu32 ":%" PRIu32
				  " is the client's own subnet: it is reached directly",
				  target->as, target->subnet);
	return 0;
}

/* Nothing passes through an AS: one of its ends is there (section IV.C.3). */
static int check_border(struct frt_node *node, const struct frt_question *question,
			struct frt_answer *answer)
{
	const uint32_t me = own_as(node), from = answer->source.as,
		       to = question->req->target.as,
		       peer = question->client ? me : question->from->remote.as;

	if (from == RTE_AS_WAN || to == RTE_AS_WAN)
		return frt_refuse(answer, FI_ENETUNREACH,
				  "on a WAN there are routers alone");
	if (from != me && to != me)
		return frt_refuse(answer, FI_EACCES,
				  "AS %" PRIu32 " is not passed by traffic from %" PRIu32
				  " to %" PRIu32,
				  me, from, to);
	if (peer == me)
		return 0;
	if (!question->in->foreign || peer != from || to != me)
		return frt_refuse(answer, FI_EACCES,
				  "AS %" PRIu32 " sends what is from %" PRIu32
				  " to %" PRIu32,
				  peer, from, to);
	return 0;
}

static int check_acl(struct frt_node *node, const struct frt_question *question,
		     struct frt_answer *answer)
{
	const struct rte_subnet from = {answer->source.as, answer->source.subnet};
	const struct rte_subnet to = {question->req->target.as,
				      question->req->target.subnet};

	if (rte_config_allows(frt_config(node), from, to))
		return 0;
	node->counters.acl++;
	return frt_refuse(answer, FI_EACCES,
			  "no acl allows %" PRIu32 ":%" PRIu32 " -> %" PRIu32 ":%" PRIu32,
			  from.as, from.subnet, to.as, to.subnet);
}

/* --- The path --- */

static bool same_net(const struct rte_hop *hop, uint32_t as, uint32_t subnet)
{
	return hop->scope_as == as && hop->subnet == subnet;
}

/* No subnet is crossed twice. */
static int check_path(struct frt_answer *answer)
{
	const struct rte_hop *path = answer->path;
	uint32_t i, k;

	for (i = 0; i < answer->hops; i++) {
		bool twice = same_net(&path[i], answer->source.as, answer->source.subnet);

		for (k = 0; k < i && !twice; k++)
			twice = same_net(&path[i], path[k].scope_as, path[k].subnet);
		if (twice)
			return frt_refuse(answer, ELOOP,
					  "the path crosses %" PRIu32 ":%" PRIu32
					  " twice",
					  path[i].scope_as, path[i].subnet);
	}
	return 0;
}

/* The subnet that an entry of the path begins on. */
static bool begins_on(const struct frt_answer *answer, uint32_t at,
		      const struct frt_device *in)
{
	const struct rte_subnet *on = &in->config->at;

	return at ? same_net(&answer->path[at - 1], on->as, on->subnet)
		  : answer->source.as == on->as && answer->source.subnet == on->subnet;
}

/* This router's entry, by its id and the subnet that the request has come over: ids of
 * routers are those of their AS alone. -1: the path does not name it. */
static int own_entry(const struct frt_node *node, const struct frt_answer *answer,
		     const struct frt_device *in)
{
	uint32_t i;

	for (i = answer->hops; i--;)
		if (answer->path[i].router == frt_config(node)->router.id &&
		    begins_on(answer, i, in))
			return (int)i;
	return -1;
}

/* --- Where it goes on --- */

static int deliver(const struct frt_question *question, struct frt_device *out,
		   struct frt_answer *answer)
{
	const struct rte_end *target = &question->req->target;
	const struct rte_options *options = question->options;

	if (options->present & 1u << RTE_TLV_TARGET) {
		if (frt_route_address(out, options->text[RTE_TLV_TARGET],
				      &answer->address))
			return frt_refuse(answer, FI_EHOSTUNREACH,
					  "the target's address %.80s is none of %s",
					  options->text[RTE_TLV_TARGET],
					  out->config->name);
		crn_addr_set_port(&answer->address.sa, target->port);
	} else {
		answer->address.in = (struct sockaddr_in){
			.sin_family = AF_INET,
			.sin_port = htons(target->port),
			.sin_addr.s_addr = htonl(target->host),
		};
	}
	answer->what = FRT_DELIVER;
	return 0;
}

int frt_forward_to(const struct frt_question *question, uint32_t as, uint64_t router,
		   const char *uri, struct frt_answer *answer)
{
	if (!question->req->ttl)
		return frt_refuse(answer,
				  question->req->features & RTE_FEATURE_PROBE ? ETIME
									      : ELOOP,
				  "no more routers may follow");
	snprintf(answer->uri, sizeof(answer->uri), "%s", uri);
	if (!*uri || frt_route_address(answer->device, uri, &answer->address))
		return frt_refuse(
			answer, FI_EHOSTUNREACH,
			"router %" PRIu64
			" is next, and it has no address that is one: \"%.60s\"",
			router, uri);
	answer->what = FRT_FORWARD;
	answer->as = as;
	answer->router = router;
	return 0;
}

static int forward_out(struct frt_node *node, const struct frt_question *question,
		       struct frt_answer *answer)
{
	const uint32_t as = question->req->target.as;
	const struct frt_device *out = answer->device;
	const struct frt_border *border = frt_border_best(node, out, as);

	if (!out->foreign)
		return frt_refuse(answer, ELOOP, "the path ends before AS %" PRIu32, as);
	if (!border)
		return frt_refuse(answer, FI_ENETUNREACH,
				  "no router of AS %" PRIu32
				  " is connected on WAN %" PRIu32,
				  as, out->config->at.subnet);
	return frt_forward_to(question, as, border->router, border->uri, answer);
}

int frt_go_on(struct frt_node *node, const struct frt_question *question, uint32_t at,
	      struct frt_answer *answer)
{
	const struct rte_hop *hop = &answer->path[at], *next = hop + 1;
	const struct rte_end *target = &question->req->target;
	struct frt_device *out = frt_route_device(node, hop);
	const struct rte_link *link;

	if (!out)
		return frt_refuse(answer, ELOOP,
				  "the path goes on over %" PRIu32 ":%" PRIu32
				  ", where this router is not",
				  hop->scope_as, hop->subnet);
	if (!out->up)
		return frt_refuse(answer, FI_EHOSTUNREACH, "%s does not work now",
				  out->config->name);
	answer->device = out;
	answer->rate = out->rate;
	answer->latency = out->config->latency;
	if (same_net(hop, target->as, target->subnet))
		return at + 1 == answer->hops
			       ? deliver(question, out, answer)
			       : frt_refuse(answer, ELOOP,
					    "the path goes on behind the target");
	if (at + 1 == answer->hops)
		return forward_out(node, question, answer);
	link = frt_routes_link(node, next->router, out->id);
	if (!link)
		return frt_refuse(answer, FI_EHOSTUNREACH,
				  "router %" PRIu64 " is next, and is not there now",
				  next->router);
	return frt_forward_to(question, own_as(node), next->router, link->uri, answer);
}

/* --- All of it --- */

static int ask(struct frt_node *node, const struct frt_question *question,
	       struct frt_answer *answer)
{
	const bool first = question->client || question->from->remote.as != own_as(node);
	int ret = check_out(node, answer), at;

	if (!ret && question->client)
		ret = check_client(node, question, answer);
	if (!ret)
		ret = check_border(node, question, answer);
	if (!ret)
		ret = check_acl(node, question, answer);
	if (ret)
		return ret;
	at = (int)answer->hops;
	if (first)
		ret = frt_way(node, question, answer);
	else
		at = own_entry(node, answer, question->in);
	if (ret)
		return ret;
	if (at < 0)
		return frt_refuse(answer, ELOOP,
				  "the path does not lead over this router");
	ret = check_path(answer);
	return ret ? ret : frt_go_on(node, question, (uint32_t)at, answer);
}

static void count(struct frt_node *node, enum frt_what what)
{
	switch (what) {
	case FRT_DELIVER:
		node->counters.delivered++;
		break;
	case FRT_FORWARD:
		node->counters.forwarded++;
		break;
	case FRT_REDIRECT:
		node->counters.redirected++;
		break;
	case FRT_REFUSE:
		node->counters.refused++;
		break;
	}
}

void frt_route(struct frt_node *node, const struct frt_question *question,
	       struct frt_answer *answer)
{
	const struct rte_options *options = question->options;

	memset(answer, 0, sizeof(*answer));
	set_source(question, answer);
	/* A client has no path behind it. */
	if (!question->client && (options->present & 1u << RTE_TLV_PATH)) {
		answer->hops = options->hops;
		memcpy(answer->path, options->hop, options->hops * sizeof(*answer->path));
	}
	crn_lock(&node->shared);
	node->counters.requests++;
	ask(node, question, answer);
	count(node, answer->what);
	crn_unlock(&node->shared);
}
