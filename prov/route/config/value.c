/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "value.h"

const struct rte_unit rte_units_none[] = {{"", 1}, {NULL, 0}};
const struct rte_unit rte_units_milli[] = {{"", 1000}, {NULL, 0}};
const struct rte_unit rte_units_rate[] = {
	{"", 1},	   {"K", 1000},		 {"M", 1000000},
	{"G", 1000000000}, {"T", 1000000000000}, {NULL, 0},
};
const struct rte_unit rte_units_bytes[] = {
	{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0},
};
const struct rte_unit rte_units_ns[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};
const struct rte_unit rte_units_ms[] = {{"ms", 1}, {"s", 1000}, {NULL, 0}};

bool rte_take_number(const char **text, uint64_t max, uint64_t *value)
{
	const char *at = *text;

	*value = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value) ||
		    *value > max)
			return false;
	if (at == *text)
		return false;
	*text = at;
	return true;
}

/* ".25" is 25 parts of 100; nothing is 0 of 1. */
static bool take_fraction(const char **text, uint64_t *part, uint64_t *parts)
{
	const char *from = ++*text;

	*parts = 1;
	if (!rte_take_number(text, 999999999u, part))
		return false;
	for (; from < *text; from++)
		if (__builtin_mul_overflow(*parts, 10u, parts))
			return false;
	return true;
}

bool rte_value_parse(const char *text, const struct rte_unit *units, uint64_t *value)
{
	uint64_t whole, part = 0, parts = 1;

	if (!rte_take_number(&text, UINT64_MAX, &whole) ||
	    (*text == '.' && !take_fraction(&text, &part, &parts)))
		return false;
	while (units->name && strcmp(units->name, text))
		units++;
	return units->name && !__builtin_mul_overflow(whole, units->factor, &whole) &&
	       !__builtin_mul_overflow(part, units->factor, &part) && !(part % parts) &&
	       !__builtin_add_overflow(whole, part / parts, value);
}

const char *rte_value_print(uint64_t value, const struct rte_unit *units,
			    char buf[RTE_VALUE_SIZE])
{
	const struct rte_unit *best = units;
	int len;

	for (; units->name; units++)
		if (value && !(value % units->factor))
			best = units;
	len = snprintf(buf, RTE_VALUE_SIZE, "%" PRIu64, value / best->factor);
	if (value % best->factor) {
		len += snprintf(buf + len, RTE_VALUE_SIZE - (size_t)len, ".%03" PRIu64,
				value % best->factor);
		while (buf[len - 1] == '0')
			len--;
	}
	snprintf(buf + len, RTE_VALUE_SIZE - (size_t)len, "%s", best->name);
	return buf;
}
