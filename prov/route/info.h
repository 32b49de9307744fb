/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_getinfo answers. */
#ifndef RTE_INFO_H
#define RTE_INFO_H

#include "config/config.h"
#include "route.h"

/* The configuration that FI_ROUTE_CONFIG names. 0, or -FI_ENODATA, with a line that says
 * why: there is none, or there is something wrong with it; -FI_ENOMEM. */
int rte_info_config(struct rte_config **config);

int rte_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);

#endif
