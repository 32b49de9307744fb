/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations of several hosts together. */
#ifndef RTE_CONFIG_SET_H
#define RTE_CONFIG_SET_H

#include "errors.h"

/* A device that takes part in routing. */
struct rte_place {
	const struct rte_config *config;
	const struct rte_config_device *device;
	uint32_t host; /* index of the configuration */
};

struct rte_set {
	struct rte_config *const *config;
	uint32_t configs;
	struct rte_place *place; /* ascending by AS, subnet, and host */
	uint32_t places;
	/* Hosts that are joined, as a forest: the root of a tree is its own parent. */
	uint32_t *parent;
	struct rte_config_errors *errors;
};

/* Where the places of the subnet of place i begin, and those of the next. */
uint32_t rte_set_begin(const struct rte_set *set, uint32_t i);
uint32_t rte_set_end(const struct rte_set *set, uint32_t i);
/* The router that listens at the address which the device of that place names, or NULL;
 * on the same subnet alone. */
const struct rte_place *rte_set_router(const struct rte_set *set, uint32_t i,
				       const struct rte_config_uri *uri);

/* The routers of one AS together (join.c). */
void rte_set_check_as(struct rte_set *set, uint32_t as);

#endif
