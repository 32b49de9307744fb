/* SPDX-License-Identifier: BSD-2-Clause */
/* The persistent memory that peers may ask to be made durable. */
#include <libpmem.h>
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"

int pvb_target_add(struct pvb_control *control, struct pvb_target *target)
{
	const struct fi_domain_attr *attr = control->domain->info->domain_attr;
	int ret = 0;

	pthread_mutex_lock(&control->lock);
	/* From now on peers may need this side's processor. */
	if (attr->data_progress != FI_PROGRESS_MANUAL)
		ret = pvb_control_thread_start(control);
	if (!ret)
		crn_list_add_tail(&control->targets, &target->entry);
	pthread_mutex_unlock(&control->lock);
	return ret;
}

void pvb_target_del(struct pvb_control *control, struct pvb_target *target)
{
	struct crn_list *entry;

	pthread_mutex_lock(&control->lock);
	crn_list_del(&target->entry);
	crn_list_for_each (entry, &control->lanes)
		pvb_received_forget(crn_container_of(entry, struct pvb_lane, entry),
				    target);
	while (target->users)
		pthread_cond_wait(&control->ended, &control->lock);
	pthread_mutex_unlock(&control->lock);
}

void pvb_target_hold(struct pvb_target *target)
{
	target->users++;
}

void pvb_target_let_go(struct pvb_control *control, struct pvb_target *target)
{
	if (!--target->users)
		pthread_cond_broadcast(&control->ended);
}

struct pvb_target *pvb_target_find(struct pvb_control *control,
				   const struct pvb_wire_range *range)
{
	struct pvb_target *target;
	const struct crn_list *entry;
	uint64_t from;

	crn_list_for_each (entry, &control->targets) {
		target = crn_container_of(entry, struct pvb_target, entry);
		from = range->addr - target->addr;
		if (target->rkey == range->rkey && target->write && from <= target->len &&
		    range->len <= target->len - from)
			return target;
	}
	return NULL;
}

struct pvb_target *pvb_target_holding(struct pvb_control *control, uint64_t addr,
				      uint64_t len)
{
	struct pvb_target *target;
	const struct crn_list *entry;
	uint64_t from;

	crn_list_for_each (entry, &control->targets) {
		target = crn_container_of(entry, struct pvb_target, entry);
		from = addr - target->addr;
		if (from <= target->len && len <= target->len - from)
			return target;
	}
	return NULL;
}

/* Caches that a power failure does not spare are written back whatever libpmem thinks of
 * this processor. */
void pvb_target_flush(const struct pvb_target *target, uint64_t addr, uint64_t len)
{
	if (target->flush)
		pmem_deep_flush((const void *)(uintptr_t)addr, len);
}
