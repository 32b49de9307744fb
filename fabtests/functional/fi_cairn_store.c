/* SPDX-License-Identifier: BSD-2-Clause */
/* The client side starts many clients and watches over them. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store.h"

struct crowd {
	struct store_shared *shared;
	struct fct_where where;
	const struct store_faults *faults;
	pid_t pid[STORE_CLIENTS]; /* 0: has ended */
	uint32_t left;
};

/* The new process says how it went in the memory that all share. */
static _Noreturn void be_client(const struct crowd *c, uint32_t id, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	fct_ctl_close();
	fct.next_key += (uint64_t)id << 32;
	fct_watchdog();
	fct_store_client(id, c->shared, &c->where, c->faults);
	fct_watchdog_stop();
	c->shared->client[id].result = fct.result;
	snprintf(c->shared->client[id].why, FCT_WHY_LEN, "%s", fct.why);
	exit(0);
}

static int start_client(struct crowd *c, uint32_t id)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		be_client(c, id, parent);
	if (pid < 0)
		return fct_fail("fork: %s", strerror(errno));
	c->pid[id] = pid;
	return 0;
}

/* A client that was killed gets a successor, which knows what it knew. */
static int ended(struct crowd *c, uint32_t id, int how)
{
	const char *why = c->shared->client[id].why;

	c->pid[id] = 0;
	if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL && c->faults->killed)
		return start_client(c, id);
	if (WIFSIGNALED(how))
		return fct_fail("client %u died of signal %d", id, WTERMSIG(how));
	if (WEXITSTATUS(how))
		return fct_fail("client %u ended with status %d", id, WEXITSTATUS(how));
	if (c->shared->client[id].result == FCT_SKIP)
		return fct_skip("%s", why);
	if (c->shared->client[id].result != FCT_PASS)
		return fct_fail("client %u: %s", id, why);
	c->left--;
	return 0;
}

static int watch(struct crowd *c)
{
	struct fct_wait w;
	uint32_t id;
	pid_t pid;
	int how;

	fct_wait_init(&w, "the clients");
	/* The run's deadline is the clients' too. */
	w.end_ms = UINT64_MAX;
	while (c->left) {
		pid = waitpid(-1, &how, WNOHANG);
		for (id = 0; id < fct_store_opts.clients && c->pid[id] != pid; id++)
			;
		if (pid > 0 && id < fct_store_opts.clients)
			FCT_DO(ended(c, id, how));
		else
			FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

static void end_clients(struct crowd *c)
{
	uint32_t id;

	for (id = 0; id < fct_store_opts.clients; id++) {
		if (c->pid[id]) {
			kill(c->pid[id], SIGKILL);
			waitpid(c->pid[id], NULL, 0);
		}
	}
}

static int begin_and_watch(struct crowd *c)
{
	static const char *const kinds[] = {"left", "vanished", "were sent off",
					    "were killed"};
	uint32_t id, k, sum;

	FCT_DO(fct_tell("clients", &fct_store_opts, sizeof(fct_store_opts)));
	FCT_DO(fct_where_hear(&c->where));
	FCT_DO(fct_barrier("opened"));
	for (id = 0; id < fct_store_opts.clients; id++)
		FCT_DO(start_client(c, id));
	FCT_DO(watch(c));
	for (k = 0; k < 4; k++) {
		for (sum = 0, id = 0; id < fct_store_opts.clients; id++)
			sum += c->shared->client[id].ends[k];
		fct_note("%u clients %s", sum, kinds[k]);
	}
	return fct_barrier("closing");
}

static int all_clients(const struct store_faults *faults)
{
	struct crowd c = {.faults = faults, .left = fct_store_opts.clients};
	int ret;

	c.shared = mmap(NULL, sizeof(*c.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c.shared == MAP_FAILED)
		return fct_fail("mmap: %s", strerror(errno));
	ret = begin_and_watch(&c);
	end_clients(&c);
	munmap(c.shared, sizeof(*c.shared));
	return ret;
}

static int run(const struct store_faults *faults)
{
	struct store_opts theirs;

	if (fct_is_client())
		return all_clients(faults);
	if (fct_hear("clients", &theirs, sizeof(theirs)))
		return -1;
	if (!theirs.clients || theirs.clients > STORE_CLIENTS)
		return fct_fail("the client asked for %u clients", theirs.clients);
	return fct_store_serve(theirs.clients);
}

FCT_CASE(steady, "all clients put and get; what they get is what was put")
{
	static const struct store_faults none;

	return run(&none);
}

FCT_CASE(reconnect, "connections end at any time, from either side")
{
	static const struct store_faults faults = {.leave = 2,
						   .vanish = 2,
						   .sent_off = 2};

	return run(&faults);
}

FCT_CASE(killed, "client processes are killed, others take over")
{
	static const struct store_faults faults = {.killed = 2};

	return run(&faults);
}

FCT_CASE(all_faults, "all of it at once")
{
	static const struct store_faults faults = {
		.leave = 1, .vanish = 2, .sent_off = 1, .killed = 1};

	return run(&faults);
}

static int option(int val, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (!*arg || *end || !n || n > (val == 'c' ? STORE_CLIENTS : 1000000)) {
		fprintf(stderr, "fi_cairn_store: '%s' is not a possible number\n", arg);
		return -1;
	}
	*(val == 'c' ? &fct_store_opts.clients : &fct_store_opts.requests) = (uint32_t)n;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"clients", required_argument, NULL, 'c'},
						{"requests", required_argument, NULL,
						 'n'},
						{0}};
	static const struct fct_prog prog = {
		.name = "fi_cairn_store",
		.what = "A server keeps objects for many clients, each a process.",
		.forks = true,
		.options = options,
		.option = option,
		.help = "  -c, --clients=COUNT     client: how many clients (default "
			"12)\n"
			"  -n, --requests=COUNT    client: requests of each (default "
			"400; "
			"40 on emulated machines)\n",
	};

	fct_store_opts.clients = 12;
	fct_store_opts.requests = fct_time_scale() > 1 ? 40 : 400;
	return fct_main(argc, argv, &prog);
}
