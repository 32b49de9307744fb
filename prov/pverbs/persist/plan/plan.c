/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three tables in a row: what kind of target it is, which method makes an operation
 * durable there (singleton), and what keeps it behind earlier ones (compound). Source:
 * the taxonomy of remote persistence (tables of singleton and compound updates, their
 * errata, methods E1 to E4 beyond them); fi_cq(3), FI_COMMIT_COMPLETE and FI_FENCE.
 */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "wire/wire.h"
#include "plan.h"

/*
 * What makes data durable at the target. LOOSE: an earlier completion and the order of
 * posting say nothing of placement (RFC 5040 section 5.5 orders delivery only).
 */
enum pvb_kind {
	PVB_ARRIVED,	   /* WSP: the adapter has it; a completion says so */
	PVB_ARRIVED_LOOSE, /* WSP, but completions come before arrival */
	PVB_VISIBLE,	   /* MHP: it is visible */
	PVB_VISIBLE_LOOSE,
	PVB_DRAINED, /* DMP, DDIO off: a read behind it pushes it to the memory
			controller */
	PVB_CACHED,  /* DMP, DDIO on: written back by the processor or a native FLUSH */
};

/* By domain, weak, ddio. */
static const uint8_t pvb_kinds[3][2][2] = {
	[CRN_DMP] = {{PVB_DRAINED, PVB_CACHED}, {PVB_DRAINED, PVB_CACHED}},
	[CRN_MHP] = {{PVB_VISIBLE, PVB_VISIBLE}, {PVB_VISIBLE_LOOSE, PVB_VISIBLE_LOOSE}},
	[CRN_WSP] = {{PVB_ARRIVED, PVB_ARRIVED}, {PVB_ARRIVED_LOOSE, PVB_ARRIVED_LOOSE}},
};

#define PVB_KINDS 6

/* What a row of a table asks for. */
#define CONTROL 1u
#define SEQ_WORD 2u
#define READABLE 4u
#define FLUSH 8u
#define RQ_PM 16u  /* pvb_plan_query.rq_pm */
#define INLINE 32u /* a control message can carry the data */
#define WORD 64u   /* an ATOMIC WRITE can */

enum {
	PVB_WAY_NONE,
	PVB_WAY_COMPLETION,
	PVB_WAY_READ,
	PVB_WAY_FLUSH,
	PVB_WAY_SLOT,
	PVB_WAY_SEQ,
	PVB_WAY_READ_MESSAGE,
	PVB_WAY_FLUSH_MESSAGE,
	PVB_WAYS
};

/*
 * SEQ: an atomic executes after the writes before it, which a later write does not prove
 * where placement is unordered. pending is of MHP and WSP, where what is written needs
 * nobody's help; under DMP see below.
 */
static const struct pvb_plan pvb_ways[PVB_WAYS] = {
	[PVB_WAY_COMPLETION] = {.act = {PVB_ACT_DATA},
				.end = PVB_END_COMPLETION,
				.pending = PVB_PENDING_PLACED,
				.round_trips = 1},
	[PVB_WAY_READ] = {.act = {PVB_ACT_DATA, PVB_ACT_READ},
			  .end = PVB_END_COMPLETION,
			  .pending = PVB_PENDING_READ,
			  .round_trips = 1},
	[PVB_WAY_FLUSH] = {.act = {PVB_ACT_DATA, PVB_ACT_FLUSH},
			   .end = PVB_END_COMPLETION,
			   .pending = PVB_PENDING_FLUSH,
			   .round_trips = 1},
	[PVB_WAY_SLOT] = {.act = {PVB_ACT_SLOT, PVB_ACT_DATA},
			  .end = PVB_END_ANSWER,
			  .pending = PVB_PENDING_PLACED,
			  .round_trips = 1},
	[PVB_WAY_SEQ] = {.act = {PVB_ACT_DATA, PVB_ACT_SEQ, PVB_ACT_MESSAGE},
			 .end = PVB_END_ANSWER,
			 .pending = PVB_PENDING_PLACED,
			 .round_trips = 1},
	[PVB_WAY_READ_MESSAGE] = {.act = {PVB_ACT_DATA, PVB_ACT_READ, PVB_ACT_WAIT,
					  PVB_ACT_MESSAGE},
				  .end = PVB_END_ANSWER,
				  .pending = PVB_PENDING_READ,
				  .round_trips = 2},
	[PVB_WAY_FLUSH_MESSAGE] = {.act = {PVB_ACT_DATA, PVB_ACT_FLUSH, PVB_ACT_WAIT,
					   PVB_ACT_MESSAGE},
				   .end = PVB_END_ANSWER,
				   .pending = PVB_PENDING_FLUSH,
				   .round_trips = 2},
};

