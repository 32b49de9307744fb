/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers management datagrams: subnet administration at LID 1, and ports of the subnet.
 */
#ifndef SVB_SA_SA_H
#define SVB_SA_SA_H

#include <infiniband/verbs.h>
#include "mad.h"
#include "ports.h"
#include "settings/settings.h"
#include "subnet/subnet.h"

/* Where the subnet manager is: port 1 of the first device. */
#define SVB_SM_LID 1u

/* Who asks. */
struct svb_sa_client {
	const struct svb_port *port;
	uint32_t bell; /* rung when there is a report (svb_subnet_report) */
};

/*
 * The answer to a datagram sent to a LID, 0: along a directed route. Returns its length,
 * which is more than SVB_MAD_SIZE for a table of several segments, put together as the
 * kernel does; *answer is to be freed, *late is how late it comes, ms. 0: there is none.
 * Any bytes will do.
 */
size_t svb_sa_answer(const struct svb_sa_client *client, uint16_t lid,
		     const uint8_t mad[SVB_MAD_SIZE], uint8_t **answer, uint32_t *late);

/* A report of a trap; report->id is its transaction. False: a setting has it be lost. */
bool svb_sa_report(uint8_t mad[SVB_MAD_SIZE], const struct svb_report *report);

#endif
