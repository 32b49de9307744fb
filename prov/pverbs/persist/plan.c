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
	[PVB_DMP] = {{PVB_DRAINED, PVB_CACHED}, {PVB_DRAINED, PVB_CACHED}},
	[PVB_MHP] = {{PVB_VISIBLE, PVB_VISIBLE}, {PVB_VISIBLE_LOOSE, PVB_VISIBLE_LOOSE}},
	[PVB_WSP] = {{PVB_ARRIVED, PVB_ARRIVED}, {PVB_ARRIVED_LOOSE, PVB_ARRIVED_LOOSE}},
};

#define ON(kind) (1u << (kind))
#define STRICT ON(PVB_ARRIVED)
#define DMP (ON(PVB_DRAINED) | ON(PVB_CACHED))
#define ANY 0x3fu
/* Where a read behind data makes it durable. */
#define READS (ANY & ~ON(PVB_CACHED))
/* Where data is durable in the order of posting. */
#define ORDERED (ON(PVB_ARRIVED) | ON(PVB_ARRIVED_LOOSE) | ON(PVB_VISIBLE))

#define OP(op) (1u << PVB_PLAN_##op)
#define ADDRESSED (OP(WRITE) | OP(ATOMIC) | OP(LIFT))
#define MESSAGES (OP(WRITE_IMM) | OP(SEND))
#define ALL (ADDRESSED | MESSAGES)

/* What a row of a table asks for. */
#define FORCE 1u
#define CONTROL 2u
#define DOORBELL 4u
#define READABLE 8u
#define FLUSH 16u
/*
 * The target's own completion may come when data is visible. fi_cq(3): none "at the
 * peer" before durability. Writes and atomics have none. Visible is durable in MHP and
 * WSP. Under DMP the target must be told (SLOT), unless it opted in. A Send needs more,
 * in every domain: buffers whose messages are found after a failure though nobody read
 * their completion, rq_pm.
 */
#define ALONE 32u
#define INLINE 64u /* a control message can carry the data */
#define WORD 128u  /* an ATOMIC WRITE can */

/* What follows the data, and how it ends. */
struct pvb_way {
	uint8_t tail[3]; /* enum pvb_act, then PVB_ACT_END */
	uint8_t end, round_trips;
	bool slot;	   /* in front of the data */
	uint8_t leaves[2]; /* PVB_BEFORE_*: elsewhere; under DMP */
};

enum {
	PVB_WAY_COMPLETION,
	PVB_WAY_READ,
	PVB_WAY_FLUSH,
	PVB_WAY_SLOT,
	PVB_WAY_RING,
	PVB_WAY_READ_MESSAGE,
	PVB_WAY_FLUSH_MESSAGE,
};

#define UNDER(name) PVB_BEFORE_##name

/*
 * RING: an atomic executes after the writes before it, which a later write does not prove
 * when placement is unordered. A slot's answer comes by the application's progress, not
 * by the control queue pair: nothing follows it in order there.
 */
static const struct pvb_way pvb_ways[] = {
	[PVB_WAY_COMPLETION] =
		{{0}, PVB_END_COMPLETION, 1, false, {UNDER(PLACED), UNDER(UNKNOWN)}},
	[PVB_WAY_READ] = {{PVB_ACT_READ},
			  PVB_END_COMPLETION,
			  1,
			  false,
			  {UNDER(READ), UNDER(READ)}},
	[PVB_WAY_FLUSH] = {{PVB_ACT_FLUSH},
			   PVB_END_COMPLETION,
			   1,
			   false,
			   {UNDER(FLUSH), UNDER(FLUSH)}},
	[PVB_WAY_SLOT] = {{0}, PVB_END_ANSWER, 1, true, {UNDER(PLACED), UNDER(UNKNOWN)}},
	[PVB_WAY_RING] = {{PVB_ACT_RING, PVB_ACT_MESSAGE},
			  PVB_END_ANSWER,
			  1,
			  false,
			  {UNDER(PLACED), UNDER(MESSAGE)}},
	[PVB_WAY_READ_MESSAGE] = {{PVB_ACT_READ, PVB_ACT_WAIT, PVB_ACT_MESSAGE},
				  PVB_END_ANSWER,
				  2,
				  false,
				  {UNDER(READ), UNDER(MESSAGE)}},
	[PVB_WAY_FLUSH_MESSAGE] = {{PVB_ACT_FLUSH, PVB_ACT_WAIT, PVB_ACT_MESSAGE},
				   PVB_END_ANSWER,
				   2,
				   false,
				   {UNDER(FLUSH), UNDER(MESSAGE)}},
};

struct pvb_method {
	uint8_t kinds, ops, needs, way;
};

