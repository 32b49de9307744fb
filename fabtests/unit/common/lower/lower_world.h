/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A layer over a lower provider that does as it is told: the linker puts fi_getinfo,
 * fi_fabric and fi_dupinfo of the code under test here while a world is open
 * (CT_WRAP_LOWER of local.mk). A copy that fi_dupinfo makes counts as an allocation for
 * ct_fail_alloc.
 */
#ifndef LOWER_WORLD_H
#define LOWER_WORLD_H

#include <cairn/eq.h>
#include <cairn/lower.h>

#define LOWER_ASKS 16

/* What fi_getinfo was asked. */
struct lower_asked {
	char prov_name[64];
	uint64_t flags;
	uint32_t version;
	struct fi_info *hints; /* a copy */
};

/* A lower provider; its endpoints are fids whose close counts. */
struct lower_prov {
	const char *name;
	struct fi_info *info; /* what it answers, whatever is asked; owned by the world */
	struct lower_prov *next;
};

struct lower_object {
	union {
		struct fid fid;
		struct fid_ep ep;
		struct fid_pep pep;
	};
	struct crn_eq *eq; /* bound */
	int bind_ret, close_ret;
	unsigned int closes, rejects;
	fid_t rejected; /* handle */
};

struct lower_world {
	struct crn_lower_layer layer;
	struct fi_provider prov; /* "lay" */
	char *param;		 /* FI_LAY_LOWER */
	struct lower_prov *provs;
	struct lower_asked asks[LOWER_ASKS];
	unsigned int asked;
	void (*on_ask)(struct lower_world *w); /* in fi_getinfo; NULL: nothing */
	struct fid_fabric lower;
	struct fi_fabric_attr
		attr;	 /* that it was opened with; the strings are not kept */
	char opened[64]; /* its prov_name */
	int fabric_ret, fabric_close_ret, eq_ret, trywait_ret;
	unsigned int trywaits;
	unsigned int open; /* lower fabrics and queues that are open */
	struct crn_eq eq;  /* the lower provider's */
	struct crn_lower_fabric fabric;
};

/* The table is the layer's. FI_PROVIDER is not set. A world that is open is closed
 * first. */
void lower_world_open(struct lower_world *w, const struct crn_lower_row *table,
		      size_t rows);
/* Nothing if it is not open. */
void lower_world_close(struct lower_world *w);

/* A lower provider with one fabric and a domain "dom". */
struct lower_prov *lower_add(struct lower_world *w, const char *name, const char *fabric);

/* fi_getinfo of the layer with that prov_name in the hints; NULL: without hints. */
int lower_getinfo(struct lower_world *w, const char *prov_name, struct fi_info **info);
/* Does it answer? */
int lower_answers(struct lower_world *w, const char *prov_name);

/* FI_PROVIDER; NULL: not set. */
void lower_filter(const char *value);

/* The layer's fabric "fab" over "tcp", which the program chose. */
void lower_fabric(struct lower_world *w);

/* An endpoint of the layer over one of the lower provider's. */
struct lower_pair {
	struct fid fid; /* the layer's */
	struct crn_lower_obj obj;
	struct lower_object lower;
};

void lower_pair_init(struct lower_pair *pair, size_t fclass);
struct crn_lower_eq *lower_eq_open(struct lower_world *w, enum fi_wait_obj wait_obj);

/* The lower provider reports a connection event with so many bytes of data. */
void lower_event(struct lower_world *w, uint32_t event, struct lower_pair *about,
		 struct fi_info *info, const void *data, size_t len);
/* Reads one from the layer's queue: what fi_eq_read returned. */
ssize_t lower_read(struct crn_lower_eq *eq, uint32_t *event, struct fi_eq_cm_entry *entry,
		   size_t size);

#endif
