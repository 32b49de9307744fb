/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "credit.h"

struct item {
	uint8_t type;  /* enum rte_message */
	uint8_t flags; /* RTE_FIRST, RTE_LAST, RTE_DELIVER */
	uint8_t parts; /* in it, that have not gone on */
	uint8_t slot;  /* they are in a landing slot */
	/* Of requests that went the other way, it acknowledges so many. */
	uint8_t messages, writes;
};

/* Of one lane, at one node. */
struct lane {
	struct rte_inlet inlet;
	struct rte_outlet outlet; /* the node before has it */
	struct item item[CREDIT_RECEIVES];
	uint8_t items;
	uint8_t slots; /* granted, and not filled */
	uint8_t waits; /* its sender, for a credit: it is told of one */
	uint8_t looks; /* whether it has to tell of credits */
};

/* One direction of a connection. */
struct way {
	struct lane lane[RTE_LANES][CREDIT_POSITIONS];
	/* Of the sending end: requests that are left, and outstanding ones; what is left
	 * of the one that is being sent. */
	uint8_t left, rma, messages, has_sent_message;
	uint8_t kind, parts;
	/* Of the last router, and of the receiving end: to be acknowledged. */
	uint8_t routed, delivered, written;
	/* Of the receiving end: reads in service; what is left of the first. */
	uint8_t reads, read_parts;
	/* Of the connection, in its first direction: receives may still change. */
	uint8_t changes;
};

static struct {
	struct way way[CREDIT_CONNS][2];
	uint32_t pool[CREDIT_RING]; /* landing slots that are free */
	uint32_t wrong;
} now;

static const struct credit_run *running;

enum action { SEND, LEAVE, ROUTED, REACHED, ANSWER, GRANT, MORE, FEWER };

/* A choice's words: action, connection and direction, lane or kind, position. */
static struct xpl_choice choice_of(enum action action, uint32_t conn, uint32_t dir,
				   uint32_t what, uint32_t at)
{
	return (struct xpl_choice){.word = {action, conn * 2 + dir, what, at}};
}

/* ---- a hop ---- */

/* The pool of the router at a position. */
static uint32_t *pool_at(uint32_t conn, uint32_t dir, uint32_t at)
{
	const uint32_t from = dir ? CREDIT_LAST - at : at;

	return &now.pool[(conn < CREDIT_RING ? conn + from : conn + CREDIT_RING - from) %
			 CREDIT_RING];
}

static struct lane *lane_of(uint32_t conn, uint32_t dir, uint8_t type, uint32_t at)
{
	return &now.way[conn][dir].lane[rte_message_lane(type)][at];
}

static bool has_credit(const struct lane *lane)
{
	struct rte_outlet outlet = lane->outlet;

	return rte_outlet_take(&outlet);
}

/* May something of so many parts be sent to that position, at least the first of them? */
static bool may_send(const struct lane *lane, uint32_t parts, uint32_t at)
{
	return !lane->waits && has_credit(lane) &&
	       (parts < 2 || lane->slots || at == CREDIT_END ||
		credit_holds(CREDIT_SENDS));
}

/* What the other end has asked for, as far as there are credits. */
static void give(struct lane *lane)
{
	while (rte_outlet_give(&lane->outlet)) {
		if (!rte_inlet_given(&lane->inlet))
			now.wrong |= CREDIT_OVERRUN;
		lane->looks |= credit_holds(CREDIT_LOOKS);
	}
}

static void tell(struct lane *lane)
{
	const uint8_t credits = rte_inlet_tell(&lane->inlet);

	if (!rte_outlet_told(&lane->outlet, credits))
		now.wrong |= CREDIT_OVERRUN;
	if (!credits)
		return;
	give(lane);
	lane->waits = !has_credit(lane);
}

