/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "label.h"

#define RTE_LABELS_LEAST 64u

void rte_labels_free(struct rte_labels *labels)
{
	free(labels->label);
	free(labels->first);
	free(labels->stale);
}

int rte_labels_fit(struct rte_labels *labels, uint32_t nodes)
{
	uint32_t *first = realloc(labels->first, (nodes + 1) * sizeof(*first));
	bool *stale;

	if (!first)
		return -FI_ENOMEM;
	labels->first = first;
	stale = realloc(labels->stale, (nodes + 1) * sizeof(*stale));
	if (!stale)
		return -FI_ENOMEM;
	labels->stale = stale;
	for (; labels->nodes < nodes; labels->nodes++) {
		first[labels->nodes] = RTE_NONE;
		stale[labels->nodes] = false;
	}
	return 0;
}

void rte_labels_clear(struct rte_labels *labels)
{
	uint32_t i;

	labels->labels = 0;
	labels->free = RTE_NONE;
	labels->dead = RTE_NONE;
	for (i = 0; i < labels->nodes; i++)
		labels->first[i] = RTE_NONE;
}

/* Most routers have one each. */
static uint32_t label_new(struct rte_labels *labels)
{
	const uint32_t size = CRN_MAX(labels->size * 2, labels->nodes + RTE_LABELS_LEAST);
	const uint32_t at = labels->free;
	struct rte_label *grown;

	if (at != RTE_NONE) {
		labels->free = labels->label[at].next;
		return at;
	}
	if (labels->labels == labels->size) {
		grown = realloc(labels->label, size * sizeof(*grown));
		if (!grown)
			return RTE_NONE;
		labels->label = grown;
		labels->size = size;
	}
	return labels->labels++;
}

/* It becomes one of those that go on from its parent. */
static void label_join(struct rte_labels *labels, uint32_t at)
{
	struct rte_label *label = &labels->label[at];

	if (label->step.parent == RTE_NONE)
		return;
	label->sibling = labels->label[label->step.parent].child;
	labels->label[label->step.parent].child = at;
}

static void label_leave(struct rte_labels *labels, uint32_t at)
{
	const struct rte_label *label = &labels->label[at];
	uint32_t *place;

	if (label->step.parent == RTE_NONE)
		return;
	place = &labels->label[label->step.parent].child;
	while (*place != at)
		place = &labels->label[*place].sibling;
	*place = label->sibling;
}

uint32_t rte_labels_add(struct rte_labels *labels, const struct rte_step *step)
{
	const uint32_t at = label_new(labels);
	struct rte_label *label;

	if (at == RTE_NONE)
		return RTE_NONE;
	label = &labels->label[at];
	label->step = *step;
	label->next = labels->first[step->node];
	label->child = RTE_NONE;
	label->sibling = RTE_NONE;
	label->dead = false;
	label->followed = false;
	labels->first[step->node] = at;
	label_join(labels, at);
	return at;
}

void rte_labels_move(struct rte_labels *labels, uint32_t at, const struct rte_step *step)
{
	label_leave(labels, at);
	labels->label[at].step = *step;
	label_join(labels, at);
}

/* With all that goes on from it, which is at most RTE_HOPS_MAX deep. */
static void label_kill(struct rte_labels *labels, uint32_t at)
{
	struct rte_label *label = &labels->label[at];
	uint32_t child, next, *place = &labels->first[label->step.node];

	for (child = label->child; child != RTE_NONE; child = next) {
		next = labels->label[child].sibling;
		label_kill(labels, child);
	}
	while (*place != at)
		place = &labels->label[*place].next;
	*place = label->next;
	labels->stale[label->step.node] = true;
	label->dead = true;
	label->next = labels->dead;
	labels->dead = at;
}

void rte_labels_remove(struct rte_labels *labels, uint32_t at)
{
	label_leave(labels, at);
	label_kill(labels, at);
}

void rte_labels_bury(struct rte_labels *labels)
{
	uint32_t at, next;

	for (at = labels->dead; at != RTE_NONE; at = next) {
		next = labels->label[at].next;
		labels->label[at].next = labels->free;
		labels->free = at;
	}
	labels->dead = RTE_NONE;
}
