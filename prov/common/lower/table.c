/* SPDX-License-Identifier: BSD-2-Clause */
/* A layer's table, walked over an info: down to the lower provider and up from it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <cairn/compat.h>
#include "internal.h"

#define TEXT_LEN 512

/* Old values of mr_mode, which are no bits (fi_mr(3)). */
#define MR_OLD (CRN_MR_BASIC | CRN_MR_SCALABLE)

/* What capabilities without a direction of their own may stand for on one side. */
#define TX_ONLY (FI_SEND | FI_READ | FI_WRITE)
#define RX_ONLY (FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)

#define NOWHERE SIZE_MAX
#define INFO(field)                                                        \
	{                                                                  \
		NOWHERE, offsetof(struct fi_info, field), sizeof(uint64_t) \
	}
#define PART(part, type, field)                                               \
	{                                                                     \
		offsetof(struct fi_info, part), offsetof(struct type, field), \
			sizeof(((struct type *)0)->field)                     \
	}
#define TX(field) PART(tx_attr, fi_tx_attr, field)
#define RX(field) PART(rx_attr, fi_rx_attr, field)
#define EP(field) PART(ep_attr, fi_ep_attr, field)
#define DOMAIN(field) PART(domain_attr, fi_domain_attr, field)

/* Where a value stands in an info. */
struct place {
	size_t part;   /* of the pointer to the structure it is in; NOWHERE: the info */
	size_t offset; /* in that */
	size_t size;   /* bytes of the value; 0: no place */
};

static const struct field {
	const char *name;
	int text;		/* of a set: enum fi_type; -1: a number */
	bool modes;		/* a set of what the program is able to do */
	struct place places[4]; /* the first one is the whole's */
} fields[CRN_LOWER_FIELDS] = {
	[CRN_LOWER_CAPS] = {"caps",
			    FI_TYPE_CAPS,
			    false,
			    {INFO(caps), TX(caps), RX(caps)}},
	[CRN_LOWER_MODE] = {"mode",
			    FI_TYPE_MODE,
			    true,
			    {INFO(mode), TX(mode), RX(mode), DOMAIN(mode)}},
	[CRN_LOWER_OP_FLAGS] = {"op_flags",
				FI_TYPE_OP_FLAGS,
				false,
				{TX(op_flags), RX(op_flags)}},
	[CRN_LOWER_MSG_ORDER] = {"msg_order",
				 FI_TYPE_MSG_ORDER,
				 false,
				 {TX(msg_order), RX(msg_order)}},
	[CRN_LOWER_COMP_ORDER] = {"comp_order",
				  FI_TYPE_MSG_ORDER,
				  false,
				  {TX(comp_order), RX(comp_order)}},
	[CRN_LOWER_MR_MODE] = {"mr_mode", FI_TYPE_MR_MODE, true, {DOMAIN(mr_mode)}},
	[CRN_LOWER_MAX_MSG_SIZE] = {"max_msg_size", -1, false, {EP(max_msg_size)}},
	[CRN_LOWER_INJECT_SIZE] = {"inject_size", -1, false, {TX(inject_size)}},
	[CRN_LOWER_TX_SIZE] = {"tx size", -1, false, {TX(size)}},
	[CRN_LOWER_RX_SIZE] = {"rx size", -1, false, {RX(size)}},
	[CRN_LOWER_TX_IOV] = {"tx iov_limit", -1, false, {TX(iov_limit)}},
	[CRN_LOWER_RX_IOV] = {"rx iov_limit", -1, false, {RX(iov_limit)}},
	[CRN_LOWER_RMA_IOV] = {"rma_iov_limit", -1, false, {TX(rma_iov_limit)}},
	[CRN_LOWER_CQ_DATA_SIZE] = {"cq_data_size", -1, false, {DOMAIN(cq_data_size)}},
	[CRN_LOWER_MR_KEY_SIZE] = {"mr_key_size", -1, false, {DOMAIN(mr_key_size)}},
};

static char *place_of(const struct fi_info *info, const struct place *place)
{
	char *part = (char *)info;

	if (place->part != NOWHERE)
		memcpy(&part, (const char *)info + place->part, sizeof(part));
	return part + place->offset;
}

static uint64_t place_load(const struct fi_info *info, const struct place *place)
{
	uint64_t value = 0;
	uint32_t word;

	if (place->size == sizeof(value)) {
		memcpy(&value, place_of(info, place), sizeof(value));
		return value;
	}
	memcpy(&word, place_of(info, place), sizeof(word));
	return word;
}

