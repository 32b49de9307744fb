/* SPDX-License-Identifier: BSD-2-Clause */
/* A case from its first thread to its last: both sides run, settle, drain and compare. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "stress.h"

#define GROWTH_KIB 32768u

struct worker {
	struct st *s;
	struct st_hub *hub;
	struct st_rng rng;
	bool works, manages;   /* operations; connections */
	_Atomic uint32_t seen; /* the phase of its turn now */
	pthread_t thread;
};

/* ---- threads ---- */

/* Looking at a counter completes operations too. */
static void look_at_counter(struct st_hub *hub, struct st_rng *rng)
{
	if (hub->tx_cntr && !st_below(rng, 128))
		fi_cntr_read(st_below(rng, 2) ? hub->tx_cntr : hub->rx_cntr);
}

static int turn(struct worker *w, uint32_t phase)
{
	struct st_hub *hub = w->hub;
	struct st_lane *lane = hub->lane[st_below(&w->rng, hub->lanes)];
	int ret = 0, done = 0;

	if (w->manages && (!w->works || !st_below(&w->rng, 64))) {
		done = fct_st_cm_step(hub, &w->rng, w->s->mode.reopen && phase == ST_RUN);
		if (!w->works && !done)
			usleep(500);
	}
	if (done >= 0 && w->works) {
		look_at_counter(hub, &w->rng);
		done = fct_st_task_step(lane, &w->rng, phase < ST_DRAIN);
		ret = done < 0 ? -1 : fct_st_comp_step(hub, &w->rng);
		if (!done && !ret)
			sched_yield();
	}
	return done < 0 || ret < 0 ? -1 : 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint32_t phase;

	while ((phase = w->s->phase) != ST_END && !w->s->failed) {
		w->seen = phase;
		if (turn(w, phase))
			break;
	}
	return NULL;
}

/* With FI_THREAD_DOMAIN everything of a domain is one thread's. */
static int start(struct st *s, struct worker *w, uint32_t *count)
{
	const bool alone = s->mode.threading == FI_THREAD_DOMAIN;
	uint32_t i;

	*count = 0;
	for (i = 0; i < s->o.threads + !alone; i++) {
		w[i].s = s;
		w[i].hub = s->hub[alone ? i : 0];
		w[i].rng.x = st_mix(s->o.seed + i * 2 + fct_is_client());
		w[i].works = alone || i;
		w[i].manages = alone || !i;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			return fct_st_fail(s, "pthread_create failed");
		++*count;
	}
	return 0;
}

/* ---- the first thread ---- */

static int wait_ms(struct st *s, uint32_t ms)
{
	const uint64_t end = fct_now_ms() + ms;

	while (!s->failed && fct_now_ms() < end) {
		if (fct_ctl_peer_gave_up())
			return -1;
		usleep(2000);
	}
	return s->failed ? -1 : 0;
}

static bool all_lanes(struct st *s, bool (*is)(const struct st_lane *))
{
	uint32_t h, i;

	for (h = 0; h < s->hubs; h++)
		for (i = 0; i < s->hub[h]->lanes; i++)
			if (!is(s->hub[h]->lane[i]))
				return false;
	return true;
}

static bool is_up(const struct st_lane *lane)
{
	return lane->state == ST_UP;
}

static bool is_idle(const struct st_lane *lane)
{
	uint32_t i;

	for (i = 0; i < ST_TASKS; i++)
		if (lane->task[i].state != ST_FREE)
			return false;
	return true;
}

static int wait_for(struct st *s, const char *what, bool (*is)(const struct st_lane *))
{
	struct fct_wait w;

	fct_wait_init(&w, what);
	while (!s->failed && !all_lanes(s, is))
		if (fct_wait_again(&w))
			return -1;
	return s->failed ? -1 : 0;
}

/* What it still waits for, behind the case's reason. */
static void explain(struct st *s, const struct st_lane *lane)
{
	const struct st_task *task = lane->task;
	char *why = fct.why;
	const size_t len = strlen(why);

	while (task->state == ST_FREE)
		task++;
	snprintf(
		why + len, FCT_WHY_LEN - len,
		"; lane %u, connection %u: state %u, %u operations outstanding, "
		"messages: "
		"%u posted, %u done, %u received, first error %d (%s); its task %u: kind "
		"%u, state %u, stage %u, use %llu, %u of %u posted, %u to complete%s",
		lane->number, lane->epoch, lane->state, lane->outstanding, lane->posted,
		lane->done, lane->received, lane->err, fi_strerror(lane->err),
		task->index, task->kind, task->state, task->stage,
		(unsigned long long)task->seq, task->at, task->ops, task->left,
		task->failed ? ", failed" : "");
}

