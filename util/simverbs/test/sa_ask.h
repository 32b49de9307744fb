/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to subnet administration by libibumad, for the programs beside it. */
#ifndef SVB_TEST_SA_ASK_H
#define SVB_TEST_SA_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/umad.h>

#define SA_MAD 256
#define SA_WAIT_MS 2000

enum { SA_GET = 1, SA_SET = 2, SA_REPORT = 6, SA_GET_TABLE = 0x12, SA_DELETE = 0x15 };
enum { SA_INFORM_INFO = 3, SA_MCMEMBER = 0x38 };

/* Components of a MCMemberRecord. */
enum {
	SA_MGID = 1 << 0,
	SA_PORT_GID = 1 << 1,
	SA_QKEY = 1 << 2,
	SA_MTU_SELECTOR = 1 << 4,
	SA_MTU = 1 << 5,
	SA_TCLASS = 1 << 6,
	SA_PKEY = 1 << 7,
	SA_SL = 1 << 12,
	SA_FLOW = 1 << 13,
	SA_STATE = 1 << 16,
};
#define SA_JOIN (SA_MGID | SA_PORT_GID | SA_STATE)
#define SA_CREATE (SA_JOIN | SA_QKEY | SA_TCLASS | SA_PKEY | SA_FLOW | SA_SL)

/* JoinState. */
enum { SA_FULL = 1, SA_NON = 2, SA_SEND_ONLY = 4, SA_SEND_ONLY_FULL = 8 };

struct sa_request {
	const char *name;
	uint8_t method;
	uint32_t mask;
	const char *mgid;
	uint8_t state;
	uint32_t qkey;
	uint8_t tclass;
	uint16_t pkey;
	uint8_t mtu;		 /* with its selector */
	const uint8_t *port_gid; /* NULL: that of the port that is open */
};

struct sa_port {
	int port;
	int agent;
	umad_port_t info;
	ib_user_mad_t *out;
	ib_user_mad_t *in;
	uint64_t tid;
};
extern struct sa_port sa;

uint16_t sa_get16(const uint8_t *at);
/* Port 1 of ca; NULL: of any. */
bool sa_open(const char *ca);
/* The next datagram; its status if it was not sent well. NULL: none came. */
const uint8_t *sa_receive(int *status);
/* Sends a request about a group, of the port that is open, and prints the status of the
 * answer, which it returns; NULL: there is none. */
const uint8_t *sa_tell(const struct sa_request *request);
/* To traps 66 and 67. */
bool sa_subscribe(void);
/* That the report has come. */
void sa_answer(const uint8_t *report);

#endif
