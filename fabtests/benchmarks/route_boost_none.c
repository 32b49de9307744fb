/* SPDX-License-Identifier: BSD-2-Clause */
/* Built without Boost. */
#include "route_boost.h"

bool boost_there(void)
{
	return false;
}

struct boost_graph *boost_open(uint32_t vertices, const struct boost_edge *edge,
			       size_t edges)
{
	return NULL;
}

void boost_close(struct boost_graph *graph)
{
}

const uint64_t *boost_run(struct boost_graph *graph, uint32_t from)
{
	return NULL;
}
