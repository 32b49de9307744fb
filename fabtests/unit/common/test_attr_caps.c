/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities and modes, of the info and of its two contexts. */
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "attr_world.h"
#include "cairn_test.h"

CT_FIXTURE(attr, struct attr_scene, attr_begin, attr_end);

CT_TEST_F(attr, capabilities_are_granted_as_asked_and_split_by_direction)
{
	static const struct {
		const char *name;
		uint64_t asked;
		uint64_t caps; /* REFUSED: not offered */
		uint64_t tx, rx;
	} rows[] = {
		{"no wish", 0,
		 FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ | FI_WRITE |
			 FI_REMOTE_READ | FI_REMOTE_WRITE | FI_FENCE | FI_LOCAL_COMM |
			 FI_REMOTE_COMM,
		 FI_MSG | FI_SEND | FI_RMA | FI_READ | FI_WRITE | FI_FENCE,
		 FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE},
		{"messages both ways", FI_MSG,
		 FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM,
		 FI_MSG | FI_SEND, FI_MSG | FI_RECV},
		{"messages one way", FI_MSG | FI_SEND,
		 FI_MSG | FI_SEND | FI_LOCAL_COMM | FI_REMOTE_COMM, FI_MSG | FI_SEND,
		 FI_MSG},
		{"RMA in every direction", FI_RMA,
		 FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE |
			 FI_LOCAL_COMM | FI_REMOTE_COMM,
		 FI_RMA | FI_READ | FI_WRITE, FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE},
		{"RMA as an initiator", FI_RMA | FI_WRITE,
		 FI_RMA | FI_WRITE | FI_LOCAL_COMM | FI_REMOTE_COMM, FI_RMA | FI_WRITE,
		 FI_RMA},
		{"both, one of them directed", FI_MSG | FI_RMA | FI_WRITE,
		 FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_WRITE | FI_LOCAL_COMM |
			 FI_REMOTE_COMM,
		 FI_MSG | FI_SEND | FI_RMA | FI_WRITE, FI_MSG | FI_RECV | FI_RMA},
		{"a secondary one", FI_MSG | FI_SEND | FI_FENCE,
		 FI_MSG | FI_SEND | FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM,
		 FI_MSG | FI_SEND | FI_FENCE, FI_MSG},
		{"atomics", FI_ATOMIC, REFUSED, 0, 0},
		{"tagged", FI_MSG | FI_TAGGED, REFUSED, 0, 0},
		{"multicast", FI_MSG | FI_MULTICAST, REFUSED, 0, 0},
		{"device memory", FI_MSG | FI_HMEM, REFUSED, 0, 0},
		{"a secondary one that is not offered", FI_MSG | FI_SOURCE, REFUSED, 0,
		 0},
	};
	int ret;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ct_log_reset();
		attr_begin(t);
		t->hints->caps = rows[i].asked;
		ret = ask(t);
		if (rows[i].caps == REFUSED) {
			CT_EXPECT_EQ(ret, -FI_ENODATA);
			CT_EXPECT_STRSTR(ct_log_last(), "caps");
		} else {
			CT_EXPECT_EQ(ret, 0);
		}
		if (!ret) {
			CT_EXPECT_EQ(t->answer->caps, rows[i].caps);
			CT_EXPECT_EQ(t->answer->tx_attr->caps, rows[i].tx);
			CT_EXPECT_EQ(t->answer->rx_attr->caps, rows[i].rx);
		}
	}
}

/* fi_getinfo(3): a bare FI_MSG implies both ways, which a one-way offer cannot give. */
CT_TEST_F(attr, a_one_way_offer_does_not_satisfy_a_wish_for_both_ways)
{
	t->offer->caps = FI_MSG | FI_SEND | FI_RMA | FI_WRITE;
	t->hints->caps = FI_MSG;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	t->hints->caps = FI_RMA;
	CT_EXPECT_EQ(ask(t), -FI_ENODATA);
	t->hints->caps = FI_MSG | FI_SEND;
	CT_EXPECT_EQ(ask(t), 0);
	CT_EXPECT_EQ(t->answer->caps, FI_MSG | FI_SEND);
}

