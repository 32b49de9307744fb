/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_fault: what a provider makes of calls that fail, one after the other.
 *
 * fct_fault_hook puts itself between the provider's library and what that calls of
 * memory, of the system, of libibverbs and of librdmacm. A scene is a whole life of
 * fabric objects in one process, which connects to itself.
 */
#ifndef FCT_FAULT_H
#define FCT_FAULT_H

#include <rdma/fi_atomic.h>

#include "fct_fabric.h"

/* ---- fault_hook.c, fault_calls.c: not thread safe ---- */

enum fault_kind {
	FAULT_MEMORY, /* malloc and its relatives, fi_dupinfo */
	FAULT_SYSTEM, /* descriptors and addresses */
	FAULT_DEVICE, /* ibv_* and rdma_* */
	FAULT_KINDS
};

/* Loads the provider's library, of a stack the upmost one's, before libfabric does. 0, or
 * -FI_ENODATA: it has none. */
int fct_fault_hook(const char *prov);
/* The nth call of the kind fails, counted from 1; with on also all later ones. */
void fct_fault_arm(enum fault_kind kind, unsigned int nth, bool on);
void fct_fault_disarm(void);
/* Calls neither fail nor count meanwhile. */
void fct_fault_hold(bool held);
/* The call that failed, NULL: none has. Stays until fct_fault_arm. */
const char *fct_fault_failed(void);
/* Objects of libibverbs and librdmacm that the provider holds. */
int fct_fault_objects(void);

/* Between the files: one row for each call. */
struct fault_row {
	const char *name;
	void *wrapper;
	void **real; /* where the wrapper finds what it stands before */
};
extern const struct fault_row fct_fault_rows[];
extern const size_t fct_fault_row_count;
/* Counts the call; true: it is to fail. */
bool fct_fault_now(enum fault_kind kind, const char *name);

/* ---- fault_scene.c ---- */

#define SCENE_OPS 8

/* The result of an operation with a context. */
struct scene_op {
	unsigned int posted, ended;
};

struct scene_end {
	struct fid_ep *ep;
	bool connected, shut;
};

struct scene {
	const struct fct_setup *setup; /* of those that a provider may offer, the best */
	struct fi_info *here, *there, *request;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_ep *srx; /* NULL: none is offered */
	struct fid_mr *mr;
	struct fid_pep *pep;
	struct fid_av *av; /* this and the next two: of datagrams */
	struct fid_mc *mc;
	bool joined;
	struct scene_end active, passive, refused;
	bool turned_down; /* the refused one has heard of it */
	bool srx_silent;  /* it does not report what it has when it is closed */
	struct scene_op op[SCENE_OPS];
	uint64_t words[64]; /* the registered memory */
	uint64_t seed;
	const char *doing;
	int err;	 /* the first error that a call, an event or a completion told */
	bool silent;	 /* a deadline passed and nothing had told an error */
	char wrong[256]; /* what must not be whatever fails; empty: nothing */
};

/* Each returns s->err. */
int fct_scene_idle(struct scene *s);	  /* all objects, one endpoint */
int fct_scene_asking(struct scene *s);	  /* and fi_connect was called */
int fct_scene_asked_for(struct scene *s); /* and FI_CONNREQ was read */
int fct_scene_accepting(struct scene *s); /* and fi_accept was called */
int fct_scene_open(struct scene *s);	  /* and the connection stands */
int fct_scene_in_flight(struct scene *s); /* operations that will not end */
int fct_scene_message(struct scene *s);	  /* one, there and acknowledged */
int fct_scene_transfers(struct scene *s); /* one of each kind */
int fct_scene_ends(struct scene *s);	  /* a refusal, and a shutdown */
/* All that was posted has completed. */
bool fct_scene_ended(const struct scene *s);
/* ---- fault_dgram.c ---- */

/* A whole life of a datagram endpoint, which sends to itself and to a group: then
 * fct_scene_close. */
int fct_scene_datagrams(struct scene *s);

/* ---- fault_scene.c ---- */

/* Closes what there is, in the order in which it must go, and counts completions. */
int fct_scene_close(struct scene *s);

#endif
