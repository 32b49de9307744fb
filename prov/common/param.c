/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <cairn/compat.h>
#include <cairn/param.h>

/* Texts of the table; longer ones are cut. */
#define PARAM_TEXT 256

/* libfabric's name of the variable. */
static const char *param_variable(const struct fi_provider *prov,
				  const struct crn_param *param, char text[PARAM_TEXT])
{
	char *at;

	snprintf(text, PARAM_TEXT, "FI_%s_%s", prov->name, param->name);
	for (at = text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return text;
}

/* What it may be: "1 to 65536", "device, wait or auto"; "" when it may be anything. */
static const char *param_range(const struct crn_param *param, char text[PARAM_TEXT])
{
	const char *const *word;
	size_t len = 0;

	text[0] = '\0';
	if (param->type == FI_PARAM_INT || param->type == FI_PARAM_SIZE_T)
		snprintf(text, PARAM_TEXT, "%lld to %lld", param->min, param->max);
	if (!param->words)
		return text;
	for (word = param->words; *word && len < PARAM_TEXT; word++)
		len += (size_t)snprintf(text + len, PARAM_TEXT - len, "%s%s",
					word == param->words ? ""
					: word[1]	     ? ", "
							     : " or ",
					*word);
	return text;
}

static const char *param_default(const struct crn_param *param, char text[PARAM_TEXT])
{
	if (param->unset)
		snprintf(text, PARAM_TEXT, "%s", param->unset);
	else if (param->words)
		snprintf(text, PARAM_TEXT, "%s", param->words[param->fallback]);
	else if (param->type == FI_PARAM_BOOL)
		snprintf(text, PARAM_TEXT, "%s", param->fallback ? "yes" : "no");
	else
		snprintf(text, PARAM_TEXT, "%lld", param->fallback);
	return text;
}

static void param_define(struct fi_provider *prov, const struct crn_param *param)
{
	char fallback[PARAM_TEXT], range[PARAM_TEXT];

	param_default(param, fallback);
	param_range(param, range);
	fi_param_define(prov, param->name, param->type, "%s (default: %s%s%s)",
			param->help, fallback, range[0] ? "; " : "", range);
}

static void param_set(const struct crn_param *param, long long number)
{
	if (param->type == FI_PARAM_SIZE_T)
		*(size_t *)param->value = (size_t)number;
	else
		*(int *)param->value = (int)number;
}

/* The code of fi_param_get. */
static int param_get_number(struct fi_provider *prov, const struct crn_param *param,
			    long long *number)
{
	size_t size = 0;
	int value = 0, ret;

	if (param->type == FI_PARAM_SIZE_T) {
		ret = fi_param_get(prov, param->name, &size);
		*number = (long long)size;
	} else {
		ret = fi_param_get(prov, param->name, &value);
		*number = value;
	}
	return ret;
}

/* False: what was set is ignored. */
static bool param_read_number(struct fi_provider *prov, const struct crn_param *param)
{
	char name[PARAM_TEXT], range[PARAM_TEXT];
	long long number;
	int ret;

	param_set(param, param->fallback);
	ret = param_get_number(prov, param, &number);
	if (ret == -FI_ENODATA)
		return true;
	if (ret) {
		FI_WARN(prov, FI_LOG_CORE, "%s cannot be read: ignored\n",
			param_variable(prov, param, name));
		return false;
	}
	if (number < param->min || number > param->max) {
		FI_WARN(prov, FI_LOG_CORE, "%s is outside %s: %lld is ignored\n",
			param_variable(prov, param, name), param_range(param, range),
			number);
		return false;
	}
	param_set(param, number);
	return true;
}

static bool param_read_word(struct fi_provider *prov, const struct crn_param *param)
{
	char name[PARAM_TEXT], range[PARAM_TEXT];
	char *text = NULL;
	int i;

	*(int *)param->value = (int)param->fallback;
	if (fi_param_get(prov, param->name, &text))
		return true;
	for (i = 0; param->words[i]; i++) {
		if (!strcmp(param->words[i], text)) {
			*(int *)param->value = i;
			return true;
		}
	}
	FI_WARN(prov, FI_LOG_CORE, "%s cannot be %s: ignored, it is %s\n",
		param_variable(prov, param, name), text, param_range(param, range));
	return false;
}

static bool param_read(struct fi_provider *prov, const struct crn_param *param)
{
	if (param->words)
		return param_read_word(prov, param);
	if (param->type != FI_PARAM_STRING)
		return param_read_number(prov, param);
	*(char **)param->value = NULL;
	fi_param_get(prov, param->name, param->value);
	return true;
}

size_t crn_params_read(struct fi_provider *prov, const struct crn_param *params,
		       size_t count)
{
	size_t i, ignored = 0;

	for (i = 0; i < count; i++) {
		param_define(prov, &params[i]);
		ignored += !param_read(prov, &params[i]);
	}
	return ignored;
}
