/* SPDX-License-Identifier: BSD-2-Clause */
/* The client side starts many clients and watches over them. */
#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "store.h"

struct crowd {
	struct store_shared *shared;
	struct fct_where where;
	const struct store_faults *faults;
	pid_t pid[STORE_CLIENTS]; /* 0: has ended */
};

static int start_client(struct crowd *c, uint32_t id)
{
	c->pid[id] = fct_child();
	if (c->pid[id])
		return c->pid[id] < 0 ? -1 : 0;
	fct_ctl_close();
	fct.next_key += (uint64_t)id << 32;
	fct_store_client(id, c->shared, &c->where, c->faults);
	fct_child_end(&c->shared->client[id].outcome);
}

/* A client that was killed gets a successor, which knows what it knew. */
static int watch(struct crowd *c)
{
	uint32_t id, left = fct_store_opts.clients;
	char name[32];
	int how;

	while (left) {
		FCT_DO(fct_child_next(c->pid, fct_store_opts.clients, &id, &how));
		if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL && c->faults->killed) {
			FCT_DO(start_client(c, id));
			continue;
		}
		snprintf(name, sizeof(name), "client %u", id);
		FCT_DO(fct_child_result(name, &c->shared->client[id].outcome, how));
		left--;
	}
	return 0;
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
	struct crowd c = {.faults = faults,
			  .shared = fct_child_memory(sizeof(*c.shared))};
	int ret;

	FCT_TRUE(c.shared);
	ret = begin_and_watch(&c);
	fct_child_kill(c.pid, fct_store_opts.clients);
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
	uint32_t *n = val == 'c' ? &fct_store_opts.clients : &fct_store_opts.requests;

	*n = (uint32_t)fct_number(arg, 1, val == 'c' ? STORE_CLIENTS : 1000000);
	return *n ? 0 : -1;
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
