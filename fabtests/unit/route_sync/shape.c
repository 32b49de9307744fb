/* SPDX-License-Identifier: BSD-2-Clause */
#include "shape.h"

const char *const shape_name[SHAPES] = {"line",	       "star", "ring and stub",
					"double ring", "mesh", "random"};

static bool is_linked(const struct net *net, uint32_t a, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < net->links; i++)
		if (net->link[i].end[0] == a && net->link[i].end[1] == b)
			return true;
	return false;
}

static void open_random(struct net *net, uint64_t seed)
{
	uint32_t i, other, more;

	net_open(net, 32, seed);
	net->routers = 3 + net_draw(net, 30);
	/* A tree, and then some. */
	for (i = 1; i < net->routers; i++)
		net_link(net, i, net_draw(net, i));
	more = net_draw(net, 2 * net->routers);
	while (more--) {
		i = 1 + net_draw(net, net->routers - 1);
		other = net_draw(net, i);
		if (!is_linked(net, i, other))
			net_link(net, i, other);
	}
	for (i = 0; i < net->links; i++)
		net->link[i].delay = 1 + net_draw(net, 20);
}

static void open_ring(struct net *net, uint32_t beside)
{
	uint32_t i;

	while (beside--)
		for (i = 0; i < 4; i++)
			net_link(net, i, (i + 1) % 4);
}

static void open_all(struct net *net)
{
	uint32_t i, k;

	for (i = 0; i < net->routers; i++)
		for (k = 0; k < i; k++)
			net_link(net, i, k);
}

void shape_open(struct net *net, enum shape shape, uint64_t seed)
{
	static const uint32_t routers[SHAPES] = {5, 6, 5, 4, 8, 0};
	uint32_t i;

	net_open(net, routers[shape], seed);
	switch (shape) {
	case SHAPE_LINE:
	case SHAPE_STAR:
		for (i = 1; i < net->routers; i++)
			net_link(net, shape == SHAPE_LINE ? i - 1 : 0, i);
		break;
	case SHAPE_RING_STUB:
		open_ring(net, 1);
		net_link(net, 0, 4);
		break;
	case SHAPE_DOUBLE_RING:
		open_ring(net, 2);
		break;
	case SHAPE_MESH:
		open_all(net);
		break;
	default:
		net_close(net);
		open_random(net, seed);
	}
}
