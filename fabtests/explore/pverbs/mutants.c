/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fabric.h>
#include "mutants.h"
#include "persist/initiator/internal.h"
#include "program.h"
#include "wrap.h"
#include "xfer/op.h"

enum mutant {
	FENCE_STARTS,
	FENCE_OWES,
	SHORT_OUTSTANDING,
	SHORT_DIRTY,
	ATOMICS_CLEAN,
	UPGRADE_ONE_RANGE,
	UPGRADE_ONE_REGION,
	GROUP_ONE_RANGE,
	GROUP_ONE_REGION,
	ANNOUNCED,
	MUTANTS
};

static enum mutant mutant = MUTANTS; /* MUTANTS: none */
static uint64_t used;
static bool in_short; /* the short path decides */

static bool is(enum mutant which)
{
	return mutant == which;
}

/* Notes whether the fault makes a difference now. */
static bool differs(bool different)
{
	used += different;
	return different;
}

static bool is_fenced(const struct call *call, bool durable)
{
	return call->flags & FI_FENCE && !!(call->flags & FI_COMMIT_COMPLETE) == durable;
}

static bool in_plain_fence(void)
{
	return xpv_program_call() && is_fenced(xpv_program_call(), false);
}

WRAP(unsigned int, pvb_commit_pending, struct pvb_qp *qp, uint32_t attr_bits)
{
	const unsigned int before = __real_pvb_commit_pending(qp, attr_bits);

	if ((is(FENCE_STARTS) && in_plain_fence()) || in_short)
		return differs(before) ? 0 : before;
	return before;
}

WRAP(bool, pvb_dirty_owed, const struct pvb_dirty *dirty)
{
	const bool owed = __real_pvb_dirty_owed(dirty);

	return is(FENCE_OWES) && in_plain_fence() && differs(owed) ? false : owed;
}

WRAP(enum pvb_plan_cache_hit, pvb_plan_cache_hit, struct pvb_ep *ep,
     const struct pvb_op *op)
{
	const enum pvb_plan_cache_hit way = __real_pvb_plan_cache_hit(ep, op);
	struct pvb_commit *commit = ep->qp.commit;
	enum pvb_plan_cache_hit other;
	unsigned int kinds;
	uint32_t attr_bits;

	if (!is(SHORT_OUTSTANDING) || !commit)
		return way;
	kinds = commit->kinds;
	attr_bits = commit->attr_bits;
	commit->kinds = 0;
	commit->attr_bits = commit->plan_cache.attr_bits;
	in_short = true;
	other = __real_pvb_plan_cache_hit(ep, op);
	in_short = false;
	commit->kinds = kinds;
	commit->attr_bits = attr_bits;
	differs(other != way);
	return other;
}

WRAP(ssize_t, pvb_plan_cache_fenced, struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_dirty *dirty = &ep->qp.commit->dirty;

	if (is(SHORT_DIRTY) && differs(dirty->count))
		dirty->count = 0;
	return __real_pvb_plan_cache_fenced(ep, op);
}

WRAP(int, pvb_dirty_add, struct pvb_dirty *dirty, struct pvb_dirty_range range)
{
	const struct call *call = xpv_program_call();

	if (is(ATOMICS_CLEAN) && differs(call && call->kind == CALL_ADD))
		return 0;
	return __real_pvb_dirty_add(dirty, range);
}

/* Forgets all ranges but the first of a kind, or all of other regions than the first's.
 */
static void forget(struct pvb_dirty *dirty, bool grouped, bool regions)
{
	const struct pvb_dirty_range *first = NULL;
	size_t i;

	for (i = 0; i < dirty->count; i++) {
		if (grouped && !dirty->range[i].grouped)
			continue;
		if (!first)
			first = &dirty->range[i];
		else if (!regions || dirty->range[i].rkey != first->rkey)
			break;
	}
	if (differs(i < dirty->count))
		dirty->count = i;
}

WRAP(int, pvb_commit_upgrade, struct pvb_ep *ep, const struct pvb_plan_query *query,
     uint32_t attr_bits, bool join, unsigned int *before)
{
	if (is(UPGRADE_ONE_RANGE) || is(UPGRADE_ONE_REGION))
		forget(&ep->qp.commit->dirty, false, is(UPGRADE_ONE_REGION));
	return __real_pvb_commit_upgrade(ep, query, attr_bits, join, before);
}

