/* SPDX-License-Identifier: BSD-2-Clause */
/* InformInfo (IBA 13.4.8.3) and the reports of traps 66 and 67. */
#include <string.h>
#include "parts.h"

enum {
	SVB_INFORM_GID = 0,
	SVB_INFORM_LID = 16,
	SVB_INFORM_GENERIC = 22,
	SVB_INFORM_SUBSCRIBE = 23,
	SVB_INFORM_TRAP = 26,
};
/* Of a Notice, 13.4.8.2 and table 131. */
enum {
	SVB_NOTICE_TYPE = 0,
	SVB_NOTICE_PRODUCER = 1,
	SVB_NOTICE_TRAP = 4,
	SVB_NOTICE_LID = 6,
	SVB_NOTICE_GID = 16, /* of traps 64 to 67 */
	SVB_NOTICE_ISSUER = 64,
};

uint32_t svb_sa_inform_set(struct svb_sa *sa)
{
	struct svb_inform inform = {
		.token = svb_lock_token,
		.bell = sa->client->bell,
		.trap = (uint16_t)svb_mad_get(sa->data, SVB_INFORM_TRAP, 2),
	};
	uint32_t status;
	uint8_t *record;

	memcpy(inform.gid.raw, sa->data + SVB_INFORM_GID, 16);
	/* With a GID of 0 the LIDs count: those of anybody, who may be the manager. */
	inform.any_gid = !svb_mad_get(sa->data, SVB_INFORM_GID, 8) &&
			 !svb_mad_get(sa->data, SVB_INFORM_GID + 8, 8);
	if (sa->data[SVB_INFORM_SUBSCRIBE] > 1 || !sa->data[SVB_INFORM_GENERIC])
		return SVB_SA_REQ_INVALID;
	status = svb_subnet_subscribe(&inform, sa->data[SVB_INFORM_SUBSCRIBE]);
	record = status ? NULL : svb_sa_add(sa);
	if (!record)
		return status ? status : SVB_SA_NO_RESOURCES;
	memcpy(record, sa->data, 36);
	return SVB_SA_OK;
}

bool svb_sa_report(uint8_t mad[SVB_MAD_SIZE], const struct svb_report *report)
{
	const struct svb_port *port = svb_port_by_index(SVB_SM_LID - 1);
	uint8_t *notice = mad + SVB_SA_DATA;

	memset(mad, 0, SVB_MAD_SIZE);
	mad[0] = 1;
	mad[SVB_MAD_CLASS] = SVB_CLASS_SA;
	mad[SVB_MAD_CLASS_VERSION] = 2;
	mad[SVB_MAD_METHOD] = SVB_METHOD_REPORT;
	svb_mad_put(mad, SVB_MAD_TID, 8, report->id);
	svb_mad_put(mad, SVB_MAD_ATTR, 2, SVB_ATTR_NOTICE);
	notice[SVB_NOTICE_TYPE] = 0x80 | 3; /* generic, of subnet management */
	svb_mad_put(notice, SVB_NOTICE_PRODUCER, 3, 4); /* a class manager */
	svb_mad_put(notice, SVB_NOTICE_TRAP, 2, report->trap);
	svb_mad_put(notice, SVB_NOTICE_LID, 2, SVB_SM_LID);
	memcpy(notice + SVB_NOTICE_GID, report->mgid.raw, 16);
	if (port)
		memcpy(notice + SVB_NOTICE_ISSUER, port->gid[port->own_gid].raw, 16);
	return !svb_sa_rule_take(&svb_self.settings.sa_fail, SVB_SA_REPORT);
}