static int wait_until_idle(struct st *s)
{
	uint32_t h, i;

	if (!wait_for(s, "the last operations", is_idle))
		return 0;
	for (h = 0; h < s->hubs; h++)
		for (i = 0; i < s->hub[h]->lanes; i++)
			if (!is_idle(s->hub[h]->lane[i])) {
				explain(s, s->hub[h]->lane[i]);
				return -1;
			}
	return -1;
}

/* What the thread is waited for, as far as it says. */
static const char *held_up_by(const struct worker *w)
{
	const char *managing = w->manages ? w->hub->managing : NULL;

	return managing ? managing : w->manages ? "the thread that connects" : "a thread";
}

/* A turn that began in the phase before may still close a connection. */
static int enter(struct st *s, struct worker *w, uint32_t count, enum st_phase phase)
{
	struct fct_wait wait;
	uint32_t i;

	s->phase = phase;
	fct_wait_init(&wait, "the threads");
	for (i = 0; i < count; i++)
		while (!s->failed && w[i].seen != phase) {
			wait.what = held_up_by(&w[i]);
			fct_doing(wait.what);
			if (fct_wait_again(&wait))
				return -1;
		}
	return s->failed ? -1 : 0;
}

/* Nobody closes any more: until both sides have the same connections. */
static int settle(struct st *s)
{
	uint32_t mine[ST_LANES], theirs[ST_LANES], h, i;
	int same = 0;

	FCT_DO(fct_barrier("run over"));
	while (!same) {
		same = 1;
		FCT_DO(wait_for(s, "the connections", is_up));
		for (h = 0; h < s->hubs; h++) {
			for (i = 0; i < ST_LANES; i++)
				mine[i] = i < s->hub[h]->lanes ? s->hub[h]->lane[i]->epoch
							       : 0;
			FCT_DO(fct_exchange("epochs", mine, theirs, sizeof(mine)));
			same &= !memcmp(mine, theirs, sizeof(mine));
		}
	}
	return 0;
}

/* Every message of these connections arrives. */
static int all_arrive(struct st *s)
{
	struct st_lane *lane;
	uint32_t h, i, mine, theirs;

	for (h = 0; h < s->hubs; h++) {
		for (i = 0; i < s->hub[h]->lanes; i++) {
			lane = s->hub[h]->lane[i];
			mine = lane->posted;
			FCT_DO(fct_exchange("posted", &mine, &theirs, sizeof(mine)));
			FCT_WAIT_WHILE(!s->failed && lane->received != theirs,
				       "the last messages", 0);
		}
	}
	return s->failed ? -1 : fct_barrier("all arrived");
}

/* ---- what may not grow ---- */

/* Sanitizers, and valgrind for which the scale is set, keep what was freed. */
static bool memory_counts(const struct st *s)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return fct.scale == 1;
#endif
}

static int run_for(struct st *s)
{
	long before, after;

	if (wait_ms(s, s->o.ms / 4))
		return -1;
	before = fct_memory_kib(getpid(), "RssAnon");
	if (wait_ms(s, s->o.ms - s->o.ms / 4))
		return -1;
	after = fct_memory_kib(getpid(), "RssAnon");
	if (memory_counts(s) && after > before + GROWTH_KIB)
		return fct_st_fail(s, "memory grew from %ld to %ld KiB", before, after);
	return 0;
}

/* ---- a case ---- */

static void say(const struct st *s)
{
	fct_note(
		"%llu operations, %llu completions, %llu in error, %llu times full, %llu "
		"connections closed, %llu durable%s%s%s",
		(unsigned long long)s->operations, (unsigned long long)s->completions,
		(unsigned long long)s->failures, (unsigned long long)s->stalls,
		(unsigned long long)s->reopened, (unsigned long long)s->durable,
		s->no_atomics ? ", no atomics" : "",
		s->no_delivery ? ", no FI_DELIVERY_COMPLETE" : "",
		s->caps & FI_FENCE ? "" : ", no FI_FENCE");
}

