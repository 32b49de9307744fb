/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo of a layer: the lower provider's answers as the table changes them. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include "internal.h"

/*
 * One answer as the layer's. libfabric fills in the provider's name; objects that the
 * lower provider has open are not the layer's.
 */
int lower_info_up(const struct crn_lower_layer *layer, struct fi_info *info,
		  const struct fi_info *hints)
{
	free(info->fabric_attr->prov_name);
	info->fabric_attr->prov_name = NULL;
	info->fabric_attr->fabric = NULL;
	info->domain_attr->domain = NULL;
	return lower_up(layer, info, hints);
}

bool lower_same_names(const struct fi_info *info, const struct fi_info *asked)
{
	const char *fabric = asked->fabric_attr->name;
	const char *domain = asked->domain_attr->name;

	return (!fabric || !strcmp(fabric, info->fabric_attr->name)) &&
	       (!domain || !strcmp(domain, info->domain_attr->name));
}

/* All of them; those that do not do are taken out. -FI_ENODATA when none is left. */
static int getinfo_up_all(const struct crn_lower_layer *layer, struct fi_info **info,
			  const struct fi_info *asked, const struct fi_info *hints)
{
	struct fi_info **next = info, *one;

	while ((one = *next)) {
		if (lower_same_names(one, asked) && !lower_info_up(layer, one, hints)) {
			next = &one->next;
			continue;
		}
		*next = one->next;
		one->next = NULL;
		fi_freeinfo(one);
	}
	return *info ? 0 : -FI_ENODATA;
}

/* So that fi_fabric knows it. */
static int getinfo_carry(const struct lower_choice *choice, struct fi_info *info)
{
	char *name;

	for (; choice->by_program && info; info = info->next) {
		name = lower_name_join(choice->layer, choice->only,
				       info->fabric_attr->name);
		if (!name)
			return -FI_ENOMEM;
		free(info->fabric_attr->name);
		info->fabric_attr->name = name;
	}
	return 0;
}

/* hints: the program's, whole. */
static int getinfo_choices(const struct lower_choice *choice,
			   const struct lower_question *question,
			   const struct fi_info *hints, struct fi_info **info)
{
	size_t i;
	int ret = -FI_ENODATA;

	for (i = 0; i < choice->count && ret == -FI_ENODATA; i++) {
		ret = lower_ask(choice->layer, question, choice->names[i], info);
		if (!ret)
			ret = getinfo_up_all(choice->layer, info, question->hints, hints);
	}
	if (ret == -FI_ENODATA)
		return lower_choice_failed(choice);
	if (!ret)
		ret = getinfo_carry(choice, *info);
	if (ret) {
		fi_freeinfo(*info);
		*info = NULL;
	}
	return ret;
}

static int getinfo_with(const struct lower_choice *choice,
			struct lower_question *question, const struct fi_info *hints,
			struct fi_info **info)
{
	struct fi_info *whole = lower_hints(hints, question->version);
	int ret = -FI_ENOMEM;

	question->hints = whole ? fi_dupinfo(whole) : NULL;
	if (question->hints) {
		/* What the program has open is the layer's. */
		question->hints->fabric_attr->fabric = NULL;
		question->hints->domain_attr->domain = NULL;
		lower_name_strip(choice->layer, question->hints->fabric_attr->name);
		ret = lower_down(choice->layer, question->hints);
	}
	if (!ret) {
		question->hints->ep_attr->type = FI_EP_MSG;
		ret = getinfo_choices(choice, question, whole, info);
	}
	if (question->hints)
		fi_freeinfo(question->hints);
	if (whole)
		fi_freeinfo(whole);
	return ret;
}

static bool getinfo_is_msg(const struct fi_info *hints)
{
	return !hints || !hints->ep_attr || hints->ep_attr->type == FI_EP_UNSPEC ||
	       hints->ep_attr->type == FI_EP_MSG;
}

int crn_lower_getinfo(const struct crn_lower_layer *layer, uint32_t version,
		      const char *node, const char *service, uint64_t flags,
		      const struct fi_info *hints, struct fi_info **info)
{
	const struct fi_fabric_attr *fabric = hints ? hints->fabric_attr : NULL;
	struct lower_question question = {
		.version = version,
		.node = node,
		.service = service,
		.flags = flags,
	};
	struct lower_choice choice;
	char param[LOWER_PARAM_LEN];
	int ret;

	*info = NULL;
	if (lower_asking(layer)) {
		FI_WARN(layer->prov, FI_LOG_CORE,
			"%s would run over itself: set %s to another provider\n",
			layer->prov->name, lower_param(layer, param));
		return -FI_ENODATA;
	}
	ret = lower_choose(layer, fabric ? fabric->prov_name : NULL,
			   fabric ? fabric->name : NULL, false, &choice);
	if (ret)
		return ret;
	if (getinfo_is_msg(hints)) {
		ret = getinfo_with(&choice, &question, hints, info);
	} else {
		FI_INFO(layer->prov, FI_LOG_CORE, "endpoints are FI_EP_MSG; %s\n",
			layer->rdm_hint ? layer->rdm_hint
					: "put ofi_rxm above for FI_EP_RDM");
		ret = -FI_ENODATA;
	}
	lower_choice_free(&choice);
	return ret;
}