CT_TEST_F(attr, context_capabilities_stay_within_the_infos)
{
	static const struct {
		const char *name;
		uint64_t caps, tx, rx;
		int ret;
		uint64_t tx_answer, rx_answer;
	} rows[] = {
		{"a part", FI_MSG | FI_RMA, FI_MSG, FI_MSG, 0, FI_MSG | FI_SEND,
		 FI_MSG | FI_RECV},
		{"all of them on both", FI_MSG | FI_SEND | FI_RECV,
		 FI_MSG | FI_SEND | FI_RECV, FI_MSG | FI_SEND | FI_RECV, 0,
		 FI_MSG | FI_SEND, FI_MSG | FI_RECV},
		{"without caps of the info", 0, FI_RMA | FI_WRITE, 0, 0,
		 FI_RMA | FI_WRITE,
		 FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE},
		{"more on tx", FI_MSG, FI_MSG | FI_RMA, 0, -FI_ENODATA, 0, 0},
		{"more on rx", FI_MSG, 0, FI_RMA, -FI_ENODATA, 0, 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		attr_begin(t);
		t->hints->caps = rows[i].caps;
		t->hints->tx_attr->caps = rows[i].tx;
		t->hints->rx_attr->caps = rows[i].rx;
		CT_EXPECT_EQ(ask(t), rows[i].ret);
		if (t->answer) {
			CT_EXPECT_EQ(t->answer->tx_attr->caps, rows[i].tx_answer);
			CT_EXPECT_EQ(t->answer->rx_attr->caps, rows[i].rx_answer);
		}
	}
}

CT_TEST_F(attr, modes_that_are_needed_must_be_possible)
{
	static const struct {
		const char *name;
		uint64_t needed, domain_needed; /* by the offer */
		uint64_t able, domain_able;	/* the application */
		int ret;
		uint64_t mode;
	} rows[] = {
		{"nothing", 0, 0, 0, 0, 0, 0},
		{"able", FI_CONTEXT, 0, FI_CONTEXT, 0, 0, FI_CONTEXT},
		{"able to do more", 0, 0, ~0ULL, ~0ULL, 0, 0},
		{"unable", FI_CONTEXT, 0, 0, 0, -FI_ENODATA, 0},
		{"able to do something else", FI_CONTEXT, 0, FI_CONTEXT2, 0, -FI_ENODATA,
		 0},
		{"domain, able", 0, FI_CONTEXT, 0, FI_CONTEXT, 0, 0},
		{"domain, unable", 0, FI_CONTEXT, ~0ULL, 0, -FI_ENODATA, 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		attr_begin(t);
		t->offer->mode = rows[i].needed;
		t->offer->domain_attr->mode = rows[i].domain_needed;
		t->hints->mode = rows[i].able;
		t->hints->domain_attr->mode = rows[i].domain_able;
		CT_EXPECT_EQ(ask(t), rows[i].ret);
		if (t->answer)
			CT_EXPECT_EQ(t->answer->mode, rows[i].mode);
	}
}

/* The offer has FI_ASYNC_IOV for tx and FI_RX_CQ_DATA for rx, neither of them needed. */
CT_TEST_F(attr, extra_modes_are_told_to_those_who_are_able)
{
	static const struct {
		const char *name;
		uint64_t able, tx_able, rx_able;
		uint64_t tx, rx;
	} rows[] = {
		{"unable", 0, 0, 0, 0, 0},
		{"able", FI_ASYNC_IOV | FI_RX_CQ_DATA, 0, 0, FI_ASYNC_IOV, FI_RX_CQ_DATA},
		{"able in tx", 0, FI_ASYNC_IOV, 0, FI_ASYNC_IOV, 0},
		{"able in rx", 0, 0, FI_RX_CQ_DATA, 0, FI_RX_CQ_DATA},
		{"tx overrules", ~0ULL, FI_CONTEXT, 0, 0, FI_RX_CQ_DATA},
		{"rx overrules", ~0ULL, 0, FI_CONTEXT, FI_ASYNC_IOV, 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		attr_begin(t);
		t->offer->tx_attr->mode = FI_ASYNC_IOV;
		t->hints->mode = rows[i].able;
		t->hints->tx_attr->mode = rows[i].tx_able;
		t->hints->rx_attr->mode = rows[i].rx_able;
		CT_EXPECT_EQ(ask(t), 0);
		CT_ASSERT_NE(t->answer, NULL);
		CT_EXPECT_EQ(t->answer->tx_attr->mode, rows[i].tx);
		CT_EXPECT_EQ(t->answer->rx_attr->mode, rows[i].rx);
	}
}
