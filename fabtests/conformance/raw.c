/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects, queues and messages of a raw peer. */
#include <stdlib.h>
#include <string.h>
#include <cairn/compat.h>
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
	(void)fi_recv(raw->ep, b->recv[i], RAW_SIZE, fi_mr_desc(raw->mr), 0,
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
		ret = fi_cq_read(raw->cq, &entry, 1);
		if (ret == 1)
			on_completion(raw, entry.op_context, entry.len, 0);
		else if (ret != -FI_EAVAIL || fi_cq_readerr(raw->cq, &wrong, 0) != 1)
			return;
		else
			on_completion(raw, wrong.op_context, 0, wrong.err);
	}
}

static void keep_private(struct raw *raw, const struct fi_eq_cm_entry *entry, ssize_t ret)
{
	raw->private_len = (size_t)ret - sizeof(*entry);
	memcpy(raw->private, entry->data, raw->private_len);
}

static void poll_eq(struct raw *raw)
{
	struct {
		struct fi_eq_cm_entry entry;
		char data[sizeof(raw->private)];
	} event;
	struct fi_eq_err_entry wrong = {0};
	uint32_t kind;
	ssize_t ret = fi_eq_read(raw->eq, &kind, &event, sizeof(event), 0);

	if (ret == -FI_EAVAIL) {
		if (fi_eq_readerr(raw->eq, &wrong, 0) == (ssize_t)sizeof(wrong) &&
		    raw->ep && wrong.fid == &raw->ep->fid)
			raw->refused = true;
		return;
	}
	if (ret < (ssize_t)sizeof(event.entry))
		return;
	if (kind == FI_CONNREQ) {
		raw->request = event.entry.info;
		keep_private(raw, &event.entry, ret);
	} else if (!raw->ep || event.entry.fid != &raw->ep->fid) {
		return;
	} else if (kind == FI_CONNECTED) {
		raw->connected = true;
		if (!raw->private_len)
			keep_private(raw, &event.entry, ret);
	} else if (kind == FI_SHUTDOWN) {
		raw->dead = true;
	}
}

static void poll_raw(void *arg)
{
	struct raw *raw = arg;

	poll_cq(raw);
	poll_eq(raw);
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
	struct fi_info *hints = lower_hints(lower_name(), FI_MSG | FI_RMA);
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_MSG,
				     .wait_obj = FI_WAIT_NONE};

	memset(raw, 0, sizeof(*raw));
	raw->last = &raw->first;
	CT_ASSERT_EQ(fi_getinfo(LOWER_API, lower_address(), NULL, FI_SOURCE, hints,
				&raw->info),
		     0);
	fi_freeinfo(hints);
	cq_attr.size = 2 * RAW_RECVS + RAW_SENDS;
	CT_ASSERT_EQ(fi_fabric(raw->info->fabric_attr, &raw->fabric, NULL), 0);
	CT_ASSERT_EQ(fi_domain(raw->fabric, raw->info, &raw->domain, NULL), 0);
	CT_ASSERT_EQ(fi_eq_open(raw->fabric, &eq_attr, &raw->eq, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(raw->domain, &cq_attr, &raw->cq, NULL), 0);
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
	if (raw->ep)
		CT_EXPECT_EQ(fi_close(&raw->ep->fid), 0);
	raw->ep = NULL;
	if (raw->cq)
		poll_cq(raw);
	if (raw->buffers)
		raw_buffers_reset(raw);
	if (raw->request)
		fi_freeinfo(raw->request);
	raw->request = NULL;
	raw->connected = raw->refused = raw->dead = false;
	raw->private_len = raw->arrived = raw->failed = 0;
	forget_messages(raw);
}

void raw_close(struct raw *raw)
{
	raw_drop(raw);
	pump_remove(raw);
	raw_buffers_close(raw);
	if (raw->pep)
		CT_EXPECT_EQ(fi_close(&raw->pep->fid), 0);
	if (raw->cq)
		CT_EXPECT_EQ(fi_close(&raw->cq->fid), 0);
	if (raw->eq)
		CT_EXPECT_EQ(fi_close(&raw->eq->fid), 0);
	if (raw->domain)
		CT_EXPECT_EQ(fi_close(&raw->domain->fid), 0);
	if (raw->fabric)
		CT_EXPECT_EQ(fi_close(&raw->fabric->fid), 0);
	if (raw->info)
		fi_freeinfo(raw->info);
	memset(raw, 0, sizeof(*raw));
}

void raw_listen(struct raw *raw)
{
	CT_ASSERT_EQ(fi_passive_ep(raw->fabric, raw->info, &raw->pep, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(raw->pep, &raw->eq->fid, 0), 0);
	exact(&raw->pep->fid);
	CT_ASSERT_EQ(fi_listen(raw->pep), 0);
}

const void *raw_name(struct raw *raw)
{
	static char name[256];
	size_t len = sizeof(name);

	CT_EXPECT_EQ(fi_getname(&raw->pep->fid, name, &len), 0);
	return name;
}

/* Receives are there before the connection is. */
static void open_ep(struct raw *raw, struct fi_info *info)
{
	CT_ASSERT_EQ(fi_endpoint(raw->domain, info, &raw->ep, NULL), 0);
	CT_ASSERT_EQ(fi_ep_bind(raw->ep, &raw->eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_ep_bind(raw->ep, &raw->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	exact(&raw->ep->fid);
	CT_ASSERT_EQ(fi_enable(raw->ep), 0);
	for (unsigned int i = 0; i < raw->buffers->recvs; i++)
		post(raw, i);
}

void raw_connect(struct raw *raw, const void *addr, const void *data, size_t len)
{
	struct fi_info *info = lower_info_to(raw->info, addr);

	open_ep(raw, info);
	fi_freeinfo(info);
	if (raw->ep)
		CT_EXPECT_EQ(fi_connect(raw->ep, addr, data, len), 0);
}

void raw_accept(struct raw *raw, const void *data, size_t len)
{
	open_ep(raw, raw->request);
	if (raw->ep)
		CT_EXPECT_EQ(fi_accept(raw->ep, data, len), 0);
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

	CT_ASSERT_NE(raw->ep, NULL);
	CT_ASSERT_LE(len, RAW_SIZE);
	ASSERT_SOON((op = free_send(raw)));
	memcpy(b->send[op->slot], bytes, len);
	op->busy = true;
	op->era = b->era;
	ASSERT_SOON((ret = fi_send(raw->ep, b->send[op->slot], len, fi_mr_desc(raw->mr),
				   0, op)) != -FI_EAGAIN);
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