/* A receive more, or all but one are asked back. */
static void change(struct lane *lane, bool more)
{
	if (more) {
		rte_inlet_more(&lane->inlet, 1);
		if (!rte_outlet_more(&lane->outlet, 1))
			now.wrong |= CREDIT_OVERRUN;
		if (credit_holds(CREDIT_WAKES))
			lane->waits = 0;
		return;
	}
	if (!rte_outlet_asked(&lane->outlet,
			      rte_inlet_ask(&lane->inlet, CREDIT_RECEIVES)))
		now.wrong |= CREDIT_OVERRUN;
	give(lane);
}

static void acknowledged(struct way *way, const struct item *item)
{
	way->messages -= item->messages;
	way->rma -= item->writes;
}

/*
 * Sends the first of what is left of something, or all of it where there is a landing
 * slot, and returns how many parts that were. The header tells of receives that are free
 * at the sender, in both lanes of the other direction.
 */
static uint8_t put(uint32_t conn, uint32_t dir, uint32_t at, const struct item *from)
{
	struct lane *lane = lane_of(conn, dir, from->type, at);
	struct item item = *from;

	for (uint32_t i = 0; i < RTE_LANES; i++)
		tell(&now.way[conn][!dir].lane[i][CREDIT_END - at]);
	rte_outlet_take(&lane->outlet);
	if (!rte_inlet_fill(&lane->inlet) || lane->items >= lane->inlet.receives) {
		now.wrong |= CREDIT_OVERRUN;
		return from->parts;
	}
	item.slot = item.parts > 1 && lane->slots;
	if (item.slot) {
		lane->slots--;
	} else if (item.parts > 1) {
		item.parts = 1;
		item.flags &= (uint8_t)~RTE_LAST;
	}
	/* Whatever the request waits for. */
	if (at == CREDIT_END && item.type != RTE_ACK) {
		acknowledged(&now.way[conn][!dir], &item);
		item.messages = item.writes = 0;
	}
	lane->item[lane->items++] = item;
	return item.parts;
}

/* ---- what leaves its receive ---- */

/* The program that gets this direction's messages waits for nothing that it began with.
 */
static bool has_receive(uint32_t conn, uint32_t dir)
{
	const struct way *own = &now.way[conn][!dir];

	return !own->rma || own->has_sent_message;
}

/* At the end: what does not wait for the program leaves at once. */
static bool waits(uint32_t conn, uint32_t dir, const struct item *item)
{
	switch (item->type) {
	case RTE_MSG:
		return item->flags & RTE_FIRST && !has_receive(conn, dir);
	case RTE_READ_REQ:
		return now.way[conn][dir].reads == CREDIT_READS &&
		       credit_holds(CREDIT_SERVICE);
	case RTE_READ_FRAG:
		return !credit_holds(CREDIT_ANSWERS) && !has_receive(conn, dir);
	default:
		return false;
	}
}

static bool may_leave(uint32_t conn, uint32_t dir, uint32_t lane, uint32_t at)
{
	const struct way *way = &now.way[conn][dir];
	const struct item *item = &way->lane[lane][at].item[0];

	if (!way->lane[lane][at].items)
		return false;
	if (at == CREDIT_END)
		return !waits(conn, dir, item);
	return may_send(&way->lane[lane][at + 1], item->parts, at + 1);
}

/* It has come to its end. */
static void arrive(uint32_t conn, uint32_t dir, const struct item *item)
{
	struct way *way = &now.way[conn][dir], *back = &now.way[conn][!dir];
	const bool is_last = item->flags & RTE_LAST;

	switch (item->type) {
	case RTE_MSG:
		way->delivered += is_last && item->flags & RTE_DELIVER;
		break;
	case RTE_WRITE:
		way->written += is_last;
		break;
	case RTE_READ_REQ:
		if (way->reads == CREDIT_READS)
			break;
		way->reads++;
		way->read_parts = (uint8_t)running->parts;
		break;
	case RTE_READ_FRAG:
		back->rma -= is_last;
		break;
	default:
		acknowledged(back, item);
	}
}

