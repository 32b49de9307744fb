/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <cairn/wait.h>

#include "drain.h"
#include "log.h"
#include "notify.h"
#include "route/route.h"
#include "transit/transit.h"

/* The service manager is told of each number once. */
static void tell(struct frt_node *node, uint32_t left)
{
	struct frt_draining *draining = &node->draining;
	char state[64];

	if (draining->told && draining->left == left)
		return;
	snprintf(state, sizeof(state), "STATUS=drain: %" PRIu32 " connection%s left",
		 left, left == 1 ? " is" : "s are");
	frt_notify(state);
	if (!left)
		frt_log(FRT_INFO, "drain: no connections are left");
	draining->told = true;
	draining->left = left;
}

static bool is_over(const struct frt_draining *draining, uint64_t now)
{
	if (!draining->exit)
		return false;
	if (draining->until && now >= draining->until)
		return true;
	return draining->empty && now - draining->empty >= FRT_DRAIN_QUIET;
}

static void look_again(struct frt_node *node, uint64_t now)
{
	const struct frt_draining *draining = &node->draining;
	uint64_t at = now + FRT_DRAIN_LOOK;

	if (draining->exit && draining->until && draining->until < at)
		at = draining->until;
	crn_deadline_add(&node->deadlines, &node->draining.look, at);
}

static void look(struct frt_node *node)
{
	struct frt_draining *draining = &node->draining;
	const uint32_t left = frt_transits_passed(node);
	const uint64_t now = crn_now_ms();

	tell(node, left);
	if (left)
		draining->empty = 0;
	else if (!draining->empty)
		draining->empty = now;
	if (!is_over(draining, now)) {
		look_again(node, now);
		return;
	}
	if (left)
		frt_log(FRT_WARN, "drain: time is up, and %" PRIu32 " connection%s left",
			left, left == 1 ? " is" : "s are");
	node->leave = true;
}

static void on_look(struct crn_deadline *deadline)
{
	look(crn_container_of(deadline, struct frt_node, draining.look));
}

void frt_drain_begin(struct frt_node *node)
{
	struct frt_draining *draining = &node->draining;

	if (node->drain)
		return;
	*draining = (struct frt_draining){.since = crn_now_ms(), .look.expired = on_look};
	frt_node_drain(node, true);
	frt_routes_forget(node);
	frt_log(FRT_INFO, "drain: no new connections are taken; %" PRIu32 " go on",
		frt_transits_passed(node));
	look(node);
}

void frt_drain_exit(struct frt_node *node, uint64_t deadline)
{
	struct frt_draining *draining = &node->draining;

	frt_drain_begin(node);
	draining->exit = true;
	draining->until = deadline ? crn_now_ms() + deadline : 0;
	look(node);
}

void frt_drain_undo(struct frt_node *node)
{
	if (!node->drain)
		return;
	crn_deadline_remove(&node->deadlines, &node->draining.look);
	node->leave = false;
	frt_node_drain(node, false);
	frt_routes_forget(node);
	frt_log(FRT_INFO, "drain: undone, new connections are taken");
	frt_notify("STATUS=new connections are taken");
}

void frt_drain_close(struct frt_node *node)
{
	crn_deadline_remove(&node->deadlines, &node->draining.look);
}
