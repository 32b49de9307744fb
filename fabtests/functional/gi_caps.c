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

int fct_gi_caps_none(struct fct *t)
{
	uint64_t caps;
	int ret;

	FCT_DO(all_caps(t, &caps));
	FCT_TRUE(t, caps & FI_MSG);
	fct_note(t, "caps %s", fi_tostr(&caps, FI_TYPE_CAPS));
out:
	return ret;
}

int fct_gi_caps_unsupported(struct fct *t)
{
	struct fi_info *info;
	uint64_t caps, bit;
	int bits, ret;

	FCT_DO(all_caps(t, &caps));
	for (bits = 0, bit = 1; bit; bit <<= 1) {
		if (!(PRIMARY & bit) || caps & bit)
			continue;
		ret = fct_gi_ask(fct_gi_hints(t, FI_MSG | bit), &info);
		if (ret != -FI_ENODATA)
			FCT_FAIL(t,
				 "asking for %s, which is not offered, returned %d "
				 "instead of -FI_ENODATA",
				 fi_tostr(&bit, FI_TYPE_CAPS), ret);
		bits++;
	}
	ret = 0;
	fct_note(t, "%d capabilities are not offered", bits);
out:
	return ret;
}

int fct_gi_caps_pmem(struct fct *t)
{
	struct fi_info *list = NULL, *info;
	int ret;

	ret = fct_gi_ask(fct_gi_hints(t, FI_MSG | FI_RMA | FI_RMA_PMEM), &list);
	if (ret == -FI_ENODATA) {
		fct_note(t, "no FI_RMA_PMEM");
		return 0;
	}
	FCT_CALL(t, ret);
	for (info = list; info; info = info->next)
		FCT_TRUE(t, info->caps & FI_RMA_PMEM);
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_comm(struct fct *t)
{
	const uint64_t comm = FI_LOCAL_COMM | FI_REMOTE_COMM;
	struct fi_info *hints = fct_gi_hints(t, 0), *list = NULL, *info;
	uint64_t offered = 0, bit;
	int ret;

	hints->caps = 0;
	FCT_CALL(t, fct_gi_ask(hints, &list));
	for (info = list; info; info = info->next) {
		FCT_TRUE(t, info->caps & comm);
		FCT_TRUE(t, info->domain_attr->caps & comm);
		offered |= info->caps & comm;
	}
	fi_freeinfo(list);
	list = NULL;
	for (bit = FI_REMOTE_COMM; bit; bit = bit == FI_REMOTE_COMM ? FI_LOCAL_COMM : 0) {
		if (!(offered & bit))
			continue;
		FCT_CALL(t, fct_gi_ask(fct_gi_hints(t, FI_MSG | bit), &list));
		FCT_TRUE(t, list->caps & bit);
		fi_freeinfo(list);
		list = NULL;
	}
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_ep_type(struct fct *t)
{
	static const enum fi_ep_type types[] = {FI_EP_MSG, FI_EP_DGRAM, FI_EP_RDM};
	struct fi_info *hints, *list = NULL, *info;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 3; i++) {
		hints = fct_gi_hints(t, FI_MSG);
		hints->mode = GI_ALL_MODES;
		hints->ep_attr->type = types[i];
		ret = fct_gi_ask(hints, &list);
		if (ret == -FI_ENODATA && types[i] != FI_EP_MSG)
			continue;
		FCT_CALL(t, ret);
		for (info = list; info; info = info->next)
			FCT_EQ(t, info->ep_attr->type, types[i]);
		fi_freeinfo(list);
		list = NULL;
	}
	hints = fct_gi_hints(t, FI_MSG);
	hints->ep_attr->type = 99;
	FCT_ERR(t, fct_gi_ask(hints, &list), -FI_ENODATA);
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

int fct_gi_known_bits(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, 0), *list = NULL, *info;
	const char *text;
	int ret;

	hints->caps = 0;
	hints->mode = GI_ALL_MODES;
	hints->ep_attr->type = FI_EP_UNSPEC;
	FCT_CALL(t, fct_gi_ask(hints, &list));
	for (info = list; info; info = info->next) {
		FCT_DO(known(t, info->caps, FI_TYPE_CAPS, "caps"));
		FCT_DO(known(t, info->domain_attr->caps, FI_TYPE_CAPS,
			     "domain_attr->caps"));
		FCT_DO(known(t, info->mode, FI_TYPE_MODE, "mode"));
		FCT_DO(known(t, info->domain_attr->mode, FI_TYPE_MODE,
			     "domain_attr->mode"));
		FCT_DO(known(t, info->tx_attr->op_flags, FI_TYPE_OP_FLAGS,
			     "tx_attr->op_flags"));
		FCT_DO(known(t, info->rx_attr->op_flags, FI_TYPE_OP_FLAGS,
			     "rx_attr->op_flags"));
		FCT_DO(known(t, info->tx_attr->msg_order, FI_TYPE_MSG_ORDER,
			     "tx_attr->msg_order"));
		text = fi_tostr(info, FI_TYPE_INFO);
		FCT_TRUE(t, text);
		if (strstr(text, "Unknown"))
			FCT_FAIL(t, "fi_tostr prints '%.60s'", strstr(text, "Unknown"));
	}
out:
	fi_freeinfo(list);
	return ret;
}
