/* SPDX-License-Identifier: BSD-2-Clause */
#include "one.h"

#define WAN 7u

struct one one;

static void on_send(void *context, void *peer, const struct rte_sync_message *message)
{
	struct one *it = context;

	CT_ASSERT_LT(it->sents, ONE_SENT);
	it->sent[it->sents].to = (unsigned int)((struct rte_adjacency **)peer - it->peer);
	it->sent[it->sents++].message = message_copy(message);
}

static void on_event(void *context, const struct rte_sync_event *event)
{
	struct one *it = context;

	it->events[event->what]++;
	it->event = *event;
	if (event->what == RTE_SYNC_CHANGED)
		it->changed += event->router;
}

static uint64_t on_time(void *context)
{
	const struct one *it = context;

	return it->day ? it->day : UINT64_C(1) << 63;
}

void one_open(struct one *it, const struct rte_sync_options *options)
{
	static const struct rte_link link[] = {
		{.subnet = ONE_SUBNET,
		 .scope_as = ONE_AS,
		 .rate = 1,
		 .up = true,
		 .uri = "a"},
		{.subnet = WAN,
		 .scope_as = RTE_AS_WAN,
		 .rate = 1,
		 .up = true,
		 .uri = "b"},
	};
	static const struct rte_sync_ops ops = {.send = on_send,
						.event = on_event,
						.time = on_time};
	const struct rte_lsa self = {.links = 2, .link = link, .flags = RTE_LSA_BORDER};
	struct rte_sync_options all = {.as = ONE_AS,
				       .router = ONE_ID,
				       .epoch = ONE_EPOCH,
				       .refresh = ONE_REFRESH};

	one_close(it);
	*it = (struct one){.now = 1000};
	CT_ASSERT_EQ(rte_sync_open(options ? options : &all, &ops, it, it->now,
				   &it->sync),
		     0);
	CT_EXPECT_EQ(rte_sync_set(it->sync, &self, it->now), 0);
}

void one_close(struct one *it)
{
	one_forget(it);
	if (it->sync)
		rte_sync_close(it->sync);
	it->sync = NULL;
}

static void up(struct one *it, unsigned int i, const struct rte_sync_peer *who)
{
	it->peer_as[i] = who->as;
	it->peer_id[i] = who->router;
	CT_EXPECT_EQ(rte_sync_up(it->sync, who, &it->peer[i], it->now, &it->peer[i]), 0);
}

void one_up(struct one *it, unsigned int i)
{
	up(it, i,
	   &(struct rte_sync_peer){.as = ONE_AS,
				   .router = 20 + i,
				   .scope_as = ONE_AS,
				   .subnet = ONE_SUBNET});
}

void one_up_border(struct one *it, unsigned int i, uint32_t as)
{
	up(it, i,
	   &(struct rte_sync_peer){
		   .as = as, .router = 20 + i, .scope_as = RTE_AS_WAN, .subnet = WAN});
}

void one_forget(struct one *it)
{
	while (it->sents)
		message_free(&it->sent[--it->sents].message);
}

uint32_t one_count(const struct one *it, unsigned int to, enum rte_sync_type type)
{
	uint32_t i, count = 0;

	for (i = 0; i < it->sents; i++)
		count += it->sent[i].to == to && it->sent[i].message.type == type;
	return count;
}

const struct rte_sync_message *one_last(const struct one *it, unsigned int to,
					enum rte_sync_type type)
{
	uint32_t i;

	for (i = it->sents; i--;)
		if (it->sent[i].to == to && it->sent[i].message.type == type)
			return &it->sent[i].message;
	return NULL;
}

int one_receive(struct one *it, unsigned int from, struct rte_sync_message message)
{
	return rte_sync_receive(it->sync, it->peer[from], &message, it->now);
}

struct rte_lsa one_lsa(uint64_t router, uint64_t epoch, uint64_t seq)
{
	return (struct rte_lsa){.as = ONE_AS,
				.router = router,
				.epoch = epoch,
				.seq = seq,
				.lifetime = 3 * ONE_REFRESH};
}

int one_hear(struct one *it, unsigned int from, uint64_t router, uint64_t epoch,
	     uint64_t seq)
{
	const struct rte_lsa lsa = one_lsa(router, epoch, seq);

	return one_receive(it, from,
			   (struct rte_sync_message){.type = RTE_SYNC_LSA, .lsa = &lsa});
}

int one_list(struct one *it, unsigned int from, enum rte_sync_type type, uint64_t router,
	     uint64_t epoch, uint64_t seq)
{
	const struct rte_sync_entry entry = {
		.as = ONE_AS, .router = router, .epoch = epoch, .seq = seq};

	return one_receive(it, from,
			   (struct rte_sync_message){
				   .type = type, .list = {.entry = &entry, .count = 1}});
}

static void heartbeat(struct one *it, unsigned int from, uint64_t more)
{
	struct rte_lsdb *db = rte_sync_db(it->sync);
	struct rte_sync_message message = {
		.type = RTE_SYNC_HEARTBEAT,
		.heartbeat = {.hash = rte_lsdb_hash(db) + more,
			      .count = (uint32_t)rte_lsdb_count(db)},
	};

	if (it->peer_as[from] != ONE_AS)
		message.heartbeat.hash = more;
	one_receive(it, from, message);
}

void one_differ(struct one *it, unsigned int from)
{
	heartbeat(it, from, 1);
}

void one_run(struct one *it, uint64_t until, unsigned int heartbeats)
{
	uint64_t at;
	unsigned int i;

	while ((at = rte_sync_deadline(it->sync)) <= until) {
		it->now = at > it->now ? at : it->now;
		for (i = 0; i < ONE_PEERS; i++)
			if (heartbeats & 1u << i)
				heartbeat(it, i, 0);
		rte_sync_tick(it->sync, it->now);
	}
	it->now = until;
}

const struct rte_lsa *one_own(struct one *it)
{
	return rte_lsdb_get(rte_sync_db(it->sync), ONE_AS, ONE_ID, it->now);
}

void one_set_up(struct one **t)
{
	*t = &one;
	one_open(&one, NULL);
}

void one_set_up_two(struct one **t)
{
	one_set_up(t);
	one_up(&one, 0);
	one_up(&one, 1);
	one_run(&one, 2500, 3);
	one_forget(&one);
}

void one_tear_down(struct one **t)
{
	one_close(&one);
}
