/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client.h"
#include "link.h"
#include "output.h"
#include "rpma.h"
#include "wire.h"

#define RLG_PINGS 101
/* Completions that are read at once; as many appends then begin together. */
#define RLG_SEEN 16

/* One of those in flight. */
struct rlg_append {
	uint64_t number;
	uint64_t started; /* ns */
	int act;	  /* the next to be posted; of them all that is before is done */
	bool waits;	  /* for a completion or an answer */
	uint8_t *message; /* RLG_MESSAGE bytes, then the record */
	uint8_t *tail;
};

struct rlg_client {
	struct rlg_link link;
	struct rlg_rpma *rpma; /* NULL but for --method librpma */
	const struct rlg_options *options;
	const uint8_t *acts;
	struct rlg_welcome log;
	uint64_t head; /* as the server last said */
	struct rlg_append *appends;
	struct rlg_memory out;
	struct rlg_memory in;
	uint8_t *sink;	/* of reads */
	uint64_t begun; /* appends */
	uint64_t done;	/* of them acknowledged */
	bool pong, welcome, refused;
	struct rlg_result result;
};

/* --- one act */

static size_t rlg_record_size(const struct rlg_client *client)
{
	return RLG_RECORD + client->options->payload;
}

struct rlg_piece {
	void *from;
	size_t len;
	size_t at; /* in the file */
};

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

static ssize_t rlg_post_rma(struct rlg_client *client, struct rlg_append *append,
			    uint8_t act, struct rlg_piece piece, uint64_t flags,
			    bool read)
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

static ssize_t rlg_post_send(struct rlg_client *client, struct rlg_append *append,
			     void *from, size_t len, uint64_t flags)
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

static struct rlg_append *rlg_append_of(struct rlg_client *client, uint64_t index)
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
static int rlg_client_post(struct rlg_client *client)
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

static void rlg_client_progress(struct rlg_client *client, uint64_t now, bool last)
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
static int rlg_append_step(struct rlg_client *client, struct rlg_append *append)
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

/* --- completions */

static int rlg_client_answer(struct rlg_client *client, uint64_t number)
{
	struct rlg_append *append;
	uint64_t index;

	for (index = client->done; index < client->begun; index++) {
		append = rlg_append_of(client, index);
		if (append->number != number)
			continue;
		if (!append->waits || !(client->acts[append->act] & RLG_ANSWER))
			break;
		return rlg_append_step(client, append);
	}
	rlg_say("the server answers what was not asked");
	return -FI_EINVAL;
}

static int rlg_client_message(struct rlg_client *client, const uint8_t *bytes, size_t len)
{
	struct rlg_message message;

	if (!rlg_message_parse(bytes, len, &message)) {
		rlg_say("the server sends what is no message");
		return -FI_EINVAL;
	}
	switch (message.type) {
	case RLG_MSG_PING:
		client->pong = true;
		return 0;
	case RLG_MSG_WELCOME:
		client->welcome = rlg_welcome_parse(bytes, len, &client->log);
		client->refused = !client->welcome;
		return 0;
	case RLG_MSG_ANSWER:
		return rlg_client_answer(client, message.number);
	case RLG_MSG_FREE:
		client->head = message.number;
		return 0;
	default:
		rlg_say("the server sends message %u, which has no place here",
			message.type);
		return -FI_EINVAL;
	}
}

static int rlg_client_seen(void *arg, const struct fi_cq_data_entry *entry)
{
	struct rlg_client *client = arg;
	int ret;

	if (!(entry->flags & FI_RECV)) {
		if (entry->op_context)
			return rlg_append_step(client, entry->op_context);
		client->pong = true; /* the last message is on its way */
		return 0;
	}
	ret = rlg_client_message(client, entry->op_context, entry->len);
	return ret ? ret
		   : rlg_link_recv(&client->link, entry->op_context, RLG_MESSAGE_MAX,
				   client->in.desc, entry->op_context);
}

static int rlg_client_poll(struct rlg_client *client)
{
	struct fi_cq_data_entry entry[RLG_SEEN];
	void *append;
	int i, got, ret;

	ret = client->rpma ? rlg_rpma_poll(client->rpma, &append) : 0;
	if (ret)
		return ret > 0 ? rlg_append_step(client, append) : ret;
	got = rlg_link_poll(&client->link, entry, RLG_SEEN);
	ret = got < 0 ? got : 0;
	for (i = 0; i < got && !ret; i++)
		ret = rlg_client_seen(client, &entry[i]);
	return ret;
}

/* --- phases */

