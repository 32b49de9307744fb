/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/attr.h>
#include <cairn/compat.h>
#include "cairn_test.h"

#define API FI_VERSION(1, 17)

static const struct fi_provider prov = {.name = "test"};

static const uint64_t msg_caps = FI_MSG | FI_SEND | FI_RECV;
static const uint64_t rma_caps =
	FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
static const uint64_t comm_caps = FI_LOCAL_COMM | FI_REMOTE_COMM;

/* Every attribute has a value of its own, so that one mistaken for another shows. */
static struct fi_info *make_offer(void)
{
	struct fi_info *info = fi_allocinfo();

	info->caps = msg_caps | rma_caps | comm_caps | FI_FENCE;
	info->addr_format = FI_SOCKADDR_IN;

	info->tx_attr->caps = FI_MSG | FI_SEND | FI_RMA | FI_READ | FI_WRITE | FI_FENCE;
	info->tx_attr->op_flags = FI_COMPLETION | FI_INJECT | FI_TRANSMIT_COMPLETE;
	info->tx_attr->msg_order =
		FI_ORDER_SAS | FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_RMA_WAW;
	info->tx_attr->comp_order = CRN_ORDER_STRICT;
	info->tx_attr->inject_size = 101;
	info->tx_attr->size = 102;
	info->tx_attr->iov_limit = 103;
	info->tx_attr->rma_iov_limit = 104;

	info->rx_attr->caps =
		FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE;
	info->rx_attr->mode = FI_RX_CQ_DATA;
	info->rx_attr->op_flags = FI_COMPLETION;
	info->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_WAW;
	info->rx_attr->comp_order = CRN_ORDER_STRICT | CRN_ORDER_DATA;
	info->rx_attr->size = 201;
	info->rx_attr->iov_limit = 202;

	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->protocol = FI_PROTO_RDMA_CM_IB_RC;
	info->ep_attr->protocol_version = 3;
	info->ep_attr->max_msg_size = 301;
	info->ep_attr->msg_prefix_size = 40;
	info->ep_attr->max_order_raw_size = 302;
	info->ep_attr->max_order_war_size = 303;
	info->ep_attr->max_order_waw_size = 304;
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 1;

	info->domain_attr->name = strdup("device0");
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = FI_PROGRESS_AUTO;
	info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_UNSPEC;
	info->domain_attr->mr_key_size = 8;
	info->domain_attr->cq_data_size = 4;
	info->domain_attr->cq_cnt = 401;
	info->domain_attr->ep_cnt = 402;
	info->domain_attr->tx_ctx_cnt = 403;
	info->domain_attr->rx_ctx_cnt = 404;
	info->domain_attr->max_ep_tx_ctx = 5;
	info->domain_attr->max_ep_rx_ctx = 6;
	info->domain_attr->max_ep_stx_ctx = 0;
	info->domain_attr->max_ep_srx_ctx = 7;
	info->domain_attr->cntr_cnt = 405;
	info->domain_attr->mr_iov_limit = 9;
	info->domain_attr->caps = comm_caps;
	info->domain_attr->max_err_data = 406;
	info->domain_attr->mr_cnt = 407;

	info->fabric_attr->name = strdup("fabric0");
	return info;
}

/* Checks hints against the offer; on success *answer is what fi_getinfo would give. */
static int ask_offer(struct fi_info *offer, const struct fi_info *hints,
		     struct fi_info **answer)
{
	int ret = crn_attr_check(&prov, API, offer, hints);

	*answer = NULL;
	if (!ret) {
		*answer = fi_dupinfo(offer);
		crn_attr_apply(*answer, API, hints, 0);
	}
	return ret;
}

static int ask(const struct fi_info *hints, struct fi_info **answer)
{
	struct fi_info *offer = make_offer();
	int ret = ask_offer(offer, hints, answer);

	fi_freeinfo(offer);
	return ret;
}

/* A number somewhere in an info. */
struct field {
	const char *name;
	size_t part; /* of the pointer in fi_info */
	size_t offset;
	size_t size;
};

#define FIELD(part, type, member)                                                       \
	{                                                                               \
#member, offsetof(struct fi_info, part), offsetof(struct type, member), \
			sizeof(((struct type *)0)->member)                              \
	}
