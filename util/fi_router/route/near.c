/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which routers a way may begin with. What a router has said of itself holds until it
 * expires, also when it has been killed; those that it was connected with miss it at
 * once. A way between two routers needs the word of both, and the beginning of one that
 * of the router which is asked.
 */
#include <stdlib.h>
#include <rdma/fi_errno.h>

#include "inside.h"

int frt_near_open(struct frt_near *near, const struct frt_node *node, uint32_t from)
{
	const struct rte_graph *graph = node->routes->graph;
	const struct rte_net_id net = rte_graph_net_id(graph, from);
	const uint64_t self = frt_config(node)->router.id;
	const struct rte_link *link = frt_routes_link(node, self, net);
	const uint32_t others = link ? link->neighbours : 0;
	uint32_t i;

	*near = (struct frt_near){0};
	if (!frt_node_device(node, net.scope_as, net.subnet))
		return 0;
	near->router = malloc((others + 1) * sizeof(*near->router));
	if (!near->router)
		return -FI_ENOMEM;
	/* Who is not in the graph is RTE_NONE there, which is nobody. */
	near->router[0] = rte_graph_router(graph, self);
	for (i = 0; i < others; i++)
		near->router[i + 1] = rte_graph_router(graph, link->neighbour[i]);
	near->ends.first = near->router;
	near->ends.firsts = others + 1;
	return 0;
}

void frt_near_close(struct frt_near *near)
{
	free(near->router);
}