/*
 * The first that fits is the cheapest. A read costs the target less than a FLUSH, so it
 * goes first where it is enough. No native FLUSH of a Send: which buffer it took, only
 * the target knows.
 */
static const struct pvb_method pvb_methods[] = {
	/* Forced (E4: in MHP and WSP the target need only answer). */
	{ANY, ADDRESSED, FORCE | CONTROL | DOORBELL, PVB_WAY_RING},
	{ANY, ADDRESSED, FORCE | CONTROL | READABLE, PVB_WAY_READ_MESSAGE},
	{ANY, ADDRESSED, FORCE | CONTROL | FLUSH, PVB_WAY_FLUSH_MESSAGE},
	{ANY, MESSAGES, FORCE | CONTROL, PVB_WAY_SLOT},
	/* One-sided. */
	{STRICT, ALL, ALONE, PVB_WAY_COMPLETION},
	{READS, ALL, ALONE | READABLE, PVB_WAY_READ},
	{ANY, ALL & ~OP(SEND), ALONE | FLUSH, PVB_WAY_FLUSH},
	/* By the target's processor. */
	{ANY, ADDRESSED, CONTROL | DOORBELL, PVB_WAY_RING},
	{ANY, ADDRESSED, CONTROL | READABLE, PVB_WAY_READ_MESSAGE},
	{ANY, MESSAGES, CONTROL, PVB_WAY_SLOT},
};

/* How the second part of a compound update stays behind what is under way. */
enum pvb_how {
	PVB_HOW_PIPELINED,
	PVB_HOW_FENCED, /* E3; IBV_SEND_FENCE waits for reads and atomics, not for a FLUSH
			 */
	PVB_HOW_READ_FENCED,  /* the same, behind a read of its own */
	PVB_HOW_ATOMIC_WRITE, /* executes after everything before it (IBA A19) */
	PVB_HOW_MESSAGE_DATA, /* E2: behind earlier control messages */
	PVB_HOW_AFTER,
};

struct pvb_order {
	uint8_t kinds, covers, needs, how; /* covers: PVB_BEFORE_*, any of them */
};

#define WRITTEN (PVB_BEFORE_PLACED | PVB_BEFORE_READ | PVB_BEFORE_FLUSH)

/* The first that fits. */
static const struct pvb_order pvb_orders[] = {
	{ORDERED, WRITTEN, 0, PVB_HOW_PIPELINED},
	{ORDERED, WRITTEN | PVB_BEFORE_ATOMIC, 0, PVB_HOW_FENCED},
	{ON(PVB_VISIBLE_LOOSE), PVB_BEFORE_READ | PVB_BEFORE_ATOMIC, 0, PVB_HOW_FENCED},
	{ON(PVB_VISIBLE_LOOSE), WRITTEN | PVB_BEFORE_ATOMIC, READABLE,
	 PVB_HOW_READ_FENCED},
	{ON(PVB_DRAINED), PVB_BEFORE_READ | PVB_BEFORE_FLUSH | PVB_BEFORE_ATOMIC, WORD,
	 PVB_HOW_ATOMIC_WRITE},
	{ON(PVB_DRAINED), PVB_BEFORE_READ | PVB_BEFORE_ATOMIC, 0, PVB_HOW_FENCED},
	{ON(PVB_CACHED), PVB_BEFORE_FLUSH | PVB_BEFORE_ATOMIC, WORD,
	 PVB_HOW_ATOMIC_WRITE},
	{DMP, PVB_BEFORE_MESSAGE | PVB_BEFORE_ATOMIC, INLINE, PVB_HOW_MESSAGE_DATA},
	{ANY, 0xff, 0, PVB_HOW_AFTER},
};

/* What cannot be under way to such a target, for it would not be durable then. */
static const uint8_t pvb_never[] = {
	[PVB_DRAINED] = PVB_BEFORE_PLACED,
	[PVB_CACHED] = PVB_BEFORE_PLACED | PVB_BEFORE_READ,
};

static bool pvb_alone(const struct pvb_plan_query *query, unsigned int kind)
{
	switch (query->op) {
	case PVB_PLAN_WRITE_IMM:
		return query->imm_one_sided || !(ON(kind) & DMP);
	case PVB_PLAN_SEND:
		return query->rq_pm;
	default:
		return true;
	}
}

static unsigned int pvb_have(const struct pvb_plan_query *query, unsigned int kind)
{
	unsigned int have = pvb_alone(query, kind) ? ALONE : 0;

	have |= query->force_message ? FORCE : 0;
	have |= query->control ? CONTROL : 0;
	have |= query->target.readable ? READABLE : 0;
	/* iWARP's atomics (RFC 7306) promise nothing of the writes before them. */
	have |= query->doorbell && !query->weak ? DOORBELL : 0;
	have |= query->native_flush && query->target.flush && !query->weak ? FLUSH : 0;
	return have;
}