/* The last of a message has been sent to the end. */
static void routed(struct way *way)
{
	way->routed = credit_holds(CREDIT_UP_TO) ? way->routed + 1 : 1;
}

static void pop(uint32_t conn, uint32_t dir, uint32_t at, struct lane *lane)
{
	if (lane->item[0].slot)
		++*pool_at(conn, dir, at);
	lane->items--;
	memmove(&lane->item[0], &lane->item[1],
		sizeof(lane->item[0]) * (CREDIT_RECEIVES - 1));
	lane->item[CREDIT_RECEIVES - 1] = (struct item){0};
	rte_inlet_empty(&lane->inlet);
	lane->looks = 1;
}

static void leave(uint32_t conn, uint32_t dir, uint32_t at_lane, uint32_t at)
{
	struct way *way = &now.way[conn][dir];
	struct lane *lane = &way->lane[at_lane][at];
	struct item *item = &lane->item[0];

	if (at == CREDIT_END) {
		arrive(conn, dir, item);
		pop(conn, dir, at, lane);
		return;
	}
	item->parts -= put(conn, dir, at + 1, item);
	item->flags &= (uint8_t)~RTE_FIRST;
	item->messages = item->writes = 0;
	if (item->parts)
		return;
	if (at == CREDIT_LAST && item->type == RTE_MSG &&
	    (item->flags & (RTE_LAST | RTE_DELIVER)) == RTE_LAST)
		routed(way);
	pop(conn, dir, at, lane);
}

/* What waits for nothing, and nobody else sees: what leaves at the end at once does, and
 * KEEPALIVEs tell of credits. */
static void settle(uint32_t conn)
{
	struct lane *lane;
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t i = 0; i < 4; i++) {
			for (uint32_t at = 0; at < CREDIT_POSITIONS; at++) {
				lane = &now.way[conn][i / 2].lane[i % 2][at];
				lane->waits |= !has_credit(lane);
				if (lane->looks && rte_inlet_overdue(&lane->inlet))
					tell(lane);
				lane->looks = 0;
			}
			/* The program takes a message when it likes. */
			lane = &now.way[conn][i / 2].lane[i % 2][CREDIT_END];
			if (!lane->items || lane->item[0].type == RTE_MSG ||
			    waits(conn, i / 2, &lane->item[0]))
				continue;
			leave(conn, i / 2, i % 2, CREDIT_END);
			moved = true;
		}
	}
}

static bool is_over(const struct way *way)
{
	return !way->left && !way->parts && !way->rma && !way->messages && !way->routed &&
	       !way->delivered && !way->written && !way->reads;
}

/* What a connection was like makes no difference once it is over. */
static void forget(uint32_t conn)
{
	struct way *way = now.way[conn];

	if (is_over(&way[0]) && is_over(&way[1]))
		for (uint32_t i = 0; i < 2; i++)
			way[i].kind = way[i].has_sent_message = way[i].changes = 0;
}

/* ---- choices ---- */

struct list {
	struct xpl_choice *to;
	uint32_t count;
};

static void list_add(struct list *list, enum action action, uint32_t conn, uint32_t dir,
		     uint32_t what, uint32_t at)
{
	list->to[list->count++] = choice_of(action, conn, dir, what, at);
}

static uint8_t type_of(uint32_t kind)
{
	return kind == CREDIT_READ ? RTE_READ_REQ
				   : (kind == CREDIT_WRITE ? RTE_WRITE : RTE_MSG);
}

static uint32_t parts_of(uint32_t kind)
{
	return kind == CREDIT_READ ? 1 : running->parts;
}

/* Of that kind, the rest of a request that has begun, or another one. */
static uint32_t sendable(const struct way *way, uint32_t kind)
{
	if (way->parts)
		return way->kind == kind ? way->parts : 0;
	return way->left && running->kinds & 1u << kind ? parts_of(kind) : 0;
}

