/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "sa_fail.h"

static const char *const svb_sa_kinds[SVB_SA_KINDS] = {"any",	 "get",	  "table",
						       "join",	 "leave", "path",
						       "inform", "report"};

static bool svb_sa_number(const char *text, int base, unsigned long most,
			  unsigned long *value)
{
	char *end;

	*value = strtoul(text, &end, base);
	return end != text && !*end && *value && *value <= most;
}

static bool svb_sa_what(struct svb_sa_rule *rule, const char *text)
{
	unsigned long value = 0;

	if (!strcmp(text, "never")) {
		rule->fate = SVB_SA_FATE_NEVER;
		return true;
	}
	if (!strcmp(text, "done")) {
		rule->fate = SVB_SA_FATE_DONE;
		return true;
	}
	if (!strncmp(text, "late:", 5)) {
		rule->fate = SVB_SA_FATE_LATE;
		if (!svb_sa_number(text + 5, 10, 600000, &value))
			return false;
		rule->ms = (uint32_t)value;
		return true;
	}
	rule->fate = SVB_SA_FATE_STATUS;
	if (!svb_sa_number(text, 16, 0xffff, &value))
		return false;
	rule->status = (uint16_t)value;
	return true;
}

static bool svb_sa_kind(struct svb_sa_rule *rule, const char *text)
{
	int kind;

	for (kind = 0; kind < SVB_SA_KINDS; kind++)
		if (!strcmp(svb_sa_kinds[kind], text)) {
			rule->kind = (enum svb_sa_kind)kind;
			return true;
		}
	return false;
}

static bool svb_sa_rule_parse(struct svb_sa_rule *rule, char *word)
{
	char *what = strchr(word, '='), *count = strchr(word, '*');
	unsigned long left = UINT32_MAX;

	if (!what)
		return false;
	*what++ = '\0';
	if (count) {
		*count++ = '\0';
		if (!svb_sa_number(count, 10, UINT32_MAX - 1, &left))
			return false;
	}
	rule->left = (uint32_t)left;
	return svb_sa_kind(rule, word) && svb_sa_what(rule, what);
}

bool svb_sa_rules_parse(struct svb_sa_rules *rules, const char *text)
{
	char *copy = strdup(text), *word, *save;
	bool ok = copy;

	memset(rules, 0, sizeof(*rules));
	for (word = ok ? strtok_r(copy, " ,", &save) : NULL; word && ok;
	     word = strtok_r(NULL, " ,", &save))
		ok = rules->count < SVB_MAX_SA_RULES &&
		     svb_sa_rule_parse(&rules->rule[rules->count++], word);
	free(copy);
	return ok;
}

/* False: it is used up. */
static bool svb_sa_rule_use(struct svb_sa_rule *rule)
{
	uint32_t left = __atomic_load_n(&rule->left, __ATOMIC_RELAXED);

	while (left && left != UINT32_MAX)
		if (__atomic_compare_exchange_n(&rule->left, &left, left - 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return left;
}

const struct svb_sa_rule *svb_sa_rule_take(struct svb_sa_rules *rules,
					   enum svb_sa_kind kind)
{
	struct svb_sa_rule *rule;
	uint32_t i;

	for (i = 0; i < rules->count; i++) {
		rule = &rules->rule[i];
		if ((rule->kind == SVB_SA_ANY || rule->kind == kind) &&
		    svb_sa_rule_use(rule))
			return rule;
	}
	return NULL;
}