/* An ATOMIC WRITE is of eight bytes, and takes the place of a write alone. */
static unsigned int pvb_have_behind(const struct pvb_plan_query *query, unsigned int way)
{
	unsigned int have = query->target.readable ? READABLE : 0;

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

static const struct pvb_method *pvb_method_find(unsigned int kind, enum pvb_plan_op op,
						unsigned int have)
{
	const struct pvb_method *at = pvb_methods,
				*end = at + sizeof(pvb_methods) / sizeof(*at);

	for (; at < end; at++)
		if (at->kinds & ON(kind) && at->ops & 1u << op && !(at->needs & ~have))
			return at;
	return NULL;
}

/* The last row fits always. */
static enum pvb_how pvb_how_find(unsigned int kind, unsigned int before,
				 unsigned int have)
{
	const struct pvb_order *at = pvb_orders;

	while (!(at->kinds & ON(kind)) || before & ~at->covers || at->needs & ~have)
		at++;
	return (enum pvb_how)at->how;
}

static const uint8_t pvb_data[] = {
	[PVB_HOW_PIPELINED] = PVB_ACT_DATA,
	[PVB_HOW_FENCED] = PVB_ACT_DATA_FENCED,
	[PVB_HOW_READ_FENCED] = PVB_ACT_DATA_FENCED,
	[PVB_HOW_ATOMIC_WRITE] = PVB_ACT_ATOMIC_WRITE,
	[PVB_HOW_AFTER] = PVB_ACT_DATA,
};

static void pvb_plan_fill(struct pvb_plan *plan, const struct pvb_way *way,
			  enum pvb_how how, enum pvb_plan_op op, bool dmp)
{
	uint8_t *act = plan->act;
	bool fenced = pvb_data[how] == PVB_ACT_DATA_FENCED;

	*plan = (struct pvb_plan){.end = way->end};
	if (how == PVB_HOW_READ_FENCED)
		*act++ = PVB_ACT_READ;
	if (way->slot)
		*act++ = PVB_ACT_SLOT;
	if (op != PVB_PLAN_LIFT)
		*act++ = pvb_data[how];
	memcpy(act, way->tail, sizeof(way->tail));
	plan->after = how == PVB_HOW_AFTER;
	/* What executes by itself, later writes may pass. */
	plan->hold = op == PVB_PLAN_ATOMIC || how == PVB_HOW_ATOMIC_WRITE;
	plan->leaves = way->leaves[dmp] | (plan->hold ? PVB_BEFORE_ATOMIC : 0);
	plan->round_trips = (uint8_t)(way->round_trips + fenced);
}

/* The target's processor writes the bytes, later than anything posted now. */
static const struct pvb_plan pvb_message_data = {
	.act = {PVB_ACT_MESSAGE_DATA},
	.end = PVB_END_ANSWER,
	.hold = true,
	.leaves = PVB_BEFORE_MESSAGE,
	.round_trips = 1,
};

int pvb_plan(const struct pvb_plan_query *query, struct pvb_plan *plan)
{
	const struct pvb_desc *target = &query->target;
	enum pvb_how how = PVB_HOW_PIPELINED;
	const struct pvb_method *method;
	unsigned int kind;

	if (!target->persistent || (unsigned int)target->domain > PVB_WSP)
		return -FI_EOPNOTSUPP;
	/* Software places data with the processor, whatever the machine's DDIO. */
	kind = pvb_kinds[target->domain][query->weak][target->ddio || target->software];
	method = pvb_method_find(kind, query->op, pvb_have(query, kind));
	if (!method)
		return -FI_EOPNOTSUPP;
	if (query->before && query->op != PVB_PLAN_LIFT) {
		if (query->before & pvb_never[kind])
			return -FI_EINVAL;
		how = pvb_how_find(kind, query->before,
				   pvb_have_behind(query, method->way));
	}
	if (how == PVB_HOW_MESSAGE_DATA)
		*plan = pvb_message_data;
	else
		pvb_plan_fill(plan, &pvb_ways[method->way], how, query->op,
			      ON(kind) & DMP);
	return 0;
}

static const char *pvb_act_text(uint8_t act, enum pvb_plan_op op)
{
	static const char *const acts[] = {
		[PVB_ACT_ATOMIC_WRITE] = "AW", [PVB_ACT_SLOT] = "SLOT",
		[PVB_ACT_READ] = "F",	       [PVB_ACT_FLUSH] = "FP",
		[PVB_ACT_RING] = "D",	       [PVB_ACT_WAIT] = "C",
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
