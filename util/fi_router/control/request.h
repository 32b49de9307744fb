/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked at the control socket:
 *
 *	{"command": "show", "what": "topology"}
 *		also routes, connections, counters, adjacencies
 *		and blocked
 *	{"command": "ready"}
 *	{"command": "top", "count": 10}
 *		count: of the busiest connections
 *	{"command": "why", "target": "3:2", "from": "3:1"}
 *		target: also with an address; from: a subnet, this router's own without
 *	{"command": "probe", "target": "3:2:10.0.2.7", "ttl": 16, "timeout": 1000}
 *		ttl: routers behind this one, 0: none; timeout: ms
 *	{"command": "fault", ...}	fault.h
 *	{"command": "drain", "action": "begin"}
 *		also exit, with "deadline": ms, undo, and look, which changes nothing
 *
 * Pure: no I/O.
 */
#ifndef FRT_REQUEST_H
#define FRT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "config/config.h"
#include "fault.h"

/* Bytes of a request at most, with the end of its line. */
#define FRT_REQUEST_MAX 1024u
#define FRT_PROBE_MS 1000u
#define FRT_PROBE_MS_MAX 10000u
/* A day. */
#define FRT_DRAIN_MS_MAX 86400000u

#define FRT_TOP_COUNT 10u
#define FRT_TOP_COUNT_MAX 100u

enum frt_command {
	FRT_SHOW,
	FRT_PROBE,
	FRT_READY,
	FRT_TOP,
	FRT_WHY,
	FRT_DRAIN,
	FRT_FAULT,
	FRT_COMMANDS,
};

enum frt_show {
	FRT_TOPOLOGY,
	FRT_ROUTES,
	FRT_CONNECTIONS,
	FRT_COUNTERS,
	FRT_ADJACENCIES,
	FRT_BLOCKED,
	FRT_SHOWS,
};

enum frt_drain_action {
	FRT_DRAIN_BEGIN,
	FRT_DRAIN_EXIT,
	FRT_DRAIN_UNDO,
	FRT_DRAIN_STATE,
	FRT_DRAIN_ACTIONS,
};

struct frt_request {
	enum frt_command command;
	enum frt_show what;		/* SHOW */
	struct rte_uri target;		/* PROBE: routed, an IPv4 or IPv6 address */
	uint32_t ttl;			/* PROBE: 0 to RTE_TTL_MAX */
	uint32_t timeout;		/* PROBE: ms, 1 to FRT_PROBE_MS_MAX */
	struct frt_fault_request fault; /* FAULT */
	enum frt_drain_action action;	/* DRAIN */
	uint32_t deadline;		/* DRAIN_EXIT: ms; 0: none */
	uint32_t count;			/* TOP: 0 to FRT_TOP_COUNT_MAX */
	struct rte_subnet to, from;	/* WHY */
	bool has_from;
};

/* NULL; or what is wrong with it, text that stays. */
const char *frt_request_parse(struct frt_request *request, const char *text, size_t len);

#endif
