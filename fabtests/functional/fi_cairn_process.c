/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes with everything open: their children, which have copies of all of it and none
 * of the threads, and their end. With persistent memory (FI_CAIRN_PMEM) a thread of the
 * provider's works meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define TIMES 10

/* A process with a connection to itself that has been used. */
struct open {
	struct scene s;
	uint8_t *mem; /* of mr; stays mapped */
	struct fid_mr *mr;
};

static int open_all(struct open *o)
{
	int ret = fct_scene_open(&o->s);

	o->mr = NULL;
	if (ret == -FI_ENOSYS || (ret == -FI_ENODATA && !o->s.here)) {
		fct_skip("not offered: %s", o->s.doing);
		fct_scene_close(&o->s);
		return -1;
	}
	if (o->s.err || fct_scene_message(&o->s))
		FCT_FAIL("%s: %s", o->s.doing, fi_strerror(-o->s.err));
	if (!getenv("FI_CAIRN_PMEM"))
		return 0;
	FCT_DO(fct_pmem_map(&o->mem));
	FCT_CALL(fi_mr_reg(o->s.domain, o->mem, FCT_PMEM_LEN,
			   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, FI_RMA_PMEM, &o->mr,
			   NULL));
	return 0;
}

static int close_all(struct open *o)
{
	if (o->mr)
		FCT_CALL(fi_close(&o->mr->fid));
	fct_scene_close(&o->s);
	if (o->s.wrong[0])
		FCT_FAIL("%s", o->s.wrong);
	return 0;
}

/* ---- the end ---- */

static atomic_uint reads;

/* Runs until the process is no more, also when libraries have been ended. */
static _Noreturn void *reads_on(void *cq)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;

	for (;; reads++) {
		if (fi_cq_read(cq, &e, 1) == -FI_EAVAIL)
			fi_cq_readerr(cq, &err, 0);
	}
}

/* Streams are flushed when every library has been ended: not before the thread has gone
 * on for a while. */
static ssize_t flush_last(void *cookie, const char *buf, size_t size)
{
	const unsigned int enough = reads + 1000;
	const uint64_t end = fct_now_ms() + 5000;

	while ((int)(enough - reads) > 0 && fct_now_ms() < end)
		sched_yield();
	return (ssize_t)size;
}

static _Noreturn void ends_open(void)
{
	pthread_t thread;
	struct open o;
	FILE *last;

	if (open_all(&o) || fct.result == FCT_SKIP)
		exit(fct.result == FCT_SKIP ? 77 : 9);
	last = fopencookie(NULL, "w", (cookie_io_functions_t){.write = flush_last});
	if (!last || fputc('!', last) == EOF || fct_scene_in_flight(&o.s) ||
	    pthread_create(&thread, NULL, reads_on, o.s.cq))
		exit(9);
	exit(0);
}

/* What is open and in flight when a process ends is nobody's any more. */
FCT_CASE(exit_open, "a process ends with everything open and in flight")
{
	int i, how;
	pid_t pid;

	for (i = 0; i < TIMES; i++) {
		pid = fct_child();
		if (!pid)
			ends_open();
		FCT_TRUE(pid > 0 && waitpid(pid, &how, 0) == pid);
		if (WIFEXITED(how) && WEXITSTATUS(how) == 77)
			return fct_skip("not offered");
		FCT_DO(fct_child_result("the process", NULL, how));
	}
	return 0;
}

/* A program that loads libfabric, and unloads it with everything open. */
FCT_CASE(unload, "libfabric is unloaded with everything open")
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 32);
	pid_t pid;

	if (!fct.opts.prov || strcmp(fct.opts.prov, "pverbs") != 0)
		return fct_skip("a provider that is part of libfabric goes with it");
	FCT_TRUE(len > 0);
	path[len] = '\0';
	strcpy(strrchr(path, '/') + 1, "plugin_host");
	if (access(path, X_OK))
		return fct_skip("plugin_host is not installed");
	pid = fct_child();
	if (!pid) {
		execl(path, "plugin_host", fct.opts.prov, fct.opts.src, (char *)NULL);
		_exit(9);
	}
	return fct_child_join(pid, "plugin_host", NULL);
}

/* ---- children, last: after a fork with threads ThreadSanitizer lets no other child
 * start one ---- */

static int ends(struct open *o)
{
	return 0;
}

static int runs_another_program(struct open *o)
{
	execl("/bin/true", "true", (char *)NULL);
	return 1;
}

/* Of what it inherited nothing is its own: closing changes nothing for anybody. */
static int closes(struct open *o)
{
	struct fid *fids[] = {
		&o->s.active.ep->fid,
		&o->s.passive.ep->fid,
		o->s.srx ? &o->s.srx->fid : NULL,
		&o->s.pep->fid,
		o->mr ? &o->mr->fid : &o->s.mr->fid,
		&o->s.mr->fid,
		&o->s.cntr->fid,
		&o->s.cq->fid,
		&o->s.domain->fid,
		&o->s.eq->fid,
		&o->s.fabric->fid,
	};
	size_t i;

	for (i = 0; i < sizeof(fids) / sizeof(fids[0]); i++)
		if (fids[i])
			FCT_CALL(fi_close(fids[i]));
	return 0;
}

static __attribute__((unused)) int begins_anew(struct open *o)
{
	struct scene s;

	if (fct_scene_open(&s) || fct_scene_message(&s) || fct_scene_transfers(&s))
		return fct_fail("%s: %s", s.doing, fi_strerror(-s.err));
	fct_scene_close(&s);
	return s.wrong[0] ? fct_fail("%s", s.wrong) : 0;
}

static int forks(int (*child)(struct open *o))
{
	struct open o;
	int i, how;
	pid_t pid;

	FCT_DO(open_all(&o));
	if (fct.result == FCT_SKIP)
		return 0;
	for (i = 0; i < TIMES; i++) {
		pid = fct_child();
		if (!pid) {
			how = child(&o);
			if (how)
				fprintf(stderr, "in the child: %s\n", fct.why);
			exit(how ? 9 : 0);
		}
		FCT_TRUE(pid > 0);
		/* Meanwhile, and after its end. */
		if (fct_scene_message(&o.s))
			FCT_FAIL("%s: %s", o.s.doing, fi_strerror(-o.s.err));
		FCT_DO(fct_child_join(pid, "the child", NULL));
		if (fct_scene_message(&o.s) || fct_scene_transfers(&o.s))
			FCT_FAIL("%s: %s", o.s.doing, fi_strerror(-o.s.err));
	}
	FCT_DO(close_all(&o));
	return 0;
}

FCT_CASE_CALL(fork_exit, "a child ends: its parent's connection goes on", forks(ends))

FCT_CASE_CALL(fork_exec, "a child runs another program", forks(runs_another_program))

FCT_CASE_CALL(fork_close, "a child closes what it inherited", forks(closes))

FCT_CASE(fork_anew, "a child opens objects of its own")
{
#ifdef __SANITIZE_THREAD__
	return fct_skip("ThreadSanitizer lets no such child start threads");
#else
	return forks(begins_anew);
#endif
}

FCT_PROGRAM(.name = "fi_cairn_process",
	    .what = "Children and ends of processes with everything open.",
	    .single = true, .forks = true)