#define TX(member) FIELD(tx_attr, fi_tx_attr, member)
#define RX(member) FIELD(rx_attr, fi_rx_attr, member)
#define EP(member) FIELD(ep_attr, fi_ep_attr, member)
#define DOMAIN(member) FIELD(domain_attr, fi_domain_attr, member)

static char *field_at(struct fi_info *info, const struct field *field)
{
	return *(char **)((char *)info + field->part) + field->offset;
}

static void field_set(struct fi_info *info, const struct field *field, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	if (field->size == sizeof(word))
		memcpy(field_at(info, field), &word, sizeof(word));
	else
		memcpy(field_at(info, field), &value, sizeof(value));
}

static uint64_t field_get(struct fi_info *info, const struct field *field)
{
	uint64_t value;
	uint32_t word;

	if (field->size == sizeof(word)) {
		memcpy(&word, field_at(info, field), sizeof(word));
		return word;
	}
	memcpy(&value, field_at(info, field), sizeof(value));
	return value;
}

#define REFUSED (UINT64_MAX - 1)

/* One wish at a time, everything else left open. */
CT_TEST(attr, each_wish_is_granted_or_refused_on_its_own)
{
	static const struct {
		struct field field;
		uint64_t asked;
		uint64_t answer; /* or REFUSED */
	} rows[] = {
		/* sizes: at most what is offered; the answer is the wish */
		{TX(inject_size), 0, 101},
		{TX(inject_size), 1, 1},
		{TX(inject_size), 101, 101},
		{TX(inject_size), 102, REFUSED},
		{TX(size), 0, 102},
		{TX(size), 1, 1},
		{TX(size), 102, 102},
		{TX(size), 103, REFUSED},
		{TX(iov_limit), 0, 103},
		{TX(iov_limit), 2, 2},
		{TX(iov_limit), 104, REFUSED},
		{TX(rma_iov_limit), 0, 104},
		{TX(rma_iov_limit), 1, 1},
		{TX(rma_iov_limit), 105, REFUSED},
		{RX(size), 0, 201},
		{RX(size), 3, 3},
		{RX(size), 202, REFUSED},
		{RX(iov_limit), 0, 202},
		{RX(iov_limit), 1, 1},
		{RX(iov_limit), 203, REFUSED},
		{RX(total_buffered_recv), 1u << 20, 0},

		/* sets: within what is offered */
		{TX(op_flags), 0, 0},
		{TX(op_flags), FI_COMPLETION, FI_COMPLETION},
		{TX(op_flags), FI_COMPLETION | FI_INJECT, FI_COMPLETION | FI_INJECT},
		{TX(op_flags), FI_DELIVERY_COMPLETE, REFUSED},
		{TX(op_flags), FI_COMPLETION | FI_DELIVERY_COMPLETE, REFUSED},
		{RX(op_flags), 0, 0},
		{RX(op_flags), FI_COMPLETION, FI_COMPLETION},
		{RX(op_flags), FI_MULTI_RECV, REFUSED},
		{TX(msg_order), FI_ORDER_SAS, FI_ORDER_SAS},
		{TX(msg_order), FI_ORDER_SAS | FI_ORDER_WAR, REFUSED},
		{TX(msg_order), FI_ORDER_RMA_RAR, REFUSED},
		{RX(msg_order), FI_ORDER_WAW, FI_ORDER_WAW},
		{RX(msg_order), FI_ORDER_RAW, REFUSED},
		{TX(comp_order), 0, CRN_ORDER_STRICT},
		{TX(comp_order), CRN_ORDER_STRICT, CRN_ORDER_STRICT},
		{TX(comp_order), CRN_ORDER_DATA, REFUSED},
		{RX(comp_order), CRN_ORDER_DATA, CRN_ORDER_DATA},

		/* traffic class: taken as it is */
		{TX(tclass), FI_TC_LOW_LATENCY, FI_TC_LOW_LATENCY},
		{DOMAIN(tclass), FI_TC_BULK_DATA, FI_TC_BULK_DATA},

		/* endpoint: the offer's values are told, not the wishes */
		{EP(type), FI_EP_MSG, FI_EP_MSG},
		{EP(type), FI_EP_UNSPEC, FI_EP_MSG},
		{EP(type), FI_EP_RDM, REFUSED},
		{EP(type), FI_EP_DGRAM, REFUSED},
		{EP(protocol), FI_PROTO_RDMA_CM_IB_RC, FI_PROTO_RDMA_CM_IB_RC},
		{EP(protocol), FI_PROTO_IWARP, REFUSED},
		{EP(protocol_version), 2, 3},
		{EP(protocol_version), 3, 3},
		{EP(protocol_version), 4, REFUSED},
		{EP(max_msg_size), 1, 301},
		{EP(max_msg_size), 301, 301},
		{EP(max_msg_size), 302, REFUSED},
		{EP(msg_prefix_size), 8, 40},
		{EP(msg_prefix_size), 48, REFUSED},
		{EP(max_order_raw_size), 302, 302},
		{EP(max_order_raw_size), 303, REFUSED},
		{EP(max_order_war_size), 303, 0},
		{EP(max_order_war_size), 304, REFUSED},
		{EP(max_order_waw_size), 304, 304},
		{EP(max_order_waw_size), 305, REFUSED},
		{EP(auth_key_size), 1, REFUSED},

		/* contexts of an endpoint: the domain's limits; shared ones where it has
		   them */
		{EP(tx_ctx_cnt), 0, 1},
		{EP(tx_ctx_cnt), 5, 5},
		{EP(tx_ctx_cnt), 6, REFUSED},
		{EP(tx_ctx_cnt), FI_SHARED_CONTEXT, REFUSED},
		{EP(rx_ctx_cnt), 0, 1},
		{EP(rx_ctx_cnt), 6, 6},
		{EP(rx_ctx_cnt), 7, REFUSED},
		{EP(rx_ctx_cnt), FI_SHARED_CONTEXT, FI_SHARED_CONTEXT},

		/* domain */
		{DOMAIN(threading), FI_THREAD_DOMAIN, FI_THREAD_DOMAIN},
		{DOMAIN(threading), 77, REFUSED},
		{DOMAIN(control_progress), 0, FI_PROGRESS_AUTO},
		{DOMAIN(control_progress), FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL},
		{DOMAIN(control_progress), CRN_PROGRESS_CONTROL_UNIFIED,
		 CRN_PROGRESS_CONTROL_UNIFIED},
		{DOMAIN(control_progress), 4, REFUSED},
		{DOMAIN(data_progress), 0, FI_PROGRESS_MANUAL},
		{DOMAIN(data_progress), FI_PROGRESS_AUTO, FI_PROGRESS_AUTO},
		{DOMAIN(data_progress), FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL},
		{DOMAIN(data_progress), 4, REFUSED},
		{DOMAIN(resource_mgmt), 0, FI_RM_ENABLED},
		{DOMAIN(resource_mgmt), FI_RM_ENABLED, FI_RM_ENABLED},
		{DOMAIN(resource_mgmt), FI_RM_DISABLED, FI_RM_DISABLED},
		{DOMAIN(resource_mgmt), 3, REFUSED},
		{DOMAIN(av_type), FI_AV_TABLE, FI_AV_TABLE},
		{DOMAIN(av_type), FI_AV_MAP, FI_AV_MAP},
		{DOMAIN(mr_key_size), 4, 8},
		{DOMAIN(mr_key_size), 9, REFUSED},
		{DOMAIN(cq_data_size), 4, 4},
		{DOMAIN(cq_data_size), 8, REFUSED},
		{DOMAIN(cq_cnt), 1, 401},
		{DOMAIN(cq_cnt), 402, REFUSED},
		{DOMAIN(ep_cnt), 1, 402},
		{DOMAIN(ep_cnt), 403, REFUSED},
		{DOMAIN(tx_ctx_cnt), 1, 403},
		{DOMAIN(tx_ctx_cnt), 404, REFUSED},
		{DOMAIN(rx_ctx_cnt), 1, 404},
		{DOMAIN(rx_ctx_cnt), 405, REFUSED},
		{DOMAIN(max_ep_tx_ctx), 1, 5},
		{DOMAIN(max_ep_tx_ctx), 6, REFUSED},
		{DOMAIN(max_ep_rx_ctx), 1, 6},
		{DOMAIN(max_ep_rx_ctx), 7, REFUSED},
		{DOMAIN(max_ep_stx_ctx), 0, 0},
		{DOMAIN(max_ep_stx_ctx), 1, REFUSED},
		{DOMAIN(max_ep_srx_ctx), 1, 7},
		{DOMAIN(max_ep_srx_ctx), 8, REFUSED},
		{DOMAIN(cntr_cnt), 1, 405},
		{DOMAIN(cntr_cnt), 406, REFUSED},
		{DOMAIN(mr_iov_limit), 1, 9},
		{DOMAIN(mr_iov_limit), 10, REFUSED},
		{DOMAIN(caps), FI_LOCAL_COMM, FI_LOCAL_COMM | FI_REMOTE_COMM},
		{DOMAIN(caps), FI_SHARED_AV, REFUSED},
		{DOMAIN(mode), FI_CONTEXT2, 0},
		{DOMAIN(auth_key_size), 1, REFUSED},
		{DOMAIN(max_err_data), 1, 406},
		{DOMAIN(max_err_data), 407, REFUSED},
		{DOMAIN(mr_cnt), 1, 407},
		{DOMAIN(mr_cnt), 408, REFUSED},
	};
	struct fi_info *hints, *answer;
	size_t i;
	int ret;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s asked for %ju", rows[i].field.name, (uintmax_t)rows[i].asked);
		ct_log_reset();
		hints = fi_allocinfo();
		field_set(hints, &rows[i].field, rows[i].asked);
		ret = ask(hints, &answer);
		if (rows[i].answer == REFUSED) {
			CT_EXPECT_EQ(ret, -FI_ENODATA);
			CT_EXPECT_EQ(ct_log_count(), 1);
			CT_EXPECT_STRSTR(ct_log_last(), rows[i].field.name);
		} else {
			CT_EXPECT_EQ(ret, 0);
			CT_EXPECT_EQ(ct_log_count(), 0);
		}
		if (!ret)
			CT_EXPECT_EQ(field_get(answer, &rows[i].field), rows[i].answer);
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

CT_TEST(attr, capabilities_are_granted_as_asked_and_split_by_direction)
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
	struct fi_info *hints, *answer;
	size_t i;
	int ret;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		ct_log_reset();
		hints = fi_allocinfo();
		hints->caps = rows[i].asked;
		ret = ask(hints, &answer);
		if (rows[i].caps == REFUSED) {
			CT_EXPECT_EQ(ret, -FI_ENODATA);
			CT_EXPECT_STRSTR(ct_log_last(), "caps");
		} else {
			CT_EXPECT_EQ(ret, 0);
		}
		if (!ret) {
			CT_EXPECT_EQ(answer->caps, rows[i].caps);
			CT_EXPECT_EQ(answer->tx_attr->caps, rows[i].tx);
			CT_EXPECT_EQ(answer->rx_attr->caps, rows[i].rx);
		}
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

/* fi_getinfo(3): a bare FI_MSG implies both ways, which a one-way offer cannot give. */
CT_TEST(attr, a_one_way_offer_does_not_satisfy_a_wish_for_both_ways)
{
	struct fi_info *offer = make_offer(), *hints = fi_allocinfo(), *answer;

	offer->caps = FI_MSG | FI_SEND | FI_RMA | FI_WRITE;
	hints->caps = FI_MSG;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), -FI_ENODATA);
	hints->caps = FI_RMA;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), -FI_ENODATA);
	hints->caps = FI_MSG | FI_SEND;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), 0);
	CT_EXPECT_EQ(answer->caps, FI_MSG | FI_SEND);
	fi_freeinfo(answer);
	fi_freeinfo(hints);
	fi_freeinfo(offer);
}

