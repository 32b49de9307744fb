/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "persist/plan/plan.h"
#include "scripts.h"

/* One operation. */
struct part {
	char acts[64], end[8];
	size_t wait;		    /* where its first WAIT is, or where acts end */
	char data[32], control[32]; /* the responder's, for each queue pair's message */
	bool message;		    /* on the data queue pair */
	struct pvb_plan plan;
};

/* "*" in a word stands for which of the operations. */
static void add(char *to, const char *word, char which, const char *more)
{
	size_t at = strlen(to);

	for (; *word; word++)
		to[at++] = *word == '*' ? which : *word;
	to[at] = '\0';
	strcat(strcat(to, more), " ");
}

static bool is_message(const struct pvb_plan_query *query)
{
	return query->op == PVB_PLAN_SEND || query->op == PVB_PLAN_WRITE_IMM;
}

/* A receive buffer that nobody replays is a range as any other. */
static const char *data_word(const struct pvb_plan_query *query)
{
	switch (query->op) {
	case PVB_PLAN_WRITE_IMM:
		return "I*";
	case PVB_PLAN_SEND:
		return query->rq_pm ? "S*" : "I*";
	case PVB_PLAN_ATOMIC:
		return "X*";
	default:
		return "W*";
	}
}

static void add_act(struct part *part, uint8_t act, const struct pvb_plan_query *query,
		    char which)
{
	static const char *const words[] = {
		[PVB_ACT_ATOMIC_WRITE] = "AW", [PVB_ACT_SLOT] = "L",
		[PVB_ACT_READ] = "F",	       [PVB_ACT_FLUSH] = "FP",
		[PVB_ACT_SEQ] = "Da",	       [PVB_ACT_WAIT] = "C",
		[PVB_ACT_MESSAGE] = "M",       [PVB_ACT_MESSAGE_DATA] = "Mb",
	};

	if (act == PVB_ACT_DATA || act == PVB_ACT_DATA_FENCED)
		add(part->acts, data_word(query), which,
		    act == PVB_ACT_DATA_FENCED ? "!" : "");
	else
		add(part->acts, words[act], which, "");
}

static bool has_act(const struct pvb_plan *plan, enum pvb_act act)
{
	return memchr(plan->act, act, PVB_PLAN_ACTS);
}

/* What the target does for a message on the control queue pair (plan.h). */
static void answer_control(struct part *part, char which, bool dmp)
{
	if (has_act(&part->plan, PVB_ACT_SEQ))
		strcat(part->control, "d ");
	if (has_act(&part->plan, PVB_ACT_MESSAGE_DATA))
		add(part->control, "c*", which, "");
	if (dmp)
		add(part->control, "f*", which, "");
	add(part->control, "ack*", which, "");
}

/* And for one that its application gets. */
static void answer_data(struct part *part, const struct pvb_plan_query *query, char which,
			bool dmp)
{
	bool slot = has_act(&part->plan, PVB_ACT_SLOT);
	bool replayed = query->op == PVB_PLAN_SEND && query->rq_pm;

	part->message = true;
	if (slot)
		strcat(part->data, "l ");
	if (dmp && replayed)
		strcat(part->data, "fm ");
	else if (dmp && slot)
		add(part->data, "f*", which, "");
	add(part->data, "r*", which, "");
	if (slot)
		add(part->data, "ack*", which, "");
}

static bool make_part(struct part *part, const struct pvb_plan_query *query, char which)
{
	bool dmp = query->target.domain == CRN_DMP;

	memset(part, 0, sizeof(*part));
	if (pvb_plan(query, &part->plan))
		return false;
	if (query->op == PVB_PLAN_UPGRADE)
		add(part->acts, "W*", which, "");
	for (uint32_t i = 0; i < PVB_PLAN_ACTS && part->plan.act[i]; i++) {
		if (part->plan.act[i] == PVB_ACT_WAIT)
			part->wait = strlen(part->acts);
		add_act(part, part->plan.act[i], query, which);
	}
	if (!part->wait)
		part->wait = strlen(part->acts);
	if (part->plan.end == PVB_END_ANSWER)
		snprintf(part->end, sizeof(part->end), "A%c ", which);
	else
		strcpy(part->end, "C ");
	if (has_act(&part->plan, PVB_ACT_MESSAGE) ||
	    has_act(&part->plan, PVB_ACT_MESSAGE_DATA))
		answer_control(part, which, dmp);
	if (is_message(query))
		answer_data(part, query, which, dmp);
	return true;
}

static void make_single(struct plan_script *script, const struct part *a)
{
	snprintf(script->requester, sizeof(script->requester), "%s%s", a->acts, a->end);
	snprintf(script->responder, sizeof(script->responder), "%s|| %s", a->data,
		 a->control);
}

/* b as soon as a is posted; each reported when its own end is there. */
static void make_pipelined(char *to, size_t size, const struct part *a,
			   const struct part *b, const char *between, const char *behind)
{
	snprintf(to, size, "%s= %.*s%s%s%s. %s%s", a->acts, (int)b->wait, b->acts,
		 between, b->acts + b->wait, *a->end == 'C' ? "Ca " : a->end, b->end,
		 behind);
}

