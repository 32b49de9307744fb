/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "convert.h"

/* Bytes of a message in front of its list, and of an entry of DIGEST and LSREQ. */
#define LIST_HEAD 128u
#define KEY_LEN 32u

/* --- To the wire --- */

struct frt_mouth {
	size_t room;
	int (*put)(void *context, const void *bytes, size_t len);
	void *context;
	uint8_t bytes[RTE_HLEN_MAX + RTE_LSA_KEYS_MAX * KEY_LEN];
};

static int mouth_put(struct frt_mouth *mouth, ssize_t len)
{
	return len < 0 ? (int)len : mouth->put(mouth->context, mouth->bytes, (size_t)len);
}

static size_t mouth_size(const struct frt_mouth *mouth)
{
	return CRN_MIN(mouth->room, sizeof(mouth->bytes));
}

/* One whose entries do not fit goes in several. */
static int say_list(struct frt_mouth *mouth, const struct rte_sync_message *message)
{
	const uint32_t most =
		(uint32_t)CRN_MIN((mouth->room - CRN_MIN(mouth->room, LIST_HEAD)) /
					  KEY_LEN,
				  (size_t)RTE_LSA_KEYS_MAX);
	struct rte_packet packet = {.head.type = (uint8_t)message->type};
	struct rte_lsa_keys keys;
	uint32_t at = 0, i;
	int ret;

	if (!most)
		return -FI_ETOOSMALL;
	do {
		keys.count = CRN_MIN(message->list.count - at, most);
		for (i = 0; i < keys.count; i++)
			keys.key[i] = (struct rte_lsa_key){
				.as = message->list.entry[at + i].as,
				.router = message->list.entry[at + i].router,
				.epoch = message->list.entry[at + i].epoch,
				.seq = message->list.entry[at + i].seq,
			};
		at += keys.count;
		if (message->type == RTE_SYNC_DIGEST && at == message->list.count &&
		    !message->list.more)
			packet.head.flags = RTE_LAST;
		ret = mouth_put(mouth, rte_lsa_keys_pack(&packet, &keys, mouth->bytes,
							 mouth_size(mouth)));
	} while (!ret && at < message->list.count);
	return ret;
}

static int say_pieces(struct frt_mouth *mouth, const uint8_t *whole, size_t len)
{
	size_t done = 0;
	ssize_t packed;
	int ret = 0;

	while (!ret) {
		packed = rte_lsa_cut(whole, len, &done, mouth->bytes, mouth_size(mouth));
		if (!packed)
			break;
		ret = mouth_put(mouth, packed);
	}
	return ret;
}

static int say_lsa(struct frt_mouth *mouth, const struct rte_lsa *lsa)
{
	const struct rte_packet packet = {.head.type = RTE_LSA,
					  .head.flags = RTE_FIRST | RTE_LAST};
	const size_t len = rte_lsa_len(lsa);
	uint8_t *whole;
	ssize_t packed;
	int ret;

	if (!len)
		return -FI_EINVAL;
	if (len <= mouth_size(mouth))
		return mouth_put(mouth, rte_lsa_pack(&packet, lsa, mouth->bytes, len));
	whole = malloc(len);
	if (!whole)
		return -FI_ENOMEM;
	packed = rte_lsa_pack(&packet, lsa, whole, len);
	ret = packed < 0 ? (int)packed : say_pieces(mouth, whole, len);
	free(whole);
	return ret;
}

static int say_reach(struct frt_mouth *mouth, const struct rte_sync_message *message)
{
	const struct rte_packet packet = {.head.type = RTE_AS_REACH};
	const struct rte_sync_reach *link = message->reach.link;
	struct rte_reach reach = {
		.as = message->reach.key.as,
		.count = message->reach.count,
		.router = message->reach.key.router,
		.epoch = message->reach.key.epoch,
		.seq = message->reach.key.seq,
	};
	uint32_t i;

	if (reach.count > RTE_REACH_MAX)
		return -FI_EINVAL;
	for (i = 0; i < reach.count; i++)
		reach.entry[i] = (struct rte_reach_entry){.scope_as = link[i].scope_as,
							  .subnet = link[i].subnet,
							  .cost = link[i].cost,
							  .hops = link[i].hops};
	return mouth_put(mouth, rte_reach_pack(&packet, &reach, mouth->bytes,
					       mouth_size(mouth)));
}

static int say_heartbeat(struct frt_mouth *mouth, const struct rte_sync_message *message,
			 const struct frt_stamps *stamps, uint64_t now)
{
	const struct rte_packet packet = {.head.type = RTE_HEARTBEAT};
	struct rte_heartbeat beat = {
		.hash = message->heartbeat.hash,
		.count = message->heartbeat.count,
		.stamp = now,
		.echo = stamps->theirs,
	};

	if (stamps->theirs)
		beat.held = (uint32_t)CRN_MIN((now - stamps->theirs_at) / 1000,
					      (uint64_t)UINT32_MAX);
	return mouth_put(mouth, rte_heartbeat_pack(&packet, &beat, mouth->bytes,
						   mouth_size(mouth)));
}