static int rlg_client_ping(struct rlg_client *client)
{
	const struct rlg_message message = {RLG_MSG_PING, 0, 0};
	uint64_t trip[RLG_PINGS], begin;
	uint8_t bytes[RLG_MESSAGE];
	int i, ret = 0;

	rlg_message_pack(bytes, &message);
	for (i = 0; i < RLG_PINGS && !ret; i++) {
		client->pong = false;
		begin = rlg_now();
		ret = rlg_link_inject(&client->link, bytes, sizeof(bytes),
				      rlg_client_seen, client);
		while (!ret && !client->pong)
			ret = rlg_client_poll(client);
		trip[i] = rlg_now() - begin;
	}
	if (!ret)
		client->result.message_trip = rlg_median(trip, RLG_PINGS);
	return ret;
}

/* What a one-sided operation takes: a read of the log's header. */
static int rlg_client_look(struct rlg_client *client)
{
	const struct rlg_piece header = {client->sink, 1, 0};
	uint64_t trip[RLG_PINGS];
	ssize_t ret;
	int i, got = 0;

	rlg_link_wait(&client->link);
	for (i = 0; i < RLG_PINGS && !got; i++) {
		client->pong = false;
		trip[i] = rlg_now();
		ret = rlg_post_rma(client, NULL, RLG_ACT_READ_RECORD, header,
				   FI_COMPLETION, true);
		if (ret)
			return rlg_failed("the log cannot be read", ret);
		while (!got && !client->pong)
			got = rlg_client_poll(client);
		trip[i] = rlg_now() - trip[i];
	}
	if (!got)
		client->result.read_trip = rlg_median(trip, RLG_PINGS);
	return got;
}

static int rlg_client_hello(struct rlg_client *client)
{
	const struct rlg_options *options = client->options;
	const struct rlg_hello hello = {
		.kind = options->kind,
		.op = options->op,
		.method = options->method,
		.payload = options->payload,
		.depth = options->depth,
		.anew = options->anew,
	};
	uint8_t bytes[RLG_MESSAGE_MAX];
	const size_t len = rlg_hello_pack(bytes, &hello);
	int ret;

	ret = rlg_link_inject(&client->link, bytes, len, rlg_client_seen, client);
	rlg_link_wait(&client->link);
	while (!ret && !client->welcome && !client->refused)
		ret = rlg_client_poll(client);
	if (ret)
		return ret;
	if (!client->welcome || client->log.refusal) {
		rlg_say("the server refuses: %s",
			rlg_refusal_text(client->welcome ? client->log.refusal
							 : RLG_OTHER_VERSION));
		return -FI_EOPNOTSUPP;
	}
	if (client->log.layout.kind != options->kind ||
	    client->log.layout.payload != options->payload) {
		rlg_say("the server has another log than the one asked for");
		return -FI_EINVAL;
	}
	client->head = client->log.head;
	return options->method == RLG_LIBRPMA
		       ? rlg_rpma_connect(&client->rpma, options, client->log.rpma_port,
					  client->out.at, client->out.size)
		       : 0;
}

/* For who may have to look at the log when this machine is gone. */
static void rlg_client_tell(const struct rlg_client *client)
{
	printf("acknowledged %llu\n",
	       (unsigned long long)(client->log.next + client->done - 1));
	fflush(stdout);
}

static int rlg_client_run(struct rlg_client *client)
{
	const uint64_t total = client->options->warmup + client->options->appends;
	uint64_t done;
	int ret = 0;

	rlg_link_wait(&client->link);
	while (!ret && client->done < total) {
		done = client->done;
		ret = rlg_client_post(client);
		if (!ret)
			ret = rlg_client_poll(client);
		if (client->options->tell && client->done != done)
			rlg_client_tell(client);
	}
	rlg_client_progress(client, rlg_now(), true);
	return ret;
}

/* Where messages go into the log it is one without bytes. */
static int rlg_client_bye(struct rlg_client *client)
{
	const struct rlg_message message = {RLG_MSG_BYE, 0, 0};
	const bool into_log =
		rlg_receives_log(client->options->op, client->options->method);
	ssize_t ret;
	int got = 0;

	rlg_message_pack(client->out.at, &message);
	client->pong = false;
	rlg_link_wait(&client->link);
	do {
		ret = rlg_post_send(client, NULL, client->out.at,
				    into_log ? 0 : RLG_MESSAGE, FI_COMPLETION);
		if (ret == -FI_EAGAIN)
			got = rlg_client_poll(client);
	} while (ret == -FI_EAGAIN && !got);
	while (!ret && !got && !client->pong)
		got = rlg_client_poll(client);
	return ret ? (int)ret : got;
}

