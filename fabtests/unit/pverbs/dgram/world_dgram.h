/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of a test of datagrams: an endpoint on device "fake0", which is RoCE with
 * GID 1 ::ffff:10.0.0.1, or InfiniBand with LID 7, MTU 1024, P_Key 0xffff.
 */
#ifndef PVB_TEST_WORLD_DGRAM_H
#define PVB_TEST_WORLD_DGRAM_H

#include "../world.h"

#define DGRAM_MTU 1024
#define DGRAM_LID 7

struct dgram_opts {
	bool ib;
	uint64_t caps;		     /* 0: FI_MSG */
	uint64_t cq_flags;	     /* FI_SELECTIVE_COMPLETION */
	size_t tx_size, inject_size; /* 0: 8, the default */
	bool shared;		     /* receives are of a shared context */
	void (*arrange)(void);	     /* the device, between fi_getinfo and fi_domain */
	size_t prefix;		     /* FI_MSG_PREFIX with so many bytes; 0: none */
};

struct dgram_world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *srx; /* NULL: receives are the endpoint's */
	struct fid_ep *ep;  /* enabled */
	struct fake_qp *qp;
	fi_addr_t peer; /* dgram_addr(1) */
};

/* The fakes, before every test. */
void dgram_reset(bool ib);
/* What fi_getinfo gives for the options, or NULL. */
struct fi_info *dgram_info(const struct dgram_opts *opts);
/* Everything but the endpoint; opts may be NULL. Closes what w, which is zeroed
 * otherwise, has open. */
bool dgram_open_domain(struct dgram_world *w, const struct dgram_opts *opts);
bool dgram_open(struct dgram_world *w, const struct dgram_opts *opts);
/* The world's endpoint, bound to its vector and its queue, and not enabled. */
bool dgram_new_ep(struct dgram_world *w);
void dgram_close_ep(struct dgram_world *w);
/* Closes what is open, which may be nothing, and checks that nothing is left behind. */
void dgram_close(struct dgram_world *w);
/* For CT_FIXTURE, whose tear-down is dgram_close: opened without options. */
void dgram_start(struct dgram_world *w);
void dgram_start_domain(struct dgram_world *w);
/* The address of another host, by its number: ::ffff:10.0.1.NUMBER, LID 0x100 + NUMBER on
 * InfiniBand, queue pair number 0x500 + NUMBER. */
struct pvb_ud_addr dgram_addr(const struct dgram_world *w, unsigned int number);
fi_addr_t dgram_insert(struct dgram_world *w, unsigned int number);

#endif