int frt_say(const struct rte_sync_message *message, const struct frt_stamps *stamps,
	    uint64_t now, size_t room,
	    int (*put)(void *context, const void *bytes, size_t len), void *context)
{
	struct frt_mouth mouth;

	mouth.room = room;
	mouth.put = put;
	mouth.context = context;
	switch (message->type) {
	case RTE_SYNC_DIGEST:
	case RTE_SYNC_LSREQ:
		return say_list(&mouth, message);
	case RTE_SYNC_LSA:
		return say_lsa(&mouth, message->lsa);
	case RTE_SYNC_AS_REACH:
		return say_reach(&mouth, message);
	case RTE_SYNC_HEARTBEAT:
		return say_heartbeat(&mouth, message, stamps, now);
	default:
		return -FI_EINVAL;
	}
}

/* --- From the wire --- */

static enum rte_bad hear_list(struct frt_heard *heard, const struct rte_packet *packet)
{
	struct rte_lsa_keys keys;
	enum rte_bad bad = rte_lsa_keys_parse(&keys, packet);
	uint32_t i;

	if (bad != RTE_OK)
		return bad;
	for (i = 0; i < keys.count; i++)
		heard->entry[i] = (struct rte_sync_entry){.as = keys.key[i].as,
							  .router = keys.key[i].router,
							  .epoch = keys.key[i].epoch,
							  .seq = keys.key[i].seq};
	heard->message.list.entry = heard->entry;
	heard->message.list.count = keys.count;
	heard->message.list.more =
		packet->head.type == RTE_DIGEST && !(packet->head.flags & RTE_LAST);
	return RTE_OK;
}

/* Memory for the list that this piece begins. */
static bool join_begin(struct rte_join *join, const struct rte_lsa_piece *piece)
{
	uint8_t *list;

	if (piece->offset || piece->total <= join->size)
		return true;
	list = realloc(join->list, piece->total);
	if (!list)
		return false;
	rte_join_init(join, list, piece->total);
	return true;
}

static enum rte_bad hear_lsa(struct frt_heard *heard, struct rte_join *join,
			     const struct rte_packet *packet)
{
	const uint8_t all = RTE_FIRST | RTE_LAST;
	struct rte_lsa_piece piece;
	enum rte_bad bad = rte_lsa_piece_parse(&piece, packet);

	heard->message.lsa = &heard->lsa.lsa;
	if (bad != RTE_OK)
		return bad;
	if ((packet->head.flags & all) == all)
		return rte_lsa_parse(&heard->lsa, &piece, packet->payload,
				     packet->head.plen);
	if (!join_begin(join, &piece))
		return RTE_BAD_LIMIT;
	bad = rte_join_put(join, &piece, packet);
	return bad != RTE_OK ? bad
			     : rte_lsa_parse(&heard->lsa, &join->first, join->list,
					     join->first.total);
}

static enum rte_bad hear_reach(struct frt_heard *heard, const struct rte_packet *packet)
{
	struct rte_reach reach;
	enum rte_bad bad = rte_reach_parse(&reach, packet);
	uint32_t i;

	if (bad != RTE_OK)
		return bad;
	for (i = 0; i < reach.count; i++)
		heard->reach[i] =
			(struct rte_sync_reach){.scope_as = reach.entry[i].scope_as,
						.subnet = reach.entry[i].subnet,
						.cost = reach.entry[i].cost,
						.hops = reach.entry[i].hops};
	heard->message.reach.key = (struct rte_sync_entry){.as = reach.as,
							   .router = reach.router,
							   .epoch = reach.epoch,
							   .seq = reach.seq};
	heard->message.reach.count = reach.count;
	heard->message.reach.link = heard->reach;
	return RTE_OK;
}

static enum rte_bad hear_heartbeat(struct frt_heard *heard, struct frt_stamps *stamps,
				   uint64_t now, const struct rte_packet *packet)
{
	struct rte_heartbeat beat;
	enum rte_bad bad = rte_heartbeat_parse(&beat, packet);
	uint64_t held;

	if (bad != RTE_OK)
		return bad;
	heard->message.heartbeat.hash = beat.hash;
	heard->message.heartbeat.count = beat.count;
	held = (uint64_t)beat.held * 1000;
	/* The peer chooses echo: what it cannot be says nothing. */
	if (beat.echo && beat.echo < now && held < now - beat.echo)
		stamps->trip = now - beat.echo - held;
	stamps->theirs = beat.stamp;
	stamps->theirs_at = now;
	return RTE_OK;
}

enum rte_bad frt_hear(struct frt_heard *heard, struct rte_join *join,
		      struct frt_stamps *stamps, uint64_t now,
		      const struct rte_packet *packet)
{
	heard->message.type = (enum rte_sync_type)packet->head.type;
	switch (packet->head.type) {
	case RTE_DIGEST:
	case RTE_LSREQ:
		return hear_list(heard, packet);
	case RTE_LSA:
		return hear_lsa(heard, join, packet);
	case RTE_AS_REACH:
		return hear_reach(heard, packet);
	case RTE_HEARTBEAT:
		return hear_heartbeat(heard, stamps, now, packet);
	default:
		return RTE_BAD_TYPE;
	}
}

void frt_join_end(struct rte_join *join)
{
	free(join->list);
	rte_join_init(join, NULL, 0);
}
