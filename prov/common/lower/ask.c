/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo inside fi_getinfo, which must not end in the layer that calls it. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

/*
 * Flags of fi_getinfo that libfabric's utility providers use, the same in 1.17 and 2.x:
 * core providers only, and those too that FI_PROVIDER hides. A stack of names is looked
 * up by its last one, and may not be asked for with the former.
 */
#define ASK_CORE_ONLY (1ULL << 59)
#define ASK_HIDDEN (1ULL << 60)
#define ASK_INTERNAL (ASK_CORE_ONLY | ASK_HIDDEN | 1ULL << 58 | 1ULL << 61)

/* On the stack of a thread that is in lower_ask. */
struct ask_call {
	const struct crn_lower_layer *layer;
	struct ask_call *outer;
};

static _Thread_local struct ask_call *ask_calls;

bool lower_asking(const struct crn_lower_layer *layer)
{
	const struct ask_call *call = ask_calls;

	while (call && call->layer != layer)
		call = call->outer;
	return call;
}

int lower_ask(const struct crn_lower_layer *layer, const struct lower_question *question,
	      const char *name, struct fi_info **info)
{
	struct ask_call call = {layer, ask_calls};
	uint64_t flags = (question->flags & ~ASK_INTERNAL) | ASK_HIDDEN;
	char *copy = strdup(name);
	int ret;

	if (!copy)
		return -FI_ENOMEM;
	free(question->hints->fabric_attr->prov_name);
	question->hints->fabric_attr->prov_name = copy;
	if (!strchr(name, ';'))
		flags |= ASK_CORE_ONLY;
	ask_calls = &call;
	ret = fi_getinfo(question->version, question->node, question->service, flags,
			 question->hints, info);
	ask_calls = call.outer;
	return ret;
}
