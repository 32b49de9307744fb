/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of the software device. Read once from the file SIMVERBS_CONFIG names
 * (ini) and from SIMVERBS_* variables, which win: key "max_cqe" of section "[device]"
 * is SIMVERBS_MAX_CQE. One table in settings.c names every key.
 *
 *	[device]		what holds for all devices
 *	devices = 2
 *	link_layer = roce	infiniband, roce or iwarp
 *	[sim1]			what holds for one
 *	address = 10.77.0.2/24 fd77::2/64
 */
#ifndef SVB_SETTINGS_H
#define SVB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include "groups.h"
#include "joins.h"
#include "sa_fail.h"

#define SVB_MAX_DEVICES 8
#define SVB_MAX_PORTS 2
#define SVB_MAX_GIDS 16
#define SVB_MAX_PKEYS 16
/* The most objects of a process that can be set; queue pairs' slots have so many bits. */
#define SVB_QP_BITS 15
#define SVB_MAX_MR (1u << 20)
#define SVB_MAX_QP (1u << SVB_QP_BITS)
#define SVB_MAX_CQ (1u << 14)
#define SVB_MAX_SRQ (1u << 12)
#define SVB_MAX_MCAST (1u << 12)
/* The most multicast groups of the subnet. */
#define SVB_MAX_GROUPS (1u << 12)
/* Most pieces of one request's memory. */
#define SVB_MAX_SGE 32

enum svb_link { SVB_LINK_IB, SVB_LINK_ROCE, SVB_LINK_IWARP };
enum svb_copy { SVB_COPY_AUTO, SVB_COPY_DIRECT, SVB_COPY_THREAD };
enum svb_domain { SVB_DOMAIN_DMP, SVB_DOMAIN_MHP, SVB_DOMAIN_WSP };
/* Who makes the choices of the machine model (machine/machine.h): nobody, there is none;
 * chance; who calls model/model.h. */
enum svb_drain { SVB_DRAIN_AT_ONCE, SVB_DRAIN_RANDOM, SVB_DRAIN_EXPLORE };

/* The types of GIDs on RoCE. */
enum svb_gid_types { SVB_GIDS_V1 = 1, SVB_GIDS_V2, SVB_GIDS_BOTH };

/* An address that a port answers to. */
struct svb_address {
	int family;	  /* AF_INET, AF_INET6 */
	uint8_t addr[16]; /* network byte order; IPv4 in the first four */
	uint8_t prefix;	  /* bits */
	char ifname[16];  /* the interface that has it, "" for one that none has */
	uint32_t ifindex; /* 0: none */
	uint32_t gid;  /* its own, of the type that rdma_cm prefers: index in svb_port */
	uint32_t pkey; /* of the link it is on: index in svb_port.pkey */
};

/* IBA 10.9.1: the high bit of a P_Key tells full members of the partition from limited
 * ones. */
#define SVB_PKEY_FULL 0x8000u
#define SVB_PKEY_BASE 0x7fffu

struct svb_port {
	uint32_t index; /* of all ports of all devices: device * SVB_MAX_PORTS + port - 1
			 */
	uint16_t lid;	/* 1 + index; 0 on Ethernet */
	enum svb_gid_types gid_types; /* 0: no Ethernet, GIDs have one type */
	/* From the GUID, then of each address; on RoCE of each type. */
	uint32_t gids;
	union ibv_gid gid[SVB_MAX_GIDS];
	enum ibv_gid_type gid_type[SVB_MAX_GIDS];
	uint32_t own_gid; /* from the GUID, of the type that rdma_cm prefers */
	uint32_t pkeys;
	uint16_t pkey[SVB_MAX_PKEYS];
	uint32_t addresses;
	struct svb_address address[SVB_MAX_GIDS];
};

struct svb_device_settings {
	char name[IBV_SYSFS_NAME_MAX]; /* "sim0" */
	uint64_t guid;		       /* host byte order; the same in every process */
	uint32_t ports;
	struct svb_port port[SVB_MAX_PORTS];
	char address[512]; /* as configured, for port 1; "" : see svb_settings_load */
	char pkeys[256];   /* as configured, for every port */
};

/* Whether a device can be taken away (verbs/removal.h), and whether it then still
 * completes what is posted. */
enum svb_removal { SVB_REMOVAL_OFF, SVB_REMOVAL_FLUSH, SVB_REMOVAL_SILENT };

struct svb_settings {
	uint32_t devices;
	struct svb_device_settings device[SVB_MAX_DEVICES];
	enum svb_link link;
	enum svb_gid_types gid_types;
	enum ibv_mtu mtu;
	/* Limits as ibv_query_device reports them. */
	uint32_t max_qp, max_qp_wr, max_sge, max_cq, max_cqe, max_mr, max_srq, max_srq_wr;
	uint32_t max_inline, max_rd_atomic, max_mcast;
	bool flush;	  /* native FLUSH and ATOMIC WRITE are offered */
	int atomics;	  /* compare-and-swap, fetch-and-add are offered */
	int immediate;	  /* immediate data is */
	uint64_t latency; /* ns from posting to delivery */
	double loss;	  /* probability that a request goes unanswered */
	double error;  /* probability that a request ends in a remote operation error */
	uint64_t seed; /* of both; where they have got to */
	/* Probabilities that a datagram does not arrive, arrives twice, or after the next
	 * one of its queue pair; and their seed. */
	double ud_loss, ud_duplicate, ud_reorder;
	uint64_t ud_seed;
	enum svb_domain domain;
	bool ddio;
	bool relaxed;	      /* data is placed in any order, as always on iWARP */
	char persistent[256]; /* file that stands for persistent memory; "": none */
	enum svb_drain drain;
	uint32_t power_fail; /* the power fails at one of so many first choices; 0: never
			      */
	char choices[4096];  /* list to replay, or "@" and a file that holds one */
	uint32_t retry_cap; /* ms: a request nobody answers fails after this at the latest
			     */
	enum svb_copy copy; /* how another process' memory is reached */
	enum svb_removal removal;
	struct svb_join_rules join_fail;
	struct svb_sa_rules sa_fail;
	bool umad; /* false: no permission to open a port for management datagrams */
	struct svb_made_groups groups;
	uint32_t mlids; /* so many groups there can be */
	bool events;	/* ports are told what happens to them: verbs/port_event.h */
	bool threads;	/* false: never start a thread, time passes only while polling */
};

/*
 * Fills settings. Device 0 without an address gets every address of this machine's
 * interfaces. Returns 0 or an errno; EINVAL after one line on stderr that names file,
 * line and key.
 */
int svb_settings_load(struct svb_settings *settings);

/* Do they ask for a model? */
bool svb_settings_modelled(const struct svb_settings *settings);
/* What names the machine; 0: none is modelled. */
uint32_t svb_settings_machine(const struct svb_settings *settings);

/*
 * Where the table of a port has a P_Key, or -1. As the kernel's ib_find_cached_pkey: of
 * two entries for the partition the full member's.
 */
int svb_pkey_index(const struct svb_port *port, uint16_t pkey);

/*
 * IBA 10.9.3: the same partition, and not two limited members. 0 and 0x8000 are no
 * partition's.
 */
static inline bool svb_pkeys_match(uint32_t a, uint32_t b)
{
	return (a & SVB_PKEY_BASE) == (b & SVB_PKEY_BASE) && a & SVB_PKEY_BASE &&
	       (a | b) & SVB_PKEY_FULL;
}

#endif