CT_TEST(attr, context_capabilities_stay_within_the_infos)
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
	struct fi_info *hints, *answer;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		hints = fi_allocinfo();
		hints->caps = rows[i].caps;
		hints->tx_attr->caps = rows[i].tx;
		hints->rx_attr->caps = rows[i].rx;
		CT_EXPECT_EQ(ask(hints, &answer), rows[i].ret);
		if (answer) {
			CT_EXPECT_EQ(answer->tx_attr->caps, rows[i].tx_answer);
			CT_EXPECT_EQ(answer->rx_attr->caps, rows[i].rx_answer);
		}
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

CT_TEST(attr, modes_that_are_needed_must_be_possible)
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
	struct fi_info *offer, *hints, *answer;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		offer = make_offer();
		offer->mode = rows[i].needed;
		offer->domain_attr->mode = rows[i].domain_needed;
		hints = fi_allocinfo();
		hints->mode = rows[i].able;
		hints->domain_attr->mode = rows[i].domain_able;
		CT_EXPECT_EQ(ask_offer(offer, hints, &answer), rows[i].ret);
		if (answer)
			CT_EXPECT_EQ(answer->mode, rows[i].mode);
		fi_freeinfo(offer);
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

/* The offer has FI_ASYNC_IOV for tx and FI_RX_CQ_DATA for rx, neither of them needed. */
CT_TEST(attr, extra_modes_are_told_to_those_who_are_able)
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
	struct fi_info *offer, *hints, *answer;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		offer = make_offer();
		offer->tx_attr->mode = FI_ASYNC_IOV;
		hints = fi_allocinfo();
		hints->mode = rows[i].able;
		hints->tx_attr->mode = rows[i].tx_able;
		hints->rx_attr->mode = rows[i].rx_able;
		CT_EXPECT_EQ(ask_offer(offer, hints, &answer), 0);
		CT_ASSERT_NE(answer, NULL);
		CT_EXPECT_EQ(answer->tx_attr->mode, rows[i].tx);
		CT_EXPECT_EQ(answer->rx_attr->mode, rows[i].rx);
		fi_freeinfo(offer);
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

