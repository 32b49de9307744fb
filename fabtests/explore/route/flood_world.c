/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "flood.h"

#define SUBNET 100u /* and the link's number */
#define SECOND 1000u
#define BEGIN 100000u /* ms */

struct flood_world flood;
const struct flood_run *flood_running;

/* ---- messages ---- */

static void note_lsa(struct flood_note *note, const struct rte_lsa *lsa)
{
	const struct rte_link *link;

	note->flags = lsa->flags;
	note->load = lsa->load;
	note->lifetime = lsa->lifetime;
	note->entry[0].as = lsa->as;
	note->entry[0].router = (uint32_t)lsa->router;
	note->entry[0].epoch = (uint32_t)lsa->epoch;
	note->entry[0].seq = (uint32_t)lsa->seq;
	/* The first one is the stub, which has no neighbours. */
	for (uint32_t i = 1; i < lsa->links; i++) {
		link = &lsa->link[i];
		note->link[i - 1].scope_as = link->scope_as;
		note->link[i - 1].subnet = link->subnet;
		note->link[i - 1].neighbour =
			link->neighbours ? (uint32_t)link->neighbour[0] : 0;
	}
	note->count = (uint8_t)lsa->links;
}

static void note_entry(struct flood_note *note, uint32_t at,
		       const struct rte_sync_entry *entry)
{
	note->entry[at].as = entry->as;
	note->entry[at].router = (uint32_t)entry->router;
	note->entry[at].epoch = (uint32_t)entry->epoch;
	note->entry[at].seq = (uint32_t)entry->seq;
}

static struct flood_note note_of(const struct rte_sync_message *message)
{
	struct flood_note note;

	memset(&note, 0, sizeof(note));
	note.type = (uint8_t)message->type;
	switch (message->type) {
	case RTE_SYNC_LSA:
		note_lsa(&note, message->lsa);
		break;
	case RTE_SYNC_AS_REACH:
		note_entry(&note, 0, &message->reach.key);
		break;
	case RTE_SYNC_HEARTBEAT:
		note.hash = message->heartbeat.hash;
		note.count = (uint8_t)message->heartbeat.count;
		break;
	case RTE_SYNC_BYE:
		break;
	default:
		note.count = (uint8_t)message->list.count;
		note.more = message->list.more;
		for (uint32_t i = 0; i < note.count && i < FLOOD_ENTRIES; i++)
			note_entry(&note, i, &message->list.entry[i]);
	}
	return note;
}

/* A message again, and room for what it points to. */
struct unpacked {
	struct rte_sync_message message;
	struct rte_sync_entry entry[FLOOD_ENTRIES];
	struct rte_lsa lsa;
	struct rte_link link[FLOOD_LINKS + 1];
	uint64_t neighbour[FLOOD_LINKS];
};

static void unpack_lsa(const struct flood_note *note, struct unpacked *to)
{
	const struct rte_sync_entry *key = &to->entry[0];

	to->lsa = (struct rte_lsa){.as = key->as,
				   .router = key->router,
				   .epoch = key->epoch,
				   .seq = key->seq,
				   .flags = note->flags,
				   .load = note->load,
				   .lifetime = note->lifetime,
				   .links = note->count,
				   .link = to->link};
	for (uint32_t i = 0; i < note->count; i++) {
		to->link[i] = (struct rte_link){.rate = 1, .up = true, .uri = ""};
		if (!i) {
			to->link[i].scope_as = key->as;
			to->link[i].subnet =
				flood_stub((uint32_t)(key->router - flood_id(0)));
			continue;
		}
		to->link[i].scope_as = note->link[i - 1].scope_as;
		to->link[i].subnet = note->link[i - 1].subnet;
		to->neighbour[i - 1] = note->link[i - 1].neighbour;
		to->link[i].neighbours = note->link[i - 1].neighbour != 0;
		to->link[i].neighbour = &to->neighbour[i - 1];
	}
	to->message.lsa = &to->lsa;
}

