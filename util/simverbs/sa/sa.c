/* SPDX-License-Identifier: BSD-2-Clause */
/* Which request is answered by whom, and how records become an answer. */
#include <stdlib.h>
#include <string.h>
#include "parts.h"

static const struct svb_sa_handler {
	uint16_t attr;
	uint8_t method;
	bool table; /* GetTable is answered as well */
	uint16_t record;
	uint32_t (*run)(struct svb_sa *sa);
} svb_sa_handlers[] = {
	{SVB_ATTR_CLASS_PORT_INFO, SVB_METHOD_GET, false, 72, svb_sa_class_get},
	{SVB_ATTR_INFORM_INFO, SVB_METHOD_SET, false, 40, svb_sa_inform_set},
	{SVB_ATTR_MCMEMBER, SVB_METHOD_SET, false, 56, svb_sa_mcmember_set},
	{SVB_ATTR_MCMEMBER, SVB_METHOD_DELETE, false, 56, svb_sa_mcmember_delete},
	{SVB_ATTR_MCMEMBER, SVB_METHOD_GET, true, 56, svb_sa_mcmember_get},
	{SVB_ATTR_PATH, SVB_METHOD_GET, true, 64, svb_sa_path_get},
	{SVB_ATTR_NODE, SVB_METHOD_GET, true, 112, svb_sa_node_get},
	{SVB_ATTR_PORT_RECORD, SVB_METHOD_GET, true, 72, svb_sa_port_get},
	{SVB_ATTR_PKEY_RECORD, SVB_METHOD_GET, true, 72, svb_sa_pkey_get},
	{SVB_ATTR_SM_RECORD, SVB_METHOD_GET, true, 32, svb_sa_sm_get},
};

uint8_t *svb_sa_add(struct svb_sa *sa)
{
	uint8_t *found = realloc(sa->found, sa->size + sa->record);

	if (!found)
		return NULL;
	sa->found = found;
	found += sa->size;
	memset(found, 0, sa->record);
	sa->size += sa->record;
	return found;
}

bool svb_sa_differs(const struct svb_sa *sa, unsigned int component,
		    const uint8_t *record, size_t at, size_t bytes)
{
	return sa->mask & SVB_BIT(component) && memcmp(sa->data + at, record + at, bytes);
}

static const struct svb_sa_handler *svb_sa_handler(uint16_t attr, uint8_t method)
{
	const struct svb_sa_handler *at;
	size_t i;

	for (i = 0; i < sizeof(svb_sa_handlers) / sizeof(*svb_sa_handlers); i++) {
		at = &svb_sa_handlers[i];
		if (at->attr == attr && (at->method == method ||
					 (at->table && method == SVB_METHOD_GET_TABLE)))
			return at;
	}
	return NULL;
}

/* A Get has one answer (15.4.4); a table may be empty. */
static uint32_t svb_sa_single(const struct svb_sa *sa)
{
	if (!sa->size)
		return SVB_SA_NO_RECORDS;
	return sa->size > sa->record ? SVB_SA_TOO_MANY : SVB_SA_OK;
}

static uint32_t svb_sa_run(struct svb_sa *sa)
{
	const struct svb_sa_handler *handler =
		svb_sa_handler((uint16_t)svb_mad_get(sa->mad, SVB_MAD_ATTR, 2),
			       sa->method);
	uint32_t status;

	if (!handler)
		return SVB_MAD_BAD_METHOD_ATTR;
	sa->record = handler->record;
	status = handler->run(sa);
	if (!status && sa->method == SVB_METHOD_GET)
		status = svb_sa_single(sa);
	return status;
}

/* 13.6.2.1: the header of the first segment is what the receiver is given. */
static void svb_sa_rmpp(uint8_t *answer, size_t payload)
{
	answer[SVB_RMPP_VERSION] = 1;
	answer[SVB_RMPP_TYPE] = 1;     /* data */
	answer[SVB_RMPP_FLAGS] = 0x07; /* active, first, last */
	svb_mad_put(answer, SVB_RMPP_SEGMENT, 4, 1);
	/* Headers of the SA count: 20 bytes each segment has. */
	svb_mad_put(answer, SVB_RMPP_LENGTH, 4, payload + SVB_SA_DATA - SVB_SA_KEY);
}

