/* SPDX-License-Identifier: BSD-2-Clause */
#include "one.h"

#define WAN 7u

static void on_send(void *context, void *peer, const struct rte_sync_message *message)
{
	struct one *one = context;

	CT_ASSERT_LT(one->sents, ONE_SENT);
	one->sent[one->sents].to =
		(unsigned int)((struct rte_adjacency **)peer - one->peer);
	one->sent[one->sents++].message = message_copy(message);
}

static void on_event(void *context, const struct rte_sync_event *event)
{
	struct one *one = context;

	one->events[event->what]++;
	one->event = *event;
	if (event->what == RTE_SYNC_CHANGED)
		one->changed += event->router;
}

void one_open(struct one *one, const struct rte_sync_options *options)
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
	static const struct rte_sync_ops ops = {.send = on_send, .event = on_event};
	const struct rte_lsa self = {.links = 2, .link = link, .flags = RTE_LSA_BORDER};
	struct rte_sync_options all = {.as = ONE_AS,
				       .router = ONE_ID,
				       .epoch = ONE_EPOCH,
				       .refresh = ONE_REFRESH};

	*one = (struct one){.now = 1000};
	CT_ASSERT_EQ(rte_sync_open(options ? options : &all, &ops, one, one->now,
				   &one->sync),
		     0);
	CT_EXPECT_EQ(rte_sync_set(one->sync, &self, one->now), 0);
}

void one_close(struct one *one)
{
	one_forget(one);
	rte_sync_close(one->sync);
}

static void up(struct one *one, unsigned int i, const struct rte_sync_peer *who)
{
	one->peer_as[i] = who->as;
	one->peer_id[i] = who->router;
	CT_EXPECT_EQ(rte_sync_up(one->sync, who, &one->peer[i], one->now, &one->peer[i]),
		     0);
}

void one_up(struct one *one, unsigned int i)
{
	up(one, i,
	   &(struct rte_sync_peer){.as = ONE_AS,
				   .router = 20 + i,
				   .scope_as = ONE_AS,
				   .subnet = ONE_SUBNET});
}

void one_up_border(struct one *one, unsigned int i, uint32_t as)
{
	up(one, i,
	   &(struct rte_sync_peer){
		   .as = as, .router = 20 + i, .scope_as = RTE_AS_WAN, .subnet = WAN});
}

void one_forget(struct one *one)
{
	while (one->sents)
		message_free(&one->sent[--one->sents].message);
}

uint32_t one_count(const struct one *one, unsigned int to, enum rte_sync_type type)
{
	uint32_t i, count = 0;

	for (i = 0; i < one->sents; i++)
		count += one->sent[i].to == to && one->sent[i].message.type == type;
	return count;
}

const struct rte_sync_message *one_last(const struct one *one, unsigned int to,
					enum rte_sync_type type)
{
	uint32_t i;

	for (i = one->sents; i--;)
		if (one->sent[i].to == to && one->sent[i].message.type == type)
			return &one->sent[i].message;
	return NULL;
}

int one_receive(struct one *one, unsigned int from, struct rte_sync_message message)
{
	return rte_sync_receive(one->sync, one->peer[from], &message, one->now);
}

struct rte_lsa one_lsa(uint64_t router, uint64_t epoch, uint64_t seq)
{
	return (struct rte_lsa){.as = ONE_AS,
				.router = router,
				.epoch = epoch,
				.seq = seq,
				.lifetime = 3 * ONE_REFRESH};
}

int one_hear(struct one *one, unsigned int from, uint64_t router, uint64_t epoch,
	     uint64_t seq)
{
	const struct rte_lsa lsa = one_lsa(router, epoch, seq);

	return one_receive(one, from,
			   (struct rte_sync_message){.type = RTE_SYNC_LSA, .lsa = &lsa});
}

int one_list(struct one *one, unsigned int from, enum rte_sync_type type, uint64_t router,
	     uint64_t epoch, uint64_t seq)
{
	const struct rte_sync_entry entry = {
		.as = ONE_AS, .router = router, .epoch = epoch, .seq = seq};

	return one_receive(one, from,
			   (struct rte_sync_message){
				   .type = type, .list = {.entry = &entry, .count = 1}});
}

static void heartbeat(struct one *one, unsigned int from, uint64_t more)
{
	struct rte_lsdb *db = rte_sync_db(one->sync);
	struct rte_sync_message message = {
		.type = RTE_SYNC_HEARTBEAT,
		.heartbeat = {.hash = rte_lsdb_hash(db) + more,
			      .count = (uint32_t)rte_lsdb_count(db)},
	};

	if (one->peer_as[from] != ONE_AS)
		message.heartbeat.hash = more;
	one_receive(one, from, message);
}

void one_differ(struct one *one, unsigned int from)
{
	heartbeat(one, from, 1);
}

void one_run(struct one *one, uint64_t until, unsigned int heartbeats)
{
	uint64_t at;
	unsigned int i;

	while ((at = rte_sync_deadline(one->sync)) <= until) {
		one->now = at > one->now ? at : one->now;
		for (i = 0; i < ONE_PEERS; i++)
			if (heartbeats & 1u << i)
				heartbeat(one, i, 0);
		rte_sync_tick(one->sync, one->now);
	}
	one->now = until;
}

const struct rte_lsa *one_own(struct one *one)
{
	return rte_lsdb_get(rte_sync_db(one->sync), ONE_AS, ONE_ID, one->now);
}
