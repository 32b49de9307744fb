/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two ends of a connection of rpcrdma over the scripted provider. Each has a fabric of
 * its own: reading at one end moves nothing at the other.
 */
#ifndef RPCRDMA_ENDS_H
#define RPCRDMA_ENDS_H

#include <rdma/fi_ext_cairn.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"
#include "rpcrdma.h"

#define ENDS_STACK SCR_NAME ";" RPR_NAME
#define ENDS_LONG 8192u /* bytes of a message that does not fit inline */
#define ENDS_SHORT 16u

struct end {
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
	char sent[ENDS_LONG], got[2][ENDS_LONG];
};

struct ends {
	struct fi_info *info;
	struct fid_pep *pep;
	struct end client, server;
};

/* Before the ends are opened: the offer of the scripted provider is one that chunks go
 * over, which the test may change. */
void ends_begin(void);
/* Both ends without their endpoints, and a listener. */
int ends_open(struct ends *e, enum rpr_mode mode);
/* Binds end->ep to its queues. */
int ends_bind(struct end *end);
/* An endpoint, bound and enabled. What fi_endpoint or fi_enable returned. */
int ends_endpoint(struct end *end, struct fi_info *info);
/* The client's endpoint connects to the listener: what fi_connect returned. */
int ends_connect(struct ends *e);
/* The client's endpoint asks for a connection; the server has the request, which is to be
 * freed. */
struct fi_info *ends_request(struct ends *e);
/* The server's endpoint accepts it. */
int ends_accept(struct ends *e, struct fi_info *request);
/* FI_CONNECTED is the next event at both ends. */
void ends_connected(struct ends *e);
/* All of that, up to FI_CONNECTED at both ends. */
int ends_up(struct ends *e, enum rpr_mode mode);
/* Nothing of it need be open; the functions above close what is. */
void ends_close(struct ends *e);

/* A receive of ENDS_LONG bytes at end->got[i], which is its context. */
void ends_recv(struct end *end, unsigned int i);
/* A short message of wrap mode goes from one end to the other and is answered, so that
 * the first has the credits that it asked for. */
void ends_message(struct end *from, struct end *to);

/* Sends from->sent, with from as context; a short message that begins with that byte and
 * has no completion. */
void ends_send(struct end *from, size_t len);
void ends_byte(struct end *from, char byte);
/* from->sent becomes a Call or a Reply (RFC 5531 section 9) up to its version. */
void ends_rpc(struct end *from, uint32_t xid, bool reply);
/* Reads the queue, which is empty; what the lower provider brings from there on is held.
 */
void ends_hold(struct end *end);
void ends_no_event(struct fid_eq *eq);

#endif