static void list_way(struct list *list, uint32_t conn, uint32_t dir)
{
	const struct way *way = &now.way[conn][dir];
	uint32_t parts;

	for (uint32_t kind = 0; kind < CREDIT_KINDS; kind++) {
		parts = sendable(way, kind);
		if (parts && may_send(lane_of(conn, dir, type_of(kind), 0), parts, 0))
			list_add(list, SEND, conn, dir, kind, 0);
	}
	for (uint32_t lane = 0; lane < RTE_LANES; lane++)
		for (uint32_t at = 0; at < CREDIT_POSITIONS; at++)
			if (may_leave(conn, dir, lane, at))
				list_add(list, LEAVE, conn, dir, lane, at);
	if (way->routed && may_send(lane_of(conn, !dir, RTE_ACK, 1), 1, 1))
		list_add(list, ROUTED, conn, dir, 0, 0);
	if ((way->delivered || way->written) &&
	    may_send(lane_of(conn, !dir, RTE_ACK, 0), 1, 0))
		list_add(list, REACHED, conn, dir, 0, 0);
	if (way->reads &&
	    may_send(lane_of(conn, !dir, RTE_READ_FRAG, 0), way->read_parts, 0))
		list_add(list, ANSWER, conn, dir, 0, 0);
}

/* How many parts who sends into that lane has for it. */
static uint32_t wanted(uint32_t conn, uint32_t dir, uint32_t lane, uint32_t at)
{
	const struct way *way = &now.way[conn][dir], *back = &now.way[conn][!dir];

	if (at)
		return way->lane[lane][at - 1].items
			       ? way->lane[lane][at - 1].item[0].parts
			       : 0;
	if (lane == RTE_RESPONSES)
		return back->reads ? back->read_parts : 0;
	return way->parts ? way->parts : (way->left ? running->parts : 0);
}

/* A slot of that router's would be granted, if one is free. */
static bool is_wanted(uint32_t conn, uint32_t dir, uint32_t lane, uint32_t at)
{
	return !now.way[conn][dir].lane[lane][at].slots &&
	       wanted(conn, dir, lane, at) > 1;
}

static void list_grants(struct list *list, uint32_t conn, uint32_t dir)
{
	for (uint32_t i = 0; i < RTE_LANES; i++)
		for (uint32_t at = 0; at < CREDIT_END; at++)
			if (*pool_at(conn, dir, at) && is_wanted(conn, dir, i, at))
				list_add(list, GRANT, conn, dir, i, at);
}

/* More or fewer, of any lane anywhere, until the connection is over. */
static void list_changes(struct list *list, uint32_t conn)
{
	const struct rte_inlet *inlet;

	if (!now.way[conn][0].changes)
		return;
	for (uint32_t i = 0; i < 2 * RTE_LANES; i++) {
		for (uint32_t at = 0; at < CREDIT_POSITIONS; at++) {
			inlet = &now.way[conn][i / 2].lane[i % 2][at].inlet;
			if (inlet->receives < running->receives && !inlet->asked)
				list_add(list, MORE, conn, i / 2, i % 2, at);
			if (inlet->receives > 1 && !inlet->asked)
				list_add(list, FEWER, conn, i / 2, i % 2, at);
		}
	}
}

static bool wants_slot(uint32_t conn)
{
	for (uint32_t i = 0; running->pool && i < 2 * RTE_LANES; i++)
		for (uint32_t at = 0; at < CREDIT_END; at++)
			if (is_wanted(conn, i / RTE_LANES, i % RTE_LANES, at))
				return true;
	return false;
}

static void list_conn(struct list *list, uint32_t conn)
{
	for (uint32_t dir = 0; dir < 2; dir++) {
		list_way(list, conn, dir);
		if (running->pool)
			list_grants(list, conn, dir);
	}
	list_changes(list, conn);
}

/*
 * A connection takes from others what they may do only where it is granted a slot: what
 * else it does leaves them their choices, and gives slots back. So one that would take
 * none, however many there were, is tried alone; others cannot make it want one.
 */
