/* SPDX-License-Identifier: BSD-2-Clause */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include "machine.h"
#include "model.h"
#include "runs.h"
#include "world.h"

#define JOBS_MAX 16 /* what they tell fits a pipe */
#define TOTALS 3    /* descriptor */
/* The machine that this process is for, in the environment. */
#define NUMBER "EXPLORE_MACHINE"
#define SEED "EXPLORE_SEED"
#define FOLDER "EXPLORE_FOLDER"

/* Is nothing pruned? By chance words of lines that are torn drain in more ways than all
 * could be tried. */
static bool drains(void)
{
	return xpv_options.drains || (xpv_options.programs && !xpv_options.all_ways);
}

/* In a process of its own, which the device is new to. */
static void all(const struct machine *machine, unsigned int number)
{
	struct total total = {0};
	bool good = true;

	xpv_model_open(machine, drains());
	if (xpv_options.compare)
		xpl_compare();
	if (xpv_options.mutate)
		good = (xpv_options.faults || xpv_run_mutated(machine, number, &total)) &&
		       xpv_run_faults(machine, number, &total);
	else if (xpv_options.programs)
		xpv_run_by_chance(machine, &total);
	else
		xpv_run_all(machine, &total);
	fflush(stdout);
	good &= write(TOTALS, &total, sizeof(total)) == sizeof(total);
	_exit(good ? 0 : 2);
}

static int clean_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

/* Machines that programs by chance are for. */
#define BY_CHANCE                                                           \
	(1u << SPECIAL_NONE | 1u << SPECIAL_SHORT | 1u << SPECIAL_MESSAGE | \
	 1u << SPECIAL_REGIONS | 1u << SPECIAL_MIXED | 1u << SPECIAL_UNORDERED)

static bool anything(const struct machine *machine)
{
	const struct scenario *scenario;

	if (xpv_options.programs)
		return machine->pairs == 1 && !machine->receives &&
		       BY_CHANCE >> machine->special & 1;
	for (unsigned int i = 0; (scenario = xpv_scenario_at(i)); i++)
		if (xpv_is_chosen(machine, scenario))
			return true;
	return false;
}

static void sum_up(struct total *sum, const struct total *total)
{
	size_t n;

	sum->searches += total->searches;
	sum->states += total->states;
	sum->runs += total->runs;
	sum->media += total->media;
	sum->unseen += total->unseen;
	sum->unsafe += total->unsafe;
	sum->bad += total->bad;
	sum->cut += total->cut;
	for (size_t i = 0; i < total->plans; i++) {
		for (n = 0; n < sum->plans && strcmp(sum->plan[n], total->plan[i]); n++)
			;
		if (n < PLANS_MAX)
			memcpy(sum->plan[n], total->plan[i], PLAN_TEXT);
		if (n == sum->plans && n < PLANS_MAX)
			sum->plans++;
	}
}

/* Of which machine a process was. */
#define CHILDREN 4096u
static struct child {
	pid_t pid;
	unsigned int number;
} child[CHILDREN];

static bool ended_badly(pid_t pid)
{
	struct machine machine;
	char place[96];

	for (size_t i = 0; i < CHILDREN; i++)
		if (child[i].pid == pid && xpv_machine_at(child[i].number, &machine)) {
			xpv_machine_text(&machine, place, sizeof(place));
			printf("%s: its process did not end well\n", place);
		}
	return false;
}

/* Waits until less than most of them run. False: one did not end well. */
static bool reap(unsigned int *running, unsigned int most, int fd, struct total *sum)
{
	struct total total;
	bool good = true;
	int status;
	pid_t pid;

	while (*running >= most && *running) {
		pid = wait(&status);
		if (pid < 0)
			return false;
		(*running)--;
		if (WIFEXITED(status) && !WEXITSTATUS(status) &&
		    read(fd, &total, sizeof(total)) == sizeof(total))
			sum_up(sum, &total);
		else
			good = ended_badly(pid);
	}
	return good;
}

/* A process whose environment the device reads before main begins. */
static void start(char **argv, unsigned int number, const struct machine *machine, int fd)
{
	char dir[96], text[16];

	snprintf(dir, sizeof(dir), "%s/%u", xpv_options.dir, number);
	snprintf(text, sizeof(text), "%u", number);
	if (mkdir(dir, 0700) || dup2(fd, TOTALS) < 0)
		_exit(2);
	xpv_world_settings(machine, dir);
	setenv(NUMBER, text, 1);
	setenv(FOLDER, xpv_options.dir, 1);
	execvp(argv[0], argv);
	_exit(2);
}

static bool explore(char **argv, struct total *sum)
{
	unsigned int running = 0, number;
	struct machine machine;
	bool good = true;
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		return false;
	for (number = 0; xpv_machine_at(number, &machine); number++) {
		if (!anything(&machine))
			continue;
		good &= reap(&running, xpv_options.jobs, fds[0], sum);
		fflush(stdout);
		pid = fork();
		switch (pid) {
		case -1:
			return false;
		case 0:
			start(argv, number, &machine, fds[1]);
			break;
		default:
			child[number % CHILDREN] = (struct child){pid, number};
		}
		running++;
	}
	good &= reap(&running, 1, fds[0], sum);
	close(fds[0]);
	close(fds[1]);
	return good;
}

