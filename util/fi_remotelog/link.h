/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection, and what it needs of libfabric: standard calls only. Functions return 0
 * or a negative FI_E* code after saying on stderr what went wrong. One thread.
 */
#ifndef RLG_LINK_H
#define RLG_LINK_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include "options.h"

/* Posted receives of each side. */
#define RLG_RECEIVES 256u

struct rlg_link {
	const struct rlg_options *options;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	uint64_t deadline; /* of the wait that is under way, ns */
	unsigned int idle; /* empty looks at the completion queue */
	bool durable;	   /* the domain takes FI_RMA_PMEM and FI_COMMIT_COMPLETE */
};

struct rlg_memory {
	uint8_t *at;
	size_t size;
	void *desc;
	struct fid_mr *mr;
};

uint64_t rlg_now(void); /* ns */
/* A line on stderr. */
void rlg_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int rlg_failed(const char *what, ssize_t ret);

/* Fabric, domain and event queue; for a server also the listening endpoint. */
int rlg_link_open(struct rlg_link *link, const struct rlg_options *options, bool listens);
void rlg_link_close(struct rlg_link *link);
int rlg_link_port(struct rlg_link *link, unsigned int *port);
/* This side's numeric address of the connection; text is INET6_ADDRSTRLEN bytes. */
int rlg_link_address(struct rlg_link *link, char *text);

/* An endpoint for info and a completion queue: receives may be posted. */
int rlg_link_endpoint(struct rlg_link *link, struct fi_info *info);
void rlg_link_hang_up(struct rlg_link *link);
/* Waits for a connection request, for ever; *info is the caller's. */
int rlg_link_request(struct rlg_link *link, struct fi_info **info);
int rlg_link_connect(struct rlg_link *link);
int rlg_link_accept(struct rlg_link *link);

/* access of fi_mr_reg(3); pm: FI_RMA_PMEM. */
int rlg_memory_open(struct rlg_link *link, struct rlg_memory *memory, uint8_t *at,
		    size_t size, uint64_t access, bool pm);
void rlg_memory_close(struct rlg_memory *memory);

/* Begins a wait that must not last longer than the timeout of the options. */
void rlg_link_wait(struct rlg_link *link);
/*
 * One look at the completion queue. How many of room entries are set; 0: there is none;
 * else: the connection or an operation failed, or the wait lasts too long (said already
 * unless -FI_ESHUTDOWN).
 */
int rlg_link_poll(struct rlg_link *link, struct fi_cq_data_entry *entry, size_t room);

int rlg_link_recv(struct rlg_link *link, uint8_t *at, size_t len, void *desc,
		  void *context);
/* At most RLG_MESSAGE_MAX bytes; waits for room while what completes goes to seen. */
int rlg_link_inject(struct rlg_link *link, const uint8_t *bytes, size_t len,
		    int (*seen)(void *arg, const struct fi_cq_data_entry *entry),
		    void *arg);

#endif
