/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "model.h"
#include "mutants.h"
#include "scenario.h"

/* Processes. */
#define JOBS 2u

static struct {
	const char *only; /* part of a scenario's name; NULL: all */
	bool mutate, verbose;
} options;

/* What a process tells the one that started it. */
static struct total {
	uint64_t searches, states, runs, bad, mutants;
} total;

static const char *words(unsigned int wrong, char text[512])
{
	static const char *const names[31] = {
		"an operation does not end",	 "an operation ends twice",
		"an end is not reported",	 "more Calls than credits",
		"a Reply reaches another Call",	 "other bytes than were sent",
		"a completion before the fence", "no receive for what arrives",
		"an error without a reason",	 "a message that must not be sent",
		"messages out of order",	 "regions are left"};

	return xpl_words(names, wrong, text, 512);
}

static bool is_chosen(const struct scenario *scenario)
{
	return !options.only || strstr(scenario->name, options.only);
}

static void add(const struct xpl_found *found)
{
	total.searches++;
	total.states += found->states;
	total.runs += found->runs;
}

static void explore(const struct scenario *scenario)
{
	const double from = xpl_seconds();
	struct xpl_found found;
	char text[512];

	xpl_search_first(scenario, 0, &found);
	add(&found);
	if (found.wrong || options.verbose)
		printf("%-48s %s: %llu states, %llu runs, %.2f s\n", scenario->name,
		       words(found.wrong, text), (unsigned long long)found.states,
		       (unsigned long long)found.runs, xpl_seconds() - from);
	if (!found.wrong)
		return;
	total.bad++;
	xpl_tell();
}

/* In some scenario something has to be wrong. */
static void mutate(unsigned int mutant)
{
	const struct scenario *scenario;
	struct xpl_found found = {0};
	const double from = xpl_seconds();
	char text[512];

	xrp_mutant_use(mutant);
	for (unsigned int i = 0; !found.wrong && (scenario = xrp_scenario_at(i)); i++) {
		if (!is_chosen(scenario) || !xrp_mutant_fits(mutant, scenario))
			continue;
		xpl_search_first(scenario, 0, &found);
		add(&found);
		if (found.wrong && options.verbose)
			xpl_tell();
		if (found.wrong)
			printf("fault: %s\n    %s: %s (%.2f s)\n",
			       xrp_mutant_name(mutant), scenario->name,
			       words(found.wrong, text), xpl_seconds() - from);
	}
	xrp_mutant_end();
	total.mutants++;
	total.bad += !found.wrong;
	if (!found.wrong)
		printf("fault: %s\n    SURVIVES (%.2f s)\n", xrp_mutant_name(mutant),
		       xpl_seconds() - from);
}

static const char usage[] =
	"Usage: explore_rpcrdma [OPTION...]\n"
	"Searches every order in which messages, completions, events and calls of two\n"
	"programs may happen that talk over rpcrdma. See model.h.\n"
	"  -m        give the provider each fault of mutants.c: is that noticed?\n"
	"  -s NAME   only scenarios with NAME in their name\n"
	"  -v        a line for each search\n";

/* From first on, one in JOBS. */
static void run(unsigned int first)
{
	const struct scenario *scenario;

	for (unsigned int i = first; !options.mutate && (scenario = xrp_scenario_at(i));
	     i += JOBS)
		if (is_chosen(scenario) && (!scenario->is_large || options.only))
			explore(scenario);
	for (unsigned int i = first; options.mutate && xrp_mutant_name(i); i += JOBS)
		mutate(i);
}

/* In processes of their own. False: one did not end well. */
static bool run_all(void)
{
	struct total sum = {0}, one;
	bool good = true;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		return false;
	for (unsigned int i = 0; i < JOBS; i++) {
		pid = fork();
		if (pid < 0)
			return false;
		if (pid)
			continue;
		run(i);
		_exit(write(fds[1], &total, sizeof(total)) != sizeof(total));
	}
	for (unsigned int i = 0; i < JOBS; i++) {
		if (wait(&status) < 0 || status ||
		    read(fds[0], &one, sizeof(one)) != sizeof(one)) {
			good = false;
			continue;
		}
		sum.searches += one.searches;
		sum.states += one.states;
		sum.runs += one.runs;
		sum.bad += one.bad;
		sum.mutants += one.mutants;
	}
	total = sum;
	return good;
}

int main(int argc, char **argv)
{
	const double from = xpl_seconds();
	bool good;
	int option;

	while ((option = getopt(argc, argv, "ms:v")) != -1) {
		if (option == 'm')
			options.mutate = true;
		else if (option == 's')
			options.only = optarg;
		else if (option == 'v')
			options.verbose = true;
		else {
			fputs(usage, stderr);
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	xrp_model_open();
	good = run_all();
	if (options.mutate)
		printf("%llu faults; ", (unsigned long long)total.mutants);
	printf("%llu searches: %llu states, %llu runs of the real code, %.1f s; %llu not "
	       "as "
	       "expected\n",
	       (unsigned long long)total.searches, (unsigned long long)total.states,
	       (unsigned long long)total.runs, xpl_seconds() - from,
	       (unsigned long long)total.bad);
	if (!good)
		printf("not all processes ended well\n");
	fflush(stdout);
	_exit(good && !total.bad && total.searches ? 0 : 1);
}
