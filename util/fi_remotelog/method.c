/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "method.h"

#define DURABLE (RLG_COMMIT | RLG_WAIT)
#define RECORD RLG_ACT_RECORD
#define TAIL RLG_ACT_TAIL
#define F_RECORD (RLG_ACT_READ_RECORD | RLG_WAIT)
#define F_TAIL (RLG_ACT_READ_TAIL | RLG_WAIT)
#define ATOMIC (RLG_ACT_TAIL | RLG_ATOMIC)
#define FENCED (RLG_ACT_TAIL | RLG_FENCE | RLG_COMMIT | RLG_WAIT)

struct rlg_row {
	enum rlg_kind kind;
	enum rlg_method method;
	uint8_t one_sided[RLG_ACTS]; /* write */
	uint8_t data[RLG_ACTS];	     /* writedata, which the target hears of */
	uint8_t send[RLG_ACTS];
};

/*
 * A fenced durable write sees to the one before it (fi_cq(3), FI_COMMIT_COMPLETE with
 * FI_FENCE), which therefore asks for nothing; a message before it says itself that it
 * has to be durable, for it is reported at its target.
 */
static const struct rlg_row rlg_rows[] = {
	{RLG_SINGLETON,
	 RLG_AUTO,
	 {RECORD | DURABLE},
	 {RECORD | DURABLE},
	 {RECORD | DURABLE}},
	{RLG_SINGLETON,
	 RLG_NONE,
	 {RECORD | RLG_WAIT},
	 {RECORD | RLG_WAIT},
	 {RECORD | RLG_WAIT}},
	{RLG_SINGLETON,
	 RLG_READ,
	 {RECORD, F_RECORD},
	 {RECORD, F_RECORD},
	 {RECORD, F_RECORD}},
	{RLG_SINGLETON,
	 RLG_RPC,
	 {RECORD, RLG_ACT_ASK_RECORD | RLG_ANSWER},
	 {RECORD | RLG_ANSWER},
	 {RLG_ACT_SEND | RLG_ANSWER}},
	{RLG_SINGLETON, RLG_LIBRPMA, {RECORD, F_RECORD}, {0}, {0}},
	{RLG_COMPOUND,
	 RLG_AUTO,
	 {RECORD, FENCED},
	 {RECORD | RLG_COMMIT, FENCED},
	 {RECORD | RLG_COMMIT, FENCED}},
	{RLG_COMPOUND,
	 RLG_NONE,
	 {RECORD, TAIL | RLG_WAIT},
	 {RECORD, TAIL | RLG_WAIT},
	 {RECORD, TAIL | RLG_WAIT}},
	{RLG_COMPOUND,
	 RLG_READ,
	 {RECORD, F_RECORD, TAIL, F_TAIL},
	 {RECORD, F_RECORD, TAIL, F_TAIL},
	 {RECORD, F_RECORD, TAIL, F_TAIL}},
	{RLG_COMPOUND,
	 RLG_PIPELINE,
	 {RECORD, TAIL, F_TAIL},
	 {RECORD, TAIL, F_TAIL},
	 {RECORD, TAIL, F_TAIL}},
	{RLG_COMPOUND,
	 RLG_RPC,
	 {RECORD, RLG_ACT_ASK_RECORD | RLG_ANSWER, TAIL, RLG_ACT_ASK_TAIL | RLG_ANSWER},
	 {RECORD | RLG_ANSWER, TAIL | RLG_ANSWER},
	 {RLG_ACT_SEND | RLG_ANSWER}},
	{RLG_COMPOUND,
	 RLG_LIBRPMA,
	 {RECORD, RLG_ACT_READ_RECORD, ATOMIC, F_TAIL},
	 {0},
	 {0}},
};

const uint8_t *rlg_acts(enum rlg_kind kind, enum rlg_op op, enum rlg_method method)
{
	const struct rlg_row *row = rlg_rows;
	const uint8_t *acts;
	size_t i;

	if (method == RLG_FORCED)
		method = RLG_AUTO;
	for (i = 0; i < sizeof(rlg_rows) / sizeof(rlg_rows[0]); i++, row++) {
		if (row->kind != kind || row->method != method)
			continue;
		acts = op == RLG_WRITE	? row->one_sided
		       : op == RLG_SEND ? row->send
					: row->data;
		return acts[0] ? acts : NULL;
	}
	return NULL;
}

bool rlg_receives_log(enum rlg_op op, enum rlg_method method)
{
	return op == RLG_SEND && method != RLG_RPC;
}

bool rlg_by_provider(enum rlg_method method)
{
	return method == RLG_AUTO || method == RLG_FORCED;
}

static const char *rlg_act_word(uint8_t act, enum rlg_op op)
{
	static const char *const words[] = {"W", "WI", "S"};

	switch (act & RLG_ACT) {
	case RLG_ACT_RECORD:
	case RLG_ACT_TAIL:
		return words[op];
	case RLG_ACT_READ_RECORD:
	case RLG_ACT_READ_TAIL:
		return "F";
	default:
		return "S";
	}
}

const char *rlg_acts_text(const uint8_t *acts, enum rlg_op op, char *buf, size_t size)
{
	size_t len = 0;
	int i;

	buf[0] = '\0';
	for (i = 0; i < RLG_ACTS && acts[i] && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s%s%s%s%s%s",
					len ? " " : "", acts[i] & RLG_ATOMIC ? "A" : "",
					rlg_act_word(acts[i], op),
					acts[i] & RLG_FENCE ? "!" : "",
					acts[i] & RLG_COMMIT ? "*" : "",
					acts[i] & RLG_WAIT ? " C" : "",
					acts[i] & RLG_ANSWER ? " A" : "");
	return buf;
}

const char *rlg_op_name(enum rlg_op op)
{
	static const char *const names[] = {"write", "writedata", "send"};

	return names[op];
}

const char *rlg_method_name(enum rlg_method method)
{
	static const char *const names[] = {"auto",	"message", "none",   "read",
					    "pipeline", "rpc",	   "librpma"};

	return names[method];
}