/* group.c asks for the plan of what it flushes next. */
WRAP(int, pvb_upgrade_plan, struct pvb_ep *ep, const struct pvb_dirty_range *range,
     struct pvb_plan *plan)
{
	if (is(GROUP_ONE_RANGE) || is(GROUP_ONE_REGION))
		forget(&ep->qp.commit->dirty, true, is(GROUP_ONE_REGION));
	return __real_pvb_upgrade_plan(ep, range, plan);
}

WRAP(bool, pvb_commit_overtakes, struct pvb_ep *ep, const struct pvb_op *op)
{
	const bool overtakes = __real_pvb_commit_overtakes(ep, op);

	if (is(ANNOUNCED) && pvb_op_announces(op) && differs(overtakes))
		return false;
	return overtakes;
}

static bool any_call(const struct scenario *scenario, bool (*is_one)(const struct call *))
{
	const struct call *call = scenario->call;

	while (call < scenario->call + CALLS && call->kind && !is_one(call))
		call++;
	return call < scenario->call + CALLS && call->kind;
}

static bool fences_plain(const struct call *call)
{
	return is_fenced(call, false);
}

static bool adds_plain(const struct call *call)
{
	return call->kind == CALL_ADD && !(call->flags & FI_COMMIT_COMPLETE);
}

static bool groups(const struct call *call)
{
	return call->flags & FI_MORE;
}

static bool fits_fence(const struct scenario *scenario, const struct machine *machine)
{
	return any_call(scenario, fences_plain);
}

static bool fits_short(const struct scenario *scenario, const struct machine *machine)
{
	return scenario->first;
}

static bool fits_atomic(const struct scenario *scenario, const struct machine *machine)
{
	return any_call(scenario, adds_plain);
}

static bool fits_apart(const struct scenario *scenario, const struct machine *machine)
{
	return machine->special == SPECIAL_WIDE;
}

static bool fits_regions(const struct scenario *scenario, const struct machine *machine)
{
	return machine->special == SPECIAL_REGIONS || machine->special == SPECIAL_MIXED;
}

static bool fits_group(const struct scenario *scenario, const struct machine *machine)
{
	return fits_apart(scenario, machine) && any_call(scenario, groups);
}

static bool fits_group_regions(const struct scenario *scenario,
			       const struct machine *machine)
{
	return fits_regions(scenario, machine) && any_call(scenario, groups);
}

static bool fits_unordered(const struct scenario *scenario, const struct machine *machine)
{
	return machine->special == SPECIAL_UNORDERED &&
	       any_call(scenario, call_announces);
}

static const struct {
	const char *name;
	bool (*fits)(const struct scenario *scenario, const struct machine *machine);
} mutants[MUTANTS] = {
	[FENCE_STARTS] = {"a plain fence does not wait", fits_fence},
	[FENCE_OWES] = {"a plain fence does not make durable what is owed", fits_fence},
	[SHORT_OUTSTANDING] = {"the short path ignores what is outstanding", fits_short},
	[SHORT_DIRTY] = {"the short path has no FLUSH of what is dirty", fits_short},
	[ATOMICS_CLEAN] = {"atomics do not count as dirty", fits_atomic},
	[UPGRADE_ONE_RANGE] = {"a fence forgets all ranges but the first", fits_apart},
	[UPGRADE_ONE_REGION] = {"a fence forgets all regions but the first",
				fits_regions},
	[GROUP_ONE_RANGE] = {"a group's flush forgets all ranges but the first",
			     fits_group},
	[GROUP_ONE_REGION] = {"a group's flush forgets all regions but the first",
			      fits_group_regions},
	[ANNOUNCED] = {"what announces is not held back, writes being unordered",
		       fits_unordered},
};

const char *xpv_mutant_name(unsigned int number)
{
	return number < MUTANTS ? mutants[number].name : NULL;
}

bool xpv_mutant_fits(unsigned int number, const struct scenario *scenario,
		     const struct machine *machine)
{
	return mutants[number].fits(scenario, machine);
}

void xpv_mutant_use(unsigned int number)
{
	mutant = (enum mutant)number;
	used = 0;
}

uint64_t xpv_mutant_end(void)
{
	mutant = MUTANTS;
	return used;
}
