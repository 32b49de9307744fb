/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities and modes. */
#include "gi.h"

/* fi_getinfo(3): these are enabled only on request; others may come along. */
#define PRIMARY                                                                     \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_MULTICAST | FI_NAMED_RX_CTX | \
	 FI_DIRECTED_RECV | FI_HMEM | FI_COLLECTIVE)
#define MODIFIERS \
	(FI_READ | FI_WRITE | FI_RECV | FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE)

static int check_caps(uint64_t ask, uint64_t give)
{
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *hints = fct_gi_hints(ask), *info;
	int ret;

	hints->mode = GI_ALL_MODES;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA) {
		fct_note("no %s", fi_tostr(&ask, FI_TYPE_CAPS));
		return 0;
	}
	FCT_CALL(ret);
	for (info = list; info; info = info->next) {
		uint64_t extra = info->caps & (PRIMARY | MODIFIERS) & ~give;
		uint64_t txrx = (info->tx_attr->caps | info->rx_attr->caps) &
				(PRIMARY | MODIFIERS) & ~give;

		if ((info->caps & ask) != ask)
			FCT_FAIL("caps 0x%llx lack some of 0x%llx",
				 (unsigned long long)info->caps, (unsigned long long)ask);
		if (extra)
			FCT_FAIL("not asked for: [%s]", fi_tostr(&extra, FI_TYPE_CAPS));
		if (txrx)
			FCT_FAIL("not asked for, in tx_attr or rx_attr: [%s]",
				 fi_tostr(&txrx, FI_TYPE_CAPS));
	}
	return 0;
}

FCT_CASE(caps_only, "only capabilities asked for are returned")
{
	/* A primary capability without modifiers means all of its modifiers. */
	FCT_DO(check_caps(FI_MSG, FI_MSG | FI_SEND | FI_RECV));
	FCT_DO(check_caps(FI_MSG | FI_SEND, FI_MSG | FI_SEND));
	FCT_DO(check_caps(FI_MSG | FI_RECV, FI_MSG | FI_RECV));
	FCT_DO(check_caps(FI_RMA, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
					  FI_REMOTE_WRITE));
	FCT_DO(check_caps(FI_RMA | FI_WRITE, FI_RMA | FI_WRITE));
	FCT_DO(check_caps(FI_RMA | FI_REMOTE_WRITE, FI_RMA | FI_REMOTE_WRITE));
	return check_caps(FI_MSG | FI_RMA, FI_MSG | FI_RMA | MODIFIERS);
}

FCT_CASE(mode_zero, "no mode bit is demanded")
{
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *hints = fct_gi_hints(FI_MSG), *info;
	int ret;

	hints->mode = 0;
	FCT_CALL(fct_gi_ask(hints, &list));
	for (info = list; info; info = info->next)
		FCT_EQ(info->mode | info->tx_attr->mode | info->rx_attr->mode, 0);
	fi_freeinfo(list);
	list = NULL;

	/* Does it do RMA at all? Then also without mode bits. */
	hints = fct_gi_hints(FI_MSG | FI_RMA);
	hints->mode = GI_ALL_MODES;
	ret = fct_gi_ask(hints, &list);
	fi_freeinfo(list);
	list = NULL;
	if (ret == -FI_ENODATA)
		return 0;
	hints = fct_gi_hints(FI_MSG | FI_RMA);
	hints->mode = 0;
	FCT_CALL(fct_gi_ask(hints, &list));
	return 0;
}
