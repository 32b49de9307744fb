/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>
#include "flow.h"

/* Receives of a lane: no more than HELLO may say (RTE_SLOTS_MAX). */
#define OUTLET_MOST 4096u

void rte_inlet_open(struct rte_inlet *inlet, uint32_t receives)
{
	*inlet = (struct rte_inlet){.receives = receives, .credits = receives};
}

bool rte_inlet_fill(struct rte_inlet *inlet)
{
	if (!inlet->credits)
		return false;
	inlet->credits--;
	return true;
}

void rte_inlet_empty(struct rte_inlet *inlet)
{
	inlet->due++;
}

uint8_t rte_inlet_tell(struct rte_inlet *inlet)
{
	const uint32_t due = CRN_MIN(inlet->due, (uint32_t)UINT8_MAX);

	inlet->due -= due;
	inlet->credits += due;
	return (uint8_t)due;
}

void rte_inlet_more(struct rte_inlet *inlet, uint32_t receives)
{
	inlet->receives += receives;
	inlet->credits += receives;
}

uint32_t rte_inlet_ask(struct rte_inlet *inlet, uint32_t fewer)
{
	fewer = CRN_MIN(fewer, inlet->receives - inlet->asked - 1);
	inlet->asked += fewer;
	return fewer;
}

bool rte_inlet_given(struct rte_inlet *inlet)
{
	if (!inlet->asked || !inlet->credits)
		return false;
	inlet->asked--;
	inlet->credits--;
	inlet->receives--;
	return true;
}

/* Half of them: a sender that had all of them goes on with the others meanwhile. */
bool rte_inlet_overdue(const struct rte_inlet *inlet)
{
	return inlet->due && inlet->due >= inlet->receives / 2;
}

void rte_outlet_open(struct rte_outlet *outlet, uint32_t receives)
{
	*outlet = (struct rte_outlet){.receives = receives, .credits = receives};
}

bool rte_outlet_take(struct rte_outlet *outlet)
{
	if (!outlet->credits)
		return false;
	outlet->credits--;
	return true;
}

void rte_outlet_undo(struct rte_outlet *outlet)
{
	outlet->credits++;
}

bool rte_outlet_told(struct rte_outlet *outlet, uint8_t credits)
{
	if (credits > outlet->receives - outlet->credits)
		return false;
	outlet->credits += credits;
	return true;
}

bool rte_outlet_more(struct rte_outlet *outlet, uint32_t receives)
{
	if (receives > OUTLET_MOST - CRN_MIN(outlet->receives, OUTLET_MOST))
		return false;
	outlet->receives += receives;
	outlet->credits += receives;
	return true;
}

bool rte_outlet_asked(struct rte_outlet *outlet, uint32_t credits)
{
	if (credits >= outlet->receives - outlet->asked)
		return false;
	outlet->asked += credits;
	return true;
}

bool rte_outlet_give(struct rte_outlet *outlet)
{
	if (!outlet->asked || !outlet->credits)
		return false;
	outlet->asked--;
	outlet->credits--;
	outlet->receives--;
	return true;
}
