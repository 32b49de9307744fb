/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdlib.h>
#include <cairn/av.h>
#include "internal.h"

#define PARTITION 0x7fff
/* Until a place at the client is looked for again, which others have. */
#define ROOM_MS 10

static struct pvb_group *group_at(struct crn_list *entry)
{
	return crn_container_of(entry, struct pvb_group, entry);
}

int pvb_groups_open(struct pvb_groups *groups, const struct pvb_link *link,
		    const struct pvb_groups_config *config)
{
	if (!link->mtu || !config->tries || !config->calls)
		return -FI_EINVAL;
	*groups = (struct pvb_groups){.link = link,
				      .config = *config,
				      .window = PVB_GROUPS_WINDOW};
	groups->config.again_min_ms = CRN_MAX(config->again_min_ms, 1u);
	groups->config.again_max_ms =
		CRN_MAX(config->again_max_ms, groups->config.again_min_ms);
	crn_list_init(&groups->all);
	crn_list_init(&groups->queue);
	crn_list_init(&groups->asked);
	crn_list_init(&groups->news);
	crn_deadlines_init_untimed(&groups->deadlines);
	return 0;
}

/* The all-router group of a family, which is looked for while somebody sends. */
static int hold_router(struct pvb_groups *groups, unsigned int family)
{
	const struct in_addr all4 = {htonl(0xe0000002)};
	const struct in6_addr all6 = {{{0xff, 2, [15] = 2}}};
	const struct pvb_mc_link *map = &groups->link->map;
	struct pvb_group *router = groups->router[family];
	uint8_t mgid[16];
	bool full;
	int ret;

	if (!router) {
		ret = family ? pvb_mc_map6(map, &all6, mgid)
			     : pvb_mc_map4(map, all4, mgid);
		if (ret)
			return ret;
		router = pvb_group_get(groups, mgid, family, &full);
		if (!router)
			return full ? -FI_ENOSPC : -FI_ENOMEM;
		groups->router[family] = router;
	}
	if (!router->held++) {
		router->checked = false;
		pvb_group_step(router);
	}
	return 0;
}

/* It is stepped only when it is another one than the group whose user has gone. */
static void release_router(struct pvb_group *group)
{
	struct pvb_group **router = &group->groups->router[group->family], *old = *router;

	if (--old->held)
		return;
	*router = NULL;
	if (old != group)
		pvb_group_step(old);
}

void pvb_user_remove(struct pvb_group_user *user)
{
	struct pvb_group *group = user->group;

	crn_list_del(&user->entry);
	crn_list_del(&user->news);
	crn_deadline_remove(&group->groups->deadlines, &user->deadline);
	user->group = NULL;
	group->receivers -= user->recv;
	group->senders -= user->send;
	if (user->send)
		release_router(group);
	pvb_group_step(group);
}

/* A group of this link (draft section 8), and its family. */
static int check_mgid(const struct pvb_link *link, const uint8_t mgid[16],
		      unsigned int *family)
{
	struct pvb_mc_addr addr;

	if (pvb_mc_unmap(mgid, &addr) || addr.scope != link->map.scope ||
	    (addr.pkey ^ link->map.pkey) & PARTITION)
		return -FI_EINVAL;
	*family = addr.family == AF_INET6;
	return 0;
}

static void add_user(struct pvb_group *group, struct pvb_group_user *user, bool recv,
		     bool send)
{
	struct pvb_groups *groups = group->groups;

	*user = (struct pvb_group_user){.group = group,
					.recv = recv,
					.send = send,
					.deadline.expired = pvb_user_expired};
	crn_list_init(&user->news);
	crn_list_add_tail(&group->users, &user->entry);
	/* Somebody else may have joined meanwhile. */
	if ((recv && !group->receivers) || (send && !group->senders))
		group->checked = false;
	group->receivers += recv;
	group->senders += send;
	if (groups->config.join_ms)
		crn_deadline_add(&groups->deadlines, &user->deadline,
				 groups->now_ms + groups->config.join_ms);
}

int pvb_groups_join(struct pvb_groups *groups, struct pvb_group_user *user,
		    const uint8_t mgid[16], bool recv, bool send, uint64_t now_ms)
{
	struct pvb_group *group;
	unsigned int family;
	bool full;
	int ret;

	if (!groups->link || (!recv && !send) || check_mgid(groups->link, mgid, &family))
		return -FI_EINVAL;
	if (groups->dead)
		return -FI_ECANCELED;
	groups->now_ms = now_ms;
	group = pvb_group_get(groups, mgid, family, &full);
	if (!group)
		return full ? -FI_ENOSPC : -FI_ENOMEM;
	ret = send ? hold_router(groups, family) : 0;
	if (!ret) {
		add_user(group, user, recv, send);
		if (group->err || group->delayed)
			pvb_group_retry(group);
		/* What is known may be old where nobody tells. */
		group->again |= !groups->subscribed && group->known != PVB_GROUP_UNKNOWN;
	}
	pvb_group_step(group);
	pvb_groups_run(groups);
	return ret;
}

void pvb_groups_leave(struct pvb_groups *groups, struct pvb_group_user *user,
		      uint64_t now_ms)
{
	if (!user->group)
		return;
	groups->now_ms = now_ms;
	pvb_user_remove(user);
	pvb_groups_run(groups);
}

/*
 * What was reported is a reason to look: reports are repeated, and come in any order. A
 * group that we are creating, or are in, has appeared to others.
 */
