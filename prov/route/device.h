/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices of the configuration that are in use, and what moves all of them on. */
#ifndef RTE_DEVICE_H
#define RTE_DEVICE_H

#include "objects.h"

/* The device that the info's domain names, opened if it is not yet. 0, -FI_ENODATA: the
 * configuration has none, or no provider has it; -FI_ENOMEM, ... */
int rte_device_get(struct rte_fabric *fabric, const struct fi_info *info,
		   struct rte_device **device);
void rte_device_put(struct rte_device *device);

/* With the device's lock. */
void rte_device_progress(struct rte_device *device);
/* All devices but that one, or all; without any lock. */
void rte_fabric_progress(struct rte_fabric *fabric, const struct rte_device *but);
/* rte_news_kept of any device; without any lock. */
bool rte_fabric_keeps(struct rte_fabric *fabric, const struct crn_eq *eq);

#endif
