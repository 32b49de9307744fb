/* SPDX-License-Identifier: BSD-2-Clause */
/* Each file of bad/ is refused: an error for each line of the .err beside it, with the
 * data of that line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "conf.h"

#define BAD "fabtests/unit/route_config/bad"

static int is_conf(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".conf");
}

static void expect_bad(const char *name)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;
	char *text, *wanted, path[512];
	size_t len;

	snprintf(path, sizeof(path), BAD "/%s", name);
	text = conf_source(path, &len);
	snprintf(path, sizeof(path), BAD "/%.*s.err", (int)strlen(name) - 5, name);
	if (text) {
		CT_EXPECT_EQ(rte_config_parse(text, len, name, &config, &errors),
			     -FI_EINVAL);
		CT_EXPECT_EQ(config, NULL);
		wanted = conf_source(path, &len);
		if (wanted)
			CONF_EXPECT_ERRORS(conf_errors(&errors), wanted);
		free(wanted);
	}
	free(text);
}

CT_TEST(bad, files_are_refused_with_their_lines)
{
	struct dirent **entries = NULL;
	int i, count = scandir(conf_path(BAD), &entries, is_conf, alphasort);

	CT_EXPECT_GT(count, 100);
	for (i = 0; i < count; i++) {
		expect_bad(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

/* Any line of a right file twice, or without its value: no crash, and the same line is
 * named. */
CT_TEST(bad, a_line_twice_is_told_or_allowed)
{
	static const char *const repeats[] = {"[",	"prefix", "static", "acl",
					      "router", ";",	  "key_"};
	char text[4096], name[32];
	const char *line, *end;
	unsigned int number = 1;
	bool may;
	size_t i;

	for (line = conf_router_all; *line; line = end + 1, number++) {
		end = strchr(line, '\n');
		snprintf(name, sizeof(name), "%.*s %u", (int)strcspn(line, " \n"), line,
			 number);
		for (i = 0, may = line == end; i < sizeof(repeats) / sizeof(repeats[0]);
		     i++)
			may |= !strncmp(line, repeats[i], strlen(repeats[i]));
		if (may)
			continue;
		snprintf(text, sizeof(text), "%.*s%.*s%s",
			 (int)(end + 1 - conf_router_all), conf_router_all,
			 (int)(end + 1 - line), line, end + 1);
		CT_NOTE("%s", name);
		CT_EXPECT_DATA(conf_wrong(text), name);
	}
}
