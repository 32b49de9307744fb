/* SPDX-License-Identifier: BSD-2-Clause */
/* Many transfers in flight. */
#include "rma.h"

#define COUNT 2000u
#define LEN 4096u
#define SLOTS 256u /* of the region; written again and again */

/*
 * COUNT operations, as many in flight as the queue takes, completions in order, to or
 * from so many places of the peer in turn.
 */
static int flood(struct rma *r, bool read, uint32_t places)
{
	uint32_t posted = 0, done = 0;
	struct fct_ctx ctx[SLOTS];
	struct fi_cq_data_entry e;
	struct fct_op op;
	int ret = 0;

	while (done < COUNT) {
		if (posted < COUNT && posted - done < SLOTS) {
			op = fct_rma_op(r, read ? FCT_READ : FCT_WRITE,
					(size_t)(posted % SLOTS) * LEN,
					(size_t)(posted % places) * LEN, LEN);
			op.ctx = &ctx[posted % SLOTS];
			if (!read)
				fct_fill(op.buf, LEN, posted);
			ret = (int)fct_op_post(r->l.c.ep, &op);
			if (!ret) {
				posted++;
				continue;
			}
			FCT_ERR(ret, -FI_EAGAIN);
			FCT_TRUE(posted > done);
		}
		FCT_DO(fct_comp(r->l.txcq, &ctx[done % SLOTS],
				FI_RMA | (read ? FI_READ : FI_WRITE), &e,
				"the oldest of many transfers"));
		if (read)
			FCT_DATA(r->local.buf + (size_t)(done % SLOTS) * LEN, LEN,
				 done % SLOTS);
		done++;
	}
	return fct_cq_quiet(r->l.txcq, "after many transfers");
}

/* Of all writes to a place the last must be what stays. */
static int check_places(struct rma *r, uint32_t places)
{
	uint32_t i, last;

	for (i = 0; i < places; i++) {
		last = (COUNT - 1) - (COUNT - 1 - i) % places;
		FCT_DATA(r->exposed.buf + (size_t)i * LEN, LEN, last);
	}
	return 0;
}

static int many_writes(uint32_t places)
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};

	s.msg_order |= FI_ORDER_WAW;
	FCT_DO(fct_rma_up(&r, &s, SLOTS * LEN, 0));
	if (fct_is_server())
		FCT_DO(fct_rma_arm(&r));
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client()) {
		FCT_DO(flood(&r, false, places));
		FCT_DO(fct_rma_flag(&r));
	} else {
		FCT_DO(fct_rma_await(&r));
		FCT_DO(check_places(&r, places));
	}
	return 0;
}

FCT_CASE_CALL(many_writes, "thousands of writes", many_writes(SLOTS))

FCT_CASE_CALL(waw, "a later write to the same place wins (FI_ORDER_WAW)", many_writes(1))

static void fill_slots(struct rma *r)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++)
		fct_fill(r->exposed.buf + (size_t)i * LEN, LEN, i);
}

FCT_CASE(many_reads, "thousands of reads")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};

	FCT_DO(fct_rma_up(&r, &s, SLOTS * LEN, 0));
	fill_slots(&r);
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client())
		FCT_DO(flood(&r, true, SLOTS));
	return 0;
}

/* The client writes while the server reads; then the roles change. */
FCT_CASE(both_ways, "writes and reads both ways at once")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	int round;

	s.msg_order |= FI_ORDER_WAW;
	s.split_cq = true;
	FCT_DO(fct_rma_up(&r, &s, SLOTS * LEN, 0));
	for (round = 0; round < 2; round++) {
		bool writer = fct_is_client() == (round == 0);

		fill_slots(&r);
		if (!writer)
			FCT_DO(fct_rma_arm(&r));
		FCT_DO(fct_barrier("ready"));
		FCT_DO(flood(&r, !writer, SLOTS));
		if (writer) {
			FCT_DO(fct_rma_flag(&r));
		} else {
			FCT_DO(fct_rma_await(&r));
			FCT_DO(check_places(&r, SLOTS));
		}
		FCT_DO(fct_barrier("checked"));
	}
	return 0;
}

