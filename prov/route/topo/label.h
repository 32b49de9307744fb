/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels: of each router the beginnings of routes that lead to it and may be the best
 * ones. They are a forest: who comes next over which subnet. Indices stay the same for as
 * long as a label is alive, and until rte_labels_bury.
 */
#ifndef RTE_TOPO_LABEL_H
#define RTE_TOPO_LABEL_H

#include "search.h"

struct rte_label {
	struct rte_step step; /* first: struct rte_steps */
	uint32_t next;	      /* of the same router; of those that are free or dead */
	uint32_t child;	      /* the first that goes on from here */
	uint32_t sibling;
	bool dead;
	bool followed; /* all that goes on from it was found */
};

struct rte_labels {
	struct rte_label *label;
	uint32_t labels;
	uint32_t size;
	uint32_t free;
	uint32_t dead;
	/* Of each router; both have room for as many as nodes says. */
	uint32_t *first;
	bool *stale; /* it has lost labels */
	uint32_t nodes;
};

static inline struct rte_steps rte_labels_steps(const struct rte_labels *labels)
{
	return (struct rte_steps){.base = (const char *)labels->label,
				  .each = sizeof(*labels->label)};
}

void rte_labels_free(struct rte_labels *labels);
/* Room for so many routers: 0 or -FI_ENOMEM. */
int rte_labels_fit(struct rte_labels *labels, uint32_t nodes);
/* None is left. */
void rte_labels_clear(struct rte_labels *labels);

/* Adds one. RTE_NONE: no memory. */
uint32_t rte_labels_add(struct rte_labels *labels, const struct rte_step *step);
/* In place of one from which nothing goes on. */
void rte_labels_move(struct rte_labels *labels, uint32_t at, const struct rte_step *step);
/* Removes it with all that goes on from it; their routers become stale. */
void rte_labels_remove(struct rte_labels *labels, uint32_t at);
/* Nobody has the index of a removed one any more. */
void rte_labels_bury(struct rte_labels *labels);

#endif
