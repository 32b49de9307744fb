/* SPDX-License-Identifier: BSD-2-Clause */
/* What both sides of a transfer use. */
#include <unistd.h>

#include "file.h"

void fct_file_progress(struct file_ring *r, uint64_t done)
{
	uint64_t now = fct_now_ns(), bytes = done * r->job.chunk;

	if (!fct_is_client() || !isatty(STDERR_FILENO))
		return;
	if (now - r->shown_ns < 200000000u && done < r->chunks)
		return;
	r->shown_ns = now;
	if (bytes > r->job.size)
		bytes = r->job.size;
	fprintf(stderr, "\r%3llu %%  %llu MiB  %.1f MB/s ",
		(unsigned long long)(r->job.size ? bytes * 100 / r->job.size : 100),
		(unsigned long long)(bytes >> 20),
		(double)bytes * 1e3 / (double)(now - r->start_ns + 1));
	if (done >= r->chunks)
		fprintf(stderr, "\r\033[K");
}

static bool within(const struct file_ring *r, const struct fct_ctx *ctx,
		   const struct fct_ctx *ring)
{
	return ctx >= ring && ctx < ring + r->job.window;
}

uint32_t fct_file_context_slot(const struct file_ring *r, const struct fct_ctx *ctx)
{
	if (within(r, ctx, r->data_ctx))
		return (uint32_t)(ctx - r->data_ctx);
	if (within(r, ctx, r->note_ctx))
		return (uint32_t)(ctx - r->note_ctx);
	if (within(r, ctx, r->credit_ctx))
		return (uint32_t)(ctx - r->credit_ctx);
	return r->job.window;
}
