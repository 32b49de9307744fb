/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sysfs and procfs say about RDMA devices. Every function reads a bounded number
 * of bytes of files below the host's root.
 */
#ifndef PVB_DEVICE_ADAPTER_H
#define PVB_DEVICE_ADAPTER_H

#include <limits.h>
#include <stdbool.h>
#include <infiniband/verbs.h>
#include <cairn/pmem.h>

/* An RDMA device, as far as its way to memory matters. */
struct pvb_adapter {
	bool software;	 /* places data with the processor: as DDIO does */
	char driver[32]; /* "rxe", "mlx5_core"; "": unknown */
	bool simverbs;	 /* simverbs, which says what machine it models; the fields below
			    are about that */
	bool domain_known; /* of its persistent file */
	enum crn_persistence domain;
	bool ddio;
	char mapping[PATH_MAX]; /* the file's name in /proc/self/maps; "": none */
};

/*
 * library: the file that the device's functions are in, which names the driver of a
 * device that has no other trace of it (rdma_rxe and siw have no device/driver in sysfs,
 * or that of the network card below them); NULL: not known.
 */
void pvb_adapter_detect(const struct crn_host *host, const char *device,
			const char *library, struct pvb_adapter *adapter);

/* The library that the device's functions are in; NULL: not known. */
const char *pvb_facts_library(struct ibv_context *verbs);

#endif
