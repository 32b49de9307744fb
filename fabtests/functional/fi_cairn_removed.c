/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that is taken away while everything is under way: what ends, what is told,
 * what is refused, and closing. Only a software device does that on request; each run is
 * a process of its own, from which it does not come back.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "close_order.h"

/* ---- runs ---- */

struct outcome {
	enum fct_result result;
	char why[FCT_WHY_LEN];
};

static bool on_software_device(void)
{
	return getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "simverbs");
}

static _Noreturn void run(const struct fct *parent, struct outcome *o,
			  int (*fn)(struct fct *t, unsigned int nth), unsigned int nth)
{
	struct fct t = *parent;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fct_watchdog(&t);
	fn(&t, nth);
	o->result = t.result;
	snprintf(o->why, sizeof(o->why), "%s", t.why);
	exit(0);
}

/* In a process of its own. */
static int apart(struct fct *t, int (*fn)(struct fct *t, unsigned int nth),
		 unsigned int nth)
{
	struct outcome *o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int how, ret = 0;
	pid_t pid;

	FCT_TRUE(t, o != MAP_FAILED);
	fflush(stdout);
	pid = fork();
	if (!pid)
		run(t, o, fn, nth);
	FCT_TRUE(t, pid > 0 && waitpid(pid, &how, 0) == pid);
	if (WIFSIGNALED(how) || WEXITSTATUS(how))
		FCT_FAIL(t, "run %u ended with %s %d", nth,
			 WIFSIGNALED(how) ? "signal" : "status",
			 WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
	if (o->result == FCT_FAIL)
		FCT_FAIL(t, "run %u: %s", nth, o->why);
	ret = o->result == FCT_SKIP ? fct_skip(t, "%s", o->why) : 0;
out:
	return ret;
}

/* Takes the device away from this process: simverbs(1), TAKING A DEVICE AWAY. */
static int take_away(struct fct *t, const struct scene *s)
{
	const char *dir = getenv("SIMVERBS_DIR");
	char path[200], own[64];
	int fd, ret = 0;

	snprintf(own, sizeof(own), "/dev/shm/simverbs-%u", (unsigned int)geteuid());
	snprintf(path, sizeof(path), "%s/remove/%s@%d", dir && *dir ? dir : own,
		 s->here->domain_attr->name, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		FCT_FAIL(t, "%s: %s", path, strerror(errno));
	close(fd);
	unlink(path);
out:
	return ret;
}

/* ---- what ends ---- */

static int ended(struct fct *t, struct scene *s, void *context, int err)
{
	struct scene_op *op = context;
	int ret = 0;

	FCT_TRUE(t, op >= s->op && op < s->op + SCENE_OPS);
	FCT_TRUE(t, err > 0);
	FCT_EQ(t, ++op->ended, op->posted);
out:
	return ret;
}

static bool all_ended(const struct scene *s)
{
	size_t i;

	for (i = 0; i < SCENE_OPS && s->op[i].ended == s->op[i].posted; i++)
		;
	return i == SCENE_OPS;
}

/* A program that only reads. */
static int await_ended(struct fct *t, struct scene *s)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, t, "the end of every operation");
	while (!all_ended(s)) {
		ret = (int)fi_cq_read(s->cq, &e, 1);
		if (ret == -FI_EAGAIN) {
			FCT_DO(fct_wait_check(&w));
			continue;
		}
		FCT_EQ(t, ret, -FI_EAVAIL);
		FCT_EQ(t, fi_cq_readerr(s->cq, &err, 0), 1);
		FCT_DO(ended(t, s, err.op_context, err.err));
	}
	FCT_EQ(t, fi_cq_read(s->cq, &e, 1), -FI_EAGAIN);
	ret = 0;
out:
	return ret;
}

/* Each connection and the listener hear of it once. */
static int await_told(struct fct *t, struct scene *s)
{
	unsigned int active = 0, passive = 0, listener = 0, quiet = 0;
	struct fi_eq_err_entry err = {0};
	struct fct_event e = {0};
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, t, "what is told of a device that was removed");
	while (!active || !passive || !listener || quiet < 20) {
		ret = (int)fi_eq_read(s->eq, &e.event, e.room, sizeof(e.room), 0);
		if (ret == -FI_EAGAIN) {
			quiet++;
			FCT_DO(fct_wait_again(&w));
			continue;
		}
		quiet = 0;
		if (ret == -FI_EAVAIL) {
			FCT_EQ(t, fi_eq_readerr(s->eq, &err, 0), sizeof(err));
			FCT_EQ(t, err.err, FI_ENODEV);
			FCT_TRUE(t, err.fid == &s->pep->fid);
			FCT_EQ(t, ++listener, 1);
			continue;
		}
		FCT_TRUE(t, ret > 0);
		FCT_EQ(t, e.event, FI_SHUTDOWN);
		if (e.cm.fid == &s->active.ep->fid)
			FCT_EQ(t, ++active, 1);
		else
			FCT_EQ(t, ++passive, 1);
	}
	ret = 0;
out:
	return ret;
}

