/* SPDX-License-Identifier: BSD-2-Clause */
/* Every state that can be reached, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "heap.h"
#include "model.h"
#include "plans.h"
#include "world.h"

#define CHOICES 256u
#define DEPTH 4096u
#define ROOM ((size_t)2 << 30) /* for the states on the way */
#define SEEN_FIRST (1u << 12)

/* A way to a state. */
struct way {
	uint32_t length;
	struct svb_choice step[DEPTH]; /* kind: a choice of the device, or WAY_STEP + */
};
#define WAY_STEP 100u

/* States met. */
struct seen {
	uint64_t *hash; /* 0: none */
	size_t size, count;
};

static struct {
	char *room;
	size_t used;
	struct seen seen, stopped;
	struct way way, bad;
	unsigned int bad_wrong;
	const struct scenario *scenario;
	struct found *found;
	size_t start; /* where the state lies that every search begins with */
	bool in_step;
	/* WRONG_*: the search ends with the first that is wrong in such a way. */
	unsigned int ends_with;
} now;

static bool seen_put(struct seen *seen, uint64_t hash)
{
	size_t at = hash & (seen->size - 1);

	for (; seen->hash[at]; at = (at + 1) & (seen->size - 1))
		if (seen->hash[at] == hash)
			return false;
	seen->hash[at] = hash;
	seen->count++;
	return true;
}

static bool seen_grow(struct seen *seen, size_t size)
{
	struct seen old = *seen;
	size_t i;

	*seen = (struct seen){.hash = calloc(size, sizeof(uint64_t)), .size = size};
	if (!seen->hash) {
		*seen = old;
		return false;
	}
	for (i = 0; i < old.size; i++)
		if (old.hash[i])
			seen_put(seen, old.hash[i]);
	free(old.hash);
	return true;
}

/* Was it not there? */
static bool seen_new(struct seen *seen, uint64_t hash)
{
	if (seen->count * 2 >= seen->size && !seen_grow(seen, seen->size * 2)) {
		now.found->wrong |= WRONG_EXPLORER;
		return false;
	}
	return seen_put(seen, hash ? hash : 1);
}

static void seen_clear(struct seen *seen)
{
	free(seen->hash);
	*seen = (struct seen){0};
	seen_grow(seen, SEEN_FIRST);
}

/* Behind the states on the way; 0: no room. What is there is the state's until popped. */
static size_t push(void)
{
	size_t device = svb_model_save(NULL, 0), at = now.used;
	char *to = now.room + at;

	device = (device + 7) & ~(size_t)7;
	if (at + device + heap_size() + 2 * sizeof(program) + 64 > ROOM) {
		now.found->wrong |= WRONG_EXPLORER;
		return 0;
	}
	memcpy(to, &device, sizeof(device));
	to += sizeof(device);
	memset(to + device - 8, 0, 8);
	svb_model_save(to, device);
	memcpy(to + device, &program, sizeof(program));
	to += device + ((sizeof(program) + 7) & ~(size_t)7);
	heap_save(to);
	now.used = (size_t)(to + heap_size() - now.room);
	return at;
}

static void back_to(size_t at)
{
	const char *from = now.room + at + sizeof(size_t);
	size_t device;

	memcpy(&device, now.room + at, sizeof(device));
	heap_restore(from + device + ((sizeof(program) + 7) & ~(size_t)7));
	memcpy(&program, from + device, sizeof(program));
	svb_model_restore(from);
}

static uint64_t hash_of(size_t at)
{
	size_t device;

	memcpy(&device, now.room + at, sizeof(device));
	return svb_machine_hash(now.room + at + sizeof(device),
				device + sizeof(program)) ^
	       heap_hash();
}

static void note(unsigned int wrong)
{
	if (wrong && !now.found->wrong) {
		now.bad_wrong = wrong;
		now.bad.length = now.way.length;
		memcpy(now.bad.step, now.way.step,
		       now.way.length * sizeof(now.way.step[0]));
	}
	now.found->wrong |= wrong;
}

