/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagram endpoints for measurements. Each end has all its objects to itself, so that it
 * does not matter in which process it is. Whatever fails ends the program with a line on
 * stderr.
 */
#ifndef DGRAMS_H
#define DGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#define DGRAMS_NAME_LEN 64
#define DGRAMS_TX_DEPTH 128 /* as perftest has it */
#define DGRAMS_RX_DEPTH 512 /* unless wished otherwise */

struct dgrams_wish {
	const char *provider;
	const char *address; /* of this machine, which the provider can use */
	const char *group;   /* NULL; of multicast, an IP address: see dgrams_join */
	enum fi_threading threading;
	size_t size;	   /* bytes of a datagram */
	size_t room;	   /* bytes of a receive, at least size */
	size_t receives;   /* depth of the receive queue */
	uint64_t tx_flags; /* of the binding to txcq, besides FI_TRANSMIT */
};

struct dgrams_end {
	struct dgrams_wish wish;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq; /* with a group */
	struct fid_mc *mc; /* from dgrams_join on */
	struct fid_av *av;
	struct fid_cq *txcq, *rxcq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	/* The datagram to send, then wish.receives receives of stride bytes. */
	char *memory;
	void *desc;
	size_t stride; /* with the prefix of FI_MSG_PREFIX */
	uint8_t name[DGRAMS_NAME_LEN];
	uint64_t posted; /* receives so far */
};

/* ret: of a libfabric call; the program ends if it is negative. */
void dgrams_need(ssize_t ret, const char *what);
/* Enabled, with no receive posted. */
void dgrams_open(struct dgrams_end *e, const struct dgrams_wish *wish);
void dgrams_close(struct dgrams_end *e);
/* The address of another end's name. */
fi_addr_t dgrams_peer(struct dgrams_end *e, const uint8_t *name);
/* Joins the group of the wish; direction: FI_SEND or FI_RECV. */
void dgrams_join(struct dgrams_end *e, uint64_t direction);
/* The next receive, in the order of the slots. */
void dgrams_post(struct dgrams_end *e);
/* Completions read of a queue: 0 to most, at most 16. */
size_t dgrams_reap(struct fid_cq *cq, size_t most);
/* A completion; the program ends if none comes in time. */
void dgrams_await(struct fid_cq *cq);
double dgrams_now_ns(void);
/* Of the processor, by this thread. */
double dgrams_cpu_ns(void);

/* dgrams_one.c: within this process; each prints its line. */

void dgrams_op(const struct dgrams_wish *wish, long count, long rounds);
void dgrams_vector(const struct dgrams_wish *wish, long count);
/* ways: how many receivers. */
void dgrams_fan(const struct dgrams_wish *wish, long count, long ways);

/* dgrams_two.c: with a second process. */

/* batch: round trips between two looks at the clock. */
void dgrams_pingpong(const struct dgrams_wish *wish, long count, long batch);
void dgrams_rate(const struct dgrams_wish *wish, long count);

#endif
