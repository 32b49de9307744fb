/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults as they are asked for at the control socket:
 *
 *	{"command": "fault", "do": "set", "act": "drop", "peer": "2", "class": "acks"}
 *	{"command": "fault", "do": "show"}
 *	{"command": "fault", "do": "clear", "id": 1}
 *
 * Pure: no I/O.
 */
#ifndef FRT_FAULT_H
#define FRT_FAULT_H

#include <jansson.h>
#include "peer/fault.h"

enum frt_fault_do { FRT_FAULT_SET, FRT_FAULT_SHOW, FRT_FAULT_CLEAR, FRT_FAULT_DOS };

struct frt_fault_request {
	enum frt_fault_do what;
	struct rte_fault fault; /* SET */
	uint32_t id;		/* CLEAR; 0: all */
};

/* The members of a request. NULL; or what is wrong with it, text that stays. */
const char *frt_fault_parse(struct frt_fault_request *request, const json_t *object);
/* As the request that sets it, with "id" and "hits". NULL: no memory. */
json_t *frt_fault_json(const struct rte_fault *fault);

#endif
