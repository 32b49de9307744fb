/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes asked for and given. */
#include "gi.h"

int fct_gi_data_progress(struct fct *t)
{
	static const enum fi_progress modes[] = {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO};
	struct fi_info *hints, *list = NULL, *info;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2; i++) {
		hints = fct_gi_hints(t, FI_MSG);
		hints->domain_attr->data_progress = modes[i];
		FCT_CALL(t, fct_gi_ask(hints, &list));
		for (info = list; info; info = info->next)
			FCT_EQ(t, info->domain_attr->data_progress, modes[i]);
		fi_freeinfo(list);
		list = NULL;
	}
out:
	fi_freeinfo(list);
	return ret;
}

/* AUTO is as good as MANUAL for who asked for MANUAL. */
int fct_gi_control_progress(struct fct *t)
{
	static const enum fi_progress modes[] = {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO};
	struct fi_info *hints, *list = NULL, *info;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2; i++) {
		hints = fct_gi_hints(t, FI_MSG);
		hints->domain_attr->control_progress = modes[i];
		FCT_CALL(t, fct_gi_ask(hints, &list));
		for (info = list; info; info = info->next)
			FCT_TRUE(t, info->domain_attr->control_progress == modes[i] ||
					    info->domain_attr->control_progress ==
						    FI_PROGRESS_AUTO);
		fi_freeinfo(list);
		list = NULL;
	}
out:
	fi_freeinfo(list);
	return ret;
}

/* From fully threaded to one thread a domain. */
static int level(enum fi_threading threading)
{
	switch ((int)threading) {
	case FI_THREAD_SAFE:
		return 0;
	case FI_THREAD_FID:
		return 1;
	case FI_THREAD_ENDPOINT:
		return 2;
	case FI_THREAD_COMPLETION:
		return 3;
	case FI_THREAD_DOMAIN:
		return 4;
	default:
		return 5;
	}
}

int fct_gi_threading(struct fct *t)
{
	static const enum fi_threading levels[] = {FI_THREAD_SAFE, FI_THREAD_COMPLETION,
						   FI_THREAD_DOMAIN, FI_THREAD_FID,
						   FI_THREAD_ENDPOINT};
	/* libfabric 2 has withdrawn the last two. */
	unsigned int n = FI_MAJOR(fi_version()) >= 2 ? 3 : 5;
	struct fi_info *hints, *list = NULL, *info;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n; i++) {
		hints = fct_gi_hints(t, FI_MSG);
		hints->domain_attr->threading = levels[i];
		ret = fct_gi_ask(hints, &list);
		if (ret)
			FCT_FAIL(t, "threading %d: %s", levels[i], fi_strerror(-ret));
		for (info = list; info; info = info->next)
			if (level(info->domain_attr->threading) > level(levels[i]))
				FCT_FAIL(t,
					 "asked for threading %d, got the less safe %d",
					 levels[i], info->domain_attr->threading);
		fi_freeinfo(list);
		list = NULL;
	}
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_resource_mgmt(struct fct *t)
{
	static const enum fi_resource_mgmt rms[] = {FI_RM_UNSPEC, FI_RM_DISABLED,
						    FI_RM_ENABLED};
	struct fi_info *hints, *list = NULL;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 3; i++) {
		hints = fct_gi_hints(t, FI_MSG);
		hints->domain_attr->resource_mgmt = rms[i];
		FCT_CALL(t, fct_gi_ask(hints, &list));
		if (rms[i] == FI_RM_ENABLED)
			FCT_EQ(t, list->domain_attr->resource_mgmt, FI_RM_ENABLED);
		fi_freeinfo(list);
		list = NULL;
	}
out:
	fi_freeinfo(list);
	return ret;
}

