/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

#define RLG_HELLO 40u
#define RLG_WELCOME 72u

size_t rlg_message_pack(uint8_t *to, const struct rlg_message *message)
{
	rlg_put32(to, (uint32_t)message->type);
	rlg_put32(to + 4, message->value);
	rlg_put64(to + 8, message->number);
	return RLG_MESSAGE;
}

bool rlg_message_parse(const uint8_t *from, size_t len, struct rlg_message *message)
{
	uint32_t type;

	if (len < RLG_MESSAGE)
		return false;
	type = rlg_get32(from);
	if (type < RLG_MSG_PING || type > RLG_MSG_BYE)
		return false;
	message->type = (enum rlg_message_type)type;
	message->value = rlg_get32(from + 4);
	message->number = rlg_get64(from + 8);
	return true;
}

size_t rlg_hello_pack(uint8_t *to, const struct rlg_hello *hello)
{
	const struct rlg_message message = {RLG_MSG_HELLO, RLG_WIRE_VERSION, 0};

	rlg_message_pack(to, &message);
	rlg_put32(to + 16, (uint32_t)hello->kind);
	rlg_put32(to + 20, (uint32_t)hello->op);
	rlg_put32(to + 24, (uint32_t)hello->method);
	rlg_put32(to + 28, hello->payload);
	rlg_put32(to + 32, hello->depth);
	rlg_put32(to + 36, hello->anew);
	return RLG_HELLO;
}

bool rlg_hello_parse(const uint8_t *from, size_t len, struct rlg_hello *hello)
{
	struct rlg_message message;
	uint32_t kind, op, method;

	if (!rlg_message_parse(from, len, &message) || message.type != RLG_MSG_HELLO ||
	    message.value != RLG_WIRE_VERSION || len < RLG_HELLO)
		return false;
	kind = rlg_get32(from + 16);
	op = rlg_get32(from + 20);
	method = rlg_get32(from + 24);
	if ((kind != RLG_SINGLETON && kind != RLG_COMPOUND) || op >= RLG_OPS ||
	    method >= RLG_METHODS)
		return false;
	*hello = (struct rlg_hello){
		.kind = (enum rlg_kind)kind,
		.op = (enum rlg_op)op,
		.method = (enum rlg_method)method,
		.payload = rlg_get32(from + 28),
		.depth = rlg_get32(from + 32),
		.anew = rlg_get32(from + 36),
	};
	return hello->payload && hello->payload <= RLG_PAYLOAD_MAX && hello->depth;
}

size_t rlg_welcome_pack(uint8_t *to, const struct rlg_welcome *welcome)
{
	const struct rlg_message message = {RLG_MSG_WELCOME, welcome->refusal,
					    welcome->next};

	rlg_message_pack(to, &message);
	rlg_put32(to + 16, (uint32_t)welcome->layout.kind);
	rlg_put32(to + 20, welcome->layout.payload);
	rlg_put64(to + 24, welcome->layout.slots);
	rlg_put64(to + 32, welcome->layout.identity);
	rlg_put64(to + 40, welcome->base);
	rlg_put64(to + 48, welcome->key);
	rlg_put64(to + 56, welcome->head);
	rlg_put64(to + 64, welcome->rpma_port);
	return RLG_WELCOME;
}

bool rlg_welcome_parse(const uint8_t *from, size_t len, struct rlg_welcome *welcome)
{
	struct rlg_message message;
	uint32_t kind;

	if (!rlg_message_parse(from, len, &message) || message.type != RLG_MSG_WELCOME ||
	    message.value > RLG_NO_LIBRPMA || len < RLG_WELCOME)
		return false;
	kind = rlg_get32(from + 16);
	*welcome = (struct rlg_welcome){
		.refusal = (enum rlg_refusal)message.value,
		.layout = {kind == RLG_COMPOUND ? RLG_COMPOUND : RLG_SINGLETON,
			   rlg_get32(from + 20), rlg_get64(from + 24),
			   rlg_get64(from + 32)},
		.base = rlg_get64(from + 40),
		.key = rlg_get64(from + 48),
		.head = rlg_get64(from + 56),
		.next = message.number,
		.rpma_port = rlg_get32(from + 64),
	};
	if (welcome->refusal != RLG_ACCEPTED)
		return true;
	return kind == (uint32_t)welcome->layout.kind && welcome->layout.slots &&
	       welcome->layout.payload && welcome->layout.payload <= RLG_PAYLOAD_MAX &&
	       welcome->rpma_port <= UINT16_MAX && welcome->head &&
	       welcome->head <= welcome->next &&
	       welcome->next - welcome->head <= welcome->layout.slots;
}

const char *rlg_refusal_text(enum rlg_refusal refusal)
{
	switch (refusal) {
	case RLG_ACCEPTED:
		return "accepted";
	case RLG_OTHER_VERSION:
		return "it does not understand this version of fi_remotelog";
	case RLG_OTHER_KIND:
		return "its log is of the other kind: see --kind, or replace it with "
		       "--new";
	case RLG_OTHER_PAYLOAD:
		return "the records of its log have another size: see --bytes, or "
		       "replace it "
		       "with --new";
	case RLG_TOO_SMALL:
		return "its file is too small for records of this size";
	case RLG_DAMAGED:
		return "its log is damaged: see --recover, or replace it with --new";
	case RLG_TOO_DEEP:
		return "it cannot take so many appends at a time: see --depth";
	case RLG_NO_LIBRPMA:
		return "it has no librpma, or that does not work there: its own output "
		       "says which";
	}
	return "it says what this version of fi_remotelog does not understand";
}

uint32_t rlg_imm(uint64_t number, bool tail)
{
	return (uint32_t)(number & 0x7fffffff) | (tail ? 1u << 31 : 0);
}
