/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memberships: shared, counted, and joined again when they are lost.
 *
 *   (asks) --JOIN--> member --ERROR--> (waits) --deadline--> (asks)
 *     |                                   ^
 *     +--ERROR, deadline: users that never were members fail; for the others
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "internal.h"
#include "linked.h"

/* ms between attempts to join again: twice as long each time. */
#define MC_PAUSE_MIN 100u
#define MC_PAUSE_MAX 10000u

void pvb_mcast_open(struct pvb_eq *eq)
{
	unsigned int i;

	for (i = 0; i < PVB_MC_GROUP_BUCKETS; i++)
		crn_list_init(&eq->mcs.groups[i]);
	crn_list_init(&eq->mcs.reports);
	crn_list_init(&eq->mcs.ports);
	eq->mcs.deadlines = (struct crn_deadlines){.set_to = UINT64_MAX, .fd = -1};
}

void pvb_mcast_close(struct pvb_eq *eq)
{
	if (eq->mcs.deadlines.fd >= 0)
		crn_deadlines_fini(&eq->mcs.deadlines);
}

/* A timer is made when it is first needed. */
int pvb_mc_timer(struct pvb_eq *eq)
{
	int ret;

	if (eq->mcs.deadlines.fd >= 0)
		return 0;
	ret = crn_deadlines_init(&eq->mcs.deadlines);
	if (!ret)
		ret = crn_wait_add_fd(&eq->eq.wait, eq->mcs.deadlines.fd);
	if (ret && eq->mcs.deadlines.fd >= 0)
		crn_deadlines_fini(&eq->mcs.deadlines);
	if (ret)
		eq->mcs.deadlines =
			(struct crn_deadlines){.set_to = UINT64_MAX, .fd = -1};
	return ret;
}

static struct pvb_mc *mc_user(struct crn_list *entry)
{
	return crn_container_of(entry, struct pvb_mc, entry);
}

static void mc_due(struct pvb_mc_group *group, uint64_t ms)
{
	crn_deadline_add(&group->eq->mcs.deadlines, &group->deadline, crn_now_ms() + ms);
}

static int mc_begin(struct pvb_mc_group *group)
{
	const int ret = pvb_mc_cm_begin(group);

	if (!ret)
		mc_due(group, (uint64_t)pvb_params.join_timeout);
	return ret;
}

/* Without users it ends, else a lost one is joined again after a while. */
static void mc_settle(struct pvb_mc_group *group)
{
	if (!crn_list_empty(&group->users)) {
		if (!group->id) {
			mc_due(group, group->pause);
			group->pause = CRN_MIN(2 * group->pause, (uint64_t)MC_PAUSE_MAX);
		}
		return;
	}
	crn_deadline_remove(&group->eq->mcs.deadlines, &group->deadline);
	pvb_mc_cm_end(group);
	crn_list_del(&group->entry);
	free(group);
}

static void mc_fail(struct pvb_mc *mc, int err, int status)
{
	crn_list_del(&mc->entry);
	mc->group = NULL;
	pvb_mc_fail(mc, err, status);
}

/* An attempt to join failed. */
static void mc_failed(struct pvb_mc_group *group, int status)
{
	const int err = pvb_mc_cm_error(status);
	struct crn_list *entry, *next;
	char text[PVB_MC_STRLEN];

	PVB_WARN(FI_LOG_EP_CTRL, "%s: joining group %s failed: %s\n",
		 pvb_domain_device(group->domain), pvb_mc_text(&group->name, text),
		 fi_strerror(err));
	pvb_mc_cm_end(group);
	crn_list_for_each_safe (entry, next, &group->users) {
		if (!mc_user(entry)->was_joined)
			mc_fail(mc_user(entry), err, status);
	}
	mc_settle(group);
}

static void mc_on_deadline(struct crn_deadline *deadline)
{
	struct pvb_mc_group *group =
		crn_container_of(deadline, struct pvb_mc_group, deadline);
	int ret;

	if (group->id) {
		mc_failed(group, -ETIMEDOUT);
		return;
	}
	ret = mc_begin(group);
	if (ret)
		mc_failed(group, ret);
}

/* The user of a membership that stands can use it. */
static void mc_join_user(struct pvb_mc *mc)
{
	const int err = mc->failed ? 0 : pvb_mc_up(mc);

	if (err) {
		mc_fail(mc, err, 0);
		return;
	}
	mc->was_joined = true;
	pvb_mc_joined(mc, PVB_MC_BY_CM);
}

static void mc_on_join(struct pvb_mc_group *group, const struct pvb_cm_event *event)
{
	struct crn_list *entry, *next;

	if (group->member)
		return;
	group->member = true;
	group->ah = event->group;
	group->qkey = event->group_qkey;
	group->pause = MC_PAUSE_MIN;
	crn_deadline_remove(&group->eq->mcs.deadlines, &group->deadline);
	crn_list_for_each_safe (entry, next, &group->users)
		mc_join_user(mc_user(entry));
	mc_settle(group);
}