CT_TEST(attr, names_are_compared_whole)
{
	static const struct {
		const char *domain, *fabric;
		int ret;
	} rows[] = {
		{NULL, NULL, 0},
		{"device0", NULL, 0},
		{NULL, "fabric0", 0},
		{"device0", "fabric0", 0},
		{"device", NULL, -FI_ENODATA},
		{"device01", NULL, -FI_ENODATA},
		{"", NULL, -FI_ENODATA},
		{NULL, "Fabric0", -FI_ENODATA},
		{"device0", "fabric1", -FI_ENODATA},
	};
	struct fi_info *hints, *answer;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("domain %s, fabric %s", rows[i].domain, rows[i].fabric);
		hints = fi_allocinfo();
		if (rows[i].domain)
			hints->domain_attr->name = strdup(rows[i].domain);
		if (rows[i].fabric)
			hints->fabric_attr->name = strdup(rows[i].fabric);
		hints->fabric_attr->prov_name = strdup("another;name");
		hints->fabric_attr->prov_version = UINT32_MAX;
		CT_EXPECT_EQ(ask(hints, &answer), rows[i].ret);
		if (answer)
			CT_EXPECT_STREQ(answer->domain_attr->name, "device0");
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

CT_TEST(attr, an_offer_without_a_name_is_nobodys)
{
	struct fi_info *offer = fi_allocinfo(), *hints = fi_allocinfo(), *answer;

	hints->domain_attr->name = strdup("device0");
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "device0");
	fi_freeinfo(hints);
	fi_freeinfo(offer);
}

