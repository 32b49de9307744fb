/* SPDX-License-Identifier: BSD-2-Clause */
#include "inside.h"
#include "ready.h"

json_t *frt_show_ready(const struct frt_node *node)
{
	json_t *object = frt_json_self(node);
	char why[FRT_READY_SIZE];

	json_object_set_new(object, "ready", json_boolean(frt_ready(node, why)));
	json_object_set_new(object, "why", json_string(why));
	return object;
}
