/* SPDX-License-Identifier: BSD-2-Clause */
/* Which operations are reported, counted, and hold a place. Above each test stands the
 * sentence that it is about, of fi_endpoint(3) where nothing else is said. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ep_world.h"

static void open_bound(struct ep_world *w, uint64_t selective)
{
	ep_world_open(w, FI_EP_MSG, FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT);
	CT_EXPECT_EQ(bind_cq(w, FI_TRANSMIT | FI_RECV | selective), 0);
	CT_EXPECT_EQ(bind_eq(w, 0), 0);
}

static unsigned int places(struct crn_cq *cq)
{
	return atomic_load(&cq->room);
}

static void set_up(struct ep_world *w)
{
	open_bound(w, 0);
}

CT_FIXTURE(ep, struct ep_world, set_up, ep_world_close);

/* "data transfer operations will not generate CQ entries for successful completions
 * unless FI_COMPLETION is set as an operational flag", "otherwise, it is ignored" */
CT_TEST_F(ep, a_success_is_reported_unless_the_binding_is_selective_and_nothing_asks)
{
	CT_EXPECT_TRUE(crn_ep_reports(&t->ep, CRN_EP_TX, 0));
	CT_EXPECT_TRUE(crn_ep_reports(&t->ep, CRN_EP_RX, FI_COMPLETION));
	open_bound(t, FI_SELECTIVE_COMPLETION);
	CT_EXPECT_FALSE(crn_ep_reports(&t->ep, CRN_EP_TX, 0));
	CT_EXPECT_FALSE(crn_ep_reports(&t->ep, CRN_EP_TX, FI_INJECT));
	CT_EXPECT_TRUE(crn_ep_reports(&t->ep, CRN_EP_TX, FI_COMPLETION | FI_INJECT));
	CT_EXPECT_FALSE(crn_ep_reports(&t->ep, CRN_EP_RX, 0));
}

/* "FI_SELECTIVE_COMPLETION must be OR'ed with FI_TRANSMIT and/or FI_RECV flags." */
CT_TEST_F(ep, each_side_is_selective_by_itself)
{
	ep_world_open(t, FI_EP_MSG, FI_MSG);
	CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT), 0);
	CT_EXPECT_EQ(bind_cq(t, FI_RECV | FI_SELECTIVE_COMPLETION), 0);
	CT_EXPECT_TRUE(crn_ep_reports(&t->ep, CRN_EP_TX, 0));
	CT_EXPECT_FALSE(crn_ep_reports(&t->ep, CRN_EP_RX, 0));
}

/* "Operation flags define the default flags applied to an endpoint's data transfer
 * operations, where a flags parameter is not available." */
CT_TEST_F(ep, default_flags_come_from_the_info_and_are_set_side_by_side)
{
	uint64_t flags = FI_TRANSMIT;

	t->ep.queues[CRN_EP_TX].known_flags = FI_COMPLETION | FI_INJECT;
	t->ep.queues[CRN_EP_RX].known_flags = FI_COMPLETION;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_GETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(flags, FI_COMPLETION);
	flags = FI_RECV;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_GETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(flags, FI_MULTI_RECV);
	flags = FI_TRANSMIT | FI_INJECT;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_SETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(t->ep.queues[CRN_EP_TX].op_flags, FI_INJECT);
	CT_EXPECT_EQ(t->ep.queues[CRN_EP_RX].op_flags, FI_MULTI_RECV);
	flags = FI_RECV | FI_COMPLETION;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_SETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(t->ep.queues[CRN_EP_RX].op_flags, FI_COMPLETION);
	flags = FI_RECV | FI_INJECT;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
	CT_EXPECT_EQ(t->ep.queues[CRN_EP_RX].op_flags, FI_COMPLETION);
	/* "must include FI_TRANSMIT or FI_RECV (not both)" */
	flags = FI_TRANSMIT | FI_RECV;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_GETOPSFLAG, &flags), -FI_EINVAL);
	flags = FI_COMPLETION;
	CT_EXPECT_EQ(crn_ep_ops_flags(&t->ep, FI_SETOPSFLAG, &flags), -FI_EINVAL);
}

