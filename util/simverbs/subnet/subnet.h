/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a subnet manager knows: multicast groups, who is a member, who is told of them.
 *
 * A file in the directory, mapped by every process when it first needs it. There is no
 * process that is the subnet manager: whoever asks for something changes the tables,
 * under their lock. Only InfiniBand has them. Errors are statuses of subnet
 * administration (IBA 15.2.3), 0 is success.
 */
#ifndef SVB_SUBNET_SUBNET_H
#define SVB_SUBNET_SUBNET_H

#include <infiniband/verbs.h>
#include "settings/settings.h"
#include "shared/shared.h"

#define SVB_MLID_FIRST 0xc000u
#define SVB_MAX_SUBNET_PORTS (SVB_MAX_DEVICES * SVB_MAX_PORTS)

/* IBA table 190; the status of a MAD carries them in its upper byte. */
enum svb_sa_status {
	SVB_SA_OK = 0,
	SVB_SA_NO_RESOURCES = 0x0100,
	SVB_SA_REQ_INVALID = 0x0200,
	SVB_SA_NO_RECORDS = 0x0300,
	SVB_SA_TOO_MANY = 0x0400,
	SVB_SA_INSUFFICIENT = 0x0600,
};

/* JoinState of a MCMemberRecord, IBA 15.2.5.17. */
#define SVB_JOIN_FULL 1u
#define SVB_JOIN_NON 2u
#define SVB_JOIN_SEND_ONLY 4u
#define SVB_JOIN_SEND_ONLY_FULL 8u
/* Those that keep a group alive, and those that are sent to. */
#define SVB_JOIN_KEEPS (SVB_JOIN_FULL | SVB_JOIN_SEND_ONLY_FULL)
#define SVB_JOIN_RECEIVES (SVB_JOIN_FULL | SVB_JOIN_NON)

/* What all members of a group have in common, host byte order. */
struct svb_group_attr {
	uint32_t qkey;
	uint32_t flow; /* 20 bits */
	uint16_t pkey;
	uint8_t mtu; /* enum ibv_mtu */
	uint8_t rate;
	uint8_t life;
	uint8_t tclass;
	uint8_t sl;
	uint8_t hop;
};

/* A group; its MLID is SVB_MLID_FIRST and its place in the table. */
struct svb_group {
	union ibv_gid mgid;
	uint32_t used;	    /* 0: free; written last */
	uint32_t made;	    /* by the subnet manager: stays without members */
	uint32_t receivers; /* 1 << index of each port that is sent to */
	struct svb_group_attr attr;
	/* JoinState of each port: what MADs joined, and what ids of rdma_cm did. */
	uint8_t by_mad[SVB_MAX_SUBNET_PORTS];
	uint8_t by_cm[SVB_MAX_SUBNET_PORTS];
};

/* Where a group is in the table, or -1. Any thread; the group may go at any time. */
int svb_subnet_find(const union ibv_gid *mgid);
/* 1 << index of each port that what is sent to the group by that LID arrives at. */
uint32_t svb_subnet_receivers(const union ibv_gid *mgid, uint32_t lid);
/* A copy of the group at that place. False: there is none. */
bool svb_subnet_get(uint32_t at, struct svb_group *group);
/* How many places there are. */
uint32_t svb_subnet_places(void);
static inline uint8_t svb_group_state(const struct svb_group *group, uint32_t port)
{
	return group->by_mad[port] | group->by_cm[port];
}

/* What a join asks for. */
struct svb_subnet_join {
	union ibv_gid mgid;
	uint32_t port;	/* index */
	uint32_t state; /* SVB_JOIN_* */
	bool by_cm;
	/* Makes the group with these if it is not there; NULL: does not. */
	const struct svb_group_attr *create;
	/* Whether a group that is there suits; NULL: any does. */
	bool (*suits)(const struct svb_group_attr *attr, const void *arg);
	const void *arg;
	uint64_t handle; /* out, by_cm: for svb_subnet_release */
};

/*
 * Joins. *group, if not NULL, is a copy of the group with the new member in it, *place
 * where it is.
 */
enum svb_sa_status svb_subnet_join(struct svb_subnet_join *join, struct svb_group *group,
				   uint32_t *place);
/* A port leaves, with those states; all of them must be there. */
enum svb_sa_status svb_subnet_leave(const union ibv_gid *mgid, uint32_t port,
				    uint32_t state, struct svb_group *group);
/* Takes back what one join of rdma_cm did; nothing after a restart of the manager. */
void svb_subnet_release(uint64_t handle);
/* As opensm makes groups of a partition, also those of IPoIB. */
struct svb_group_attr svb_subnet_default(uint16_t pkey);
/* What the broadcast group of a partition has (RFC 4391), the link-local one or else that
 * of the smallest scope. False: there is none; what it would have. */
bool svb_subnet_ipoib(uint16_t pkey, struct svb_group_attr *attr);

/* What the manager has done since it began: any request counts. */
uint32_t svb_subnet_acts(void);

/* inform.c: traps 66 and 67 (IBA 13.4.8.2), and who is told. */
#define SVB_TRAP_CREATED 66u
#define SVB_TRAP_DELETED 67u

struct svb_inform {
	uint32_t token; /* of the process; 0: free */
	uint32_t bell; /* rung when there is something to tell; it names the subscriber */
	uint16_t trap; /* number; 0xffff: any */
	union ibv_gid gid; /* of the group; 0: of any */
	bool any_gid;
};

struct svb_report {
	uint64_t id;  /* 0: free; grows */
	uint64_t due; /* ns */
	uint32_t bell;
	uint32_t sent; /* times */
	uint16_t trap;
	uint32_t token; /* of the process that is told */
	union ibv_gid mgid;
};

enum svb_sa_status svb_subnet_subscribe(const struct svb_inform *inform, bool subscribe);
/* All of the subscriber, which goes. */
void svb_subnet_unsubscribe(uint32_t bell);
/*
 * The next report that is due for a subscriber; marks it as sent. False: none is, and
 * *next is when one will be, ns, 0: never. Unanswered ones are repeated.
 */
bool svb_subnet_report(uint32_t bell, struct svb_report *report, uint64_t *next);
/* It was answered. */
void svb_subnet_reported(uint64_t id);

/* table.c: SVB_PARTS. */
void svb_subnet_leave_all(void);

#endif
