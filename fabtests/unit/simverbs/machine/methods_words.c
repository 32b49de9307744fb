/* SPDX-License-Identifier: BSD-2-Clause */
/* What the words of the scripts do. */
#include <stdlib.h>
#include <string.h>
#include "methods_run.h"

static void post(struct run *run, struct svb_request *request,
		 const struct svb_target *target, const void *data)
{
	request->qp = request->qp ? request->qp : QP_DATA;
	request->seq = request->qp == QP_DATA ? ++run->now.posted : ++run->now.controls;
	if (!svb_machine_post(&run->machine, request, target, target ? 1 : 0, data))
		abort();
}

static uint32_t fence_of(const char *word)
{
	return word[strlen(word) - 1] == '!' ? SVB_REQ_FENCE : 0;
}

static void post_write(struct run *run, const char *word)
{
	bool b = word[1] == 'b', c = word[1] == 'c';
	struct svb_target target = {SVB_SPACE_PM, b || c ? run->at_b : 0,
				    b || c ? B_SIZE : run->kind->a_size};
	struct svb_request request = {.region = REGION_DATA, .flags = fence_of(word)};

	if (*word == 'I')
		request.flags |= SVB_REQ_DELIVER;
	post(run, &request, &target, c ? run->c : b ? run->b : run->a);
	run->now.last_at = (uint32_t)target.at;
	run->now.last_len = (uint32_t)target.len;
	run->now.last_region = REGION_DATA;
	run->now.sent += *word == 'I';
}

/* A message: a and b at fixed places of its buffer, and a word that names it. */
static void post_send(struct run *run, const char *word)
{
	struct svb_request request = {.region = REGION_MESSAGES,
				      .flags = SVB_REQ_DELIVER | fence_of(word)};
	bool a = strchr(word, 'a'), b = strchr(word, 'b');
	uint8_t data[MESSAGE] = {0};
	struct svb_target target = {run->kind->rq_pm ? SVB_SPACE_PM : SPACE_DRAM,
				    AT_MESSAGES + run->now.sent * MESSAGE, 8};

	data[0] = 1;
	if (b) {
		memcpy(data + 8, run->b, B_SIZE);
		target.len = 16;
	}
	if (a) {
		memcpy(data + 16, run->a, run->kind->a_size);
		target.len = 16 + run->kind->a_size;
	}
	post(run, &request, &target, data);
	run->now.last_at = (uint32_t)target.at;
	run->now.last_len = (uint32_t)target.len;
	run->now.last_region = REGION_MESSAGES;
	run->now.sent++;
}

/* Changed when it is executed. */
static void post_atomic(struct run *run, const char *word)
{
	bool a = word[1] == 'a';
	struct svb_request request = {.kind = *word == 'A' ? SVB_REQ_ATOMIC_WRITE
							   : SVB_REQ_ATOMIC,
				      .region = REGION_DATA,
				      .at = a ? 0 : run->at_b,
				      .len = B_SIZE,
				      .flags = fence_of(word)};

	post(run, &request, NULL, NULL);
	run->now.last_at = (uint32_t)request.at;
	run->now.last_len = B_SIZE;
	run->now.last_region = REGION_DATA;
}

/* What makes the last durable. */
static void post_flush(struct run *run, const char *word)
{
	struct svb_request request = {.kind = SVB_REQ_READ,
				      .region = run->now.last_region,
				      .at = run->now.last_at,
				      .len = run->now.last_len};

	if (word[1] == 'P') {
		request.kind = SVB_REQ_FLUSH;
		request.flags = SVB_REQ_PERSISTENT;
	}
	post(run, &request, NULL, NULL);
}

/* What the application may do behind b, and what its order promises something about. */
static void post_behind(struct run *run, const char *word)
{
	struct svb_request request = {.note = {1}, .region = REGION_DATA};

	if (*word == 'R') {
		request.kind = SVB_REQ_READ;
		request.at = run->at_b;
		request.len = B_SIZE;
	} else {
		request.flags = SVB_REQ_DELIVER;
	}
	post(run, &request, NULL, NULL);
}

