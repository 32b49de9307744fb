/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both ends run over, as the environment says: RPC_LOWER, a provider (default tcp),
 * and RPC_ADDRESS, an address of it (default 127.0.0.1).
 */
#ifndef CONF_LOWER_H
#define CONF_LOWER_H

#include <rdma/fabric.h>

/* The interface that this was built with: what libfabric fills is no larger. */
#define LOWER_API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

const char *lower_name(void);
const char *lower_address(void);
/* For FI_EP_MSG endpoints of that stack of providers; the caller frees them. */
struct fi_info *lower_hints(const char *stack, uint64_t caps);
/* The same for an endpoint that connects to addr: it has any source address. The caller
 * frees it. */
struct fi_info *lower_info_to(const struct fi_info *info, const void *addr);

#endif
