/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "journal.h"
#include "link.h"
#include "rpma.h"
#include "server.h"

struct rlg_server {
	struct rlg_link link;
	struct rlg_journal journal;
	struct rlg_memory log;	    /* the whole file */
	struct rlg_memory messages; /* receive buffers, ordinary memory */
	size_t message_size;
	struct rlg_hello hello;
	struct rlg_rpma *rpma; /* NULL but for --method librpma */
	bool greeted;
	uint64_t received; /* into the log: pieces posted so far */
	uint64_t first;	   /* number of the first piece's record */
	uint32_t posted;   /* of them not used yet */
	bool ended;	   /* the client said so */
};

static int rlg_server_seen(void *arg, const struct fi_cq_data_entry *entry);

static int rlg_server_tell(struct rlg_server *server, enum rlg_message_type type,
			   uint32_t value, uint64_t number)
{
	const struct rlg_message message = {type, value, number};
	uint8_t bytes[RLG_MESSAGE];

	rlg_message_pack(bytes, &message);
	return rlg_link_inject(&server->link, bytes, sizeof(bytes), rlg_server_seen,
			       server);
}

/* --- receive buffers */

static int rlg_server_receive(struct rlg_server *server, uint8_t *buf)
{
	const bool greeting = buf == server->log.at + RLG_GREETING;

	return rlg_link_recv(&server->link, buf, server->message_size,
			     greeting ? server->log.desc : server->messages.desc, buf);
}

static int rlg_server_buffers(struct rlg_server *server, size_t size, unsigned int count)
{
	uint8_t *memory = malloc(size * count);
	unsigned int i;
	int ret;

	if (!memory)
		return rlg_failed("receive buffers", -FI_ENOMEM);
	rlg_memory_close(&server->messages);
	free(server->messages.at);
	server->message_size = size;
	ret = rlg_memory_open(&server->link, &server->messages, memory, size * count,
			      FI_RECV, false);
	if (ret)
		return rlg_failed("receive buffers", ret);
	for (i = 0; i < count && !ret; i++)
		ret = rlg_server_receive(server, memory + size * i);
	return ret;
}

/*
 * One, for the pings and the hello. In the log's file, for a fenced durable append says
 * as much of the messages before it (fi_cq(3), FI_FENCE): in ordinary memory they would
 * make it fail.
 */
static int rlg_server_greeting(struct rlg_server *server)
{
	if (server->log.size < RLG_SLOTS)
		return rlg_server_buffers(server, RLG_MESSAGE_MAX, 1);
	rlg_memory_close(&server->messages);
	free(server->messages.at);
	server->messages.at = NULL;
	server->message_size = RLG_MESSAGE_MAX;
	return rlg_server_receive(server, server->log.at + RLG_GREETING);
}

/* Records, or records and tails in turn, go where they belong as long as there is room.
 */
static int rlg_server_receive_log(struct rlg_server *server)
{
	struct rlg_journal *journal = &server->journal;
	const bool compound = journal->layout.kind == RLG_COMPOUND;
	uint64_t number;
	size_t at, len;
	int ret = 0;

	while (server->posted < RLG_RECEIVES && !ret) {
		number = server->first + server->received / (compound ? 2 : 1);
		if (!rlg_journal_holds(journal, number))
			break;
		if (compound && server->received % 2) {
			at = RLG_TAIL;
			len = sizeof(uint64_t);
		} else {
			at = rlg_slot_at(&journal->layout, number);
			len = RLG_RECORD + journal->layout.payload;
		}
		ret = rlg_link_recv(&server->link, server->log.at + at, len,
				    server->log.desc, NULL);
		server->received++;
		server->posted++;
	}
	return ret;
}

/* --- what the client asks for */

static int rlg_server_stray(uint64_t number)
{
	rlg_say("the client names record %llu, which the log has no place for",
		(unsigned long long)number);
	return -FI_EINVAL;
}

static int rlg_server_persist(struct rlg_server *server, uint64_t number, bool tail)
{
	/* What was consumed is durable. */
	if (number && number < server->journal.head)
		return rlg_server_tell(server, RLG_MSG_ANSWER, tail, number);
	if (!rlg_journal_holds(&server->journal, number))
		return rlg_server_stray(number);
	if (tail)
		rlg_journal_persist_tail(&server->journal);
	else
		rlg_journal_persist(&server->journal, number);
	return rlg_server_tell(server, RLG_MSG_ANSWER, tail, number);
}

