/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults are injected, shown, and cleared. */
#include <stdlib.h>

#include "fault.h"
#include "inside.h"
#include "log.h"
#include "worker/worker.h"

/* Every port looks at the rules anew. */
static void apply(struct frt_node *node)
{
	uint32_t i, k;

	for (i = 0; i < node->devices; i++)
		for (k = 0; k < node->workers; k++)
			if (node->device[i]->at[k].port)
				rte_port_faults(node->device[i]->at[k].port,
						&node->faults);
	frt_workers_wake(node);
}

static void say(const struct rte_fault *fault)
{
	json_t *object = frt_fault_json(fault);
	char *text = json_dumps(object, JSON_COMPACT);

	frt_log(FRT_WARN,
		"a fault is injected from now on, until fi_routectl fault clear or the "
		"end: %s",
		text ? text : "");
	free(text);
	json_decref(object);
}

static const char *set(struct frt_node *node, const struct rte_fault *fault)
{
	struct rte_faults *faults = &node->faults;

	if (!rte_faults_add(faults, fault))
		return "there are 16 faults already";
	apply(node);
	say(&faults->fault[faults->count - 1]);
	return NULL;
}

_Static_assert(RTE_FAULTS_MAX == 16, "the text above");

static const char *clear(struct frt_node *node, uint32_t id)
{
	if (!rte_faults_remove(&node->faults, id))
		return "there is no such fault";
	apply(node);
	frt_log(FRT_WARN, "faults that are injected: %u", node->faults.count);
	return NULL;
}

static json_t *all(const struct frt_node *node)
{
	json_t *object = frt_json_self(node), *array = json_array();
	uint32_t i;

	for (i = 0; i < node->faults.count; i++)
		json_array_append_new(array, frt_fault_json(&node->faults.fault[i]));
	json_object_set_new(object, "faults", array);
	return object;
}

json_t *frt_inject(struct frt_node *node, const struct frt_fault_request *request)
{
	const char *why = NULL;

	if (request->what == FRT_FAULT_SET)
		why = set(node, &request->fault);
	else if (request->what == FRT_FAULT_CLEAR)
		why = clear(node, request->id);
	return why ? json_pack("{s:s}", "error", why) : all(node);
}