static void make_after(char *to, size_t size, const struct part *a, const struct part *b,
		       const char *between, const char *behind)
{
	snprintf(to, size, "%s%s. %.*s%s%s%s%s", a->acts, a->end, (int)b->wait, b->acts,
		 between, b->acts + b->wait, b->end, behind);
}

static void make_pair(struct plan_script *script, const struct part *a,
		      const struct part *b)
{
	void (*make)(char *, size_t, const struct part *, const struct part *,
		     const char *, const char *) =
		b->plan.after ? make_after : make_pipelined;

	make(script->requester, sizeof(script->requester), a, b, "", "");
	make(script->early, sizeof(script->early), a, b, "%s ", "");
	make(script->late, sizeof(script->late), a, b, "", "%s");
	make_pipelined(script->hasty, sizeof(script->hasty), a, b, "", "");
	snprintf(script->responder, sizeof(script->responder), "%s%s%s|| %s%s%s", a->data,
		 a->message && b->message ? "| " : "", b->data, a->control,
		 *a->control && *b->control ? "| " : "", b->control);
}

/* --- all of them */

static struct plan_script *found;
static uint32_t found_count, found_room;

static void keep(const struct plan_script *script)
{
	for (uint32_t i = 0; i < found_count; i++)
		if (!memcmp(&found[i], script, sizeof(*script)))
			return;
	if (found_count == found_room) {
		found_room = found_room ? found_room * 2 : 64;
		found = realloc(found, found_room * sizeof(*found));
		if (!found)
			abort();
	}
	found[found_count++] = *script;
}

static void describe(struct plan_script *script, const struct pvb_plan_query *a,
		     const struct pvb_plan_query *last, const struct part *part)
{
	script->domain = a->target.domain;
	script->ddio = a->target.ddio || a->target.software;
	script->weak = a->weak;
	script->small = a->op == PVB_PLAN_ATOMIC;
	script->rq_pm = a->rq_pm && (a->op == PVB_PLAN_SEND || last->op == PVB_PLAN_SEND);
	script->no_overtake = part->plan.no_overtake;
	script->at_b = script->compound && !(last->op == PVB_PLAN_SEND && last->rq_pm);
	script->after = part->plan.after;
}

static void add_single(const struct pvb_plan_query *query)
{
	struct plan_script script;
	struct part a;

	memset(&script, 0, sizeof(script));
	if (!make_part(&a, query, 'a'))
		return;
	make_single(&script, &a);
	describe(&script, query, query, &a);
	keep(&script);
}

static void add_pair(const struct pvb_plan_query *first, enum pvb_plan_op op, size_t len)
{
	struct pvb_plan_query second = *first;
	struct plan_script script;
	struct part a, b;

	memset(&script, 0, sizeof(script));
	if (!make_part(&a, first, 'a'))
		return;
	second.op = op;
	second.len = len;
	second.before = a.plan.pending;
	if (!make_part(&b, &second, 'b'))
		return;
	script.compound = true;
	make_pair(&script, &a, &b);
	describe(&script, first, &second, &b);
	keep(&script);
}

static void add_all(const struct pvb_plan_query *query)
{
	static const struct {
		enum pvb_plan_op op;
		size_t len;
	} second[] = {
		{PVB_PLAN_WRITE, 8},	   {PVB_PLAN_WRITE, 16}, {PVB_PLAN_WRITE, 200},
		{PVB_PLAN_WRITE_IMM, 200}, {PVB_PLAN_SEND, 200}, {PVB_PLAN_ATOMIC, 8},
	};

	add_single(query);
	for (uint32_t i = 0; i < sizeof(second) / sizeof(second[0]); i++)
		add_pair(query, second[i].op, second[i].len);
}

/* A digit of a number. */
static uint32_t take(uint32_t *number, uint32_t values)
{
	uint32_t digit = *number % values;

	*number /= values;
	return digit;
}

static void find_all(void)
{
	struct pvb_plan_query query = {
		.target.persistent = true, .addr = 4096, .len = 200, .inline_max = 64};
	bool *const flags[] = {
		&query.target.ddio,
		&query.target.flush,
		&query.target.atomic_write,
		&query.target.readable,
		&query.target.software,
		&query.rq_pm,
		&query.weak,
		&query.seq_word,
		&query.control,
		&query.force_message,
	};
	uint32_t left;

	query.native_flush = query.native_write = true;
	for (uint32_t number = 0; number < 1024 * 3 * 5; number++) {
		left = number;
		for (uint32_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			*flags[i] = take(&left, 2);
		query.target.domain = (enum crn_persistence)take(&left, 3);
		query.op = (enum pvb_plan_op)left;
		add_all(&query);
	}
}

const struct plan_script *plan_scripts(uint32_t *count)
{
	if (!found_count)
		find_all();
	*count = found_count;
	return found;
}

uint32_t plan_script_machines(const struct plan_script *script,
			      struct machine_kind machines[3])
{
	struct machine_kind kind = {.config = {.domain = (enum svb_domain)script->domain,
					       .ddio = script->ddio},
				    .rq_pm = script->rq_pm,
				    .a_size = script->small ? 8 : 128};

	machines[0] = kind;
	for (uint32_t i = 0; script->weak && i < 3; i++) {
		machines[i] = kind;
		machines[i].config.weak = i != 1;
		machines[i].config.loose = i != 2;
	}
	return script->weak ? 3 : 1;
}
