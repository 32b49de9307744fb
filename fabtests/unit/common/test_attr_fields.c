/* SPDX-License-Identifier: BSD-2-Clause */
/* One wish at a time: which values each field of the hints may have. */
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "attr_world.h"
#include "cairn_test.h"

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

CT_FIXTURE(attr, struct attr_scene, attr_begin, attr_end);

/* One wish at a time, everything else left open. */
CT_TEST_F(attr, each_wish_is_granted_or_refused_on_its_own)
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
		{DOMAIN(threading), FI_THREAD_ENDPOINT + 1, REFUSED},
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
	int ret;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s asked for %ju", rows[i].field.name, (uintmax_t)rows[i].asked);
		ct_log_reset();
		attr_begin(t);
		field_set(t->hints, &rows[i].field, rows[i].asked);
		ret = ask(t);
		if (rows[i].answer == REFUSED) {
			CT_EXPECT_EQ(ret, -FI_ENODATA);
			CT_EXPECT_EQ(ct_log_count(), 1);
			CT_EXPECT_STRSTR(ct_log_last(), rows[i].field.name);
		} else {
			CT_EXPECT_EQ(ret, 0);
			CT_EXPECT_EQ(ct_log_count(), 0);
		}
		if (!ret)
			CT_EXPECT_EQ(field_get(t->answer, &rows[i].field),
				     rows[i].answer);
	}
}
