/* SPDX-License-Identifier: BSD-2-Clause */
/* What may be bound to an endpoint, when, and what it needs to be enabled. Above each
 * test stands the sentence of fi_endpoint(3) that it is about. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ep_world.h"

static void set_up(struct ep_world *w)
{
	ep_world_open(w, FI_EP_MSG, FI_MSG);
}

CT_FIXTURE(ep_bind, struct ep_world, set_up, ep_world_close);

/* "An endpoint may only be bound to a single CQ [...] for a given type of operation." */
CT_TEST_F(ep_bind, completion_queues)
{
	static const struct {
		const char *name;
		uint64_t before; /* bound already */
		uint64_t flags;
		int ret;
	} rows[] = {
		{"both sides", 0, FI_TRANSMIT | FI_RECV, 0},
		{"transmits", 0, FI_TRANSMIT, 0},
		{"receives", 0, FI_RECV | FI_SELECTIVE_COMPLETION, 0},
		{"the other side", FI_RECV, FI_TRANSMIT, 0},
		{"no side", 0, 0, -FI_EINVAL},
		{"selective alone", 0, FI_SELECTIVE_COMPLETION, -FI_EINVAL},
		{"unknown flag", 0, FI_TRANSMIT | FI_READ, -FI_EBADFLAGS},
		{"twice", FI_TRANSMIT, FI_TRANSMIT, -FI_EINVAL},
		{"one of both twice", FI_RECV, FI_TRANSMIT | FI_RECV, -FI_EINVAL},
	};
	unsigned int refs;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ep_world_open(t, FI_EP_MSG, FI_MSG);
		if (rows[i].before)
			CT_EXPECT_EQ(bind_cq(t, rows[i].before), 0);
		refs = atomic_load(&t->cq.refs);
		CT_EXPECT_EQ(bind_cq(t, rows[i].flags), rows[i].ret);
		if (rows[i].ret)
			CT_EXPECT_EQ(atomic_load(&t->cq.refs), refs);
		else
			CT_EXPECT_GT(atomic_load(&t->cq.refs), refs);
	}
}

/* "-FI_EDOMAIN: [...] an attempt was made to bind multiple domains" */
CT_TEST_F(ep_bind, objects_of_another_domain_or_fabric_are_refused)
{
	ep_world_open(t, FI_EP_RDM, FI_MSG);
	t->cq.domain = &t->other_domain;
	t->cntr.domain = &t->other_domain;
	t->av.domain = &t->other_domain;
	t->eq.fabric = &t->other_fabric;
	CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT), -FI_EDOMAIN);
	CT_EXPECT_EQ(bind_cntr(t, FI_SEND), -FI_EDOMAIN);
	CT_EXPECT_EQ(bind_av(t, 0), -FI_EDOMAIN);
	CT_EXPECT_EQ(bind_eq(t, 0), -FI_EINVAL);
}

/* "a EP may not bind to two counters both using FI_WRITE" */
CT_TEST_F(ep_bind, counters)
{
	static const struct {
		const char *name;
		uint64_t caps;
		uint64_t before, flags;
		int ret;
	} rows[] = {
		{"all local", 0, 0, FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0},
		{"nothing", 0, FI_SEND, 0, 0},
		{"another kind", 0, FI_SEND, FI_RECV, 0},
		{"twice", 0, FI_WRITE, FI_WRITE | FI_READ, -FI_EINVAL},
		{"unknown flag", 0, 0, FI_SEND | FI_INJECT, -FI_EBADFLAGS},
		/* "Use of this flag requires that the endpoint be created using
		 * FI_RMA_EVENT." */
		{"remote", 0, 0, FI_REMOTE_WRITE, -FI_EOPNOTSUPP},
		{"remote reads", 0, 0, FI_REMOTE_READ | FI_SEND, -FI_EOPNOTSUPP},
		{"remote with FI_RMA_EVENT", FI_RMA_EVENT, 0,
		 FI_REMOTE_READ | FI_REMOTE_WRITE, 0},
	};
	unsigned int refs;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ep_world_open(t, FI_EP_MSG, FI_MSG | FI_RMA | rows[i].caps);
		if (rows[i].before)
			CT_EXPECT_EQ(bind_cntr(t, rows[i].before), 0);
		refs = atomic_load(&t->cntr.refs);
		CT_EXPECT_EQ(bind_cntr(t, rows[i].flags), rows[i].ret);
		CT_EXPECT_EQ(atomic_load(&t->cntr.refs) - refs,
			     rows[i].ret ? 0 : __builtin_popcountll(rows[i].flags));
	}
}

CT_TEST_F(ep_bind, an_event_queue_once_and_without_flags)
{
	CT_EXPECT_EQ(bind_eq(t, FI_TRANSMIT), -FI_EINVAL);
	CT_EXPECT_EQ(bind_eq(t, 0), 0);
	CT_EXPECT_EQ(bind_eq(t, 0), -FI_EINVAL);
	CT_EXPECT_EQ(atomic_load(&t->eq.refs), 1);
}