/* The copy, then its tail: each durable before the next (table 3 of the paper, Send). */
static int rlg_server_record(struct rlg_server *server, const struct rlg_message *message,
			     const uint8_t *record, size_t len)
{
	struct rlg_journal *journal = &server->journal;

	if (!rlg_journal_holds(journal, message->number))
		return rlg_server_stray(message->number);
	if (len < RLG_RECORD + journal->layout.payload) {
		rlg_say("the client sends part of a record");
		return -FI_EINVAL;
	}
	rlg_journal_store(journal, message->number, record);
	if (message->value)
		rlg_journal_store_tail(journal, message->number);
	return rlg_server_tell(server, RLG_MSG_ANSWER, message->value, message->number);
}

static int rlg_server_welcome(struct rlg_server *server,
			      const struct rlg_welcome *welcome)
{
	uint8_t bytes[RLG_MESSAGE_MAX];
	const size_t len = rlg_welcome_pack(bytes, welcome);

	if (welcome->refusal)
		rlg_say("a client is refused: %s", rlg_refusal_text(welcome->refusal));
	return rlg_link_inject(&server->link, bytes, len, rlg_server_seen, server);
}

/* Next to the port that clients know. */
static int rlg_server_librpma(struct rlg_server *server, struct rlg_welcome *welcome)
{
	char address[INET6_ADDRSTRLEN];
	const char *missing;
	unsigned int port;
	int ret;

	missing = rlg_rpma_missing();
	if (missing) {
		rlg_say("%s", missing);
		return -FI_ENOSYS;
	}
	ret = rlg_link_port(&server->link, &port);
	if (!ret)
		ret = rlg_link_address(&server->link, address);
	if (ret)
		return ret;
	port++;
	ret = rlg_rpma_listen(&server->rpma, &server->journal.medium, address, &port,
			      server->link.options->timeout);
	welcome->rpma_port = port;
	return ret;
}

static enum rlg_refusal rlg_server_judge(struct rlg_server *server,
					 struct rlg_welcome *welcome)
{
	if (server->hello.depth > RLG_DEPTH_MAX)
		return RLG_TOO_DEEP;
	if (server->hello.method == RLG_LIBRPMA && rlg_server_librpma(server, welcome))
		return RLG_NO_LIBRPMA;
	return rlg_journal_open(&server->journal, &server->hello, &welcome->next);
}

