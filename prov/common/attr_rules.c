/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <cairn/compat.h>
#include "attr_rules.h"

static bool at_most(uint64_t asked, uint64_t offered)
{
	return asked <= offered;
}

static bool subset(uint64_t asked, uint64_t offered)
{
	return !(asked & ~offered);
}

static bool superset(uint64_t asked, uint64_t offered)
{
	return !(offered & ~asked);
}

static bool same(uint64_t asked, uint64_t offered)
{
	return asked == offered;
}

static bool same_or_open(uint64_t asked, uint64_t offered)
{
	return asked == offered || !offered;
}

static bool same_name(uint64_t asked, uint64_t offered)
{
	return offered &&
	       !strcmp((const char *)(uintptr_t)asked, (const char *)(uintptr_t)offered);
}

static bool refused(uint64_t asked, uint64_t offered)
{
	return false;
}

static bool is_socket_format(uint64_t format)
{
	return format == FI_SOCKADDR || format == FI_SOCKADDR_IN ||
	       format == FI_SOCKADDR_IN6;
}

/* FI_SOCKADDR leaves the family open. */
static bool same_format(uint64_t asked, uint64_t offered)
{
	if (asked == FI_SOCKADDR || offered == FI_SOCKADDR)
		return is_socket_format(asked) && is_socket_format(offered);
	return asked == offered;
}

/* fi_endpoint(3): FI_SHARED_CONTEXT is not a count; max_ep_stx_ctx and _srx_ctx rule it.
 */
static bool at_most_unless_shared(uint64_t asked, uint64_t offered)
{
	return asked == FI_SHARED_CONTEXT || asked <= offered;
}

static bool shared_if_offered(uint64_t asked, uint64_t offered)
{
	return asked != FI_SHARED_CONTEXT || offered;
}

/* fi_domain(3): how much the provider guards, so that the application need not. */
static bool guards_enough(uint64_t asked, uint64_t offered)
{
	static const uint8_t rank[] = {
		[FI_THREAD_DOMAIN] = 1,	  [FI_THREAD_COMPLETION] = 2,
		[FI_THREAD_ENDPOINT] = 3, [FI_THREAD_FID] = 4,
		[FI_THREAD_SAFE] = 5,
	};

	return asked < CRN_COUNT(rank) && offered < CRN_COUNT(rank) &&
	       rank[asked] <= rank[offered];
}

static bool known_progress(uint64_t asked, uint64_t offered)
{
	return asked <= CRN_PROGRESS_CONTROL_UNIFIED;
}

static bool managed_if_asked(uint64_t asked, uint64_t offered)
{
	return asked == FI_RM_DISABLED || (asked == FI_RM_ENABLED && offered == asked);
}

static bool anything(uint64_t asked, uint64_t offered)
{
	return true;
}

/* clang-format off */
#define AT_MOST {at_most, "at most", false}
#define SUBSET {subset, "any of", false}
#define SUPERSET {superset, "only with", true}
#define SAME {same, "only", false}
#define SAME_OR_OPEN {same_or_open, "only", false}
#define SAME_NAME {same_name, "only", false}
#define SAME_FORMAT {same_format, "only", false}
#define REFUSED {refused, "none:", false}
#define CONTEXTS {at_most_unless_shared, "at most", false}
#define SHARED {shared_if_offered, "shared contexts:", false}
#define THREADING {guards_enough, "at most", false}
#define PROGRESS {known_progress, "any known model, such as", false}
#define MANAGED {managed_if_asked, "only", false}
#define ANY {anything, "", false}

#define FIELD(part, type, field) \
	{part, offsetof(struct type, field), sizeof(((struct type *)0)->field)}
#define INFO(field) FIELD(CRN_ATTR_INFO, fi_info, field)
#define TX(field) FIELD(CRN_ATTR_TX, fi_tx_attr, field)
#define RX(field) FIELD(CRN_ATTR_RX, fi_rx_attr, field)
#define EP(field) FIELD(CRN_ATTR_EP, fi_ep_attr, field)
#define DOMAIN(field) FIELD(CRN_ATTR_DOMAIN, fi_domain_attr, field)
#define FABRIC(field) FIELD(CRN_ATTR_FABRIC, fi_fabric_attr, field)

#define NUMBER CRN_TEXT_NUMBER
#define NAME CRN_TEXT_NAME
#define ECHO true
#define KEEP false

