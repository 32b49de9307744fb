/* SPDX-License-Identifier: BSD-2-Clause */
/* What somebody may have meant. */
#include <string.h>
#include <strings.h>
#include <cairn/compat.h>
#include "read.h"

#define NEAREST_LEN 32u /* of what is compared */
#define NEAREST_MOST 2u /* letters that differ */

/* Letters that are inserted, deleted or replaced (Levenshtein), row by row. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NEAREST_LEN + 1], i, j, left, above;
	const unsigned int len = (unsigned int)strlen(b);

	if (len > NEAREST_LEN || strlen(a) > NEAREST_LEN)
		return UINT32_MAX;
	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		above = row[0]++;
		for (j = 1; j <= len; j++) {
			left = CRN_MIN(row[j], row[j - 1]) + 1;
			left = CRN_MIN(left, above + (a[i] != b[j - 1]));
			above = row[j];
			row[j] = left;
		}
	}
	return row[len];
}

static bool is_near(const char *name, const char *word, unsigned int *best)
{
	const unsigned int d = strcasecmp(name, word) ? distance(name, word) : 0;

	/* Two letters of three are another word. */
	if (d > NEAREST_MOST || d >= *best || 2 * d >= strlen(word))
		return false;
	*best = d;
	return true;
}

const char *rte_nearest_key(const struct rte_section *section, const char *name)
{
	unsigned int best = UINT32_MAX;
	const char *nearest = NULL;
	uint32_t i;

	for (i = 0; i < section->keys; i++)
		if (is_near(name, section->key[i].name, &best))
			nearest = section->key[i].name;
	return nearest;
}

const char *rte_nearest_section(const char *name)
{
	unsigned int best = UINT32_MAX;
	const char *nearest = NULL;
	int i;

	for (i = 0; i < RTE_SECTIONS; i++)
		if (rte_sections[i].name && is_near(name, rte_sections[i].name, &best))
			nearest = rte_sections[i].name;
	return nearest;
}
