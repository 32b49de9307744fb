/* SPDX-License-Identifier: BSD-2-Clause */
/* A row from begin to end, and connections. */
#include <stdlib.h>
#include <string.h>
#include <cairn/compat.h>
#include "row.h"

struct row_world w;

static struct memory {
	struct memory *next;
	_Alignas(16) uint8_t bytes[];
} * memories;

/* What a peer of this provider puts behind the bytes of RFC 8797: its mode is rpc. */
static const uint8_t marker[4] = {'C', 'R', 'P', 1};

static void usual(struct row_setup *set)
{
	memset(set, 0, sizeof(*set));
	set->end.calls = 8;
	set->end.grant = 8;
	set->end.copy = 65536;
	set->end.reply_size = 0;
	set->end.chunks = FI_CAIRN_RPC_CHUNKS_ANY;
	set->end.receives = 16;
	set->end.receive_size = 65536;
	set->priv.send_size = 4096;
	set->priv.recv_size = 4096;
	set->marker = true;
	set->credit = 8;
}

void *row_memory(size_t len)
{
	struct memory *memory = calloc(1, sizeof(*memory) + len);

	memory->next = memories;
	memories = memory;
	return memory->bytes;
}

static void free_memory(void)
{
	struct memory *next;

	for (; memories; memories = next) {
		next = memories->next;
		free(memories);
	}
}

static size_t private_data(uint8_t data[56])
{
	size_t len = RPR_PRIVATE_LEN;

	if (w.set.silent)
		return 0;
	if (w.set.len) {
		memcpy(data, w.set.data, w.set.len);
		return w.set.len;
	}
	rpr_private_pack(&w.set.priv, data);
	if (w.set.marker) {
		memcpy(data + len, marker, sizeof(marker));
		len += sizeof(marker);
	}
	return len;
}

static bool link_up(void)
{
	uint8_t data[56];
	const size_t len = private_data(data);

	if (w.connects) {
		end_connect(&w.end, &w.set.end, side_name(&w.raw.side), "");
		EXPECT_SOON(w.raw.side.request != NULL);
		if (w.raw.side.request)
			raw_accept(&w.raw, data, len);
	} else {
		raw_connect(&w.raw, side_name(&w.end.side), data, len);
		EXPECT_SOON(w.end.side.request != NULL);
		if (w.end.side.request)
			end_accept(&w.end, &w.set.end, "");
	}
	EXPECT_SOON(w.end.side.connected && w.raw.side.connected);
	return w.end.side.ep && w.raw.side.ep && !ct_failed();
}

static bool up(void)
{
	raw_open(&w.raw);
	end_open(&w.end);
	if (ct_failed())
		return false;
	if (w.connects)
		raw_listen(&w.raw);
	else
		end_listen(&w.end);
	return !ct_failed() && link_up();
}

void down(void)
{
	end_drop(&w.end);
	raw_drop(&w.raw);
}

bool reconnect(void)
{
	down();
	return link_up();
}

static void run_as(void (*row)(void), bool connects)
{
	memset(&w, 0, sizeof(w));
	w.connects = connects;
	usual(&w.set);
	CT_NOTE("the layer %s", connects ? "connects" : "listens");
	if (up())
		row();
	end_close(&w.end);
	raw_close(&w.raw);
	free_memory();
}

/* The software device keeps what it shares with other processes. */
bool ct_keeps_descriptors(void);
bool ct_keeps_descriptors(void)
{
	return true;
}

void row_run(void (*row)(void), int roles)
{
	if (roles & ROW_CONNECTS)
		run_as(row, true);
	if (roles & ROW_LISTENS && !ct_failed())
		run_as(row, false);
}

/* What the layer's private data says. */
static struct rpr_private layer_private(void)
{
	struct rpr_private priv;

	rpr_private_find(&priv, w.raw.side.private, w.raw.side.private_len, false);
	return priv;
}

static struct rpr_private raw_private(void)
{
	struct rpr_private priv;
	uint8_t data[56];

	rpr_private_find(&priv, data, private_data(data), false);
	return priv;
}

size_t layer_inline(void)
{
	return CRN_MIN(layer_private().send_size, raw_private().recv_size);
}

size_t raw_inline(void)
{
	return CRN_MIN(raw_private().send_size, layer_private().recv_size);
}
