/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of groups: their queue, and their records. */
#include "internal.h"

#define RECORD_MEMBER (PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE)
/* Specification 15.2.5.17.2: what creates a group, and the MTU and hop limit of the link
 * (draft section 8). */
#define RECORD_CREATES                                                              \
	(RECORD_MEMBER | PVB_MCM_HAS_QKEY | PVB_MCM_HAS_TCLASS | PVB_MCM_HAS_PKEY | \
	 PVB_MCM_HAS_SL | PVB_MCM_HAS_FLOW_LABEL | PVB_MCM_HAS_HOP_LIMIT |          \
	 PVB_MCM_HAS_MTU_SELECTOR | PVB_MCM_HAS_MTU)
#define RECORD_HAS_RATE (PVB_MCM_HAS_RATE_SELECTOR | PVB_MCM_HAS_RATE)

static const struct {
	uint8_t method;
	uint64_t mask;
} kinds[] = {
	[PVB_GROUP_LOOK] = {PVB_SA_GET, PVB_MCM_HAS_MGID},
	[PVB_GROUP_CHECK] = {PVB_SA_GET, PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID},
	[PVB_GROUP_JOIN] = {PVB_SA_SET, RECORD_MEMBER},
	[PVB_GROUP_CREATE] = {PVB_SA_SET, RECORD_CREATES},
	[PVB_GROUP_LEAVE] = {PVB_SA_DELETE, RECORD_MEMBER},
};

static void set_window(struct pvb_groups *groups, const struct pvb_sa_answer *answer)
{
	if (answer->err != -FI_ETIMEDOUT) {
		groups->window = CRN_MIN(2 * groups->window, PVB_GROUPS_WINDOW);
		return;
	}
	groups->window = 1;
	groups->unanswered++;
}

static void answered(void *arg, const struct pvb_sa_answer *answer)
{
	struct pvb_group_ask *ask = arg;
	struct pvb_groups *groups = ask->group->groups;
	const enum pvb_group_kind kind = ask->kind;

	groups->now_ms = answer->now_ms;
	crn_list_del(&ask->entry);
	groups->outstanding--;
	ask->outstanding = false;
	ask->kind = PVB_GROUP_NOTHING;
	set_window(groups, answer);
	if (!answer->err)
		groups->heard_ms = answer->now_ms;
	if (answer->err == -FI_ECANCELED)
		pvb_groups_die(groups);
	if (!ask->stale && !groups->dead)
		pvb_group_answered(ask, kind, answer);
	ask->stale = false;
	pvb_group_step(ask->group);
	pvb_groups_run(groups);
}

/* With the attributes of the link. */
static uint64_t fill_created(const struct pvb_groups *groups, struct pvb_mcm *mcm)
{
	const struct pvb_mcm *like = &groups->link->group;

	mcm->qkey = like->qkey;
	mcm->tclass = like->tclass;
	mcm->pkey = like->pkey;
	mcm->sl = like->sl;
	mcm->flow_label = like->flow_label;
	mcm->hop_limit = like->hop_limit;
	mcm->mtu = like->mtu;
	mcm->rate = like->rate;
	mcm->mtu_selector = mcm->rate_selector = PVB_SA_EXACTLY;
	/* Without one the administrator chooses what all ports can. */
	return like->rate ? RECORD_HAS_RATE : 0;
}

static int send_ask(struct pvb_group *group, enum pvb_group_kind kind, uint8_t state,
		    uint32_t tries, pvb_sa_done *done, void *arg)
{
	struct pvb_groups *groups = group->groups;
	struct pvb_mcm mcm = {.join_state = state};
	uint8_t record[PVB_MCM_SIZE];
	struct pvb_sa_request request = {.method = kinds[kind].method,
					 .attr = PVB_SA_MCMEMBER_RECORD,
					 .comp_mask = kinds[kind].mask,
					 .data = record,
					 .len = sizeof(record),
					 .wait_ms = groups->config.wait_ms,
					 .tries = tries,
					 .done = done,
					 .arg = arg};

	memcpy(mcm.mgid, group->mgid, sizeof(mcm.mgid));
	memcpy(mcm.port_gid, groups->config.port_gid, sizeof(mcm.port_gid));
	if (kind == PVB_GROUP_CREATE)
		request.comp_mask |= fill_created(groups, &mcm);
	pvb_mcm_pack(record, &mcm);
	return pvb_sa_ask(groups->link->client, &request, groups->now_ms);
}

/* From now on its answer may be any. */
static void sent(struct pvb_group_ask *ask)
{
	struct pvb_group *group = ask->group;

	crn_list_del(&ask->entry);
	crn_list_add_tail(&group->groups->asked, &ask->entry);
	group->groups->outstanding++;
	ask->outstanding = true;
	if (ask->kind == PVB_GROUP_LOOK)
		group->again = false;
	else if (ask->kind == PVB_GROUP_CHECK)
		group->verify = false;
	else if (ask->kind == PVB_GROUP_LEAVE)
		group->have &= (uint8_t)~ask->state;
	else
		group->ours |= ask->state & (uint8_t)~group->others;
}

void pvb_groups_pump(struct pvb_groups *groups)
{
	struct pvb_group_ask *ask;
	int ret;

	while (!groups->dead && groups->outstanding < groups->window &&
	       !crn_list_empty(&groups->queue)) {
		ask = crn_container_of(groups->queue.next, struct pvb_group_ask, entry);
		ret = send_ask(ask->group, ask->kind, ask->state, groups->config.tries,
			       answered, ask);
		if (ret == -FI_EAGAIN)
			return;
		if (ret)
			pvb_groups_die(groups);
		else
			sent(ask);
	}
}

void pvb_group_ask(struct pvb_group_ask *ask, enum pvb_group_kind kind, uint8_t state)
{
	struct crn_list *queue = &ask->group->groups->queue;

	if (ask->outstanding)
		return;
	if (kind == PVB_GROUP_NOTHING)
		crn_list_del(&ask->entry);
	else if (ask->kind == PVB_GROUP_NOTHING)
		crn_list_add_tail(queue, &ask->entry);
	ask->kind = kind;
	ask->state = state;
}

static void left(void *arg, const struct pvb_sa_answer *answer)
{
}

void pvb_group_leave_now(struct pvb_group *group)
{
	if (group->ours)
		send_ask(group, PVB_GROUP_LEAVE, group->ours, 1, left, NULL);
}
