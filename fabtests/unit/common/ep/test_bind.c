/* SPDX-License-Identifier: BSD-2-Clause */
/* What may be bound to an endpoint, when, and what it needs to be enabled. Above each
 * test stands the sentence of fi_endpoint(3) that it is about. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ep_world.h"

/* "An endpoint may only be bound to a single CQ [...] for a given type of operation." */
CT_TEST(ep_bind, completion_queues)
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
	struct ep_world w;
	unsigned int refs;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ep_world_open(&w, FI_EP_MSG, FI_MSG);
		if (rows[i].before)
			CT_EXPECT_EQ(bind_cq(&w, rows[i].before), 0);
		refs = atomic_load(&w.cq.refs);
		CT_EXPECT_EQ(bind_cq(&w, rows[i].flags), rows[i].ret);
		if (rows[i].ret)
			CT_EXPECT_EQ(atomic_load(&w.cq.refs), refs);
		else
			CT_EXPECT_GT(atomic_load(&w.cq.refs), refs);
		ep_world_close(&w);
	}
}

/* "-FI_EDOMAIN: [...] an attempt was made to bind multiple domains" */
CT_TEST(ep_bind, objects_of_another_domain_or_fabric_are_refused)
{
	struct ep_world w;

	ep_world_open(&w, FI_EP_RDM, FI_MSG);
	w.cq.domain = &w.other_domain;
	w.cntr.domain = &w.other_domain;
	w.av.domain = &w.other_domain;
	w.eq.fabric = &w.other_fabric;
	CT_EXPECT_EQ(bind_cq(&w, FI_TRANSMIT), -FI_EDOMAIN);
	CT_EXPECT_EQ(bind_cntr(&w, FI_SEND), -FI_EDOMAIN);
	CT_EXPECT_EQ(bind_av(&w, 0), -FI_EDOMAIN);
	CT_EXPECT_EQ(bind_eq(&w, 0), -FI_EINVAL);
	ep_world_close(&w);
}

/* "a EP may not bind to two counters both using FI_WRITE" */
CT_TEST(ep_bind, counters)
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
	struct ep_world w;
	unsigned int refs;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ep_world_open(&w, FI_EP_MSG, FI_MSG | FI_RMA | rows[i].caps);
		if (rows[i].before)
			CT_EXPECT_EQ(bind_cntr(&w, rows[i].before), 0);
		refs = atomic_load(&w.cntr.refs);
		CT_EXPECT_EQ(bind_cntr(&w, rows[i].flags), rows[i].ret);
		CT_EXPECT_EQ(atomic_load(&w.cntr.refs) - refs,
			     rows[i].ret ? 0 : __builtin_popcountll(rows[i].flags));
		ep_world_close(&w);
	}
}

CT_TEST(ep_bind, an_event_queue_once_and_without_flags)
{
	struct ep_world w;

	ep_world_open(&w, FI_EP_MSG, FI_MSG);
	CT_EXPECT_EQ(bind_eq(&w, FI_TRANSMIT), -FI_EINVAL);
	CT_EXPECT_EQ(bind_eq(&w, 0), 0);
	CT_EXPECT_EQ(bind_eq(&w, 0), -FI_EINVAL);
	CT_EXPECT_EQ(atomic_load(&w.eq.refs), 1);
	ep_world_close(&w);
}

