/* SPDX-License-Identifier: BSD-2-Clause */
/* What is offered opens, and what is not offered does not. */
#include "gi.h"

static int open_one(struct fct *t, struct fi_info *info)
{
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT};
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_av_attr av_attr = {.type = FI_AV_UNSPEC};
	struct fid_fabric *fabric = NULL;
	struct fid_domain *domain = NULL;
	struct fid_pep *pep = NULL;
	struct fid_ep *ep = NULL;
	struct fid_eq *eq = NULL;
	struct fid_cq *cq = NULL;
	struct fid_av *av = NULL;
	int ret;

	FCT_CALL(t, fi_fabric(info->fabric_attr, &fabric, NULL));
	FCT_CALL(t, fi_domain(fabric, info, &domain, NULL));
	FCT_CALL(t, fi_cq_open(domain, &cq_attr, &cq, NULL));
	FCT_CALL(t, fi_endpoint(domain, info, &ep, NULL));
	FCT_CALL(t, fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	if (info->ep_attr->type == FI_EP_MSG) {
		FCT_CALL(t, fi_eq_open(fabric, &eq_attr, &eq, NULL));
		FCT_CALL(t, fi_ep_bind(ep, &eq->fid, 0));
		FCT_CALL(t, fi_passive_ep(fabric, info, &pep, NULL));
		FCT_CALL(t, fi_pep_bind(pep, &eq->fid, 0));
	} else {
		FCT_CALL(t, fi_av_open(domain, &av_attr, &av, NULL));
		FCT_CALL(t, fi_ep_bind(ep, &av->fid, 0));
	}
	FCT_CALL(t, fi_enable(ep));
out:
	if (pep && fi_close(&pep->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__,
				  "fi_close of the passive endpoint failed");
	if (ep && fi_close(&ep->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__,
				  "fi_close of the endpoint failed");
	if (av && fi_close(&av->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__,
				  "fi_close of the address vector failed");
	if (cq && fi_close(&cq->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the CQ failed");
	if (domain && fi_close(&domain->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the domain failed");
	if (eq && fi_close(&eq->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the EQ failed");
	if (fabric && fi_close(&fabric->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the fabric failed");
	return ret;
}

int fct_gi_open_all(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, 0), *list = NULL, *info;
	int n = 0, ret;

	hints->caps = 0;
	hints->mode = GI_ALL_MODES;
	FCT_CALL(t, fct_gi_ask(hints, &list));
	for (info = list; info; info = info->next, n++) {
		fct_note(t, "info %d: fabric %s, domain %s, %s", n,
			 info->fabric_attr->name, info->domain_attr->name,
			 fi_tostr(&info->addr_format, FI_TYPE_ADDR_FORMAT));
		FCT_DO(open_one(t, info));
	}
out:
	fi_freeinfo(list);
	return ret;
}

static int bad_name(struct fct *t, char **(*field)(struct fi_info *hints),
		    const char *name)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *info = NULL;
	int ret;

	free(*field(hints));
	*field(hints) = strdup(name);
	FCT_ERR(t, fct_gi_ask(hints, &info), -FI_ENODATA);
out:
	fi_freeinfo(info);
	return ret;
}

static char **domain_name(struct fi_info *info)
{
	return &info->domain_attr->name;
}

static char **fabric_name(struct fi_info *info)
{
	return &info->fabric_attr->name;
}

static char **prov_name(struct fi_info *info)
{
	return &info->fabric_attr->prov_name;
}

int fct_gi_bad_domain(struct fct *t)
{
	return bad_name(t, domain_name, "no-such-domain");
}

int fct_gi_bad_fabric(struct fct *t)
{
	return bad_name(t, fabric_name, "no-such-fabric");
}

static int refuse_fabric(struct fct *t, char **(*field)(struct fi_info *hints))
{
	static char nonsense[] = "no-such-thing";
	struct fid_fabric *fabric = NULL;
	struct fi_info *info = NULL;
	char *name;
	int ret;

	FCT_CALL(t, fct_gi_ask(fct_gi_hints(t, FI_MSG), &info));
	name = *field(info);
	*field(info) = nonsense;
	ret = fi_fabric(info->fabric_attr, &fabric, NULL);
	*field(info) = name;
	if (!ret)
		fi_close(&fabric->fid);
	FCT_REFUSED(t, ret);
out:
	fi_freeinfo(info);
	return ret;
}

int fct_gi_open_bad_fabric(struct fct *t)
{
	return refuse_fabric(t, fabric_name);
}

int fct_gi_again(struct fct *t)
{
	struct fi_info *list = NULL, *info, *again = NULL;
	int ret;

	FCT_CALL(t, fct_gi_ask(fct_gi_hints(t, FI_MSG), &list));
	for (info = list; info; info = info->next) {
		ret = fct_gi_query(info, &again);
		if (ret)
			FCT_FAIL(t, "the info of domain %s (%s) as hints: %s",
				 info->domain_attr->name,
				 fi_tostr(&info->addr_format, FI_TYPE_ADDR_FORMAT),
				 fi_strerror(-ret));
		if (strcmp(again->domain_attr->name, info->domain_attr->name))
			FCT_FAIL(t, "the info of domain %s as hints gives domain %s",
				 info->domain_attr->name, again->domain_attr->name);
		fi_freeinfo(again);
		again = NULL;
	}
out:
	fi_freeinfo(list);
	return ret;
}

static int one_version(struct fct *t, uint32_t version)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *info = NULL;
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
		FCT_FAIL(t, "API version %u.%u: %s", FI_MAJOR(version), FI_MINOR(version),
			 fi_strerror(-ret));
	FCT_EQ(t, info->fabric_attr->api_version, version);
	FCT_DO(open_one(t, info));
out:
	fi_freeinfo(info);
	return ret;
}

int fct_gi_versions(struct fct *t)
{
	uint32_t lib = fi_version(), minor;
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *info = NULL;
	int ret = 0;

	for (minor = 4; minor <= (FI_MAJOR(lib) > 1 ? 20 : FI_MINOR(lib)); minor++)
		FCT_DO(one_version(t, FI_VERSION(1, minor)));
	for (minor = 0; FI_MAJOR(lib) > 1 && minor <= FI_MINOR(lib); minor++)
		FCT_DO(one_version(t, FI_VERSION(2, minor)));
	FCT_REFUSED(t, fi_getinfo(FI_VERSION(FI_MAJOR(lib), FI_MINOR(lib) + 1), NULL,
				  NULL, 0, hints, &info));
out:
	fi_freeinfo(hints);
	return ret;
}

int fct_gi_nic(struct fct *t)
{
	struct fi_info *list = NULL, *info;
	struct fid_nic *nic;
	int ret;

	FCT_CALL(t, fct_gi_ask(fct_gi_hints(t, FI_MSG), &list));
	if (!list->nic && !strstr(list->fabric_attr->prov_name, "verbs")) {
		ret = fct_skip(t, "%s is not for network cards: info->nic is NULL",
			       list->fabric_attr->prov_name);
		goto out;
	}
	for (info = list; info; info = info->next) {
		nic = info->nic;
		FCT_TRUE(t, nic);
		FCT_TRUE(t, nic->device_attr && nic->device_attr->name);
		FCT_TRUE(t, nic->link_attr && nic->link_attr->mtu > 0);
		FCT_TRUE(t, nic->link_attr->network_type);
		FCT_TRUE(t, strstr(fi_tostr(info, FI_TYPE_INFO), nic->device_attr->name));
	}
out:
	fi_freeinfo(list);
	return ret;
}
