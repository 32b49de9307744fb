/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "run.h"

static const struct xrt_program *program;

static struct {
	const char *only; /* part of a run's name; NULL: all */
	const char *fault;
	bool mutate, verbose;
} options;

static struct {
	unsigned int searches, mutants, bad;
	uint64_t states;
} total;

static void search(const struct xrt_run *run, struct xpl_found *found)
{
	if (run->ways)
		xpl_search_some(run->run, run->ways, 1, found);
	else
		xpl_search_first(run->run, 0, found);
	total.searches++;
	total.states += found->states;
}

static bool is_chosen(const struct xrt_run *run)
{
	return !options.only || strstr(run->name, options.only);
}

static void explore(const struct xrt_run *run)
{
	const double from = xpl_seconds();
	struct xpl_found found;
	char text[512];

	search(run, &found);
	if (found.wrong || options.verbose) {
		printf("%s: %s: %llu states, %.2f s\n", run->name,
		       xpl_words(program->wrong, found.wrong, text, sizeof(text)),
		       (unsigned long long)found.states, xpl_seconds() - from);
	}
	if (!found.wrong)
		return;
	total.bad++;
	xpl_tell();
}

static void mutate(unsigned int mutant)
{
	const double from = xpl_seconds();
	struct xpl_found found = {0};
	const struct xrt_run *run = NULL;
	char text[512];

	program->mutant_use(mutant);
	for (unsigned int i = 0; i < program->count && !found.wrong; i++) {
		run = &program->runs[i];
		if (is_chosen(run) && program->mutant_fits(mutant, run->run))
			search(run, &found);
	}
	printf("fault: %s\n    ", program->mutant(mutant));
	if (run && found.wrong) {
		printf("%s: %s", run->name,
		       xpl_words(program->wrong, found.wrong, text, sizeof(text)));
	} else {
		printf("SURVIVES");
		total.bad++;
	}
	printf(" (%llu states, %.2f s)\n", (unsigned long long)found.states,
	       xpl_seconds() - from);
	if (found.wrong && options.verbose)
		xpl_tell();
	total.mutants++;
}

static bool read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "f:ms:v")) != -1) {
		switch (option) {
		case 'f':
			options.fault = optarg;
			options.mutate = true;
			break;
		case 'm':
			options.mutate = true;
			break;
		case 's':
			options.only = optarg;
			break;
		case 'v':
			options.verbose = true;
			break;
		default:
			return false;
		}
	}
	return true;
}

int xrt_main(const struct xrt_program *of, int argc, char **argv)
{
	const double from = xpl_seconds();

	program = of;
	if (!read_options(argc, argv)) {
		fprintf(stderr,
			"%s"
			"  -f TEXT   only faults with TEXT in their names; implies -m\n"
			"  -m        give the code each fault: is that noticed?\n"
			"  -s NAME   only runs with NAME in their names\n"
			"  -v        a line for each search, and how faults are "
			"noticed\n",
			program->usage);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned int i = 0; !options.mutate && i < program->count; i++)
		if (is_chosen(&program->runs[i]))
			explore(&program->runs[i]);
	for (unsigned int i = 0; options.mutate && program->mutant(i); i++)
		if (!options.fault || strstr(program->mutant(i), options.fault))
			mutate(i);
	printf("%u faults, %u searches: %llu states, %.1f s; %u not as expected\n",
	       total.mutants, total.searches, (unsigned long long)total.states,
	       xpl_seconds() - from, total.bad);
	return total.bad || !total.searches;
}