static void unpack(const struct flood_note *note, struct unpacked *to)
{
	memset(to, 0, sizeof(*to));
	to->message.type = (enum rte_sync_type)note->type;
	for (uint32_t i = 0; i < FLOOD_ENTRIES; i++)
		to->entry[i] = (struct rte_sync_entry){.as = note->entry[i].as,
						       .router = note->entry[i].router,
						       .epoch = note->entry[i].epoch,
						       .seq = note->entry[i].seq};
	switch (to->message.type) {
	case RTE_SYNC_LSA:
		unpack_lsa(note, to);
		break;
	case RTE_SYNC_AS_REACH:
		to->message.reach.key = to->entry[0];
		break;
	case RTE_SYNC_HEARTBEAT:
		to->message.heartbeat.hash = note->hash;
		to->message.heartbeat.count = note->count;
		break;
	case RTE_SYNC_BYE:
		break;
	default:
		to->message.list.entry = to->entry;
		to->message.list.count = note->count;
		to->message.list.more = note->more;
	}
}

/* ---- what routers send ---- */

static uint32_t count_crossing(struct flood_crossings *crossings,
			       const struct rte_lsa *lsa)
{
	const uint32_t epoch = (uint32_t)lsa->epoch, seq = (uint32_t)lsa->seq;

	if (epoch > crossings->epoch ||
	    (epoch == crossings->epoch && seq > crossings->seq))
		*crossings = (struct flood_crossings){.epoch = epoch, .seq = seq};
	if (epoch == crossings->epoch && seq == crossings->seq)
		crossings->count++;
	return crossings->count;
}

/* Digests, which follow a fault, may send it again. */
static void check_crossing(uint32_t link, uint32_t from, const struct rte_lsa *lsa)
{
	const struct flood_run *run = flood_running;
	const uint32_t router = (uint32_t)(lsa->router - flood_id(0));
	const uint32_t faults = run->losses + run->doubles + run->restarts;
	uint32_t here, all;

	here = count_crossing(&flood.link[link].crossings[from][router], lsa);
	all = count_crossing(&flood.all[router], lsa);
	if (here > 1 + faults || (!faults && all > 2 * run->links - (run->routers - 1)))
		flood.wrong |= FLOOD_CROSSINGS;
}

/* Nothing of an AS leaves it, but what its own borders say. */
static bool is_leak(uint32_t link, uint32_t from, const struct rte_sync_message *message)
{
	const uint8_t *end = flood_running->end[link];
	const uint32_t as = flood_running->as[end[from]];

	if (flood_running->as[end[0]] == flood_running->as[end[1]])
		return message->type == RTE_SYNC_AS_REACH;
	if (message->type == RTE_SYNC_AS_REACH)
		return message->reach.key.as != as;
	return message->type <= RTE_SYNC_LSA;
}

static void on_send(void *context, void *peer, const struct rte_sync_message *message)
{
	const uint32_t router = (uint32_t)((struct flood_router *)context - flood.router);
	const uint32_t link = (uint32_t)((struct flood_link *)peer - flood.link);
	const uint32_t from = flood_running->end[link][1] == router;
	struct flood_queue *queue = &flood.queue[link][from];

	if (message->type != RTE_SYNC_HEARTBEAT)
		flood.noise = 1;
	if (message->type == RTE_SYNC_LSA)
		check_crossing(link, from, message->lsa);
	if (is_leak(link, from, message))
		flood.wrong |= FLOOD_LEAK;
	if (!flood.router[flood_running->end[link][!from]].sync)
		return;
	if (queue->count == FLOOD_QUEUE) {
		flood.wrong |= FLOOD_QUEUE_FULL;
		return;
	}
	queue->note[queue->count++] = note_of(message);
}

static void on_event(void *context, const struct rte_sync_event *event)
{
	const uint32_t router = (uint32_t)((struct flood_router *)context - flood.router);
	struct flood_link *link = event->peer;

	if (event->what == RTE_SYNC_REACHES && event->as == flood_running->as[router])
		flood.wrong |= FLOOD_LEAK;
	if (event->what == RTE_SYNC_LOST)
		link->lost[flood_running->end[link - flood.link][1] == router] = 1;
}

