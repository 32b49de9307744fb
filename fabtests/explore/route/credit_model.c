/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "credit.h"

/* What an ACK is about: a kind of request, or this: a receive of the target. */
#define ABOUT_DELIVERY UINT8_MAX

struct item {
	uint8_t kind, about, room, pad;
};

/* Of one lane, at one node. */
struct lane {
	struct rte_inlet inlet;
	struct rte_outlet outlet; /* the node before has it */
	struct item item[CREDIT_ITEMS];
	uint32_t items;
};

/* One direction of a connection. */
struct way {
	struct lane lane[RTE_LANES][CREDIT_POSITIONS];
	struct item answer; /* at the last router, to go the other way, ... */
	uint8_t answers;    /* ... if there is one */
	uint8_t key, resolving, info;
	/* Of the sending end. */
	uint8_t left, rma, messages, has_sent_message;
	/* Of the receiving end: there is a delivery to be acknowledged. */
	uint8_t delivered, pad[7];
};

static struct {
	struct way way[CREDIT_CONNS][2];
	struct rte_pool pool[CREDIT_RING];
	uint32_t wrong;
} now;

static const struct credit_run *running;

enum action { ISSUE, LEAVE, ANSWER, RESOLVE, INFO, DELIVERED, GRANT };

/* A choice's words: action, connection and direction, lane or kind, position. */
static struct xpl_choice choice_of(enum action action, uint32_t conn, uint32_t dir,
				   uint32_t what, uint32_t at)
{
	return (struct xpl_choice){.word = {action, conn * 2 + dir, what, at}};
}

/* ---- the ring ---- */

/* The router at a position, or the end, which has no pool. */
static struct rte_pool *pool_at(uint32_t conn, uint32_t dir, uint32_t at)
{
	static struct rte_pool none;
	const uint32_t from = dir ? CREDIT_LAST - at : at;

	if (at == CREDIT_END)
		return &none;
	return &now.pool[(conn < CREDIT_RING ? conn + from : conn + CREDIT_RING - from) %
			 CREDIT_RING];
}

static struct lane *lane_of(uint32_t conn, uint32_t dir, uint8_t kind, uint32_t at)
{
	return &now.way[conn][dir].lane[rte_message_lane(kind)][at];
}

static bool has_slot(const struct lane *lane)
{
	struct rte_outlet outlet = lane->outlet;

	return rte_outlet_take(&outlet) != RTE_ROOM_NONE;
}

static void put(struct lane *lane, struct item item)
{
	const enum rte_room room = rte_outlet_take(&lane->outlet);

	item.room = (uint8_t)room;
	if (rte_inlet_fill(&lane->inlet, room) || lane->items == CREDIT_ITEMS) {
		now.wrong |= CREDIT_OVERRUN;
		return;
	}
	lane->item[lane->items++] = item;
}

static void grant(struct lane *lane, struct rte_pool *pool)
{
	const enum rte_room room = rte_inlet_grant(&lane->inlet, pool);

	if (room != RTE_ROOM_NONE && rte_outlet_granted(&lane->outlet, room))
		now.wrong |= CREDIT_OVERRUN;
}

/* ---- what leaves its slot ---- */

static enum rte_flow_place place_of(uint32_t at)
{
	return at == CREDIT_END	   ? RTE_FLOW_END
	       : at == CREDIT_LAST ? RTE_FLOW_LAST
				   : RTE_FLOW_ROUTER;
}

/* The program that gets this direction's messages waits for nothing that it began with.
 */
static bool has_receive(uint32_t conn, uint32_t dir)
{
	const struct way *own = &now.way[conn][!dir];

	return !own->rma || own->has_sent_message;
}