CT_TEST(attr, socket_address_formats_match_their_family_or_any)
{
	static const struct {
		uint32_t offered, asked;
		int ret;
	} rows[] = {
		{FI_SOCKADDR_IN, FI_FORMAT_UNSPEC, 0},
		{FI_SOCKADDR_IN, FI_SOCKADDR_IN, 0},
		{FI_SOCKADDR_IN, FI_SOCKADDR, 0},
		{FI_SOCKADDR_IN, FI_SOCKADDR_IN6, -FI_ENODATA},
		{FI_SOCKADDR_IN6, FI_SOCKADDR, 0},
		{FI_SOCKADDR_IN6, FI_SOCKADDR_IN, -FI_ENODATA},
		{FI_SOCKADDR, FI_SOCKADDR_IN, 0},
		{FI_SOCKADDR, FI_SOCKADDR_IN6, 0},
		{FI_SOCKADDR, FI_SOCKADDR, 0},
		{FI_SOCKADDR, FI_ADDR_STR, -FI_ENODATA},
		{FI_SOCKADDR_IN, FI_ADDR_STR, -FI_ENODATA},
		{FI_ADDR_IB_UD, FI_SOCKADDR, -FI_ENODATA},
		{FI_ADDR_IB_UD, FI_ADDR_IB_UD, 0},
	};
	struct fi_info *offer, *hints, *answer;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("offered %u, asked for %u", rows[i].offered, rows[i].asked);
		offer = make_offer();
		offer->addr_format = rows[i].offered;
		hints = fi_allocinfo();
		hints->addr_format = rows[i].asked;
		CT_EXPECT_EQ(ask_offer(offer, hints, &answer), rows[i].ret);
		if (answer)
			CT_EXPECT_EQ(answer->addr_format, rows[i].offered);
		fi_freeinfo(offer);
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

/* fi_domain(3), from the one who must guard nothing to the one who must guard all. */
CT_TEST(attr, a_threading_level_is_satisfied_by_every_provider_that_guards_as_much)
{
	static const enum fi_threading levels[] = {FI_THREAD_SAFE, FI_THREAD_FID,
						   FI_THREAD_ENDPOINT,
						   FI_THREAD_COMPLETION,
						   FI_THREAD_DOMAIN};
	struct fi_info *offer, *hints, *answer;
	size_t offered, asked;

	for (offered = 0; offered < CRN_COUNT(levels); offered++) {
		for (asked = 0; asked < CRN_COUNT(levels); asked++) {
			CT_NOTE("offered %u, asked for %u", levels[offered],
				levels[asked]);
			offer = make_offer();
			offer->domain_attr->threading = levels[offered];
			hints = fi_allocinfo();
			hints->domain_attr->threading = levels[asked];
			CT_EXPECT_EQ(ask_offer(offer, hints, &answer),
				     offered <= asked ? 0 : -FI_ENODATA);
			fi_freeinfo(offer);
			fi_freeinfo(hints);
			fi_freeinfo(answer);
		}
	}
}

CT_TEST(attr, wishes_that_only_a_wider_offer_would_grant)
{
	struct fi_info *offer = make_offer(), *hints = fi_allocinfo(), *answer;

	offer->domain_attr->resource_mgmt = FI_RM_DISABLED;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), -FI_ENODATA);
	hints->domain_attr->resource_mgmt = FI_RM_DISABLED;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), 0);
	fi_freeinfo(answer);

	offer->domain_attr->av_type = FI_AV_TABLE;
	hints->domain_attr->av_type = FI_AV_MAP;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), -FI_ENODATA);
	hints->domain_attr->av_type = FI_AV_TABLE;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), 0);
	fi_freeinfo(answer);

	offer->domain_attr->max_ep_srx_ctx = 0;
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	CT_EXPECT_EQ(ask_offer(offer, hints, &answer), -FI_ENODATA);
	fi_freeinfo(offer);
	fi_freeinfo(hints);
}

