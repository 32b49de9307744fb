/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "link/link.h"
#include "progress.h"

#define EVERY_MS 200
#define WIDTH 30

void nfg_progress_begin(struct nfg_progress *progress, const char *name, uint64_t size,
			uint64_t first)
{
	const char *slash = strrchr(name, '/');

	progress->name = slash ? slash + 1 : name;
	progress->size = size;
	progress->first = first;
	progress->begin = lnk_now_ms();
	progress->drawn = 0;
}

static double seconds(const struct nfg_progress *progress)
{
	const uint64_t ms = lnk_now_ms() - progress->begin;

	return ms ? (double)ms / 1000 : 0.001;
}

static void draw(const struct nfg_progress *progress, uint64_t have)
{
	const double rate = (double)(have - progress->first) / seconds(progress);
	const double left = rate > 0 ? (double)(progress->size - have) / rate : 0;
	const double part = progress->size ? (double)have / (double)progress->size : 1;
	const int filled = (int)(part * WIDTH);
	char bar[WIDTH + 1], rest[32] = "--:-- left";

	memset(bar, ' ', WIDTH);
	memset(bar, '=', (size_t)filled);
	bar[WIDTH] = '\0';
	if (rate > 0 && left < 360000)
		snprintf(rest, sizeof(rest), "%d:%02d left", (int)left / 60,
			 (int)left % 60);
	fprintf(stderr, "\r%-20.20s %3d%% [%s] %.1f of %.1f MB  %.1f MB/s  %s\033[K",
		progress->name, (int)(part * 100), bar, (double)have / 1e6,
		(double)progress->size / 1e6, rate / 1e6, rest);
	fflush(stderr);
}

void nfg_progress_show(struct nfg_progress *progress, uint64_t have)
{
	const uint64_t now = lnk_now_ms();

	if (!progress->bar || (now - progress->drawn < EVERY_MS && have < progress->size))
		return;
	progress->drawn = now;
	draw(progress, have);
}

void nfg_progress_clear(struct nfg_progress *progress)
{
	if (progress->bar && progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = 0;
}

void nfg_progress_end(struct nfg_progress *progress)
{
	const uint64_t bytes = progress->size - progress->first;

	nfg_progress_clear(progress);
	if (!progress->quiet)
		fprintf(stderr, "%s: %" PRIu64 " bytes in %.2f s, %.1f MB/s\n",
			progress->name, bytes, seconds(progress),
			(double)bytes / 1e6 / seconds(progress));
}
