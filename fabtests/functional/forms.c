/* SPDX-License-Identifier: BSD-2-Clause */
#include "forms.h"

#define MOST ((1u << 20) + 3) /* bytes of an operation */
#define GUARD 64u	      /* in front of the data, and behind them */
#define GUARD_BYTE 0xA5
#define LONGER 4096u /* the receive than the message, every other time */

struct forms {
	struct fct_link l;
	const struct form *f;
	struct fct_mem m, exposed, flag;
	struct fct_target peer;
	struct fct_ctx ctx, flag_ctx;
	uint64_t inject, most; /* bytes that both sides can send */
	uint64_t mask;	       /* of remote CQ data */
};

static bool is_message(const struct forms *x)
{
	return x->f->form < FCT_RECV;
}

static bool reads(const struct forms *x)
{
	return x->f->form >= FCT_READ;
}

static bool has_data(const struct forms *x)
{
	return fct_forms[x->f->form].data || (x->f->flags & FI_REMOTE_CQ_DATA);
}

/* The buffer is free once the call has returned. */
static bool injects(const struct forms *x)
{
	return !fct_forms[x->f->form].done || (x->f->flags & FI_INJECT);
}

static uint64_t data_of(const struct forms *x, uint64_t seed)
{
	return (0x8877665544332211u + seed) & x->mask;
}

static int whole(const uint8_t *buf, size_t len, size_t room, uint64_t seed)
{
	FCT_DATA(buf + GUARD, len, seed);
	FCT_TRUE(fct_all(buf, GUARD, GUARD_BYTE));
	FCT_TRUE(fct_all(buf + GUARD + len, room + GUARD - len, GUARD_BYTE));
	return 0;
}

/* A message behind reads and writes: FI_ORDER_SAW. */
static struct fct_op flag_op(struct forms *x, enum fct_form form)
{
	return (struct fct_op){.form = form,
			       .buf = x->flag.buf + (form == FCT_SEND ? 8 : 0),
			       .len = 1,
			       .desc = x->flag.desc,
			       .ctx = &x->flag_ctx};
}

static int initiate(struct forms *x, size_t len, uint64_t seed)
{
	struct fct_op flag = flag_op(x, FCT_SEND);
	const struct fct_op op = {.form = x->f->form,
				  .buf = x->m.buf + GUARD,
				  .len = len,
				  .desc = x->m.desc,
				  .pieces = x->l.c.info->tx_attr->iov_limit,
				  .addr = x->peer.addr + GUARD,
				  .key = x->peer.key,
				  .data = data_of(x, seed),
				  .flags = x->f->flags,
				  .ctx = &x->ctx};

	memset(x->m.buf, GUARD_BYTE, len + 2 * GUARD);
	if (!reads(x))
		fct_fill(op.buf, len, seed);
	FCT_DO(fct_barrier("target ready"));
	if (injects(x)) {
		FCT_POST(x->l.txcq, fct_op_post(x->l.c.ep, &op));
		memset(op.buf, 0xEE, len);
		if (fct_forms[op.form].done) {
			struct fi_cq_data_entry e;

			FCT_DO(fct_comp(x->l.txcq, op.ctx, fct_forms[op.form].done, &e,
					"what was injected"));
		}
	} else {
		FCT_DO(fct_op_do(x->l.c.ep, x->l.txcq, &op));
	}
	if (reads(x))
		FCT_DO(whole(x->m.buf, len, len, seed));
	if (!is_message(x))
		FCT_DO(fct_op_do(x->l.c.ep, x->l.txcq, &flag));
	FCT_DO(fct_barrier("checked"));
	return fct_cq_quiet(x->l.txcq, "after the operation");
}

static int receive(struct forms *x, size_t len, size_t room, uint64_t seed)
{
	const uint64_t flags = FI_RECV | FI_MSG | (has_data(x) ? FI_REMOTE_CQ_DATA : 0);
	const struct fct_op op = {.form = x->f->recv ? x->f->recv : FCT_RECV,
				  .buf = x->m.buf + GUARD,
				  .len = room,
				  .desc = x->m.desc,
				  .pieces = x->l.c.info->rx_attr->iov_limit,
				  .ctx = &x->ctx};
	struct fi_cq_data_entry e;

	memset(x->m.buf, GUARD_BYTE, room + 2 * GUARD);
	FCT_POST(x->l.rxcq, fct_op_post(x->l.c.ep, &op));
	FCT_DO(fct_barrier("target ready"));
	FCT_DO(fct_comp(x->l.rxcq, &x->ctx, flags, &e, "the receive"));
	FCT_EQ(e.len, len);
	if (has_data(x))
		FCT_EQ(e.data, data_of(x, seed));
	FCT_DO(whole(x->m.buf, len, room, seed));
	return fct_barrier("checked");
}