CT_TEST(attr, order_sizes_are_told_for_orders_that_are_kept_only)
{
	static const struct {
		const char *name;
		uint64_t order;
		size_t raw, war, waw;
	} rows[] = {
		{"none", FI_ORDER_SAS, 0, 0, 0},
		{"read after write", FI_ORDER_RAW, 302, 0, 0},
		{"write after read", FI_ORDER_WAR, 0, 303, 0},
		{"write after write", FI_ORDER_WAW, 0, 0, 304},
		{"of RMA", FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW, 302,
		 303, 304},
		{"of atomics",
		 FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW, 302,
		 303, 304},
		{"no wish: all that is offered", 0, 302, 303, 304},
	};
	struct fi_info *offer, *hints, *answer;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		offer = make_offer();
		offer->tx_attr->msg_order = ~0ULL;
		hints = fi_allocinfo();
		hints->tx_attr->msg_order = rows[i].order;
		CT_EXPECT_EQ(ask_offer(offer, hints, &answer), 0);
		CT_ASSERT_NE(answer, NULL);
		CT_EXPECT_EQ(answer->ep_attr->max_order_raw_size, rows[i].raw);
		CT_EXPECT_EQ(answer->ep_attr->max_order_war_size, rows[i].war);
		CT_EXPECT_EQ(answer->ep_attr->max_order_waw_size, rows[i].waw);
		fi_freeinfo(offer);
		fi_freeinfo(hints);
		fi_freeinfo(answer);
	}
}

