/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/attr.h>
#include <cairn/compat.h>
#include "attr_rules.h"

#define MSG_DIRECTIONS (FI_SEND | FI_RECV)
#define RMA_DIRECTIONS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define COMM_CAPS (FI_LOCAL_COMM | FI_REMOTE_COMM)

/* fi_mr(3), "Basic Memory Registration" */
#define MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

#define TEXT_LEN 512

/* A field found in an info; at is NULL when the info lacks the structure it is in. */
struct value {
	const void *at;
	uint64_t number;
};

static void *attr_part(const struct fi_info *info, enum crn_attr_part part)
{
	switch (part) {
	case CRN_ATTR_INFO:
		return (void *)info;
	case CRN_ATTR_TX:
		return info->tx_attr;
	case CRN_ATTR_RX:
		return info->rx_attr;
	case CRN_ATTR_EP:
		return info->ep_attr;
	case CRN_ATTR_DOMAIN:
		return info->domain_attr;
	case CRN_ATTR_FABRIC:
		return info->fabric_attr;
	}
	return NULL;
}

static struct value attr_load(const struct fi_info *info,
			      const struct crn_attr_field *field)
{
	const char *part = attr_part(info, field->part);
	struct value value = {NULL, 0};
	uint32_t word;

	if (!part)
		return value;
	value.at = part + field->offset;
	if (field->size == sizeof(word)) {
		memcpy(&word, value.at, sizeof(word));
		value.number = word;
	} else {
		memcpy(&value.number, value.at, sizeof(value.number));
	}
	return value;
}

static const char *attr_text(struct value value, int text, char buf[TEXT_LEN])
{
	if (text == CRN_TEXT_NUMBER)
		snprintf(buf, TEXT_LEN, "%" PRIu64, value.number);
	else if (text == CRN_TEXT_NAME)
		snprintf(buf, TEXT_LEN, "%s",
			 value.number ? (const char *)(uintptr_t)value.number
				      : "no name");
	else if (value.at)
		fi_tostr_r(buf, TEXT_LEN, value.at, (enum fi_type)text);
	return buf;
}

static int attr_refuse(const struct fi_provider *prov, const char *name,
		       const char *relation, int text, struct value asked,
		       struct value offered)
{
	char asked_buf[TEXT_LEN] = "", offered_buf[TEXT_LEN] = "";

	FI_INFO(prov, FI_LOG_CORE, "%s: asked for [%s], offered: %s [%s]\n", name,
		attr_text(asked, text, asked_buf), relation,
		attr_text(offered, text, offered_buf));
	return -FI_ENODATA;
}

/* fi_getinfo(3): without a direction, a capability means every direction it has. */
static uint64_t attr_caps_implied(uint64_t caps)
{
	if (caps & (FI_MSG | FI_TAGGED | FI_MULTICAST) && !(caps & MSG_DIRECTIONS))
		caps |= MSG_DIRECTIONS;
	if (caps & (FI_RMA | FI_ATOMIC) && !(caps & RMA_DIRECTIONS))
		caps |= RMA_DIRECTIONS;
	return caps;
}

uint64_t crn_attr_caps(const struct fi_info *offer, const struct fi_info *hints)
{
	if (!hints || !hints->caps)
		return offer->caps;
	return (attr_caps_implied(hints->caps) | COMM_CAPS) & offer->caps;
}

static int attr_check_caps(const struct fi_provider *prov, const struct fi_info *offer,
			   const struct fi_info *hints)
{
	uint64_t granted = crn_attr_caps(offer, hints);
	const struct {
		const char *name;
		uint64_t asked, offered;
	} rows[] = {
		{"INFO caps", attr_caps_implied(hints->caps), offer->caps},
		{"TX caps", hints->tx_attr ? hints->tx_attr->caps : 0, granted},
		{"RX caps", hints->rx_attr ? hints->rx_attr->caps : 0, granted},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		if (rows[i].asked & ~rows[i].offered)
			return attr_refuse(prov, rows[i].name, "any of", FI_TYPE_CAPS,
					   (struct value){&rows[i].asked, 0},
					   (struct value){&rows[i].offered, 0});
	}
	return 0;
}

static int attr_check_rows(const struct fi_provider *prov, const struct fi_info *offer,
			   const struct fi_info *hints)
{
	const struct crn_attr_row *row;
	struct value asked, offered;

	for (row = crn_attr_rows; row < crn_attr_rows + crn_attr_row_count; row++) {
		asked = attr_load(hints, &row->asked);
		if (!asked.at || (!asked.number && !row->rule.zero_counts))
			continue;
		offered = attr_load(offer, &row->offered);
		if (!row->rule.allows(asked.number, offered.number))
			return attr_refuse(prov, row->name, row->rule.relation, row->text,
					   asked, offered);
	}
	return 0;
}

int crn_attr_mr_required(int offered, uint64_t caps)
{
	return caps & (FI_REMOTE_READ | FI_REMOTE_WRITE) ? offered
							 : offered & FI_MR_LOCAL;
}

static int attr_check_mr(const struct fi_provider *prov, uint32_t api_version,
			 const struct fi_info *offer, const struct fi_info *hints)
{
	int required = crn_attr_mr_required(offer->domain_attr->mr_mode,
					    crn_attr_caps(offer, hints));
	int mode;

	if (!hints->domain_attr ||
	    !crn_attr_mr_mode(api_version, &hints->domain_attr->mr_mode, hints->mode,
			      required, &mode))
		return 0;
	return attr_refuse(prov, "DOMAIN mr_mode", "only with", FI_TYPE_MR_MODE,
			   (struct value){&hints->domain_attr->mr_mode, 0},
			   (struct value){&required, 0});
}