static int rlg_server_hello(struct rlg_server *server, const uint8_t *bytes, size_t len)
{
	struct rlg_journal *journal = &server->journal;
	struct rlg_welcome welcome = {.refusal = RLG_OTHER_VERSION};
	int ret;

	if (!rlg_hello_parse(bytes, len, &server->hello))
		return rlg_server_welcome(server, &welcome);
	welcome.refusal = rlg_server_judge(server, &welcome);
	if (welcome.refusal)
		return rlg_server_welcome(server, &welcome);
	welcome.layout = journal->layout;
	welcome.head = journal->head;
	welcome.key = fi_mr_key(server->log.mr);
	if (server->link.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		welcome.base = (uintptr_t)journal->medium.at;
	server->greeted = true;
	server->first = welcome.next;
	server->received = 0;
	server->posted = 0;
	if (rlg_receives_log(server->hello.op, server->hello.method))
		ret = rlg_server_receive_log(server);
	else
		ret = rlg_server_buffers(server,
					 RLG_MESSAGE + RLG_RECORD +
						 server->hello.payload + RLG_MESSAGE_MAX,
					 RLG_RECEIVES);
	if (!ret)
		ret = rlg_server_welcome(server, &welcome);
	return ret || !server->rpma ? ret : rlg_rpma_accept(server->rpma);
}

static int rlg_server_message(struct rlg_server *server, const uint8_t *bytes, size_t len)
{
	struct rlg_message message;

	if (!rlg_message_parse(bytes, len, &message)) {
		rlg_say("the client sends what is no message");
		return -FI_EINVAL;
	}
	switch (message.type) {
	case RLG_MSG_PING:
		return rlg_server_tell(server, RLG_MSG_PING, 0, message.number);
	case RLG_MSG_HELLO:
		if (!server->greeted)
			return rlg_server_hello(server, bytes, len);
		break;
	case RLG_MSG_ASK:
		if (server->greeted)
			return rlg_server_persist(server, message.number, message.value);
		break;
	case RLG_MSG_RECORD:
		if (server->greeted)
			return rlg_server_record(server, &message, bytes + RLG_MESSAGE,
						 len - RLG_MESSAGE);
		break;
	case RLG_MSG_BYE:
		server->ended = true;
		return 0;
	default:
		break;
	}
	rlg_say("the client sends message %u, which has no place here", message.type);
	return -FI_EINVAL;
}

/* A write with data: by hand the immediate is the request. Its number is the one nearest
 * to the head that has these lower bits. */
static int rlg_server_written(struct rlg_server *server, uint32_t imm)
{
	const uint64_t head = server->journal.head;
	const uint32_t ahead = (imm - (uint32_t)head) & 0x7fffffff;
	const uint64_t behind = ahead >> 30 ? 0x80000000u : 0;

	if (server->hello.method != RLG_RPC)
		return 0;
	return rlg_server_persist(server, head + ahead - behind, imm >> 31);
}

static int rlg_server_seen(void *arg, const struct fi_cq_data_entry *entry)
{
	struct rlg_server *server = arg;
	uint8_t *buf = entry->op_context;
	bool greeted = server->greeted;
	uint8_t *messages = server->messages.at;
	int ret;

	if (!(entry->flags & (FI_RECV | FI_REMOTE_CQ_DATA)))
		return 0;
	if (!buf) { /* into the log */
		server->posted--;
		if (!entry->len) /* the client's last message */
			server->ended = true;
		return server->ended ? 0 : rlg_server_receive_log(server);
	}
	if (entry->flags & FI_REMOTE_CQ_DATA)
		ret = rlg_server_written(server, (uint32_t)entry->data);
	else
		ret = rlg_server_message(server, buf, entry->len);
	/* A hello brings other buffers. */
	if (ret || messages != server->messages.at || greeted != server->greeted)
		return ret;
	return rlg_server_receive(server, buf);
}

/* --- clients */

static int rlg_server_turn(struct rlg_server *server)
{
	struct fi_cq_data_entry entry;
	int ret;

	ret = rlg_link_poll(&server->link, &entry, 1);
	if (ret > 0)
		ret = rlg_server_seen(server, &entry);
	if (ret || !server->greeted)
		return ret;
	rlg_journal_consume(&server->journal);
	if (!rlg_journal_collect(&server->journal))
		return 0;
	if (rlg_receives_log(server->hello.op, server->hello.method)) {
		ret = rlg_server_receive_log(server);
		if (ret)
			return ret;
	}
	return rlg_server_tell(server, RLG_MSG_FREE, 0, server->journal.head);
}

static int rlg_server_client(struct rlg_server *server, struct fi_info *info)
{
	int ret;

	server->greeted = server->ended = false;
	ret = rlg_link_endpoint(&server->link, info);
	if (!ret)
		ret = rlg_server_greeting(server);
	if (!ret)
		ret = rlg_link_accept(&server->link);
	/* A client may be silent for as long as it likes. */
	while (!ret && !server->ended) {
		server->link.deadline = 0;
		ret = rlg_server_turn(server);
	}
	/* Its last message can be overtaken by its end. */
	if (ret == -FI_ESHUTDOWN && server->ended)
		ret = 0;
	if (ret == -FI_ESHUTDOWN)
		rlg_say("the client has gone");
	rlg_rpma_close(server->rpma);
	server->rpma = NULL;
	rlg_link_hang_up(&server->link);
	return ret;
}

static int rlg_server_register(struct rlg_server *server, const char *path)
{
	struct rlg_medium *medium = &server->journal.medium;
	const uint64_t access =
		FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RECV | FI_SEND | FI_READ | FI_WRITE;
	int ret;

	ret = rlg_memory_open(&server->link, &server->log, medium->at, medium->size,
			      access, server->link.durable);
	if (!ret)
		return 0;
	if (server->link.durable) {
		rlg_say("%s is not persistent memory (%s): durable methods will fail, "
			"those "
			"by hand prove nothing",
			path, fi_strerror(-ret));
		ret = rlg_memory_open(&server->link, &server->log, medium->at,
				      medium->size, access, false);
	}
	return ret ? rlg_failed(path, ret) : 0;
}

static int rlg_server_open(struct rlg_server *server, const struct rlg_options *options)
{
	unsigned int port = 0;
	int ret;

	ret = rlg_link_open(&server->link, options, true);
	if (!ret)
		ret = rlg_server_register(server, options->log);
	if (!ret)
		ret = rlg_link_port(&server->link, &port);
	if (ret)
		return ret;
	printf("listening on port %u\n", port);
	fflush(stdout);
	return 0;
}

int rlg_serve(const struct rlg_options *options)
{
	struct rlg_server server = {0};
	unsigned int clients, failures = 0;
	struct fi_info *info;
	int ret;

	if (rlg_medium_open(&server.journal.medium, options->log, options->size, true))
		return 1;
	ret = rlg_server_open(&server, options);
	for (clients = 0; !ret && (!options->clients || clients < options->clients);
	     clients++) {
		ret = rlg_link_request(&server.link, &info);
		if (ret)
			break;
		if (rlg_server_client(&server, info))
			failures++;
		fi_freeinfo(info);
	}
	rlg_memory_close(&server.messages);
	free(server.messages.at);
	rlg_memory_close(&server.log);
	rlg_link_close(&server.link);
	rlg_medium_close(&server.journal.medium);
	return ret || failures ? 1 : 0;
}