/* "Connectionless endpoints must be bound to a single address vector." */
CT_TEST_F(ep_bind, an_address_vector_to_a_connectionless_endpoint_once)
{
	CT_EXPECT_EQ(bind_av(t, 0), -FI_ENOSYS);
	ep_world_open(t, FI_EP_DGRAM, FI_MSG);
	CT_EXPECT_EQ(bind_av(t, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(bind_av(t, 0), 0);
	CT_EXPECT_EQ(bind_av(t, 0), -FI_EINVAL);
	CT_EXPECT_EQ(atomic_load(&t->av.refs), 1);
	CT_EXPECT_EQ(fi_close(&t->av.fid.fid), -FI_EBUSY);
}

CT_TEST_F(ep_bind, other_objects_are_not_offered)
{
	struct fid other = {.fclass = FI_CLASS_MR};

	CT_EXPECT_EQ(crn_ep_bind(&t->ep, &other, 0), -FI_ENOSYS);
}

/* "If resources are still associated with the CQ when attempting to close, the call will
 * return -FI_EBUSY", and the same of counters and event queues. */
CT_TEST_F(ep_bind, what_is_bound_is_busy_until_the_endpoint_is_closed)
{
	CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(bind_cntr(t, FI_SEND | FI_RECV), 0);
	CT_EXPECT_EQ(bind_eq(t, 0), 0);
	CT_EXPECT_EQ(fi_close(&t->cq.fid.fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->cntr.fid.fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->eq.fid.fid), -FI_EBUSY);
	crn_ep_fini(&t->ep);
	CT_EXPECT_EQ(atomic_load(&t->cq.refs), 0);
	CT_EXPECT_EQ(t->cq.pledged, 0);
	CT_EXPECT_EQ(atomic_load(&t->cntr.refs), 0);
	CT_EXPECT_EQ(atomic_load(&t->eq.refs), 0);
}

CT_TEST_F(ep_bind, memory_may_run_out_while_the_queue_becomes_large_enough)
{
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		ep_world_open(t, FI_EP_MSG, FI_MSG);
		ct_fail_alloc(nth);
		ret = bind_cq(t, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(atomic_load(&t->cq.refs), 0);
		CT_EXPECT_EQ(t->cq.pledged, 0);
		/* Nor is anything left of the flags. */
		CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT | FI_RECV), 0);
		CT_EXPECT_TRUE(crn_ep_reports(&t->ep, CRN_EP_TX, 0));
		CT_EXPECT_TRUE(crn_ep_reports(&t->ep, CRN_EP_RX, 0));
	}
	/* The queue was opened for fewer than either side holds. */
	CT_EXPECT_EQ(nth, 3);
	CT_EXPECT_EQ(ret, 0);
}

/* "An endpoint must be bound with CQs capable of reporting completions for any
 * asynchronous operation initiated on the endpoint." */
CT_TEST_F(ep_bind, enabling_asks_for_what_the_capabilities_need)
{
	static const struct {
		const char *name;
		enum fi_ep_type type;
		uint64_t caps;
		uint64_t cq; /* bound for */
		bool eq, av;
		int ret;
	} rows[] = {
		{"all of it", FI_EP_MSG, FI_MSG, FI_TRANSMIT | FI_RECV, true, false, 0},
		{"no event queue", FI_EP_MSG, FI_MSG, FI_TRANSMIT | FI_RECV, false, false,
		 -FI_ENOEQ},
		{"no address vector", FI_EP_RDM, FI_MSG, FI_TRANSMIT | FI_RECV, true,
		 false, -FI_ENOAV},
		{"datagrams", FI_EP_DGRAM, FI_MSG, FI_TRANSMIT | FI_RECV, false, true, 0},
		{"no queue", FI_EP_MSG, FI_MSG, 0, true, false, -FI_ENOCQ},
		{"no queue to send", FI_EP_MSG, FI_MSG, FI_RECV, true, false, -FI_ENOCQ},
		{"no queue to receive", FI_EP_MSG, FI_MSG, FI_TRANSMIT, true, false,
		 -FI_ENOCQ},
		{"sends only", FI_EP_MSG, FI_MSG | FI_SEND, FI_TRANSMIT, true, false, 0},
		{"receives only", FI_EP_MSG, FI_MSG | FI_RECV, FI_RECV, true, false, 0},
		{"RMA without directions", FI_EP_MSG, FI_RMA, FI_RECV, true, false,
		 -FI_ENOCQ},
		{"RMA", FI_EP_MSG, FI_RMA, FI_TRANSMIT, true, false, 0},
		{"atomics without directions", FI_EP_MSG, FI_ATOMIC, FI_RECV, true, false,
		 -FI_ENOCQ},
		{"tagged messages without directions", FI_EP_MSG, FI_TAGGED, FI_TRANSMIT,
		 true, false, -FI_ENOCQ},
		/* "For endpoints that are only used as the target of RMA or atomic
		 * operations, this means binding the endpoint to a completion queue
		 * associated with receive processing." */
		{"a target", FI_EP_MSG, FI_RMA | FI_REMOTE_WRITE, FI_RECV, true, false,
		 0},
		{"a target without a queue", FI_EP_MSG, FI_RMA | FI_REMOTE_WRITE, 0, true,
		 false, -FI_ENOCQ},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ep_world_open(t, rows[i].type, rows[i].caps);
		if (rows[i].cq)
			CT_EXPECT_EQ(bind_cq(t, rows[i].cq), 0);
		if (rows[i].eq)
			CT_EXPECT_EQ(bind_eq(t, 0), 0);
		if (rows[i].av)
			CT_EXPECT_EQ(bind_av(t, 0), 0);
		CT_EXPECT_EQ(crn_ep_enable(&t->ep), rows[i].ret);
		CT_EXPECT_EQ(t->ep.enabled, !rows[i].ret);
	}
}

/* "CQs, counters, AV, and shared contexts must be bound to endpoints before they are
 * enabled" */
CT_TEST_F(ep_bind, nothing_is_bound_to_an_enabled_endpoint)
{
	CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(bind_eq(t, 0), 0);
	CT_EXPECT_EQ(crn_ep_enable(&t->ep), 0);
	CT_EXPECT_EQ(crn_ep_enable(&t->ep), 0);
	CT_EXPECT_EQ(bind_cntr(t, FI_SEND), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(bind_cq(t, FI_TRANSMIT), -FI_EOPBADSTATE);
}
