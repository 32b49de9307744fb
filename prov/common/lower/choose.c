/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a layer is asked for, and over which provider; lower.h has the rule. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include "internal.h"

static const char *const choose_usual[] = {"pverbs", "verbs", "tcp"};

_Static_assert(CRN_COUNT(choose_usual) <= LOWER_CHOICES, "room for the usual ones");

/* The last place of a name among others, or NULL. except: the sign before it. */
static const char *choose_find(const char *list, char delim, const char *except,
			       const char *name)
{
	const size_t sign = strlen(except), len = strlen(name);
	const char *at, *end, *found = NULL;

	for (at = list; at; at = *end ? end + 1 : NULL) {
		end = at + strcspn(at, (char[]){delim, '\0'});
		if ((size_t)(end - at) == sign + len && !strncmp(at, except, sign) &&
		    !strncasecmp(at + sign, name, len))
			found = at;
	}
	return found;
}

/* FI_PROVIDER, or "" */
static const char *choose_filter(void)
{
	char *filter = NULL;

	fi_param_get(NULL, "provider", &filter);
	return filter ? filter : "";
}

/* FI_PROVIDER is a list of names, or of those that are not wanted after one "^". */
static bool choose_listed(const char *filter, const char *name)
{
	return *filter != '^' && choose_find(filter, ',', "", name);
}

static bool choose_excluded(const char *filter, const char *prov_name, const char *name)
{
	return (*filter == '^' && choose_find(filter + 1, ',', "", name)) ||
	       (prov_name && choose_find(prov_name, ';', "^", name));
}

const char *lower_param(const struct crn_lower_layer *layer, char text[LOWER_PARAM_LEN])
{
	char *at;

	snprintf(text, LOWER_PARAM_LEN, "FI_%s_LOWER", layer->prov->name);
	for (at = text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return text;
}

/* Takes out the names that are not wanted. */
static void choose_wanted(char *stack)
{
	char *to = stack, *at, *end;

	for (at = stack; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, ";");
		if (*at == '^')
			continue;
		if (to != stack)
			*to++ = ';';
		memmove(to, at, (size_t)(end - at));
		to += end - at;
	}
	*to = '\0';
}

/* What stands before the layer's name, at `own`; only exclusions are no choice. */
static int choose_by_program(struct lower_choice *choice, const char *prov_name,
			     const char *own)
{
	char *stack = strndup(prov_name, (size_t)(own - prov_name) - 1);

	if (!stack)
		return -FI_ENOMEM;
	choose_wanted(stack);
	if (*stack) {
		choice->by_program = true;
		choice->only = stack;
	} else {
		free(stack);
	}
	return 0;
}

static int choose_by_parameter(struct lower_choice *choice)
{
	const char *name = *choice->layer->lower;

	if (!name || !*name)
		return 0;
	choice->only = strdup(name);
	return choice->only ? 0 : -FI_ENOMEM;
}

/* What an earlier answer carries in the name of its fabric, which the hints may repeat.
 */
static int choose_by_name(struct lower_choice *choice, const char *fabric)
{
	size_t len;

	lower_name_split(choice->layer, fabric, &len);
	if (!len)
		return 0;
	if (choice->only) {
		if (strlen(choice->only) == len &&
		    !strncasecmp(choice->only, fabric, len))
			return 0;
		FI_WARN(choice->layer->prov, FI_LOG_CORE,
			"the fabric %s is not one of %s: leave one of both names out\n",
			fabric, choice->only);
		return -FI_ENODATA;
	}
	choice->by_program = true;
	choice->only = strndup(fabric, len);
	return choice->only ? 0 : -FI_ENOMEM;
}

static int choose_only(struct lower_choice *choice, const char *prov_name,
		       const char *fabric)
{
	const char *own =
		prov_name ? choose_find(prov_name, ';', "", choice->layer->prov->name)
			  : NULL;
	int ret = 0;

	choice->named = own;
	if (own && own != prov_name)
		ret = choose_by_program(choice, prov_name, own);
	if (!ret && fabric)
		ret = choose_by_name(choice, fabric);
	if (!ret && !choice->only)
		ret = choose_by_parameter(choice);
	return ret;
}