static struct crn_cq_comp comp_of(uint64_t flags)
{
	return (struct crn_cq_comp){.entry = {.op_context = &comp_of, .flags = flags},
				    .src_addr = FI_ADDR_NOTAVAIL};
}

static ssize_t read_flags(struct ep_world *w, uint64_t *flags)
{
	struct fi_cq_tagged_entry entry = {0};
	ssize_t ret = fi_cq_read(&w->cq.fid, &entry, 1);

	*flags = entry.flags;
	return ret;
}

CT_TEST_F(ep, an_operation_holds_a_place_until_its_completion_is_read)
{
	const struct crn_cq_comp comp = comp_of(FI_SEND | FI_MSG);
	uint64_t flags;
	unsigned int before = places(&t->cq);

	CT_EXPECT_GE(before, EP_TX_SIZE + EP_RX_SIZE);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_TX));
	CT_EXPECT_EQ(places(&t->cq), before - 1);
	crn_ep_done(&t->ep, CRN_EP_TX, &comp, true);
	CT_EXPECT_EQ(places(&t->cq), before - 1);
	CT_EXPECT_EQ(read_flags(t, &flags), 1);
	CT_EXPECT_EQ(flags, FI_SEND | FI_MSG);
	CT_EXPECT_EQ(places(&t->cq), before);
	/* Not reported, not accepted. */
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_TX));
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_RX));
	crn_ep_done(&t->ep, CRN_EP_TX, &comp, false);
	CT_EXPECT_EQ(places(&t->cq), before - 1);
	crn_ep_abandon(&t->ep, CRN_EP_RX);
	CT_EXPECT_EQ(places(&t->cq), before);
	CT_EXPECT_EQ(read_flags(t, &flags), -FI_EAGAIN);
}

CT_TEST_F(ep, without_a_place_an_operation_is_refused)
{
	unsigned int room = places(&t->cq);

	for (unsigned int i = 0; i < room; i++)
		CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_TX));
	CT_EXPECT_FALSE(crn_ep_begin(&t->ep, CRN_EP_TX));
	CT_EXPECT_FALSE(crn_ep_begin(&t->ep, CRN_EP_RX));
	crn_ep_abandon(&t->ep, CRN_EP_TX);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_RX));
}

/* "Operations that fail asynchronously will still generate completions, even if a
 * completion is not requested." */
CT_TEST_F(ep, a_failure_is_always_reported_and_counted_as_one)
{
	const struct fi_cq_err_entry err = {.flags = FI_SEND | FI_MSG, .err = FI_EIO};
	struct fi_cq_err_entry got = {0};
	uint64_t flags;

	open_bound(t, FI_SELECTIVE_COMPLETION);
	CT_EXPECT_EQ(bind_cntr(t, FI_SEND), 0);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_TX));
	crn_ep_fail(&t->ep, CRN_EP_TX, &err, 9);
	CT_EXPECT_EQ(read_flags(t, &flags), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(&t->cq.fid, &got, 0), 1);
	CT_EXPECT_EQ(got.err, FI_EIO);
	CT_EXPECT_EQ(fi_cntr_readerr(&t->cntr.fid), 1);
	CT_EXPECT_EQ(fi_cntr_read(&t->cntr.fid), 0);
}

