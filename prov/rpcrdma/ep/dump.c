/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a connection as text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <cairn/compat.h>
#include "call/call.h"
#include "ep.h"

/* As snprintf, at the end of what is there; what does not fit is counted. */
struct text {
	char *at;
	size_t left, len;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text,
							   const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	text->len += (size_t)len;
	len = (int)CRN_MIN((size_t)len, text->left);
	if (text->at)
		text->at += len;
	text->left -= (size_t)len;
}

static const char *const state_names[] = {
	[RPR_EP_OPEN] = "open",
	[RPR_EP_ENABLED] = "enabled",
	[RPR_EP_CONNECTING] = "connecting",
	[RPR_EP_UP] = "connected",
	[RPR_EP_DOWN] = "disconnected",
};

static const char *const call_names[] = {
	[RPR_CALL_PREPARED] = "prepared",
	[RPR_CALL_WAITING] = "waits for a credit",
	[RPR_CALL_SENT] = "waits for its Reply",
	[RPR_CALL_ARRIVED] = "its Reply waits for a receive",
};

static const char *const serve_names[] = {
	[RPR_SERVE_ARRIVED] = "waits for a receive",
	[RPR_SERVE_HELD] = "is to be answered",
	[RPR_SERVE_REPLYING] = "its Reply is being sent",
};

#define COUNTER(name)                                            \
	{                                                        \
#name, offsetof(struct fi_cairn_rpc_stats, name) \
	}

static const struct {
	const char *name;
	size_t at;
} counters[] = {
	COUNTER(calls_sent),	COUNTER(replies_received), COUNTER(calls_received),
	COUNTER(replies_sent),	COUNTER(read_bytes),	   COUNTER(written_bytes),
	COUNTER(credit_stalls), COUNTER(drop_short),	   COUNTER(drop_reply),
	COUNTER(drop_xid),	COUNTER(drop_proc),	   COUNTER(drop_unready),
	COUNTER(zero_grants),	COUNTER(err_vers_sent),	   COUNTER(err_chunk_sent),
	COUNTER(err_received),	COUNTER(closed),
};

/* A Call that has its receive and is not delivered is read from the peer's memory, or is
 * behind such a one. */
static const char *serve_text(const struct rpr_serve *serve)
{
	if (serve->state != RPR_SERVE_ARRIVED || !serve->arrival.recv)
		return serve_names[serve->state];
	return serve->arrival.whole ? "waits for one that is being read"
				    : "is being read";
}

static void text_age(struct text *text, uint32_t now, uint32_t began)
{
	const uint32_t ms = now - began;

	text_add(text, ", %" PRIu32 ".%03" PRIu32 " s", ms / 1000, ms % 1000);
}

static void text_bytes(struct text *text, const char *what, uint64_t bytes)
{
	if (bytes)
		text_add(text, ", %s %" PRIu64, what, bytes);
}

static void text_call(struct text *text, const struct rpr_call *call, uint32_t now)
{
	uint64_t read = 0, write = 0;
	uint32_t i;

	for (i = 0; i < call->read_count; i++)
		read += call->read[i].seg.length;
	for (i = 0; i < call->result_count; i++)
		write += call->result[i].mem.seg.length;
	text_add(text, "Call 0x%08" PRIx32 ": %s", call->xid, call_names[call->state]);
	text_age(text, now, call->began);
	text_bytes(text, "Read chunk", read);
	text_bytes(text, "Write chunk", write);
	text_bytes(text, "Reply chunk",
		   rpr_mem_used(&call->reply) ? call->reply.seg.length : 0);
	text_add(text, "\n");
}

static uint64_t chunk_bytes(const struct rpr_chunk *chunk)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < chunk->count; i++)
		bytes += chunk->seg[i].length;
	return bytes;
}

static uint64_t unread_bytes(const struct rpr_layout *layout)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; layout && i < layout->count; i++)
		if (!layout->piece[i].bytes)
			bytes += layout->piece[i].len;
	return bytes;
}

static void text_serve(struct text *text, const struct rpr_serve *serve, uint32_t now)
{
	uint64_t write = 0;
	uint32_t i;

	for (i = 0; i < serve->write_count; i++)
		write += chunk_bytes(&serve->write[i]);
	text_add(text, "peer's Call 0x%08" PRIx32 ": %s", serve->xid, serve_text(serve));
	text_age(text, now, serve->began);
	if (serve->state == RPR_SERVE_ARRIVED)
		text_bytes(text, "Read chunk", unread_bytes(serve->arrival.layout));
	text_bytes(text, "Write chunk", write);
	text_bytes(text, "Reply chunk",
		   serve->has_reply ? chunk_bytes(&serve->reply) : 0);
	text_add(text, "\n");
}

static void text_calls(struct text *text, const struct rpr_ep *ep)
{
	const struct rpr_serve *serve;
	const struct rpr_call *call;
	const uint32_t now = rpr_clock();

	for (call = ep->calls; call && call < ep->calls + ep->call_slots; call++) {
		if (call->state != RPR_CALL_FREE)
			text_call(text, call, now);
	}
	for (serve = ep->serves; serve && serve < ep->serves + ep->serve_slots; serve++) {
		if (serve->state != RPR_SERVE_FREE)
			text_serve(text, serve, now);
	}
}

/* Those that are not 0. */
static void text_counters(struct text *text, const struct rpr_ep *ep)
{
	const char *before = "counters:";
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		value = *(const uint64_t *)(const void *)((const char *)&ep->stats +
							  counters[i].at);
		if (!value)
			continue;
		text_add(text, "%s %s %" PRIu64, before, counters[i].name, value);
		before = ",";
	}
	if (*before == ',')
		text_add(text, "\n");
}

size_t rpr_dump(const struct rpr_ep *ep, char *buf, size_t size)
{
	struct text text = {.at = size ? buf : NULL, .left = size};

	text_add(&text, "%s, %s mode, inline %zu bytes out, %zu in\n",
		 state_names[ep->state], ep->mode == RPR_MODE_RPC ? "rpc" : "wrap",
		 ep->send_inline, ep->recv_inline);
	text_add(&text,
		 "Calls: %" PRIu32 " of %" PRIu32 " outstanding, %" PRIu32
		 " granted; the peer's: %" PRIu32 " of %" PRIu32 "\n",
		 ep->outstanding, ep->calls_max, ep->credit, ep->serving, ep->grant);
	text_counters(&text, ep);
	text_calls(&text, ep);
	return text.len;
}