/* "Connectionless endpoints must be bound to a single address vector." */
CT_TEST(ep_bind, an_address_vector_to_a_connectionless_endpoint_once)
{
	struct ep_world w;

	ep_world_open(&w, FI_EP_MSG, FI_MSG);
	CT_EXPECT_EQ(bind_av(&w, 0), -FI_ENOSYS);
	ep_world_close(&w);
	ep_world_open(&w, FI_EP_DGRAM, FI_MSG);
	CT_EXPECT_EQ(bind_av(&w, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(bind_av(&w, 0), 0);
	CT_EXPECT_EQ(bind_av(&w, 0), -FI_EINVAL);
	CT_EXPECT_EQ(atomic_load(&w.av.refs), 1);
	CT_EXPECT_EQ(fi_close(&w.av.fid.fid), -FI_EBUSY);
	ep_world_close(&w);
}

CT_TEST(ep_bind, other_objects_are_not_offered)
{
	struct fid other = {.fclass = FI_CLASS_MR};
	struct ep_world w;

	ep_world_open(&w, FI_EP_MSG, FI_MSG);
	CT_EXPECT_EQ(crn_ep_bind(&w.ep, &other, 0), -FI_ENOSYS);
	ep_world_close(&w);
}

/* "If resources are still associated with the CQ when attempting to close, the call will
 * return -FI_EBUSY", and the same of counters and event queues. */
CT_TEST(ep_bind, what_is_bound_is_busy_until_the_endpoint_is_closed)
{
	struct ep_world w;

	ep_world_open(&w, FI_EP_MSG, FI_MSG);
	CT_EXPECT_EQ(bind_cq(&w, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(bind_cntr(&w, FI_SEND | FI_RECV), 0);
	CT_EXPECT_EQ(bind_eq(&w, 0), 0);
	CT_EXPECT_EQ(fi_close(&w.cq.fid.fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&w.cntr.fid.fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&w.eq.fid.fid), -FI_EBUSY);
	crn_ep_fini(&w.ep);
	CT_EXPECT_EQ(atomic_load(&w.cq.refs), 0);
	CT_EXPECT_EQ(w.cq.pledged, 0);
	CT_EXPECT_EQ(atomic_load(&w.cntr.refs), 0);
	CT_EXPECT_EQ(atomic_load(&w.eq.refs), 0);
	ep_world_close(&w);
}

CT_TEST(ep_bind, memory_may_run_out_while_the_queue_becomes_large_enough)
{
	struct ep_world w;
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		ep_world_open(&w, FI_EP_MSG, FI_MSG);
		ct_fail_alloc(nth);
		ret = bind_cq(&w, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(atomic_load(&w.cq.refs), 0);
		CT_EXPECT_EQ(w.cq.pledged, 0);
		/* Nor is anything left of the flags. */
		CT_EXPECT_EQ(bind_cq(&w, FI_TRANSMIT | FI_RECV), 0);
		CT_EXPECT_TRUE(crn_ep_reports(&w.ep, CRN_EP_TX, 0));
		CT_EXPECT_TRUE(crn_ep_reports(&w.ep, CRN_EP_RX, 0));
		ep_world_close(&w);
	}
	/* The queue was opened for fewer than either side holds. */
	CT_EXPECT_EQ(nth, 3);
	CT_EXPECT_EQ(ret, 0);
	ep_world_close(&w);
}

/* "An endpoint must be bound with CQs capable of reporting completions for any
 * asynchronous operation initiated on the endpoint." */
CT_TEST(ep_bind, enabling_asks_for_what_the_capabilities_need)
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
	struct ep_world w;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ep_world_open(&w, rows[i].type, rows[i].caps);
		if (rows[i].cq)
			CT_EXPECT_EQ(bind_cq(&w, rows[i].cq), 0);
		if (rows[i].eq)
			CT_EXPECT_EQ(bind_eq(&w, 0), 0);
		if (rows[i].av)
			CT_EXPECT_EQ(bind_av(&w, 0), 0);
		CT_EXPECT_EQ(crn_ep_enable(&w.ep), rows[i].ret);
		CT_EXPECT_EQ(w.ep.enabled, !rows[i].ret);
		ep_world_close(&w);
	}
}

/* "CQs, counters, AV, and shared contexts must be bound to endpoints before they are
 * enabled" */
CT_TEST(ep_bind, nothing_is_bound_to_an_enabled_endpoint)
{
	struct ep_world w;

	ep_world_open(&w, FI_EP_MSG, FI_MSG);
	CT_EXPECT_EQ(bind_cq(&w, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(bind_eq(&w, 0), 0);
	CT_EXPECT_EQ(crn_ep_enable(&w.ep), 0);
	CT_EXPECT_EQ(crn_ep_enable(&w.ep), 0);
	CT_EXPECT_EQ(bind_cntr(&w, FI_SEND), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(bind_cq(&w, FI_TRANSMIT), -FI_EOPBADSTATE);
	ep_world_close(&w);
}
