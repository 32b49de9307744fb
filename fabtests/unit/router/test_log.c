/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/log.c: no peer fills it, so that nobody finds anything else. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cairn_test.h"
#include "log.h"

static FILE *file;
static int kept; /* the standard error */

static void begin(void)
{
	fflush(stderr);
	kept = dup(STDERR_FILENO);
	file = tmpfile();
	CT_ASSERT_NE(file, NULL);
	dup2(fileno(file), STDERR_FILENO);
}

/* Back to the standard error; how many lines have that text. */
static void finish(void)
{
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
}

static unsigned int lines(const char *text)
{
	unsigned int count = 0;
	char line[256];

	rewind(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, text) != NULL;
	return count;
}

CT_TEST(log, lines_of_peers_are_bounded_by_themselves)
{
	int i;

	ct_time_stop();
	frt_log_open(0);
	/* Whatever other tests have written. */
	ct_time_pass(60000);
	begin();
	for (i = 0; i < 300; i++)
		frt_log_peer(FRT_WARN, "a peer provokes this");
	frt_log(FRT_WARN, "this is the router's own");
	ct_time_pass(1000);
	frt_log_peer(FRT_WARN, "a peer, later");
	finish();
	CT_EXPECT_EQ(lines("provokes"), 50);
	CT_EXPECT_EQ(lines("own"), 1);
	CT_EXPECT_EQ(lines("250"), 1);
	CT_EXPECT_EQ(lines("a peer, later"), 1);
	fclose(file);
	ct_time_go();
}
