/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of a device in use, which change with their files (fi_route(7)). */
#ifndef RTE_KEYRING_H
#define RTE_KEYRING_H

#include "objects.h"

/* When the device is opened, before its port is. -FI_EACCES: it requires them, and they
 * cannot be read; -FI_ENOMEM. */
int rte_keyring_open(struct rte_device *device);
/* When a connection begins, with the device's lock: the port has what the files say now.
 * Where they say nothing that can be used, it stays. */
void rte_keyring_look(struct rte_device *device);
void rte_keyring_close(struct rte_device *device);

#endif
