/* SPDX-License-Identifier: BSD-2-Clause */
/* What datagram endpoints have that connections do not. */
#ifndef PVB_OBJECTS_DATAGRAM_H
#define PVB_OBJECTS_DATAGRAM_H

#include <cairn/av.h>
#include "wire/wire.h"
#include "pverbs.h"

/* Bytes that a device writes before each datagram (IB specification 1.7,
 * section 11.4.1.2): the GRH, or nothing that means anything. */
#define PVB_GRH_SIZE 40

struct pvb_ah;
struct pvb_mc_port;

/* The port, GID and partition that datagrams leave from: dgram/path.c. */
struct pvb_ud_path {
	struct pvb_ud_addr addr; /* qpn 0 */
	uint8_t port;
	bool ethernet;
	uint8_t sgid_index;
	uint16_t pkey_index;
	uint32_t mtu; /* bytes of a datagram at most: no more than 4096 */
};

/*
 * Address handles of a domain: dgram/ah.c. One serves all peers on a port, for it says
 * nothing of queue pairs, or a multicast group.
 */
struct pvb_ahs {
	pthread_mutex_t sweeping; /* a thread is in pvb_ahs_sweep; before qps_lock */
	pthread_mutex_t lock;	  /* guards what follows; taken last */
	struct pvb_ah **buckets;
	uint32_t bucket_count; /* power of two, or 0 */
	uint32_t count;	       /* in buckets: used and idle */
	/* Not used any more, while sends that were posted with them may be outstanding:
	 * those since a sweep began, and those that it waits for. */
	struct crn_list idle, leaving;
};

/* The IPoIB link that a domain is on, with FI_PVERBS_LINK on InfiniBand. */
struct pvb_ud_link {
	bool on;
	/* From IP addresses to groups: struct pvb_mc_link of sa/. */
	uint8_t profile;
	uint8_t scope;
	uint16_t pkey;
	uint32_t qkey; /* of its groups and of all queue pairs on it */
	/* Counts what may have ended memberships: another subnet manager, or one that
	 * begins anew, another LID, a port that is up again. */
	atomic_uint changes;
};

/* Of a domain that was opened for datagrams. */
struct pvb_ud_domain {
	bool prefix; /* FI_MSG_PREFIX of receives: programs have room for the GRH */
	struct pvb_ud_path path;
	struct pvb_ud_link link;
	struct pvb_ahs ahs;
	/* Where the device puts what is longer than a receive: path.mtu bytes. */
	struct ibv_sge excess;
	struct ibv_mr *excess_mr;
};

/* Where a datagram goes, made once for an address of a vector. */
struct pvb_ud_peer {
	struct ibv_ah *handle; /* this and the next two as in a work request */
	uint32_t qpn;
	uint32_t qkey;
	struct pvb_ah *ah; /* whose handle it is */
};

struct pvb_av {
	struct crn_av av;
	struct fi_ops_av ops; /* those of crn_av, but for remove, which calls theirs */
	int (*remove)(struct fid_av *fid, fi_addr_t *fi_addr, size_t count,
		      uint64_t flags);
	struct pvb_domain *domain;
};

/* The fi_addr_t of a group: this, a number that no other group of the endpoint has had,
 * and the slot. No vector has such an index. */
#define PVB_MC_ADDR (1ULL << 63)
#define PVB_MC_TURN_SHIFT 32
#define PVB_MC_TURN_MAX 0x3fffffffu

/* Where a group is sent to. A sender may look at an older one until fi_close. */
struct pvb_mc_route {
	struct pvb_ud_peer peer;
	struct pvb_ud_peer copy;   /* is sent there as well; handle NULL: nowhere */
	bool drops;		   /* peer is nobody: what is sent is counted */
	bool plain;		   /* neither */
	uint32_t max;		   /* bytes of a datagram */
	uint32_t plain_max;	   /* the same, with plain; else 0 */
	struct pvb_mc_route *next; /* older */
};

struct pvb_mc_slot {
	fi_addr_t addr; /* of the group that has it; 0: free */
	/* NULL: it cannot be sent to now. */
	_Atomic(const struct pvb_mc_route *) route;
};

/* Power of two. */
#define PVB_MC_ATTACH_BUCKETS 32u

/*
 * The multicast groups of an endpoint: mcast/. Guarded by cm_lock of its event queue, and
 * what a send looks at (slots, count and addr) by tx_lock as well.
 */
struct pvb_mcs {
	struct pvb_mc_slot *slots;
	uint32_t count;
	uint32_t lowest; /* no slot below it is free */
	uint32_t turn;	 /* of the newest address */
	struct crn_list
		attached[PVB_MC_ATTACH_BUCKETS]; /* struct pvb_mc_attach, by GID */
	struct pvb_mc_port *port; /* NULL: it has joined no group of a link */
	atomic_uint open;	  /* fid_mc that are not closed */
	uint64_t dropped; /* datagrams to groups that nobody has joined; by tx_lock alone
			   */
};

/* Of a datagram endpoint. */
struct pvb_dgram {
	struct pvb_ud_addr addr; /* its own; qpn 0 until it is enabled */
	uint32_t qkey;		 /* of its queue pair, which has one */
	struct pvb_av *av;
	_Atomic(struct crn_av_peers *) *peers; /* of av; of none without */
	struct pvb_ud_peer self; /* also where pvb_tx_close sends its marker */
	struct pvb_mcs mcs;
	bool source;	 /* FI_SOURCE: receives say where they came from */
	bool source_err; /* FI_SOURCE_ERR: also where that is no address of av */
};

/* Scatter entries of a receive beside the program's: the GRH's, and that for the excess.
 */
#define PVB_UD_SGES 2

/* Where the GRH of a datagram goes. */
struct pvb_grh {
	uint8_t bytes[PVB_GRH_SIZE];
	const uint8_t *at; /* the bytes, or the program's prefix */
};

/* Those of a receive queue, one a slot, or one for all if nobody reads them: qp/grh.c. */
struct pvb_grhs {
	struct pvb_grh *at;
	struct ibv_mr *mr;
	bool prefix;	       /* the domain's */
	struct ibv_sge first;  /* of at[0] */
	struct ibv_sge excess; /* the domain's */
};

#endif
