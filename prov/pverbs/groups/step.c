/* SPDX-License-Identifier: BSD-2-Clause */
/* What is to be asked next for a group, which its fields say. */
#include "internal.h"

/* Without receivers the port sends as a member that keeps no group alive
 * (specification 15.2.5.17.2). */
static uint8_t wanted(const struct pvb_group *group)
{
	if (group->receivers)
		return PVB_MCM_FULL;
	return pvb_group_sent_to(group) ? PVB_MCM_SEND_ONLY_NON_MEMBER : 0;
}

static uint8_t allowed(const struct pvb_group *group)
{
	if (group->known == PVB_GROUP_UNUSABLE)
		return 0;
	return (group->receivers ? PVB_MCM_FULL : 0) |
	       (pvb_group_sent_to(group) ? PVB_MCM_SEND_ONLY_NON_MEMBER : 0);
}

static bool rests(const struct pvb_group *group)
{
	return !pvb_group_used(group) || group->delayed || group->err;
}

static bool changes(const struct pvb_group_ask *member)
{
	return member->outstanding && member->kind != PVB_GROUP_CHECK;
}

static enum pvb_group_kind next_look(const struct pvb_group *group)
{
	if (rests(group) || changes(&group->member))
		return PVB_GROUP_NOTHING;
	return group->known == PVB_GROUP_UNKNOWN || group->again ? PVB_GROUP_LOOK
								 : PVB_GROUP_NOTHING;
}

static bool looks(const struct pvb_group *group)
{
	return group->look.kind != PVB_GROUP_NOTHING;
}

/* Is the port a member already (draft section 8)? What we have asked for before is ours,
 * whoever else has. Of an absent group nobody is. Where states are not told it can be
 * seen only while we are none: who sends and begins to receive leaves as a sender before.
 */
static bool needs_check(const struct pvb_group *group)
{
	return group->known == PVB_GROUP_PRESENT && !looks(group) &&
	       (group->verify || (!group->checked && wanted(group) & ~group->ours));
}

static enum pvb_group_kind next_member(const struct pvb_group *group, uint8_t *state)
{
	*state = group->ours & (uint8_t)~allowed(group);
	if (*state)
		return PVB_GROUP_LEAVE;
	if (rests(group))
		return PVB_GROUP_NOTHING;
	if (needs_check(group)) {
		*state = group->verify ? 0 : group->ours;
		return *state ? PVB_GROUP_LEAVE : PVB_GROUP_CHECK;
	}
	*state = wanted(group) & (uint8_t)~group->have;
	if (!*state || looks(group))
		return PVB_GROUP_NOTHING;
	if (group->known == PVB_GROUP_PRESENT)
		return PVB_GROUP_JOIN;
	return *state == PVB_MCM_FULL ? PVB_GROUP_CREATE : PVB_GROUP_NOTHING;
}

/* The membership is somebody else's, who may leave. */
static bool is_foreign(const struct pvb_group *group)
{
	return group->groups->config.check_ms &&
	       group->have & wanted(group) & ~group->ours;
}

/* Nobody reports it when the group comes or goes. */
static bool is_polled(const struct pvb_group *group)
{
	return group->groups->config.look_ms && !group->groups->subscribed &&
	       pvb_group_sent_to(group) && !(group->have & PVB_MCM_FULL);
}

/* All is as it should be; when is it looked at next? */
static void settled(struct pvb_group *group)
{
	const struct pvb_groups_config *config = &group->groups->config;
	uint32_t ms = UINT32_MAX;

	group->pause_ms = config->again_min_ms;
	group->refusals = 0;
	if (is_foreign(group))
		ms = config->check_ms;
	if (is_polled(group))
		ms = CRN_MIN(ms, config->look_ms);
	if (ms != UINT32_MAX && !crn_deadline_pending(&group->due))
		crn_deadline_add(&group->groups->deadlines, &group->due,
				 group->groups->now_ms + ms);
}

void pvb_group_step(struct pvb_group *group)
{
	enum pvb_group_kind kind;
	uint8_t state;

	if (!group->groups->dead) {
		pvb_group_ask(&group->look, next_look(group), 0);
		kind = next_member(group, &state);
		pvb_group_ask(&group->member, kind, state);
	}
	if (looks(group) || group->member.kind != PVB_GROUP_NOTHING)
		;
	else if (!pvb_group_used(group)) {
		pvb_group_free(group);
		return;
	} else if (!rests(group))
		settled(group);
	pvb_group_mark(group);
}

void pvb_group_retry(struct pvb_group *group)
{
	crn_deadline_remove(&group->groups->deadlines, &group->due);
	group->err = 0;
	group->delayed = false;
	if (group->known == PVB_GROUP_UNUSABLE)
		group->known = PVB_GROUP_UNKNOWN;
}

void pvb_group_due(struct crn_deadline *deadline)
{
	struct pvb_group *group = crn_container_of(deadline, struct pvb_group, due);

	group->verify |= is_foreign(group);
	group->again |= is_polled(group);
	if (rests(group))
		pvb_group_retry(group);
	pvb_group_step(group);
}
