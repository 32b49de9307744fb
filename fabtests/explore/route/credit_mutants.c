/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of flow control: the linker puts these where the model calls it. */
#include "credit.h"

enum mutant {
	ONE_LANE,
	RESPONSE_WAITS,
	RESOLVE_WAITS,
	NO_ESCAPE,
	NO_PLACE,
	NO_KEY,
	GIVES_TWICE,
	NEVER_GIVES,
	NO_CREDIT,
	GRANT_LOST,
	MUTANTS
};

#define SEEN 77u /* a share that says: one was granted */

static enum mutant mutant = MUTANTS; /* MUTANTS: none */

static bool is(enum mutant which)
{
	return mutant == which;
}

enum rte_lane __real_rte_message_lane(uint8_t kind);
enum rte_lane __wrap_rte_message_lane(uint8_t kind);

enum rte_lane __wrap_rte_message_lane(uint8_t kind)
{
	return is(ONE_LANE) ? RTE_REQUESTS : __real_rte_message_lane(kind);
}

unsigned int __real_rte_flow_needs(uint8_t kind, enum rte_flow_place place);
unsigned int __wrap_rte_flow_needs(uint8_t kind, enum rte_flow_place place);

unsigned int __wrap_rte_flow_needs(uint8_t kind, enum rte_flow_place place)
{
	unsigned int needs = __real_rte_flow_needs(kind, place);

	if (is(RESPONSE_WAITS) && kind == RTE_READ_FRAG && place == RTE_FLOW_END)
		needs |= RTE_FLOW_RECEIVE;
	if (is(RESOLVE_WAITS) && kind == RTE_MR_RESOLVE && place == RTE_FLOW_END)
		needs |= CREDIT_SLOT_BACK;
	if (is(NO_PLACE))
		needs &= ~(unsigned int)RTE_FLOW_ANSWER;
	if (is(NO_KEY))
		needs &= ~(unsigned int)RTE_FLOW_KEY;
	return needs;
}

enum rte_room __real_rte_inlet_grant(struct rte_inlet *inlet, struct rte_pool *pool);
enum rte_room __wrap_rte_inlet_grant(struct rte_inlet *inlet, struct rte_pool *pool);

/* Ends, which have no pool, keep theirs. */
enum rte_room __wrap_rte_inlet_grant(struct rte_inlet *inlet, struct rte_pool *pool)
{
	enum rte_room room;

	if (!is(NO_ESCAPE) || !pool->size)
		return __real_rte_inlet_grant(inlet, pool);
	inlet->escape_filled = true;
	room = __real_rte_inlet_grant(inlet, pool);
	inlet->escape_filled = false;
	return room;
}

void __real_rte_inlet_empty(struct rte_inlet *inlet, enum rte_room room,
			    struct rte_pool *pool);
void __wrap_rte_inlet_empty(struct rte_inlet *inlet, enum rte_room room,
			    struct rte_pool *pool);

void __wrap_rte_inlet_empty(struct rte_inlet *inlet, enum rte_room room,
			    struct rte_pool *pool)
{
	if (is(NEVER_GIVES) && room == RTE_ROOM_ESCAPE)
		return;
	__real_rte_inlet_empty(inlet, room, pool);
	if (is(GIVES_TWICE) && room == RTE_ROOM_POOL)
		pool->free++;
}

enum rte_room __real_rte_outlet_take(struct rte_outlet *outlet);
enum rte_room __wrap_rte_outlet_take(struct rte_outlet *outlet);

enum rte_room __wrap_rte_outlet_take(struct rte_outlet *outlet)
{
	const enum rte_room room = __real_rte_outlet_take(outlet);

	return is(NO_CREDIT) && room == RTE_ROOM_NONE ? RTE_ROOM_ESCAPE : room;
}

int __real_rte_outlet_granted(struct rte_outlet *outlet, enum rte_room room);
int __wrap_rte_outlet_granted(struct rte_outlet *outlet, enum rte_room room);

/* The second one, of the escape slot. */
int __wrap_rte_outlet_granted(struct rte_outlet *outlet, enum rte_room room)
{
	if (is(GRANT_LOST) && room == RTE_ROOM_ESCAPE && outlet->share == SEEN)
		return 0;
	if (is(GRANT_LOST) && room == RTE_ROOM_ESCAPE)
		outlet->share = SEEN;
	return __real_rte_outlet_granted(outlet, room);
}

static const char *const names[MUTANTS] = {
	[ONE_LANE] = "requests and responses share a lane",
	[RESPONSE_WAITS] = "responses wait for a receive of the application",
	[RESOLVE_WAITS] = "a question for a key keeps its slot until it is answered",
	[NO_ESCAPE] = "all slots are of the pool",
	[NO_PLACE] = "the last router acts without a place for its answer",
	[NO_KEY] = "the last router acts without a key",
	[GIVES_TWICE] = "a slot goes back to the pool twice",
	[NEVER_GIVES] = "an escape slot is granted once",
	[NO_CREDIT] = "senders do not wait for slots",
	[GRANT_LOST] = "a grant is lost",
};

const char *credit_mutant(unsigned int number)
{
	return number < MUTANTS ? names[number] : NULL;
}

bool credit_mutant_fits(unsigned int number, const void *of)
{
	const struct credit_run *run = of;

	switch ((enum mutant)number) {
	case NO_ESCAPE:
	case GIVES_TWICE:
		return run->pool;
	case RESOLVE_WAITS:
		return run->script;
	default:
		return !run->pool;
	}
}

void credit_mutant_use(unsigned int number)
{
	mutant = (enum mutant)number;
}