static bool may_leave(uint32_t conn, uint32_t dir, uint32_t lane, uint32_t at)
{
	const struct way *way = &now.way[conn][dir];
	const struct item *item = &way->lane[lane][at].item[0];
	unsigned int needs;

	if (!way->lane[lane][at].items)
		return false;
	needs = rte_flow_needs(item->kind, place_of(at));
	return !(needs & RTE_FLOW_SLOT && !has_slot(&way->lane[lane][at + 1])) &&
	       !(needs & RTE_FLOW_RECEIVE && !has_receive(conn, dir)) &&
	       !(needs & RTE_FLOW_ANSWER && way->answers == RTE_FLOW_ANSWERS) &&
	       !(needs & RTE_FLOW_KEY && !way->key) &&
	       !(needs & CREDIT_SLOT_BACK &&
		 !has_slot(lane_of(conn, !dir, RTE_MR_INFO, 0)));
}

static void answer(struct way *way, const struct item *item)
{
	const bool is_read = item->kind == RTE_READ_REQ;

	if (way->answers == RTE_FLOW_ANSWERS)
		now.wrong |= CREDIT_LOST;
	if (item->kind != RTE_MSG && !way->key)
		now.wrong |= CREDIT_KEY;
	way->answers = 1;
	way->answer = (struct item){.kind = is_read ? RTE_READ_FRAG : RTE_ACK,
				    .about = item->kind};
}

/* It has come to its end. */
static void arrive(uint32_t conn, uint32_t dir, const struct item *item)
{
	struct way *way = &now.way[conn][dir], *back = &now.way[conn][!dir];

	switch (item->kind) {
	case RTE_MSG:
		way->delivered = 1;
		break;
	case RTE_READ_FRAG:
	case RTE_ACK:
		if (item->about == RTE_MSG)
			back->messages--;
		else if (item->about != ABOUT_DELIVERY)
			back->rma--;
		break;
	case RTE_MR_RESOLVE:
		if (way->info)
			now.wrong |= CREDIT_LOST;
		way->info = 1;
		break;
	default: /* MR_INFO, at the last router of the other direction */
		back->key = 1;
		back->resolving = 0;
	}
}

static void leave(uint32_t conn, uint32_t dir, uint32_t at_lane, uint32_t at)
{
	struct way *way = &now.way[conn][dir];
	struct lane *lane = &way->lane[at_lane][at];
	const struct item item = lane->item[0];
	const bool is_request = item.kind <= RTE_READ_REQ;

	lane->items--;
	memmove(&lane->item[0], &lane->item[1], sizeof(item) * (CREDIT_ITEMS - 1));
	lane->item[CREDIT_ITEMS - 1] = (struct item){0};
	rte_inlet_empty(&lane->inlet, (enum rte_room)item.room, pool_at(conn, dir, at));
	if (at == CREDIT_END || item.kind == RTE_MR_INFO) {
		arrive(conn, dir, &item);
		return;
	}
	if (at == CREDIT_LAST && is_request)
		answer(way, &item);
	if (at < CREDIT_LAST || item.kind == RTE_MSG || !is_request)
		put(lane_of(conn, dir, item.kind, at + 1), item);
}

/* What leaves at once does, and escape slots are granted again: nobody else sees it. */
static void settle(uint32_t conn)
{
	struct lane *lane;
	bool moved = true;
	uint32_t i, at;

	while (moved) {
		moved = false;
		for (i = 0; i < 4; i++)
			for (at = 0; at < CREDIT_POSITIONS; at++) {
				lane = &now.way[conn][i / 2].lane[i % 2][at];
				if (!lane->inlet.escape_granted &&
				    !lane->inlet.escape_filled)
					grant(lane, pool_at(conn, i / 2, at));
				if (!lane->items ||
				    rte_flow_needs(lane->item[0].kind, place_of(at)))
					continue;
				leave(conn, i / 2, i % 2, at);
				moved = true;
			}
	}
}

static bool is_over(const struct way *way)
{
	return !way->left && !way->rma && !way->messages && !way->answers && !way->info &&
	       !way->delivered;
}