static int refused(struct fct *t, struct scene *s)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_NONE};
	void *desc = fi_mr_desc(s->mr);
	struct fi_cq_data_entry e;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	int ret = 0;

	FCT_EQ(t, fi_send(s->active.ep, s->words, 8, desc, 0, NULL), -FI_ENODEV);
	FCT_EQ(t,
	       fi_write(s->active.ep, s->words, 8, desc, 0, (uintptr_t)s->words,
			fi_mr_key(s->mr), NULL),
	       -FI_ENODEV);
	FCT_EQ(t, fi_inject(s->passive.ep, s->words, 8, 0), -FI_ENODEV);
	FCT_EQ(t, fi_recv(s->srx, s->words, 8, desc, 0, NULL), -FI_ENODEV);
	FCT_EQ(t, fi_mr_reg(s->domain, s->words, 8, FI_SEND, 0, 0, 0, &mr, NULL),
	       -FI_ENODEV);
	FCT_EQ(t, fi_cq_open(s->domain, &attr, &cq, NULL), -FI_ENODEV);
	FCT_EQ(t, fi_endpoint(s->domain, s->there, &ep, NULL), -FI_ENODEV);
	FCT_EQ(t, fi_cq_sread(s->cq, &e, 1, NULL, -1), -FI_ENODEV);
	ret = 0;
out:
	return ret;
}

static int bring(struct fct *t, struct scene *s)
{
	int ret = 0;

	if (fct_scene_open(s, t) == -FI_ENODATA && !s->here)
		return fct_skip(t, "not offered: %s", s->doing);
	if (s->err || fct_scene_in_flight(s))
		FCT_FAIL(t, "%s: %s", s->doing, fi_strerror(-s->err));
out:
	return ret;
}

static int everything_ends(struct fct *t, unsigned int nth)
{
	struct scene s;
	int ret;

	FCT_DO(bring(t, &s));
	FCT_DO(take_away(t, &s));
	FCT_DO(await_ended(t, &s));
	FCT_DO(await_told(t, &s));
	FCT_DO(refused(t, &s));
	fct_scene_close(&s);
	if (s.wrong[0])
		FCT_FAIL(t, "%s", s.wrong);
out:
	return ret;
}

/* ---- who waits ---- */

static void *wait_for_completions(void *cq)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	ssize_t n;

	while ((n = fi_cq_sread(cq, &e, 1, NULL, -1)) != -FI_ENODEV) {
		if (n == -FI_EAVAIL)
			fi_cq_readerr(cq, &err, 0);
	}
	return NULL;
}

/* Of what fails the error counter tells. */
static void *wait_for_count(void *cntr)
{
	int ret;

	do
		ret = fi_cntr_wait(cntr, 100, -1);
	while (ret == -FI_EAVAIL);
	return (void *)(intptr_t)ret;
}

static void *wait_for_event(void *eq)
{
	struct fct_event e = {0};

	return (void *)(intptr_t)fi_eq_sread(eq, &e.event, e.room, sizeof(e.room), -1, 0);
}

static int waiters_wake(struct fct *t, unsigned int nth)
{
	pthread_t thread[4];
	void *result[4];
	struct scene s;
	int i, ret;

	FCT_DO(bring(t, &s));
	FCT_EQ(t, pthread_create(&thread[0], NULL, wait_for_completions, s.cq), 0);
	FCT_EQ(t, pthread_create(&thread[1], NULL, wait_for_completions, s.cq), 0);
	FCT_EQ(t, pthread_create(&thread[2], NULL, wait_for_count, s.cntr), 0);
	FCT_EQ(t, pthread_create(&thread[3], NULL, wait_for_event, s.eq), 0);
	FCT_DO(take_away(t, &s));
	for (i = 0; i < 4; i++)
		FCT_EQ(t, pthread_join(thread[i], &result[i]), 0);
	FCT_EQ(t, (intptr_t)result[2], -FI_ENODEV);
	FCT_TRUE(t, (intptr_t)result[3] > 0 || (intptr_t)result[3] == -FI_EAVAIL);
	fct_scene_close(&s);
out:
	return ret;
}

/* ---- closing ---- */

static int closes(struct fct *t, unsigned int nth)
{
	struct scene s;
	int ret;

	FCT_DO(bring(t, &s));
	FCT_DO(take_away(t, &s));
	/* Half of them before anybody has read anything. */
	if (nth % 4 < 2)
		FCT_DO(await_ended(t, &s));
	FCT_DO(fct_close_in_order(t, &s, nth));
	fi_freeinfo(s.request);
	fi_freeinfo(s.here);
	fi_freeinfo(s.there);
out:
	return ret;
}

/* ---- cases ---- */

static int only_here(struct fct *t)
{
	return on_software_device() && !strcmp(t->opts.prov ? t->opts.prov : "", "pverbs")
		       ? 0
		       : fct_skip(t, "only simverbs takes a device away, from pverbs");
}

static int ends(struct fct *t)
{
	return only_here(t) ? 0 : apart(t, everything_ends, 0);
}

static int wakes(struct fct *t)
{
	unsigned int nth;
	int ret = only_here(t);

	for (nth = 0; !ret && nth < 5 && t->result == FCT_PASS; nth++)
		ret = apart(t, waiters_wake, nth);
	return ret;
}

static int closed(struct fct *t)
{
	unsigned int nth;
	int ret = only_here(t);

	for (nth = 0; !ret && nth < CLOSE_ROTATIONS + 10 && t->result == FCT_PASS; nth++)
		ret = apart(t, closes, nth);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct fct_case cases[] = {
		{"ends", "all that is posted ends once, each connection hears of it once",
		 ends},
		{"wakes", "whoever waits for completions, counters or events wakes",
		 wakes},
		{"closed", "everything is closed, in any order", closed},
	};
	const struct fct_prog prog = {
		.name = "fi_cairn_removed",
		.what = "A device that is taken away.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.single = true,
		.forks = true,
	};

	/* A software device looks at its settings once, perhaps before main. */
	if (on_software_device() && !getenv("SIMVERBS_REMOVAL")) {
		setenv("SIMVERBS_REMOVAL", "flush", 1);
		execv("/proc/self/exe", argv);
	}
	return fct_main(argc, argv, &prog);
}
