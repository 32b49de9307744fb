/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread of a device that makes progress by itself. */
#ifndef RTE_AUTO_H
#define RTE_AUTO_H

struct rte_device;

/* There is one until as many calls of rte_auto_put. 0, -FI_ENOMEM, -FI_EAGAIN: no thread,
 * -FI_EMFILE. */
int rte_auto_get(struct rte_device *device);
void rte_auto_put(struct rte_device *device);

#endif
