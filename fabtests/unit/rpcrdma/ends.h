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
/* An endpoint, bound and enabled. What fi_endpoint or fi_enable returned. */
int ends_endpoint(struct end *end, struct fi_info *info);
/* The client's endpoint asks for a connection; the server has the request, which is to be
 * freed. */
struct fi_info *ends_request(struct ends *e);
/* The server's endpoint accepts it. */
int ends_accept(struct ends *e, struct fi_info *request);
/* All of that, up to FI_CONNECTED at both ends. */
int ends_up(struct ends *e, enum rpr_mode mode);
void ends_close(struct ends *e);

/* A receive of ENDS_LONG bytes at end->got[i], which is its context. */
void ends_recv(struct end *end, unsigned int i);
/* A short message of wrap mode goes from one end to the other and is answered, so that
 * the first has the credits that it asked for. */
void ends_message(struct end *from, struct end *to);

#endif
