/* SPDX-License-Identifier: BSD-2-Clause */
/* The same decision as of a request, with what it was made of. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "inside.h"

/* A subnet of this router from which the way is the best; the first if there is none. */
static struct rte_subnet own_from(struct frt_node *node, struct rte_subnet target)
{
	struct frt_answer answer = {0};
	const struct frt_device *device = frt_way_own(node, target, &answer);
	uint32_t i;

	for (i = 0; !device && i < node->devices; i++)
		if (!node->device[i]->foreign)
			device = node->device[i];
	return device ? device->config->at : (struct rte_subnet){0};
}

static void refuse(struct frt_why *why, const struct frt_answer *answer)
{
	why->does = "refuse";
	why->status = answer->status;
	memcpy(why->text, answer->text, sizeof(why->text));
}

/* As ask.c does, before it looks for a way. */
static bool may_pass(struct frt_node *node, struct frt_why *why)
{
	const uint32_t me = frt_config(node)->router.as;
	const struct rte_subnet from = why->from, to = why->target;
	struct frt_answer answer = {0};

	if (from.as == RTE_AS_WAN || to.as == RTE_AS_WAN)
		frt_refuse(&answer, FI_ENETUNREACH, "on a WAN there are routers alone");
	else if (from.as != me)
		frt_refuse(&answer, FI_EACCES,
			   "AS %" PRIu32 " is another one: its routers choose there",
			   from.as);
	else if (from.as == to.as && from.subnet == to.subnet)
		frt_refuse(&answer, ELOOP,
			   "it is one subnet: programs there connect directly");
	else if (!rte_config_allows(frt_config(node), from, to))
		frt_refuse(&answer, FI_EACCES,
			   "no acl allows %" PRIu32 ":%" PRIu32 " -> %" PRIu32 ":%" PRIu32
			   ": add one to [router]",
			   from.as, from.subnet, to.as, to.subnet);
	if (answer.status)
		refuse(why, &answer);
	return !answer.status;
}

static void say_choice(struct frt_node *node, struct frt_why *why, int choice)
{
	const uint64_t first =
		rte_graph_router_id(node->routes->graph, why->chosen.router[0]);
	const char *because = why->fixed ? "a static route of this router holds"
					 : "the policy says so: nothing costs less";

	why->does = choice == RTE_CHOICE_SERVE ? "serve" : "redirect";
	if (choice == RTE_CHOICE_SERVE)
		snprintf(why->text, sizeof(why->text), "%s", because);
	else
		snprintf(why->text, sizeof(why->text),
			 "%s, and it begins with router %" PRIu64, because, first);
}

/* All ways that there are, and what it does; as frt_choose. */
static int ways(const struct frt_search *search, struct frt_why *why)
{
	struct frt_near near;
	int ret;

	if (!search->to_count || search->from == RTE_NONE)
		return -FI_ENOENT;
	ret = frt_near_open(&near, search->node, search->from);
	if (!ret)
		ret = rte_paths_by(search->graph, &near.ends, search->from, search->to,
				   search->to_count, why->route, RTE_ALTERNATIVES);
	frt_near_close(&near);
	why->count = ret > 0 ? (uint32_t)ret : 0;
	return frt_choose(search, &why->chosen, &why->fixed);
}

void frt_routes_why(struct frt_node *node, const struct rte_subnet *from,
		    struct rte_subnet target, struct frt_why *why)
{
	const struct rte_graph *graph = node->routes->graph;
	struct frt_answer answer = {0};
	struct frt_search search;
	int ret;

	why->target = target;
	why->from = from ? *from : own_from(node, target);
	if (!may_pass(node, why))
		return;
	frt_search_begin(&search, node,
			 rte_graph_net(graph, why->from.as, why->from.subnet), target);
	ret = ways(&search, why);
	if (ret >= 0) {
		say_choice(node, why, ret);
		return;
	}
	frt_no_way(&search, &answer, ret);
	refuse(why, &answer);
}