static uint32_t choices(struct xpl_choice *to, uint32_t max)
{
	struct list list = {.to = to};

	for (uint32_t i = running->first; i < running->first + running->conns; i++) {
		if (wants_slot(i))
			continue;
		list_conn(&list, i);
		if (list.count)
			return list.count;
	}
	for (uint32_t i = running->first; i < running->first + running->conns; i++)
		list_conn(&list, i);
	return list.count;
}

static void request_begin(struct way *way, uint32_t kind)
{
	way->left--;
	way->kind = (uint8_t)kind;
	way->parts = (uint8_t)parts_of(kind);
	if (type_of(kind) == RTE_MSG) {
		way->messages++;
		way->has_sent_message = 1;
	} else {
		way->rma++;
	}
}

static void request_send(uint32_t conn, uint32_t dir, uint32_t kind)
{
	struct way *way = &now.way[conn][dir], *back = &now.way[conn][!dir];
	struct item item = {.type = type_of(kind), .flags = RTE_LAST};

	if (!way->parts) {
		request_begin(way, kind);
		item.flags |= RTE_FIRST;
	}
	if (kind == CREDIT_DELIVER)
		item.flags |= RTE_DELIVER;
	if (!credit_holds(CREDIT_APART)) {
		item.messages = back->delivered;
		item.writes = back->written;
		back->delivered = back->written = 0;
	}
	item.parts = way->parts;
	way->parts -= put(conn, dir, 0, &item);
}

static void answer_send(uint32_t conn, uint32_t dir)
{
	struct way *way = &now.way[conn][dir];
	const struct item item = {.type = RTE_READ_FRAG,
				  .flags = RTE_LAST,
				  .parts = way->read_parts};

	way->read_parts -= put(conn, !dir, 0, &item);
	if (way->read_parts)
		return;
	way->reads--;
	way->read_parts = way->reads ? (uint8_t)running->parts : 0;
}

static void ack_send(uint32_t conn, uint32_t dir, uint32_t at, uint8_t messages,
		     uint8_t writes)
{
	const struct item item = {.type = RTE_ACK,
				  .flags = RTE_FIRST | RTE_LAST,
				  .parts = 1,
				  .messages = messages,
				  .writes = writes};

	put(conn, !dir, at, &item);
}

static void apply(const struct xpl_choice *choice)
{
	const uint32_t conn = (uint32_t)choice->word[1] / 2, dir = choice->word[1] % 2;
	const uint32_t what = (uint32_t)choice->word[2], at = (uint32_t)choice->word[3];
	struct way *way = &now.way[conn][dir];

	switch ((enum action)choice->word[0]) {
	case SEND:
		request_send(conn, dir, what);
		break;
	case LEAVE:
		leave(conn, dir, what, at);
		break;
	case ROUTED:
		ack_send(conn, dir, 1, way->routed, 0);
		way->routed = 0;
		break;
	case REACHED:
		ack_send(conn, dir, 0, way->delivered, way->written);
		way->delivered = way->written = 0;
		break;
	case ANSWER:
		answer_send(conn, dir);
		break;
	case GRANT:
		--*pool_at(conn, dir, at);
		way->lane[what][at].slots++;
		break;
	case MORE:
	case FEWER:
		now.way[conn][0].changes--;
		change(&way->lane[what][at], choice->word[0] == MORE);
		break;
	}
	settle(conn);
	forget(conn);
}

/* ---- states ---- */

/* The connections that there are, and what they share. */
static size_t save(void *to, size_t size)
{
	const size_t conns = running->conns * sizeof(now.way[0]);
	const size_t all = conns + sizeof(now) - sizeof(now.way);

	if (size < all)
		return all;
	memcpy(to, now.way[running->first], conns);
	memcpy((char *)to + conns, &now.pool, all - conns);
	return all;
}

static void restore(const void *from)
{
	const size_t conns = running->conns * sizeof(now.way[0]);

	memcpy(now.way[running->first], from, conns);
	memcpy(&now.pool, (const char *)from + conns, sizeof(now) - sizeof(now.way));
}

