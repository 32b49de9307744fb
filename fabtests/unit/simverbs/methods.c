/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cairn_test.h"
#include "methods.h"

#define MEMORY 1024u
#define AT_B 256u	 /* unless it shares a's last line */
#define AT_MESSAGES 320u /* where the receive buffers are, two of them */
#define MESSAGE 320u
#define B_SIZE 8u
#define SPACE_DRAM 1u
#define DOORBELL 4096u
#define SLOTS 8192u
#define REGION_DATA 1u
#define REGION_MESSAGES 2u
#define REGION_CONTROL 3u
#define QP_DATA 1u
#define QP_CONTROL 2u
#define WORDS 24

enum { LANE_DATA, LANE_CONTROL, LANES };
enum { ACK, ACK_A, ACK_B, ACKS };

/* Where all scripts stand. Part of the state. */
struct progress {
	uint32_t at;		   /* next word of the requester */
	uint32_t step[LANES];	   /* and of the responder */
	uint32_t delivered[LANES]; /* messages, to the responder */
	uint32_t posted, marked;   /* on the data queue pair */
	uint32_t sent, controls;   /* messages on each queue pair */
	uint32_t acks[ACKS], taken[ACKS];
	uint32_t rung, slots;
	uint32_t reported[2];			 /* by the responder: a, b */
	uint32_t last_at, last_len, last_region; /* of what was written last */
};

struct run {
	const struct machine_kind *kind;
	bool compound, lanes;
	char text[2][192];
	char *requester[WORDS], *responder[LANES][WORDS];
	uint32_t reports_a; /* behind this word of the requester */
	struct svb_machine machine;
	struct progress now;
	uint8_t visible[MEMORY], medium[MEMORY];
	uint8_t a[256], b[B_SIZE], c[B_SIZE];
	uint32_t at_b;
	bool overwritten; /* c follows b */
	bool both;	  /* a message holds a and b */
	uint64_t *seen;
	uint64_t mask;
	struct verdict verdict;
};

static void on_place(void *ctx, uint64_t space, uint64_t at, const void *data, size_t len)
{
	struct run *run = ctx;

	run->now.rung += at == DOORBELL;
	run->now.slots += at == SLOTS;
}

/* Something that was posted behind b looks at it. */
static void find_b(struct run *run)
{
	run->verdict.stale |= memcmp(run->visible + run->at_b, run->b, B_SIZE) != 0;
}

static void on_execute(void *ctx, const struct svb_request *request)
{
	struct run *run = ctx;

	if (request->note[0])
		find_b(run);
	if (request->kind != SVB_REQ_ATOMIC && request->kind != SVB_REQ_ATOMIC_WRITE)
		return;
	if (request->space == SPACE_DRAM)
		run->now.rung++;
	else
		memcpy(run->visible + request->at, request->at ? run->b : run->a, B_SIZE);
}

static void on_deliver(void *ctx, const struct svb_request *request)
{
	struct run *run = ctx;

	if (request->note[0])
		find_b(run);
	else
		run->now.delivered[run->lanes && request->qp == QP_CONTROL]++;
}

static const struct svb_machine_ops ops = {
	.place = on_place,
	.execute = on_execute,
	.deliver = on_deliver,
};

/* The last word is NULL. */
static void split(char *text, char **words, const char *script)
{
	char *save = NULL;
	int count = 0;

	strcpy(text, script);
	words[0] = strtok_r(text, " ", &save);
	while (words[count] && count < WORDS - 1)
		words[++count] = strtok_r(NULL, " ", &save);
}

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
	uint32_t seq;

	for (seq = 1; seq <= last; seq++)
		if (!svb_machine_answered(&run->machine, QP_DATA, seq))
			return false;
	return true;
}

/* Whose answer: of a, of b, or of either. */
static uint32_t ack_of(char which)
{
	return which == 'a' ? ACK_A : which == 'b' ? ACK_B : ACK;
}

static bool may_request(struct run *run)
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

static void step_requester(struct run *run)
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

static bool may_respond(struct run *run, uint32_t lane)
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

static void step_responder(struct run *run, uint32_t lane)
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

struct saved {
	struct progress now;
	size_t size;
	uint8_t bytes[];
};

static struct saved *save(struct run *run)
{
	size_t size = svb_machine_save(&run->machine, NULL, 0);
	struct saved *saved = malloc(sizeof(*saved) + size);

	if (!saved)
		abort();
	saved->now = run->now;
	saved->size = svb_machine_save(&run->machine, saved->bytes, size);
	return saved;
}

static void restore(struct run *run, const struct saved *saved)
{
	run->now = saved->now;
	svb_machine_restore(&run->machine, saved->bytes);
}

static void grow(struct run *run)
{
	uint64_t *old = run->seen, size = run->mask + 1, i, at;

	run->mask = size * 2 - 1;
	run->seen = calloc(size * 2, sizeof(*run->seen));
	if (!run->seen)
		abort();
	for (i = 0; i < size; i++) {
		for (at = old[i]; old[i] && run->seen[at & run->mask]; at++)
			;
		if (old[i])
			run->seen[at & run->mask] = old[i];
	}
	free(old);
}

