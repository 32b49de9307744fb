/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What users are told. It follows from the fields of their groups and what they were told
 * before: what changes and changes back is not told.
 */
#include "internal.h"

/* Where a group is: nobody knows yet, nowhere, or at its MLID. */
#define WAY_UNKNOWN 0u
#define WAY_NOWHERE 1u

static uint32_t way_of(const struct pvb_group *group)
{
	switch (group->known) {
	case PVB_GROUP_UNKNOWN:
		return WAY_UNKNOWN;
	case PVB_GROUP_ABSENT:
		/* It is going to be created. */
		return group->receivers && !group->err ? WAY_UNKNOWN : WAY_NOWHERE;
	case PVB_GROUP_PRESENT:
		if (group->have)
			return group->record.mlid;
		return group->err ? WAY_NOWHERE : WAY_UNKNOWN;
	default:
		return WAY_NOWHERE;
	}
}

/* Of the all-router group of a family, instead of which nothing is waited for. */
static uint32_t way_of_router(const struct pvb_group *router)
{
	return router->err && router->known == PVB_GROUP_UNKNOWN ? WAY_NOWHERE
								 : way_of(router);
}

/* Draft section 8: to the group, else to the all-router group, else to nobody. false: it
 * is not known yet. */
static bool find_route(const struct pvb_group *group, struct pvb_group_route *route)
{
	const struct pvb_groups *groups = group->groups;
	const struct pvb_group *router = groups->router[group->family];
	const uint32_t own = way_of(group);
	const uint32_t there = router == group ? WAY_NOWHERE : way_of_router(router);
	const struct pvb_mcm *routers = there == WAY_NOWHERE ? NULL : &router->record;

	if (groups->dead || own == WAY_UNKNOWN)
		return false;
	if (own == WAY_NOWHERE) {
		route->to = routers;
		return there != WAY_UNKNOWN;
	}
	route->to = &group->record;
	if (!groups->config.copy)
		return true;
	route->copy = routers;
	return there != WAY_UNKNOWN;
}

static bool same_place(const struct pvb_mcm *a, const struct pvb_mcm *b)
{
	if (!b)
		return !a->mlid;
	return a->mlid == b->mlid && a->sl == b->sl && a->rate == b->rate &&
	       a->qkey == b->qkey && a->tclass == b->tclass &&
	       a->flow_label == b->flow_label && a->hop_limit == b->hop_limit &&
	       a->mtu == b->mtu && !memcmp(a->mgid, b->mgid, sizeof(a->mgid));
}

static bool same_route(const struct pvb_group_user *user,
		       const struct pvb_group_route *route)
{
	return user->routed && same_place(&user->to, route->to) &&
	       same_place(&user->copy, route->copy);
}

/* Without one it has no MLID. */
static void keep_place(struct pvb_mcm *kept, const struct pvb_mcm *mcm)
{
	*kept = mcm ? *mcm : (struct pvb_mcm){0};
}

/* Who only sends can do so unless the group is there and cannot be used. */
static bool is_bad(const struct pvb_group *group)
{
	return group->groups->dead || group->known == PVB_GROUP_UNUSABLE ||
	       (group->known == PVB_GROUP_PRESENT && group->err && !group->have);
}

static bool is_joined(const struct pvb_group_user *user, bool known)
{
	if (user->recv)
		return pvb_group_receives(user->group) && (!user->send || user->routed);
	return known && !is_bad(user->group);
}

static bool is_lost(const struct pvb_group_user *user)
{
	return user->recv ? !pvb_group_receives(user->group) : is_bad(user->group);
}

static void mark(struct pvb_groups *groups, struct pvb_group_user *user)
{
	if (crn_list_empty(&user->news))
		crn_list_add_tail(&groups->news, &user->news);
}

static void tell_failed(struct pvb_groups *groups, struct pvb_group_user *user)
{
	const int err = user->expired ? -FI_ETIMEDOUT : user->group->err;
	const uint16_t status = user->expired ? 0 : user->group->status;

	pvb_user_remove(user);
	groups->config.calls->failed(groups->config.arg, user, err, status);
}

