/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The IP groups of an IPoIB link that somebody sends to or receives from
 * (draft-ietf-ipoib-link-multicast sections 7 to 9): joined, looked for, left, and told
 * where they are. Without a thread, a clock and a device, as the client through which it
 * asks. Not thread safe.
 *
 * Who receives makes the port a full member; a group that is absent is created with the
 * attributes of the link. Who only sends creates none: what is sent goes to the group if
 * it exists, else to the all-router group of its family, else to nobody, and changes
 * over whenever a group comes or goes. All users of a group share one membership.
 *
 * Memberships are the port's, not the program's: one that is there before belongs to
 * somebody else, is used, looked after (check_ms), and never left.
 *
 * Work for an event is proportional to the groups and users that it is about; at most
 * PVB_GROUPS_WINDOW requests are outstanding, others wait in a queue. While the
 * administrator is silent it is one.
 */
#ifndef PVB_GROUPS_GROUPS_H
#define PVB_GROUPS_GROUPS_H

#include <cairn/deadline.h>
#include <cairn/list.h>
#include "link/link.h"

/* As many as there are MLIDs (0xc000 to 0xfffe). */
#define PVB_GROUPS_MAX 16383u
/* Requests outstanding at once: others of the client have places left. */
#define PVB_GROUPS_WINDOW 12u
/* All-router groups: 224.0.0.2 and FF02::2. */
#define PVB_GROUPS_FAMILIES 2

struct pvb_group;
struct pvb_groups;

/* One that sends to or receives from a group; the caller's, who keeps it where it is
 * until pvb_groups_leave, or until failed is called for it. Its fields are not. */
struct pvb_group_user {
	struct pvb_group *group;      /* NULL: is none */
	struct crn_list entry;	      /* of the group's users */
	struct crn_list news;	      /* of pvb_groups.news: is to be told something */
	struct crn_deadline deadline; /* of the first joined */
	bool recv, send;
	bool was_joined;	 /* at least once */
	bool told_joined;	 /* and not lost since */
	bool expired;		 /* the deadline has */
	bool routed;		 /* the next two were told */
	struct pvb_mcm to, copy; /* mlid 0: none */
};

/* Where datagrams for a group go. Valid during the call. */
struct pvb_group_route {
	const struct pvb_mcm *to;   /* record of the group, or of the all-router group
				     * instead; NULL: to nobody, they are dropped */
	const struct pvb_mcm *copy; /* record of the all-router group, which gets one
				     * too; NULL: none does */
};

/*
 * What a user is told. Each is called by functions that take now_ms, also before they
 * return from pvb_groups_join, and from the client's callbacks; one at a time, never
 * within another of them. They may call any function below, for any user, also
 * pvb_groups_close. None is called for a user that left, and none after close.
 *
 * err is negative: -FI_EADDRNOTAVAIL: the group went, and cannot be created; -FI_ENOSPC:
 * no MLID is left; -FI_EINVAL: refused, or its P_Key, Q_Key or MLID is not of the link;
 * -FI_EMSGSIZE: its MTU is less than the link's, or above the port's; -FI_ETIMEDOUT;
 * -FI_ECONNRESET: the manager began anew, or the group went and is joined again;
 * -FI_ECANCELED: the client was closed; -FI_ENOMEM; -FI_EIO. status: that of the
 * administrator, enum pvb_sa_status; 0 without one.
 */
struct pvb_groups_calls {
	/* It is in the group. Who receives: record is that of the group, with MLID, SL,
	 * rate and Q_Key; attach the queue pair to its mgid and mlid. Who only sends:
	 * record is NULL, and route was called before. After lost it is called again,
	 * perhaps with another MLID. */
	void (*joined)(void *arg, struct pvb_group_user *user,
		       const struct pvb_mcm *record);
	/* Who sends: from now on there. Before joined for the first time, and then as
	 * often as it changes, whatever joined and lost say. */
	void (*route)(void *arg, struct pvb_group_user *user,
		      const struct pvb_group_route *route);
	/* What joined has said is not so any more: who receives may receive nothing. It
	 * goes on trying; joined is called when it is again. */
	void (*lost)(void *arg, struct pvb_group_user *user, int err, uint16_t status);
	/* It could not be joined, and was not before: user is none any more, and can be
	 * freed within. */
	void (*failed)(void *arg, struct pvb_group_user *user, int err, uint16_t status);
};

