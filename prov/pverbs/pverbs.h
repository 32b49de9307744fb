/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions for every file of the pverbs provider: its name, limits and parameters.
 */
#ifndef PVB_PVERBS_H
#define PVB_PVERBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <infiniband/verbs.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <rdma/rdma_cma.h>
#include <cairn/addr.h>
#include <cairn/cntr.h>
#include <cairn/compat.h>
#include <cairn/eq.h>
#include <cairn/list.h>
#include <cairn/lock.h>
#include <cairn/ring.h>
#include <cairn/wait.h>

#define PVB_NAME "pverbs"
#define PVB_VERSION FI_VERSION(0, 1)

#define PVB_WARN(subsys, ...) FI_WARN(&pvb_prov, subsys, __VA_ARGS__)
#define PVB_INFO(subsys, ...) FI_INFO(&pvb_prov, subsys, __VA_ARGS__)

/* Work completions taken from a device at a time, on the stack. */
#define PVB_POLL_BATCH 16
/* Scatter/gather entries offered at most, on the stack of a post. */
#define PVB_IOV_LIMIT 16
/* Work requests that FI_MORE holds back at most. */
#define PVB_CHAIN_LIMIT 32
/* Bytes offered for fi_inject at most; more costs every queue entry that much memory. */
#define PVB_INJECT_LIMIT 512
/* Connection requests that wait for fi_eq_read when the program names no FI_BACKLOG. */
#define PVB_BACKLOG 1024

/* op_flags (fi_endpoint(3)) of transmit and receive attributes and of calls with flags.
 */
#define PVB_TX_OP_FLAGS                                                          \
	(FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE)
#define PVB_RX_OP_FLAGS FI_COMPLETION
/* Flags of fi_recvmsg. */
#define PVB_RECV_FLAGS (FI_COMPLETION | FI_MORE)

/* What makes a fenced operation wait: xfer/fence.c. */
enum pvb_fence { PVB_FENCE_DEVICE, PVB_FENCE_WAIT, PVB_FENCE_AUTO };

enum pvb_durable_mode { PVB_DURABLE_OFF, PVB_DURABLE_ON, PVB_DURABLE_AUTO };

/* Whose multicast groups an IP address stands for on InfiniBand. */
enum pvb_multicast { PVB_MULTICAST_UDP, PVB_MULTICAST_IPOIB };

/* The IPoIB link of datagram endpoints: how its MGIDs have the P_Key (sa/mc_map.h). */
enum pvb_link_profile { PVB_LINK_NONE, PVB_LINK_DRAFT, PVB_LINK_RFC };

/* What the user may set in the environment: pverbs.c, fi_pverbs(7). */
struct pvb_params {
	char *device;	     /* comma-separated names; NULL: every device */
	size_t tx_size;	     /* default operations in flight per endpoint */
	size_t rx_size;	     /* default posted receives per endpoint */
	size_t inject_size;  /* default bytes for fi_inject */
	int resolve_timeout; /* ms for rdma_cm to resolve an address, and a route */
	int retry_count;     /* transport retries, 0-7 */
	int rnr_retry_count; /* receiver-not-ready retries, 0-7; 7: without end */
	int close_timeout;   /* ms fi_close waits for a device to flush a queue pair */
	/* Of the path between queue pairs: qp/path.c. */
	int gid_index; /* only addresses whose GID has it; -1: any */
	int pkey;      /* only addresses of that partition, without its top bit; 0: any */
	int roce_version;  /* 1 or 2, else the connection fails; 0: any */
	int traffic_class; /* 0-255; -1: the system's */
	int ack_timeout;   /* 0-31: 4.096 us * 2^n; -1: the system's */
	int rnr_timer;	   /* 0-31: InfiniBand's code; -1: the system's */
	int path_mtu;	   /* bytes at most; 0: what the path has */
	int keepalive;	   /* ms of silence before a keep-alive is sent; 0: never */
	int fence;	   /* enum pvb_fence */
	int fork_safe;	   /* a child of fork keeps away from registered memory */
	int multicast;	   /* port space of groups: enum pvb_multicast */
	int link;	   /* IPoIB link of datagram endpoints: enum pvb_link_profile */
	int link_copy;	   /* to the link's routers, of what is sent to its groups */
	int link_mtu;	   /* bytes, that a router says; 0: that of the link's groups */
	int join_timeout;  /* ms that subnet administration may take to answer */
	size_t qkey;	   /* of datagram endpoints; 0: as fi_pverbs(7) has it */
	/* Of durable operations: persist/. */
	int durable;	    /* control queue pairs: enum pvb_durable_mode */
	int force_message;  /* no one-sided method */
	int commit_timeout; /* ms that a target may take to answer */
	/* Declared about this machine: persist/facts/declare.c. NULL: nothing. */
	char *pmem_config; /* a file */
	char *persistence; /* dmp, mhp or wsp */
	char *ddio;	   /* on or off */
};

/* init.c */

extern struct fi_provider pvb_prov;

/* pverbs.c */

extern struct pvb_params pvb_params;

/* From the environment, when libfabric loads the provider. */
void pvb_params_read(void);

#endif
