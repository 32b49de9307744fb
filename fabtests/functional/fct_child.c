/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that a case starts, and what came of them. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fct.h"

void *fct_child_memory(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);

	if (at != MAP_FAILED)
		return at;
	fct_fail("mmap: %s", strerror(errno));
	return NULL;
}

pid_t fct_child(void)
{
	const pid_t parent = getpid();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fct_fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	fct_watchdog();
	return 0;
}

void fct_child_end(struct fct_outcome *o)
{
	fct_watchdog_stop();
	o->result = fct.result;
	o->followed = fct.followed;
	snprintf(o->why, sizeof(o->why), "%s", fct.why);
	exit(0);
}

int fct_child_result(const char *name, const struct fct_outcome *o, int how)
{
	if (WIFSIGNALED(how))
		return fct_fail("%s died: %s", name, strsignal(WTERMSIG(how)));
	if (WEXITSTATUS(how))
		return fct_fail("%s ended with status %d", name, WEXITSTATUS(how));
	if (o && o->result == FCT_SKIP)
		return fct_skip("%s", o->why);
	if (o && o->result == FCT_FAIL)
		return fct_fail("%s: %s", name, o->why);
	return 0;
}

int fct_child_join(pid_t pid, const char *name, const struct fct_outcome *o)
{
	int how;

	if (pid <= 0)
		return -1;
	if (waitpid(pid, &how, 0) != pid)
		return fct_fail("waitpid: %s", strerror(errno));
	return fct_child_result(name, o, how);
}

int fct_child_next(pid_t *pids, uint32_t count, uint32_t *which, int *how)
{
	struct fct_wait w;
	pid_t pid;

	fct_wait_init(&w, "a process of the case");
	w.end_ms = UINT64_MAX; /* the run's deadline is theirs too */
	for (;;) {
		pid = waitpid(-1, how, WNOHANG);
		for (*which = 0; *which < count && pids[*which] != pid; ++*which)
			;
		if (pid > 0 && *which < count) {
			pids[*which] = 0;
			return 0;
		}
		if (fct_wait_again(&w))
			return -1;
	}
}

static bool stands_still(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'T';
}

int fct_child_still(pid_t pid)
{
	FCT_WAIT_WHILE(!stands_still(pid), "a process to stand still", 0);
	return 0;
}

void fct_child_kill(pid_t *pids, uint32_t count)
{
	for (; count; count--, pids++) {
		if (*pids > 0) {
			kill(*pids, SIGKILL);
			waitpid(*pids, NULL, 0);
		}
		*pids = 0;
	}
}