/* "Increments the specified counter whenever ..." */
CT_TEST_F(ep, a_counter_counts_the_kinds_it_is_bound_for)
{
	static const struct {
		const char *name;
		uint64_t bound;
		uint64_t flags; /* of the completion */
	} rows[] = {
		{"sends", FI_SEND, FI_SEND | FI_MSG},
		{"tagged sends", FI_SEND, FI_SEND | FI_TAGGED},
		{"receives", FI_RECV, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA},
		{"writes", FI_WRITE, FI_RMA | FI_WRITE},
		{"base atomics", FI_WRITE, FI_ATOMIC | FI_WRITE},
		{"reads", FI_READ, FI_RMA | FI_READ},
		{"fetching atomics", FI_READ, FI_ATOMIC | FI_READ},
		{"remote writes", FI_REMOTE_WRITE,
		 FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA},
		{"remote reads", FI_REMOTE_READ, FI_RMA | FI_REMOTE_READ},
	};
	uint64_t flags;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		open_bound(t, 0);
		CT_EXPECT_EQ(bind_cntr(t, rows[i].bound), 0);
		for (size_t other = 0; other < CRN_COUNT(rows); other++) {
			const struct crn_cq_comp comp = comp_of(rows[other].flags);
			const uint64_t before = fi_cntr_read(&t->cntr.fid);

			CT_NOTE("%s bound, %s done", rows[i].name, rows[other].name);
			CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_TX));
			crn_ep_done(&t->ep, CRN_EP_TX, &comp, true);
			CT_EXPECT_EQ(fi_cntr_read(&t->cntr.fid) - before,
				     rows[other].bound == rows[i].bound);
			CT_EXPECT_EQ(read_flags(t, &flags), 1);
		}
		CT_EXPECT_EQ(fi_cntr_readerr(&t->cntr.fid), 0);
	}
}

/* fi_cq(3): FI_MULTI_RECV, "If other flag bits are zero, the provider is reporting that
 * the multi-recv buffer has been released". */
CT_TEST_F(ep, what_is_no_operation_is_not_counted)
{
	const struct crn_cq_comp comp = comp_of(FI_MULTI_RECV);

	CT_EXPECT_EQ(bind_cntr(t, CRN_EP_COUNTED), 0);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_RX));
	crn_ep_done(&t->ep, CRN_EP_RX, &comp, true);
	CT_EXPECT_EQ(fi_cntr_read(&t->cntr.fid), 0);
}

/* fi_msg(3), fi_inject: "does not generate an entry"; it is counted. */
CT_TEST_F(ep, an_inject_is_counted_and_leaves_no_trace_in_the_queue)
{
	unsigned int before;
	uint64_t flags;

	CT_EXPECT_EQ(bind_cntr(t, FI_SEND), 0);
	before = places(&t->cq);
	crn_ep_count(&t->ep, FI_SEND | FI_MSG, false);
	crn_ep_count(&t->ep, FI_SEND | FI_MSG, true);
	CT_EXPECT_EQ(fi_cntr_read(&t->cntr.fid), 1);
	CT_EXPECT_EQ(fi_cntr_readerr(&t->cntr.fid), 1);
	CT_EXPECT_EQ(places(&t->cq), before);
	CT_EXPECT_EQ(read_flags(t, &flags), -FI_EAGAIN);
}

/* A target of RMA with a queue for one side only. */
CT_TEST_F(ep, a_side_without_a_queue_counts_and_reports_nothing)
{
	const struct crn_cq_comp comp = comp_of(FI_RMA | FI_REMOTE_WRITE);
	const struct fi_cq_err_entry err = {.flags = FI_RMA | FI_REMOTE_WRITE,
					    .err = FI_EIO};

	ep_world_open(t, FI_EP_MSG, FI_RMA | FI_RMA_EVENT);
	CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT), 0);
	CT_EXPECT_EQ(bind_cntr(t, FI_REMOTE_WRITE), 0);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_RX));
	crn_ep_done(&t->ep, CRN_EP_RX, &comp, true);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_RX));
	crn_ep_fail(&t->ep, CRN_EP_RX, &err, FI_ADDR_NOTAVAIL);
	CT_EXPECT_TRUE(crn_ep_begin(&t->ep, CRN_EP_RX));
	crn_ep_abandon(&t->ep, CRN_EP_RX);
	CT_EXPECT_EQ(fi_cntr_read(&t->cntr.fid), 1);
	CT_EXPECT_EQ(fi_cntr_readerr(&t->cntr.fid), 1);
}
