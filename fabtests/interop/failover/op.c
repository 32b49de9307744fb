/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations: what they are, and what has to be true when they end. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "failover.h"

/* --- Posting --- */

static uint64_t draw(struct fvo_conn *conn)
{
	uint64_t z = conn->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static struct fvo_op *free_op(struct fvo_conn *conn)
{
	uint32_t i;

	for (i = 0; i < FVO_WINDOW; i++)
		if (!conn->op[i].busy)
			return &conn->op[i];
	return NULL;
}

static void choose(struct fvo_op *op)
{
	static const uint64_t lens[] = {
		sizeof(struct fvo_head), 1000, 8192, 9000, 65536, FVO_LEN};
	struct fvo_conn *conn = op->conn;
	const uint64_t random = draw(conn);

	op->kind = (enum fvo_kind)(random % FVO_KINDS);
	op->head = (struct fvo_head){.conn = conn->index, .gen = conn->gen};
	op->head.len = lens[(random >> 8) % (conn->client->options->small ? 2 : 6)];
	if (op->kind == FVO_INJECT && op->head.len > 1000)
		op->head.len = 1000;
	op->head.number = op->kind == FVO_WRITE ? conn->writes : conn->messages;
	if (op->kind == FVO_READ)
		memset(op->buf, 0, op->head.len);
	else
		fvo_fill(op->buf, &op->head);
}

/* Where a write goes in the target's ledger. */
static size_t place(const struct fvo_op *op)
{
	const struct fvo_conn *conn = op->conn;

	return offsetof(struct fvo_ledger, written) +
	       (((size_t)conn->index * FVO_AREAS + conn->gen % FVO_AREAS) * FVO_WINDOW +
		(size_t)(op - conn->op)) *
		       FVO_LEN;
}

static const uint8_t *written(const struct fvo_op *op)
{
	return (const uint8_t *)op->conn->client->ledger + place(op);
}

/* Nobody but the next write may change what the last one has written. */
static void look_at_standing(struct fvo_op *op)
{
	if (op->standing.len && op->standing.gen == op->head.gen &&
	    !fvo_is(written(op), &op->standing))
		fvo_bad(op->conn, "what a write has written does not stand there");
	op->standing.len = 0;
}

static ssize_t post_message(struct fvo_op *op)
{
	static const uint64_t levels[FVO_KINDS] = {
		[FVO_BUFFERED] = FI_INJECT_COMPLETE,
		[FVO_SENT] = FI_TRANSMIT_COMPLETE,
		[FVO_DELIVERED] = FI_DELIVERY_COMPLETE,
	};
	struct iovec iov = {op->buf, op->head.len};
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &op->conn->client->desc,
		.iov_count = 1,
		.context = &op->context,
	};

	return op->kind == FVO_INJECT
		       ? fi_inject(op->conn->ep, op->buf, op->head.len, 0)
		       : fi_sendmsg(op->conn->ep, &msg, FI_COMPLETION | levels[op->kind]);
}

static ssize_t post_op(struct fvo_op *op)
{
	const struct fvo_conn *conn = op->conn;
	void *desc = conn->client->desc;

	switch (op->kind) {
	case FVO_WRITE:
		return fi_write(conn->ep, op->buf, op->head.len, desc, 0,
				conn->region.addr + place(op), conn->region.key,
				&op->context);
	case FVO_READ:
		return fi_read(conn->ep, op->buf, op->head.len, desc, 0,
			       conn->region.addr + offsetof(struct fvo_ledger, pattern),
			       conn->region.key, &op->context);
	default:
		return post_message(op);
	}
}

bool fvo_post(struct fvo_conn *conn)
{
	struct fvo_op *op = free_op(conn);
	const uint64_t before = conn->random;
	ssize_t ret;

	if (!op)
		return false;
	choose(op);
	if (op->kind == FVO_WRITE)
		look_at_standing(op);
	ret = post_op(op);
	if (ret == -FI_EAGAIN) {
		conn->random = before;
		return false;
	}
	if (ret) {
		fvo_tally("posting", (int)-ret, NULL, 0);
		fvo_conn_ends(conn);
		return false;
	}
	if (op->kind == FVO_WRITE)
		conn->writes++;
	else if (op->kind != FVO_READ)
		conn->messages++;
	op->busy = op->kind != FVO_INJECT;
	conn->busy += op->busy;
	op->turn = conn->turns;
	conn->turns += op->busy;
	op->since = fvo_now();
	return true;
}

/* --- Their ends --- */

static void went_well(struct fvo_op *op)
{
	struct fvo_conn *conn = op->conn;
	struct fvo_ledger *ledger = conn->client->ledger;
	const uint64_t now = fvo_now();

	if (op->kind == FVO_WRITE && !fvo_is(written(op), &op->head))
		fvo_bad(conn, "a write has completed, and is not there");
	if (op->kind == FVO_WRITE)
		op->standing = op->head;
	if (op->kind == FVO_READ && memcmp(op->buf, ledger->pattern, op->head.len))
		fvo_bad(conn, "a read has brought something else");
	if (op->kind == FVO_DELIVERED && op->head.number >= conn->delivered)
		conn->delivered = op->head.number + 1;
	if (conn->recovers)
		fvo_tally_gap(now - conn->well);
	conn->recovers = false;
	conn->well = now;
	ledger->ok++;
}

/* NULL: it was not to come. */
static struct fvo_op *ended(void *context)
{
	struct fvo_op *op = context;

	if (!op->busy) {
		fvo_bad(op->conn, "an operation has completed twice");
		return NULL;
	}
	if (op->turn != op->conn->complete)
		fvo_bad(op->conn, "an operation has completed before others, or again");
	op->conn->complete = op->turn + 1;
	op->busy = false;
	op->conn->busy--;
	return op;
}

static void went_wrong(struct fvo_client *client)
{
	uint8_t data[256];
	struct fi_cq_err_entry err = {.err_data = data, .err_data_size = sizeof(data)};
	struct fvo_op *op;

	if (fi_cq_readerr(client->link.cq, &err, 0) != 1)
		return;
	fvo_tally("operations", err.err, err.err_data, err.err_data_size);
	client->ledger->failed++;
	op = ended(err.op_context);
	if (op)
		fvo_conn_ends(op->conn);
}

bool fvo_complete(struct fvo_client *client)
{
	struct fi_cq_data_entry entry;
	struct fvo_op *op;
	ssize_t got = fi_cq_read(client->link.cq, &entry, 1);

	if (got == -FI_EAVAIL) {
		went_wrong(client);
		return true;
	}
	if (got != 1)
		return false;
	op = ended(entry.op_context);
	if (op)
		went_well(op);
	return true;
}
