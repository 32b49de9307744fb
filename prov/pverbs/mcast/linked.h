/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of an IPoIB link by subnet administration: between port.c, which has the port,
 * and linked.c, which has the link of a family and the fid_mc that are on it. All of it
 * with cm_lock of the event queue held.
 */
#ifndef PVB_MCAST_LINKED_H
#define PVB_MCAST_LINKED_H

#include "groups/groups.h"
#include "internal.h"
#include "sa/sa.h"

/* IPv4 and IPv6: with the draft each has attributes of its own. */
#define PVB_MC_LINKS 2
/* ms: so often a group is looked for that no report tells of. */
#define PVB_MC_LOOK_GROUP 5000u

struct pvb_mc_port;

enum pvb_mc_link_state { PVB_MC_LINK_NONE, PVB_MC_LINK_ASKED, PVB_MC_LINK_FOUND };

/* The link of a family, once somebody joins a group of it. */
struct pvb_mc_on_link {
	struct pvb_mc_port *port;
	enum pvb_mc_link_state state;
	struct pvb_link link;
	struct pvb_link anew;	  /* while it is looked for once more */
	bool looking;		  /* it is */
	struct pvb_groups groups; /* once it is found */
	struct crn_list waiting;  /* struct pvb_mc, until it is */
	struct crn_list members;  /* struct pvb_mc, from then on */
};

/* port.c: a domain's port, for one event queue. */
struct pvb_mc_port {
	struct crn_list entry; /* of pvb_eq_mcs.ports */
	struct pvb_eq *eq;
	struct pvb_domain *domain;
	unsigned int users; /* endpoints */
	bool open;	    /* umad is, and is to be closed */
	bool gone;	    /* its device; nothing can be asked any more */
	bool reported;	    /* groups that come and go are */
	bool kernel; /* the link is the kernel's, too: rdma_cm joins who receives */
	struct pvb_umad umad;
	struct crn_deadline due; /* of pvb_mc_port_progress */
	unsigned int changes;	 /* of pvb_ud_link that were looked at */
	struct pvb_mc_on_link link[PVB_MC_LINKS];
};

/* The endpoint has its port from then on: 0 or a negative code. A port that cannot be
 * opened is one, too. */
int pvb_mc_port_get(struct pvb_ep *ep);
void pvb_mc_port_progress(struct pvb_mc_port *port);
/* Something was asked for: the event queue is woken when it is late. */
void pvb_mc_port_arm(struct pvb_mc_port *port);
/* Of a request to the administrator: ms for an answer, and how often it is made. */
uint32_t pvb_mc_port_wait(void);
uint32_t pvb_mc_port_tries(void);

/* linked.c */

void pvb_mc_link_init(struct pvb_mc_on_link *on, struct pvb_mc_port *port);
/* No fid_mc is on it. */
void pvb_mc_link_close(struct pvb_mc_on_link *on);
void pvb_mc_link_progress(struct pvb_mc_on_link *on);
/* Does a request wait until another one is answered? */
bool pvb_mc_link_waits(const struct pvb_mc_on_link *on);
/* ms until it has something to do, -1: nothing. */
int pvb_mc_link_timeout(const struct pvb_mc_on_link *on);
void pvb_mc_link_notice(struct pvb_mc_on_link *on, const struct pvb_notice *notice);
void pvb_mc_link_reported(struct pvb_mc_on_link *on);
/* The subnet manager has begun anew: the link is looked for once more, and its groups are
 * joined again. */
void pvb_mc_link_restarted(struct pvb_mc_on_link *on);
/* All fid_mc are told that their device is. */
void pvb_mc_link_gone(struct pvb_mc_on_link *on);

/* Joins the group of mc->name by subnet administration; it is told what becomes of it.
 * False: rdma_cm has to, for there is no administration, or the group is of no link. */
bool pvb_mc_linked_join(struct pvb_mc *mc);
/* Of one that has joined so. */
void pvb_mc_linked_leave(struct pvb_mc *mc);

#endif
