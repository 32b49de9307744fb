/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_link FILE [ROW...]: groups of an IPoIB link as a program with libfabric's
 * calls sees them, at nodes A, B and C of fabtests/interop/subnet, which it is run in.
 * Lines of the file, whose lines "env NAME=VALUE" are for check-link:
 *
 *	row NAME			a row; all that was open before is closed
 *	join NODE GROUP [send|recv] -> ANSWER
 *	ask NODE GROUP [send|recv] -> ANSWER	without waiting for the event
 *	event NODE -> ANSWER		the next one
 *	leave NODE GROUP -> ANSWER
 *	send NODE GROUP TEXT -> ANSWER
 *	long NODE GROUP BYTES -> ANSWER
 *	take NODE -> ANSWER		a datagram, or "nothing"
 *	reach NODE GROUP NODE -> ANSWER	datagrams until one arrives there
 *	dropped NODE -> ANSWER		so many were for nobody
 *	settle -> done			all nodes look at what has come
 *	run COMMAND -> ANSWER		of the shell, its last line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "node.h"

#define WORDS 4

static char row[FCL_TEXT];
static char problem[3 * FCL_TEXT];
static int passed, failed;

static void row_end(void)
{
	char node;

	for (node = 'A'; node <= 'C'; node++)
		fcl_close(node);
	if (!row[0])
		return;
	if (problem[0])
		printf("not ok %s: %s\n", row, problem);
	else
		printf("ok %s\n", row);
	fflush(stdout);
	*(problem[0] ? &failed : &passed) += 1;
	row[0] = problem[0] = '\0';
}

/* The command has no use for what is preloaded here. */
static void run(const char *command, char *answer)
{
	char line[FCL_TEXT] = "", *preload = getenv("LD_PRELOAD");
	FILE *pipe;

	preload = preload ? strdup(preload) : NULL;
	unsetenv("LD_PRELOAD");
	pipe = popen(command, "r");
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	free(preload);
	while (pipe && fgets(line, sizeof(line), pipe))
		;
	line[strcspn(line, "\n")] = '\0';
	snprintf(answer, FCL_TEXT, "%s", line);
	if (pipe && pclose(pipe) && !line[0])
		snprintf(answer, FCL_TEXT, "failed");
}

/* Words of a command: so many. */
static int split(char *line, char *words[WORDS])
{
	char *at = NULL;
	int count = 0;

	for (line = strtok_r(line, " ", &at); line && count < WORDS;
	     line = strtok_r(NULL, " ", &at))
		words[count++] = line;
	return count;
}

static bool node_named(const char *word)
{
	return word && word[0] >= 'A' && word[0] <= 'C' && !word[1];
}

/* False: there is no such command. */
static bool command(char *line, char *answer)
{
	char *word[WORDS + 1] = {NULL};
	const int words = split(line, word);
	const char *what = word[0];
	const char node = node_named(word[1]) ? word[1][0] : '\0';

	if (words == 1 && !strcmp(what, "settle")) {
		fcl_settle(answer);
		return true;
	}
	if (!node)
		return false;
	if (words == 2 && !strcmp(what, "event"))
		fcl_event(node, answer);
	else if (words == 2 && !strcmp(what, "take"))
		fcl_take(node, answer);
	else if (words == 2 && !strcmp(what, "dropped"))
		fcl_dropped(node, answer);
	else if (words >= 3 && !strcmp(what, "join"))
		fcl_join(node, word[2], word[3], answer);
	else if (words >= 3 && !strcmp(what, "ask"))
		fcl_ask(node, word[2], word[3], answer);
	else if (words == 3 && !strcmp(what, "leave"))
		fcl_leave(node, word[2], answer);
	else if (words == 4 && !strcmp(what, "send"))
		fcl_send(node, word[2], word[3], answer);
	else if (words == 4 && !strcmp(what, "long"))
		fcl_send_long(node, word[2], strtoul(word[3], NULL, 10), answer);
	else if (words == 4 && !strcmp(what, "reach") && node_named(word[3]))
		fcl_reach(node, word[2], word[3][0], answer);
	else
		return false;
	return true;
}

static void step(char *line)
{
	char answer[FCL_TEXT] = "", said[FCL_TEXT];
	char *want = strstr(line, " -> ");

	if (!want || problem[0])
		return;
	*want = '\0';
	want += 4;
	snprintf(said, sizeof(said), "%s", line);
	if (!strncmp(line, "run ", 4))
		run(line + 4, answer);
	else if (!command(line, answer))
		snprintf(answer, sizeof(answer), "no such command");
	if (strcmp(answer, want) != 0)
		snprintf(problem, sizeof(problem), "%s: \"%s\", not \"%s\"", said, answer,
			 want);
}

static bool wanted(const char *name, char **rows)
{
	if (!*rows)
		return true;
	for (; *rows; rows++)
		if (!strncmp(name, *rows, strlen(*rows)))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
	char line[FCL_TEXT];

	if (!file) {
		fputs("Usage: fi_cairn_link FILE [ROW...]\n", stderr);
		return 2;
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "row ", 4)) {
			row_end();
			if (wanted(line + 4, argv + 2))
				snprintf(row, sizeof(row), "%s", line + 4);
		} else if (row[0]) {
			step(line);
		}
	}
	row_end();
	fclose(file);
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