/* ---- links ---- */

static void queue_clear(struct flood_queue *queue)
{
	memset(queue, 0, sizeof(*queue));
}

static void link_down(uint32_t link, uint32_t end)
{
	struct flood_link *l = &flood.link[link];
	struct flood_router *router = &flood.router[flood_running->end[link][end]];

	if (l->adjacency[end] && router->sync)
		rte_sync_down(router->sync, l->adjacency[end], flood.now);
	l->adjacency[end] = NULL;
	l->lost[end] = 0;
	queue_clear(&flood.queue[link][!end]);
}

static void link_up(uint32_t link)
{
	const uint8_t *end = flood_running->end[link];
	const bool is_wan = flood_running->as[end[0]] != flood_running->as[end[1]];
	struct rte_sync_peer who = {.scope_as = is_wan ? RTE_AS_WAN : FLOOD_AS,
				    .subnet = SUBNET + link};

	for (uint32_t i = 0; i < 2; i++) {
		who.as = flood_running->as[end[!i]];
		who.router = flood_id(end[!i]);
		if (rte_sync_up(flood.router[end[i]].sync, &who, &flood.link[link],
				flood.now, &flood.link[link].adjacency[i]))
			abort();
	}
}

/* ---- routers ---- */

static bool is_end(uint32_t link, uint32_t router)
{
	return flood_running->end[link][0] == router ||
	       flood_running->end[link][1] == router;
}

static void say(uint32_t router)
{
	const uint32_t as = flood_running->as[router];
	struct rte_link link[FLOOD_LINKS + 1] = {{.scope_as = as,
						  .subnet = flood_stub(router),
						  .rate = 1,
						  .up = true,
						  .uri = ""}};
	struct rte_lsa self = {.load = flood.router[router].load,
			       .links = 1,
			       .link = link};

	for (uint32_t i = 0; i < flood_running->links; i++) {
		const uint8_t *end = flood_running->end[i];

		if (!is_end(i, router))
			continue;
		link[self.links] = link[0];
		link[self.links].subnet = SUBNET + i;
		if (flood_running->as[end[0]] != flood_running->as[end[1]])
			link[self.links].scope_as = RTE_AS_WAN;
		self.links++;
	}
	if (rte_sync_set(flood.router[router].sync, &self, flood.now))
		abort();
}

static void start(uint32_t at)
{
	static const struct rte_sync_ops ops = {.send = on_send, .event = on_event};
	struct flood_router *router = &flood.router[at];
	const struct rte_sync_options options = {.as = flood_running->as[at],
						 .router = flood_id(at),
						 .epoch = router->epoch};

	memset(router->highest, 0, sizeof(router->highest));
	if (rte_sync_open(&options, &ops, router, flood.now, &router->sync))
		abort();
	say(at);
}

static void stop(uint32_t at)
{
	for (uint32_t i = 0; i < flood_running->links; i++)
		if (is_end(i, at))
			link_down(i, flood_running->end[i][1] == at);
	rte_sync_close(flood.router[at].sync);
	flood.router[at].sync = NULL;
}

/* ---- what may happen ---- */

static void take_off(struct flood_queue *queue)
{
	memmove(&queue->note[0], &queue->note[1],
		sizeof(queue->note[0]) * --queue->count);
	memset(&queue->note[queue->count], 0, sizeof(queue->note[0]));
}

static void arrive(uint32_t link, uint32_t from, const struct flood_note *note)
{
	struct flood_link *l = &flood.link[link];
	struct unpacked unpacked;

	unpack(note, &unpacked);
	if (l->adjacency[!from])
		rte_sync_receive(flood.router[flood_running->end[link][!from]].sync,
				 l->adjacency[!from], &unpacked.message, flood.now);
}

static bool settle_one(uint32_t link, uint32_t end)
{
	struct flood_queue *queue = &flood.queue[link][end];
	struct flood_note note;

	if (flood.link[link].lost[end]) {
		link_down(link, end);
		return true;
	}
	if (!queue->count || queue->note[0].type != RTE_SYNC_HEARTBEAT)
		return false;
	note = queue->note[0];
	take_off(queue);
	arrive(link, end, &note);
	return true;
}

