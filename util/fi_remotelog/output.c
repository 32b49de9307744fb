/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "link.h"
#include "output.h"

static double rlg_us(uint64_t ns)
{
	return (double)ns / 1000;
}

struct rlg_figures {
	double min, mean, p50, p99, p999, max; /* us */
	double rate;			       /* appends a second */
	double message_trip, read_trip;	       /* us */
	char acts[48];
};

static void rlg_figures_get(struct rlg_figures *figures, struct rlg_result *result)
{
	const uint64_t count = result->samples;

	rlg_sort(result->sample, count);
	figures->min = rlg_us(result->sample[0]);
	figures->mean = rlg_mean(result->sample, count) / 1000;
	figures->p50 = rlg_us(rlg_percentile(result->sample, count, 500));
	figures->p99 = rlg_us(rlg_percentile(result->sample, count, 990));
	figures->p999 = rlg_us(rlg_percentile(result->sample, count, 999));
	figures->max = rlg_us(result->sample[count - 1]);
	figures->rate = (double)count * 1e9 / (double)(result->ended - result->begun);
	figures->message_trip = rlg_us(result->message_trip);
	figures->read_trip = rlg_us(result->read_trip);
}

static void rlg_print(const struct rlg_figures *figures,
		      const struct rlg_options *options, uint64_t count)
{
	printf("%s, %s, method %s (%s), %u bytes, depth %u: %llu appends\n",
	       rlg_kind_name(options->kind), rlg_op_name(options->op),
	       rlg_method_name(options->method), figures->acts, options->payload,
	       options->depth, (unsigned long long)count);
	printf("  %10s %10s %10s %10s %10s %12s\n", "mean us", "p50", "p99", "p99.9",
	       "max", "appends/s");
	printf("  %10.2f %10.2f %10.2f %10.2f %10.2f %12.0f\n", figures->mean,
	       figures->p50, figures->p99, figures->p999, figures->max, figures->rate);
	printf("  p50 is %.2f times a read of one byte (%.2f us), %.2f times a message "
	       "and "
	       "its answer (%.2f us)\n",
	       figures->p50 / figures->read_trip, figures->read_trip,
	       figures->p50 / figures->message_trip, figures->message_trip);
}

static int rlg_labels(json_t *root, const struct rlg_options *options)
{
	const char *equals;
	char name[64];
	int i;

	for (i = 0; i < options->labels; i++) {
		equals = strchr(options->label[i], '=');
		snprintf(name, sizeof(name), "%.*s", (int)(equals - options->label[i]),
			 options->label[i]);
		if (json_object_set_new(root, name, json_string(equals + 1)))
			return -1;
	}
	return 0;
}

static json_t *rlg_json(const struct rlg_figures *figures,
			const struct rlg_options *options, uint64_t count)
{
	json_t *labels = json_object(), *root;

	if (!labels || rlg_labels(labels, options)) {
		json_decref(labels);
		return NULL;
	}
	root = json_pack("{s:o, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "labels", labels,
			 "kind", rlg_kind_name(options->kind), "op",
			 rlg_op_name(options->op), "method",
			 rlg_method_name(options->method), "steps", figures->acts,
			 "bytes", (json_int_t)options->payload, "depth",
			 (json_int_t)options->depth, "appends", (json_int_t)count);
	if (root &&
	    json_object_update_new(
		    root,
		    json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "min_us",
			      figures->min, "mean_us", figures->mean, "p50_us",
			      figures->p50, "p99_us", figures->p99, "p999_us",
			      figures->p999, "max_us", figures->max, "appends_per_s",
			      figures->rate, "message_us", figures->message_trip,
			      "read_us", figures->read_trip))) {
		json_decref(root);
		root = NULL;
	}
	return root;
}

/* A line at the end of the file, for --report; "-" is standard output. */
static int rlg_json_write(const char *path, json_t *root)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
	int ret;

	if (!file) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	ret = json_dumpf(root, file, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', file);
	if (file == stdout ? fflush(file) : fclose(file))
		ret = -1;
	if (ret)
		rlg_say("%s: cannot be written: %s", path, strerror(errno));
	return ret;
}

/* How many appends took no longer than that, as far as the picture can show. */
static int rlg_plot_write(const char *path, const struct rlg_result *result,
			  const struct rlg_options *options)
{
	FILE *file = fopen(path, "w");
	unsigned int i;

	if (!file) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	fprintf(file, "# gnuplot -p %s\n", path);
	fprintf(file,
		"set title '%s append, %s, method %s, %u bytes, depth %u'\n"
		"set xlabel 'latency [us]'\nset ylabel 'appends that took no longer "
		"[%%]'\n"
		"set logscale x\nset grid\nset key off\n$latency << EOD\n",
		rlg_kind_name(options->kind), rlg_op_name(options->op),
		rlg_method_name(options->method), options->payload, options->depth);
	for (i = 1; i <= 1000; i++)
		fprintf(file, "%.3f %.1f\n",
			rlg_us(rlg_percentile(result->sample, result->samples, i)),
			i / 10.0);
	fprintf(file, "EOD\nplot $latency with steps\n");
	if (fclose(file)) {
		rlg_say("%s: cannot be written: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

int rlg_result_write(struct rlg_result *result, const struct rlg_options *options,
		     const uint8_t *acts)
{
	struct rlg_figures figures;
	json_t *root;
	int ret = 0;

	rlg_figures_get(&figures, result);
	rlg_acts_text(acts, options->op, figures.acts, sizeof(figures.acts));
	rlg_print(&figures, options, result->samples);
	if (options->json) {
		root = rlg_json(&figures, options, result->samples);
		ret = root ? rlg_json_write(options->json, root) : -1;
		json_decref(root);
	}
	if (!ret && options->plot)
		ret = rlg_plot_write(options->plot, result, options);
	return ret;
}
