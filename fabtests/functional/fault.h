/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_fault: what a provider makes of calls that fail, one after the other.
 *
 * fault_hook puts itself between the provider's library and what that calls of memory,
 * of the system, of libibverbs and of librdmacm. A scene is a whole life of fabric
 * objects in one process, which connects to itself.
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

/* Loads the provider's library before libfabric does. 0, or -FI_ENODATA: it has none. */
int fault_hook(const char *prov);
/* The nth call of the kind fails, counted from 1; with on also all later ones. */
void fault_arm(enum fault_kind kind, unsigned int nth, bool on);
void fault_disarm(void);
/* Calls neither fail nor count meanwhile. */
void fault_hold(bool held);
/* The call that failed, NULL: none has. Stays until fault_arm. */
const char *fault_failed(void);
/* Objects of libibverbs and librdmacm that the provider holds. */
int fault_objects(void);

/* Between the files: one row for each call. */
struct fault_row {
	const char *name;
	void *wrapper;
	void **real; /* where the wrapper finds what it stands before */
};
extern const struct fault_row fault_rows[];
extern const size_t fault_row_count;
/* Counts the call; true: it is to fail. */
bool fault_now(enum fault_kind kind, const char *name);

/* ---- fault_scene.c ---- */

#define SCENE_OPS 8

/* What became of an operation with a context. */
struct scene_op {
	unsigned int posted, ended;
};

struct scene_end {
	struct fid_ep *ep;
	bool connected, shut;
};

struct scene {
	struct fct *t;
	struct fi_info *here, *there, *request;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_ep *srx;
	struct fid_mr *mr;
	struct fid_pep *pep;
	struct scene_end active, passive, refused;
	bool turned_down; /* the refused one has heard of it */
	struct scene_op op[SCENE_OPS];
	uint64_t words[64]; /* the registered memory */
	uint64_t seed;
	const char *doing;
	int err;	 /* the first error that a call, an event or a completion told */
	bool silent;	 /* a deadline passed and nothing had told an error */
	char wrong[256]; /* what must not be whatever fails; empty: nothing */
};

/* Each returns s->err. */
int scene_idle(struct scene *s, struct fct *t);	     /* all objects, one endpoint */
int scene_asking(struct scene *s, struct fct *t);    /* and fi_connect was called */
int scene_asked_for(struct scene *s, struct fct *t); /* and FI_CONNREQ was read */
int scene_accepting(struct scene *s, struct fct *t); /* and fi_accept was called */
int scene_open(struct scene *s, struct fct *t);	     /* and the connection stands */
int scene_in_flight(struct scene *s);		     /* operations that will not end */
int scene_message(struct scene *s);		     /* one, there and acknowledged */
int scene_transfers(struct scene *s);		     /* one of each kind */
int scene_ends(struct scene *s);		     /* a refusal, and a shutdown */
/* Closes what there is, in the order in which it must go, and counts completions. */
int scene_close(struct scene *s);

#endif
