/* SPDX-License-Identifier: BSD-2-Clause */
/* A subnet administrator that has groups, and users of a link's groups who note what they
 * are told. Time passes when the test says so. */
#ifndef PVERBS_GROUPS_WORLD_H
#define PVERBS_GROUPS_WORLD_H

#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "groups/groups.h"

#define WORLD_GROUPS 1100
#define WORLD_REQUESTS 4096
#define WORLD_USERS 1100
#define WORLD_WAIT_MS 100
#define WORLD_TRIES 2
#define WORLD_JOIN_MS 5000
#define WORLD_AGAIN_MS 100
#define WORLD_AGAIN_MAX_MS 800
#define WORLD_QKEY 0x80000b1b
#define WORLD_PKEY 0x8008
#define WORLD_MTU 4 /* 2048 bytes */

#define FULL PVB_MCM_FULL
#define SEND_ONLY PVB_MCM_SEND_ONLY_NON_MEMBER

/* A group of the administrator. */
struct world_group {
	bool there;
	struct pvb_mcm record;
	uint8_t state; /* of our port */
	int others;    /* full members at other ports */
};

struct world_request {
	struct pvb_sa_hdr hdr;
	struct pvb_mcm mcm;
};

/* What a user was told last, and how often. */
struct world_user {
	struct pvb_group_user user;
	uint8_t mgid[16];
	int joins, routes, losses, failures;
	bool joined;
	int err;
	uint16_t status;
	struct pvb_mcm record;
	uint16_t to, copy; /* MLIDs; 0: none */
	struct pvb_mcm to_record;
};

extern struct world {
	uint64_t now;
	struct pvb_sa_client client;
	struct pvb_link link;
	struct pvb_groups groups;
	struct pvb_groups_config config;
	/* The administrator. */
	struct world_group group[WORLD_GROUPS];
	int groups_there;
	uint16_t next_mlid;
	bool mute;	       /* tells no join states */
	bool silent;	       /* answers nothing */
	uint16_t refuse;       /* with this status */
	uint8_t refuse_method; /* requests of this method; 0: none */
	/* All requests since the start, and how many of them it has seen. */
	struct world_request request[WORLD_REQUESTS];
	unsigned int requests, served;
	struct world_user user[WORLD_USERS];
	/* A group of the administrator has come or gone; or NULL. */
	void (*changed)(uint16_t trap, const uint8_t mgid[16]);
	/* Called within whatever a user is told. */
	void (*within)(struct world_user *user);
} w;

/* The groups of a link whose administrator has only the broadcast group. */
void world_open(void);
void world_open_with(void (*change)(struct pvb_groups_config *config));
/* Closes, and looks that nothing is left in the client. */
void world_close(void);

/* For CT_FIXTURE, of a bool that says whether the world is open. */
void world_start(bool *open);
void world_stop(bool *open);

/* 239.0.0.n, and the all-router group. */
const uint8_t *world_mgid(unsigned int n);
const uint8_t *world_routers(void);
/* Of the administrator; NULL: it is not there. */
struct world_group *world_find(const uint8_t mgid[16]);
/* Another port has made it, with the attributes of the link. */
struct world_group *world_make(const uint8_t mgid[16]);
void world_unmake(const uint8_t mgid[16]);
/* All but the broadcast group is gone. */
void world_restart(void);

/* User n for group 239.0.0.n. */
struct world_user *world_join(unsigned int n, bool recv, bool send);
struct world_user *world_join_as(unsigned int user, const uint8_t mgid[16], bool recv,
				 bool send);
void world_leave(struct world_user *user);
void world_report(uint16_t trap, const uint8_t mgid[16]);
void world_pass(uint64_t ms);

/* The administrator does what the next request asks for; answers it or not. */
void world_serve(bool answer);
/* Does it, and says what the answer were. */
uint16_t world_act(struct pvb_mcm *mcm);
void world_answer(const struct world_request *request, uint16_t status,
		  const struct pvb_mcm *mcm);
/* All, also those that follow from answers. */
void world_serve_all(void);
/* The same calls, and then all is served. */
struct world_user *world_join_and_serve(unsigned int n, bool recv, bool send);
struct world_user *world_join_as_and_serve(unsigned int user, const uint8_t mgid[16],
					   bool recv, bool send);
void world_leave_and_serve(struct world_user *user);
void world_pass_and_serve(uint64_t ms);
void world_report_and_serve(uint16_t trap, const uint8_t mgid[16]);
void world_restart_and_serve(void);
/* The next one, which it has not seen yet. */
const struct world_request *world_next(void);
/* Requests of this method that were sent since. */
unsigned int world_count(unsigned int since, uint8_t method);

#endif
