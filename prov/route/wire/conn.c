/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections from end to end: made, answered, ended. */
#include "layout.h"

static bool sizes_right(uint32_t frag, uint32_t eager)
{
	return frag >= RTE_FRAG_MIN && frag <= RTE_FRAG_MAX && eager <= RTE_EAGER_MAX;
}

static enum rte_bad conn_req_check(const struct rte_conn_req *req)
{
	if (!sizes_right(req->frag, req->eager) || req->ttl > RTE_TTL_MAX ||
	    req->timeout > RTE_TIME_MAX)
		return RTE_BAD_LIMIT;
	return RTE_OK;
}

/* The status and what else only one verdict has. */
static enum rte_bad conn_rep_check(const struct rte_packet *packet,
				   const struct rte_conn_rep *rep)
{
	const bool uri = packet->options.present >> RTE_TLV_URI & 1;

	if (rep->verdict < RTE_ACCEPTED || rep->verdict > RTE_REDIRECT ||
	    (rep->verdict == RTE_ACCEPTED) != !rep->status ||
	    (rep->verdict == RTE_REDIRECT) != uri)
		return RTE_BAD_VALUE;
	if (rep->verdict == RTE_ACCEPTED && !sizes_right(rep->frag, rep->eager))
		return RTE_BAD_LIMIT;
	return rte_status_check(packet, rep->status);
}

RTE_DEFINE_MESSAGE(conn_req, type == RTE_CONN_REQ, RTE_CONN_REQ_FIELDS,
		   conn_req_check(message))
RTE_DEFINE_MESSAGE(conn_rep, type == RTE_CONN_REP, RTE_CONN_REP_FIELDS,
		   conn_rep_check(packet, message))
RTE_DEFINE_MESSAGE(conn_ack, type == RTE_CONN_ACK, RTE_CONN_ACK_FIELDS,
		   rte_status_check(packet, message->status))
RTE_DEFINE_MESSAGE(shutdown, type == RTE_SHUTDOWN, RTE_SHUTDOWN_FIELDS,
		   rte_status_check(packet, message->status))
