/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subnet administrator behind the libibumad of ../../pverbs_sa/fake_umad.h: a table of
 * groups, of which it is known whether the port is a full member. It answers at once, or
 * when the test says so.
 */
#ifndef PVB_TEST_FAKE_SA_H
#define PVB_TEST_FAKE_SA_H

#include "../../pverbs_sa/fake_umad.h"

#define FAKE_SA_GROUPS 48

struct fake_sa_group {
	bool used;
	bool others;   /* has other members, or the manager made it */
	uint8_t state; /* of the port, as a member: PVB_MCM_FULL and others */
	struct pvb_mcm mcm;
};

struct fake_sa {
	struct fake_sa_group group[FAKE_SA_GROUPS];
	uint16_t mlid; /* of the next group */
	bool silent;
	uint16_t status; /* of all joins, if it is not 0 */
	int informs, gets;
	int joins, leaves; /* as full member */
};

extern struct fake_sa fake_sa;

/* The port "fake0" 1 with such a link: its broadcast group has this Q_Key, and MTU 1024,
 * and the same its all-node group. */
void fake_sa_open(uint32_t qkey);
/* No port can be opened from then on. */
void fake_sa_none(void);
/* A group of others comes, of which subscribers are told. */
struct fake_sa_group *fake_sa_create(const char *mgid);
/* It goes. */
void fake_sa_delete(const char *mgid);
/* NULL: there is none. */
struct fake_sa_group *fake_sa_find(const char *mgid);
/* All groups but the link's are gone, and so are subscriptions; others have other MLIDs.
 */
void fake_sa_restart(void);

#endif