/* What a connection was like makes no difference once it is over. */
static void forget(uint32_t conn)
{
	struct way *way = now.way[conn];
	uint32_t i;

	if (is_over(&way[0]) && is_over(&way[1]))
		for (i = 0; i < 2; i++)
			way[i].key = way[i].has_sent_message = 0;
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

static bool wants_key(const struct way *way)
{
	const struct lane *lane = &way->lane[rte_message_lane(RTE_WRITE)][CREDIT_LAST];

	return lane->items &&
	       rte_flow_needs(lane->item[0].kind, RTE_FLOW_LAST) & RTE_FLOW_KEY &&
	       !way->key && !way->resolving;
}

static bool may_issue(const struct way *way, uint32_t dir, uint8_t kind)
{
	if (!way->left)
		return false;
	if (running->script)
		return running->script[running->requests[dir] - way->left] == kind;
	return running->kinds & CREDIT_KIND(kind);
}

static void list_way(struct list *list, uint32_t conn, uint32_t dir)
{
	const struct way *way = &now.way[conn][dir];
	uint32_t lane, at;
	uint8_t kind;

	for (kind = RTE_MSG; kind <= RTE_READ_REQ; kind++)
		if (may_issue(way, dir, kind) && has_slot(lane_of(conn, dir, kind, 0)))
			list_add(list, ISSUE, conn, dir, kind, 0);
	for (lane = 0; lane < RTE_LANES; lane++)
		for (at = 0; at < CREDIT_POSITIONS; at++)
			if (may_leave(conn, dir, lane, at))
				list_add(list, LEAVE, conn, dir, lane, at);
	if (way->answers && has_slot(lane_of(conn, !dir, way->answer.kind, 1)))
		list_add(list, ANSWER, conn, dir, 0, 0);
	if (wants_key(way) && has_slot(lane_of(conn, dir, RTE_MR_RESOLVE, CREDIT_END)))
		list_add(list, RESOLVE, conn, dir, 0, 0);
	if (way->info && has_slot(lane_of(conn, !dir, RTE_MR_INFO, 0)))
		list_add(list, INFO, conn, dir, 0, 0);
	if (way->delivered && has_slot(lane_of(conn, !dir, RTE_ACK, 0)))
		list_add(list, DELIVERED, conn, dir, 0, 0);
}

static void list_grants(struct list *list, uint32_t conn, uint32_t dir)
{
	const struct lane *lane;
	uint32_t i, at;

	for (i = 0; i < RTE_LANES; i++)
		for (at = 0; at < CREDIT_END; at++) {
			lane = &now.way[conn][dir].lane[i][at];
			if (running->on_demand && !lane->inlet.escape_filled)
				continue;
			if (pool_at(conn, dir, at)->free &&
			    lane->inlet.granted + lane->inlet.filled < lane->inlet.share)
				list_add(list, GRANT, conn, dir, i, at);
		}
}

static uint32_t choices(struct xpl_choice *to, uint32_t max)
{
	struct list list = {.to = to};
	uint32_t i, dir;

	for (i = running->first; i < running->first + running->conns; i++) {
		for (dir = 0; dir < 2; dir++) {
			list_way(&list, i, dir);
			if (running->pool)
				list_grants(&list, i, dir);
		}
		/* They share nothing. */
		if (list.count && !running->pool)
			break;
	}
	return list.count;
}

static void issue(uint32_t conn, uint32_t dir, uint8_t kind)
{
	struct way *way = &now.way[conn][dir];

	way->left--;
	if (kind == RTE_MSG) {
		way->messages++;
		way->has_sent_message = 1;
	} else {
		way->rma++;
	}
	put(lane_of(conn, dir, kind, 0), (struct item){.kind = kind});
}

static void apply(const struct xpl_choice *choice)
{
	const uint32_t conn = (uint32_t)choice->word[1] / 2, dir = choice->word[1] % 2;
	const uint32_t what = (uint32_t)choice->word[2], at = (uint32_t)choice->word[3];
	struct way *way = &now.way[conn][dir];

	switch ((enum action)choice->word[0]) {
	case ISSUE:
		issue(conn, dir, (uint8_t)what);
		break;
	case LEAVE:
		leave(conn, dir, what, at);
		break;
	case ANSWER:
		put(lane_of(conn, !dir, way->answer.kind, 1), way->answer);
		way->answer = (struct item){0};
		way->answers = 0;
		break;
	case RESOLVE:
		way->resolving = 1;
		put(lane_of(conn, dir, RTE_MR_RESOLVE, CREDIT_END),
		    (struct item){.kind = RTE_MR_RESOLVE});
		break;
	case INFO:
		way->info = 0;
		put(lane_of(conn, !dir, RTE_MR_INFO, 0),
		    (struct item){.kind = RTE_MR_INFO});
		break;
	case DELIVERED:
		way->delivered = 0;
		put(lane_of(conn, !dir, RTE_ACK, 0),
		    (struct item){.kind = RTE_ACK, .about = ABOUT_DELIVERY});
		break;
	case GRANT:
		grant(&way->lane[what][at], pool_at(conn, dir, at));
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
	uint32_t i, dir, at, k;
	struct way *way;

	memset(&now, 0, sizeof(now));
	running = run;
	for (i = 0; i < CREDIT_RING; i++)
		now.pool[i] =
			(struct rte_pool){.size = running->pool, .free = running->pool};
	for (i = running->first; i < running->first + running->conns; i++) {
		for (dir = 0; dir < 2; dir++) {
			way = &now.way[i][dir];
			way->left = (uint8_t)running->requests[dir];
			for (k = 0; k < RTE_LANES; k++)
				for (at = 0; at < CREDIT_POSITIONS; at++) {
					rte_inlet_open(&way->lane[k][at].inlet, 1);
					rte_outlet_open(&way->lane[k][at].outlet, 1);
				}
		}
		settle(i);
	}
	return now.wrong;
}

/* The slots of a router's pool: those that are out, by lane. */
static uint32_t slots_out(const struct rte_pool *pool)
{
	const struct rte_inlet *inlet;
	uint32_t i, at, out = 0;

	for (i = 0; i < CREDIT_CONNS * 4; i++)
		for (at = 0; at < CREDIT_END; at++) {
			inlet = &now.way[i / 4][i / 2 % 2].lane[i % 2][at].inlet;
			if (pool_at(i / 4, i / 2 % 2, at) == pool)
				out += inlet->granted + inlet->filled;
		}
	return out;
}

static unsigned int check(void (*each)(const void *outcome))
{
	unsigned int wrong = now.wrong;
	uint32_t i;

	for (i = 0; i < CREDIT_RING; i++)
		if (now.pool[i].free + slots_out(&now.pool[i]) != now.pool[i].size)
			wrong |= CREDIT_POOL;
	return wrong;
}

static unsigned int check_end(void)
{
	uint32_t i;

	for (i = 0; i < CREDIT_CONNS * 2; i++)
		if (!is_over(&now.way[i / 2][i % 2]))
			return CREDIT_STUCK;
	return 0;
}

static uint64_t outcome_hash(const void *outcome)
{
	return 0;
}

static void tell(const struct xpl_choice *choice)
{
	static const char *const actions[] = {"posts",
					      "leaves its slot:",
					      "the last router answers",
					      "a key is wanted",
					      "a key is told",
					      "a delivery is acknowledged",
					      "is granted a slot of the pool"};
	static const char *const lanes[] = {"request lane", "response lane"};
	const uint64_t action = choice->word[0], dir = choice->word[1] % 2;

	printf("    connection %d, from end %d: %s", (int)(choice->word[1] / 2), (int)dir,
	       actions[action]);
	if (action == ISSUE)
		printf(" %s", rte_message_name((uint8_t)choice->word[2]));
	if (action == LEAVE || action == GRANT)
		printf(" %s, position %d", lanes[choice->word[2]], (int)choice->word[3]);
	printf("\n");
}

const struct xpl_model credit_model = {
	.save = save,
	.restore = restore,
	.begin = begin,
	.choices = choices,
	.apply = apply,
	.check = check,
	.check_end = check_end,
	.outcome_hash = outcome_hash,
	.tell = tell,
};