static int be_target(struct forms *x, size_t len, uint64_t seed)
{
	struct fct_op flag = flag_op(x, FCT_RECV);
	struct fi_cq_data_entry e;

	memset(x->exposed.buf, GUARD_BYTE, len + 2 * GUARD);
	if (reads(x))
		fct_fill(x->exposed.buf + GUARD, len, seed);
	FCT_POST(x->l.rxcq, fct_op_post(x->l.c.ep, &flag));
	FCT_DO(fct_barrier("target ready"));
	FCT_DO(fct_comp(x->l.rxcq, flag.ctx, FI_RECV | FI_MSG, &e,
			"the message behind the operation"));
	FCT_DO(whole(x->exposed.buf, len, len, seed));
	FCT_DO(fct_barrier("checked"));
	return fct_cq_quiet(x->l.rxcq, "at the target, after the operation");
}

static int one_size(struct forms *x, size_t len, uint64_t *seed)
{
	int dir;

	for (dir = 0; dir < 2; dir++, ++*seed) {
		fct_note("%zu bytes, by the %s", len, dir ? "server" : "client");
		if ((dir == 0) == fct_is_client())
			FCT_DO(initiate(x, len, *seed));
		else if (is_message(x))
			FCT_DO(receive(x, len, len + (dir ? LONGER : 0), *seed));
		else
			FCT_DO(be_target(x, len, *seed));
	}
	return 0;
}

/* What both sides can do. */
static int agree(struct forms *x)
{
	const struct fi_info *i = x->l.c.info;
	const uint64_t mine[] = {i->tx_attr->inject_size, i->ep_attr->max_msg_size,
				 x->l.info->domain_attr->cq_data_size};
	uint64_t least[3];
	int n;

	FCT_DO(fct_exchange("limits", mine, least, sizeof(mine)));
	for (n = 0; n < 3; n++)
		least[n] = mine[n] < least[n] ? mine[n] : least[n];
	x->inject = least[0];
	x->most = least[1] < MOST ? least[1] : MOST;
	x->mask = least[2] >= 8 ? UINT64_MAX : (1ull << (8 * least[2])) - 1;
	if (has_data(x) && !x->mask)
		return fct_skip("cq_data_size is 0");
	if (injects(x) && !x->inject)
		return fct_skip("inject_size is 0");
	if (injects(x) && x->most > x->inject)
		x->most = x->inject;
	return 0;
}

static int up(struct forms *x)
{
	struct fct_setup s = {.caps = FI_MSG, .cq_data_size = has_data(x) ? 4 : 0};

	if (!is_message(x)) {
		s.caps |= FI_RMA;
		s.msg_order = FI_ORDER_SAW | FI_ORDER_SAS;
	}
	FCT_DO(fct_link_up(&x->l, &s));
	FCT_DO(agree(x));
	FCT_DO(fct_mem_alloc(&x->l, &x->m, MOST + LONGER + 2 * GUARD,
			     is_message(x) ? FI_SEND | FI_RECV : FI_READ | FI_WRITE));
	if (is_message(x))
		return 0;
	FCT_DO(fct_mem_alloc(&x->l, &x->flag, 16, FI_SEND | FI_RECV));
	return fct_mem_expose(&x->l, &x->exposed, MOST + 2 * GUARD,
			      FI_REMOTE_READ | FI_REMOTE_WRITE, &x->peer);
}

int fct_form_case(const struct form *f)
{
	static const size_t fixed[] = {0, 1, 7, 64, 511, 4095, 4096, 4097, 65536, MOST};
	FCT_AUTO(fct_link_end) struct forms x = {.f = f};
	uint64_t seed = 1;
	size_t i;

	FCT_DO(up(&x));
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i] <= x.most)
			FCT_DO(one_size(&x, fixed[i], &seed));
	/* About inject_size. */
	for (i = 0; i < 3; i++)
		if (x.inject && x.inject - 1 + i <= x.most)
			FCT_DO(one_size(&x, x.inject - 1 + i, &seed));
	return 0;
}
