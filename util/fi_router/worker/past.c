/* SPDX-License-Identifier: BSD-2-Clause */
/* What peers that are closed have done at a port. */
#include "worker.h"

void frt_past_peer(struct frt_past *past, const struct rte_peer *peer)
{
	past->rx += peer->stats_rx;
	past->tx += peer->stats_tx;
	past->rx_bytes += peer->stats_rx_bytes;
	past->tx_bytes += peer->stats_tx_bytes;
}

void frt_past_add(struct frt_past *past, const struct frt_past *more)
{
	enum rte_lane lane;

	past->rx += more->rx;
	past->tx += more->tx;
	past->rx_bytes += more->rx_bytes;
	past->tx_bytes += more->tx_bytes;
	for (lane = 0; lane < RTE_LANES; lane++) {
		past->stalls[lane] += more->stalls[lane];
		past->stall_ns[lane] += more->stall_ns[lane];
	}
}

void frt_port_part(struct frt_port *port, struct rte_peer *peer, int status)
{
	frt_past_peer(&port->past, peer);
	rte_peer_close(peer, status);
}
