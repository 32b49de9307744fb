/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects, queues and messages of a raw peer. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_ext_cairn.h>
#include "lower.h"
#include "pump.h"
#include "raw_buffers.h"

static void on_received(struct raw *raw, const uint8_t *bytes, size_t len)
{
	struct raw_message *message = calloc(1, sizeof(*message) + len);
	size_t used = 0;

	memcpy(message->bytes, bytes, len);
	message->len = len;
	message->bad = rpr_header_parse(&message->header, message->bytes, len, &used);
	if (message->bad == RPR_OK) {
		message->payload = message->bytes + used;
		message->payload_len = len - used;
	}
	*raw->last = message;
	raw->last = &message->next;
	raw->arrived++;
}

static void post(struct raw *raw, unsigned int i)
{
	struct raw_buffers *b = raw->buffers;

	/* A dead endpoint takes no more. */
	(void)fi_recv(raw->side.ep, b->recv[i], RAW_SIZE, fi_mr_desc(raw->mr), 0,
		      &b->recv_op[i]);
}

static void on_completion(struct raw *raw, void *context, size_t len, int err)
{
	struct raw_op *op = context;
	struct raw_buffers *b = raw->buffers;

	switch (op->kind) {
	case RAW_RECV:
		if (op->era != b->era)
			break;
		if (err) {
			raw->dead = true;
			break;
		}
		on_received(raw, b->recv[op->slot], len);
		post(raw, op->slot);
		break;
	case RAW_SEND:
		op->busy = false;
		raw->failed += err && op->era == b->era;
		break;
	case RAW_RMA:
		raw->rma_done = true;
		raw->rma_err = err;
		break;
	}
}

static void poll_cq(struct raw *raw)
{
	struct fi_cq_err_entry wrong = {0};
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_read(raw->side.cq, &entry, 1);
		if (ret == 1)
			on_completion(raw, entry.op_context, entry.len, 0);
		else if (ret != -FI_EAVAIL || fi_cq_readerr(raw->side.cq, &wrong, 0) != 1)
			return;
		else
			on_completion(raw, wrong.op_context, 0, wrong.err);
	}
}

static void poll_raw(void *arg)
{
	struct raw *raw = arg;

	poll_cq(raw);
	side_poll_eq(&raw->side);
	raw->dead |= raw->side.shutdowns > 0;
}

/* The connection data is what is on the wire, without a byte of the provider's. */
static void exact(struct fid *fid)
{
	int on = 1;

	if (!strcmp(lower_name(), "pverbs"))
		CT_EXPECT_EQ(fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA,
				       &on, sizeof(on)),
			     0);
}

void raw_open(struct raw *raw)
{
	memset(raw, 0, sizeof(*raw));
	raw->last = &raw->first;
	side_open(&raw->side, lower_hints(lower_name(), FI_MSG | FI_RMA));
	CT_OR_RETURN(raw->side.domain);
	side_open_queues(&raw->side, FI_CQ_FORMAT_MSG, 2 * RAW_RECVS + RAW_SENDS);
	raw_buffers_open(raw);
	pump_add(poll_raw, raw);
}

static void forget_messages(struct raw *raw)
{
	struct raw_message *next;

	for (; raw->first; raw->first = next) {
		next = raw->first->next;
		free(raw->first);
	}
	raw->last = &raw->first;
	free(raw->taken);
	raw->taken = NULL;
}

void raw_drop(struct raw *raw)
{
	side_drop(&raw->side);
	if (raw->side.cq)
		poll_cq(raw);
	if (raw->buffers)
		raw_buffers_reset(raw);
	raw->dead = false;
	raw->arrived = raw->failed = 0;
	forget_messages(raw);
}

void raw_close(struct raw *raw)
{
	raw_drop(raw);
	pump_remove(raw);
	raw_buffers_close(raw);
	side_close(&raw->side);
	memset(raw, 0, sizeof(*raw));
}

void raw_listen(struct raw *raw)
{
	side_open_pep(&raw->side);
	CT_OR_RETURN(raw->side.pep);
	exact(&raw->side.pep->fid);
	CT_ASSERT_EQ(fi_listen(raw->side.pep), 0);
}

/* Receives are there before the connection is. */
static void open_ep(struct raw *raw, struct fi_info *info)
{
	side_open_ep(&raw->side, info);
	CT_OR_RETURN(raw->side.ep);
	exact(&raw->side.ep->fid);
	CT_ASSERT_EQ(fi_enable(raw->side.ep), 0);
	for (unsigned int i = 0; i < raw->buffers->recvs; i++)
		post(raw, i);
}

void raw_connect(struct raw *raw, const void *addr, const void *data, size_t len)
{
	struct fi_info *info = lower_info_to(raw->side.info, addr);

	open_ep(raw, info);
	fi_freeinfo(info);
	if (raw->side.ep)
		CT_EXPECT_EQ(fi_connect(raw->side.ep, addr, data, len), 0);
}

void raw_accept(struct raw *raw, const void *data, size_t len)
{
	open_ep(raw, raw->side.request);
	if (raw->side.ep)
		CT_EXPECT_EQ(fi_accept(raw->side.ep, data, len), 0);
}

/* NULL: none came free. */
static struct raw_op *free_send(struct raw *raw)
{
	struct raw_buffers *b = raw->buffers;

	for (unsigned int i = 0; i < RAW_SENDS; i++) {
		if (!b->send_op[i].busy)
			return &b->send_op[i];
	}
	return NULL;
}

void raw_send(struct raw *raw, const void *bytes, size_t len)
{
	struct raw_buffers *b = raw->buffers;
	struct raw_op *op;
	ssize_t ret;

	CT_ASSERT_NE(raw->side.ep, NULL);
	CT_ASSERT_LE(len, RAW_SIZE);
	ASSERT_SOON((op = free_send(raw)));
	memcpy(b->send[op->slot], bytes, len);
	op->busy = true;
	op->era = b->era;
	ASSERT_SOON((ret = fi_send(raw->side.ep, b->send[op->slot], len,
				   fi_mr_desc(raw->mr), 0, op)) != -FI_EAGAIN);
	CT_EXPECT_EQ(ret, 0);
	op->busy = !ret;
}

void raw_say(struct raw *raw, const struct rpr_header *header, const void *payload,
	     size_t len)
{
	uint8_t bytes[RAW_SIZE];
	const ssize_t used = rpr_header_pack(header, bytes, sizeof(bytes));

	CT_ASSERT_GT(used, 0);
	CT_ASSERT_LE(len, sizeof(bytes) - (size_t)used);
	if (len)
		memcpy(bytes + used, payload, len);
	raw_send(raw, bytes, (size_t)used + len);
}

const struct raw_message *raw_take(struct raw *raw)
{
	free(raw->taken);
	raw->taken = NULL;
	EXPECT_SOON(raw->first != NULL);
	if (!raw->first) {
		/* A message that is none, so that the test may read on. */
		raw->taken = calloc(1, sizeof(*raw->taken) + 64);
		raw->taken->payload = raw->taken->bytes;
		raw->taken->bad = RPR_BAD_SHORT;
		return raw->taken;
	}
	raw->taken = raw->first;
	raw->first = raw->taken->next;
	if (!raw->first)
		raw->last = &raw->first;
	return raw->taken;
}
