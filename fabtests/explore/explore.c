/* SPDX-License-Identifier: BSD-2-Clause */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include "explore.h"

#define JOBS_MAX 64
#define TOTALS 3 /* descriptor */
/* The machine that this process is for, in the environment. */
#define NUMBER "EXPLORE_MACHINE"

static struct {
	const char *only; /* part of a scenario's name; NULL: all */
	bool verbose;
	unsigned int jobs;
	char dir[64];
} options = {.jobs = 2};

struct total {
	uint64_t searches, states, runs, bad;
};

int __real_clock_gettime(clockid_t clock, struct timespec *now);

static double seconds(void)
{
	struct timespec ts;

	__real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static const char *wrong_text(unsigned int wrong, char *text, size_t size)
{
	static const char *const names[] = {
		"reported too early",
		"reported too early at the target",
		"compound torn apart",
		"not as posted",
		"order of completions",
		"stuck",
		"failed",
		"refused",
		"explorer",
	};
	unsigned int i;

	snprintf(text, size, "%s", wrong ? "" : "safe");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (wrong >> i & 1)
			snprintf(text + strlen(text), size - strlen(text), "%s%s",
				 *text ? ", " : "", names[i]);
	return text;
}

static void machine_text(const struct machine *m, char *text, size_t size)
{
	snprintf(text, size, "%s ddio %s, %s%s%s%s", m->domain, m->ddio ? "on" : "off",
		 m->iwarp ? "iwarp" : "infiniband", m->flush ? "" : ", no flush",
		 m->pm_receives ? ", receives in pm" : "",
		 m->pairs > 1 ? ", two connections" : "");
}

static void one(const struct machine *machine, const struct scenario *scenario,
		struct total *total)
{
	char place[96], what[192], wanted[192];
	struct found found;
	double from = seconds();
	unsigned int expected = scenario->expect(machine);

	search(scenario, &found);
	machine_text(machine, place, sizeof(place));
	total->searches++;
	total->states += found.states;
	total->runs += found.runs;
	if (options.verbose || found.wrong != expected)
		printf("%-45s %-40s %s: %llu states, %llu runs, %.2f s\n", place,
		       scenario->name, wrong_text(found.wrong, what, sizeof(what)),
		       (unsigned long long)found.states, (unsigned long long)found.runs,
		       seconds() - from);
	if (found.wrong == expected)
		return;
	total->bad++;
	printf("    expected: %s\n", wrong_text(expected, wanted, sizeof(wanted)));
	search_tell();
}

/* Machines differ in more than what a scenario can notice. */
static bool chosen(const struct machine *machine, const struct scenario *scenario)
{
	bool receives = false, durable = false;
	const struct call *call;
	unsigned int pairs = 1;

	for (call = scenario->call; call < scenario->call + CALLS && call->kind; call++) {
		receives |= call->kind == CALL_SEND;
		durable |= call->flags & FI_COMMIT_COMPLETE;
		pairs = call->pair ? 2 : pairs;
	}
	return pairs == machine->pairs && (receives || !machine->pm_receives) &&
	       (durable || machine->flush) &&
	       (!scenario->fits || scenario->fits(machine)) &&
	       (!options.only || strstr(scenario->name, options.only));
}

/* In a process of its own, which the device is new to. */
static void all(const struct machine *machine)
{
	const struct scenario *scenario;
	struct total total = {0};

	world_open(machine);
	search_init();
	for (scenario = scenarios; scenario->name; scenario++)
		if (chosen(machine, scenario))
			one(machine, scenario, &total);
	fflush(stdout);
	_exit(write(TOTALS, &total, sizeof(total)) == sizeof(total) ? 0 : 2);
}

static int clean_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

static bool anything(const struct machine *machine)
{
	const struct scenario *scenario;

	for (scenario = scenarios; scenario->name; scenario++)
		if (chosen(machine, scenario))
			return true;
	return false;
}

/* Waits until less than most of them run. False: one did not end well. */
static bool reap(unsigned int *running, unsigned int most)
{
	bool good = true;
	int status;

	while (*running >= most && *running) {
		if (wait(&status) < 0)
			return false;
		(*running)--;
		good &= WIFEXITED(status) && !WEXITSTATUS(status);
	}
	return good;
}

/* Machine number, or false behind the last. */
static bool machine_at(unsigned int number, struct machine *m)
{
	static const char *const domains[] = {"dmp", "mhp", "wsp"};

	*m = (struct machine){
		.ddio = number & 1,
		.iwarp = number >> 1 & 1,
		.pm_receives = number >> 2 & 1,
		.flush = !(number >> 3 & 1),
		.pairs = 1 + (number >> 4 & 1),
	};
	if (number >> 5 >= 3)
		return false;
	m->domain = domains[number >> 5];
	return true;
}

/* A process whose environment the device reads before main begins. */
static void start(char **argv, unsigned int number, const struct machine *machine, int fd)
{
	char dir[96], text[16];

	snprintf(dir, sizeof(dir), "%s/%u", options.dir, number);
	snprintf(text, sizeof(text), "%u", number);
	if (mkdir(dir, 0700) || dup2(fd, TOTALS) < 0)
		_exit(2);
	world_settings(machine, dir);
	setenv(NUMBER, text, 1);
	execvp(argv[0], argv);
	_exit(2);
}

static bool explore(char **argv, struct total *sum)
{
	unsigned int running = 0, number;
	struct machine machine;
	struct total total;
	bool good = true;
	int fds[2];

	if (pipe(fds))
		return false;
	for (number = 0; machine_at(number, &machine); number++) {
		if (!anything(&machine))
			continue;
		good &= reap(&running, options.jobs);
		fflush(stdout);
		switch (fork()) {
		case -1:
			return false;
		case 0:
			start(argv, number, &machine, fds[1]);
		}
		running++;
	}
	good &= reap(&running, 1);
	close(fds[1]);
	while (read(fds[0], &total, sizeof(total)) == sizeof(total)) {
		sum->searches += total.searches;
		sum->states += total.states;
		sum->runs += total.runs;
		sum->bad += total.bad;
	}
	close(fds[0]);
	return good;
}

static const char usage[] = "Usage: explore [OPTION...]\n"
			    "Searches every state of the provider on the software device "
			    "for a power failure\n"
			    "that loses what was reported as durable. See explore.h.\n"
			    "  -s NAME   only scenarios with NAME in their name\n"
			    "  -j N      processes at a time (default 2)\n"
			    "  -v        a line for each search\n";

int main(int argc, char **argv)
{
	struct total sum = {0};
	double from = seconds();
	struct machine machine;
	bool good;
	int option;

	while ((option = getopt(argc, argv, "s:j:v")) != -1) {
		switch (option) {
		case 's':
			options.only = optarg;
			break;
		case 'j':
			options.jobs = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'v':
			options.verbose = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc || !options.jobs || options.jobs > JOBS_MAX) {
		fputs(usage, stderr);
		return 2;
	}
	if (getenv(NUMBER)) {
		machine_at((unsigned int)strtoul(getenv(NUMBER), NULL, 10), &machine);
		all(&machine);
	}
	snprintf(options.dir, sizeof(options.dir), "%s/explore.XXXXXX",
		 access("/dev/shm", W_OK) ? P_tmpdir : "/dev/shm");
	if (!mkdtemp(options.dir)) {
		perror(options.dir);
		return 2;
	}
	good = explore(argv, &sum);
	nftw(options.dir, clean_one, 8, FTW_DEPTH | FTW_PHYS);
	printf("%llu searches: %llu states, %llu runs of the real code, %.1f s; %llu not "
	       "as "
	       "expected%s\n",
	       (unsigned long long)sum.searches, (unsigned long long)sum.states,
	       (unsigned long long)sum.runs, seconds() - from,
	       (unsigned long long)sum.bad, good ? "" : ", not all ended");
	return good && !sum.bad && sum.searches ? 0 : 1;
}