static bool go(const struct svb_choice *choice)
{
	if (now.way.length == DEPTH) {
		note(WRONG_EXPLORER);
		return false;
	}
	now.way.step[now.way.length++] = *choice;
	return true;
}

/* The real code has stopped inside a step: only the device moves. */
static void stop_visit(void)
{
	struct svb_choice choices[CHOICES];
	uint32_t count, i;
	size_t state = push();

	if (now.used == state || !seen_new(&now.stopped, hash_of(state))) {
		now.used = state;
		return;
	}
	count = svb_model_enabled(choices, CHOICES);
	note(check_power());
	back_to(state);
	for (i = 0; i < count && go(&choices[i]); i++) {
		svb_model_apply(&choices[i]);
		stop_visit();
		back_to(state);
		now.way.length--;
	}
	now.used = state;
}

/* The linker puts it where the processor's flushes end up. */
bool __real_svb_medium_flush(const void *addr, size_t len);
bool __wrap_svb_medium_flush(const void *addr, size_t len);

bool __wrap_svb_medium_flush(const void *addr, size_t len)
{
	if (now.in_step) {
		heap_use(false);
		stop_visit();
		heap_use(true);
	}
	return __real_svb_medium_flush(addr, len);
}

static void visit(void);

/* A step of a processor. Does it change anything? */
static bool visit_step(enum step step, size_t state, uint64_t hash)
{
	struct svb_choice way = {.kind = WAY_STEP + step};
	bool changed = false;
	size_t after;

	if (!go(&way))
		return false;
	now.in_step = true;
	if (program_step(step)) {
		now.found->runs++;
		after = push();
		changed = now.used != after && hash_of(after) != hash;
		now.used = after;
	}
	now.in_step = false;
	if (changed) {
		note(program.wrong);
		visit();
	}
	back_to(state);
	now.way.length--;
	return changed;
}

static void visit(void)
{
	struct svb_choice choices[CHOICES];
	bool moved = false;
	uint32_t count, i;
	size_t state = push();
	uint64_t hash;

	hash = hash_of(state);
	if (now.used == state || (now.found->wrong & now.ends_with) ||
	    !seen_new(&now.seen, hash)) {
		now.used = state;
		return;
	}
	count = svb_model_enabled(choices, CHOICES);
	if (count == CHOICES)
		now.found->wrong |= WRONG_EXPLORER;
	note(check_power());
	back_to(state);
	for (i = 0; i < STEPS; i++)
		moved |= visit_step((enum step)i, state, hash);
	for (i = 0; i < count && go(&choices[i]); i++) {
		svb_model_apply(&choices[i]);
		visit();
		back_to(state);
		now.way.length--;
	}
	if (!moved && !count)
		note(check_end());
	now.used = state;
}

void search_init(void)
{
	struct found none = {0};

	now.room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	now.found = &none;
	/* All of it is in the heap. */
	svb_model_leave_memory(true);
	if (now.room == MAP_FAILED || !heap_watch())
		abort();
	now.start = push();
}

static void begin(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		if (!plans_force(i, now.scenario->plan[i]))
			now.found->wrong |= WRONG_EXPLORER;
	back_to(now.start);
	svb_model_tear(now.scenario->tear);
	program_begin(now.scenario);
	check_begin(now.scenario);
}

static void prepare(const struct scenario *scenario, struct found *found)
{
	*found = (struct found){0};
	now.scenario = scenario;
	now.found = found;
	now.way.length = 0;
	seen_clear(&now.seen);
	seen_clear(&now.stopped);
	begin();
}

/* xorshift64*. */
static uint32_t chance(uint64_t *seed, uint32_t most)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (uint32_t)((*seed * 0x2545f4914f6cdd1dull >> 33) % most);
}

static void wander_step(enum step step)
{
	struct svb_choice way = {.kind = WAY_STEP + step};

	if (!go(&way))
		return;
	now.in_step = true;
	now.found->runs += program_step(step);
	now.in_step = false;
	note(program.wrong);
}

