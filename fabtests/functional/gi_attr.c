/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes asked for and given. */
#include "gi.h"

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
