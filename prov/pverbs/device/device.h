/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device is and can: where it is found, its addresses, FLUSH and ATOMIC WRITE, its
 * errors.
 */
#ifndef PVB_DEVICE_DEVICE_H
#define PVB_DEVICE_DEVICE_H

#include "host.h"
#include "native.h"
#include "pverbs.h"

/* One address that rdma_cm can use, with the device and port behind it. */
struct pvb_device_addr {
	char device[IBV_SYSFS_NAME_MAX];
	uint8_t port;
	union crn_addr addr; /* port number 0 */
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	uint64_t subnet_prefix; /* of GID 0, host byte order */
	bool iwarp;
};

/* device.c */

/*
 * Every usable address, in the order fi_getinfo lists them: by device, IPv4 before
 * IPv6, link-local last. *list is to be freed. -FI_ENODATA when there is none.
 */
int pvb_device_addrs(struct pvb_device_addr **list, size_t *count);
/* Opens a device by name: a context of its own. -FI_ENODEV, or what ibv_open_device
 * gives. */
int pvb_device_open(const char *name, struct ibv_context **verbs);

/* Can a device do atomics that a program may rely on? */
bool pvb_atomic_device(const struct ibv_device_attr *attr, bool iwarp);

/* nic.c */

/* info->nic of an address, or NULL: out of memory. */
struct fid_nic *pvb_nic(const struct pvb_device_addr *entry);

/* memlock.c */

/* Says in the log why memory was not registered (err: errno), and what helps. */
void pvb_mr_explain(int err, const void *buf, size_t len);

/* errmap.c */

/* FI_E* code (positive) for a work completion status. sent: it belongs to the send queue.
 */
int pvb_wc_error(enum ibv_wc_status status, bool sent);
/*
 * FI_E* code (positive) for a refused post; err is what ibv_post_* returns, which may be
 * an errno that fi_errno(3) does not know. For operations that were accepted before.
 */
int pvb_refused_error(int err);
/* The same, negative, for the call itself: what is full now is -FI_EAGAIN. */
int pvb_post_error(int err);
/* What a call that failed with errno, or without setting it, returns. */
int pvb_errno(void);

#endif
