/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of connections in one process, for measurements in which no end waits for
 * another process. Whatever fails ends the program with a line on stderr.
 */
#ifndef ENDS_H
#define ENDS_H

#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

struct ends_wish {
	const char *program; /* in front of messages */
	const char *provider;
	const char *address; /* of this machine, which the provider can use */
	enum fi_threading threading;
	size_t depth;  /* of each queue of an endpoint */
	uint64_t caps; /* besides FI_MSG and FI_RMA */
	/* FI_PROTO_CAIRN_RPC, which has no RMA; or FI_PROTO_UNSPEC */
	uint32_t protocol;
};

/* Objects that all connections share. */
struct ends {
	struct ends_wish wish;
	struct fi_info *info; /* for who connects, with the listener's address */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_pep *pep;
};

/* ret: of a libfabric call; the program ends if it is negative. */
void bench_ends_need(const struct ends *e, ssize_t ret, const char *what);
/* Up to a listener. */
void bench_ends_open(struct ends *e, const struct ends_wish *wish);
/* Everything else has to be closed. */
void bench_ends_close(struct ends *e);
struct fid_cq *bench_ends_cq(struct ends *e, size_t size);
/* An enabled endpoint. flags: of the binding to cq, besides FI_TRANSMIT | FI_RECV. */
struct fid_ep *bench_ends_ep(struct ends *e, struct fi_info *info, struct fid_cq *cq,
			     uint64_t flags);
/* The next event of a connection; *info of a request, to be freed by the caller. */
uint32_t bench_ends_event(struct ends *e, struct fi_info **info);
/* One connection: ep[0] connects, ep[1] accepts. flags: as in bench_ends_ep. */
void bench_ends_pair(struct ends *e, struct fid_cq *const cq[2], uint64_t flags,
		     struct fid_ep *ep[2]);
/* A number of the command line from 1 to most, or the end. */
long bench_ends_number(const char *program, const char *text, long most);
/* "domain" or "safe". */
enum fi_threading bench_ends_threading(const char *program, const char *text);
/* Of the monotonic clock. */
double bench_ends_now_ns(void);

#endif