static void place_store(struct fi_info *info, const struct place *place, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	if (place->size == sizeof(value))
		memcpy(place_of(info, place), &value, sizeof(value));
	else
		memcpy(place_of(info, place), &word, sizeof(word));
}

/* The bits of the rows with that rule, or the number of the one that there is. */
static uint64_t table_value(const struct crn_lower_layer *layer, size_t field,
			    enum crn_lower_rule rule)
{
	const struct crn_lower_row *row;
	uint64_t value = 0;

	for (row = layer->table; row < layer->table + layer->rows; row++) {
		if (row->field == field && row->rule == rule)
			value |= row->value;
	}
	return value;
}

static int table_refuse(const struct crn_lower_layer *layer, const struct field *field,
			uint64_t bits)
{
	char text[TEXT_LEN] = "";
	const int word = (int)bits;

	fi_tostr_r(text, sizeof(text),
		   field->text == FI_TYPE_MR_MODE ? (const void *)&word
						  : (const void *)&bits,
		   (enum fi_type)field->text);
	FI_INFO(layer->prov, FI_LOG_CORE, "%s: %s [%s]\n", field->name,
		field->modes ? "the program has to offer" : "not offered:", text);
	return -FI_ENODATA;
}

static int table_too_much(const struct crn_lower_layer *layer, const struct field *field,
			  uint64_t asked, uint64_t most)
{
	FI_INFO(layer->prov, FI_LOG_CORE,
		"%s: asked for %" PRIu64 ", at most %" PRIu64 " is offered\n",
		field->name, asked, most);
	return -FI_ENODATA;
}

static bool is_old_mr(size_t field, uint64_t value)
{
	return field == CRN_LOWER_MR_MODE && (value & MR_OLD);
}

static int down_bits(const struct crn_lower_layer *layer, size_t i, struct fi_info *info)
{
	const struct field *field = &fields[i];
	const uint64_t pass = table_value(layer, i, CRN_LOWER_PASS);
	const uint64_t own = table_value(layer, i, CRN_LOWER_OWN);
	const uint64_t need = table_value(layer, i, CRN_LOWER_NEED);
	const struct place *place;
	uint64_t asked;

	for (place = field->places;
	     place < field->places + CRN_COUNT(field->places) && place->size; place++) {
		asked = place_load(info, place);
		if (is_old_mr(i, asked))
			continue;
		if (field->modes) {
			if (place == field->places && (own & ~asked))
				return table_refuse(layer, field, own & ~asked);
			place_store(info, place, (asked & pass) | need);
			continue;
		}
		if (asked & ~(pass | own))
			return table_refuse(layer, field, asked & ~(pass | own));
		/* Of capabilities, no wish is all of them; what one side shall have is
		 * left open where the layer has needs of its own. Of other sets it is
		 * none. */
		if (i == CRN_LOWER_CAPS && (!asked || (need && place != field->places)))
			place_store(info, place, 0);
		else
			place_store(info, place, (asked & pass) | need);
	}
	return 0;
}

static int down_number(const struct crn_lower_layer *layer, size_t i,
		       struct fi_info *info)
{
	const struct place *place = fields[i].places;
	const uint64_t shrink = table_value(layer, i, CRN_LOWER_SHRINK);
	const uint64_t own = table_value(layer, i, CRN_LOWER_OWN);
	const uint64_t need = table_value(layer, i, CRN_LOWER_NEED);
	uint64_t asked = place_load(info, place);

	if (own) {
		if (asked > own)
			return table_too_much(layer, &fields[i], asked, own);
		asked = 0;
	}
	if (asked && __builtin_add_overflow(asked, shrink, &asked))
		return table_too_much(layer, &fields[i], asked, UINT64_MAX - shrink);
	place_store(info, place, CRN_MAX(asked, need));
	return 0;
}

bool lower_owns_numbers(const struct crn_lower_layer *layer)
{
	size_t i;

	for (i = 0; i < CRN_LOWER_FIELDS; i++) {
		if (fields[i].text < 0 && table_value(layer, i, CRN_LOWER_OWN))
			return true;
	}
	return false;
}

void lower_fill_owned(const struct crn_lower_layer *layer, struct fi_info *info,
		      const struct fi_info *answer)
{
	const struct place *place;
	size_t i;

	for (i = 0; i < CRN_LOWER_FIELDS; i++) {
		place = fields[i].places;
		if (fields[i].text < 0 && table_value(layer, i, CRN_LOWER_OWN))
			place_store(info, place, place_load(answer, place));
	}
}

