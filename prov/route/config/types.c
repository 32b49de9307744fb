/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "keys.h"

/* --- Numbers --- */

uint64_t rte_number_get(const void *at, size_t width)
{
	switch (width) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

void rte_number_set(void *at, size_t width, uint64_t value)
{
	switch (width) {
	case sizeof(uint8_t):
		*(uint8_t *)at = (uint8_t)value;
		break;
	case sizeof(uint16_t):
		*(uint16_t *)at = (uint16_t)value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

static int number_wanted(const struct rte_key *key, const char *what,
			 char wanted[RTE_WANTED_SIZE])
{
	char least[RTE_VALUE_SIZE], most[RTE_VALUE_SIZE];
	const struct rte_unit *unit = key->units;
	int len;

	len = snprintf(wanted, RTE_WANTED_SIZE, "%s from %s to %s", what,
		       rte_value_print(key->least, unit, least),
		       rte_value_print(key->most, unit, most));
	if (!unit[1].name)
		return -FI_EINVAL;
	len += snprintf(wanted + len, RTE_WANTED_SIZE - (size_t)len, ", in");
	for (; unit->name; unit++)
		if (*unit->name)
			len += snprintf(wanted + len, RTE_WANTED_SIZE - (size_t)len,
					" %s", unit->name);
	return -FI_EINVAL;
}

static bool number_parse(const struct rte_key *key, const char *text, uint64_t *value)
{
	return rte_value_parse(text, key->units, value) && *value >= key->least &&
	       *value <= key->most;
}

static int type_number_parse(const struct rte_key *key, const char *text, void *at,
			     char wanted[RTE_WANTED_SIZE])
{
	uint64_t value;

	if (!number_parse(key, text, &value))
		return number_wanted(key, "a number", wanted);
	rte_number_set(at, key->width, value);
	return 0;
}

static void type_number_print(const struct rte_key *key, const void *at, FILE *out)
{
	char buf[RTE_VALUE_SIZE];

	fputs(rte_value_print(rte_number_get(at, key->width), key->units, buf), out);
}

static bool type_number_is_set(const struct rte_key *key, const void *at)
{
	return !key->least || rte_number_get(at, key->width);
}

const struct rte_type rte_type_number = {
	.parse = type_number_parse,
	.print = type_number_print,
	.is_set = type_number_is_set,
};

/* 64 bits, decimal or 0x. */
static int type_id_parse(const struct rte_key *key, const char *text, void *at,
			 char wanted[RTE_WANTED_SIZE])
{
	uint64_t value = 0;
	char *end;

	if (!strncmp(text, "0x", 2) && isxdigit((unsigned char)text[2])) {
		errno = 0;
		value = strtoull(text, &end, 16);
		if (errno || *end)
			value = 0;
	} else if (!rte_value_parse(text, rte_units_none, &value)) {
		value = 0;
	}
	if (!value) {
		snprintf(wanted, RTE_WANTED_SIZE,
			 "a number of 64 bits but 0, decimal or 0x");
		return -FI_EINVAL;
	}
	*(uint64_t *)at = value;
	return 0;
}

static void type_id_print(const struct rte_key *key, const void *at, FILE *out)
{
	fprintf(out, "%" PRIu64, *(const uint64_t *)at);
}

const struct rte_type rte_type_id = {
	.parse = type_id_parse,
	.print = type_id_print,
	.is_set = type_number_is_set,
};

/* "FIRST-LAST", or one number that is both. */
static int type_range_parse(const struct rte_key *key, const char *text, void *at,
			    char wanted[RTE_WANTED_SIZE])
{
	const size_t len = strcspn(text, "-");
	char part[RTE_VALUE_SIZE];
	uint64_t first, last;

	snprintf(part, sizeof(part), "%.*s", (int)len, text);
	if (len >= sizeof(part) || !number_parse(key, part, &first))
		return number_wanted(key, "FIRST-LAST", wanted);
	last = first;
	if (text[len] && !number_parse(key, text + len + 1, &last))
		return number_wanted(key, "FIRST-LAST", wanted);
	if (last < first) {
		snprintf(wanted, RTE_WANTED_SIZE, "the first is above the last");
		return -FI_EINVAL;
	}
	rte_number_set(at, key->width, first);
	rte_number_set((char *)at + key->width, key->width, last);
	return 0;
}

static void type_range_print(const struct rte_key *key, const void *at, FILE *out)
{
	type_number_print(key, at, out);
	fputc('-', out);
	type_number_print(key, (const char *)at + key->width, out);
}

const struct rte_type rte_type_range = {
	.parse = type_range_parse,
	.print = type_range_print,
	.is_set = type_number_is_set,
};

/* --- Words --- */

static int words_wanted(const char *const *words, char wanted[RTE_WANTED_SIZE])
{
	int len = 0;

	for (; *words; words++)
		len += snprintf(wanted + len, RTE_WANTED_SIZE - (size_t)len, "%s%s",
				len ? (words[1] ? ", " : " or ") : "", *words);
	return -FI_EINVAL;
}

static int type_words_parse(const struct rte_key *key, const char *text, void *at,
			    char wanted[RTE_WANTED_SIZE])
{
	uint64_t i;

	for (i = 0; key->words[i]; i++)
		if (!strcmp(key->words[i], text)) {
			rte_number_set(at, key->width, i);
			return 0;
		}
	return words_wanted(key->words, wanted);
}

static void type_words_print(const struct rte_key *key, const void *at, FILE *out)
{
	fputs(key->words[rte_number_get(at, key->width)], out);
}

const struct rte_type rte_type_words = {
	.parse = type_words_parse,
	.print = type_words_print,
};

static const struct {
	const char *name;
	uint16_t cap;
} caps[] = {
	{"zerocopy", RTE_CAP_ZEROCOPY},
	{"osbypass", RTE_CAP_OSBYPASS},
	{"rma", RTE_CAP_RMA},
};

/* The next word of a list, and its length; *text moves to the one behind it. */
static const char *take_item(const char **text, size_t *len)
{
	const char *at = *text + strspn(*text, " \t");

	*len = strcspn(at, ",");
	*text = at[*len] ? at + *len + 1 : NULL;
	while (*len && isspace((unsigned char)at[*len - 1]))
		--*len;
	return at;
}

static int type_caps_parse(const struct rte_key *key, const char *text, void *at,
			   char wanted[RTE_WANTED_SIZE])
{
	uint16_t value = 0;
	const char *word;
	size_t len, i;

	while (text && strcmp(text, "none")) {
		word = take_item(&text, &len);
		for (i = 0; i < CRN_COUNT(caps); i++)
			if (strlen(caps[i].name) == len &&
			    !memcmp(caps[i].name, word, len))
				break;
		if (i == CRN_COUNT(caps) || (value & caps[i].cap)) {
			snprintf(wanted, RTE_WANTED_SIZE,
				 "none, or each at most once of zerocopy,osbypass,rma");
			return -FI_EINVAL;
		}
		value |= caps[i].cap;
	}
	*(uint16_t *)at = value;
	return 0;
}

static void type_caps_print(const struct rte_key *key, const void *at, FILE *out)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < CRN_COUNT(caps); i++)
		if (*(const uint16_t *)at & caps[i].cap) {
			fprintf(out, "%s%s", separator, caps[i].name);
			separator = ",";
		}
	if (!*separator)
		fputs("none", out);
}

const struct rte_type rte_type_caps = {
	.parse = type_caps_parse,
	.print = type_caps_print,
};

static int type_policy_parse(const struct rte_key *key, const char *text, void *at,
			     char wanted[RTE_WANTED_SIZE])
{
	struct rte_policy policy = *(struct rte_policy *)at;
	const char *why;

	if (rte_policy_parse(text, &policy, &why)) {
		snprintf(wanted, RTE_WANTED_SIZE, "%s", why);
		return -FI_EINVAL;
	}
	*(struct rte_policy *)at = policy;
	return 0;
}

static void type_policy_print(const struct rte_key *key, const void *at, FILE *out)
{
	const struct rte_policy *policy = at;
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		fprintf(out, "%s%s", i ? "," : "", rte_metric_name(policy->metric[i]));
}

const struct rte_type rte_type_policy = {
	.parse = type_policy_parse,
	.print = type_policy_print,
};

static int type_transport_parse(const struct rte_key *key, const char *text, void *at,
				char wanted[RTE_WANTED_SIZE])
{
	const enum rte_transport transport = rte_transport_find(text);
	const struct rte_transport_attr *attr = rte_transport_attr(transport);
	const char *names[RTE_TRANSPORTS] = {NULL};
	int i, count = 0;

	if (transport != RTE_TRANSPORT_ANY && !attr->refused) {
		*(enum rte_transport *)at = transport;
		return 0;
	}
	if (transport != RTE_TRANSPORT_ANY) {
		snprintf(wanted, RTE_WANTED_SIZE, "%s", attr->refused);
		return -FI_EINVAL;
	}
	for (i = RTE_TRANSPORT_ANY + 1; i < RTE_TRANSPORTS; i++) {
		attr = rte_transport_attr((enum rte_transport)i);
		if (!attr->refused)
			names[count++] = attr->name;
	}
	return words_wanted(names, wanted);
}

static void type_transport_print(const struct rte_key *key, const void *at, FILE *out)
{
	fputs(rte_transport_attr(*(const enum rte_transport *)at)->name, out);
}

static bool type_transport_is_set(const struct rte_key *key, const void *at)
{
	return *(const enum rte_transport *)at != RTE_TRANSPORT_ANY;
}

const struct rte_type rte_type_transport = {
	.parse = type_transport_parse,
	.print = type_transport_print,
	.is_set = type_transport_is_set,
};

/* --- Texts --- */

int rte_text_set(char **at, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -FI_ENOMEM;
	*at = copy;
	return 0;
}

void rte_text_release(void *at)
{
	free(*(char **)at);
}

static void type_text_print(const struct rte_key *key, const void *at, FILE *out)
{
	fputs(*(char *const *)at, out);
}

static bool type_text_is_set(const struct rte_key *key, const void *at)
{
	return *(char *const *)at;
}

bool rte_name_right(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.:@/", name[i]))
			return false;
	return len && len <= RTE_CONFIG_NAME_MAX;
}

static int type_name_parse(const struct rte_key *key, const char *text, void *at,
			   char wanted[RTE_WANTED_SIZE])
{
	if (rte_name_right(text, strlen(text)))
		return rte_text_set(at, text);
	snprintf(wanted, RTE_WANTED_SIZE, "at most %u letters, digits and _ - . : @ /",
		 RTE_CONFIG_NAME_MAX);
	return -FI_EINVAL;
}

const struct rte_type rte_type_name = {
	.parse = type_name_parse,
	.print = type_text_print,
	.release = rte_text_release,
	.is_set = type_text_is_set,
};

/* A word that is another's name. A ; could be read as a comment's beginning. */
static int type_text_parse(const struct rte_key *key, const char *text, void *at,
			   char wanted[RTE_WANTED_SIZE])
{
	if (!strpbrk(text, " \t;"))
		return rte_text_set(at, text);
	snprintf(wanted, RTE_WANTED_SIZE, "a word without white space and ;");
	return -FI_EINVAL;
}

const struct rte_type rte_type_text = {
	.parse = type_text_parse,
	.print = type_text_print,
	.release = rte_text_release,
	.is_set = type_text_is_set,
};

bool rte_path_right(const char *path)
{
	return *path == '/' && !strchr(path, ';');
}

/* Of a socket of AF_UNIX. */
static int type_path_parse(const struct rte_key *key, const char *text, void *at,
			   char wanted[RTE_WANTED_SIZE])
{
	const size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

	if (rte_path_right(text) && strlen(text) <= most)
		return rte_text_set(at, text);
	snprintf(wanted, RTE_WANTED_SIZE,
		 "an absolute path without ; of at most %zu bytes", most);
	return -FI_EINVAL;
}

const struct rte_type rte_type_path = {
	.parse = type_path_parse,
	.print = type_text_print,
	.release = rte_text_release,
	.is_set = type_text_is_set,
};
