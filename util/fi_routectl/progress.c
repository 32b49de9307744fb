/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define PATIENCE_MS 1000u
#define EVERY_MS 200u

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void rct_progress_begin(struct rct_progress *progress, const char *what, uint64_t all)
{
	*progress = (struct rct_progress){.what = what, .all = all, .begin = now_ms()};
}

void rct_progress_step(struct rct_progress *progress)
{
	uint64_t now, left;

	progress->done++;
	now = now_ms();
	if (now - progress->begin < PATIENCE_MS || now - progress->drawn < EVERY_MS ||
	    !isatty(STDERR_FILENO))
		return;
	progress->drawn = now;
	left = (now - progress->begin) * (progress->all - progress->done) /
	       progress->done / 1000;
	fprintf(stderr,
		"\r%s: %" PRIu64 " of %" PRIu64 "  %" PRIu64 "%%  %" PRIu64 ":%02" PRIu64
		" left\033[K",
		progress->what, progress->done, progress->all,
		progress->done * 100 / progress->all, left / 60, left % 60);
	fflush(stderr);
}

void rct_progress_end(struct rct_progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
}
