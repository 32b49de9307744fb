/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_getinfo: checking hints against what a provider offers, and making the answer.
 *
 * A provider describes each thing it offers as a filled struct fi_info (the "offer"); the
 * rules, what may be smaller, what must be a subset, what must be equal, stand in tables
 * in attr.c, a row an attribute. fi_getinfo(3) is the source of every rule.
 */
#ifndef CRN_ATTR_H
#define CRN_ATTR_H

#include <rdma/fabric.h>

struct fi_provider;

/* Capabilities that an application asks for, and those a provider may add by itself. */
#define CRN_PRIMARY_CAPS                                                            \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_MULTICAST | FI_NAMED_RX_CTX | \
	 FI_DIRECTED_RECV | FI_VARIABLE_MSG | FI_HMEM | FI_COLLECTIVE | FI_READ |   \
	 FI_WRITE | FI_RECV | FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE)

/*
 * Would the offer satisfy the hints? 0, or -FI_ENODATA with one FI_INFO log line
 * (subsystem FI_LOG_CORE) that names the attribute, what was asked and what is offered.
 * hints may be NULL. Checked: caps, mode, address format, ep type and protocol, tx, rx,
 * ep, domain (with mr_mode, see below) and fabric attributes.
 *
 * Rules that are easy to get wrong:
 * - hints->mode (and tx/rx mode) are what the application is able to do; the offer's mode
 * bits are what it needs. Offer bits missing in the hints: -FI_ENODATA. Bits of the
 * offer's rx/tx mode are optional extras: dropped from the answer when the hints lack
 * them.
 * - zero means "no wish" everywhere but in mr_mode.
 * - caps of FI_MSG, FI_RMA, FI_ATOMIC without a direction mean every direction; with
 *   one, only those (fi_getinfo(3)); tx_attr and rx_attr caps must be within the info's.
 * - tx_attr->msg_order etc. asked must be a subset of what is offered; max_order_*_size
 * at most the offered.
 * - names of fabric and domain are compared whole; prov_name is the core's business, and
 * not compared.
 * - protocol_version at most the offered, if given; auth_key refused when given with a
 * length.
 * - threading: every level is satisfied by an offer of FI_THREAD_SAFE.
 * - progress: FI_PROGRESS_AUTO, MANUAL and CRN_PROGRESS_CONTROL_UNIFIED are all accepted.
 * - resource_mgmt: FI_RM_ENABLED asked needs FI_RM_ENABLED offered.
 * - av_type: must match unless one is FI_AV_UNSPEC. traffic class: FI_TC_UNSPEC or
 * accepted as is.
 */
int crn_attr_check(const struct fi_provider *prov, uint32_t api_version,
		   const struct fi_info *offer, const struct fi_info *hints);

/*
 * fi_mr(3) mr_mode negotiation. required: bits the provider needs for these caps. Returns
 * 0 and the mode to report in *mode, or -FI_ENODATA.
 * api_version >= 1.5: every required bit must be in hinted; the answer is exactly the
 * required bits (a subset of hinted). CRN_MR_BASIC is accepted as
 * "ALLOCATED|PROV_KEY|VIRT_ADDR", plus FI_MR_LOCAL only when mode has FI_LOCAL_MR; the
 * answer then is CRN_MR_BASIC. CRN_MR_SCALABLE: -FI_ENODATA unless required &
 * ~FI_MR_LOCAL is 0. Below 1.5: CRN_MR_UNSPEC and CRN_MR_BASIC give CRN_MR_BASIC;
 * FI_MR_LOCAL being required means that FI_LOCAL_MR must be in hints_mode and is reported
 * in the info's mode. hinted NULL (no domain attributes given): the required bits
 * (>= 1.5), CRN_MR_BASIC (below).
 */
int crn_attr_mr_mode(uint32_t api_version, const int *hinted, uint64_t hints_mode,
		     int required, int *mode);

/*
 * The capabilities to report: those hinted, with the directions a bare FI_MSG, FI_RMA or
 * FI_ATOMIC implies, plus the offer's secondary ones if hinted; FI_LOCAL_COMM and
 * FI_REMOTE_COMM of the offer always. No hints or hints->caps == 0: all of the offer's.
 */
uint64_t crn_attr_caps(const struct fi_info *offer, const struct fi_info *hints);

/*
 * Turns a fi_dupinfo'd offer, that passed crn_attr_check, into the answer for the hints:
 * caps, wished sizes (hinted tx/rx size and inject_size and iov limits when given, the
 * offer's otherwise), op_flags, msg_order, comp_order (the wished ones when given),
 * threading, progress, resource_mgmt, mode, handle copied from hints, tclass, mr_mode as
 * given. max_order sizes are 0 for orders that are not in the reported msg_order.
 */
void crn_attr_apply(struct fi_info *info, uint32_t api_version,
		    const struct fi_info *hints, int mr_mode);

#endif