static bool is_new(struct run *run, const struct saved *saved)
{
	uint64_t hash = svb_machine_hash(saved->bytes, saved->size) * 31 +
			svb_machine_hash(&saved->now, sizeof(saved->now));
	uint64_t at;

	hash += !hash;
	if (run->verdict.states * 2 > run->mask)
		grow(run);
	for (at = hash; run->seen[at & run->mask]; at++)
		if (run->seen[at & run->mask] == hash)
			return false;
	run->seen[at & run->mask] = hash;
	run->verdict.states++;
	return true;
}

/* A message is replayed when all of it is there. */
static void recover(const struct run *run, bool *a, bool *b)
{
	uint32_t message;
	const uint8_t *at;
	bool has_a, has_b;

	*a = !memcmp(run->medium, run->a, run->kind->a_size);
	*b = !memcmp(run->medium + run->at_b, run->b, B_SIZE);
	for (message = 0; run->kind->rq_pm && message < 2; message++) {
		at = run->medium + AT_MESSAGES + message * MESSAGE;
		has_b = !memcmp(at + 8, run->b, B_SIZE);
		has_a = !memcmp(at + 16, run->a, run->kind->a_size);
		if (!at[0] || (run->both && !(has_a && has_b)))
			continue;
		*a |= has_a;
		*b |= has_b;
	}
}

static void fail(struct run *run)
{
	bool reported = !run->requester[run->now.at], a, b;

	svb_machine_fail(&run->machine);
	recover(run, &a, &b);
	run->verdict.too_early |= reported && (!a || (run->compound && !b));
	run->verdict.too_early |= run->now.at > run->reports_a && !a;
	run->verdict.too_early |= run->now.reported[0] && !a;
	run->verdict.too_early |= run->now.reported[1] && !b;
	run->verdict.disorder |= run->compound && b && !a;
}

static void explore(struct run *run)
{
	struct svb_choice choices[128];
	struct saved *here = save(run);
	uint32_t count, i, lane;
	bool acts;

	if (!is_new(run, here)) {
		free(here);
		return;
	}
	fail(run);
	restore(run, here);
	count = svb_machine_enabled(&run->machine, choices, 128);
	acts = may_request(run) || may_respond(run, LANE_DATA) ||
	       may_respond(run, LANE_CONTROL);
	if (!count && !acts) {
		run->verdict.runs++;
		run->verdict.stuck |= run->requester[run->now.at] != NULL;
		run->verdict.stale |= run->overwritten && memcmp(run->visible + run->at_b,
								 run->c, B_SIZE) != 0;
	}
	for (i = 0; i < count; i++) {
		svb_machine_apply(&run->machine, &choices[i]);
		explore(run);
		restore(run, here);
	}
	if (may_request(run)) {
		step_requester(run);
		explore(run);
		restore(run, here);
	}
	for (lane = 0; lane < LANES; lane++)
		if (may_respond(run, lane)) {
			step_responder(run, lane);
			explore(run);
			restore(run, here);
		}
	free(here);
}

/* Where a script has this word; UINT32_MAX: nowhere. */
static uint32_t find_word(char *const *words, const char *word)
{
	uint32_t i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return UINT32_MAX;
}

/* "||" parts the responder's scripts. */
static void split_lanes(struct run *run)
{
	char **words = run->responder[LANE_DATA];
	uint32_t at = find_word(words, "||");

	if (at == UINT32_MAX)
		return;
	run->lanes = true;
	words[at] = NULL;
	memcpy(run->responder[LANE_CONTROL], words + at + 1,
	       (WORDS - at - 1) * sizeof(*words));
}

struct verdict method_explore(const struct method *method,
			      const struct machine_kind *kind)
{
	struct run *run = calloc(1, sizeof(*run));
	struct verdict verdict;

	run->machine = (struct svb_machine){
		.config = kind->config,
		.ops = &ops,
		.ctx = run,
		.state = calloc(1, sizeof(struct svb_machine_state)),
		.visible = run->visible,
		.medium = run->medium,
		.size = MEMORY,
	};
	run->kind = kind;
	run->compound = method->compound;
	run->overwritten = strstr(method->requester, "Wc");
	run->both = strstr(method->requester, "Sab");
	run->at_b = kind->shared ? kind->a_size : AT_B;
	memset(run->a, 0xaa, sizeof(run->a));
	memset(run->b, 0xbb, sizeof(run->b));
	memset(run->c, 0xcc, sizeof(run->c));
	split(run->text[0], run->requester, method->requester);
	split(run->text[1], run->responder[LANE_DATA], method->responder);
	split_lanes(run);
	run->reports_a = find_word(run->requester, ".");
	run->mask = 1023;
	run->seen = calloc(run->mask + 1, sizeof(*run->seen));
	explore(run);
	verdict = run->verdict;
	free(run->seen);
	free(run->machine.state);
	free(run);
	return verdict;
}
