/* SPDX-License-Identifier: BSD-2-Clause */
/* The lower provider's fabric under a layer's. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include "internal.h"

int crn_lower_opened(const struct crn_lower_fabric *fabric, const char *what, int ret)
{
	if (ret)
		FI_WARN(fabric->layer->prov, FI_LOG_FABRIC,
			"the lower provider %s opens no %s: %s; its own lines, with "
			"FI_LOG_LEVEL=warn, say why\n",
			fabric->prov_name, what, fi_strerror(-ret));
	return ret;
}

/* What to ask for a fabric of that name. */
static struct fi_info *fabric_hints(const char *name, uint32_t version)
{
	struct fi_info *hints = lower_hints(NULL, version);

	if (!hints)
		return NULL;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->name = strdup(name);
	if (hints->fabric_attr->name)
		return hints;
	fi_freeinfo(hints);
	return NULL;
}

/* The answer about that fabric: tcp does not look at the name in hints. */
static struct fi_info *fabric_named(struct fi_info *info, const char *name)
{
	while (info && strcmp(info->fabric_attr->name, name) != 0)
		info = info->next;
	return info;
}

static int fabric_open_of(struct crn_lower_fabric *fabric, const char *prov_name,
			  struct fi_fabric_attr *lower, uint32_t api_version)
{
	int ret;

	fabric->prov_name = strdup(prov_name);
	if (!fabric->prov_name)
		return -FI_ENOMEM;
	lower->api_version = api_version;
	ret = crn_lower_opened(fabric, "fabric", fi_fabric(lower, &fabric->lower, NULL));
	if (ret)
		free(fabric->prov_name);
	return ret;
}

/* 1: no answer has that name. */
static int fabric_ask(struct crn_lower_fabric *fabric, const char *prov_name,
		      const struct lower_question *question, const char *name,
		      uint32_t api_version)
{
	struct fi_info *list, *info;
	int ret = lower_ask(fabric->layer, question, prov_name, &list);

	if (ret)
		return ret;
	info = fabric_named(list, name);
	ret = info ? fabric_open_of(fabric, prov_name, info->fabric_attr, api_version)
		   : 1;
	fi_freeinfo(list);
	return ret;
}

/*
 * -FI_ENODATA: that provider does not have it. tcp has a fabric for listening at any
 * address, which it answers to FI_SOURCE alone, under any name that is asked for: it is
 * asked for none.
 */
static int fabric_try(struct crn_lower_fabric *fabric, const char *prov_name,
		      const struct lower_question *question, uint32_t api_version)
{
	char **hint = &question->hints->fabric_attr->name, *name = *hint;
	struct lower_question listens = *question;
	int ret = fabric_ask(fabric, prov_name, question, name, api_version);

	if (ret <= 0)
		return ret;
	listens.service = "0";
	listens.flags = FI_SOURCE;
	*hint = NULL;
	ret = fabric_ask(fabric, prov_name, &listens, name, api_version);
	*hint = name;
	return ret > 0 ? -FI_ENODATA : ret;
}

static int fabric_open(const struct lower_choice *choice,
		       const struct fi_fabric_attr *attr, struct crn_lower_fabric *fabric)
{
	struct lower_question question = {
		.version = attr->api_version ? attr->api_version : fi_version(),
	};
	int ret = -FI_ENODATA;
	size_t i, carried;

	question.hints =
		fabric_hints(lower_name_split(choice->layer, attr->name, &carried),
			     question.version);
	if (!question.hints)
		return -FI_ENOMEM;
	for (i = 0; i < choice->count && ret == -FI_ENODATA; i++)
		ret = fabric_try(fabric, choice->names[i], &question, attr->api_version);
	fi_freeinfo(question.hints);
	return ret == -FI_ENODATA ? lower_choice_failed(choice) : ret;
}