/* The device has nothing to do: does no processor change anything? */
static bool wander_ends(uint64_t before)
{
	size_t state;
	uint64_t hash;
	uint32_t i;

	/* All of them: one that tries again, and counts that, must not keep the others
	 * off. */
	for (i = 0; i < STEPS; i++)
		wander_step((enum step)i);
	state = push();
	hash = hash_of(state);
	now.used = state;
	return hash == before;
}

/* One way to the end. */
static void wander(uint64_t *seed)
{
	struct svb_choice choices[CHOICES];
	uint32_t count, pick;
	size_t state;
	uint64_t hash;

	while (!now.found->wrong) {
		state = push();
		hash = hash_of(state);
		if (now.used != state && seen_new(&now.seen, hash)) {
			note(check_power());
			back_to(state);
		}
		now.used = state;
		count = svb_model_enabled(choices, CHOICES);
		if (!count) {
			if (!wander_ends(hash))
				continue;
			note(check_end());
			return;
		}
		pick = chance(seed, count + STEPS);
		if (pick >= count)
			wander_step((enum step)(pick - count));
		else if (go(&choices[pick]))
			svb_model_apply(&choices[pick]);
	}
}

void search_some(const struct scenario *scenario, uint32_t ways, uint64_t seed,
		 struct found *found)
{
	prepare(scenario, found);
	while (ways-- && !found->wrong) {
		now.way.length = 0;
		begin();
		wander(&seed);
	}
	found->states = now.seen.count + now.stopped.count;
}

void search_first(const struct scenario *scenario, unsigned int expected,
		  struct found *found)
{
	now.ends_with = ~expected;
	search(scenario, found);
	now.ends_with = 0;
}

void search(const struct scenario *scenario, struct found *found)
{
	prepare(scenario, found);
	visit();
	found->states = now.seen.count + now.stopped.count;
}

static void tell(const struct svb_choice *step)
{
	static const char *const steps[STEPS] = {"the initiator calls",
						 "the initiator reads completions",
						 "the target reads completions",
						 "time passes"};
	static const char *const kinds[] = {
		[SVB_CHOICE_ARRIVE] = "arrives",
		[SVB_CHOICE_PLACE] = "is placed",
		[SVB_CHOICE_EXECUTE] = "is executed",
		[SVB_CHOICE_DELIVER] = "is delivered",
		[SVB_CHOICE_DRAIN] = "drains",
	};

	if (step->kind >= WAY_STEP)
		printf("    %s\n", steps[step->kind - WAY_STEP]);
	else if (step->kind == SVB_CHOICE_DRAIN)
		printf("    line %llu (words %02x) drains\n",
		       (unsigned long long)step->line, step->words);
	else if (step->kind == SVB_CHOICE_PLACE)
		printf("    queue pair %x, request %u: line %llx (words %02x) is "
		       "placed\n",
		       step->qp, step->seq, (unsigned long long)step->line, step->words);
	else
		printf("    queue pair %x, request %u %s\n", step->qp, step->seq,
		       kinds[step->kind]);
}

/* The same steps from the beginning: what is wrong then? Something else if a state was
 * not taken back as it was. */
static unsigned int again(void)
{
	const struct svb_choice *step;
	unsigned int wrong = 0;
	uint32_t i;

	begin();
	for (i = 0; i < now.bad.length; i++) {
		step = &now.bad.step[i];
		if (step->kind < WAY_STEP)
			svb_model_apply(step);
		else
			program_step((enum step)(step->kind - WAY_STEP));
		wrong |= program.wrong;
	}
	return wrong | check_end() | check_power();
}

void search_tell(void)
{
	uint32_t i;

	for (i = 0; i < now.bad.length; i++)
		tell(&now.bad.step[i]);
	if (!(again() & now.bad_wrong))
		printf("    and the second time nothing is wrong: the explorer is\n");
}
