/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ends of the connections, as a program of libfabric has them. */
#ifndef XPV_WORLD_H
#define XPV_WORLD_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_cairn.h>
#include <rdma/fi_rma.h>
#include "scenario.h"

#define INITIATOR 0
#define TARGET 1
#define LEN_MAX 256u
#define SECOND_AT 512u /* the second region, where there is one */
/* Receives: buffers of LEN_MAX bytes each, from here on in persistent memory. */
#define RECEIVES 2u
#define RECEIVE_AT 3072u
/* What a target has made durable of a connection's messages: how many in a row, and from
 * the next line on each of them. */
#define APPLIED_AT 1024u
#define APPLIED_ROOM 1024u
#define APPLIED_LEN 128u

struct world {
	const struct machine *machine;
	struct fi_provider *provider;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct fi_info *info; /* for who connects */
	struct fid_domain *domain[2];
	struct fid_cq *cq[2];
	struct fid_ep *ep[PAIRS][2];
	struct fid_ep *srx;    /* SPECIAL_SHARED */
	unsigned int receives; /* of a connection, at most RECEIVES */
	/* SPECIAL_COUNTED: of what the initiator posts, and of the target's receives. */
	struct fid_cntr *cntr[PAIRS][2];
	struct fi_cairn_ops_replay *replay;
	struct fid_mr *source_mr, *result_mr, *receive_mr;
	/* The persistent file, mapped; from second on it is the second region's. */
	uint8_t *pm;
	size_t pm_size, second;
	struct fid_mr *pm_mr[2];
	/* What each call writes, and where its read goes. */
	uint8_t (*source)[LEN_MAX];
	uint8_t (*result)[LEN_MAX];
	uint8_t *inject;  /* what is given to inject calls, and changed afterwards */
	uint8_t *receive; /* of the target, not persistent */
};
extern struct world xpv_world;

/* The environment of a process that explores a machine; dir is its own. */
void xpv_world_settings(const struct machine *machine, const char *dir);
/* Both ends, in this process. It ends when that cannot be. */
void xpv_world_open(const struct machine *machine);
/* How often a queue was read in vain tells only when the device's asynchronous events are
 * looked at, of which the model has none: states that differ in it alone are one. */
void xpv_world_forget_idle(void);
/* Can the ends ask each other's processor for something? */
bool xpv_world_requests(void);
/* The region that has an offset of persistent memory. */
static inline struct fid_mr *world_region(size_t at)
{
	return xpv_world.pm_mr[xpv_world.pm_mr[1] && at >= xpv_world.second];
}
/* The target posts a receive, by number. */
void xpv_world_receive(unsigned int number);

#endif
