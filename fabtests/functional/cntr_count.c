/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations that advance a counter, without any completion being read. */
#include "cntr.h"

static int messages(struct fct *t, bool inject)
{
	struct fct_setup setup = fct_cntr_setup();
	struct cntr_side s = {.l.t = t};
	unsigned int i, count;
	uint64_t limits[2], theirs[2];
	int ret;

	FCT_DO(fct_cntr_up(&s, t, &setup));
	limits[0] = s.l.c.info->rx_attr->size;
	limits[1] = s.l.c.info->tx_attr->inject_size;
	FCT_DO(fct_exchange(t, "limits", limits, theirs, sizeof(limits)));
	count = (unsigned int)(theirs[0] < CNTR_COUNT ? theirs[0] : CNTR_COUNT);
	if (limits[0] < count)
		count = (unsigned int)limits[0];
	if (inject && (!limits[1] || !theirs[1])) {
		ret = fct_skip(t, "inject_size is 0");
		goto out;
	}
	FCT_DO(fct_cntr_post_recvs(&s, count));
	for (i = 0; fct_is_client(t) && i < count; i++) {
		if (inject)
			FCT_POST(t, s.l.txcq, fi_inject(s.l.c.ep, s.local.buf, 1, 0));
		else
			FCT_DO(fct_cntr_post_send(&s, i));
	}
	FCT_DO(fct_cntr_reaches(&s, fct_is_client(t) ? s.tx : s.rx, count,
				"all messages"));
	FCT_DO(fct_barrier(t, "counted"));
	FCT_EQ(t, fi_cntr_read(fct_is_client(t) ? s.rx : s.tx), 0);
	ret = fct_cq_quiet(t, s.l.txcq, "after messages without completion");
out:
	return fct_link_down(&s.l, ret);
}

int fct_cntr_messages(struct fct *t)
{
	return messages(t, false);
}

int fct_cntr_injects(struct fct *t)
{
	return messages(t, true);
}

static int transfer(struct cntr_side *s, unsigned int i, bool read)
{
	const size_t at = (size_t)i * CNTR_LEN;
	struct fct *t = s->l.t;
	int ret;

	if (read)
		FCT_POST(t, s->l.txcq,
			 fi_read(s->l.c.ep, s->local.buf + at, CNTR_LEN, s->local.desc, 0,
				 s->peer.addr + at, s->peer.key, &s->ctx[i]));
	else if (i % 4 == 3 && s->l.c.info->tx_attr->inject_size)
		FCT_POST(t, s->l.txcq,
			 fi_inject_write(s->l.c.ep, s->local.buf + at, 1, 0,
					 s->peer.addr + at, s->peer.key));
	else
		FCT_POST(t, s->l.txcq,
			 fi_write(s->l.c.ep, s->local.buf + at, CNTR_LEN, s->local.desc,
				  0, s->peer.addr + at, s->peer.key, &s->ctx[i]));
out:
	return ret;
}

static int transfers(struct fct *t, bool read)
{
	struct fct_setup setup = fct_cntr_setup();
	struct cntr_side s = {.l.t = t};
	unsigned int i;
	int ret;

	FCT_DO(fct_cntr_up(&s, t, &setup));
	fct_fill(s.exposed.buf, s.exposed.len, 3);
	FCT_DO(fct_barrier(t, "filled"));
	for (i = 0; fct_is_client(t) && i < CNTR_COUNT; i++)
		FCT_DO(transfer(&s, i, read));
	if (fct_is_client(t)) {
		FCT_DO(fct_cntr_reaches(&s, s.tx, CNTR_COUNT, "all transfers"));
		if (read)
			FCT_DATA(t, s.local.buf, s.local.len, 3);
	}
	FCT_DO(fct_barrier(t, "counted"));
	FCT_EQ(t, fi_cntr_read(s.rx), 0);
	ret = fct_cq_quiet(t, s.l.txcq, "after transfers without completion");
out:
	return fct_link_down(&s.l, ret);
}

int fct_cntr_writes(struct fct *t)
{
	return transfers(t, false);
}

int fct_cntr_reads(struct fct *t)
{
	return transfers(t, true);
}

int fct_cntr_errors(struct fct *t)
{
	struct fct_setup setup = fct_cntr_setup();
	struct cntr_side s = {.l.t = t};
	struct fi_cq_err_entry err;
	struct fct_wait w;
	int ret;

	FCT_DO(fct_cntr_up(&s, t, &setup));
	if (fct_is_client(t)) {
		FCT_POST(t, s.l.txcq,
			 fi_write(s.l.c.ep, s.local.buf, CNTR_LEN, s.local.desc, 0,
				  s.peer.addr, s.peer.key + 12345, &s.ctx[0]));
		fct_wait_init(&w, t, "the failure to be counted");
		while (!fi_cntr_readerr(s.tx))
			FCT_DO(fct_wait_again(&w));
		FCT_EQ(t, fi_cntr_readerr(s.tx), 1);
		FCT_EQ(t, fi_cntr_read(s.tx), 0);
		FCT_DO(fct_comp_err(t, s.l.txcq, &err, "the failed write"));
		FCT_TRUE(t, err.op_context == &s.ctx[0]);
	}
	ret = fct_barrier(t, "counted");
out:
	return fct_link_down(&s.l, ret);
}
