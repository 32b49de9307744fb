/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The example layer over tcp on the loopback address, or over the scripted provider, one
 * object after the other.
 */
#ifndef LAYER_WORLD_H
#define LAYER_WORLD_H

#include <cairn/compat.h>
#include "layer.h"

/* Hints with this as prov_name: the layer over the scripted provider (script.h). */
#define LAYER_STACK "script;" EXL_NAME

enum layer_object {
	LAYER_FABRIC,
	LAYER_EQ,
	LAYER_DOMAIN,
	LAYER_CQ,
	LAYER_CNTR,
	LAYER_MR,
	LAYER_SRX,
	LAYER_PEP,
	LAYER_EP,
	LAYER_OBJECTS
};

struct layer_world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_mr *mr;
	struct fid_ep *srx;
	struct fid_pep *pep;
	struct fid_ep *ep;
	char buf[64];
};

extern const char *const layer_names[LAYER_OBJECTS];

/* What fi_getinfo answers; freed by layer_close. A world that is open is closed first. */
void layer_start(struct layer_world *w);
void layer_start_on_script(struct layer_world *w);
/* Opens one, for which those before it are open. What the call returned. */
int layer_open_one(struct layer_world *w, enum layer_object object);
/* Those before it. */
void layer_open_before(struct layer_world *w, enum layer_object object);
/* The fid, or NULL when it is not open. */
struct fid *layer_fid(struct layer_world *w, enum layer_object object);
/* Closes one; what fi_close returned. */
int layer_close_one(struct layer_world *w, enum layer_object object);
/* Closes what is open, last opened first, and the rest. */
void layer_close(struct layer_world *w);

/* Two connected endpoints of the layer over the scripted provider (pair.h). */
struct pair;
void layer_pair_up(struct pair *p);
void layer_pair_down(struct pair *p);

/* Binds endpoint and passive endpoint to the queues, as a program does. */
void layer_bind(struct layer_world *w);

#endif