/* The names of a stack, each of which may be excluded. */
static bool choose_stack_excluded(const char *filter, const char *prov_name, char *stack)
{
	char *at, *end;
	bool excluded = false;

	for (at = stack; at && !excluded; at = end ? end + 1 : NULL) {
		end = strchr(at, ';');
		if (end)
			*end = '\0';
		excluded = choose_excluded(filter, prov_name, at);
		if (end)
			*end = ';';
	}
	return excluded;
}

static int choose_check_only(const struct lower_choice *choice, const char *filter,
			     const char *prov_name)
{
	const struct fi_provider *prov = choice->layer->prov;
	char param[LOWER_PARAM_LEN];

	lower_param(choice->layer, param);
	if (strchr(choice->only, '^')) {
		FI_WARN(prov, FI_LOG_CORE,
			"%s names no provider: name one in LOWER;%s or %s\n",
			choice->only, prov->name, param);
		return -FI_ENODATA;
	}
	if (choose_find(choice->only, ';', "", prov->name)) {
		FI_WARN(prov, FI_LOG_CORE,
			"%s cannot run over itself (%s): name another provider in "
			"LOWER;%s or %s\n",
			prov->name, choice->only, prov->name, param);
		return -FI_ENODATA;
	}
	if (choose_stack_excluded(filter, prov_name, choice->only)) {
		FI_WARN(prov, FI_LOG_CORE,
			"%s is excluded by FI_PROVIDER or the hints: name another "
			"provider in LOWER;%s or %s\n",
			choice->only, prov->name, param);
		return -FI_ENODATA;
	}
	return 0;
}

/* Does anything but exclusions stand before the name, at `own`? */
static bool choose_has_lower(const char *prov_name, const char *own)
{
	const char *at;

	for (at = prov_name; at < own; at += strcspn(at, ";") + 1) {
		if (*at != '^')
			return true;
	}
	return false;
}

bool crn_lower_named(const struct fi_provider *prov, const char *prov_name)
{
	const char *own = prov_name ? choose_find(prov_name, ';', "", prov->name) : NULL;

	if (!own)
		return choose_listed(choose_filter(), prov->name);
	if (!choose_has_lower(prov_name, own))
		return true;
	FI_WARN(prov, FI_LOG_CORE,
		"%s: what %s runs over is not chosen by the name of the provider\n",
		prov_name, prov->name);
	return false;
}

int lower_choose(const struct crn_lower_layer *layer, const char *prov_name,
		 const char *fabric, bool asked, struct lower_choice *choice)
{
	const char *filter = choose_filter();
	size_t i;
	int ret;

	*choice = (struct lower_choice){.layer = layer};
	ret = choose_only(choice, prov_name, fabric);
	if (ret) {
		lower_choice_free(choice);
		return ret;
	}
	if (!asked && !choice->named && !choose_listed(filter, layer->prov->name)) {
		ret = -FI_ENODATA;
	} else if (choice->only) {
		ret = choose_check_only(choice, filter, prov_name);
		choice->names[choice->count++] = choice->only;
	} else {
		for (i = 0; i < CRN_COUNT(choose_usual); i++) {
			if (!choose_excluded(filter, prov_name, choose_usual[i]))
				choice->names[choice->count++] = choose_usual[i];
		}
	}
	if (ret)
		lower_choice_free(choice);
	return ret;
}

void lower_choice_free(struct lower_choice *choice)
{
	free(choice->only);
}

int lower_choice_failed(const struct lower_choice *choice)
{
	const struct fi_provider *prov = choice->layer->prov;
	const enum fi_log_level level = choice->named ? FI_LOG_WARN : FI_LOG_INFO;
	char param[LOWER_PARAM_LEN];

	if (choice->only)
		FI_LOG(prov, level, FI_LOG_CORE,
		       "the lower provider %s has nothing that fits: \"fi_info -p %s\" "
		       "shows what it has; LOWER;%s or %s names another\n",
		       choice->only, choice->only, prov->name,
		       lower_param(choice->layer, param));
	else
		FI_LOG(prov, level, FI_LOG_CORE,
		       "neither pverbs, verbs nor tcp has what is asked for: name a "
		       "provider that has in LOWER;%s or %s\n",
		       prov->name, lower_param(choice->layer, param));
	return -FI_ENODATA;
}
