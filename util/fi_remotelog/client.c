/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "append.h"
#include "client.h"

#define RLG_PINGS 101
/* Completions that are read at once; as many appends then begin together. */
#define RLG_SEEN 16

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
	return rlg_rpma_missing();
}

int rlg_append_all(const struct rlg_options *options)
{
	struct rlg_client client = {
		.options = options,
		.acts = rlg_acts(options->kind, options->op, options->method),
		.result.shows = isatty(STDERR_FILENO),
	};
	int ret;

	if (!client.acts || (options->method == RLG_LIBRPMA && rlg_rpma_missing())) {
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
	if (client.log.next) /* not refused */
		printf("%llu records acknowledged, the last is number %llu\n",
		       (unsigned long long)client.done,
		       (unsigned long long)(client.log.next + client.done - 1));
	if (!ret)
		ret = rlg_result_write(&client.result, options, client.acts);
	rlg_client_close(&client);
	return ret ? 1 : 0;
}
