/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ends of a connection of rpcrdma over the scripted provider, in this process. Each
 * has a fabric of its own: reading at one end moves nothing at the other. */
#ifndef XRP_WORLD_H
#define XRP_WORLD_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_cairn.h>
#include "script.h"
#include "scenario.h"

#define SHORT_LEN 48u  /* bytes of a Call; of a Reply fewer */
#define LONG_LEN 1056u /* does not fit inline */
#define CHUNK_LEN 16u  /* of an item in a chunk */

/* Memory of a program. */
struct memory {
	uint8_t call[CALLS][LONG_LEN], call_item[CALLS][CHUNK_LEN];
	uint8_t result[CALLS][CHUNK_LEN], reply_at[CALLS][LONG_LEN];
	uint8_t reply[CALLS][LONG_LEN], reply_item[CALLS][CHUNK_LEN]; /* to the peer */
	uint8_t receive[RECEIVES][LONG_LEN];
};

struct end {
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct memory *memory;
};

struct world {
	struct end end[SIDES];
	struct fid_pep *pep;
	struct fi_info *info[2]; /* of rpc and wrap mode */
};
extern struct world xrp_world;

/* What does not depend on a scenario. The process ends when that cannot be. */
void xrp_world_open(void);
/* The connection of a scenario; from then on everything is held. */
void xrp_world_connect(const struct scenario *scenario);
/* tidy.c. Before a state is saved: what tells no states apart. */
void xrp_world_tidy(void);
/* The endpoint of the scripted provider. */
struct fid_ep *xrp_world_lower(unsigned int side);

#endif