/* A slot is answered by the application's progress, not in order with the control queue
 * pair. */
static const uint8_t pvb_pending_dmp[PVB_WAYS] = {
	[PVB_WAY_READ] = PVB_PENDING_READ,
	[PVB_WAY_FLUSH] = PVB_PENDING_FLUSH,
	[PVB_WAY_SLOT] = PVB_PENDING_UNKNOWN,
	[PVB_WAY_SEQ] = PVB_PENDING_MESSAGE,
	[PVB_WAY_READ_MESSAGE] = PVB_PENDING_MESSAGE,
	[PVB_WAY_FLUSH_MESSAGE] = PVB_PENDING_MESSAGE,
};

enum { PVB_ADDRESSED, PVB_IMMEDIATE, PVB_SENT, PVB_COLUMNS };

static const uint8_t pvb_columns[] = {
	[PVB_PLAN_WRITE] = PVB_ADDRESSED,   [PVB_PLAN_WRITE_IMM] = PVB_IMMEDIATE,
	[PVB_PLAN_SEND] = PVB_SENT,	    [PVB_PLAN_ATOMIC] = PVB_ADDRESSED,
	[PVB_PLAN_UPGRADE] = PVB_ADDRESSED,
};

struct pvb_method {
	uint8_t needs, way;
};

#define PVB_CHOICES 5

/* The first whose needs are met is the cheapest; the lists end with PVB_WAY_NONE. A read
 * costs the target less than a FLUSH, and goes first where it is enough. */
#define WHEN(needs, way)             \
	{                            \
		needs, PVB_WAY_##way \
	}
#define BY_READ WHEN(READABLE, READ), WHEN(FLUSH, FLUSH)
#define BY_PROCESSOR WHEN(CONTROL | SEQ_WORD, SEQ), WHEN(CONTROL | READABLE, READ_MESSAGE)
#define BY_SLOT WHEN(CONTROL, SLOT)
#define BY_READ_OF_RQ WHEN(RQ_PM | READABLE, READ)

static const struct pvb_method pvb_methods[PVB_COLUMNS][PVB_KINDS][PVB_CHOICES] = {
	[PVB_ADDRESSED] =
		{
			[PVB_ARRIVED] = {WHEN(0, COMPLETION)},
			[PVB_ARRIVED_LOOSE] = {BY_READ, BY_PROCESSOR},
			[PVB_VISIBLE] = {BY_READ, BY_PROCESSOR},
			[PVB_VISIBLE_LOOSE] = {BY_READ, BY_PROCESSOR},
			[PVB_DRAINED] = {BY_READ, BY_PROCESSOR},
			[PVB_CACHED] = {WHEN(FLUSH, FLUSH), BY_PROCESSOR},
		},
	/*
	 * fi_cq(3): no completion "at the peer" before durability. In MHP and WSP what
	 * the target is told of is visible, and so durable. Under DMP the slot tells it
	 * to write back first.
	 */
	[PVB_IMMEDIATE] =
		{
			[PVB_ARRIVED] = {WHEN(0, COMPLETION)},
			[PVB_ARRIVED_LOOSE] = {BY_READ, BY_SLOT},
			[PVB_VISIBLE] = {BY_READ, BY_SLOT},
			[PVB_VISIBLE_LOOSE] = {BY_READ, BY_SLOT},
			[PVB_DRAINED] = {BY_SLOT},
			[PVB_CACHED] = {BY_SLOT},
		},
	/*
	 * One-sided only where recovery finds messages whose completion nobody read. No
	 * native FLUSH: which buffer a message took, only the target knows.
	 */
	[PVB_SENT] =
		{
			[PVB_ARRIVED] = {WHEN(RQ_PM, COMPLETION), BY_SLOT},
			[PVB_ARRIVED_LOOSE] = {BY_READ_OF_RQ, BY_SLOT},
			[PVB_VISIBLE] = {BY_READ_OF_RQ, BY_SLOT},
			[PVB_VISIBLE_LOOSE] = {BY_READ_OF_RQ, BY_SLOT},
			[PVB_DRAINED] = {BY_READ_OF_RQ, BY_SLOT},
			[PVB_CACHED] = {BY_SLOT},
		},
};

/* On demand. E4: in MHP and WSP the target need only answer. */
static const struct pvb_method pvb_forced[PVB_COLUMNS][PVB_CHOICES] = {
	[PVB_ADDRESSED] = {BY_PROCESSOR, WHEN(CONTROL | FLUSH, FLUSH_MESSAGE)},
	[PVB_IMMEDIATE] = {BY_SLOT},
	[PVB_SENT] = {BY_SLOT},
};

