/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices: opened, listening, opened again after a failure; and those who connect there,
 * until their first message says what they want. */
#ifndef FRT_DEVICE_H
#define FRT_DEVICE_H

#include "node.h"

/* Adds a device of node->file, and opens it. One that cannot be opened is tried again.
 * -FI_ENOMEM. */
int frt_device_add(struct frt_node *node, const struct rte_config_device *config);
/* Closes all that is connected there, and frees it. status: what others are told. */
void frt_device_remove(struct frt_device *device, int status);
/* It has stopped working: it is closed and tried again. */
void frt_device_failed(struct frt_device *device, int err);
/* The same of those of which a port has said so. */
void frt_devices_look(struct frt_node *node);

/* Reads its key files: new connections are for the keys that they have now. Workers are
 * held, or have no port of it. */
void frt_device_keys(struct frt_device *device);

/* bit/s of a device whose section has no rate: what its provider says, or the kernel of
 * the network interface; *from says which. */
uint64_t frt_device_rate(const struct rte_net *net, const char **from);

#endif