static void tell_route(struct pvb_groups *groups, struct pvb_group_user *user,
		       const struct pvb_group_route *route)
{
	struct pvb_mcm to, copy;
	struct pvb_group_route told = {.to = route->to ? &to : NULL,
				       .copy = route->copy ? &copy : NULL};

	user->routed = true;
	keep_place(&user->to, route->to);
	keep_place(&user->copy, route->copy);
	to = user->to;
	copy = user->copy;
	mark(groups, user);
	groups->config.calls->route(groups->config.arg, user, &told);
}

static void tell_lost(struct pvb_groups *groups, struct pvb_group_user *user)
{
	const struct pvb_group *group = user->group;

	user->told_joined = false;
	mark(groups, user);
	groups->config.calls->lost(groups->config.arg, user,
				   group->err ? group->err : -FI_ECONNRESET,
				   group->err ? group->status : 0);
}

static void tell_joined(struct pvb_groups *groups, struct pvb_group_user *user)
{
	const struct pvb_mcm record = user->group->record;

	user->told_joined = user->was_joined = true;
	crn_deadline_remove(&groups->deadlines, &user->deadline);
	mark(groups, user);
	groups->config.calls->joined(groups->config.arg, user,
				     user->recv ? &record : NULL);
}

/* At most one thing: within the call anything may happen, so it has copies of what may go
 * with the group. */
static void tell(struct pvb_groups *groups, struct pvb_group_user *user)
{
	struct pvb_group_route route = {0};
	const bool known = user->send && find_route(user->group, &route);
	const bool fits = known && same_route(user, &route);

	if (!user->was_joined && (user->expired || user->group->err) &&
	    !is_joined(user, fits))
		tell_failed(groups, user);
	else if (known && !fits)
		tell_route(groups, user, &route);
	else if (user->told_joined && is_lost(user))
		tell_lost(groups, user);
	else if (!user->told_joined && is_joined(user, fits))
		tell_joined(groups, user);
}

void pvb_groups_run(struct pvb_groups *groups)
{
	struct crn_list *entry;
	bool open = true;

	/* The one that runs goes on. */
	if (groups->telling)
		return;
	groups->telling = &open;
	for (;;) {
		pvb_groups_pump(groups);
		entry = crn_list_pop(&groups->news);
		if (!entry)
			break;
		tell(groups, crn_container_of(entry, struct pvb_group_user, news));
		if (!open)
			return;
	}
	groups->telling = NULL;
}

static void mark_users(struct pvb_group *group)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &group->users)
		mark(group->groups,
		     crn_container_of(entry, struct pvb_group_user, entry));
}

static void mark_family(const struct pvb_group *router)
{
	struct pvb_group *group;
	struct crn_list *entry;

	crn_list_for_each (entry, &router->groups->all) {
		group = crn_container_of(entry, struct pvb_group, entry);
		if (group->senders && group->family == router->family)
			mark_users(group);
	}
}

void pvb_group_mark(struct pvb_group *group)
{
	const uint32_t way = way_of_router(group);

	mark_users(group);
	if (group->held && way != group->way)
		mark_family(group);
	group->way = way;
}

static bool is_asked(const struct pvb_group *group)
{
	return group->look.kind != PVB_GROUP_NOTHING ||
	       group->member.kind != PVB_GROUP_NOTHING;
}

/* Who waits for the answers of others is given time, while there are answers. */
void pvb_user_expired(struct crn_deadline *deadline)
{
	struct pvb_group_user *user =
		crn_container_of(deadline, struct pvb_group_user, deadline);
	const struct pvb_group *group = user->group;
	struct pvb_groups *groups = group->groups;
	const uint64_t at = groups->heard_ms + groups->config.join_ms;

	if (at > groups->now_ms &&
	    (is_asked(group) ||
	     (user->send && is_asked(groups->router[group->family])))) {
		crn_deadline_add(&groups->deadlines, deadline, at);
		return;
	}
	user->expired = true;
	mark(groups, user);
}
