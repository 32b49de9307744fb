/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices, ports and listeners without a lower provider, and peers that come to them. */
#ifndef ROUTER_FAKE_NET_H
#define ROUTER_FAKE_NET_H

#include "cairn_test.h"
#include "route_fake/fake_peer.h"

struct fake_port {
	struct rte_port port;
	ssize_t work;	/* of rte_port_progress */
	int trywait;	/* of rte_port_trywait */
	uint32_t looks; /* calls of rte_port_progress */
};

/* rte_listen returns it. */
extern int fake_listen_fails;
/* rte_listener_sweep returns fake_mute once, and was given fake_mute_ms. */
extern uint32_t fake_mute, fake_mute_ms;
/* Of the preambles of those that arrive. */
extern uint8_t fake_flags;

/* Frees all peers, and resets all but fake_listen_fails. */
void fake_net_end(void);
struct fake_port *fake_port_of(struct rte_port *port);

/* Somebody connects to a device's listener. NULL: was rejected. */
struct rte_peer *fake_arrives(struct rte_listener *listener, enum rte_role role,
			      uint32_t as, uint32_t subnet, uint64_t node,
			      const char *address);
/* It is up: HELLOs have been exchanged. */
void fake_greets(struct rte_peer *peer, uint32_t as, uint32_t subnet, uint64_t node,
		 uint64_t epoch);
/* Its connection ends, and it is closed. */
void fake_goes(struct rte_peer *peer, int err);
/* What one has been sent from there on arrives at another. */
uint32_t fake_carries(const struct rte_peer *from, uint32_t first, struct rte_peer *to);

#endif