int lower_down(const struct crn_lower_layer *layer, struct fi_info *info)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < CRN_LOWER_FIELDS; i++)
		ret = fields[i].text < 0 ? down_number(layer, i, info)
					 : down_bits(layer, i, info);
	return ret;
}

/* Of the layer's own bits, those that the answer has in one place. */
static uint64_t up_own(size_t i, const struct place *place, uint64_t own, uint64_t wished)
{
	if (fields[i].modes)
		return place == fields[i].places ? own : 0;
	if (i != CRN_LOWER_CAPS)
		return own & wished;
	if (wished)
		own &= wished;
	if (place == &fields[i].places[1])
		own &= ~RX_ONLY;
	if (place == &fields[i].places[2])
		own &= ~TX_ONLY;
	return own;
}

/* Modes are what the layer is able to do, not what it needs; the capabilities of one side
 * are some of the whole's. */
static bool up_checked(size_t i, const struct place *place)
{
	return !fields[i].modes && (i != CRN_LOWER_CAPS || place == fields[i].places);
}

static int up_bits(const struct crn_lower_layer *layer, size_t i, struct fi_info *info,
		   const struct fi_info *hints)
{
	const struct field *field = &fields[i];
	const uint64_t pass = table_value(layer, i, CRN_LOWER_PASS);
	const uint64_t own = table_value(layer, i, CRN_LOWER_OWN);
	const uint64_t need = table_value(layer, i, CRN_LOWER_NEED);
	const struct place *place;
	uint64_t found, wished;

	for (place = field->places;
	     place < field->places + CRN_COUNT(field->places) && place->size; place++) {
		found = place_load(info, place);
		if ((need & ~found) && up_checked(i, place))
			return -FI_ENODATA;
		if (is_old_mr(i, found))
			continue;
		wished = place_load(hints, place);
		/* Of what the lower provider also has, the program sees what it wished.
		 */
		if (i == CRN_LOWER_CAPS && need && place_load(hints, field->places))
			found &= ~need | place_load(hints, field->places);
		place_store(info, place, (found & pass) | up_own(i, place, own, wished));
	}
	return 0;
}

static int up_number(const struct crn_lower_layer *layer, size_t i, struct fi_info *info,
		     const struct fi_info *hints)
{
	const struct place *place = fields[i].places;
	const uint64_t shrink = table_value(layer, i, CRN_LOWER_SHRINK);
	const uint64_t own = table_value(layer, i, CRN_LOWER_OWN);
	const uint64_t need = table_value(layer, i, CRN_LOWER_NEED);
	uint64_t found = place_load(info, place);
	uint64_t wished = place_load(hints, place);

	if (found < shrink || found < need)
		return -FI_ENODATA;
	place_store(info, place, own ? (wished ? wished : own) : found - shrink);
	return 0;
}

int lower_up(const struct crn_lower_layer *layer, struct fi_info *info,
	     const struct fi_info *hints)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < CRN_LOWER_FIELDS; i++)
		ret = fields[i].text < 0 ? up_number(layer, i, info, hints)
					 : up_bits(layer, i, info, hints);
	return ret;
}

static void hints_take(void **part, void **whole)
{
	if (*part)
		return;
	*part = *whole;
	*whole = NULL;
}

/* Zero is no wish everywhere but in modes, where it is none of them. */
struct fi_info *lower_hints(const struct fi_info *hints, uint32_t version)
{
	const bool no_domain = !hints || !hints->domain_attr;
	struct fi_info *whole = fi_allocinfo(), *copy;

	if (!whole || !hints) {
		copy = whole;
		whole = NULL;
	} else {
		copy = fi_dupinfo(hints);
	}
	if (copy && whole) {
		hints_take((void **)&copy->tx_attr, (void **)&whole->tx_attr);
		hints_take((void **)&copy->rx_attr, (void **)&whole->rx_attr);
		hints_take((void **)&copy->ep_attr, (void **)&whole->ep_attr);
		hints_take((void **)&copy->domain_attr, (void **)&whole->domain_attr);
		hints_take((void **)&copy->fabric_attr, (void **)&whole->fabric_attr);
	}
	if (whole)
		fi_freeinfo(whole);
	if (!copy)
		return NULL;
	if (!hints)
		copy->mode = UINT64_MAX;
	if (no_domain) {
		copy->domain_attr->mode = UINT64_MAX;
		if (FI_VERSION_GE(version, FI_VERSION(1, 5)))
			copy->domain_attr->mr_mode = ~MR_OLD;
	}
	return copy;
}
