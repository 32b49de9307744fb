/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations that advance a counter, without any completion being read. */
#include "cntr.h"
#include "fct_op.h"

static int messages(bool inject)
{
	struct fct_setup setup = fct_cntr_setup();
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};
	unsigned int i, count;
	uint64_t limits[2], theirs[2];

	FCT_DO(fct_cntr_up(&s, &setup));
	limits[0] = s.l.c.info->rx_attr->size;
	limits[1] = s.l.c.info->tx_attr->inject_size;
	FCT_DO(fct_exchange("limits", limits, theirs, sizeof(limits)));
	count = (unsigned int)(theirs[0] < CNTR_COUNT ? theirs[0] : CNTR_COUNT);
	if (limits[0] < count)
		count = (unsigned int)limits[0];
	if (inject && (!limits[1] || !theirs[1]))
		return fct_skip("inject_size is 0");
	FCT_DO(fct_cntr_post_recvs(&s, count));
	for (i = 0; fct_is_client() && i < count; i++) {
		if (inject)
			FCT_POST(s.l.txcq, fi_inject(s.l.c.ep, s.local.buf, 1, 0));
		else
			FCT_DO(fct_cntr_post_send(&s, i));
	}
	FCT_DO(fct_cntr_reaches(&s, fct_is_client() ? s.tx : s.rx, count,
				"all messages"));
	FCT_DO(fct_barrier("counted"));
	FCT_EQ(fi_cntr_read(fct_is_client() ? s.rx : s.tx), 0);
	return fct_cq_quiet(s.l.txcq, "after messages without completion");
}

FCT_CASE_CALL(messages, "messages sent and received", messages(false))

FCT_CASE_CALL(injects, "fi_inject", messages(true))

static int transfer(struct cntr_side *s, unsigned int i, bool read)
{
	const size_t at = (size_t)i * CNTR_LEN;
	const bool inject = i % 4 == 3 && s->l.c.info->tx_attr->inject_size;
	const struct fct_op op = {.form = read	   ? FCT_READ
					  : inject ? FCT_INJECT_WRITE
						   : FCT_WRITE,
				  .buf = s->local.buf + at,
				  .len = inject && !read ? 1 : CNTR_LEN,
				  .desc = s->local.desc,
				  .addr = s->peer.addr + at,
				  .key = s->peer.key,
				  .ctx = &s->ctx[i]};

	FCT_POST(s->l.txcq, fct_op_post(s->l.c.ep, &op));
	return 0;
}

static int transfers(bool read)
{
	struct fct_setup setup = fct_cntr_setup();
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};
	unsigned int i;

	FCT_DO(fct_cntr_up(&s, &setup));
	fct_fill(s.exposed.buf, s.exposed.len, 3);
	FCT_DO(fct_barrier("filled"));
	for (i = 0; fct_is_client() && i < CNTR_COUNT; i++)
		FCT_DO(transfer(&s, i, read));
	if (fct_is_client()) {
		FCT_DO(fct_cntr_reaches(&s, s.tx, CNTR_COUNT, "all transfers"));
		if (read)
			FCT_DATA(s.local.buf, s.local.len, 3);
	}
	FCT_DO(fct_barrier("counted"));
	FCT_EQ(fi_cntr_read(s.rx), 0);
	return fct_cq_quiet(s.l.txcq, "after transfers without completion");
}

FCT_CASE_CALL(writes, "fi_write and fi_inject_write", transfers(false))

FCT_CASE_CALL(reads, "fi_read", transfers(true))

FCT_CASE(errors, "failures are counted apart")
{
	struct fct_setup setup = fct_cntr_setup();
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};
	struct fi_cq_err_entry err;

	FCT_DO(fct_cntr_up(&s, &setup));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq,
			 fi_write(s.l.c.ep, s.local.buf, CNTR_LEN, s.local.desc, 0,
				  s.peer.addr, s.peer.key + 12345, &s.ctx[0]));
		FCT_WAIT_WHILE(!fi_cntr_readerr(s.tx), "the failure to be counted", 0);
		FCT_EQ(fi_cntr_readerr(s.tx), 1);
		FCT_EQ(fi_cntr_read(s.tx), 0);
		FCT_DO(fct_comp_err(s.l.txcq, &err, "the failed write"));
		FCT_TRUE(err.op_context == &s.ctx[0]);
	}
	return fct_barrier("counted");
}
