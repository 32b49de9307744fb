/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are all connected to each other: each a process, which this one starts. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mesh.h"

/* --hosts: peers are in their network namespaces, one after the other. */
static struct host {
	const char *netns; /* NULL: where this process is */
	const char *address;
} hosts[MESH_PEERS];
static uint32_t host_count;

struct job {
	struct mesh_shared *shared;
	uint64_t caps;
	int (*use)(struct mesh *m);
	pid_t pid[MESH_PEERS]; /* 0: has ended */
};

/* FCT_HOST_ENV, "NAME=VALUE": a variable of this process, with the host's name for "@".
 */
static int set_own(const char *netns)
{
	const char *text = getenv("FCT_HOST_ENV"), *host = strrchr(netns, '/') + 1;
	const char *value = text ? strchr(text, '=') : NULL, *at;
	char name[64], now[512];

	if (!value)
		return 0;
	at = strchr(++value, '@');
	snprintf(name, sizeof(name), "%.*s", (int)(value - 1 - text), text);
	if (at)
		snprintf(now, sizeof(now), "%.*s%s%s", (int)(at - value), value, host,
			 at + 1);
	else
		snprintf(now, sizeof(now), "%s", value);
	return setenv(name, now, 1) ? fct_fail("setenv: %s", name) : 0;
}

static int take_part(struct mesh *m, struct job *job, uint32_t self)
{
	const struct host *host = &hosts[self % (host_count ? host_count : 1)];

	if (host->address)
		fct.opts.src = host->address;
	if (!fct.opts.src)
		fct.opts.src = "127.0.0.1";
	if (host->netns && fct_enter_netns(host->netns))
		FCT_FAIL("no host %s", host->netns);
	if (host->netns)
		FCT_DO(set_own(host->netns));
	FCT_DO(fct_mesh_up(m, job->shared, self, job->caps));
	return job->use(m);
}

static int run(struct job *job, uint32_t self)
{
	struct mesh *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return fct_fail("no memory");
	ret = take_part(m, job, self);
	/* What others see of the closing that follows is no failure of theirs. */
	if (ret && atomic_exchange(&job->shared->over, true))
		fct.followed = true;
	ret = fct_mesh_down(m, ret);
	free(m);
	return ret;
}

static int start_peer(struct job *job, uint32_t self)
{
	job->pid[self] = fct_child();
	if (job->pid[self])
		return job->pid[self] < 0 ? -1 : 0;
	fct.next_key += (uint64_t)self << 32;
	if (run(job, self) && fct.result == FCT_PASS)
		fct_fail("failed without saying why");
	fct_child_end(&job->shared->peer[self].outcome);
}

/* To the first that fails on its own. */
static int watch(struct job *job)
{
	const struct fct_outcome *o, *followed = NULL;
	uint32_t left, self;
	char name[32];
	int how;

	for (left = fct_mesh_count; left; left--) {
		FCT_DO(fct_child_next(job->pid, fct_mesh_count, &self, &how));
		o = &job->shared->peer[self].outcome;
		snprintf(name, sizeof(name), "peer %u", self);
		if (!how && o->followed)
			followed = o;
		else
			FCT_DO(fct_child_result(name, o, how));
	}
	return followed ? fct_fail("%s", followed->why) : 0;
}

static int peers(uint64_t caps, int (*use)(struct mesh *m))
{
	struct job job = {.caps = caps,
			  .use = use,
			  .shared = fct_child_memory(sizeof(*job.shared))};
	uint32_t self;
	int ret = 0;

	FCT_TRUE(job.shared);
	for (self = 0; self < fct_mesh_count && !ret; self++)
		ret = start_peer(&job, self);
	if (!ret)
		ret = watch(&job);
	fct_child_kill(job.pid, fct_mesh_count);
	munmap(job.shared, sizeof(*job.shared));
	return ret;
}

FCT_CASE_CALL(messages, "every peer sends to every other",
	      peers(FI_MSG, fct_mesh_messages))

FCT_CASE_CALL(rma, "every peer writes to every other, and reads it back",
	      peers(FI_MSG | FI_RMA, fct_mesh_rma))

FCT_CASE_CALL(leaves, "a peer closes its connections, the others' work on",
	      peers(FI_MSG, fct_mesh_leaves))

/* HOST=ADDRESS,...: the text is cut into pieces. */
static int parse_hosts(char *text)
{
	static char paths[MESH_PEERS][64];
	char *at, *save;

	for (at = strtok_r(text, ",", &save); at; at = strtok_r(NULL, ",", &save)) {
		char *address = strchr(at, '=');

		if (!address || host_count == MESH_PEERS)
			return -1;
		*address++ = '\0';
		snprintf(paths[host_count], sizeof(paths[0]), "/run/netns/%s", at);
		hosts[host_count].netns = paths[host_count];
		hosts[host_count++].address = address;
	}
	return host_count ? 0 : -1;
}

static int option(int val, const char *arg)
{
	static char *text;

	if (val == 'H') {
		free(text);
		text = strdup(arg);
		host_count = 0;
		if (text && !parse_hosts(text))
			return 0;
		fprintf(stderr, "fi_cairn_mesh: '%s' is not HOST=ADDRESS,...\n", arg);
		return -1;
	}
	fct_mesh_count = (uint32_t)fct_number(arg, 2, MESH_PEERS);
	return fct_mesh_count ? 0 : -1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"peers", required_argument, NULL, 'n'},
						{"hosts", required_argument, NULL, 'H'},
						{0}};
	static const struct fct_prog prog = {
		.name = "fi_cairn_mesh",
		.what = "Peers that are all connected to each other, each a process.",
		.single = true,
		.forks = true,
		.options = options,
		.option = option,
		.help = "  -n, --peers=COUNT       how many (default 4)\n"
			"  -H, --hosts=HOST=ADDR,...  the network namespaces that peers "
			"are "
			"in,\n"
			"                          one after the other, and their fabric "
			"addresses there\n",
	};

	return fct_main(argc, argv, &prog);
}
