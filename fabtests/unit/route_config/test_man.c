/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_route(7) has every keyword in its tables, with the range and the default. */
#include <stdio.h>
#include <stdlib.h>
#include "conf.h"
#include "config/keys.h"

static void number_text(const struct rte_key *key, uint64_t value, char *buf)
{
	if (value)
		rte_value_print(value, key->units, buf);
	else
		strcpy(buf, key->least ? "-" : "0");
}

static void row_of_number(const struct rte_key *key, char *row, size_t size)
{
	char least[RTE_VALUE_SIZE], most[RTE_VALUE_SIZE], preset[RTE_VALUE_SIZE];

	number_text(key, key->least, least);
	number_text(key, key->most, most);
	number_text(key, key->preset, preset);
	snprintf(row, size, "\n| **%s** | %s to %s | %s |", key->name, least, most,
		 key->has ? "-" : preset);
}

static void row_of_words(const struct rte_key *key, char *row, size_t size)
{
	char words[100] = "";

	for (uint32_t i = 0; key->words[i]; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 i ? ", " : "", key->words[i]);
	snprintf(row, size, "\n| **%s** | %s | ", key->name, words);
}

CT_TEST(man, has_every_keyword_with_its_range_and_default)
{
	const struct rte_section *section;
	char row[200], *page;
	size_t len;

	page = conf_source("man/fi_route.7.md", &len);
	CT_ASSERT_NE(page, NULL);
	for (section = rte_sections; section < rte_sections + RTE_SECTIONS; section++)
		for (uint32_t i = 0; i < section->keys; i++) {
			const struct rte_key *key = &section->key[i];

			if (key->type == &rte_type_number)
				row_of_number(key, row, sizeof(row));
			else if (key->type == &rte_type_words)
				row_of_words(key, row, sizeof(row));
			else
				snprintf(row, sizeof(row), "\n| **%s** | ", key->name);
			CT_NOTE("%s", row);
			CT_EXPECT_NE(strstr(page, row), NULL);
		}
	free(page);
}
