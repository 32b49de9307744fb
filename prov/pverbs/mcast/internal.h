/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of mcast/. All of it with cm_lock of the event queue held. */
#ifndef PVB_MCAST_INTERNAL_H
#define PVB_MCAST_INTERNAL_H

#include "groups/groups.h"
#include "mcast.h"

/* A membership: group.c. */
struct pvb_mc_group {
	struct fid fid;	       /* PVB_CLASS_MC_GROUP: context of id */
	struct crn_list entry; /* of pvb_eq_mcs.groups */
	struct pvb_eq *eq;
	struct pvb_domain *domain;
	struct pvb_mc_name name;
	bool send_only;	       /* a member that receives nothing */
	struct rdma_cm_id *id; /* joins or has joined; NULL: joins again later */
	bool member;	       /* has joined: the next two are known */
	struct ibv_ah_attr ah;
	uint32_t qkey;
	struct crn_deadline deadline; /* of the answer, or for the next attempt */
	uint64_t pause;		      /* ms to the next attempt, if this one fails */
	struct crn_list users;	      /* struct pvb_mc, at least one */
};

/* A queue pair that receives what is sent to a group, for all fid_mc that name it. */
struct pvb_mc_attach {
	struct crn_list entry; /* of pvb_mcs.attached */
	union ibv_gid gid;
	uint16_t lid;
	unsigned int users;
};

/* How a fid_mc is joined: on a link, both may be needed. */
#define PVB_MC_BY_CM 0x1 /* rdma_cm */
#define PVB_MC_BY_SA 0x2 /* subnet administration: groups/ */

/* A fid_mc: join.c. */
struct pvb_mc {
	struct fid_mc fid;
	struct pvb_ep *ep;
	struct pvb_mc_name name;    /* as the program gave it */
	struct pvb_mc_group *group; /* of rdma_cm; NULL: none, or it has failed */
	struct crn_list entry;	    /* of the group's users */
	struct pvb_mc_on_link *on;  /* NULL: no link that is administered */
	struct crn_list on_entry;   /* of the link's */
	struct pvb_group_user user; /* of the link's groups, once it is found */
	bool send, recv;
	uint8_t parts, up; /* PVB_MC_BY_*: that it is made of; that are joined */
	bool was_joined;   /* by rdma_cm, at least once: it is again when it is lost */
	bool failed;	   /* what it has still is left by fi_close */
	fi_addr_t addr;	   /* with send: its slot's, and fid's from FI_JOIN_COMPLETE on */
	uint32_t mtu; /* bytes of a datagram on its link, for new routes; 0: the path's */
	struct pvb_mc_route *routes;	/* newest first */
	struct pvb_mc_attach *attached; /* NULL: receives nothing now */
	/* What its event queue is to be told; err 0: FI_JOIN_COMPLETE. */
	struct crn_list report; /* of pvb_eq_mcs.reports, with reports */
	bool reports;
	int err; /* FI_E*, positive */
	int prov_errno;
};

/* group.c */

/* The event queue has its timer: 0 or a negative code. */
int pvb_mc_timer(struct pvb_eq *eq);
/* Makes mc a user of the membership that it asks for: 0, or a negative code. */
int pvb_mc_group_get(struct pvb_mc *mc, const struct pvb_mc_name *name);
/* Not any more; the last one leaves the group. */
void pvb_mc_group_put(struct pvb_mc *mc);

/* member.c */

/* A fi_addr_t that nothing can be sent to yet: 0 or -FI_ENOMEM. */
int pvb_mc_slot_get(struct pvb_ep *ep, fi_addr_t *addr);
/* No sender looks at the peer any more when it returns. */
void pvb_mc_slot_put(struct pvb_ep *ep, fi_addr_t addr);
/* rdma_cm has joined its group: it receives, and can be sent to unless subnet
 * administration says where. 0, or FI_E*, positive. */
int pvb_mc_up(struct pvb_mc *mc);
/* Not any more. */
void pvb_mc_down(struct pvb_mc *mc);
/* It is joined by that, PVB_MC_BY_*, and is told so once it is by all that it needs. */
void pvb_mc_joined(struct pvb_mc *mc, uint8_t part);
/* Not any more: err FI_E*. */
void pvb_mc_lost(struct pvb_mc *mc, uint8_t part, int err, int status);
/* It will not be joined: it neither receives nor sends, and is told so, once. */
void pvb_mc_fail(struct pvb_mc *mc, int err, int status);
/* Its queue pair receives what is sent to that place, however many fid_mc it has of it: 0
 * or FI_E*, positive. */
int pvb_mc_attach(struct pvb_mc *mc, const struct ibv_ah_attr *ah);
void pvb_mc_detach(struct pvb_mc *mc);
struct pvb_mc_slot *pvb_mc_slot_at(const struct pvb_ep *ep, fi_addr_t addr);

/* route.c: of a fid_mc that sends. Each may be called at any moment; a send that is made
 * meanwhile takes this route or the one before. */

/* A place that datagrams of a group go to, as subnet administration tells it. */
struct pvb_mc_to {
	struct ibv_ah_attr ah; /* port_num is the domain's */
	uint32_t qkey;
};

/*
 * To that place, and with copy not NULL to another one as well: both take an entry of the
 * send queue, one completion stands for both. 0, or FI_E*, positive: the route is as
 * before.
 */
int pvb_mc_route_to(struct pvb_mc *mc, const struct pvb_mc_to *to,
		    const struct pvb_mc_to *copy);
/* To nobody: sends complete and are counted (mc_dropped of struct fi_cairn_stats),
 * nothing leaves the port. 0 or FI_ENOMEM. On InfiniBand. */
int pvb_mc_route_drop(struct pvb_mc *mc);
/* Sends are -FI_EADDRNOTAVAIL. */
void pvb_mc_route_none(struct pvb_mc *mc);
/* All routes, for fi_close. */
void pvb_mc_routes_put(struct pvb_mc *mc);

/* report.c */

/* Inserts FI_JOIN_COMPLETE (err 0) or an error entry (err FI_E*) into the event queue,
 * now or once there is room. prov_errno: status of rdma_cm or subnet administration.
 * Replaces a report that still waits for room. */
void pvb_mc_report(struct pvb_mc *mc, int err, int prov_errno);
/* Takes back what was told and not read yet. */
void pvb_mc_report_drop(struct pvb_mc *mc);
/* Inserts the reports that wait for room, oldest first, as far as there is room. */
void pvb_mc_reports_flush(struct pvb_eq *eq);

/* cm.c */

/* Is there an address that an id can be bound to? 0, -FI_EADDRNOTAVAIL, or why that could
 * not be determined. */
int pvb_mc_cm_bindable(const struct pvb_domain *domain);
/* An id that has asked to join: 0 or a negative code, with the reason in the log. */
int pvb_mc_cm_begin(struct pvb_mc_group *group);
/* Leaves; no event of the id comes any more. The id may be NULL. */
void pvb_mc_cm_end(struct pvb_mc_group *group);
/* FI_E*, positive, for the status of an event. */
int pvb_mc_cm_error(int status);

#endif
