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
#include <sys/stat.h>
#include <unistd.h>

#include "close_order.h"

/* ---- runs ---- */

static bool on_software_device(void)
{
	return getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "simverbs");
}

/* In a process of its own. */
static int apart(int (*fn)(unsigned int nth), unsigned int nth)
{
	struct fct_outcome *o = fct_child_memory(sizeof(*o));
	char name[32];
	pid_t pid;
	int ret;

	FCT_TRUE(o);
	pid = fct_child();
	if (!pid) {
		fn(nth);
		fct_child_end(o);
	}
	snprintf(name, sizeof(name), "run %u", nth);
	ret = fct_child_join(pid, name, o);
	munmap(o, sizeof(*o));
	return ret;
}

/* Takes the device away from this process: simverbs(1), TAKING A DEVICE AWAY. */
static int take_away(const struct scene *s)
{
	const char *dir = getenv("SIMVERBS_DIR");
	char path[200], own[64];
	int fd;

	snprintf(own, sizeof(own), "/dev/shm/simverbs-%u", (unsigned int)geteuid());
	snprintf(path, sizeof(path), "%s/remove/%s@%d", dir && *dir ? dir : own,
		 s->here->domain_attr->name, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		FCT_FAIL("%s: %s", path, strerror(errno));
	close(fd);
	unlink(path);
	return 0;
}

/* ---- what ends ---- */

/* A program that only reads. */
static int await_ended(struct scene *s)
{
	struct fi_cq_data_entry e;
	struct scene_op *op;
	struct fct_wait w;
	int ret, err;

	fct_wait_init(&w, "the end of every operation");
	while (!fct_scene_ended(s)) {
		FCT_GET(ret, fct_cq_look(s->cq, &e, &err));
		if (!ret) {
			FCT_DO(fct_wait_check(&w));
			continue;
		}
		op = e.op_context;
		FCT_TRUE(err && op >= s->op && op < s->op + SCENE_OPS);
		FCT_EQ(++op->ended, op->posted);
	}
	return fct_cq_quiet(s->cq, "after every operation has ended");
}

/* Each connection and the listener hear of it once. */
static int await_told(struct scene *s)
{
	unsigned int active = 0, passive = 0, listener = 0, quiet = 0;
	struct fct_event e;
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, "what is told of a device that was removed");
	for (; !active || !passive || !listener || quiet < 20; quiet++) {
		FCT_GET(ret, fct_eq_look(s->eq, &e));
		if (!ret) {
			FCT_DO(fct_wait_again(&w));
			continue;
		}
		quiet = 0;
		if (ret == 2) {
			FCT_EQ(e.err.err, FI_ENODEV);
			FCT_TRUE(e.err.fid == &s->pep->fid);
			FCT_EQ(++listener, 1);
			continue;
		}
		FCT_EQ(e.event, FI_SHUTDOWN);
		if (e.cm.fid == &s->active.ep->fid)
			FCT_EQ(++active, 1);
		else
			FCT_EQ(++passive, 1);
	}
	return 0;
}

static int refused(struct scene *s)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_NONE};
	void *desc = fi_mr_desc(s->mr);
	struct fi_cq_data_entry e;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;

	FCT_EQ(fi_send(s->active.ep, s->words, 8, desc, 0, NULL), -FI_ENODEV);
	FCT_EQ(fi_write(s->active.ep, s->words, 8, desc, 0, (uintptr_t)s->words,
			fi_mr_key(s->mr), NULL),
	       -FI_ENODEV);
	FCT_EQ(fi_inject(s->passive.ep, s->words, 8, 0), -FI_ENODEV);
	FCT_EQ(fi_recv(s->srx, s->words, 8, desc, 0, NULL), -FI_ENODEV);
	FCT_EQ(fi_mr_reg(s->domain, s->words, 8, FI_SEND, 0, 0, 0, &mr, NULL),
	       -FI_ENODEV);
	FCT_EQ(fi_cq_open(s->domain, &attr, &cq, NULL), -FI_ENODEV);
	FCT_EQ(fi_endpoint(s->domain, s->there, &ep, NULL), -FI_ENODEV);
	FCT_EQ(fi_cq_sread(s->cq, &e, 1, NULL, -1), -FI_ENODEV);
	return 0;
}

static int bring(struct scene *s)
{
	if (fct_scene_open(s) == -FI_ENODATA && !s->here)
		return fct_skip("not offered: %s", s->doing);
	if (s->err || fct_scene_in_flight(s))
		FCT_FAIL("%s: %s", s->doing, fi_strerror(-s->err));
	return 0;
}

static int everything_ends(unsigned int nth)
{
	struct scene s;

	FCT_DO(bring(&s));
	FCT_DO(take_away(&s));
	FCT_DO(await_ended(&s));
	FCT_DO(await_told(&s));
	FCT_DO(refused(&s));
	fct_scene_close(&s);
	if (s.wrong[0])
		FCT_FAIL("%s", s.wrong);
	return 0;
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

static int waiters_wake(unsigned int nth)
{
	pthread_t thread[4];
	void *result[4];
	struct scene s;
	int i;

	FCT_DO(bring(&s));
	FCT_EQ(pthread_create(&thread[0], NULL, wait_for_completions, s.cq), 0);
	FCT_EQ(pthread_create(&thread[1], NULL, wait_for_completions, s.cq), 0);
	FCT_EQ(pthread_create(&thread[2], NULL, wait_for_count, s.cntr), 0);
	FCT_EQ(pthread_create(&thread[3], NULL, wait_for_event, s.eq), 0);
	FCT_DO(take_away(&s));
	for (i = 0; i < 4; i++)
		FCT_EQ(pthread_join(thread[i], &result[i]), 0);
	FCT_EQ((intptr_t)result[2], -FI_ENODEV);
	FCT_TRUE((intptr_t)result[3] > 0 || (intptr_t)result[3] == -FI_EAVAIL);
	fct_scene_close(&s);
	return 0;
}

/* ---- closing ---- */

static int closes(unsigned int nth)
{
	struct scene s;

	FCT_DO(bring(&s));
	FCT_DO(take_away(&s));
	/* Half of them before anybody has read anything. */
	if (nth % 4 < 2)
		FCT_DO(await_ended(&s));
	FCT_DO(fct_close_in_order(&s, nth));
	fi_freeinfo(s.request);
	fi_freeinfo(s.here);
	fi_freeinfo(s.there);
	return 0;
}

/* ---- cases ---- */

static int only_here(void)
{
	return on_software_device() &&
			       !strcmp(fct.opts.prov ? fct.opts.prov : "", "pverbs")
		       ? 0
		       : fct_skip("only simverbs takes a device away, from pverbs");
}

FCT_CASE_CALL(ends, "all that is posted ends once, each connection hears of it once",
	      only_here() ? 0 : apart(everything_ends, 0))

FCT_CASE(wakes, "whoever waits for completions, counters or events wakes")
{
	unsigned int nth;
	int ret = only_here();

	for (nth = 0; !ret && nth < 5 && fct.result == FCT_PASS; nth++)
		ret = apart(waiters_wake, nth);
	return ret;
}

FCT_CASE(closed, "everything is closed, in any order")
{
	unsigned int nth;
	int ret = only_here();

	for (nth = 0; !ret && nth < CLOSE_ROTATIONS + 10 && fct.result == FCT_PASS; nth++)
		ret = apart(closes, nth);
	return ret;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_removed",
		.what = "A device that is taken away.",
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
