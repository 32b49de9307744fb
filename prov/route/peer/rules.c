/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults: the rules, as they come and go. Pure. */
#include <string.h>
#include "fault.h"

void rte_faults_init(struct rte_faults *faults)
{
	memset(faults, 0, sizeof(*faults));
	crn_lock_init(&faults->lock, true);
}

uint32_t rte_faults_add(struct rte_faults *faults, const struct rte_fault *fault)
{
	struct rte_fault *mine = &faults->fault[faults->count];

	if (faults->count == RTE_FAULTS_MAX)
		return 0;
	*mine = *fault;
	mine->id = ++faults->next;
	mine->hits = 0;
	mine->random = fault->seed;
	faults->count++;
	return mine->id;
}

bool rte_faults_remove(struct rte_faults *faults, uint32_t id)
{
	struct rte_fault *fault = faults->fault;
	const uint32_t before = faults->count;
	uint32_t i;

	faults->count = 0;
	for (i = 0; i < before && id; i++)
		if (fault[i].id != id)
			fault[faults->count++] = fault[i];
	return !id || faults->count != before;
}
