/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "append.h"
#include "wire.h"

/* --- one act */

size_t rlg_record_size(const struct rlg_client *client)
{
	return RLG_RECORD + client->options->payload;
}

static struct rlg_piece rlg_act_piece(const struct rlg_client *client,
				      const struct rlg_append *append, uint8_t act)
{
	const bool tail =
		(act & RLG_ACT) == RLG_ACT_TAIL || (act & RLG_ACT) == RLG_ACT_READ_TAIL;

	if (tail)
		return (struct rlg_piece){append->tail, sizeof(uint64_t), RLG_TAIL};
	return (struct rlg_piece){append->message + RLG_MESSAGE, rlg_record_size(client),
				  rlg_slot_at(&client->log.layout, append->number)};
}

ssize_t rlg_post_rma(struct rlg_client *client, struct rlg_append *append, uint8_t act,
		     struct rlg_piece piece, uint64_t flags, bool read)
{
	struct iovec iov = {piece.from, piece.len};
	struct fi_rma_iov remote = {client->log.base + piece.at, piece.len,
				    client->log.key};
	struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &client->out.desc,
		.iov_count = 1,
		.rma_iov = &remote,
		.rma_iov_count = 1,
		.context = append,
	};

	if (read) {
		remote.addr += piece.len - 1;
		iov = (struct iovec){client->sink, 1};
		remote.len = 1;
		return fi_readmsg(client->link.ep, &msg, flags);
	}
	if (client->options->op == RLG_WRITEDATA) {
		flags |= FI_REMOTE_CQ_DATA;
		msg.data = rlg_imm(append->number, (act & RLG_ACT) == RLG_ACT_TAIL);
	}
	return fi_writemsg(client->link.ep, &msg, flags);
}

ssize_t rlg_post_send(struct rlg_client *client, struct rlg_append *append, void *from,
		      size_t len, uint64_t flags)
{
	struct iovec iov = {from, len};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &client->out.desc,
		.iov_count = 1,
		.context = append,
	};

	return fi_sendmsg(client->link.ep, &msg, flags);
}

static ssize_t rlg_post_ask(struct rlg_client *client, const struct rlg_append *append,
			    uint8_t act)
{
	const struct rlg_message message = {RLG_MSG_ASK,
					    (act & RLG_ACT) == RLG_ACT_ASK_TAIL,
					    append->number};
	uint8_t bytes[RLG_MESSAGE];

	rlg_message_pack(bytes, &message);
	return fi_inject(client->link.ep, bytes, sizeof(bytes), 0);
}

/* more: another act follows at once. */
static ssize_t rlg_post(struct rlg_client *client, struct rlg_append *append, uint8_t act,
			bool more)
{
	const struct rlg_piece piece = rlg_act_piece(client, append, act);
	const uint64_t flags =
		(more ? FI_MORE : 0) | (act & RLG_COMMIT ? FI_COMMIT_COMPLETE : 0) |
		(act & RLG_FENCE ? FI_FENCE : 0) | (act & RLG_WAIT ? FI_COMPLETION : 0);

	if (client->rpma)
		return rlg_rpma_post(client->rpma, act, piece.from, piece.len, piece.at,
				     append);
	switch (act & RLG_ACT) {
	case RLG_ACT_RECORD:
	case RLG_ACT_TAIL:
		if (client->options->op == RLG_SEND)
			return rlg_post_send(client, append, piece.from, piece.len,
					     flags);
		return rlg_post_rma(client, append, act, piece, flags, false);
	case RLG_ACT_READ_RECORD:
	case RLG_ACT_READ_TAIL:
		return rlg_post_rma(client, append, act, piece, flags, true);
	case RLG_ACT_SEND:
		return rlg_post_send(client, append, append->message,
				     RLG_MESSAGE + rlg_record_size(client), flags);
	default:
		return rlg_post_ask(client, append, act);
	}
}

/* --- appends */

/* Posts until something has to be waited for; more: another append follows at once. 0,
 * -FI_EAGAIN or an error. */
