/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "joins.h"

static const struct {
	const char *name;
	int err;
} svb_errors[] = {
	{"EACCES", EACCES},
	{"EADDRNOTAVAIL", EADDRNOTAVAIL},
	{"EAGAIN", EAGAIN},
	{"EINVAL", EINVAL},
	{"EIO", EIO},
	{"ENETRESET", ENETRESET},
	{"ENETUNREACH", ENETUNREACH},
	{"ENODEV", ENODEV},
	{"ENOMEM", ENOMEM},
	{"ENOSPC", ENOSPC},
	{"ENOSYS", ENOSYS},
	{"EOPNOTSUPP", EOPNOTSUPP},
	{"EPERM", EPERM},
	{"ETIMEDOUT", ETIMEDOUT},
};

/* "0x0200" is a status of the SA, all of which the kernel reports as EINVAL (sa_query.c).
 */
static int svb_error_of(const char *text)
{
	unsigned long value;
	char *end;
	size_t i;

	for (i = 0; i < sizeof(svb_errors) / sizeof(svb_errors[0]); i++)
		if (!strcmp(svb_errors[i].name, text))
			return svb_errors[i].err;
	value = strtoul(text, &end, 0);
	if (end == text || *end || !value || value > 0xffff)
		return 0;
	return strncmp(text, "0x", 2) ? (int)value : EINVAL;
}

static bool svb_join_what(struct svb_join_rule *rule, const char *text)
{
	if (!strcmp(text, "never")) {
		rule->fate = SVB_JOIN_NEVER;
		return true;
	}
	rule->fate = SVB_JOIN_ERROR;
	if (!strncmp(text, "call:", 5)) {
		rule->fate = SVB_JOIN_CALL;
		text += 5;
	}
	rule->err = svb_error_of(text);
	return rule->err;
}

static bool svb_join_group(struct svb_join_rule *rule, const char *text)
{
	rule->any = !strcmp(text, "any");
	rule->len = strchr(text, ':') ? 16 : 4;
	return rule->any ||
	       inet_pton(rule->len == 16 ? AF_INET6 : AF_INET, text, rule->group) == 1;
}

static bool svb_join_count(struct svb_join_rule *rule, const char *text)
{
	char *end;
	unsigned long count = text ? strtoul(text, &end, 10) : UINT32_MAX;

	rule->left = (uint32_t)count;
	return !text || (end != text && !*end && count && count < UINT32_MAX);
}

static bool svb_join_rule_parse(struct svb_join_rule *rule, char *word)
{
	char *what = strchr(word, '='), *count = strchr(word, '*');

	if (!what)
		return false;
	*what++ = '\0';
	if (count)
		*count++ = '\0';
	return svb_join_group(rule, word) && svb_join_what(rule, what) &&
	       svb_join_count(rule, count);
}

bool svb_join_rules_parse(struct svb_join_rules *rules, const char *text)
{
	char *copy = strdup(text), *word, *save;
	bool ok = copy;

	memset(rules, 0, sizeof(*rules));
	for (word = ok ? strtok_r(copy, " ,", &save) : NULL; word && ok;
	     word = strtok_r(NULL, " ,", &save))
		ok = rules->count < SVB_MAX_JOIN_RULES &&
		     svb_join_rule_parse(&rules->rule[rules->count++], word);
	free(copy);
	return ok;
}

const struct svb_join_rule *svb_join_rule_take(struct svb_join_rules *rules,
					       const void *addr, uint32_t len,
					       const void *mgid)
{
	struct svb_join_rule *rule;
	uint32_t i;

	for (i = 0; i < rules->count; i++) {
		rule = &rules->rule[i];
		if (!rule->left ||
		    (!rule->any && (rule->len != len || memcmp(rule->group, addr, len)) &&
		     (rule->len != 16 || memcmp(rule->group, mgid, 16))))
			continue;
		if (rule->left != UINT32_MAX)
			rule->left--;
		return rule;
	}
	return NULL;
}
