/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of groups/. */
#ifndef PVB_GROUPS_INTERNAL_H
#define PVB_GROUPS_INTERNAL_H

#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "groups.h"

/* What the administrator has said of a group. */
enum pvb_group_known {
	PVB_GROUP_UNKNOWN,
	PVB_GROUP_ABSENT,
	PVB_GROUP_PRESENT,
	PVB_GROUP_UNUSABLE, /* its record is not as the link's groups are */
};

/* What is asked for a group. */
enum pvb_group_kind {
	PVB_GROUP_NOTHING,
	PVB_GROUP_LOOK,	  /* does it exist? */
	PVB_GROUP_CHECK,  /* is the port a member? */
	PVB_GROUP_JOIN,	  /* it exists */
	PVB_GROUP_CREATE, /* joined as well */
	PVB_GROUP_LEAVE,
};

/* A request: it waits in the queue, or is outstanding. */
struct pvb_group_ask {
	struct crn_list entry; /* of pvb_groups.queue or asked */
	struct pvb_group *group;
	enum pvb_group_kind kind;
	uint8_t state; /* PVB_MCM_*, that is joined or left */
	bool outstanding;
	bool stale; /* of a manager that is gone: the answer says nothing */
};

/*
 * A group. What is to be asked next follows from its fields alone (step.c), so that an
 * event sets some of them and nothing else.
 *
 * What changes a membership has no look beside it, which could be of the time before.
 */
struct pvb_group {
	struct pvb_groups *groups;
	struct crn_list entry;	/* of pvb_groups.all */
	struct pvb_group *next; /* of its bucket */
	uint8_t mgid[16];
	unsigned int family;   /* of pvb_groups.router */
	struct crn_list users; /* struct pvb_group_user */
	uint32_t receivers;
	uint32_t senders;
	uint32_t held; /* as the all-router group, by groups that are sent to */
	struct pvb_group_ask look, member;
	enum pvb_group_known known;
	struct pvb_mcm record; /* unless unknown or absent */
	bool again;	       /* what is known may be old */
	/* Join states of the port, PVB_MCM_*. */
	uint8_t have;	/* that it has */
	uint8_t ours;	/* that we have asked for, answered or not: to be left */
	uint8_t others; /* that it had when it was checked */
	bool checked;	/* others is known */
	bool verify;	/* have may be old */
	bool delayed;	/* until due */
	/* Why the last attempt failed; 0: it has not. The next one is when due. */
	int err;
	uint16_t status;
	/* A join was refused, where it may be that the group has come or gone. */
	int refused;
	uint16_t refused_status;
	uint16_t refused_mlid; /* of the group that it was; 0: absent */
	unsigned int refusals; /* since something went well */
	struct crn_deadline due;
	uint32_t pause_ms; /* to the next attempt, if this one fails */
	uint32_t way;	   /* pvb_group_way, that senders of the family have seen */
};

/* table.c */

/* The group, made if there is none; NULL: no memory, or (*full) too many. */
struct pvb_group *pvb_group_get(struct pvb_groups *groups, const uint8_t mgid[16],
				unsigned int family, bool *full);
struct pvb_group *pvb_group_find(const struct pvb_groups *groups, const uint8_t mgid[16]);
/* Out of the table, and freed. */
void pvb_group_free(struct pvb_group *group);

/* ask.c */

/* Makes it what is asked next, or nothing; one that is outstanding stays. */
void pvb_group_ask(struct pvb_group_ask *ask, enum pvb_group_kind kind, uint8_t state);
/* Sends what there is room for. */
void pvb_groups_pump(struct pvb_groups *groups);
/* Leaves what was joined, without waiting for the answer. */
void pvb_group_leave_now(struct pvb_group *group);

/* answer.c */

/* What has come for a request of this kind; it is not outstanding any more. */
void pvb_group_answered(struct pvb_group_ask *ask, enum pvb_group_kind kind,
			const struct pvb_sa_answer *answer);
void pvb_group_fail(struct pvb_group *group, int err, uint16_t status);
/* The client was closed. */
void pvb_groups_die(struct pvb_groups *groups);

/* step.c */

/* Does what follows from the group's fields; frees it if it is not needed any more. */
void pvb_group_step(struct pvb_group *group);
/* Makes a new attempt, whatever failed before. */
void pvb_group_retry(struct pvb_group *group);
void pvb_group_due(struct crn_deadline *deadline);

static inline bool pvb_group_used(const struct pvb_group *group)
{
	return group->held || !crn_list_empty(&group->users);
}

static inline bool pvb_group_sent_to(const struct pvb_group *group)
{
	return group->senders || group->held;
}

static inline bool pvb_group_receives(const struct pvb_group *group)
{
	return group->known == PVB_GROUP_PRESENT && group->have & PVB_MCM_FULL;
}

/* user.c */

/* Sends what waits, as far as there is room, and calls what users are to be told; last of
 * all, as it may end in pvb_groups_close. */
void pvb_groups_run(struct pvb_groups *groups);
/* Users of the group may have something to be told, and senders of the family if it is
 * their all-router group. */
void pvb_group_mark(struct pvb_group *group);
void pvb_user_expired(struct crn_deadline *deadline);
/* The user is none any more. */
void pvb_user_remove(struct pvb_group_user *user);

#endif
