/* SPDX-License-Identifier: BSD-2-Clause */
/* The persistent memory that peers may ask to be made durable. */
#include <cairn/pmem.h>
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"

int pvb_pmem_region_add(struct pvb_control *control, struct pvb_pmem_region *region)
{
	const struct fi_domain_attr *attr = control->domain->info->domain_attr;
	int ret = 0;

	pthread_mutex_lock(&control->lock);
	/* From now on peers may need this side's processor. */
	if (attr->data_progress != FI_PROGRESS_MANUAL)
		ret = pvb_control_thread_start(control);
	if (!ret)
		crn_list_add_tail(&control->regions, &region->entry);
	pthread_mutex_unlock(&control->lock);
	return ret;
}

void pvb_pmem_region_del(struct pvb_control *control, struct pvb_pmem_region *region)
{
	struct crn_list *entry;

	pthread_mutex_lock(&control->lock);
	crn_list_del(&region->entry);
	crn_list_for_each (entry, &control->control_qps)
		pvb_received_forget(crn_container_of(entry, struct pvb_control_qp, entry),
				    region);
	while (region->users)
		pthread_cond_wait(&control->ended, &control->lock);
	pthread_mutex_unlock(&control->lock);
}

void pvb_pmem_region_get(struct pvb_pmem_region *region)
{
	region->users++;
}

void pvb_pmem_region_put(struct pvb_control *control, struct pvb_pmem_region *region)
{
	crn_mutex_assert_held(&control->lock);
	if (!--region->users)
		pthread_cond_broadcast(&control->ended);
}

struct pvb_pmem_region *pvb_pmem_region_find(struct pvb_control *control,
					     const struct pvb_wire_range *range)
{
	struct pvb_pmem_region *region;
	const struct crn_list *entry;
	uint64_t from;

	crn_mutex_assert_held(&control->lock);
	crn_list_for_each (entry, &control->regions) {
		region = crn_container_of(entry, struct pvb_pmem_region, entry);
		from = range->addr - region->addr;
		if (region->rkey == range->rkey && region->write && from <= region->len &&
		    range->len <= region->len - from)
			return region;
	}
	return NULL;
}

struct pvb_pmem_region *pvb_pmem_region_containing(struct pvb_control *control,
						   uint64_t addr, uint64_t len)
{
	struct pvb_pmem_region *region;
	const struct crn_list *entry;
	uint64_t from;

	crn_mutex_assert_held(&control->lock);
	crn_list_for_each (entry, &control->regions) {
		region = crn_container_of(entry, struct pvb_pmem_region, entry);
		from = addr - region->addr;
		if (from <= region->len && len <= region->len - from)
			return region;
	}
	return NULL;
}

void pvb_pmem_region_flush(const struct pvb_pmem_region *region, uint64_t addr,
			   uint64_t len)
{
	if (region->flush)
		crn_pmem_flush((const void *)(uintptr_t)addr, len);
}
