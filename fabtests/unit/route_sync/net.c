/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "net.h"

#define TO_CONNECT (-1)
#define TO_DOWN (-2) /* of end 0; less 1: of end 1 */

/* --- Events --- */

static bool is_before(const struct net_event *a, const struct net_event *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void event_swap(struct net_event *a, struct net_event *b)
{
	const struct net_event c = *a;

	*a = *b;
	*b = c;
}

static void event_add(struct net *net, struct net_event event)
{
	uint32_t at = net->events++;

	if (net->events > net->events_size) {
		net->events_size = net->events_size ? 2 * net->events_size : 256;
		net->event = realloc(net->event, net->events_size * sizeof(*net->event));
	}
	event.number = net->numbers++;
	net->event[at] = event;
	for (; at && is_before(&net->event[at], &net->event[(at - 1) / 2]);
	     at = (at - 1) / 2)
		event_swap(&net->event[at], &net->event[(at - 1) / 2]);
}

static struct net_event event_pop(struct net *net)
{
	const struct net_event first = net->event[0];
	uint32_t at = 0, child;

	net->event[0] = net->event[--net->events];
	while ((child = 2 * at + 1) < net->events) {
		if (child + 1 < net->events &&
		    is_before(&net->event[child + 1], &net->event[child]))
			child++;
		if (!is_before(&net->event[child], &net->event[at]))
			break;
		event_swap(&net->event[child], &net->event[at]);
		at = child;
	}
	return first;
}

uint32_t net_draw(struct net *net, uint32_t below)
{
	/* xorshift64*. */
	net->random ^= net->random >> 12;
	net->random ^= net->random << 25;
	net->random ^= net->random >> 27;
	return (uint32_t)((net->random * 0x2545f4914f6cdd1dull >> 33) % below);
}

/* --- Links --- */

static void send_once(struct net *net, uint32_t link, uint32_t end,
		      const struct rte_sync_message *message)
{
	struct net_link *l = &net->link[link];
	uint64_t at = net->now + l->delay;

	if (net->faults.delay)
		at += net_draw(net, net->faults.delay);
	if (!net->faults.reorders && at < l->arrives[end])
		at = l->arrives[end];
	l->arrives[end] = at;
	event_add(net, (struct net_event){.at = at,
					  .link = link,
					  .connection = l->connection,
					  .to = !end,
					  .message = message_copy(message)});
}

static void record(struct net *net, uint32_t link, uint32_t end,
		   const struct rte_sync_message *message)
{
	if (message->type != RTE_SYNC_LSA || !net->crossing ||
	    net->crossings == NET_CROSSINGS)
		return;
	net->crossing[net->crossings++] =
		(struct net_crossing){.router = message->lsa->router,
				      .epoch = message->lsa->epoch,
				      .seq = message->lsa->seq,
				      .link = link,
				      .from = end};
}

/* An allocation of the next call may fail, unless it has sent or told something before.
 */
static void memory_fails(struct net *net)
{
	if (net_draw(net, 1000) < net->faults.no_memory)
		ct_fail_alloc(1 + net_draw(net, 3));
}

static void memory_is_back(void)
{
	ct_alloc_failed();
}

static void on_send(void *context, void *peer, const struct rte_sync_message *message)
{
	struct net_router *router = context;
	struct net *net = router->net;
	struct net_link *l = peer;
	const uint32_t link = (uint32_t)(l - net->link);
	const uint32_t end = l->end[1] == router->at;

	memory_is_back();
	net->sent[message->type]++;
	record(net, link, end, message);
	if (l->blocked[end] || net_draw(net, 1000) < net->faults.loss)
		return;
	send_once(net, link, end, message);
	if (net_draw(net, 1000) < net->faults.duplicates)
		send_once(net, link, end, message);
}

static void on_event(void *context, const struct rte_sync_event *event)
{
	struct net_router *router = context;
	struct net_link *l;
	uint32_t end;

	memory_is_back();
	router->events[event->what]++;
	if (event->what != RTE_SYNC_LOST)
		return;
	l = event->peer;
	end = l->end[1] == router->at;
	l->lost[end] = true;
	event_add(router->net,
		  (struct net_event){.at = router->net->now,
				     .link = (uint32_t)(l - router->net->link),
				     .connection = l->connection,
				     .to = TO_DOWN - (int32_t)end});
}

/* After a call that may change when its next tick is due. */
static void touched(struct net_router *router)
{
	router->due =
		router->state == NET_RUNS ? rte_sync_deadline(router->sync) : UINT64_MAX;
}

static void link_down(struct net *net, struct net_link *l, uint32_t end)
{
	struct net_router *router = &net->router[l->end[end]];

	if (l->adjacency[end] && router->state != NET_OFF)
		rte_sync_down(router->sync, l->adjacency[end], net->now);
	touched(router);
	l->adjacency[end] = NULL;
	l->lost[end] = false;
}

/* One end has closed it: the other one sees that, if anything passes. */
static void link_closed(struct net *net, struct net_link *l, uint32_t end)
{
	link_down(net, l, end);
	if (!l->blocked[end] && net->router[l->end[!end]].state != NET_STOPPED)
		link_down(net, l, !end);
}

static void link_connect(struct net *net, struct net_link *l)
{
	const uint32_t link = (uint32_t)(l - net->link);
	struct rte_sync_peer who = {.as = NET_AS,
				    .scope_as = NET_AS,
				    .subnet = net_subnet(link)};
	uint32_t end;

	for (end = 0; end < 2; end++)
		if (net->router[l->end[end]].state != NET_RUNS || l->blocked[end])
			return;
	if (l->adjacency[0] && l->adjacency[1])
		return;
	l->connection++;
	for (end = 0; end < 2; end++) {
		link_down(net, l, end);
		who.router = net_id(l->end[!end]);
		CT_EXPECT_EQ(rte_sync_up(net->router[l->end[end]].sync, &who, l, net->now,
					 &l->adjacency[end]),
			     0);
		touched(&net->router[l->end[end]]);
	}
}

uint32_t net_link(struct net *net, uint32_t a, uint32_t b)
{
	struct net_link *l = &net->link[net->links];

	*l = (struct net_link){.net = net, .end = {a, b}, .delay = 1};
	event_add(net, (struct net_event){.at = net->now,
					  .link = net->links,
					  .to = TO_CONNECT});
	return net->links++;
}

void net_block(struct net *net, uint32_t link, bool from_first, bool from_second)
{
	net->link[link].blocked[0] = from_first;
	net->link[link].blocked[1] = from_second;
}

/* --- Routers --- */

static void say(struct net *net, struct net_router *router)
{
	struct rte_link link[RTE_LINKS_MAX] = {0};
	struct rte_lsa self = {.load = router->load, .link = link};
	uint32_t i;

	link[self.links++] = (struct rte_link){.subnet = net_stub(router->at),
					       .scope_as = NET_AS,
					       .rate = 1000,
					       .up = true,
					       .uri = ""};
	for (i = 0; i < net->links; i++) {
		if (net->link[i].end[0] != router->at &&
		    net->link[i].end[1] != router->at)
			continue;
		link[self.links] = link[0];
		link[self.links++].subnet = net_subnet(i);
	}
	CT_EXPECT_EQ(rte_sync_set(router->sync, &self, net->now), 0);
	touched(router);
}

void net_start(struct net *net, uint32_t at)
{
	static const struct rte_sync_ops ops = {.send = on_send, .event = on_event};
	struct net_router *router = &net->router[at];
	const struct rte_sync_options options = {.as = NET_AS,
						 .router = net_id(at),
						 .epoch = ++router->epoch,
						 .refresh = NET_REFRESH};
	uint32_t i;

	CT_ASSERT_EQ(rte_sync_open(&options, &ops, router, net->now, &router->sync), 0);
	router->state = NET_RUNS;
	say(net, router);
	for (i = 0; i < net->links; i++)
		if (net->link[i].end[0] == at || net->link[i].end[1] == at)
			link_connect(net, &net->link[i]);
}

void net_start_all(struct net *net)
{
	uint32_t i;

	for (i = 0; i < net->routers; i++)
		net_start(net, i);
}

void net_kill(struct net *net, uint32_t at)
{
	uint32_t i, end;

	for (i = 0; i < net->links; i++)
		for (end = 0; end < 2; end++)
			if (net->link[i].end[end] == at)
				link_down(net, &net->link[i], end);
	net->router[at].state = NET_OFF;
	touched(&net->router[at]);
	rte_sync_close(net->router[at].sync);
	net->router[at].sync = NULL;
}

void net_end(struct net *net, uint32_t at)
{
	rte_sync_bye(net->router[at].sync, net->now);
	net_kill(net, at);
}

void net_stop(struct net *net, uint32_t router)
{
	net->router[router].state = NET_STOPPED;
	touched(&net->router[router]);
}

void net_go_on(struct net *net, uint32_t at)
{
	struct net_router *router = &net->router[at];
	uint32_t i;

	router->state = NET_RUNS;
	touched(router);
	for (i = 0; i < router->waits; i++)
		event_add(net, router->waiting[i]);
	router->waits = 0;
}

void net_change(struct net *net, uint32_t router)
{
	net->router[router].load++;
	say(net, &net->router[router]);
}

/* --- Time --- */

static void happen(struct net *net, struct net_event *event)
{
	struct net_link *l = &net->link[event->link];
	struct net_router *router;

	net->now = event->at > net->now ? event->at : net->now;
	if (event->to == TO_CONNECT) {
		link_connect(net, l);
		event->at = net->now + NET_RECONNECT;
		event_add(net, *event);
		return;
	}
	if (event->to <= TO_DOWN) {
		if (event->connection == l->connection &&
		    l->lost[(uint32_t)(TO_DOWN - event->to)])
			link_closed(net, l, (uint32_t)(TO_DOWN - event->to));
		return;
	}
	router = &net->router[l->end[event->to]];
	if (router->state == NET_STOPPED) {
		router->waiting =
			realloc(router->waiting, (router->waits + 1) * sizeof(*event));
		router->waiting[router->waits++] = *event;
		return;
	}
	if (event->connection == l->connection && l->adjacency[event->to]) {
		memory_fails(net);
		rte_sync_receive(router->sync, l->adjacency[event->to], &event->message,
				 net->now);
		memory_is_back();
		touched(router);
	}
	message_free(&event->message);
}

static struct net_router *first_due(struct net *net)
{
	struct net_router *first = &net->router[0];
	uint32_t i;

	for (i = 1; i < net->routers; i++)
		if (net->router[i].due < first->due)
			first = &net->router[i];
	return first;
}

/* Messages before ticks of the same time. */
static bool step(struct net *net, uint64_t until)
{
	struct net_router *router = first_due(net);
	const uint64_t at = router->due;
	struct net_event event;

	if (net->events && net->event[0].at <= until && net->event[0].at <= at) {
		event = event_pop(net);
		happen(net, &event);
		return true;
	}
	if (at > until)
		return false;
	net->now = at > net->now ? at : net->now;
	memory_fails(net);
	rte_sync_tick(router->sync, net->now);
	memory_is_back();
	touched(router);
	return true;
}

void net_run(struct net *net, uint64_t ms)
{
	const uint64_t until = net->now + ms;

	while (step(net, until))
		;
	net->now = until;
}

uint64_t net_settle(struct net *net, uint64_t most)
{
	const uint64_t from = net->now;

	while (!net_agrees(net)) {
		if (net->now >= from + most)
			return UINT64_MAX;
		net_run(net, 10);
	}
	return net->now - from;
}

void net_record(struct net *net)
{
	if (!net->crossing)
		net->crossing = calloc(NET_CROSSINGS, sizeof(*net->crossing));
	net->crossings = 0;
}

void net_open(struct net *net, uint32_t routers, uint64_t seed)
{
	uint32_t i;

	net_close(net);
	*net = (struct net){.now = 1000000, .routers = routers, .random = seed * 2 + 1};
	for (i = 0; i < routers; i++)
		net->router[i] =
			(struct net_router){.net = net, .at = i, .due = UINT64_MAX};
}

void net_close(struct net *net)
{
	struct net_event event;
	uint32_t i;

	for (i = 0; i < net->routers; i++) {
		if (net->router[i].state == NET_STOPPED)
			net_go_on(net, i);
		if (net->router[i].state == NET_RUNS)
			rte_sync_close(net->router[i].sync);
		free(net->router[i].waiting);
	}
	while (net->events) {
		event = event_pop(net);
		message_free(&event.message);
	}
	free(net->event);
	free(net->crossing);
	net->event = NULL;
	net->crossing = NULL;
	net->routers = 0;
}
