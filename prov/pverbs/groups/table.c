/* SPDX-License-Identifier: BSD-2-Clause */
/* The groups by their MGIDs. */
#include <stdlib.h>
#include <cairn/av.h>
#include "internal.h"

#define BUCKETS_MIN 16u

static struct pvb_group **bucket(const struct pvb_groups *groups, const uint8_t mgid[16])
{
	return &groups->buckets[crn_av_hash(CRN_AV_HASH, mgid, 16) &
				(groups->bucket_count - 1)];
}

static void link_group(struct pvb_groups *groups, struct pvb_group *group)
{
	struct pvb_group **first = bucket(groups, group->mgid);

	group->next = *first;
	*first = group;
}

/* As many buckets as groups. */
static int grow(struct pvb_groups *groups)
{
	const uint32_t count =
		groups->bucket_count ? 2 * groups->bucket_count : BUCKETS_MIN;
	struct pvb_group **buckets;
	struct crn_list *entry;

	if (groups->count < groups->bucket_count)
		return 0;
	buckets = calloc(count, sizeof(struct pvb_group *));
	if (!buckets)
		return -FI_ENOMEM;
	free(groups->buckets);
	groups->buckets = buckets;
	groups->bucket_count = count;
	crn_list_for_each (entry, &groups->all)
		link_group(groups, crn_container_of(entry, struct pvb_group, entry));
	return 0;
}

static void init_ask(struct pvb_group_ask *ask, struct pvb_group *group)
{
	crn_list_init(&ask->entry);
	ask->group = group;
}

static struct pvb_group *new_group(struct pvb_groups *groups, const uint8_t mgid[16],
				   unsigned int family)
{
	struct pvb_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->groups = groups;
	memcpy(group->mgid, mgid, sizeof(group->mgid));
	group->family = family;
	group->pause_ms = groups->config.again_min_ms;
	group->due.expired = pvb_group_due;
	crn_list_init(&group->users);
	init_ask(&group->look, group);
	init_ask(&group->member, group);
	crn_list_add_tail(&groups->all, &group->entry);
	return group;
}

struct pvb_group *pvb_group_find(const struct pvb_groups *groups, const uint8_t mgid[16])
{
	struct pvb_group *group = groups->bucket_count ? *bucket(groups, mgid) : NULL;

	while (group && memcmp(group->mgid, mgid, sizeof(group->mgid)) != 0)
		group = group->next;
	return group;
}

struct pvb_group *pvb_group_get(struct pvb_groups *groups, const uint8_t mgid[16],
				unsigned int family, bool *full)
{
	struct pvb_group *group = pvb_group_find(groups, mgid);

	*full = !group && groups->count >= PVB_GROUPS_MAX;
	if (group || *full || grow(groups))
		return group;
	group = new_group(groups, mgid, family);
	if (!group)
		return NULL;
	link_group(groups, group);
	groups->count++;
	return group;
}

void pvb_group_free(struct pvb_group *group)
{
	struct pvb_groups *groups = group->groups;
	struct pvb_group **at = bucket(groups, group->mgid);

	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
	groups->count--;
	crn_list_del(&group->entry);
	crn_deadline_remove(&groups->deadlines, &group->due);
	free(group);
}