/* All 16 sets of the four bits the programs honour; the full set must do. */
int fct_gi_mr_mode(struct fct *t)
{
	static const int bits[] = {FI_MR_LOCAL, FI_MR_ALLOCATED, FI_MR_PROV_KEY,
				   FI_MR_VIRT_ADDR};
	static const uint64_t caps[] = {FI_MSG, FI_MSG | FI_RMA};
	struct fi_info *hints, *list = NULL, *info;
	unsigned int set, i, c, granted = 0;
	int mode, ret = 0;

	for (c = 0; c < 2; c++) {
		for (set = 0; set < 16; set++) {
			for (mode = 0, i = 0; i < 4; i++)
				mode |= set & (1u << i) ? bits[i] : 0;
			hints = fct_gi_hints(t, caps[c]);
			hints->mode = GI_ALL_MODES;
			hints->domain_attr->mr_mode = mode;
			ret = fct_gi_ask(hints, &list);
			if (ret == -FI_ENODATA && (set != 15 || c)) {
				ret = 0;
				continue;
			}
			FCT_CALL(t, ret);
			granted++;
			for (info = list; info; info = info->next)
				if (info->domain_attr->mr_mode & ~mode)
					FCT_FAIL(t, "offered mr_mode 0x%x, got 0x%x",
						 mode, info->domain_attr->mr_mode);
			fi_freeinfo(list);
			list = NULL;
		}
	}
	fct_note(t, "%u of 32 sets granted", granted);
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_mode_zero(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *list = NULL, *info;
	int ret;

	hints->mode = 0;
	FCT_CALL(t, fct_gi_ask(hints, &list));
	for (info = list; info; info = info->next)
		FCT_EQ(t, info->mode | info->tx_attr->mode | info->rx_attr->mode, 0);
	fi_freeinfo(list);
	list = NULL;

	/* Does it do RMA at all? Then also without mode bits. */
	hints = fct_gi_hints(t, FI_MSG | FI_RMA);
	hints->mode = GI_ALL_MODES;
	ret = fct_gi_ask(hints, &list);
	fi_freeinfo(list);
	list = NULL;
	if (ret == -FI_ENODATA) {
		ret = 0;
		goto out;
	}
	hints = fct_gi_hints(t, FI_MSG | FI_RMA);
	hints->mode = 0;
	FCT_CALL(t, fct_gi_ask(hints, &list));
out:
	fi_freeinfo(list);
	return ret;
}

/* A size in the hints, by where it is. */
struct knob {
	const char *name;
	size_t *(*at)(struct fi_info *info);
};

#define KNOB(attr, field)                                   \
	static size_t *attr##_##field(struct fi_info *info) \
	{                                                   \
		return &info->attr->field;                  \
	}
KNOB(tx_attr, size)
KNOB(tx_attr, iov_limit)
KNOB(tx_attr, rma_iov_limit)
KNOB(tx_attr, inject_size)
KNOB(rx_attr, size)
KNOB(rx_attr, iov_limit)
KNOB(ep_attr, max_msg_size)
KNOB(ep_attr, max_order_raw_size)
KNOB(ep_attr, max_order_war_size)
KNOB(ep_attr, max_order_waw_size)
KNOB(ep_attr, tx_ctx_cnt)
KNOB(ep_attr, rx_ctx_cnt)
KNOB(domain_attr, cq_data_size)

#define ROW(attr, field)                          \
	{                                         \
#attr "->" #field, attr##_##field \
	}
static const struct knob knobs[] = {
	ROW(tx_attr, size),
	ROW(tx_attr, iov_limit),
	ROW(tx_attr, rma_iov_limit),
	ROW(tx_attr, inject_size),
	ROW(rx_attr, size),
	ROW(rx_attr, iov_limit),
	ROW(ep_attr, max_msg_size),
	ROW(ep_attr, max_order_raw_size),
	ROW(ep_attr, max_order_war_size),
	ROW(ep_attr, max_order_waw_size),
	ROW(ep_attr, tx_ctx_cnt),
	ROW(ep_attr, rx_ctx_cnt),
	ROW(domain_attr, cq_data_size),
};

#define N_KNOBS (sizeof(knobs) / sizeof(knobs[0]))

/* 1: granted, 0: -FI_ENODATA, < 0: recorded, e.g. granted less than asked. */
static int try_knob(struct fct *t, const struct knob *k, size_t value)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG | FI_RMA), *list = NULL, *info;
	int ret;

	hints->mode = GI_ALL_MODES;
	*k->at(hints) = value;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA)
		return 0;
	FCT_CALL(t, ret);
	for (info = list; info; info = info->next)
		if (*k->at(info) < value)
			FCT_FAIL(t,
				 "asked for %s = %zu, granted %zu instead of -FI_ENODATA",
				 k->name, value, *k->at(info));
	ret = 1;
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_excess(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG | FI_RMA), *list = NULL;
	size_t value;
	unsigned int i;
	int ret;

	hints->mode = GI_ALL_MODES;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA) {
		ret = fct_skip(t, "no FI_RMA");
		goto out;
	}
	FCT_CALL(t, ret);
	for (i = 0; i < N_KNOBS; i++) {
		value = *knobs[i].at(list);
		/* One more than offered: refused, or really granted. */
		if (value < SIZE_MAX)
			FCT_DO(try_knob(t, &knobs[i], value + 1));
		if (value == SIZE_MAX)
			continue;
		/* FI_SHARED_CONTEXT is SIZE_MAX, so stay below. */
		FCT_DO(try_knob(t, &knobs[i], SIZE_MAX / 2));
		if (ret)
			FCT_FAIL(t, "%s = SIZE_MAX / 2 was granted", knobs[i].name);
	}
	ret = 0;
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_small(struct fct *t)
{
	unsigned int i;
	int ret;

	for (i = 0; i < N_KNOBS; i++) {
		/* An order that is not offered has no size at all. */
		if (strstr(knobs[i].name, "max_order"))
			continue;
		FCT_DO(try_knob(t, &knobs[i], 1));
		if (!ret)
			FCT_FAIL(t, "%s = 1 is -FI_ENODATA", knobs[i].name);
	}
	ret = 0;
out:
	return ret;
}

