/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's program, call by call, and what a processor does when it is its turn.
 */
#include <string.h>
#include "engine.h"
#include "heap.h"
#include "pverbs.h"
#include "svb.h"
#include "world.h"

#define ENTRIES 8
#define SECOND 1000000000ull /* ns */
#define PROGRAM_BEGIN SECOND

struct program program = {.now = PROGRAM_BEGIN};
static const struct scenario *running;
static uint32_t count; /* calls */
static uint32_t loud;  /* those that are reported, a bit each */

/* By connection, in the order sent: which call takes a receive. */
static uint32_t message[PAIRS][CALLS];

void program_begin(const struct scenario *scenario)
{
	uint32_t sent[PAIRS] = {0}, i;

	program = (struct program){.now = PROGRAM_BEGIN};
	running = scenario;
	for (i = 0; i < CALLS && scenario->call[i].kind; i++)
		if (scenario->call[i].kind == CALL_SEND ||
		    scenario->call[i].kind == CALL_WRITEDATA)
			message[scenario->call[i].pair][sent[scenario->call[i].pair]++] =
				i;
	count = i;
	loud = 0;
	while (i--)
		loud |= (uint32_t)!scenario->call[i].quiet << i;
}

/* Have all calls before that one been reported? */
static bool ended(uint32_t number)
{
	uint32_t before = ((1u << number) - 1) & loud;

	return ((program.reported | program.failed) & before) == before;
}

bool program_done(void)
{
	return program.called == count && ended(count);
}

static uint64_t completion(const struct call *call)
{
	return call->quiet ? call->flags : call->flags | FI_COMPLETION;
}

static ssize_t call_rma(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	bool read = call->kind == CALL_READ;
	struct iovec iov = {read ? world.result[number] : world.source[number],
			    call->len};
	void *desc = fi_mr_desc(read ? world.result_mr : world.source_mr);
	struct fi_rma_iov at = {(uintptr_t)world.pm + call->at, call->len,
				fi_mr_key(world.pm_mr)};
	struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.rma_iov = &at,
		.rma_iov_count = 1,
		.context = (void *)(uintptr_t)(number + 1),
		.data = number,
	};
	uint64_t flags = completion(call);

	if (call->kind == CALL_WRITEDATA)
		flags |= FI_REMOTE_CQ_DATA;
	return read ? fi_readmsg(ep, &msg, flags) : fi_writemsg(ep, &msg, flags);
}

static ssize_t call_send(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	struct iovec iov = {world.source[number], call->len};
	void *desc = fi_mr_desc(world.source_mr);
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.context = (void *)(uintptr_t)(number + 1),
	};

	return fi_sendmsg(ep, &msg, completion(call));
}

static ssize_t call_add(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	struct fi_ioc ioc = {world.source[number], 1};
	void *desc = fi_mr_desc(world.source_mr);
	struct fi_rma_ioc at = {(uintptr_t)world.pm + call->at, 1,
				fi_mr_key(world.pm_mr)};
	struct fi_msg_atomic msg = {
		.msg_iov = &ioc,
		.desc = &desc,
		.iov_count = 1,
		.rma_iov = &at,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = FI_SUM,
		.context = (void *)(uintptr_t)(number + 1),
	};

	return fi_atomicmsg(ep, &msg, completion(call));
}

static ssize_t make(const struct call *call, uint32_t number)
{
	struct fid_ep *ep = world.ep[call->pair][INITIATOR];

	switch (call->kind) {
	case CALL_SEND:
		return call_send(ep, call, number);
	case CALL_ADD:
		return call_add(ep, call, number);
	default:
		return call_rma(ep, call, number);
	}
}

/* How often a full queue was tried in vain is a statistic: states do not differ by it. */
static void forget_stalls(struct fid_ep *ep)
{
	crn_container_of(ep, struct pvb_ep, fid)->conn.sq.stalls = 0;
}

static bool step_call(void)
{
	uint32_t number = program.called;
	const struct call *call = &running->call[number];
	ssize_t ret;

	if (number == count || (call->wait && !ended(number)))
		return false;
	svb_self.settings.loss = call->lost;
	svb_self.settings.latency = call->late ? SECOND : 0;
	ret = make(call, number);
	svb_self.settings.loss = 0;
	svb_self.settings.latency = 0;
	forget_stalls(world.ep[call->pair][INITIATOR]);
	if (ret == -FI_EAGAIN)
		return true;
	program.called++;
	if (ret) {
		program.failed |= 1u << number;
		program.wrong |= WRONG_REFUSED;
	}
	return true;
}

static void reported(uint32_t number)
{
	const struct call *call = running->call;
	uint32_t i;

	if ((program.reported | program.failed) >> number & 1)
		program.wrong |= WRONG_ORDER;
	for (i = 0; i < number; i++)
		if (call[i].pair == call[number].pair && !call[i].quiet &&
		    !((program.reported | program.failed) >> i & 1))
			program.wrong |= WRONG_ORDER;
	program.reported |= 1u << number;
	if (call[number].kind == CALL_READ &&
	    !check_read(number, world.result[number], call[number].len))
		program.wrong |= WRONG_END;
}

/* Errors come one at a time. The call that failed, or CALLS. */
static uint32_t failure(struct fid_cq *cq)
{
	struct fi_cq_err_entry entry = {0};

	program.wrong |= WRONG_ERROR;
	if (fi_cq_readerr(cq, &entry, 0) != 1 || !entry.op_context)
		return CALLS;
	return (uint32_t)(uintptr_t)entry.op_context - 1;
}

static void step_read(void)
{
	struct fi_cq_data_entry entry[ENTRIES];
	struct fid_cq *cq = world.cq[INITIATOR];
	ssize_t got = fi_cq_read(cq, entry, ENTRIES), i;
	uint32_t number;

	for (i = 0; i < got; i++)
		reported((uint32_t)(uintptr_t)entry[i].op_context - 1);
	if (got == -FI_EAVAIL) {
		number = failure(cq);
		if (number < CALLS)
			program.failed |= 1u << number;
	}
}

static void step_target(void)
{
	struct fi_cq_data_entry entry[ENTRIES];
	struct fid_cq *cq = world.cq[TARGET];
	ssize_t got = fi_cq_read(cq, entry, ENTRIES), i;
	uint32_t buffer, number;

	for (i = 0; i < got; i++) {
		buffer = (uint32_t)(uintptr_t)entry[i].op_context - 1;
		number = message[buffer / RECEIVES][buffer % RECEIVES];
		program.received |= 1u << number;
		if (!check_seen(number))
			program.wrong |= WRONG_END;
	}
	if (got == -FI_EAVAIL)
		failure(cq);
}

/* Once, after the last call: timers of queue pairs and of the provider run out. */
static bool step_time(void)
{
	if (!running->seconds || program.called < count || program.now != PROGRAM_BEGIN)
		return false;
	program.now += running->seconds * SECOND;
	svb_self.seg->next_deadline = 1;
	svb_engine_timers();
	return true;
}

bool program_step(enum step step)
{
	bool possible = true;

	heap_use(true);
	switch (step) {
	case STEP_CALL:
		possible = step_call();
		break;
	case STEP_READ:
		step_read();
		break;
	case STEP_TARGET:
		step_target();
		break;
	default:
		possible = step_time();
		break;
	}
	heap_use(false);
	return possible;
}