/* Heartbeats arrive, and what is lost goes down. */
static void settle(void)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t i = 0; i < 2 * flood_running->links; i++)
			moved |= settle_one(i / 2, i % 2);
	}
}

void flood_deliver(uint32_t link, uint32_t from, bool stays)
{
	const struct flood_note note = flood.queue[link][from].note[0];

	if (!stays)
		take_off(&flood.queue[link][from]);
	arrive(link, from, &note);
	settle();
}

void flood_drop(uint32_t link, uint32_t from)
{
	take_off(&flood.queue[link][from]);
	settle();
}

void flood_change(uint32_t router)
{
	flood.router[router].load++;
	say(router);
	settle();
}

void flood_reach(uint32_t router)
{
	const struct rte_sync_reach reach = {.scope_as = RTE_AS_WAN,
					     .subnet = 7,
					     .cost = flood.reaches + 1};

	if (rte_sync_set_reach(flood.router[router].sync, &reach, 1, flood.now))
		abort();
	settle();
}

void flood_restart(uint32_t router, int step)
{
	stop(router);
	for (uint32_t i = 0; i < flood_running->links; i++)
		for (uint32_t end = 0; end < 2; end++)
			if (is_end(i, router))
				link_down(i, end);
	flood.router[router].epoch += (uint32_t)step;
	start(router);
	for (uint32_t i = 0; i < flood_running->links; i++)
		if (is_end(i, router))
			link_up(i);
	settle();
}

void flood_kill(uint32_t router)
{
	stop(router);
	for (uint32_t i = 0; i < flood_running->links; i++)
		if (is_end(i, router))
			queue_clear(&flood.queue[i][flood_running->end[i][1] == router]);
}

/* Its last words are on their way. */
void flood_bye(uint32_t router)
{
	rte_sync_bye(flood.router[router].sync, flood.now);
	flood.router[router].withdrawn = 1;
	stop(router);
	settle();
}

static uint32_t first_due(uint64_t *at)
{
	uint32_t i, first = 0;
	uint64_t deadline;

	*at = UINT64_MAX;
	for (i = 0; i < flood_running->routers; i++) {
		if (!flood.router[i].sync)
			continue;
		deadline = rte_sync_deadline(flood.router[i].sync);
		if (deadline >= *at)
			continue;
		*at = deadline;
		first = i;
	}
	return first;
}

void flood_second(void)
{
	const uint64_t until = flood.now + SECOND;
	uint32_t first;
	uint64_t at;

	flood.noise = 0;
	while ((first = first_due(&at)), at <= until) {
		flood.now = at > flood.now ? at : flood.now;
		rte_sync_tick(flood.router[first].sync, flood.now);
		settle();
	}
	flood.now = until;
}

bool flood_is_quiet(void)
{
	uint32_t i, count = 0;

	for (i = 0; i < 2 * flood_running->links; i++)
		count += flood.queue[i / 2][i % 2].count;
	return !count;
}

static void deliver_all(void)
{
	while (!flood_is_quiet() && !flood.wrong)
		for (uint32_t i = 0; i < 2 * flood_running->links; i++)
			if (flood.queue[i / 2][i % 2].count)
				flood_deliver(i / 2, i % 2, false);
}

void flood_begin(const struct flood_run *run)
{
	memset(&flood, 0, sizeof(flood));
	flood_running = run;
	flood.now = BEGIN;
	for (uint32_t i = 0; i < run->routers; i++) {
		flood.router[i].epoch = 10;
		start(i);
	}
	for (uint32_t i = 0; i < run->links; i++)
		link_up(i);
	for (uint32_t i = 0; i < 5; i++) {
		deliver_all();
		flood_second();
	}
	flood.losses = run->losses;
	flood.doubles = run->doubles;
	flood.changes = run->changes;
	flood.reaches = run->reaches;
	flood.restarts = run->restarts;
	flood.kills = run->kills;
	flood.byes = run->byes;
	flood.seconds = 0;
}