/* What tells the responder. */
static void post_notice(struct run *run, const char *word)
{
	static const uint64_t one = 1;
	struct svb_target target = {SPACE_DRAM, *word == 'D' ? DOORBELL : SLOTS, 8};
	struct svb_request request = {.region = REGION_CONTROL};

	if (*word == 'M') {
		request.flags = SVB_REQ_DELIVER;
		request.qp = QP_CONTROL;
		post(run, &request, NULL, NULL);
	} else if (!strcmp(word, "Da")) {
		request.kind = SVB_REQ_ATOMIC;
		request.space = SPACE_DRAM;
		request.at = DOORBELL;
		request.len = 8;
		post(run, &request, NULL, NULL);
	} else {
		post(run, &request, &target, &one);
	}
}

/* Completions are reported in order. */
static bool completed(struct run *run, uint32_t last)
{
	for (uint32_t seq = 1; seq <= last; seq++)
		if (!svb_machine_answered(&run->machine, QP_DATA, seq))
			return false;
	return true;
}

/* Whose answer: of a, of b, or of either. */
static uint32_t ack_of(char which)
{
	return which == 'a' ? ACK_A : which == 'b' ? ACK_B : ACK;
}

bool may_request(struct run *run)
{
	const char *word = run->requester[run->now.at];
	uint32_t ack;

	if (!word)
		return false;
	if (*word == 'C')
		return completed(run, word[1] ? run->now.marked : run->now.posted);
	ack = ack_of(word[1]);
	return *word != 'A' || word[1] == 'W' || run->now.taken[ack] < run->now.acks[ack];
}

void step_requester(struct run *run)
{
	const char *word = run->requester[run->now.at++];

	switch (*word) {
	case 'A':
		if (word[1] == 'W')
			post_atomic(run, word);
		else
			run->now.taken[ack_of(word[1])]++;
		break;
	case 'X':
		post_atomic(run, word);
		break;
	case 'S':
		post_send(run, word);
		break;
	case 'W':
	case 'I':
		post_write(run, word);
		break;
	case 'F':
		post_flush(run, word);
		break;
	case 'R':
	case 'N':
		post_behind(run, word);
		break;
	case '=':
		run->now.marked = run->now.posted;
		break;
	case 'C':
	case '.':
		break;
	default:
		post_notice(run, word);
		break;
	}
}

/* How often the responder came across words that begin with this, up to where it is. */
static uint32_t count_words(const struct run *run, uint32_t lane, char first)
{
	uint32_t i, count = 0;

	for (i = 0; i < run->now.step[lane]; i++)
		count += *run->responder[lane][i] == first;
	return count;
}

bool may_respond(struct run *run, uint32_t lane)
{
	const char *word = run->responder[lane][run->now.step[lane]];

	return word && count_words(run, lane, '|') < run->now.delivered[lane] &&
	       (*word != 'd' || count_words(run, lane, 'd') < run->now.rung);
}

static void respond_flush(struct run *run, uint32_t lane, char what)
{
	uint64_t message = AT_MESSAGES + count_words(run, lane, '|') * MESSAGE;

	if (what == 'm')
		svb_machine_flush(&run->machine, message, MESSAGE);
	else if (what == 'a')
		svb_machine_flush(&run->machine, 0, run->kind->a_size);
	else
		svb_machine_flush(&run->machine, run->at_b, B_SIZE);
}

void step_responder(struct run *run, uint32_t lane)
{
	const char *word = run->responder[lane][run->now.step[lane]];
	bool a = word[1] == 'a';

	switch (*word) {
	case 'a':
		run->now.acks[ack_of(word[3])]++;
		break;
	case 'c':
		svb_machine_store(&run->machine, a ? 0 : run->at_b, a ? run->a : run->b,
				  a ? run->kind->a_size : B_SIZE);
		break;
	case 'f':
		respond_flush(run, lane, word[1]);
		break;
	case 'l':
		run->verdict.blind |= count_words(run, lane, 'l') >= run->now.slots;
		break;
	case 'r':
		run->now.reported[!a] = 1;
		break;
	default:
		break;
	}
	run->now.step[lane]++;
}
