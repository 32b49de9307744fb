/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device is taken away from a process that uses it, as the kernel does when an adapter
 * is unplugged or its driver unloaded (ib_uverbs_remove_one, cma_remove_one): its queue
 * pairs end, each context reads IBV_EVENT_DEVICE_FATAL and then EIO, each id of rdma_cm
 * RDMA_CM_EVENT_DEVICE_REMOVAL; of the calls that are left only those that destroy work.
 */
#ifndef SVB_VERBS_REMOVAL_H
#define SVB_VERBS_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* Hears requests from now on, where the settings want it: files in the folder "remove" of
 * where the processes meet, named DEVICE or DEVICE@PID. 0 or an errno. */
int svb_removal_watch(void);
/* The child of a fork hears for itself. */
void svb_removal_forget(void);
/* Takes the device away from this process, once. In the service thread, or where nothing
 * is held. */
void svb_removal_do(uint32_t device);
/* Called for a device whose queue pairs are about to end: rdma_cm's part. */
void svb_removal_tell(void (*fn)(uint32_t device));

/* Has the device been taken away? */
bool svb_removed(uint32_t device);
/* The same of a context's; sets errno to EIO when it has. */
bool svb_removed_ctx(struct ibv_context *ctx);

#endif
