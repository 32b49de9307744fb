/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's program, call by call, and what a processor does when it is its turn.
 */
#include "call.h"
#include "engine/engine.h"
#include "image.h"
#include "objects/objects.h"
#include "program.h"
#include "state.h"
#include "verbs/verbs.h"
#include "target.h"
#include "world.h"

#define ENTRIES 8

static const struct scenario *running;
static uint32_t count; /* calls */
static uint32_t loud;  /* those that are reported, a bit each */
static uint32_t until = CALLS;
static const struct call *making;

static bool counted(void)
{
	return xpv_world.machine->special == SPECIAL_COUNTED;
}

void xpv_program_begin(const struct scenario *scenario)
{
	uint32_t i;

	xpv_program = (struct program){.now = PROGRAM_BEGIN};
	running = scenario;
	for (i = 0; i < CALLS && scenario->call[i].kind; i++)
		;
	count = i;
	loud = 0;
	while (i--)
		loud |= (uint32_t)(counted() || !scenario->call[i].quiet) << i;
}

bool xpv_program_refuses(uint64_t at, uint64_t len)
{
	const struct call *call;

	for (call = running->call; call < running->call + count; call++)
		if (call->refused && at < call->at + (uint64_t)call->len &&
		    call->at < at + len)
			return true;
	return false;
}

/* Have all calls before that one been reported? */
static bool ended(uint32_t number)
{
	uint32_t before = ((1u << number) - 1) & loud;

	return ((xpv_program.reported | xpv_program.failed) & before) == before;
}

const struct call *xpv_program_call(void)
{
	return making;
}

void xpv_program_until(uint32_t number)
{
	until = number;
}

bool xpv_program_made(uint32_t number)
{
	return xpv_program.called == number && ended(number);
}

bool xpv_program_done(void)
{
	return xpv_program.called == count && ended(count);
}

/* How often a full queue was tried in vain is a statistic: states do not differ by it. */
static void forget_stalls(struct fid_ep *ep)
{
	crn_container_of(ep, struct pvb_ep, fid)->qp.sq.stalls = 0;
}

static void step_look(void);

static bool step_call(void)
{
	uint32_t number = xpv_program.called;
	const struct call *call = &running->call[number];
	ssize_t ret;

	if (number == count || number == until || (call->wait && !ended(number)) ||
	    (call->room && !xpv_target_has_room(number)))
		return false;
	svb_self.settings.loss = call->lost;
	svb_self.settings.latency = call->late ? SECOND : 0;
	if (call->flags & FI_FENCE && xpv_program_refuses(0, xpv_world.pm_size)) {
		step_look();
		xpv_program.known[number] = xpv_program.failed;
	}
	making = call;
	ret = xpv_call_make(call, number);
	making = NULL;
	svb_self.settings.loss = 0;
	svb_self.settings.latency = 0;
	forget_stalls(xpv_world.ep[call->pair][INITIATOR]);
	if (ret == -FI_EAGAIN)
		return true;
	xpv_program.called++;
	if (ret) {
		xpv_program.failed |= 1u << number;
		xpv_program.wrong |= WRONG_REFUSED;
	}
	return true;
}

static void reported(uint32_t number)
{
	const struct call *call = running->call;

	if ((xpv_program.reported | xpv_program.failed) >> number & 1)
		xpv_program.wrong |= WRONG_ORDER;
	for (uint32_t i = 0; i < number; i++)
		if (call[i].pair == call[number].pair && !call[i].quiet &&
		    !((xpv_program.reported | xpv_program.failed) >> i & 1))
			xpv_program.wrong |= WRONG_ORDER;
	xpv_program.reported |= 1u << number;
	if (call[number].kind == CALL_READ &&
	    !xpv_image_read(number, xpv_world.result[number], call[number].len))
		xpv_program.wrong |= WRONG_END;
}

/* Errors come one at a time. The call that failed, or CALLS. */
static uint32_t failure(struct fid_cq *cq)
{
	struct fi_cq_err_entry entry = {0};

	xpv_program.wrong |= WRONG_ERROR;
	if (fi_cq_readerr(cq, &entry, 0) != 1 || !entry.op_context)
		return CALLS;
	return (uint32_t)(uintptr_t)entry.op_context - 1;
}

static void failed(uint32_t number)
{
	if (number < CALLS)
		xpv_program.failed |= 1u << number;
}

static void step_read(void)
{
	struct fi_cq_data_entry entry[ENTRIES];
	struct fid_cq *cq = xpv_world.cq[INITIATOR];
	ssize_t got = fi_cq_read(cq, entry, ENTRIES), i;

	for (i = 0; i < got; i++)
		reported((uint32_t)(uintptr_t)entry[i].op_context - 1);
	if (got == -FI_EAVAIL)
		failed(failure(cq));
}

/* The next call of a connection that a counter can be about, or CALLS. */
static uint32_t next_counted(uint32_t pair)
{
	for (uint32_t i = 0; i < xpv_program.called; i++)
		if (running->call[i].pair == pair &&
		    !((xpv_program.reported | xpv_program.failed) >> i & 1))
			return i;
	return CALLS;
}

/* Operations of a connection end in the order of the calls, so a counter's value says
 * which have. */
static void step_count(void)
{
	struct fid_cntr *cntr;
	uint32_t number;

	for (uint32_t pair = 0; pair < xpv_world.machine->pairs; pair++) {
		cntr = xpv_world.cntr[pair][INITIATOR];
		while (xpv_program.counted[pair] < fi_cntr_read(cntr)) {
			number = next_counted(pair);
			if (number == CALLS) {
				xpv_program.wrong |= WRONG_ORDER;
				break;
			}
			xpv_program.counted[pair]++;
			reported(number);
		}
		if (fi_cntr_readerr(cntr)) {
			xpv_program.wrong |= WRONG_ERROR;
			failed(next_counted(pair));
		}
	}
}

/* Once, after the last call: timers of queue pairs and of the provider run out. */
static bool step_time(void)
{
	if (!running->seconds || xpv_program.called < count ||
	    xpv_program.now != PROGRAM_BEGIN)
		return false;
	xpv_program.now += running->seconds * SECOND;
	svb_self.seg->next_deadline = 1;
	svb_engine_timers();
	return true;
}

/* At what has ended, whoever tells of it. */
static void step_look(void)
{
	if (counted())
		step_count();
	else
		step_read();
}

bool xpv_program_step(enum step step)
{
	bool possible = true;

	xpl_heap_use(true);
	switch (step) {
	case STEP_CALL:
		possible = step_call();
		break;
	case STEP_READ:
		step_look();
		break;
	case STEP_TARGET:
		xpv_target_step();
		break;
	default:
		possible = step_time();
		break;
	}
	xpl_heap_use(false);
	return possible;
}
