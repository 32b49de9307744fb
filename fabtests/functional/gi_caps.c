/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities, endpoint types, and bits nobody knows. */
#include "gi.h"

/* fi_getinfo(3): these are enabled only on request; others may come along. */
#define PRIMARY                                                                     \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_MULTICAST | FI_NAMED_RX_CTX | \
	 FI_DIRECTED_RECV | FI_HMEM | FI_COLLECTIVE)
#define MODIFIERS \
	(FI_READ | FI_WRITE | FI_RECV | FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE)

static int check_caps(struct fct *t, uint64_t ask, uint64_t give)
{
	struct fi_info *hints = fct_gi_hints(t, ask), *list = NULL, *info;
	int ret;

	hints->mode = GI_ALL_MODES;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA) {
		fct_note(t, "no %s", fi_tostr(&ask, FI_TYPE_CAPS));
		return 0;
	}
	FCT_CALL(t, ret);
	for (info = list; info; info = info->next) {
		uint64_t extra = info->caps & (PRIMARY | MODIFIERS) & ~give;
		uint64_t txrx = (info->tx_attr->caps | info->rx_attr->caps) &
				(PRIMARY | MODIFIERS) & ~give;

		if ((info->caps & ask) != ask)
			FCT_FAIL(t, "caps 0x%llx lack some of 0x%llx",
				 (unsigned long long)info->caps, (unsigned long long)ask);
		if (extra)
			FCT_FAIL(t, "not asked for: [%s]",
				 fi_tostr(&extra, FI_TYPE_CAPS));
		if (txrx)
			FCT_FAIL(t, "not asked for, in tx_attr or rx_attr: [%s]",
				 fi_tostr(&txrx, FI_TYPE_CAPS));
	}
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_caps_only(struct fct *t)
{
	int ret;

	/* A primary capability without modifiers means all of its modifiers. */
	FCT_DO(check_caps(t, FI_MSG, FI_MSG | FI_SEND | FI_RECV));
	FCT_DO(check_caps(t, FI_MSG | FI_SEND, FI_MSG | FI_SEND));
	FCT_DO(check_caps(t, FI_MSG | FI_RECV, FI_MSG | FI_RECV));
	FCT_DO(check_caps(t, FI_RMA,
			  FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
				  FI_REMOTE_WRITE));
	FCT_DO(check_caps(t, FI_RMA | FI_WRITE, FI_RMA | FI_WRITE));
	FCT_DO(check_caps(t, FI_RMA | FI_REMOTE_WRITE, FI_RMA | FI_REMOTE_WRITE));
	FCT_DO(check_caps(t, FI_MSG | FI_RMA, FI_MSG | FI_RMA | MODIFIERS));
out:
	return ret;
}

static int all_caps(struct fct *t, uint64_t *caps)
{
	struct fi_info *hints = fct_gi_hints(t, 0), *list = NULL, *info;
	int ret;

	hints->caps = 0;
	hints->mode = GI_ALL_MODES;
	*caps = 0;
	FCT_CALL(t, fct_gi_ask(hints, &list));
	for (info = list; info; info = info->next)
		*caps |= info->caps;
out:
	fi_freeinfo(list);
	return ret;
}

static int known(struct fct *t, uint64_t value, enum fi_type type, const char *what)
{
	uint64_t bit;
	const char *s;

	for (bit = 1; bit; bit <<= 1) {
		if (!(value & bit))
			continue;
		s = fi_tostr(&bit, type);
		if (!s || !strpbrk(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
			return fct_fail_at(t, NULL, 0, "%s has the unknown bit 0x%llx",
					   what, (unsigned long long)bit);
	}
	return 0;
}
