/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections on the objects of world.h: listeners, requests, any state. */
#ifndef PVB_TEST_WORLD_CM_H
#define PVB_TEST_WORLD_CM_H

#include "world.h"

/* A passive endpoint that listens on WORLD_ADDR with the world's event queue. */
bool world_listen(struct world *w, struct fid_pep **pep);
/* world_reset, and a world that has one instead of an endpoint. */
bool world_open_listening(struct world *w, struct fid_pep **pep);
void world_close_listening(struct world *w, struct fid_pep *pep);
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

/* What an endpoint that a state_ function made came from. */
struct state {
	struct fid_ep *ep;
	struct rdma_cm_id *id;
	struct fid_pep *pep; /* of a responder */
};
/* Makes an endpoint in that state; TAKEN: of a request, not accepted yet. */
#define STATE_TAKEN PVB_CONN_NEW
bool state_open(struct world *w, enum pvb_conn_state wanted, struct state *state);
void state_close(struct state *state);
const char *state_name(enum pvb_conn_state state);

#endif
