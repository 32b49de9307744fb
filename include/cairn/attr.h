/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_getinfo: checking hints against what a provider offers, and making the answer.
 *
 * A provider describes each thing it offers as a filled struct fi_info (the "offer"); the
 * rules, what may be smaller, what must be a subset, what must be equal, stand in a
 * table, a row an attribute. fi_getinfo(3) is the source of every rule.
 */
#ifndef CRN_ATTR_H
#define CRN_ATTR_H

#include <rdma/fabric.h>

struct fi_provider;

/*
 * Would the offer satisfy the hints? 0, or -FI_ENODATA with one FI_INFO log line
 * (subsystem FI_LOG_CORE) that names the attribute, what was asked and what is offered.
 * hints may be NULL. Checked: caps, mode, address format, ep type and protocol, tx, rx,
 * ep, domain and fabric attributes; mr_mode against the offer's domain_attr->mr_mode, the
 * bits it requires when everything it offers is used (see crn_attr_mr_required).
 *
 * Rules that are easy to get wrong:
 * - hints->mode (and domain mode) are what the application is able to do, the offer's
 *   what it needs: bits missing in the hints, -FI_ENODATA. Bits of the offer's rx and tx
 *   mode are optional extras: dropped from the answer when the hints lack them.
 * - Zero means "not requested" everywhere but in mode and mr_mode.
 * - Caps of FI_MSG, FI_RMA, FI_ATOMIC without a direction mean every direction; with one,
 *   only those. Caps of tx_attr and rx_attr must be within the info's.
 * - Orders and op_flags asked for must be a subset of what is offered, sizes at most.
 * - Names of fabric and domain are compared whole; prov_name and prov_version are the
 *   core's business, and not compared.
 * - auth_key is refused when given with a length.
 * - Threading: every level is satisfied by an offer of FI_THREAD_SAFE.
 * - Progress: FI_PROGRESS_AUTO, MANUAL and CRN_PROGRESS_CONTROL_UNIFIED are all accepted.
 * - resource_mgmt: FI_RM_ENABLED asked needs FI_RM_ENABLED offered.
 * - av_type: must match unless one is FI_AV_UNSPEC. Traffic class: accepted as is.
 */
int crn_attr_check(const struct fi_provider *prov, uint32_t api_version,
		   const struct fi_info *offer, const struct fi_info *hints);

/*
 * The bits of an offer's mr_mode that still apply with these caps (fi_mr(3)): when no
 * peer may read or write, only FI_MR_LOCAL.
 */
int crn_attr_mr_required(int offered, uint64_t caps);

/*
 * fi_mr(3) mr_mode negotiation. required: bits the provider needs for the caps. 0 and the
 * mode to report in *mode, or -FI_ENODATA.
 * - api_version >= 1.5: every required bit must be in hinted; the answer is exactly the
 *   required bits.
 * - CRN_MR_BASIC (any version; CRN_MR_UNSPEC below 1.5) grants ALLOCATED, PROV_KEY and
 *   VIRT_ADDR, CRN_MR_SCALABLE nothing; both grant FI_MR_LOCAL when hints_mode has
 *   CRN_LOCAL_MR. The answer is the old value. Mixed with bits: -FI_ENODATA.
 * - hinted NULL (no domain attributes given): the required bits, CRN_MR_BASIC below 1.5.
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
 * Turns an offer that passed crn_attr_check into the answer for the hints: caps; the
 * wished sizes, limits, context counts, orders, threading, progress, resource_mgmt,
 * av_type and tclass where given, the offer's otherwise; op_flags the wished ones only,
 * for they become defaults of every operation; handle copied from the hints; mr_mode as
 * given, with CRN_LOCAL_MR in mode beside the old values; max_order sizes 0 for orders
 * that are not in the reported msg_order; fabric_attr->api_version. hints may be NULL.
 */
void crn_attr_apply(struct fi_info *info, uint32_t api_version,
		    const struct fi_info *hints, int mr_mode);

#endif