static unsigned int begin(const void *run)
{
	uint32_t first;
	struct lane *lane;

	memset(&now, 0, sizeof(now));
	running = run;
	first = running->begins ? running->begins : running->receives;
	for (uint32_t i = 0; i < CREDIT_RING; i++)
		now.pool[i] = running->pool;
	for (uint32_t i = running->first * 2; i < (running->first + running->conns) * 2;
	     i++) {
		now.way[i / 2][i % 2].left = (uint8_t)running->requests[i % 2];
		now.way[i / 2][0].changes = (uint8_t)running->changes;
		for (uint32_t k = 0; k < RTE_LANES; k++)
			for (uint32_t at = 0; at < CREDIT_POSITIONS; at++) {
				lane = &now.way[i / 2][i % 2].lane[k][at];
				rte_inlet_open(&lane->inlet, first);
				rte_outlet_open(&lane->outlet, first);
			}
	}
	return now.wrong;
}

/* Each receive is free, or filled, or free and the sender does not know it; both ends
 * count the same. */
static bool adds_up(const struct way *way)
{
	const struct lane *lane;

	for (uint32_t i = 0; i < RTE_LANES * CREDIT_POSITIONS; i++) {
		lane = &way->lane[i / CREDIT_POSITIONS][i % CREDIT_POSITIONS];
		if (lane->inlet.credits != lane->outlet.credits ||
		    lane->outlet.credits + lane->items + lane->inlet.due !=
			    lane->inlet.receives)
			return false;
	}
	return true;
}

/* There is nothing but a change of its receives that it could go on by. */
static bool is_stuck(uint32_t conn)
{
	struct xpl_choice some[XPL_CHOICES];
	struct list list = {.to = some};

	list_way(&list, conn, 0);
	list_way(&list, conn, 1);
	return !list.count && !(is_over(&now.way[conn][0]) && is_over(&now.way[conn][1]));
}

static unsigned int check(void (*each)(const void *outcome))
{
	unsigned int wrong = now.wrong;

	for (uint32_t i = 0; running->changes && i < running->conns; i++)
		if (is_stuck(i))
			wrong |= CREDIT_STUCK;

	for (uint32_t i = 0; i < CREDIT_CONNS * 2; i++)
		if (!adds_up(&now.way[i / 2][i % 2]))
			wrong |= CREDIT_SUM;
	return wrong;
}

static unsigned int check_end(void)
{
	for (uint32_t i = 0; i < CREDIT_CONNS * 2; i++)
		if (!is_over(&now.way[i / 2][i % 2]))
			return CREDIT_STUCK;
	return 0;
}

static uint64_t outcome_hash(const void *outcome)
{
	return 0;
}

static void tell_choice(const struct xpl_choice *choice)
{
	static const char *const actions[] = {"sends",
					      "goes on:",
					      "the last router acknowledges",
					      "the end acknowledges",
					      "a read is answered",
					      "is granted a landing slot:",
					      "has a receive more:",
					      "is to have one receive:"};
	static const char *const lanes[] = {"request lane", "response lane"};
	const uint64_t action = choice->word[0], dir = choice->word[1] % 2;

	printf("    connection %d, from end %d: %s", (int)(choice->word[1] / 2), (int)dir,
	       actions[action]);
	if (action == SEND)
		printf(" %s%s", rte_message_name(type_of((uint32_t)choice->word[2])),
		       choice->word[2] == CREDIT_DELIVER ? " with DELIVER" : "");
	if (action == LEAVE || action >= GRANT)
		printf(" %s, position %d", lanes[choice->word[2]], (int)choice->word[3]);
	printf("\n");
}

const struct xpl_model credit_model = {.save = save,
				       .restore = restore,
				       .begin = begin,
				       .choices = choices,
				       .apply = apply,
				       .check = check,
				       .check_end = check_end,
				       .outcome_hash = outcome_hash,
				       .tell = tell_choice};