static ssize_t write_slot(struct rma *r, uint32_t slot, uint64_t flags,
			  struct fct_ctx *ctx)
{
	const size_t at = (size_t)slot * LEN;
	struct fct_op op = fct_rma_op(r, FCT_WRITEMSG, at, at, LEN);

	op.flags = flags;
	op.ctx = ctx;
	fct_fill(op.buf, LEN, slot);
	return fct_op_post(r->l.c.ep, &op);
}

FCT_CASE(more, "chains of FI_MORE")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fct_ctx ctx[SLOTS];
	struct fi_cq_data_entry e;
	uint32_t chain, i, next = 0, done = 0;

	FCT_DO(fct_rma_up(&r, &s, SLOTS * LEN, 0));
	if (fct_is_server())
		FCT_DO(fct_rma_arm(&r));
	FCT_DO(fct_barrier("target ready"));
	for (chain = 1; fct_is_client() && chain <= 16; chain++) {
		for (i = 1; i <= chain; i++, next++)
			FCT_POST(r.l.txcq, write_slot(&r, next, i < chain ? FI_MORE : 0,
						      &ctx[next]));
		for (; done < next; done++)
			FCT_DO(fct_comp(r.l.txcq, &ctx[done], FI_RMA | FI_WRITE, &e,
					"a write of a FI_MORE chain"));
	}
	if (fct_is_client()) {
		FCT_DO(fct_rma_flag(&r));
	} else {
		FCT_DO(fct_rma_await(&r));
		for (i = 0; i < 16 * 17 / 2; i++)
			FCT_DATA(r.exposed.buf + (size_t)i * LEN, LEN, i);
	}
	return 0;
}

FCT_CASE(selective, "FI_SELECTIVE_COMPLETION for RMA")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fct_ctx ctx[SLOTS];
	struct fi_cq_data_entry e;
	uint32_t i;

	s.tx_bind = FI_SELECTIVE_COMPLETION;
	s.tx_size = 16;
	FCT_DO(fct_rma_up(&r, &s, SLOTS * LEN, 0));
	if (fct_is_server())
		FCT_DO(fct_rma_arm(&r));
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client()) {
		for (i = 0; i < SLOTS; i++)
			FCT_POST(r.l.txcq,
				 write_slot(&r, i, i % 64 == 63 ? FI_COMPLETION : 0,
					    &ctx[i]));
		for (i = 63; i < SLOTS; i += 64)
			FCT_DO(fct_comp(r.l.txcq, &ctx[i], FI_RMA | FI_WRITE, &e,
					"a write with FI_COMPLETION"));
		FCT_POST(r.l.txcq,
			 fi_send(r.l.c.ep, r.flag.buf, 1, r.flag.desc, 0, &r.flag_ctx));
	} else {
		FCT_DO(fct_rma_await(&r));
		for (i = 0; i < SLOTS; i++)
			FCT_DATA(r.exposed.buf + (size_t)i * LEN, LEN, i);
	}
	FCT_DO(fct_barrier("written"));
	return fct_cq_quiet(r.l.txcq, "after all writes");
}

/* The target only listens on the control channel, calling nothing of libfabric. */
FCT_CASE(passive, "with FI_PROGRESS_AUTO the target need not call anything")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};

	s.data_progress = FI_PROGRESS_AUTO;
	FCT_DO(fct_rma_up(&r, &s, 65536, 0));
	fct_fill(r.exposed.buf, 65536, 5);
	fct.n_progress_cq = 0;
	fct.progress_eq = NULL;
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client()) {
		FCT_DO(fct_rma_do(&r, FCT_READ, 0, 0, 65536));
		FCT_DATA(r.local.buf, 65536, 5);
		fct_fill(r.local.buf, 65536, 6);
		FCT_DO(fct_rma_do(&r, FCT_WRITE, 0, 0, 65536));
		/* A read behind the write. */
		FCT_DO(fct_rma_do(&r, FCT_READ, 0, 0, 1));
	}
	FCT_DO(fct_barrier("done"));
	if (fct_is_server())
		FCT_DATA(r.exposed.buf, 65536, 6);
	return 0;
}
