/* SPDX-License-Identifier: BSD-2-Clause */
/* Each configuration that is wrong is refused: an error for each of its lines, with the
 * data of that line. Those of bad.txt, and those that are not easily written as text. */
#include <stdio.h>
#include <rdma/fi_errno.h>
#include "conf.h"

#define ETH0 "[eth0]\ntransport = sock\nas = 3\nsubnet = 1\n"
#define DEVICES "\n" ETH0 "\n[eth1]\ntransport = sock\nas = 3\nsubnet = 2\n"
#define CLIENT ETH0 "router = sock://10.3.1.1:7000\n"
#define ID "[router]\nid = 1\n"

/* What a line of bad.txt stands for: itself, unless it is one of these. */
static const char *lines_of(const char *line)
{
	static const struct {
		const char *name, *lines;
	} parts[] = {
		{"@client\n", CLIENT},
		{"@devices\n", DEVICES},
		{"@eth0\n", ETH0},
		{"@id\n", ID},
		{"@router\n", ID DEVICES},
		{"@wan\n", "[wan]\ntransport = sock\nas = 0\nsubnet = 0\n"},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(line, parts[i].name))
			return parts[i].lines;
	return line;
}

static void expect_bad(const char *name, const char *text, size_t len, const char *wanted)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;

	CT_NOTE("%s", name);
	CT_EXPECT_EQ(rte_config_parse(text, len, "f", &config, &errors), -FI_EINVAL);
	CT_EXPECT_EQ(config, NULL);
	CONF_EXPECT_ERRORS(conf_errors(&errors), wanted);
}

CT_TEST(bad, configurations_are_refused_with_their_lines)
{
	FILE *file = fopen(conf_path("fabtests/unit/route_config/bad.txt"), "re");
	char line[512], name[64] = "", text[4096] = "", wanted[2048] = "";
	unsigned int count = 0;
	bool more;

	CT_ASSERT_NE(file, NULL);
	do {
		more = fgets(line, sizeof(line), file);
		if (!more || line[0] == '#') {
			if (*name)
				expect_bad(name, text, strlen(text), wanted);
			count++;
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, "\n"),
				 line);
			*text = *wanted = '\0';
		} else if (line[0] == '>') {
			strcat(strcat(wanted, "f:"), line + 1);
		} else if (*name) {
			strcat(text, lines_of(line));
		}
	} while (more);
	CT_EXPECT_GT(count, 100);
	fclose(file);
}

CT_TEST(bad, bytes_that_are_no_text_and_ends_of_lines_are_told)
{
	static const struct {
		const char *name, *text;
		size_t len;
		const char *wanted;
	} rows[] = {
#define ROW(name, text, wanted) {name, text, sizeof(text) - 1, wanted}
		ROW("NUL", CLIENT "domain = a\0b\n", "f:6:\n"),
		ROW("escape", CLIENT "domain = \033[31mred\n", "f:6:\n"),
		ROW("CR LF",
		    "[eth0]\r\ntransport = sock\r\nas = 3\r\nsubnet = 1\r\n"
		    "router = sock://10.3.1.1:7000\r\ncolour = red\r\n",
		    "f:6: colour\n"),
		ROW("no end", CLIENT "colour = red", "f:6: colour\n"),
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_bad(rows[i].name, rows[i].text, rows[i].len, rows[i].wanted);
}

/* What is more than may be is told for each, up to the number of errors that are kept. */
CT_TEST(bad, too_many_of_a_kind_are_told)
{
	char text[8192] = "", wanted[4096] = "";

	for (unsigned int i = 0; i < RTE_CONFIG_DEVICES_MAX + 2; i++)
		sprintf(text + strlen(text),
			"[d%u]\ntransport = sock\nas = 3\nsubnet = %u\n"
			"router = sock://h%u:1\n",
			i, i, i);
	expect_bad("devices", text, strlen(text), "f:321: 64\nf:326: 64\n");
	strcpy(text, CLIENT);
	for (unsigned int i = 1; i < RTE_CONFIG_ROUTERS_MAX + 3; i++)
		sprintf(text + strlen(text), "router = sock://r%u:7000\n", i);
	expect_bad("routers", text, strlen(text),
		   "f:69: 64 router\nf:70: 64 router\nf:71: 64 router\n");
	strcpy(text, CLIENT);
	for (unsigned int i = 0; i < 23; i++) {
		sprintf(text + strlen(text), "colour%u = red\n", i);
		if (i < 20)
			sprintf(wanted + strlen(wanted), "f:%u: colour%u\n", i + 6, i);
	}
	strcat(wanted, "3\n");
	expect_bad("keywords", text, strlen(text), wanted);
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