#define ROW(part, field, rule, echo, text) \
	{#part " " #field, part(field), part(field), rule, echo, text}

const struct crn_attr_row crn_attr_rows[] = {
	ROW(INFO, mode, SUPERSET, KEEP, FI_TYPE_MODE),
	ROW(INFO, addr_format, SAME_FORMAT, KEEP, FI_TYPE_ADDR_FORMAT),

	ROW(TX, op_flags, SUBSET, ECHO, FI_TYPE_OP_FLAGS),
	ROW(TX, msg_order, SUBSET, ECHO, FI_TYPE_MSG_ORDER),
	ROW(TX, comp_order, SUBSET, ECHO, FI_TYPE_MSG_ORDER),
	ROW(TX, inject_size, AT_MOST, ECHO, NUMBER),
	ROW(TX, size, AT_MOST, ECHO, NUMBER),
	ROW(TX, iov_limit, AT_MOST, ECHO, NUMBER),
	ROW(TX, rma_iov_limit, AT_MOST, ECHO, NUMBER),
	ROW(TX, tclass, ANY, ECHO, NUMBER),

	/* total_buffered_recv is a hint that may be ignored (fi_endpoint(3)). */
	ROW(RX, op_flags, SUBSET, ECHO, FI_TYPE_OP_FLAGS),
	ROW(RX, msg_order, SUBSET, ECHO, FI_TYPE_MSG_ORDER),
	ROW(RX, comp_order, SUBSET, ECHO, FI_TYPE_MSG_ORDER),
	ROW(RX, size, AT_MOST, ECHO, NUMBER),
	ROW(RX, iov_limit, AT_MOST, ECHO, NUMBER),

	ROW(EP, type, SAME, KEEP, FI_TYPE_EP_TYPE),
	ROW(EP, protocol, SAME, KEEP, FI_TYPE_PROTOCOL),
	ROW(EP, protocol_version, AT_MOST, KEEP, NUMBER),
	ROW(EP, max_msg_size, AT_MOST, KEEP, NUMBER),
	ROW(EP, msg_prefix_size, AT_MOST, KEEP, NUMBER),
	ROW(EP, max_order_raw_size, AT_MOST, KEEP, NUMBER),
	ROW(EP, max_order_war_size, AT_MOST, KEEP, NUMBER),
	ROW(EP, max_order_waw_size, AT_MOST, KEEP, NUMBER),
	{"EP tx_ctx_cnt", EP(tx_ctx_cnt), DOMAIN(max_ep_tx_ctx), CONTEXTS, ECHO, NUMBER},
	{"EP tx_ctx_cnt", EP(tx_ctx_cnt), DOMAIN(max_ep_stx_ctx), SHARED, ECHO, NUMBER},
	{"EP rx_ctx_cnt", EP(rx_ctx_cnt), DOMAIN(max_ep_rx_ctx), CONTEXTS, ECHO, NUMBER},
	{"EP rx_ctx_cnt", EP(rx_ctx_cnt), DOMAIN(max_ep_srx_ctx), SHARED, ECHO, NUMBER},
	ROW(EP, auth_key_size, REFUSED, KEEP, NUMBER),

	ROW(DOMAIN, name, SAME_NAME, KEEP, NAME),
	ROW(DOMAIN, threading, THREADING, ECHO, FI_TYPE_THREADING),
	ROW(DOMAIN, control_progress, PROGRESS, ECHO, FI_TYPE_PROGRESS),
	ROW(DOMAIN, data_progress, PROGRESS, ECHO, FI_TYPE_PROGRESS),
	ROW(DOMAIN, resource_mgmt, MANAGED, ECHO, NUMBER),
	ROW(DOMAIN, av_type, SAME_OR_OPEN, ECHO, FI_TYPE_AV_TYPE),
	ROW(DOMAIN, mr_key_size, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, cq_data_size, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, cq_cnt, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, ep_cnt, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, tx_ctx_cnt, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, rx_ctx_cnt, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, max_ep_tx_ctx, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, max_ep_rx_ctx, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, max_ep_stx_ctx, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, max_ep_srx_ctx, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, cntr_cnt, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, mr_iov_limit, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, caps, SUBSET, KEEP, FI_TYPE_CAPS),
	ROW(DOMAIN, mode, SUPERSET, KEEP, FI_TYPE_MODE),
	ROW(DOMAIN, auth_key_size, REFUSED, KEEP, NUMBER),
	ROW(DOMAIN, max_err_data, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, mr_cnt, AT_MOST, KEEP, NUMBER),
	ROW(DOMAIN, tclass, ANY, ECHO, NUMBER),

	/* prov_name and prov_version are the core's business. */
	ROW(FABRIC, name, SAME_NAME, KEEP, NAME),
};
/* clang-format on */

const size_t crn_attr_row_count = CRN_COUNT(crn_attr_rows);
