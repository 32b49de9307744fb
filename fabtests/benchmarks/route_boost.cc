/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits>
#include <utility>
#include <vector>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include "route_boost.h"

namespace
{
struct Cost {
	uint64_t cost;
};
using Graph =
	boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Cost>;
} // namespace

struct boost_graph {
	Graph graph;
	std::vector<uint64_t> cost;
	std::vector<Graph::vertex_descriptor> before;
};

bool boost_there(void)
{
	return true;
}

boost_graph *boost_open(uint32_t vertices, const boost_edge *edge, size_t edges)
{
	std::vector<std::pair<uint32_t, uint32_t>> ends;
	std::vector<Cost> costs;

	for (size_t i = 0; i < edges; i++) {
		ends.emplace_back(edge[i].from, edge[i].to);
		costs.push_back({edge[i].cost});
	}
	return new boost_graph{Graph(boost::edges_are_unsorted_multi_pass, ends.begin(),
				     ends.end(), costs.begin(), vertices),
			       std::vector<uint64_t>(vertices),
			       std::vector<Graph::vertex_descriptor>(vertices)};
}

void boost_close(boost_graph *graph)
{
	delete graph;
}

const uint64_t *boost_run(boost_graph *graph, uint32_t from)
{
	const auto index = get(boost::vertex_index, graph->graph);

	/* The ways are wanted as well: who comes before whom. */
	boost::dijkstra_shortest_paths(
		graph->graph, from,
		boost::weight_map(get(&Cost::cost, graph->graph))
			.distance_map(boost::make_iterator_property_map(
				graph->cost.begin(), index))
			.predecessor_map(boost::make_iterator_property_map(
				graph->before.begin(), index)));
	return graph->cost.data();
}
