/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables in the file. */
#ifndef SVB_SUBNET_TABLES_H
#define SVB_SUBNET_TABLES_H

#include "subnet.h"

#define SVB_SUBNET_MAGIC 0x62757331u
#define SVB_MAX_HOLDS 16384u
#define SVB_MAX_INFORMS 256u
#define SVB_MAX_REPORTS 1024u

/* A join of an id of rdma_cm: the kernel leaves when the last one of a port does. */
struct svb_hold {
	uint32_t token; /* of the process; 0: free */
	uint16_t group;
	uint8_t port;
	uint8_t state;
};

struct svb_subnet {
	uint32_t magic;
	/* simverbs --restart-sm writes it: everything is forgotten before it is used. */
	uint32_t restart;
	struct svb_lock lock;
	uint32_t next_group; /* places rest: a group that comes again has another MLID */
	uint32_t holds;	     /* none beyond is in use */
	uint32_t era;	     /* restarts */
	uint32_t groups;     /* none beyond is in use */
	uint32_t acts;	     /* since the last restart */
	uint64_t next_report;
	uint32_t hash[2 * SVB_MAX_GROUPS]; /* place + 1 by MGID; 0: none */
	struct svb_group group[SVB_MAX_GROUPS];
	struct svb_hold hold[SVB_MAX_HOLDS];
	struct svb_inform inform[SVB_MAX_INFORMS];
	struct svb_report report[SVB_MAX_REPORTS];
};

/* Mapped, or NULL: there is no room. Groups of the subnet manager are there. */
struct svb_subnet *svb_subnet(void);
/* Takes and gives back the lock; afterwards subscribers are rung. NULL: no tables. */
struct svb_subnet *svb_subnet_lock(void);
void svb_subnet_unlock(struct svb_subnet *subnet);

/* With the lock: a new group's place, or -1; and the end of one. */
int svb_group_add(struct svb_subnet *subnet, const union ibv_gid *mgid,
		  const struct svb_group_attr *attr, bool made);
void svb_group_del(struct svb_subnet *subnet, uint32_t place);
/* members.c: drops what processes that have ended held. */
void svb_holds_sweep(struct svb_subnet *subnet);
/* inform.c: has subscribers told. */
void svb_inform_all(struct svb_subnet *subnet, uint16_t trap, const union ibv_gid *mgid);

#endif