static int phases(struct st *s, struct worker *w, uint32_t *count)
{
	FCT_DO(start(s, w, count));
	/* Where connections come and go, all of them may never be up. */
	if (!s->mode.reopen)
		FCT_DO(wait_for(s, "the connections", is_up));
	FCT_DO(run_for(s));
	FCT_DO(enter(s, w, *count, ST_SETTLE));
	FCT_DO(settle(s));
	FCT_DO(enter(s, w, *count, ST_DRAIN));
	FCT_DO(wait_until_idle(s));
	FCT_DO(fct_barrier("drained"));
	return all_arrive(s);
}

static int with_threads(struct st *s)
{
	struct worker w[ST_THREADS + 1] = {0};
	uint32_t count = 0, i;
	int ret = phases(s, w, &count);

	s->phase = ST_END;
	for (i = 0; i < count; i++)
		pthread_join(w[i].thread, NULL);
	if (s->failed)
		ret = fct_fail("%s (seed %llu)", s->why, (unsigned long long)s->o.seed);
	return ret;
}

static int open_hubs(struct st *s)
{
	const bool alone = s->mode.threading == FI_THREAD_DOMAIN;
	const uint32_t hubs = alone ? s->o.threads : 1;
	uint32_t lanes = s->o.lanes / hubs;
	int ret = 0;

	while (!ret && s->hubs < hubs) {
		ret = fct_st_hub_open(s, lanes ? lanes : 1, &s->hub[s->hubs]);
		s->hubs++;
	}
	return ret;
}

static int close_hubs(struct st *s, int ret)
{
	while (s->hubs)
		ret = fct_st_hub_close(s->hub[--s->hubs], ret);
	if (s->failed && fct.result == FCT_PASS)
		ret = fct_fail("%s (seed %llu)", s->why, (unsigned long long)s->o.seed);
	return ret;
}

static int check(struct st *s)
{
	uint32_t h;

	for (h = 0; h < s->hubs; h++)
		FCT_DO(fct_st_hub_check(s->hub[h]));
	return fct_barrier("compared");
}

/* The most that both sides have. */
static int pick_caps(struct st *s)
{
	static const uint64_t wishes[] = {FI_MSG | FI_RMA | FI_ATOMIC | FI_FENCE,
					  FI_MSG | FI_RMA | FI_ATOMIC, FI_MSG | FI_RMA};
	struct fct_setup setup = {.threading = s->mode.threading, .cq_data_size = 4};
	struct fi_info *info = NULL;
	uint64_t theirs;
	int i;

	for (i = 0; i < 3 && !info; i++) {
		setup.caps = wishes[i] | (s->mode.durable ? FI_RMA_PMEM : 0);
		if (!fct_getinfo(&setup, NULL, "0", &info))
			s->caps = setup.caps;
	}
	/* Its fi_fetch_atomic adds the operand's address: fi_cairn_atomic shows that. */
	if (info && !strcmp(info->fabric_attr->prov_name, "verbs"))
		s->caps &= ~(uint64_t)FI_ATOMIC;
	/* Without resource management a queue has to be as large as is needed. */
	if (info && info->domain_attr->resource_mgmt != FI_RM_ENABLED)
		s->mode.small = false;
	fi_freeinfo(info);
	FCT_DO(fct_exchange("caps", &s->caps, &theirs, sizeof(theirs)));
	s->caps &= theirs;
	return s->caps ? 0 : fct_skip("no FI_RMA with remote CQ data of 4 bytes");
}

static int once(struct st *s)
{
	int ret;

	pthread_mutex_init(&s->failing, NULL);
	ret = s->mode.durable ? fct_st_pmem_open(s) : 0;
	if (!ret)
		ret = open_hubs(s);
	if (!ret)
		ret = with_threads(s);
	if (!ret)
		ret = check(s);
	say(s);
	ret = close_hubs(s, ret);
	fct_st_pmem_close(s);
	pthread_mutex_destroy(&s->failing);
	return ret;
}

int fct_st_run(const struct st_mode *mode)
{
	struct st s = {.mode = *mode, .o = fct_st_opts, .next_key = 1 << 20};
	struct st first;
	unsigned int files;

	if (fct_is_client())
		FCT_DO(fct_tell("options", &s.o, sizeof(s.o)));
	else
		FCT_DO(fct_hear("options", &s.o, sizeof(s.o)));
	FCT_DO(pick_caps(&s));
	/* What a library opens once, and keeps, is open after this. */
	first = s;
	first.o.ms = 20;
	FCT_DO(once(&first));
	files = fct_descriptors();
	FCT_DO(once(&s));
	FCT_EQ(fct_descriptors(), files);
	return 0;
}