/* --- opening */

static int rlg_client_memory(struct rlg_client *client)
{
	const size_t message = (RLG_MESSAGE + rlg_record_size(client) + 63) / 64 * 64;
	const uint32_t depth = client->options->depth;
	const size_t out = depth * (message + 8) + 64,
		     in = RLG_RECEIVES * RLG_MESSAGE_MAX;
	uint8_t *out_at = calloc(1, out), *in_at = calloc(1, in);
	uint32_t i;
	int ret;

	client->appends = calloc(depth, sizeof(*client->appends));
	client->result.sample =
		malloc(client->options->appends * sizeof(*client->result.sample));
	client->out.at = out_at;
	client->in.at = in_at;
	if (!out_at || !in_at || !client->appends || !client->result.sample)
		return rlg_failed("memory for the appends", -FI_ENOMEM);
	for (i = 0; i < depth; i++) {
		client->appends[i].message = out_at + i * message;
		client->appends[i].tail = out_at + depth * message + i * 8;
	}
	client->sink = out_at + out - 64;
	ret = rlg_memory_open(&client->link, &client->out, out_at, out,
			      FI_SEND | FI_WRITE | FI_READ, false);
	if (!ret)
		ret = rlg_memory_open(&client->link, &client->in, in_at, in, FI_RECV,
				      false);
	return rlg_failed("buffers cannot be registered", ret);
}

static int rlg_client_open(struct rlg_client *client)
{
	uint32_t i;
	int ret;

	ret = rlg_link_open(&client->link, client->options, false);
	if (!ret && rlg_by_provider(client->options->method) && !client->link.durable) {
		rlg_say("provider %s cannot complete what is durable: see --method",
			client->options->provider);
		ret = -FI_EOPNOTSUPP;
	}
	if (!ret)
		ret = rlg_link_endpoint(&client->link, client->link.info);
	if (!ret)
		ret = rlg_client_memory(client);
	for (i = 0; i < RLG_RECEIVES && !ret; i++)
		ret = rlg_link_recv(&client->link, client->in.at + i * RLG_MESSAGE_MAX,
				    RLG_MESSAGE_MAX, client->in.desc,
				    client->in.at + i * RLG_MESSAGE_MAX);
	return ret ? ret : rlg_link_connect(&client->link);
}

static void rlg_client_close(struct rlg_client *client)
{
	rlg_rpma_close(client->rpma);
	rlg_link_hang_up(&client->link);
	rlg_memory_close(&client->out);
	rlg_memory_close(&client->in);
	rlg_link_close(&client->link);
	free(client->out.at);
	free(client->in.at);
	free(client->appends);
	free(client->result.sample);
}

/* Why there is no such append. */
static const char *rlg_lacks(const struct rlg_options *options)
{
	if (options->method == RLG_PIPELINE)
		return "a singleton append is one update: --method pipeline is for "
		       "--kind compound";
	if (options->op != RLG_WRITE)
		return "--method librpma is for --op write";
	return "this fi_remotelog was built without librpma: it needs the package "
	       "librpma-dev where it is configured";
}

int rlg_append_all(const struct rlg_options *options)
{
	struct rlg_client client = {
		.options = options,
		.acts = rlg_acts(options->kind, options->op, options->method),
		.result.shows = isatty(STDERR_FILENO),
	};
	int ret;

	if (!client.acts || (options->method == RLG_LIBRPMA && !rlg_rpma_there())) {
		rlg_say("%s", rlg_lacks(options));
		return 2;
	}
	if (options->method == RLG_FORCED)
		setenv("FI_PVERBS_COMMIT_METHOD", "message", 1);
	ret = rlg_client_open(&client);
	if (!ret)
		ret = rlg_client_ping(&client);
	if (!ret)
		ret = rlg_client_hello(&client);
	if (!ret)
		ret = rlg_client_look(&client);
	if (!ret)
		ret = rlg_client_run(&client);
	if (!ret)
		ret = rlg_client_bye(&client);
	if (ret == -FI_ESHUTDOWN)
		rlg_say("the server has gone");
	if (client.welcome)
		printf("%llu records acknowledged, the last is number %llu\n",
		       (unsigned long long)client.done,
		       (unsigned long long)(client.log.next + client.done - 1));
	if (!ret)
		ret = rlg_result_write(&client.result, options, client.acts);
	rlg_client_close(&client);
	return ret ? 1 : 0;
}