/* How the second part of a compound update stays behind what is outstanding. */
enum pvb_how {
	PVB_HOW_PIPELINED,
	/* E3. IBV_SEND_FENCE waits for reads and atomics, not for a FLUSH. */
	PVB_HOW_FENCED,
	PVB_HOW_READ_FENCED,  /* the same, behind a read of its own */
	PVB_HOW_ATOMIC_WRITE, /* executes after everything before it (IBA A19) */
	PVB_HOW_MESSAGE_DATA, /* E2: behind earlier control messages */
	PVB_HOW_AFTER,
	PVB_HOW_WRONG,
};

struct pvb_order {
	uint8_t covers; /* PVB_PENDING_*: any of them, nothing else */
	uint8_t needs, how;
};

#define PLACED PVB_PENDING_PLACED
#define READ PVB_PENDING_READ
#define FLUSHED PVB_PENDING_FLUSH
#define WRITTEN (PLACED | READ | FLUSHED)
#define ATOMIC PVB_PENDING_ATOMIC
#define EVER 0xff

/* The first that fits. */
#define ORDER(covers, needs, how)                     \
	{                                             \
		(covers) & 0xff, needs, PVB_HOW_##how \
	}
/* Durable in the order of posting. */
#define ORDERED                                                           \
	ORDER(WRITTEN, 0, PIPELINED), ORDER(WRITTEN | ATOMIC, 0, FENCED), \
		ORDER(EVER, 0, AFTER)
#define BEHIND_MESSAGE ORDER(PVB_PENDING_MESSAGE | ATOMIC, INLINE, MESSAGE_DATA)

static const struct pvb_order pvb_orders[PVB_KINDS][5] = {
	[PVB_ARRIVED] = {ORDERED},
	[PVB_ARRIVED_LOOSE] = {ORDERED},
	[PVB_VISIBLE] = {ORDERED},
	[PVB_VISIBLE_LOOSE] = {ORDER(READ | ATOMIC, 0, FENCED),
			       ORDER(WRITTEN | ATOMIC, READABLE, READ_FENCED),
			       ORDER(EVER, 0, AFTER)},
	[PVB_DRAINED] = {ORDER(READ | FLUSHED | ATOMIC, WORD, ATOMIC_WRITE),
			 ORDER(READ | ATOMIC, 0, FENCED), BEHIND_MESSAGE,
			 ORDER(EVER & ~PLACED, 0, AFTER), ORDER(EVER, 0, WRONG)},
	[PVB_CACHED] = {ORDER(FLUSHED | ATOMIC, WORD, ATOMIC_WRITE), BEHIND_MESSAGE,
			ORDER(EVER & ~(PLACED | READ), 0, AFTER), ORDER(EVER, 0, WRONG)},
};

static unsigned int pvb_have(const struct pvb_plan_query *query)
{
	unsigned int have = 0;

	have |= query->control * CONTROL;
	/* iWARP's atomics (RFC 7306) promise nothing of the writes before them. */
	have |= (query->seq_word & !query->weak) * SEQ_WORD;
	have |= query->target.readable * READABLE;
	have |= (query->native_flush & query->target.flush & !query->weak) * FLUSH;
	have |= query->rq_pm * RQ_PM;
	return have;
}

static unsigned int pvb_way_find(const struct pvb_method *at, unsigned int have)
{
	while (at->needs & ~have)
		at++;
	return at->way;
}

/* An ATOMIC WRITE is of eight bytes, and takes the place of a one-sided write. */
static unsigned int pvb_have_behind(const struct pvb_plan_query *query, unsigned int way)
{
	unsigned int have = query->target.readable * READABLE;

	if (query->op != PVB_PLAN_WRITE)
		return have;
	if (query->native_write && query->target.atomic_write && !query->weak &&
	    query->len == 8 && !(query->addr % 8) &&
	    (way == PVB_WAY_READ || way == PVB_WAY_FLUSH))
		have |= WORD;
	if (query->control && query->len <= query->inline_max)
		have |= INLINE;
	return have;
}

static enum pvb_how pvb_how_find(const struct pvb_order *at, unsigned int before,
				 unsigned int have)
{
	while (before & ~at->covers || at->needs & ~have)
		at++;
	return (enum pvb_how)at->how;
}