static int rlg_append_go(struct rlg_client *client, struct rlg_append *append, bool more)
{
	bool stops;
	uint8_t act;
	ssize_t ret;

	while (!append->waits) {
		act = client->acts[append->act];
		stops = act & (RLG_WAIT | RLG_ANSWER);
		ret = rlg_post(client, append, act, more || !stops);
		if (ret == -FI_EAGAIN || ret == -FI_ESHUTDOWN || ret == -FI_ENOTCONN)
			return ret == -FI_EAGAIN ? (int)ret : -FI_ESHUTDOWN;
		if (ret == -FI_EOPNOTSUPP && act & RLG_COMMIT)
			rlg_say("the provider cannot make this durable there: is the "
				"server's log persistent memory, and its provider "
				"pverbs?");
		if (ret)
			return rlg_failed("an append cannot be posted", ret);
		if (stops)
			append->waits = true;
		else
			append->act++;
	}
	return 0;
}

struct rlg_append *rlg_append_of(struct rlg_client *client, uint64_t index)
{
	return &client->appends[index % client->options->depth];
}

/* Its payload says which one it is: the number, again and again. */
static void rlg_append_fill(struct rlg_client *client, struct rlg_append *append)
{
	const uint32_t payload = client->options->payload;
	uint8_t *slot = append->message + RLG_MESSAGE;
	const struct rlg_message message = {RLG_MSG_RECORD,
					    client->options->kind == RLG_COMPOUND,
					    append->number};
	uint32_t i;

	rlg_put64(append->tail, append->number);
	for (i = 0; i + 8 <= payload; i += 8)
		memcpy(slot + RLG_RECORD + i, append->tail, 8);
	memcpy(slot + RLG_RECORD + i, append->tail, payload % 8);
	rlg_record_seal(slot, &client->log.layout, append->number);
	rlg_message_pack(append->message, &message);
}

/* The server takes records and tails in turn: must those of the newest come first? */
static bool rlg_append_divided(struct rlg_client *client)
{
	const struct rlg_append *append;

	if (client->begun == client->done ||
	    !rlg_receives_log(client->options->op, client->options->method))
		return false;
	append = rlg_append_of(client, client->begun - 1);
	return client->acts[append->act + 1];
}

/* May another append begin? A full log waits until the server has consumed some. */
static bool rlg_append_next(struct rlg_client *client)
{
	const uint64_t total = client->options->warmup + client->options->appends;
	const uint64_t number = client->log.next + client->begun;

	return client->begun < total &&
	       client->begun - client->done < client->options->depth &&
	       number - client->head < client->log.layout.slots &&
	       !rlg_append_divided(client);
}

static struct rlg_append *rlg_append_begin(struct rlg_client *client)
{
	struct rlg_append *append = rlg_append_of(client, client->begun);

	append->number = client->log.next + client->begun;
	append->act = 0;
	append->waits = false;
	rlg_append_fill(client, append);
	client->begun++;
	append->started = rlg_now();
	return append;
}

/* The oldest append that has posted all it can goes first, so that updates stay in order.
 * Those that begin together say so (FI_MORE): durable writes then share a flush. */
int rlg_client_post(struct rlg_client *client)
{
	struct rlg_append *append;
	uint64_t index;
	int ret = 0;

	for (index = client->done; index < client->begun && !ret; index++)
		ret = rlg_append_go(client, rlg_append_of(client, index), false);
	while (!ret && rlg_append_next(client)) {
		append = rlg_append_begin(client);
		ret = rlg_append_go(client, append, rlg_append_next(client));
	}
	return ret == -FI_EAGAIN ? 0 : ret;
}

void rlg_client_progress(struct rlg_client *client, uint64_t now, bool last)
{
	const uint64_t total = client->options->warmup + client->options->appends;
	static uint64_t shown;

	if (!client->result.shows || (!last && now - shown < 200000000u))
		return;
	shown = now;
	fprintf(stderr, "\r%3u%%  %llu of %llu appends%s",
		(unsigned int)(client->done * 100 / total),
		(unsigned long long)client->done, (unsigned long long)total,
		last ? "\n" : "");
}

/* What it waited for has come. Only the oldest can end. */
int rlg_append_step(struct rlg_client *client, struct rlg_append *append)
{
	const uint64_t now = rlg_now();

	append->waits = false;
	append->act++;
	client->link.deadline = now + (uint64_t)client->options->timeout * 1000000000u;
	if (append->act < RLG_ACTS && client->acts[append->act])
		return 0;
	if (append != rlg_append_of(client, client->done)) {
		rlg_say("an append ended before an earlier one");
		return -FI_EOTHER;
	}
	if (client->done == client->options->warmup)
		client->result.begun = append->started;
	if (client->done >= client->options->warmup)
		client->result.sample[client->result.samples++] = now - append->started;
	client->done++;
	client->result.ended = now;
	rlg_client_progress(client, now, false);
	return 0;
}