/* The port or subnet administration went: nothing arrives, and nothing can be sent. */
static void mc_lost(struct pvb_mc_group *group, int status)
{
	struct crn_list *entry;
	char text[PVB_MC_STRLEN];

	PVB_WARN(FI_LOG_EP_CTRL,
		 "%s: the membership of group %s is lost (%s); it is joined again\n",
		 pvb_domain_device(group->domain), pvb_mc_text(&group->name, text),
		 fi_strerror(pvb_mc_cm_error(status)));
	group->member = false;
	pvb_mc_cm_end(group);
	crn_list_for_each (entry, &group->users) {
		pvb_mc_down(mc_user(entry));
		pvb_mc_lost(mc_user(entry), PVB_MC_BY_CM, FI_ECONNRESET, status);
	}
	mc_settle(group);
}

/* The device is going, and waits for the id. */
static void mc_gone(struct pvb_mc_group *group, int status)
{
	struct crn_list *entry, *next;

	crn_list_for_each_safe (entry, next, &group->users)
		mc_fail(mc_user(entry), FI_ENODEV, status);
	mc_settle(group);
}

void pvb_mcast_event(struct fid *fid, const struct pvb_cm_event *event)
{
	struct pvb_mc_group *group = crn_container_of(fid, struct pvb_mc_group, fid);

	crn_mutex_assert_held(&group->eq->cm_lock);
	switch (event->type) {
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		mc_on_join(group, event);
		break;
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		if (group->member)
			mc_lost(group, event->status);
		else
			mc_failed(group, event->status);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		if (group->member)
			mc_lost(group, -ENETRESET);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		mc_gone(group, event->status);
		break;
	default:
		break;
	}
}

void pvb_mcast_progress(struct pvb_eq *eq)
{
	struct crn_list *entry;

	crn_mutex_assert_held(&eq->cm_lock);
	crn_list_for_each (entry, &eq->mcs.ports)
		pvb_mc_port_progress(crn_container_of(entry, struct pvb_mc_port, entry));
	crn_deadlines_run(&eq->mcs.deadlines);
	pvb_mc_reports_flush(eq);
}

/* A name has no holes: names are compared as bytes. */
static struct crn_list *mc_bucket(struct pvb_eq *eq, const struct pvb_mc_name *name)
{
	return &eq->mcs.groups[crn_av_hash(CRN_AV_HASH, name, sizeof(*name)) &
			       (PVB_MC_GROUP_BUCKETS - 1)];
}

static struct pvb_mc_group *mc_find(const struct pvb_mc *mc,
				    const struct pvb_mc_name *name)
{
	struct pvb_eq *eq = mc->ep->eq;
	struct pvb_mc_group *group;
	struct crn_list *entry;

	crn_list_for_each (entry, mc_bucket(eq, name)) {
		group = crn_container_of(entry, struct pvb_mc_group, entry);
		if (group->domain == mc->ep->domain && group->send_only == !mc->recv &&
		    !memcmp(&group->name, name, sizeof(*name)))
			return group;
	}
	return NULL;
}

static struct pvb_mc_group *mc_new(const struct pvb_mc *mc,
				   const struct pvb_mc_name *name)
{
	struct pvb_mc_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->fid.fclass = PVB_CLASS_MC_GROUP;
	group->eq = mc->ep->eq;
	group->domain = mc->ep->domain;
	group->name = *name;
	group->send_only = !mc->recv;
	group->deadline.expired = mc_on_deadline;
	group->pause = MC_PAUSE_MIN;
	crn_list_init(&group->users);
	return group;
}

/* The first user's. */
static int mc_create(struct pvb_mc *mc, const struct pvb_mc_name *name)
{
	struct pvb_eq *eq = mc->ep->eq;
	struct pvb_mc_group *group;
	int ret = pvb_mc_timer(eq);

	if (ret)
		return ret;
	group = mc_new(mc, name);
	if (!group)
		return -FI_ENOMEM;
	ret = mc_begin(group);
	if (ret) {
		free(group);
		return ret;
	}
	crn_list_add_tail(mc_bucket(eq, name), &group->entry);
	crn_list_add_tail(&group->users, &mc->entry);
	mc->group = group;
	return 0;
}

int pvb_mc_group_get(struct pvb_mc *mc, const struct pvb_mc_name *name)
{
	struct pvb_mc_group *group = mc_find(mc, name);

	crn_mutex_assert_held(&mc->ep->eq->cm_lock);
	if (!group)
		return mc_create(mc, name);
	crn_list_add_tail(&group->users, &mc->entry);
	mc->group = group;
	if (group->member)
		mc_join_user(mc);
	return 0;
}

void pvb_mc_group_put(struct pvb_mc *mc)
{
	struct pvb_mc_group *group = mc->group;

	crn_mutex_assert_held(&mc->ep->eq->cm_lock);
	pvb_mc_down(mc);
	if (!group)
		return;
	crn_list_del(&mc->entry);
	mc->group = NULL;
	if (crn_list_empty(&group->users))
		mc_settle(group);
}