int crn_attr_check(const struct fi_provider *prov, uint32_t api_version,
		   const struct fi_info *offer, const struct fi_info *hints)
{
	int ret;

	if (!hints)
		return 0;
	ret = attr_check_caps(prov, offer, hints);
	if (!ret)
		ret = attr_check_rows(prov, offer, hints);
	if (!ret)
		ret = attr_check_mr(prov, api_version, offer, hints);
	return ret;
}

/* The modes of interfaces before 1.5, which 1.5 and later still know (fi_mr(3)). */
static int attr_mr_old_mode(int hinted, uint64_t hints_mode, int required, int *mode)
{
	int granted = hinted == CRN_MR_BASIC ? MR_BASIC_BITS : 0;

	if (hints_mode & CRN_LOCAL_MR)
		granted |= FI_MR_LOCAL;
	if (required & ~granted)
		return -FI_ENODATA;
	*mode = hinted;
	return 0;
}

int crn_attr_mr_mode(uint32_t api_version, const int *hinted, uint64_t hints_mode,
		     int required, int *mode)
{
	bool old = FI_VERSION_LT(api_version, FI_VERSION(1, 5));

	if (!hinted) {
		*mode = old ? CRN_MR_BASIC : required;
		return 0;
	}
	if (*hinted == CRN_MR_BASIC || *hinted == CRN_MR_SCALABLE)
		return attr_mr_old_mode(*hinted, hints_mode, required, mode);
	if (old && *hinted == CRN_MR_UNSPEC)
		return attr_mr_old_mode(CRN_MR_BASIC, hints_mode, required, mode);
	/* fi_mr(3): the old values stand alone, and they are all that old interfaces
	 * know. */
	if (old || *hinted & (CRN_MR_BASIC | CRN_MR_SCALABLE) || required & ~*hinted)
		return -FI_ENODATA;
	*mode = required;
	return 0;
}

static void attr_echo(struct fi_info *info, const struct fi_info *hints)
{
	const struct crn_attr_row *row;
	struct value asked;
	char *part;

	for (row = crn_attr_rows; row < crn_attr_rows + crn_attr_row_count; row++) {
		if (!row->echo)
			continue;
		asked = attr_load(hints, &row->asked);
		if (!asked.number)
			continue;
		part = attr_part(info, row->asked.part);
		memcpy(part + row->asked.offset, asked.at, row->asked.size);
	}
}

/* The capabilities of one direction: those asked of it, within those of the answer. */
static uint64_t attr_direction_caps(uint64_t asked, uint64_t granted, uint64_t offered)
{
	if (asked)
		granted &= attr_caps_implied(asked);
	return granted & offered;
}

/* fi_getinfo(3): without hints, every mode is reported. */
static void attr_apply_modes(struct fi_info *info, const struct fi_info *hints,
			     int mr_mode)
{
	uint64_t able = hints ? hints->mode : UINT64_MAX;
	uint64_t tx = hints && hints->tx_attr ? hints->tx_attr->mode : 0;
	uint64_t rx = hints && hints->rx_attr ? hints->rx_attr->mode : 0;

	info->tx_attr->mode &= tx ? tx : able;
	info->rx_attr->mode &= rx ? rx : able;
	if (mr_mode == CRN_MR_BASIC || mr_mode == CRN_MR_SCALABLE)
		info->mode |= able & CRN_LOCAL_MR;
}

/* fi_endpoint(3): a max_order size says how far an ordering that is kept reaches. */
static void attr_apply_order_sizes(struct fi_info *info)
{
	uint64_t order = info->tx_attr->msg_order;
	struct fi_ep_attr *ep = info->ep_attr;

	if (!(order & (FI_ORDER_RAW | FI_ORDER_RMA_RAW | FI_ORDER_ATOMIC_RAW)))
		ep->max_order_raw_size = 0;
	if (!(order & (FI_ORDER_WAR | FI_ORDER_RMA_WAR | FI_ORDER_ATOMIC_WAR)))
		ep->max_order_war_size = 0;
	if (!(order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_WAW)))
		ep->max_order_waw_size = 0;
}

void crn_attr_apply(struct fi_info *info, uint32_t api_version,
		    const struct fi_info *hints, int mr_mode)
{
	uint64_t tx_asked = hints && hints->tx_attr ? hints->tx_attr->caps : 0;
	uint64_t rx_asked = hints && hints->rx_attr ? hints->rx_attr->caps : 0;

	info->caps = crn_attr_caps(info, hints);
	info->tx_attr->caps =
		attr_direction_caps(tx_asked, info->caps, info->tx_attr->caps);
	info->rx_attr->caps =
		attr_direction_caps(rx_asked, info->caps, info->rx_attr->caps);
	info->domain_attr->mr_mode = mr_mode;
	info->fabric_attr->api_version = api_version;
	/* What is offered here is what may be asked for, not what every operation should
	 * do. */
	info->tx_attr->op_flags = 0;
	info->rx_attr->op_flags = 0;
	if (hints) {
		attr_echo(info, hints);
		info->handle = hints->handle;
	}
	attr_apply_modes(info, hints, mr_mode);
	attr_apply_order_sizes(info);
}
