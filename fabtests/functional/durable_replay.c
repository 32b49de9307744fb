/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_OPT_CAIRN_REPLAY: durable messages, in the replay format, that lie in persistent
 * receive buffers until recovery has applied them. */
#include <stdlib.h>

#include <rdma/fi_ext_cairn.h>

#include "durable.h"

#define MESSAGES 24u
#define STRIDE 512u
#define FIRST 100u /* number of the first message */

static size_t length(unsigned int i)
{
	return 1 + i * 19 % (STRIDE - FI_CAIRN_REPLAY_HEADER);
}

/* The link is the first part of a case's struct durable. */
static struct durable *of(struct fct_link *l)
{
	return (struct durable *)l;
}

static int open_region(struct fct_link *l)
{
	struct fct_target mine;

	return fct_is_server() ? fct_durable_expose(of(l), &mine) : 0;
}

/* Before any receive is posted. */
static int set_option(struct fct_link *l, struct fct_conn *c)
{
	struct fid_mr *mr = of(l)->mr;

	if (!mr)
		return 0;
	FCT_CALL(fi_setopt(&c->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_REPLAY, &mr,
			   sizeof(mr)));
	FCT_ERR((int)fi_close(&mr->fid), -FI_EBUSY);
	return 0;
}

static int replay_ops(struct durable *d, struct fi_cairn_ops_replay **ops)
{
	FCT_CALL(fi_open_ops(&d->l.domain->fid, FI_CAIRN_REPLAY, 0, (void **)ops, NULL));
	FCT_TRUE((*ops)->size >= sizeof(**ops));
	return 0;
}

static int post_receives(struct durable *d)
{
	unsigned int i;

	FCT_ERR((int)fi_recv(d->l.c.ep, d->local.buf, STRIDE, d->local.desc, 0,
			     &d->ctx[0]),
		-FI_EINVAL);
	for (i = 0; i < MESSAGES; i++)
		FCT_CALL(fi_recv(d->l.c.ep, d->mem + (size_t)i * STRIDE, STRIDE,
				 fi_mr_desc(d->mr), 0, &d->ctx[i]));
	return 0;
}

static int send_replay_format(struct durable *d, unsigned int i)
{
	uint8_t *buf = d->local.buf + (size_t)i * STRIDE;
	struct fct_op op = fct_durable_op(d, FCT_SENDMSG, (size_t)i * STRIDE,
					  FI_CAIRN_REPLAY_HEADER + length(i),
					  FI_COMMIT_COMPLETE | FI_COMPLETION);
	struct fi_cairn_ops_replay *ops;

	FCT_DO(replay_ops(d, &ops));
	fct_fill(buf + FI_CAIRN_REPLAY_HEADER, length(i), i);
	FCT_CALL(ops->write_header(buf, buf + FI_CAIRN_REPLAY_HEADER, length(i),
				   FIRST + i));
	op.ctx = &d->ctx[i];
	FCT_POST(d->l.txcq, fct_op_post(d->l.c.ep, &op));
	return 0;
}

/* All outstanding at once; they end in their order. */
static int send_all(struct durable *d)
{
	struct fi_cq_data_entry e;
	unsigned int posted = 0, ended;

	for (ended = 0; ended < MESSAGES; ended++) {
		while (posted < MESSAGES && posted < ended + 8)
			FCT_DO(send_replay_format(d, posted++));
		FCT_DO(fct_comp(d->l.txcq, &d->ctx[ended], FI_SEND | FI_MSG, &e,
				"a durable message"));
	}
	return 0;
}

struct applied {
	unsigned int count;
};

static int apply(void *ctx, const struct fi_cairn_replay_message *message)
{
	struct applied *applied = ctx;
	const unsigned int i = applied->count++;

	FCT_EQ(message->number, FIRST + i);
	FCT_EQ(message->len, length(i));
	FCT_DATA(message->payload, message->len, i);
	return 0;
}

/* first: of the messages from it on. */
static int recover(struct durable *d, unsigned int first)
{
	struct applied applied = {.count = first};
	struct fi_cairn_ops_replay *ops;

	FCT_DO(replay_ops(d, &ops));
	FCT_EQ(ops->replay(d->mem, STRIDE, MESSAGES, FIRST + first, apply, &applied),
	       MESSAGES - first);
	FCT_EQ(applied.count, MESSAGES);
	return 0;
}

static int serve(struct durable *d)
{
	struct fi_cq_data_entry e;
	unsigned int i;

	/* Some were read, and applied; recovery does not depend on it. */
	for (i = 0; i < MESSAGES / 2; i++) {
		FCT_DO(fct_comp(d->l.rxcq, &d->ctx[i], FI_RECV | FI_MSG, &e,
				"a message"));
		FCT_EQ(e.len, FI_CAIRN_REPLAY_HEADER + length(i));
	}
	FCT_DO(fct_barrier("sent"));
	FCT_DO(recover(d, 0));
	FCT_DO(recover(d, MESSAGES / 2));
	return 0;
}

/* The endpoint's receives are in the region. */
static void end_replay(struct durable *d)
{
	if (d->l.c.ep)
		fct_conn_close(&d->l, &d->l.c);
	fct_durable_end(d);
}

FCT_CASE(replay, "messages in receive buffers that recovery looks into")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(end_replay) struct durable d = {0};

	if (!getenv("FI_CAIRN_PMEM"))
		return fct_skip("FI_CAIRN_PMEM names no persistent memory");
	s.rx_size = MESSAGES;
	s.tx_size = 32;
	s.open = open_region;
	s.bind = set_option;
	FCT_DO(fct_link_open(&d.l, &s));
	FCT_DO(fct_mem_alloc(&d.l, &d.local, (size_t)MESSAGES * STRIDE,
			     FI_SEND | FI_RECV));
	FCT_DO(fct_conn_open(&d.l, &d.l.c));
	if (fct_is_server())
		FCT_DO(post_receives(&d));
	FCT_DO(fct_conn_finish(&d.l, &d.l.c));
	if (fct_is_client()) {
		FCT_DO(send_all(&d));
		FCT_DO(fct_barrier("sent"));
	} else {
		FCT_DO(serve(&d));
	}
	return fct_barrier("recovered");
}