void pvb_groups_notice(struct pvb_groups *groups, const struct pvb_notice *notice,
		       uint64_t now_ms)
{
	const bool gone = notice->trap == PVB_TRAP_GROUP_DELETED;
	struct pvb_group *group;

	if (!groups->link || groups->dead ||
	    (!gone && notice->trap != PVB_TRAP_GROUP_CREATED))
		return;
	group = pvb_group_find(groups, notice->details + PVB_NOTICE_GID_AT);
	if (!group)
		return;
	if (!gone && (group->member.kind == PVB_GROUP_CREATE ||
		      (group->known == PVB_GROUP_PRESENT && group->have)))
		return;
	groups->now_ms = now_ms;
	group->again = true;
	group->verify |= gone;
	if (group->err || group->delayed)
		pvb_group_retry(group);
	pvb_group_step(group);
	pvb_groups_run(groups);
}

void pvb_groups_subscribed(struct pvb_groups *groups, uint64_t now_ms)
{
	struct crn_list *entry, *next;
	struct pvb_group *group;

	if (!groups->link || groups->dead)
		return;
	groups->now_ms = now_ms;
	groups->subscribed = true;
	crn_list_for_each_safe (entry, next, &groups->all) {
		group = group_at(entry);
		group->again |=
			!(group->have & PVB_MCM_FULL) &&
			(group->known != PVB_GROUP_UNKNOWN || group->look.outstanding);
		pvb_group_step(group);
	}
	pvb_groups_run(groups);
}

/* Ports that all notice it at once, and groups of a port, ask at other moments. */
static uint32_t spread(const struct pvb_group *group)
{
	const struct pvb_groups_config *config = &group->groups->config;
	const uint32_t hash = crn_av_hash(CRN_AV_HASH, config->port_gid, 16);

	return config->spread_ms ? crn_av_hash(hash, group->mgid, 16) % config->spread_ms
				 : 0;
}

static void forget_ask(struct pvb_group_ask *ask)
{
	ask->stale = ask->outstanding;
	pvb_group_ask(ask, PVB_GROUP_NOTHING, 0);
}

/* What was asked for may have reached the new manager: it stays ours, if anybody has to
 * leave it. */
static void begin_anew(struct pvb_group *group)
{
	struct pvb_groups *groups = group->groups;
	const uint32_t ms = spread(group);

	forget_ask(&group->look);
	forget_ask(&group->member);
	pvb_group_retry(group);
	group->known = PVB_GROUP_UNKNOWN;
	group->record.mlid = 0;
	group->have = group->others = 0;
	group->checked = group->verify = group->again = false;
	group->refused = 0;
	group->pause_ms = groups->config.again_min_ms;
	group->delayed = pvb_group_used(group) && ms;
	if (group->delayed)
		crn_deadline_add(&groups->deadlines, &group->due, groups->now_ms + ms);
	pvb_group_step(group);
}

void pvb_groups_restarted(struct pvb_groups *groups, uint64_t now_ms)
{
	struct crn_list *entry, *next;

	if (!groups->link || groups->dead)
		return;
	groups->now_ms = now_ms;
	groups->subscribed = false;
	crn_list_for_each_safe (entry, next, &groups->all)
		begin_anew(group_at(entry));
	pvb_groups_run(groups);
}

void pvb_groups_progress(struct pvb_groups *groups, uint64_t now_ms)
{
	if (!groups->link)
		return;
	groups->now_ms = now_ms;
	crn_deadlines_run_at(&groups->deadlines, now_ms);
	pvb_groups_run(groups);
}

static bool has_room(const struct pvb_groups *groups)
{
	return !crn_list_empty(&groups->queue) && groups->outstanding < groups->window;
}

int pvb_groups_timeout(const struct pvb_groups *groups, uint64_t now_ms)
{
	uint64_t first = UINT64_MAX;

	if (!groups->link)
		return -1;
	if (groups->deadlines.first)
		first = groups->deadlines.first->at;
	if (has_room(groups))
		first = CRN_MIN(first, now_ms + ROOM_MS);
	if (first == UINT64_MAX)
		return -1;
	if (first <= now_ms)
		return 0;
	return first - now_ms > INT_MAX ? INT_MAX : (int)(first - now_ms);
}

bool pvb_groups_idle(const struct pvb_groups *groups)
{
	return !groups->link ||
	       (crn_list_empty(&groups->queue) && crn_list_empty(&groups->asked));
}

static void forget_users(struct pvb_group *group)
{
	struct pvb_group_user *user;
	struct crn_list *entry;

	while ((entry = crn_list_pop(&group->users))) {
		user = crn_container_of(entry, struct pvb_group_user, entry);
		crn_list_del(&user->news);
		crn_deadline_remove(&group->groups->deadlines, &user->deadline);
		user->group = NULL;
	}
}

void pvb_groups_close(struct pvb_groups *groups, uint64_t now_ms)
{
	struct crn_list *entry, *next;

	if (!groups->link)
		return;
	groups->now_ms = now_ms;
	/* Requests that are outstanding have the places that leaving needs. */
	crn_list_for_each (entry, &groups->asked)
		pvb_sa_cancel(groups->link->client,
			      crn_container_of(entry, struct pvb_group_ask, entry));
	crn_list_for_each_safe (entry, next, &groups->all) {
		pvb_group_leave_now(group_at(entry));
		forget_users(group_at(entry));
		pvb_group_free(group_at(entry));
	}
	free(groups->buckets);
	groups->buckets = NULL;
	if (groups->telling)
		*groups->telling = false;
	groups->link = NULL;
}
