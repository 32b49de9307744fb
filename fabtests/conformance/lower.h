/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both ends run over, as the environment says: RPC_LOWER, a provider (default tcp),
 * and RPC_ADDRESS, an address of it (default 127.0.0.1).
 */
#ifndef CONF_LOWER_H
#define CONF_LOWER_H

#include <stdbool.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

/* The interface that this was built with: what libfabric fills is no larger. */
#define LOWER_API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

const char *lower_name(void);
const char *lower_address(void);
/* For FI_EP_MSG endpoints of that stack of providers; the caller frees them. */
struct fi_info *lower_hints(const char *stack, uint64_t caps);
/* The same for an endpoint that connects to addr: it has any source address. The caller
 * frees it. */
struct fi_info *lower_info_to(const struct fi_info *info, const void *addr);

/* What an end and a raw peer are made of. */
struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	bool borrowed; /* fabric and domain are another side's */
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	/* What happened since the endpoint was opened. */
	struct fi_info *request; /* a connection is asked for */
	bool connected;
	bool refused;
	unsigned int shutdowns;
	uint8_t private[256]; /* the private data that came with it */
	size_t private_len;
	/* Errors of the event queue that are not about connecting. */
	unsigned int eq_errors;
	struct fi_eq_err_entry eq_error; /* the last one */
};

/* Checks report what fails. */
void side_open(struct side *side, struct fi_info *hints);
void side_open_queues(struct side *side, enum fi_cq_format format, size_t size);
void side_poll_eq(struct side *side);
/* Closes the endpoint, and forgets what came. */
void side_drop(struct side *side);
void side_close(struct side *side);
/* An endpoint, and a passive one, bound to the queues. */
void side_open_ep(struct side *side, struct fi_info *info);
void side_open_pep(struct side *side);
/* The address where it listens; valid until the next call. */
const void *side_name(struct side *side);

#endif
