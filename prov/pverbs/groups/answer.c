/* SPDX-License-Identifier: BSD-2-Clause */
/* What an answer says of a group. */
#include "internal.h"

#define PARTITION 0x7fff
/* Draft section 4, whose first one has a zero too many. */
#define MLID_MIN 0xc000
#define MLID_MAX 0xfffe
/* So often may a join be refused by a group that came or went in between. */
#define REFUSALS_MAX 3u
#define STATES 0xf

/* What the administrator does not check, and a group of the link has to be (draft
 * sections 6.2, 7 and 8). */
static int check_record(const struct pvb_link *link, const struct pvb_mcm *mcm)
{
	if ((mcm->pkey ^ link->group.pkey) & PARTITION || mcm->qkey != link->group.qkey ||
	    mcm->mlid < MLID_MIN || mcm->mlid > MLID_MAX || !pvb_link_mtu_valid(mcm->mtu))
		return -FI_EINVAL;
	if (mcm->mtu > link->config.port_mtu || pvb_link_mtu_bytes(mcm->mtu) < link->mtu)
		return -FI_EMSGSIZE;
	return 0;
}

static int unpack(const struct pvb_group *group, const struct pvb_sa_answer *answer,
		  struct pvb_mcm *mcm)
{
	return pvb_mcm_unpack(answer->data, answer->len, mcm) ||
			       memcmp(mcm->mgid, group->mgid, sizeof(mcm->mgid))
		       ? -FI_EINVAL
		       : 0;
}

void pvb_group_fail(struct pvb_group *group, int err, uint16_t status)
{
	struct pvb_groups *groups = group->groups;

	if (!pvb_group_used(group))
		return;
	group->err = err;
	group->status = status;
	group->refused = 0;
	group->refusals = 0;
	crn_deadline_add(&groups->deadlines, &group->due,
			 groups->now_ms + group->pause_ms);
	group->pause_ms = CRN_MIN(2 * group->pause_ms, groups->config.again_max_ms);
}

static void forget_members(struct pvb_group *group)
{
	group->have = group->others = 0;
	group->checked = group->verify = false;
}

/* The MLID that a group has: 0 without one. */
static uint16_t mlid_of(const struct pvb_group *group)
{
	return group->known == PVB_GROUP_ABSENT ? 0 : group->record.mlid;
}

/* A join was refused; if the group is as it was then, there is no other reason. */
static void judge_refusal(struct pvb_group *group)
{
	const int err = group->refused;

	group->refused = 0;
	if (err &&
	    (mlid_of(group) == group->refused_mlid || group->refusals >= REFUSALS_MAX))
		pvb_group_fail(group, err, group->refused_status);
}

/* A group of another MLID is another one: nobody has joined it. */
static int take_record(struct pvb_group *group, const struct pvb_mcm *mcm)
{
	const int err = check_record(group->groups->link, mcm);

	if (group->record.mlid && group->record.mlid != mcm->mlid)
		forget_members(group);
	group->record = *mcm;
	group->known = err ? PVB_GROUP_UNUSABLE : PVB_GROUP_PRESENT;
	if (err)
		pvb_group_fail(group, err, 0);
	return err;
}

static void absent(struct pvb_group *group)
{
	forget_members(group);
	group->ours = 0;
	group->record.mlid = 0;
	group->known = PVB_GROUP_ABSENT;
	judge_refusal(group);
}

static void looked(struct pvb_group *group, const struct pvb_sa_answer *answer)
{
	int err = pvb_link_error(answer);
	struct pvb_mcm mcm;

	if (err == -FI_EADDRNOTAVAIL) {
		absent(group);
		return;
	}
	if (!err)
		err = unpack(group, answer, &mcm);
	if (err) {
		group->again = true;
		pvb_group_fail(group, err, answer->status);
	} else if (!take_record(group, &mcm))
		judge_refusal(group);
}

/*
 * Whether the port was a member already (draft section 8). Of a state that is not told,
 * as opensm does to whom it does not trust, all bits may be somebody else's.
 */
static void checked(struct pvb_group *group, const struct pvb_sa_answer *answer)
{
	struct pvb_mcm mcm = {0};
	const int err = pvb_link_error(answer);
	const bool member = !err && !unpack(group, answer, &mcm);

	if (answer->err) {
		group->verify = true;
		pvb_group_fail(group, err, 0);
		return;
	}
	/* It was looked for once more meanwhile. */
	if (group->known == PVB_GROUP_ABSENT)
		return;
	group->checked = true;
	if (!member || mcm.join_state)
		group->have = mcm.join_state;
	group->others = member && !mcm.join_state ? STATES : mcm.join_state;
}

/* It is looked once more whether the group has come or gone meanwhile. */
static void refused(struct pvb_group *group, uint8_t state, int err, uint16_t status)
{
	group->ours &= (uint8_t)~state;
	if (err != -FI_EINVAL && err != -FI_EADDRNOTAVAIL) {
		pvb_group_fail(group, err, status);
		return;
	}
	group->refusals++;
	group->refused = err;
	group->refused_status = status;
	group->refused_mlid = mlid_of(group);
	group->again = true;
}

/* The attributes are those of the answer from now on (draft section 7). */
static void joined(struct pvb_group *group, uint8_t state,
		   const struct pvb_sa_answer *answer)
{
	int err = pvb_link_error(answer);
	struct pvb_mcm mcm;

	if (answer->status) {
		refused(group, state, err, answer->status);
		return;
	}
	if (!err)
		err = unpack(group, answer, &mcm);
	if (!err && !(mcm.join_state & state))
		err = -FI_EINVAL;
	if (err) {
		pvb_group_fail(group, err, 0);
		return;
	}
	group->groups->joins++;
	take_record(group, &mcm);
	group->have |= state;
}

/* Whatever the answer: a record that is not there, or nobody who says so, cannot be left
 * any more. */
static void left(struct pvb_group *group, uint8_t state,
		 const struct pvb_sa_answer *answer)
{
	group->groups->leaves += !pvb_link_error(answer);
	group->ours &= (uint8_t)~state;
	group->checked = false;
}

void pvb_group_answered(struct pvb_group_ask *ask, enum pvb_group_kind kind,
			const struct pvb_sa_answer *answer)
{
	struct pvb_group *group = ask->group;

	if (kind == PVB_GROUP_LOOK)
		looked(group, answer);
	else if (kind == PVB_GROUP_CHECK)
		checked(group, answer);
	else if (kind == PVB_GROUP_LEAVE)
		left(group, ask->state, answer);
	else
		joined(group, ask->state, answer);
}

void pvb_groups_die(struct pvb_groups *groups)
{
	struct pvb_group *group;
	struct crn_list *entry;

	groups->dead = true;
	crn_list_for_each (entry, &groups->all) {
		group = crn_container_of(entry, struct pvb_group, entry);
		pvb_group_ask(&group->look, PVB_GROUP_NOTHING, 0);
		pvb_group_ask(&group->member, PVB_GROUP_NOTHING, 0);
		crn_deadline_remove(&groups->deadlines, &group->due);
		forget_members(group);
		group->ours = 0;
		group->err = -FI_ECANCELED;
		group->status = 0;
		pvb_group_mark(group);
	}
}
