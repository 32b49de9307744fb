/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fi_getinfo offers opens. What it answers to hints, unit tests of each provider
 * show.
 */
#include <stdlib.h>

#include "fct_fabric.h"

/* FI_LOCAL_MR of interfaces before 1.5; libfabric 2.x warns about the name. */
#define GI_LOCAL_MR (1ULL << 55)
/* Everything a patient application can live with. */
#define GI_ALL_MODES (FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA | FI_MSG_PREFIX)

/* Hints for FI_EP_MSG and these caps of the provider under test; exits if out of memory.
 */
static struct fi_info *gi_hints(uint64_t caps)
{
	const struct fct_setup s = {.caps = caps};
	struct fi_info *hints = fct_hints(&s);

	if (!hints) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return hints;
}

/* fi_getinfo with neither node nor service; frees hints. */
static int ask(struct fi_info *hints, struct fi_info **info)
{
	int ret = fi_getinfo(FCT_API, NULL, NULL, 0, hints, info);

	fi_freeinfo(hints);
	return ret;
}

static int open_one(struct fi_info *info)
{
	FCT_AUTO(fct_fid_end) struct fid_fabric *fabric = NULL;
	FCT_AUTO(fct_fid_end) struct fid_eq *eq = NULL;
	FCT_AUTO(fct_fid_end) struct fid_domain *domain = NULL;
	FCT_AUTO(fct_fid_end) struct fid_cq *cq = NULL;
	FCT_AUTO(fct_fid_end) struct fid_av *av = NULL;
	FCT_AUTO(fct_fid_end) struct fid_ep *ep = NULL;
	FCT_AUTO(fct_fid_end) struct fid_pep *pep = NULL;
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT};
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_av_attr av_attr = {.type = FI_AV_UNSPEC};

	FCT_CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	FCT_CALL(fi_domain(fabric, info, &domain, NULL));
	FCT_CALL(fi_cq_open(domain, &cq_attr, &cq, NULL));
	FCT_CALL(fi_endpoint(domain, info, &ep, NULL));
	FCT_CALL(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	if (info->ep_attr->type == FI_EP_MSG) {
		FCT_CALL(fi_eq_open(fabric, &eq_attr, &eq, NULL));
		FCT_CALL(fi_ep_bind(ep, &eq->fid, 0));
		FCT_CALL(fi_passive_ep(fabric, info, &pep, NULL));
		FCT_CALL(fi_pep_bind(pep, &eq->fid, 0));
	} else {
		FCT_CALL(fi_av_open(domain, &av_attr, &av, NULL));
		FCT_CALL(fi_ep_bind(ep, &av->fid, 0));
	}
	FCT_CALL(fi_enable(ep));
	return 0;
}

FCT_CASE(open_all, "every info opens a fabric, a domain, queues and endpoints")
{
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *hints = gi_hints(0), *info;
	int n = 0;

	hints->caps = 0;
	hints->mode = GI_ALL_MODES;
	FCT_CALL(ask(hints, &list));
	for (info = list; info; info = info->next, n++) {
		fct_note("info %d: fabric %s, domain %s, %s", n, info->fabric_attr->name,
			 info->domain_attr->name,
			 fi_tostr(&info->addr_format, FI_TYPE_ADDR_FORMAT));
		FCT_DO(open_one(info));
	}
	return 0;
}

FCT_CASE(open_bad_fabric, "fi_fabric refuses an unknown fabric name")
{
	FCT_AUTO(fct_info_end) struct fi_info *info = NULL;
	FCT_AUTO(fct_fid_end) struct fid_fabric *fabric = NULL;

	FCT_CALL(ask(gi_hints(FI_MSG), &info));
	free(info->fabric_attr->name);
	info->fabric_attr->name = strdup("no-such-thing");
	FCT_REFUSED(fi_fabric(info->fabric_attr, &fabric, NULL));
	return 0;
}

FCT_CASE(again, "a returned info is a valid hint for itself")
{
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *info, *again = NULL;
	int ret;

	FCT_CALL(ask(gi_hints(FI_MSG), &list));
	for (info = list; info; info = info->next) {
		ret = fi_getinfo(FCT_API, NULL, NULL, 0, info, &again);
		if (ret)
			FCT_FAIL("the info of domain %s (%s) as hints: %s",
				 info->domain_attr->name,
				 fi_tostr(&info->addr_format, FI_TYPE_ADDR_FORMAT),
				 fi_strerror(-ret));
		if (strcmp(again->domain_attr->name, info->domain_attr->name))
			FCT_FAIL("the info of domain %s as hints gives domain %s",
				 info->domain_attr->name, again->domain_attr->name);
		fi_freeinfo(again);
		again = NULL;
	}
	return 0;
}

static int one_version(uint32_t version)
{
	FCT_AUTO(fct_info_end) struct fi_info *info = NULL;
	struct fi_info *hints = gi_hints(FI_MSG);
	int ret;

	/*
	 * Before 1.5 local registration was a mode bit and mr_mode an enumeration, 0
	 * being any of it.
	 */
	if (FI_VERSION_LT(version, FI_VERSION(1, 5))) {
		hints->domain_attr->mr_mode = 0;
		hints->mode |= GI_LOCAL_MR;
	}
	ret = fi_getinfo(version, NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	if (ret)
		FCT_FAIL("API version %u.%u: %s", FI_MAJOR(version), FI_MINOR(version),
			 fi_strerror(-ret));
	FCT_EQ(info->fabric_attr->api_version, version);
	FCT_DO(open_one(info));
	return 0;
}

FCT_CASE(versions, "API versions 1.4 to the library's own")
{
	FCT_AUTO(fct_info_end) struct fi_info *hints = gi_hints(FI_MSG);
	uint32_t lib = fi_version(), minor;
	struct fi_info *info = NULL;

	for (minor = 4; minor <= (FI_MAJOR(lib) > 1 ? 20 : FI_MINOR(lib)); minor++)
		FCT_DO(one_version(FI_VERSION(1, minor)));
	for (minor = 0; FI_MAJOR(lib) > 1 && minor <= FI_MINOR(lib); minor++)
		FCT_DO(one_version(FI_VERSION(2, minor)));
	FCT_REFUSED(fi_getinfo(FI_VERSION(FI_MAJOR(lib), FI_MINOR(lib) + 1), NULL, NULL,
			       0, hints, &info));
	return 0;
}

FCT_CASE(nic, "fi_nic of providers for network cards")
{
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *info;
	struct fid_nic *nic;

	FCT_CALL(ask(gi_hints(FI_MSG), &list));
	if (!list->nic && !strstr(list->fabric_attr->prov_name, "verbs"))
		return fct_skip("%s is not for network cards: info->nic is NULL",
				list->fabric_attr->prov_name);
	for (info = list; info; info = info->next) {
		nic = info->nic;
		FCT_TRUE(nic);
		FCT_TRUE(nic->device_attr && nic->device_attr->name);
		FCT_TRUE(nic->link_attr && nic->link_attr->mtu > 0);
		FCT_TRUE(nic->link_attr->network_type);
		FCT_TRUE(strstr(fi_tostr(info, FI_TYPE_INFO), nic->device_attr->name));
	}
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_getinfo",
	    .what = "What fi_getinfo promises, and that the promises can be opened.",
	    .single = true)
