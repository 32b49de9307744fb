/* SPDX-License-Identifier: BSD-2-Clause */
/* Dijkstra's algorithm as Boost's graph library has it, for comparison. */
#ifndef ROUTE_BOOST_H
#define ROUTE_BOOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One way from a vertex to another. */
struct boost_edge {
	uint32_t from;
	uint32_t to;
	uint64_t cost;
};

struct boost_graph;

/* False: built without Boost, and there are no graphs. */
bool boost_there(void);
/* Edges are copied; their order does not matter. */
struct boost_graph *boost_open(uint32_t vertices, const struct boost_edge *edge,
			       size_t edges);
void boost_close(struct boost_graph *graph);
/* From a vertex to all others; what they cost is valid until the next call, UINT64_MAX:
 * there is no way. */
const uint64_t *boost_run(struct boost_graph *graph, uint32_t from);

#ifdef __cplusplus
}
#endif

#endif
