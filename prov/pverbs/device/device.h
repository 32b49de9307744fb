/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA devices: discovery, addresses, FLUSH and ATOMIC WRITE, error codes.
 */
#ifndef PVB_DEVICE_DEVICE_H
#define PVB_DEVICE_DEVICE_H

#include <errno.h>
#include <stdbool.h>
#include "adapter.h"
#include "native.h"
#include "pverbs.h"

/* One address that rdma_cm can use, with the device and port behind it; or a port that
 * has a GID alone. */
struct pvb_device_addr {
	char device[IBV_SYSFS_NAME_MAX];
	uint8_t port;
	union crn_addr addr; /* port number 0; family AF_UNSPEC: a GID alone */
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	uint64_t subnet_prefix; /* of GID 0, host byte order */
	uint8_t gid[16];	/* of the address */
	uint16_t pkey;		/* of its partition, host byte order */
	bool iwarp;
	uint32_t quirks; /* enum pvb_quirk */
};

/* What a device does differently from what the provider otherwise relies on. */
enum pvb_quirk {
	/* The send queue may stall for ever at IBV_SEND_FENCE: fenced operations are
	 * posted without it, once earlier reads and atomics have completed. */
	PVB_QUIRK_FENCE_STALLS = 1u << 0,
	/* It refuses immediate data: there is no remote CQ data. */
	PVB_QUIRK_NO_IMMEDIATE = 1u << 1,
	/* It has no atomics that a program may rely on, whatever atomic_cap says. */
	PVB_QUIRK_NO_ATOMICS = 1u << 2,
	/* Memory that a read fills needs the right of remote writing. */
	PVB_QUIRK_READ_NEEDS_WRITE = 1u << 3,
	/* Completion of a write or send says nothing of the target. */
	PVB_QUIRK_WEAK_COMPLETION = 1u << 4,
	/* The kernel makes a queue pair ready, with a connection of rdma_cm's;
	 * ibv_modify_qp cannot: the control queue pair has a connection of its own. */
	PVB_QUIRK_KERNEL_CONNECTS = 1u << 5,
};

/* device.c */

/* Did a call fail for want of memory or descriptors? A later call may succeed. err is
 * negative. */
static inline bool pvb_is_shortage(int err)
{
	return err == -FI_ENOMEM || err == -FI_EMFILE || err == -ENFILE;
}

/*
 * Every usable address, in the order fi_getinfo lists them: by device, IPv4 before
 * IPv6, link-local last. *list is to be freed. -FI_ENODATA when there is none; a shortage
 * (pvb_is_shortage) that made the list incomplete.
 */
int pvb_device_addrs(struct pvb_device_addr **list, size_t *count);
/* Does the user's FI_PVERBS_DEVICE name the device, or none? */
bool pvb_device_wanted(const char *name);
/* Opens a device by name: a context of its own. -FI_ENODEV, or what ibv_open_device
 * gives. */
int pvb_device_open(const char *name, struct ibv_context **verbs);

/* Can a device do atomics that a program may rely on? */
bool pvb_atomic_device(const struct ibv_device_attr *attr, uint32_t quirks);

/* address.c */

/* The GID, 16 bytes, that an IP address has on RoCE (RFC 4291 section 2.5.5.2 for IPv4).
 */
void pvb_gid_of_addr(const struct sockaddr *sa, uint8_t *gid);

/* quirks.c */

/* Those of a device with this driver (struct pvb_adapter) and transport. */
uint32_t pvb_quirks(const char *driver, enum ibv_transport_type transport);
/* Those of an open device. */
uint32_t pvb_device_quirks(struct ibv_context *verbs);

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
