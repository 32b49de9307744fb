/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "end.h"

/* Bytes of a transport header with one chunk, and more than enough. */
#define TRANSPORT 128u
#define PAGE 4096u

volatile sig_atomic_t png_stops;

/* Both ends say the same: what one sends inline is what the other receives. */
bool png_in_chunk(const struct png_end *end, size_t size)
{
	const size_t most = end->limits.send_inline < end->limits.recv_inline
				    ? end->limits.send_inline
				    : end->limits.recv_inline;

	return size > most - TRANSPORT - PNG_CALL_HEAD;
}

static size_t aligned(size_t len)
{
	return (len + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* A Call's data are in the receive, wherever they travelled; a Reply's only if inline. */
static size_t receive_room(const struct png_end *end)
{
	size_t room = 4 * PNG_CONTROL;

	if (end->serves)
		room = larger(room, PNG_CALL_HEAD + padded(end->plan.size));
	if (end->calls && !png_in_chunk(end, end->plan.reply_size))
		room = larger(room, PNG_REPLY_HEAD + padded(end->plan.reply_size));
	return room > PAGE / 2 ? aligned(room) : room;
}

static size_t result_room(const struct png_end *end)
{
	return end->calls && png_in_chunk(end, end->plan.reply_size)
		       ? aligned(end->plan.reply_size)
		       : 0;
}

static int make_memory(struct png_end *end)
{
	const uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
	const size_t calls = end->plan.depth + 1, result = result_room(end);
	const size_t data = aligned(larger(end->plan.size, end->plan.reply_size) + 4);
	const size_t len =
		data + aligned(end->receive_count * end->room) + calls * result;
	uint8_t *at;
	size_t i;
	int ret;

	end->memory = aligned_alloc(PAGE, len);
	end->receives = calloc(end->receive_count, sizeof(*end->receives));
	end->call = calloc(calls, sizeof(*end->call));
	end->spare = calloc(calls, sizeof(*end->spare));
	if (!end->memory || !end->receives || !end->call || !end->spare)
		return lnk_failed(&end->link, "memory", -FI_ENOMEM);
	memset(end->memory, 0, data);
	at = end->data = end->memory;
	at += data;
	for (i = 0; i < calls; i++, at += result)
		end->call[i] = (struct png_call){.answered = true, .into = at};
	for (i = 0; i < end->receive_count; i++, at += end->room)
		end->receives[i].bytes = at;
	ret = fi_mr_reg(end->link.domain, end->memory, len, access, 0, 0, 0, &end->mr,
			NULL);
	end->desc = ret ? NULL : fi_mr_desc(end->mr);
	return lnk_failed(&end->link, "fi_mr_reg", ret);
}

int png_receive(struct png_end *end, struct png_receive *receive)
{
	ssize_t ret;

	if (!receive->bytes)
		return 0;
	receive->received = (struct png_mark){.use = PNG_RECEIVED, .of = receive};
	ret = fi_recv(end->link.ep, receive->bytes, end->room, end->desc, 0,
		      &receive->received);
	return ret == -FI_ENOTCONN ? 0 : lnk_failed(&end->link, "fi_recv", ret);
}

/* RFC 4506: data inline have a pad; an item that leaves the message has none. */
ssize_t png_send(struct png_end *end, uint8_t *head, size_t head_len, size_t size,
		 struct png_mark *mark)
{
	const bool chunk = size && png_in_chunk(end, size);
	const struct iovec iov[] = {
		{.iov_base = head, .iov_len = head_len},
		{.iov_base = end->data, .iov_len = chunk ? size : padded(size)},
	};
	void *desc[] = {NULL, end->desc};
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = size ? 2 : 1,
		.context = mark,
		.data = 1 << 1,
	};

	return fi_sendmsg(end->link.ep, &msg,
			  FI_COMPLETION | (chunk ? FI_CAIRN_RPC_DDP : 0));
}

int png_end_prepare(struct png_end *end)
{
	uint32_t i;
	int ret;

	png_end_release(end);
	end->receive_count =
		end->plan.depth + 1 + (end->serves ? 2 * end->plan.depth + 1 : 0);
	end->room = receive_room(end);
	ret = make_memory(end);
	for (i = 0; i < end->plan.depth; i++)
		end->spare[end->spare_count++] = i;
	for (i = 0; !ret && i < end->receive_count; i++)
		ret = png_receive(end, &end->receives[i]);
	end->moved = lnk_now();
	return ret;
}

void png_end_release(struct png_end *end)
{
	if (end->mr)
		fi_close(&end->mr->fid);
	free(end->memory);
	free(end->receives);
	free(end->call);
	free(end->spare);
	end->mr = NULL;
	end->desc = NULL;
	end->memory = NULL;
	end->receives = NULL;
	end->call = NULL;
	end->spare = NULL;
	end->spare_count = end->receive_count = end->due = end->outstanding = 0;
}

struct ping_figures png_figures(const struct png_end *end)
{
	const struct png_histogram *times = &end->times;

	return (struct ping_figures){
		.count = times->count,
		.stalls = end->stalls,
		.elapsed = times->count ? end->last - end->first : 0,
		.least = times->least,
		.mean = png_mean(times),
		.p50 = png_percentile(times, 500),
		.p90 = png_percentile(times, 900),
		.p99 = png_percentile(times, 990),
		.p999 = png_percentile(times, 999),
		.most = times->most,
	};
}
