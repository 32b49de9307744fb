/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to subnet administration from a port, for the programs beside it. */
#ifndef SVB_TEST_SA_ASK_H
#define SVB_TEST_SA_ASK_H

#include "pverbs/sa/sa.h"

#define SA_WAIT_MS 2000

#define SA_JOIN (PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE)
#define SA_CREATE                                                             \
	(SA_JOIN | PVB_MCM_HAS_QKEY | PVB_MCM_HAS_TCLASS | PVB_MCM_HAS_PKEY | \
	 PVB_MCM_HAS_FLOW_LABEL | PVB_MCM_HAS_SL)

struct sa_request {
	const char *name;
	uint8_t method;
	uint32_t mask;
	const char *mgid;
	uint8_t state;
	uint32_t qkey;
	uint8_t tclass;
	uint16_t pkey;
	uint8_t mtu;		 /* exactly */
	const uint8_t *port_gid; /* NULL: that of the port that is open */
};

extern struct pvb_umad sa;

/* ca: NULL: any. False: it says why. */
bool sa_open(const char *ca);
/* Sends a request about a group and prints the status of the answer, which it returns;
 * -1: there is none. found: the record of the answer; or NULL. */
int sa_tell(const struct sa_request *request, struct pvb_mcm *found);
/* To traps 66 and 67. */
bool sa_subscribe(void);
/* Prints the next of them; false: none came for ms milliseconds. */
bool sa_hear(uint64_t ms);
/* Lets the port do its work until *count is beyond value, or for ms milliseconds. */
bool sa_work_until(const uint64_t *count, uint64_t value, uint64_t ms);

#endif
