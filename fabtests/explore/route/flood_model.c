/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "flood.h"

static size_t start; /* before there is a router */

/* ---- states ---- */

#define FIXED offsetof(struct flood_world, queue)
#define REST offsetof(struct flood_world, losses)

static size_t state_size(void)
{
	size_t size = sizeof(flood_running) + FIXED + sizeof(flood) - REST;

	for (uint32_t i = 0; i < FLOOD_LINKS * 2; i++)
		size += sizeof(uint64_t) +
			flood.queue[i / 2][i % 2].count * sizeof(struct flood_note);
	return size;
}

/* Of queues what is in them. */
static size_t save(void *to, size_t size)
{
	const size_t all = state_size();
	const struct flood_queue *queue;
	char *at = to;
	uint64_t count;

	if (size < all)
		return all;
	memcpy(at, &flood_running, sizeof(flood_running));
	at += sizeof(flood_running);
	memcpy(at, &flood, FIXED);
	at += FIXED;
	memcpy(at, (char *)&flood + REST, sizeof(flood) - REST);
	at += sizeof(flood) - REST;
	for (uint32_t i = 0; i < FLOOD_LINKS * 2; i++) {
		queue = &flood.queue[i / 2][i % 2];
		count = queue->count;
		memcpy(at, &count, sizeof(count));
		at += sizeof(count);
		memcpy(at, queue->note, count * sizeof(queue->note[0]));
		at += count * sizeof(queue->note[0]);
	}
	return all;
}

static void restore(const void *from)
{
	struct flood_queue *queue;
	const char *at = from;
	uint64_t count;

	memcpy(&flood_running, at, sizeof(flood_running));
	at += sizeof(flood_running);
	memcpy(&flood, at, FIXED);
	at += FIXED;
	memcpy((char *)&flood + REST, at, sizeof(flood) - REST);
	at += sizeof(flood) - REST;
	memset(flood.queue, 0, sizeof(flood.queue));
	for (uint32_t i = 0; i < FLOOD_LINKS * 2; i++) {
		queue = &flood.queue[i / 2][i % 2];
		memcpy(&count, at, sizeof(count));
		queue->count = (uint32_t)count;
		at += sizeof(count);
		memcpy(queue->note, at, count * sizeof(queue->note[0]));
		at += count * sizeof(queue->note[0]);
	}
}

static unsigned int begin(const void *run)
{
	xpl_state_back_to(start);
	xpl_heap_use(true);
	xpl_heap_room(1);
	flood_begin(run);
	xpl_heap_use(false);
	return flood.wrong;
}

/* ---- choices ---- */

struct list {
	struct xpl_choice *to;
	uint32_t count;
};

static void list_add(struct list *list, enum flood_act act, uint32_t a, uint32_t b)
{
	list->to[list->count++] = (struct xpl_choice){.word = {act, a, b}};
}

static void list_queue(struct list *list, uint32_t link, uint32_t from)
{
	if (!flood.queue[link][from].count)
		return;
	list_add(list, FLOOD_DELIVER, link, from);
	if (flood.losses)
		list_add(list, FLOOD_LOSE, link, from);
	if (flood.doubles)
		list_add(list, FLOOD_DOUBLE, link, from);
}

static uint32_t choices(struct xpl_choice *to, uint32_t max)
{
	struct list list = {.to = to};
	/* Later than this they are what they are early. */
	const bool is_early = flood.seconds < 2;

	if (flood.wrong)
		return 0;
	for (uint32_t i = 0; i < 2 * flood_running->links; i++)
		list_queue(&list, i / 2, i % 2);
	if (is_early && flood.changes && flood.router[flood_running->changes_at].sync)
		list_add(&list, FLOOD_CHANGE, flood_running->changes_at, 0);
	if (is_early && flood.reaches && flood.router[flood_running->changes_at].sync)
		list_add(&list, FLOOD_REACH, flood_running->changes_at, 0);
	if (is_early && flood.router[flood_running->restarts_at].sync) {
		if (flood.restarts)
			list_add(&list, FLOOD_RESTART, flood_running->restarts_at, 0);
		if (flood.kills)
			list_add(&list, FLOOD_KILL, flood_running->restarts_at, 0);
		if (flood.byes)
			list_add(&list, FLOOD_BYE, flood_running->restarts_at, 0);
	}
	if (flood_is_quiet() && flood.seconds < FLOOD_SECONDS)
		list_add(&list, FLOOD_SECOND, 0, 0);
	return list.count;
}

static void act(enum flood_act what, uint32_t a, uint32_t b)
{
	switch (what) {
	case FLOOD_DELIVER:
		flood_deliver(a, b, false);
		return;
	case FLOOD_SECOND:
		flood.seconds++;
		flood_second();
		return;
	case FLOOD_LOSE:
		flood.losses--;
		flood_drop(a, b);
		break;
	case FLOOD_DOUBLE:
		flood.doubles--;
		flood_deliver(a, b, true);
		break;
	case FLOOD_CHANGE:
		flood.changes--;
		flood_change(a);
		break;
	case FLOOD_REACH:
		flood.reaches--;
		flood_reach(a);
		break;
	case FLOOD_RESTART:
		flood.restarts--;
		flood_restart(a,
			      flood_running->epoch_step ? flood_running->epoch_step : 1);
		break;
	case FLOOD_KILL:
		flood.kills--;
		flood_kill(a);
		break;
	case FLOOD_BYE:
		flood.byes--;
		flood_bye(a);
		break;
	}
	flood.seconds = 0;
}

static void apply(const struct xpl_choice *choice)
{
	xpl_heap_use(true);
	act((enum flood_act)choice->word[0], (uint32_t)choice->word[1],
	    (uint32_t)choice->word[2]);
	xpl_heap_use(false);
}

static uint64_t outcome_hash(const void *outcome)
{
	return 0;
}

static void tell(const struct xpl_choice *choice)
{
	static const char *const acts[] = {
		[FLOOD_DELIVER] = "a message arrives",
		[FLOOD_LOSE] = "a message is lost",
		[FLOOD_DOUBLE] = "a message arrives, and will again",
		[FLOOD_CHANGE] = "says something new",
		[FLOOD_REACH] = "is reached at another cost",
		[FLOOD_RESTART] = "starts again",
		[FLOOD_KILL] = "is killed",
		[FLOOD_BYE] = "says goodbye",
		[FLOOD_SECOND] = "a second passes",
	};
	const uint64_t what = choice->word[0];

	if (what <= FLOOD_DOUBLE)
		printf("    link %d, from end %d: ", (int)choice->word[1],
		       (int)choice->word[2]);
	else if (what != FLOOD_SECOND)
		printf("    router %d ", (int)choice->word[1]);
	else
		printf("    ");
	printf("%s\n", acts[what]);
}

const struct xpl_model flood_model = {.save = save,
				      .restore = restore,
				      .tidy = flood_tidy,
				      .begin = begin,
				      .choices = choices,
				      .apply = apply,
				      .check = flood_check,
				      .check_end = flood_check_end,
				      .outcome_hash = outcome_hash,
				      .tell = tell};

void flood_model_open(void)
{
	xpl_open(&flood_model);
	start = xpl_state_push();
	if (start == SIZE_MAX)
		abort();
}
