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
#define REGION_DATA 1u
#define REGION_MESSAGES 2u
#define QP_DATA 1u
#define QP_CONTROL 2u
#define WORDS 24

/* Where both scripts stand. Part of the state. */
struct progress {
	uint32_t at, step;  /* next word of each script */
	uint32_t posted;    /* on the data queue pair */
	uint32_t sent;	    /* messages of any kind */
	uint32_t delivered; /* to the responder */
	uint32_t acks, taken;
	uint32_t doorbell;
	uint32_t last_at, last_len, last_region; /* of what was written last */
	uint32_t unused;
};

struct run {
	const struct machine_kind *kind;
	bool compound;
	char text[2][128];
	char *requester[WORDS], *responder[WORDS];
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

	if (at == DOORBELL)
		run->now.doorbell = 1;
}

static void on_execute(void *ctx, const struct svb_request *request)
{
	struct run *run = ctx;

	if (request->kind == SVB_REQ_ATOMIC)
		run->now.doorbell = 1;
	if (request->kind == SVB_REQ_ATOMIC_WRITE)
		memcpy(run->visible + request->at, run->b, B_SIZE);
}

static void on_deliver(void *ctx, const struct svb_request *request)
{
	struct run *run = ctx;

	run->now.delivered++;
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
	request->seq = request->qp == QP_DATA ? ++run->now.posted : run->now.sent + 1;
	if (!svb_machine_post(&run->machine, request, target, target ? 1 : 0, data))
		abort();
}

static void post_write(struct run *run, const char *word)
{
	bool b = word[1] == 'b', c = word[1] == 'c';
	struct svb_target target = {SVB_SPACE_PM, b || c ? run->at_b : 0,
				    b || c ? B_SIZE : run->kind->a_size};
	struct svb_request request = {.region = REGION_DATA};

	if (*word == 'I')
		request.flags |= SVB_REQ_DELIVER;
	if (word[2] == '!')
		request.flags |= SVB_REQ_FENCE;
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
				      .flags = SVB_REQ_DELIVER};
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

static void post_other(struct run *run, const char *word)
{
	static const uint64_t one = 1;
	struct svb_target doorbell = {SPACE_DRAM, DOORBELL, 8};
	struct svb_request request = {.kind = SVB_REQ_READ,
				      .region = run->now.last_region,
				      .at = run->now.last_at,
				      .len = run->now.last_len};

	if (!strcmp(word, "FP")) {
		request.kind = SVB_REQ_FLUSH;
		request.flags = SVB_REQ_PERSISTENT;
	} else if (!strcmp(word, "AW")) {
		request.kind = SVB_REQ_ATOMIC_WRITE;
		request.at = run->now.last_at = run->at_b;
		request.len = run->now.last_len = B_SIZE;
	} else if (!strcmp(word, "Da")) {
		request.kind = SVB_REQ_ATOMIC;
		request.space = SPACE_DRAM;
	} else if (!strcmp(word, "Dw")) {
		request.kind = SVB_REQ_POSTED;
	} else if (!strcmp(word, "M")) {
		request.kind = SVB_REQ_POSTED;
		request.flags = SVB_REQ_DELIVER;
		request.qp = QP_CONTROL;
	}
	post(run, &request,
	     request.kind == SVB_REQ_POSTED && *word == 'D' ? &doorbell : NULL, &one);
	run->now.sent += *word == 'M';
}

/* Completions are reported in order. */
static bool completed(struct run *run)
{
	uint32_t seq;

	for (seq = 1; seq <= run->now.posted; seq++)
		if (!svb_machine_answered(&run->machine, QP_DATA, seq))
			return false;
	return true;
}

static bool may_request(struct run *run)
{
	const char *word = run->requester[run->now.at];

	if (!word)
		return false;
	if (*word == 'C')
		return completed(run);
	return *word != 'A' || word[1] || run->now.taken < run->now.acks;
}

static void step_requester(struct run *run)
{
	const char *word = run->requester[run->now.at++];

	if (!strcmp(word, "A"))
		run->now.taken++;
	else if (*word == 'S')
		post_send(run, word);
	else if (*word == 'W' || *word == 'I')
		post_write(run, word);
	else if (*word != 'C')
		post_other(run, word);
}

/* Messages that the responder's script is done with, or at. */
static uint32_t message_at(const struct run *run)
{
	uint32_t i, message = 1;

	for (i = 0; i < run->now.step; i++)
		message += *run->responder[i] == '|';
	return message;
}

static bool may_respond(struct run *run)
{
	const char *word = run->responder[run->now.step];

	return word && message_at(run) <= run->now.delivered &&
	       (*word != 'd' || run->now.doorbell);
}

static void step_responder(struct run *run)
{
	const char *word = run->responder[run->now.step++];
	uint64_t at = word[1] == 'a' ? 0 : run->at_b;
	size_t len = word[1] == 'a' ? run->kind->a_size : B_SIZE;

	if (!strcmp(word, "ack"))
		run->now.acks++;
	else if (*word == 'c')
		svb_machine_store(&run->machine, at, at ? run->b : run->a, len);
	else if (*word == 'f')
		svb_machine_flush(&run->machine, at, len);
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
	run->verdict.disorder |= run->compound && b && !a;
}

static void explore(struct run *run)
{
	struct svb_choice choices[128];
	struct saved *here = save(run);
	uint32_t count, i;
	bool acts;

	if (!is_new(run, here)) {
		free(here);
		return;
	}
	fail(run);
	restore(run, here);
	count = svb_machine_enabled(&run->machine, choices, 128);
	acts = may_request(run) || may_respond(run);
	if (!count && !acts) {
		run->verdict.runs++;
		run->verdict.stuck |= run->requester[run->now.at] != NULL;
		run->verdict.stale |= run->overwritten &&
				      memcmp(run->visible + run->at_b, run->c, B_SIZE);
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
	if (may_respond(run)) {
		step_responder(run);
		explore(run);
		restore(run, here);
	}
	free(here);
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
	split(run->text[1], run->responder, method->responder);
	run->mask = 1023;
	run->seen = calloc(run->mask + 1, sizeof(*run->seen));
	explore(run);
	verdict = run->verdict;
	free(run->seen);
	free(run->machine.state);
	free(run);
	return verdict;
}