static const char usage[] =
	"Usage: explore [OPTION...]\n"
	"Searches every state of the provider on the software device for a power "
	"failure\n"
	"that loses what was reported as durable. See model.h.\n"
	"  -m        leave out each part of each plan, give the provider each fault of\n"
	"            mutants.c: is that noticed?\n"
	"  -r N      N programs by chance for each kind of machine, instead\n"
	"  -l        with -r: programs of 4 and 5 calls, in every way\n"
	"  -f        with -m: the faults alone\n"
	"  -S SEED   of the first of them (default: by time)\n"
	"  -s NAME   only scenarios with NAME in their name\n"
	"  -j N      processes at a time (default 4)\n"
	"  -u        lines drain one by one: nothing is pruned\n"
	"  -c        what was found, in a form that is the same with and without -u\n"
	"  -v        a line for each search\n";

static bool number(const char *text, unsigned long long most, unsigned long long *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	return end != text && !*end && *value <= most;
}

static bool set_option(int option)
{
	unsigned long long value = 0;
	bool good = true;

	switch (option) {
	case 'm':
		xpv_options.mutate = true;
		break;
	case 'r':
		good = number(optarg, UINT32_MAX, &value);
		xpv_options.programs = (uint32_t)value;
		break;
	case 'f':
		xpv_options.faults = true;
		break;
	case 'l':
		xpv_options.all_ways = true;
		break;
	case 'S':
		good = number(optarg, UINT64_MAX, &value);
		xpv_options.seed = value;
		break;
	case 's':
		xpv_options.only = optarg;
		break;
	case 'j':
		good = number(optarg, JOBS_MAX, &value) && value;
		xpv_options.jobs = (unsigned int)value;
		break;
	case 'u':
		xpv_options.drains = true;
		break;
	case 'c':
		xpv_options.compare = true;
		break;
	case 'v':
		xpv_options.verbose = true;
		break;
	default:
		return false;
	}
	return good;
}

/* What no search is about, and why. */
static const char apart[] =
	"apart: a request lost for good on iWARP: TCP repeats what was lost, in order, "
	"so\n"
	"  the device sees it late (searched), or gives up: the connection ends by an "
	"event\n"
	"  of rdma_cm, which nobody here reads, with durability unknown\n"
	"apart: a lost answer: the responder does not execute again what it has "
	"executed,\n"
	"  but for reads, which change nothing\n"
	"apart: receives that recovery looks into as a shared context's: the provider\n"
	"  refuses them\n"
	"apart: which of two connections takes a shared receive first: the model gives\n"
	"  receives in the order of posting\n";

static void tell(const struct total *sum, double wall)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	for (size_t i = 0; i < sum->plans; i++)
		printf("plan: %s\n", sum->plan[i]);
	if (!xpv_options.mutate && !xpv_options.programs && !xpv_options.only)
		fputs(apart, stdout);
	if (xpv_options.mutate)
		printf("%llu parts of plans left out and %llu faults, %llu not noticed; ",
		       (unsigned long long)sum->changes, (unsigned long long)sum->faults,
		       (unsigned long long)sum->survivors);
	printf("%llu searches (%llu of what is unsafe): %llu states, %llu media, "
	       "%llu runs of the real code, %zu plans, %.1f s, %ld s of processors; %llu "
	       "not as expected\n",
	       (unsigned long long)sum->searches, (unsigned long long)sum->unsafe,
	       (unsigned long long)sum->states, (unsigned long long)sum->media,
	       (unsigned long long)sum->runs, sum->plans, wall,
	       (long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec),
	       (unsigned long long)sum->bad);
	if (drains())
		return;
	printf("pruned: the drains of lines are part of %llu states; %llu choices "
	       "that "
	       "nobody notices were tried against no other; %llu searches not to the "
	       "end\n",
	       (unsigned long long)sum->states, (unsigned long long)sum->unseen,
	       (unsigned long long)sum->cut);
}

/* A folder for all of them, or false. */
static bool make_folder(void)
{
	snprintf(xpv_options.dir, sizeof(xpv_options.dir), "%s/explore.XXXXXX",
		 access("/dev/shm", W_OK) ? P_tmpdir : "/dev/shm");
	if (mkdtemp(xpv_options.dir))
		return true;
	perror(xpv_options.dir);
	return false;
}

int main(int argc, char **argv)
{
	const double from = xpl_seconds();
	struct total sum = {0};
	struct machine machine;
	unsigned int which;
	char seed[24];
	bool good;
	int option;

	xpv_options.seed = (uint64_t)time(NULL);
	while ((option = getopt(argc, argv, "mfr:lS:s:j:ucv")) != -1)
		if (!set_option(option)) {
			fputs(usage, stderr);
			return 2;
		}
	if (getenv(NUMBER)) {
		xpv_options.seed = strtoull(getenv(SEED), NULL, 10);
		snprintf(xpv_options.dir, sizeof(xpv_options.dir), "%s", getenv(FOLDER));
		which = (unsigned int)strtoul(getenv(NUMBER), NULL, 10);
		xpv_machine_at(which, &machine);
		all(&machine, which);
	}
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)xpv_options.seed);
	if (xpv_options.programs)
		printf("seed %s\n", seed);
	if (!make_folder() || setenv(SEED, seed, 1))
		return 2;
	good = explore(argv, &sum);
	if (xpv_options.mutate)
		good = (xpv_options.faults || xpv_judge_mutated(&sum)) &
		       xpv_judge_faults(&sum) & good;
	nftw(xpv_options.dir, clean_one, 8, FTW_DEPTH | FTW_PHYS);
	tell(&sum, xpl_seconds() - from);
	if (!good)
		printf("not all processes ended well\n");
	return good && !sum.bad && !sum.survivors && sum.searches ? 0 : 1;
}