/* Puts b behind what is outstanding. */
static void pvb_plan_behind(struct pvb_plan *plan, enum pvb_how how)
{
	uint8_t *data = plan->act + (plan->act[0] == PVB_ACT_SLOT);

	switch (how) {
	case PVB_HOW_READ_FENCED:
		memmove(plan->act + 1, plan->act, PVB_PLAN_ACTS - 1);
		plan->act[0] = PVB_ACT_READ;
		data++;
		/* fall through */
	case PVB_HOW_FENCED:
		*data = PVB_ACT_DATA_FENCED;
		plan->round_trips++;
		break;
	case PVB_HOW_ATOMIC_WRITE:
		*data = PVB_ACT_ATOMIC_WRITE;
		plan->no_overtake = true;
		plan->pending |= PVB_PENDING_ATOMIC;
		break;
	case PVB_HOW_MESSAGE_DATA:
		/* The target's processor writes it, later than anything posted now. */
		*plan = (struct pvb_plan){.act = {PVB_ACT_MESSAGE_DATA},
					  .end = PVB_END_ANSWER,
					  .no_overtake = true,
					  .pending = PVB_PENDING_MESSAGE,
					  .round_trips = 1};
		break;
	default:
		plan->after = how == PVB_HOW_AFTER;
		break;
	}
}

static void pvb_plan_singleton(struct pvb_plan *plan, unsigned int way,
			       enum pvb_plan_op op, bool dmp)
{
	*plan = pvb_ways[way];
	if (dmp)
		plan->pending = pvb_pending_dmp[way];
	if (op == PVB_PLAN_ATOMIC) {
		/* It is not posted (IBA): later writes and sends may pass it. */
		plan->no_overtake = true;
		plan->pending |= PVB_PENDING_ATOMIC;
	} else if (op == PVB_PLAN_UPGRADE) {
		memmove(plan->act, plan->act + 1, PVB_PLAN_ACTS - 1);
	}
}

int pvb_plan(const struct pvb_plan_query *query, struct pvb_plan *plan)
{
	const struct pvb_key_attr *target = &query->target;
	unsigned int kind, column, have, way = PVB_WAY_NONE;
	enum pvb_how how = PVB_HOW_PIPELINED;

	if (!target->persistent || (unsigned int)target->domain > CRN_WSP)
		return -FI_EOPNOTSUPP;
	/* Software places data with the processor, whatever the machine's DDIO. */
	kind = pvb_kinds[target->domain][query->weak][target->ddio | target->software];
	column = pvb_columns[query->op];
	have = pvb_have(query);
	if (query->force_message)
		way = pvb_way_find(pvb_forced[column], have);
	if (way == PVB_WAY_NONE)
		way = pvb_way_find(pvb_methods[column][kind], have);
	if (way == PVB_WAY_NONE)
		return -FI_EOPNOTSUPP;
	if (query->before && query->op != PVB_PLAN_UPGRADE)
		how = pvb_how_find(pvb_orders[kind], query->before,
				   pvb_have_behind(query, way));
	if (how == PVB_HOW_WRONG)
		return -FI_EINVAL;
	pvb_plan_singleton(plan, way, query->op, target->domain == CRN_DMP);
	if (how != PVB_HOW_PIPELINED)
		pvb_plan_behind(plan, how);
	return 0;
}

static const char *pvb_act_text(uint8_t act, enum pvb_plan_op op)
{
	static const char *const acts[] = {
		[PVB_ACT_ATOMIC_WRITE] = "AW", [PVB_ACT_SLOT] = "SLOT",
		[PVB_ACT_READ] = "F",	       [PVB_ACT_FLUSH] = "FP",
		[PVB_ACT_SEQ] = "D",	       [PVB_ACT_WAIT] = "C",
		[PVB_ACT_MESSAGE] = "M",       [PVB_ACT_MESSAGE_DATA] = "Mb",
	};
	static const char *const data[][2] = {
		[PVB_PLAN_WRITE] = {"W", "W!"},
		[PVB_PLAN_WRITE_IMM] = {"WI", "WI!"},
		[PVB_PLAN_SEND] = {"S", "S!"},
		[PVB_PLAN_ATOMIC] = {"AT", "AT!"},
	};

	if (act == PVB_ACT_DATA || act == PVB_ACT_DATA_FENCED)
		return data[op][act == PVB_ACT_DATA_FENCED];
	return acts[act];
}

const char *pvb_plan_text(const struct pvb_plan *plan, enum pvb_plan_op op, char *buf,
			  size_t size)
{
	char words[48] = "";
	size_t i;

	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++)
		strcat(strcat(words, pvb_act_text(plan->act[i], op)), " ");
	snprintf(buf, size, "%s%s%c", plan->after ? "after " : "", words,
		 plan->end == PVB_END_ANSWER ? 'A' : 'C');
	return buf;
}
