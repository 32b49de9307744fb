/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "link.h"
#include "plot.h"

/* A case's four bars, which the domain and kind of the picture need not say. */
static void rlg_plot_row(FILE *file, const struct rlg_row *row)
{
	const struct rlg_interval *figure = row->figure;

	fprintf(file, "\"%s %s ddio %s%s\" %.3f %.3f %.3f %.3f %.3f %.3f\n", row->is.op,
		row->is.method, row->is.ddio,
		strcmp(row->is.flush, "on") == 0 ? " FLUSH" : "", figure[RLG_MEAN].median,
		figure[RLG_P50].median, figure[RLG_P99].median, figure[RLG_P999].median,
		figure[RLG_P50].from, figure[RLG_P50].to);
}

static void rlg_plot_picture(FILE *file, const struct rlg_rows *rows, const char *domain,
			     const char *kind)
{
	const struct rlg_row *row;
	unsigned int bars = 0;
	size_t i;

	fprintf(file, "$d << EOD\n");
	for (i = 0; i < rows->count; i++) {
		row = &rows->row[i];
		if (!row->count || strcmp(row->is.kind, kind) != 0 ||
		    strcmp(row->is.domain, domain) != 0)
			continue;
		rlg_plot_row(file, row);
		bars++;
	}
	if (!bars)
		fprintf(file, "\"not measured\" 1 1 1 1 1 1\n");
	fprintf(file,
		"EOD\nset title '%s, %s'\n"
		"plot $d using 2:xtic(1) title 'mean', $d using 3 title 'p50', "
		"$d using 4 title 'p99', $d using 5 title 'p99.9', "
		"$d using ($0-0.1):3:6:7 with yerrorbars pt 0 lc black notitle\n",
		kind, domain);
}

int rlg_plot_rows(const struct rlg_rows *rows, const char *path)
{
	static const char *const domains[] = {"dmp", "mhp", "wsp"};
	static const char *const kinds[] = {"singleton", "compound"};
	FILE *file = fopen(path, "w");
	size_t k, d;

	if (!file) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	fprintf(file,
		"# gnuplot -p %s\nset multiplot layout 2,3\nset style data histograms\n"
		"set style histogram clustered gap 1\nset style fill solid 0.6\n"
		"set xtics rotate by -90 font ',7'\nset logscale y\nset grid ytics\n"
		"set ylabel 'latency [us]'\nset key above horizontal font ',7'\n",
		path);
	for (k = 0; k < 2; k++)
		for (d = 0; d < 3; d++)
			rlg_plot_picture(file, rows, domains[d], kinds[k]);
	fprintf(file, "unset multiplot\n");
	if (fclose(file)) {
		rlg_say("%s: cannot be written: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}
