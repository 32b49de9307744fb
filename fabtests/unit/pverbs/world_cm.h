/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections on the objects of world.h: listeners, requests, any state. */
#ifndef PVB_TEST_WORLD_CM_H
#define PVB_TEST_WORLD_CM_H

#include "world.h"

/* A passive endpoint that listens on WORLD_ADDR with the world's event queue. */
bool world_listen(struct world *w, struct fid_pep **pep);
/* Sets w->pep to a passive endpoint that does not listen yet. */
bool world_new_pep(struct world *w);
/*
 * For CT_FIXTURE, whose tear-down is world_close: a world with a listener (pep) instead
 * of an endpoint, and one whose listener has got a request (request, id), which was read.
 */
void world_start_listening(struct world *w);
void world_start_requested(struct world *w);
/* FI_OPT_CAIRN_RAW_CM_DATA. */
void set_raw(struct fid *fid);
struct rdma_cm_id *listen_id(struct fid_pep *pep);

/* A request of WORLD_PEER on fake0 with that private data arrives at the listener. */
struct rdma_cm_id *request_arrives(struct fid_pep *pep, const void *data, size_t len);
/* Reads the FI_CONNREQ and returns its info, which is the caller's; NULL: a failure. */
struct fi_info *read_request(struct world *w, struct fid_pep *pep, const void *data,
			     size_t len);
/* Both, without data. */
struct fi_info *next_request(struct world *w, struct fid_pep *pep,
			     struct rdma_cm_id **id);
/* An endpoint for the request, on the world's queues, enabled; frees the info. */
bool take_request(struct world *w, struct fi_info *info, struct fid_ep **ep);
/* The world's endpoint for the world's request. */
bool world_take_request(struct world *w);

/* world_renew, and an endpoint in that state, with its id and the pep of a responder;
 * TAKEN: of a request, not accepted yet. */
#define STATE_TAKEN PVB_CONN_NEW
bool state_open(struct world *w, enum pvb_conn_state wanted);
/* The same, in a world that has its domain. */
bool state_reach(struct world *w, enum pvb_conn_state wanted);
const char *state_name(enum pvb_conn_state state);

#endif