static uint64_t offered_order(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, 0), *list = NULL;
	uint64_t order = 0;

	hints->mode = GI_ALL_MODES;
	if (!fct_gi_ask(hints, &list))
		order = list->tx_attr->msg_order & list->rx_attr->msg_order;
	fi_freeinfo(list);
	return order;
}

int fct_gi_order(struct fct *t)
{
	uint64_t offered = offered_order(t), bit;
	struct fi_info *hints, *list = NULL;
	int ret = 0;

	for (bit = FI_ORDER_RAR; bit <= FI_ORDER_SAS; bit <<= 1) {
		hints = fct_gi_hints(t, 0);
		hints->mode = GI_ALL_MODES;
		hints->tx_attr->msg_order = bit;
		hints->rx_attr->msg_order = bit;
		ret = fct_gi_ask(hints, &list);
		/*
		 * An order that is not reported unasked may be refused, or granted when
		 * asked for.
		 */
		if (!(offered & bit) && ret == -FI_ENODATA)
			continue;
		FCT_CALL(t, ret);
		FCT_TRUE(t, list->tx_attr->msg_order & bit);
		FCT_TRUE(t, list->rx_attr->msg_order & bit);
		fi_freeinfo(list);
		list = NULL;
	}
	FCT_TRUE(t, offered & FI_ORDER_SAS);
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_order_size(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG | FI_RMA), *list = NULL;
	uint64_t order;
	int ret;

	hints->mode = GI_ALL_MODES;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA) {
		ret = fct_skip(t, "no FI_RMA");
		goto out;
	}
	FCT_CALL(t, ret);
	order = list->tx_attr->msg_order;
	if (order & (FI_ORDER_RAW | FI_ORDER_RMA_RAW))
		FCT_TRUE(t, list->ep_attr->max_order_raw_size > 0);
	if (order & (FI_ORDER_WAR | FI_ORDER_RMA_WAR))
		FCT_TRUE(t, list->ep_attr->max_order_war_size > 0);
	if (order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW))
		FCT_TRUE(t, list->ep_attr->max_order_waw_size > 0);
out:
	fi_freeinfo(list);
	return ret;
}
