/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls, sizes, and durable operations beside others. */
#include "durable.h"

static const size_t sizes[] = {1, 7, 8, 64, 65, 256, 257, 4096, 65537, DURABLE_MAX};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static int each_size(struct durable *d, enum fct_form form, uint64_t flags)
{
	struct fct_op op;
	size_t i;

	for (i = 0; i < N_SIZES; i++) {
		fct_fill(d->local.buf, DURABLE_MAX, i);
		op = fct_durable_op(d, form, 0, sizes[i], flags);
		op.pieces = form == FCT_WRITEV ? 2 : 1;
		if (fct_is_client())
			FCT_DO(fct_op_do(d->l.c.ep, d->l.txcq, &op));
		FCT_DO(fct_durable_check(d, sizes[i], i));
	}
	return 0;
}

FCT_CASE(forms, "every call and size, durable by its flag")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};

	FCT_DO(fct_durable_up(&d, &s));
	return each_size(&d, FCT_WRITEMSG, FI_COMMIT_COMPLETE);
}

FCT_CASE(defaults, "every call, durable by the endpoint's flags")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};

	s.tx_op_flags = FI_COMMIT_COMPLETE;
	FCT_DO(fct_durable_up(&d, &s));
	FCT_DO(each_size(&d, FCT_WRITE, 0));
	return each_size(&d, FCT_WRITEV, 0);
}

FCT_CASE(inject, "what is injected is durable behind the next fence")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	size_t i;

	s.tx_op_flags = FI_COMMIT_COMPLETE;
	FCT_DO(fct_durable_up(&d, &s));
	fct_fill(d.local.buf, 4096, 3);
	for (i = 0; fct_is_client() && i < 4096 - 8; i += 8)
		FCT_POST(d.l.txcq, fi_inject_write(d.l.c.ep, d.local.buf + i, 8, 0,
						   d.peer.addr + i, d.peer.key));
	if (fct_is_client())
		FCT_DO(fct_durable_write(&d, 4088, 8, FI_COMMIT_COMPLETE | FI_FENCE));
	return fct_durable_check(&d, 4096, 3);
}

static int add(struct durable *d, uint64_t flags)
{
	const struct fct_op op = fct_durable_op(d, FCT_ATOMICMSG, 0, 1, flags);

	return fct_op_do(d->l.c.ep, d->l.txcq, &op);
}

FCT_CASE(atomics, "atomics that are durable")
{
	struct fct_setup s = fct_durable_setup();
	const uint64_t three = 3, sum = 30;
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	size_t count;
	int i;

	s.caps |= FI_ATOMIC;
	FCT_DO(fct_durable_up(&d, &s));
	if (fi_atomicvalid(d.l.c.ep, FI_UINT64, FI_SUM, &count))
		return fct_skip("no atomic sums of 8 bytes");
	memcpy(d.local.buf, &three, sizeof(three));
	for (i = 0; fct_is_client() && i < 10; i++)
		FCT_DO(add(&d, FI_COMMIT_COMPLETE | (i % 2 ? FI_FENCE : 0)));
	FCT_DO(fct_barrier("added"));
	if (fct_is_server())
		FCT_EQ(memcmp(d.mem, &sum, sizeof(sum)), 0);
	return 0;
}

/* A mix of levels and fences: they end in the order of posting. */
FCT_CASE(levels, "durable, delivered and plain writes end in order")
{
	static const uint64_t flags[] = {
		FI_COMMIT_COMPLETE,
		FI_DELIVERY_COMPLETE,
		0,
		FI_COMMIT_COMPLETE | FI_FENCE,
		FI_TRANSMIT_COMPLETE,
		FI_FENCE,
		FI_COMMIT_COMPLETE | FI_DELIVERY_COMPLETE,
		FI_DELIVERY_COMPLETE | FI_FENCE,
	};
	struct fct_setup s = fct_durable_setup();
	struct fi_cq_data_entry e;
	int ended = 0, i;
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	ssize_t posted;

	FCT_DO(fct_durable_up(&d, &s));
	fct_fill(d.local.buf, 64 * 64, 4);
	for (i = 0; fct_is_client() && ended < 64;) {
		posted =
			i < 64 ? fct_durable_post(&d, (size_t)i * 64, 64,
						  flags[i % 8] | FI_COMPLETION, &d.ctx[i])
			       : -FI_EAGAIN;
		if (!posted) {
			i++;
			continue;
		}
		FCT_EQ(posted, -FI_EAGAIN);
		if (ended == i) {
			/* What a fence made durable before it is nobody's to wait for. */
			FCT_POST(d.l.txcq, fct_durable_post(&d, (size_t)i * 64, 64,
							    flags[i % 8] | FI_COMPLETION,
							    &d.ctx[i]));
			i++;
		}
		FCT_DO(fct_comp(d.l.txcq, &d.ctx[ended++], FI_RMA | FI_WRITE, &e,
				"the oldest write"));
	}
	return fct_durable_check(&d, 64 * 64, 4);
}

/* Records, of all sizes that go inline and some that do not, and the index behind them.
 */
FCT_CASE(compound, "a write that is durable only after those before it")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	size_t i, len = 1;

	s.tx_bind = FI_SELECTIVE_COMPLETION;
	FCT_DO(fct_durable_up(&d, &s));
	for (i = 0; i < 40; i++, len = len * 3 / 2 + 1) {
		fct_fill(d.local.buf, DURABLE_MAX, i);
		len = len > 60000 ? 60000 : len;
		if (fct_is_client()) {
			FCT_POST(d.l.txcq,
				 fct_durable_post(&d, 0, len,
						  i % 2 ? FI_COMMIT_COMPLETE : 0, NULL));
			FCT_DO(fct_durable_write(&d, len, i % 3 ? 8 : len,
						 FI_COMMIT_COMPLETE | FI_FENCE));
		}
		FCT_DO(fct_durable_check(&d, len + 1, i));
	}
	return 0;
}
