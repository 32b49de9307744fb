/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to subnet administration from a port, for the programs beside it. */
#ifndef SVB_TEST_SA_ASK_H
#define SVB_TEST_SA_ASK_H

#include "pverbs/sa/sa.h"

/* What has to come is waited for so long: the machine may stand still. */
#define SA_WAIT_MS 20000
/* And what is not to come so long. */
#define SA_NOTHING_MS 1500
/* A request is sent again after that. */
#define SA_TRY_MS 500

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
	uint32_t flow;
	uint16_t pkey;
	uint8_t mtu;		 /* exactly */
	const uint8_t *port_gid; /* NULL: that of the port that is open */
};

extern struct pvb_umad sa;

/* ca: NULL: any. False: it says why. */
bool sa_open(const char *ca);
/* How often a request is sent at most: for SA_WAIT_MS, or SA_TRIES of the environment. */
uint32_t sa_tries(void);
/* When all is answered: libumad2sim may wait for ever if something comes while the
 * program ends. */
void sa_close(void);
/* Sends a request about a group: the status of the answer, or -FI_E*: there is none.
 * found: the record of the answer, of any status. */
int sa_mcmember(uint8_t method, uint32_t mask, const struct pvb_mcm *mcm,
		struct pvb_mcm *found);
/* The same, and prints it. found: or NULL. */
int sa_tell(const struct sa_request *request, struct pvb_mcm *found);
/* get, set or delete, an MGID, and KEY=VALUE of its record; prints the status of the
 * answer, and the record if it is 0. The exit status. */
int sa_words(int argc, char **argv);
/* To traps 66 and 67; looks so often whether the manager has begun anew, 0: never. */
bool sa_subscribe(uint32_t look_ms);
/* Does for ibsim what it takes to have reports. */
bool sa_be_manager(void);
/* Prints the next trap, or that the manager has begun anew, or that it is subscribed
 * again; false: nothing happened for ms milliseconds. */
bool sa_hear(uint64_t ms);
/* Lets the port do its work until *count is beyond value, or for ms milliseconds. */
bool sa_work_until(const uint64_t *count, uint64_t value, uint64_t ms);

#endif
