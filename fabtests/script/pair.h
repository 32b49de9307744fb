/* SPDX-License-Identifier: BSD-2-Clause */
/* Two endpoints of any provider in this process, connected: a client and a server. */
#ifndef SCR_PAIR_H
#define SCR_PAIR_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

/* The interface that the tests were built with: what libfabric fills is no larger. */
#define PAIR_API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

struct pair_end {
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	void *desc;
	char buf[4096]; /* registered for everything */
};

struct pair {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep;
	struct fid_ep *srx; /* NULL, or bound to the server's endpoint */
	struct pair_end client, server;
};

struct pair_event {
	struct fi_eq_cm_entry entry;
	char data[256];
};

/* Hints that ask for FI_MSG, FI_TAGGED, FI_RMA, FI_ATOMIC and FI_RMA_EVENT of the
 * provider; the caller frees them. */
struct fi_info *pair_hints(const char *prov_name);
/*
 * These return the code of the first call that failed, reads of events included;
 * pair_down closes what is there. pair_open: fabric, domain, event and completion queues,
 * memory, and a listener; pair_client: the client's endpoint, bound and enabled;
 * pair_request: it asks for a connection, and the server has an endpoint for the request
 * that arrives; pair_up: all that, to FI_CONNECTED on both sides.
 */
int pair_open(struct pair *p, const char *prov_name);
int pair_client(struct pair *p);
int pair_request(struct pair *p);
int pair_up(struct pair *p, const char *prov_name);
void pair_down(struct pair *p);

/* Exactly this event is next, or this error entry. Returns bytes of data. */
size_t pair_expect(struct fid_eq *eq, uint32_t event, struct pair_event *got);
size_t pair_expect_err(struct fid_eq *eq, int err, char data[256]);
/* Exactly this completion is next, or this error. */
void pair_done(struct fid_cq *cq, const void *context, uint64_t flags);
void pair_failed(struct fid_cq *cq, const void *context, int err);
void pair_nothing(struct fid_cq *cq);

#endif