int crn_lower_fabric_open(const struct crn_lower_layer *layer,
			  struct fi_fabric_attr *attr, struct crn_lower_fabric *fabric,
			  void *context)
{
	struct lower_choice choice;
	int ret;

	memset(fabric, 0, sizeof(*fabric));
	fabric->layer = layer;
	crn_list_init(&fabric->queues);
	fabric->name = strdup(attr->name);
	if (!fabric->name)
		return -FI_ENOMEM;
	ret = crn_lock_init(&fabric->lock, true);
	if (ret)
		goto err_free;
	ret = lower_choose(layer, attr->prov_name, attr->name, true, &choice);
	if (!ret) {
		choice.named = true;
		ret = fabric_open(&choice, attr, fabric);
		lower_choice_free(&choice);
	}
	if (ret)
		goto err_fini;
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.api_version = attr->api_version;
	return 0;
err_fini:
	crn_lock_fini(&fabric->lock);
err_free:
	free(fabric->name);
	return ret;
}

int crn_lower_fabric_close(struct crn_lower_fabric *fabric)
{
	int ret = -FI_EBUSY;

	if (!atomic_load(&fabric->refs) && crn_list_empty(&fabric->queues))
		ret = fi_close(&fabric->lower->fid);
	if (ret)
		return ret;
	free(fabric->prov_name);
	free(fabric->name);
	crn_lock_fini(&fabric->lock);
	return 0;
}

/*
 * The lower provider's own numbers where the layer's were: to open an object, zero is
 * zero, and no longer "no wish" as in hints.
 */
static int info_fill_owned(const struct crn_lower_fabric *fabric, struct fi_info *info)
{
	struct lower_question question = {
		.version = fabric->fid.api_version,
		.hints = fi_dupinfo(info),
	};
	struct fi_info *list = NULL, *answer;
	int ret;

	if (!question.hints)
		return -FI_ENOMEM;
	/* The object's own business, not that of what may be opened. */
	question.hints->handle = NULL;
	free(question.hints->src_addr);
	free(question.hints->dest_addr);
	question.hints->src_addr = question.hints->dest_addr = NULL;
	question.hints->src_addrlen = question.hints->dest_addrlen = 0;
	question.hints->addr_format = FI_FORMAT_UNSPEC;
	/* Nor are names, which tcp of libfabric 2 chooses by the address. */
	free(question.hints->fabric_attr->name);
	free(question.hints->domain_attr->name);
	question.hints->fabric_attr->name = question.hints->domain_attr->name = NULL;
	ret = lower_ask(fabric->layer, &question, fabric->prov_name, &list);
	for (answer = list; answer; answer = answer->next) {
		if (lower_same_names(answer, info))
			break;
	}
	/* Without one of its names, one of the provider's. */
	answer = answer ? answer : list;
	if (answer) {
		lower_fill_owned(fabric->layer, info, answer);
		/* Not asked for: the layer has one of its own. */
		if (info->ep_attr->protocol == FI_PROTO_UNSPEC)
			info->ep_attr->protocol = answer->ep_attr->protocol;
	} else if (!ret) {
		ret = -FI_ENODATA;
	}
	fi_freeinfo(list);
	fi_freeinfo(question.hints);
	return ret;
}

int crn_lower_info(const struct crn_lower_fabric *fabric, const struct fi_info *info,
		   struct fi_info **lower)
{
	char *prov_name = strdup(fabric->prov_name);
	int ret = -FI_ENOMEM;

	*lower = prov_name ? lower_hints(info, fabric->fid.api_version) : NULL;
	if (!*lower) {
		free(prov_name);
		return ret;
	}
	free((*lower)->fabric_attr->prov_name);
	(*lower)->fabric_attr->prov_name = prov_name;
	(*lower)->fabric_attr->fabric = fabric->lower;
	(*lower)->domain_attr->domain = NULL;
	lower_name_strip(fabric->layer, (*lower)->fabric_attr->name);
	ret = lower_down(fabric->layer, *lower);
	if (!ret && lower_owns_numbers(fabric->layer))
		ret = info_fill_owned(fabric, *lower);
	if (ret) {
		fi_freeinfo(*lower);
		*lower = NULL;
	}
	return ret;
}
