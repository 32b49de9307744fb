/* SPDX-License-Identifier: BSD-2-Clause */
/* Which call fails. */
#include "fault.h"

static struct {
	enum fault_kind kind;
	unsigned int left; /* calls until one fails; 0: none will */
	bool on;
	bool held;
	const char *failed;
} plan;

void fct_fault_arm(enum fault_kind kind, unsigned int nth, bool on)
{
	plan.kind = kind;
	plan.left = nth;
	plan.on = on;
	plan.held = false;
	plan.failed = NULL;
}

void fct_fault_disarm(void)
{
	plan.left = 0;
}

void fct_fault_hold(bool held)
{
	plan.held = held;
}

const char *fct_fault_failed(void)
{
	return plan.failed;
}

bool fct_fault_now(enum fault_kind kind, const char *name)
{
	if (plan.held || plan.kind != kind || !plan.left)
		return false;
	if (plan.left > 1) {
		plan.left--;
		return false;
	}
	if (!plan.on)
		plan.left = 0;
	if (!plan.failed)
		plan.failed = name;
	return true;
}