struct pvb_groups_config {
	uint8_t port_gid[16]; /* of the port that joins */
	bool copy;	      /* each datagram goes to the all-router group too (9) */
	uint32_t wait_ms;     /* for an answer, before it is asked for again */
	uint32_t tries;	      /* at least 1 */
	uint32_t join_ms;     /* until one that is not joined has failed, counted from
			       * the administrator's last answer to any of them; 0: no end
			       * but that of requests */
	/* Until what failed is tried again, twice as long each time. */
	uint32_t again_min_ms, again_max_ms;
	/* Over so long a time are groups joined again when the manager has begun anew,
	 * each port at other moments; 0: at once. */
	uint32_t spread_ms;
	/* While groups that come and go are not reported (pvb_groups_subscribed), a
	 * sender's group is looked for so often; 0: never again. */
	uint32_t look_ms;
	/* Whether a membership that is somebody else's is still there is looked for so
	 * often; 0: never. */
	uint32_t check_ms;
	const struct pvb_groups_calls *calls;
	void *arg; /* of calls */
};

struct pvb_groups {
	const struct pvb_link *link; /* NULL: closed */
	struct pvb_groups_config config;
	struct pvb_group **buckets; /* by MGID */
	uint32_t bucket_count, count;
	struct pvb_group *router[PVB_GROUPS_FAMILIES]; /* NULL: nobody sends */
	uint64_t heard_ms;     /* when the administrator has answered last */
	uint64_t now_ms;       /* of the call that runs */
	struct crn_list all;   /* struct pvb_group */
	struct crn_list queue; /* requests that wait for their turn */
	struct crn_list asked; /* requests that are outstanding */
	struct crn_list news;  /* struct pvb_group_user */
	struct crn_deadlines deadlines;
	uint32_t outstanding; /* of asked */
	uint32_t window;      /* most of them now, at least 1 */
	bool subscribed;      /* reports come */
	bool dead;	      /* the client was closed */
	bool *telling;	      /* a callback runs: false when it has closed us */
	/* Since the start. */
	uint64_t joins, leaves; /* that were answered well */
	uint64_t unanswered;	/* requests, after all tries */
};

/*
 * Begins. link was found (pvb_link_open has called done with 0) and stays until close,
 * as does its client. 0; -FI_EINVAL: no link, tries or calls; -FI_ENOMEM.
 */
int pvb_groups_open(struct pvb_groups *groups, const struct pvb_link *link,
		    const struct pvb_groups_config *config);
/*
 * Ends: all users are none any more, and nothing is called any more. What was joined is
 * left as far as requests can be sent at once, whose answers are not waited for; who
 * wants more lets users leave before, and waits for pvb_groups_idle. The client may be
 * closed before or afterwards.
 */
void pvb_groups_close(struct pvb_groups *groups, uint64_t now_ms);

/*
 * Makes user one of a group: mgid is that of an IP address on the link (mc_map.h). recv,
 * send: either or both. 0: joined or failed follows, perhaps before it returns;
 * -FI_EINVAL: not a group of the link, or neither direction; -FI_ENOSPC: PVB_GROUPS_MAX;
 * -FI_ECANCELED: the client was closed; -FI_ENOMEM.
 */
int pvb_groups_join(struct pvb_groups *groups, struct pvb_group_user *user,
		    const uint8_t mgid[16], bool recv, bool send, uint64_t now_ms);
/*
 * It is none any more, and can be freed. The last one of its kind leaves the group: what
 * was joined for it, and nothing else; also if the answer to the join is still to come.
 * Harmless for one that is none.
 */
void pvb_groups_leave(struct pvb_groups *groups, struct pvb_group_user *user,
		      uint64_t now_ms);

/* A trap has come: 66 and 67 are looked at (struct pvb_sa_ops). */
void pvb_groups_notice(struct pvb_groups *groups, const struct pvb_notice *notice,
		       uint64_t now_ms);
/* subscribed of struct pvb_sa_watch_config: reports come from now on; what happened
 * before is looked for. */
void pvb_groups_subscribed(struct pvb_groups *groups, uint64_t now_ms);
/* restarted of struct pvb_sa_watch_config: all groups are joined again; no reports come
 * until pvb_groups_subscribed. */
void pvb_groups_restarted(struct pvb_groups *groups, uint64_t now_ms);

/* Asks what is due, and what waits for a place at the client: after each
 * pvb_sa_progress and pvb_sa_arrived. */
void pvb_groups_progress(struct pvb_groups *groups, uint64_t now_ms);
/* Milliseconds until it has something to do, -1: nothing. As poll(2) wants it. */
int pvb_groups_timeout(const struct pvb_groups *groups, uint64_t now_ms);
/* Nothing is outstanding or waits: what was to be left is left. */
bool pvb_groups_idle(const struct pvb_groups *groups);

#endif
