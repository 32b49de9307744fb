/* SPDX-License-Identifier: BSD-2-Clause */
/* The name, the log, limits and parameters. */
#ifndef RTE_ROUTE_H
#define RTE_ROUTE_H

#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/compat.h>

#define RTE_NAME "route"
#define RTE_PROV_VERSION FI_VERSION(0, 1)

/* Operations of an endpoint: without a wish, and at most. */
#define RTE_SIZE 256
#define RTE_SIZE_MAX 1024
/* Bytes that fi_inject takes: what goes in one Send. */
#define RTE_INJECT_SIZE 4096
/* Connection requests that wait for the program: without FI_BACKLOG; and those more that
 * are told so. */
#define RTE_BACKLOG 4096
#define RTE_BACKLOG_MORE 64
/* ms that an endpoint which closes has to send what the program has posted. */
#define RTE_LINGER 500u

struct rte_params {
	char *config; /* path */
	char *lower;
	char *pmem_config; /* path */
	int bypass;	   /* boolean */
};

extern struct fi_provider rte_prov;
extern struct rte_params rte_params;

#define RTE_WARN(subsystem, ...) FI_WARN(&rte_prov, subsystem, __VA_ARGS__)
#define RTE_INFO(subsystem, ...) FI_INFO(&rte_prov, subsystem, __VA_ARGS__)

#endif
