/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured, for people and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <jansson.h>

#include "report.h"

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static double rate(const struct ping_figures *figures)
{
	return figures->elapsed ? (double)figures->count * 1e9 / (double)figures->elapsed
				: 0;
}

/* ---- text ---- */

static void row(const char *way, const struct ping_figures *figures)
{
	printf("%-4s %11" PRIu64 " %11.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n", way,
	       figures->count, rate(figures), us(figures->least), us(figures->p50),
	       us(figures->p90), us(figures->p99), us(figures->p999), us(figures->most));
}

static void head(const struct png_end *end)
{
	const struct png_options *options = end->options;

	if (options->foreign)
		printf("%s: NULL of program %" PRIu32 ", version %" PRIu32,
		       end->link.peer, options->program, options->version);
	else
		printf("%s: Calls of %" PRIu32 " bytes%s, Replies of %" PRIu32 " bytes%s",
		       end->link.peer, end->plan.size,
		       png_in_chunk(end, end->plan.size) ? " (Read chunk)" : "",
		       end->plan.reply_size,
		       png_in_chunk(end, end->plan.reply_size) ? " (Write chunk)" : "");
	printf(", %" PRIu32 " outstanding\n", end->plan.depth);
}

static void text(const struct png_report *report)
{
	if (!report->begun)
		return;
	head(report->end);
	printf("%-4s %11s %11s %9s %9s %9s %9s %9s %9s\n", "", "Calls", "Calls/s",
	       "min us", "p50 us", "p90 us", "p99 us", "p99.9 us", "max us");
	row("out", &report->out);
	if (report->answered)
		row("in", &report->in);
}

/* ---- JSON ---- */

static json_t *figures_json(const struct ping_figures *figures)
{
	return json_pack("{s:I, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
			 "calls", (json_int_t)figures->count, "seconds",
			 (double)figures->elapsed / 1e9, "calls_per_s", rate(figures),
			 "stalls", (json_int_t)figures->stalls, "min_us",
			 us(figures->least), "mean_us", us(figures->mean), "p50_us",
			 us(figures->p50), "p90_us", us(figures->p90), "p99_us",
			 us(figures->p99), "p999_us", us(figures->p999), "max_us",
			 us(figures->most));
}

static json_t *options_json(const struct png_end *end)
{
	const struct png_options *options = end->options;
	const bool data = !options->foreign;

	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:b, s:I, s:I, s:I}",
			 "host", options->host, "port", options->port, "provider",
			 options->provider, "program", (json_int_t)options->program,
			 "version", (json_int_t)options->version, "size",
			 (json_int_t)(data ? end->plan.size : 0), "reply_size",
			 (json_int_t)(data ? end->plan.reply_size : 0), "read_chunk",
			 data && end->limits.send_inline &&
				 png_in_chunk(end, end->plan.size),
			 "write_chunk",
			 data && end->limits.send_inline &&
				 png_in_chunk(end, end->plan.reply_size),
			 "inline", (json_int_t)end->limits.send_inline, "depth",
			 (json_int_t)end->plan.depth, "credits",
			 (json_int_t)end->limits.credits);
}

static bool json(const struct png_report *report)
{
	json_t *root = options_json(report->end);
	json_t *error = report->error ? json_string(report->error) : json_null();
	bool good;

	good = root &&
	       !json_object_set_new(root, "interrupted", json_boolean(png_stops)) &&
	       !json_object_set_new(root, "error", error) &&
	       !json_object_set_new(root, "out",
				    report->begun ? figures_json(&report->out)
						  : json_null()) &&
	       !json_object_set_new(root, "in",
				    report->answered ? figures_json(&report->in)
						     : json_null()) &&
	       !json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(root);
	putchar('\n');
	return good;
}

bool png_report(const struct png_report *report)
{
	bool good = true;

	if (report->end->options->json)
		good = json(report);
	else
		text(report);
	if (good && !fflush(stdout))
		return true;
	fputs("fi_rpcping: cannot write the result\n", stderr);
	return false;
}