static size_t svb_sa_pack(struct svb_sa *sa, uint32_t status, uint8_t **answer)
{
	const bool table = sa->method == SVB_METHOD_GET_TABLE;
	size_t len = SVB_MAD_SIZE, size = status ? 0 : sa->size;

	if (table && !status)
		len = SVB_SA_DATA + size;
	*answer = calloc(1, len < SVB_MAD_SIZE ? SVB_MAD_SIZE : len);
	if (!*answer)
		return 0;
	/* What is refused comes back as it was sent. */
	memcpy(*answer, sa->mad, status ? SVB_MAD_SIZE : SVB_SA_DATA);
	(*answer)[SVB_MAD_METHOD] = sa->method | SVB_METHOD_RESPONSE;
	/* Set, and no other, is answered by GetResp (15.4). */
	if (sa->method == SVB_METHOD_SET)
		(*answer)[SVB_MAD_METHOD] = SVB_METHOD_GET | SVB_METHOD_RESPONSE;
	svb_mad_put(*answer, SVB_MAD_STATUS, 2, status);
	memset(*answer + SVB_RMPP_VERSION, 0, SVB_SA_KEY - SVB_RMPP_VERSION);
	svb_mad_put(*answer, SVB_SA_OFFSET, 2, sa->record / 8);
	if (size)
		memcpy(*answer + SVB_SA_DATA, sa->found, size);
	if (table && !status)
		svb_sa_rmpp(*answer, size);
	return len;
}

/* What the settings call a request. */
static enum svb_sa_kind svb_sa_kind(const uint8_t *mad)
{
	const uint64_t attr = svb_mad_get(mad, SVB_MAD_ATTR, 2);

	if (attr == SVB_ATTR_PATH)
		return SVB_SA_PATH;
	if (attr == SVB_ATTR_INFORM_INFO)
		return SVB_SA_INFORM;
	switch (mad[SVB_MAD_METHOD]) {
	case SVB_METHOD_SET:
		return SVB_SA_JOIN;
	case SVB_METHOD_DELETE:
		return SVB_SA_LEAVE;
	case SVB_METHOD_GET_TABLE:
		return SVB_SA_TABLE;
	default:
		return SVB_SA_GET;
	}
}

static size_t svb_sa_request(const struct svb_sa_client *client, const uint8_t *mad,
			     uint8_t **answer, uint32_t *late)
{
	struct svb_sa sa = {
		.client = client,
		.mad = mad,
		.data = mad + SVB_SA_DATA,
		.mask = svb_mad_get(mad, SVB_SA_MASK, 8),
		.method = mad[SVB_MAD_METHOD],
	};
	const struct svb_sa_rule *rule =
		svb_sa_rule_take(&svb_self.settings.sa_fail, svb_sa_kind(mad));
	const enum svb_sa_fate fate = rule ? rule->fate : SVB_SA_FATE_NONE;
	uint32_t status;
	size_t len;

	if (fate == SVB_SA_FATE_NEVER)
		return 0;
	*late = fate == SVB_SA_FATE_LATE ? rule->ms : 0;
	status = fate == SVB_SA_FATE_STATUS ? rule->status : svb_sa_run(&sa);
	len = fate == SVB_SA_FATE_DONE ? 0 : svb_sa_pack(&sa, status, answer);
	free(sa.found);
	return len;
}

static size_t svb_sa_smp(const struct svb_port *port, uint16_t lid, const uint8_t *mad,
			 uint8_t **answer)
{
	*answer = malloc(SVB_MAD_SIZE);
	if (!*answer)
		return 0;
	memcpy(*answer, mad, SVB_MAD_SIZE);
	if (svb_smp_answer(port, lid, *answer))
		return SVB_MAD_SIZE;
	free(*answer);
	*answer = NULL;
	return 0;
}

size_t svb_sa_answer(const struct svb_sa_client *client, uint16_t lid,
		     const uint8_t mad[SVB_MAD_SIZE], uint8_t **answer, uint32_t *late)
{
	const uint8_t class = mad[SVB_MAD_CLASS];

	*answer = NULL;
	*late = 0;
	if (class == SVB_CLASS_SMP || class == SVB_CLASS_SMP_DIRECTED)
		return svb_sa_smp(client->port, lid, mad, answer);
	if (class != SVB_CLASS_SA || lid != SVB_SM_LID)
		return 0;
	if (mad[SVB_MAD_METHOD] == SVB_METHOD_REPORT_RESP) {
		svb_subnet_reported(svb_mad_get(mad, SVB_MAD_TID, 8));
		return 0;
	}
	if (mad[SVB_MAD_METHOD] & SVB_METHOD_RESPONSE)
		return 0;
	return svb_sa_request(client, mad, answer, late);
}