CT_TEST(attr, without_hints_the_offer_is_told_whole)
{
	struct fi_info *offer = make_offer(), *answer;

	CT_EXPECT_EQ(ask_offer(offer, NULL, &answer), 0);
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_EQ(answer->caps, offer->caps);
	CT_EXPECT_EQ(answer->mode, offer->mode);
	CT_EXPECT_EQ(answer->tx_attr->size, offer->tx_attr->size);
	CT_EXPECT_EQ(answer->tx_attr->msg_order, offer->tx_attr->msg_order);
	CT_EXPECT_EQ(answer->tx_attr->op_flags, 0);
	CT_EXPECT_EQ(answer->rx_attr->op_flags, 0);
	CT_EXPECT_EQ(answer->rx_attr->mode, FI_RX_CQ_DATA);
	CT_EXPECT_EQ(answer->handle, NULL);
	CT_EXPECT_EQ(answer->fabric_attr->api_version, API);
	fi_freeinfo(answer);
	fi_freeinfo(offer);
}

CT_TEST(attr, hints_may_lack_any_structure)
{
	struct fi_info bare = {.caps = FI_MSG};
	struct fi_info *answer;

	CT_EXPECT_EQ(ask(&bare, &answer), 0);
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_EQ(answer->tx_attr->size, 102);
	fi_freeinfo(answer);
}

/* fi_getinfo(3): a passive endpoint's handle is copied. */
CT_TEST(attr, the_handle_of_the_hints_is_in_the_answer)
{
	struct fi_info *hints = fi_allocinfo(), *answer;
	struct fid pep;

	hints->handle = &pep;
	CT_EXPECT_EQ(ask(hints, &answer), 0);
	CT_ASSERT_NE(answer, NULL);
	CT_EXPECT_EQ(answer->handle, &pep);
	fi_freeinfo(hints);
	fi_freeinfo(answer);
}

/* What fi_getinfo gave is the usual argument of the next fi_getinfo. */
CT_TEST(attr, an_answer_used_as_hints_gives_the_same_answer)
{
	struct fi_info *offer = make_offer(), *hints = fi_allocinfo(), *first, *second;
	char *texts[2];

	hints->caps = FI_MSG | FI_RMA | FI_WRITE;
	hints->mode = ~0ULL;
	hints->tx_attr->size = 10;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	CT_EXPECT_EQ(ask_offer(offer, NULL, &first), 0);
	CT_EXPECT_EQ(ask_offer(offer, first, &second), 0);
	fi_freeinfo(first);
	fi_freeinfo(second);

	CT_EXPECT_EQ(ask_offer(offer, hints, &first), 0);
	CT_EXPECT_EQ(ask_offer(offer, first, &second), 0);
	CT_ASSERT_NE(second, NULL);
	second->mode = first->mode;
	texts[0] = strdup(fi_tostr(first, FI_TYPE_INFO));
	texts[1] = strdup(fi_tostr(second, FI_TYPE_INFO));
	CT_EXPECT_STREQ(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	fi_freeinfo(first);
	fi_freeinfo(second);
	fi_freeinfo(hints);
	fi_freeinfo(offer);
}

CT_TEST(attr, the_log_line_tells_what_was_asked_and_what_is_offered)
{
	struct fi_info *hints = fi_allocinfo(), *answer;

	hints->tx_attr->size = 1000;
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "1000");
	CT_EXPECT_STRSTR(ct_log_last(), "102");
	hints->tx_attr->size = 0;

	hints->caps = FI_MSG | FI_TAGGED;
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_TAGGED");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_RMA");
	hints->caps = 0;

	hints->ep_attr->type = FI_EP_RDM;
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_RDM");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_MSG");
	hints->ep_attr->type = FI_EP_UNSPEC;

	hints->domain_attr->name = strdup("device7");
	CT_EXPECT_EQ(ask(hints, &answer), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "device7");
	CT_EXPECT_STRSTR(ct_log_last(), "device0");
	fi_freeinfo(hints);
}
