/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a router is ready, for scripts. */
#include <stdio.h>

#include "live.h"

/* ms that a router may say nothing; between two questions. */
#define PATIENCE 10000u
#define PAUSE 100u

/* The last answer, ready or not; NULL: there is none, as why says. */
static json_t *ask_until(const struct rct_live_options *options, const char *path,
			 char why[RCT_WHY_SIZE])
{
	const uint64_t end = rct_now_ms() + options->timeout;
	json_t *document;

	for (;;) {
		document = rct_ask_quietly(path, json_pack("{s:s}", "command", "ready"),
					   PATIENCE, why);
		if ((document && rct_true(document, "ready")) || rct_now_ms() >= end)
			return document;
		json_decref(document);
		rct_pause(PAUSE);
	}
}

int rct_live_ready(const struct rct_live_options *options, const char *path)
{
	char why[RCT_WHY_SIZE];
	json_t *document = ask_until(options, path, why);
	const bool ready = rct_true(document, "ready");

	if (document && options->json) {
		json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (ready) {
		puts("ready");
	} else {
		fprintf(stderr, "fi_routectl: not ready: %s\n",
			document ? rct_text(document, "why") : why);
	}
	json_decref(document);
	return ready ? 0 : 1;
}
