/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a play: started, waited for, their results put together. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lost.h"
#include "lost_where.h"

enum { LISTENS, CONNECTS, BYSTANDS, ACTORS };

struct outcome {
	enum fct_result result;
	char why[FCT_WHY_LEN];
};

struct stage {
	const struct lost_play *play;
	int ctl[2]; /* between the two first */
	pid_t pid[ACTORS];
	struct outcome *outcome;
	int outcome_fd;
};

/* What a program that was started again finds in its environment: descriptors. */
#define AGAIN "FCT_LOST_AGAIN"

static void set_env(const char *const *env)
{
	for (; env && *env; env += 2)
		setenv(env[0], env[1], 1);
}

static struct outcome *map_outcome(int fd)
{
	struct outcome *o = mmap(NULL, ACTORS * sizeof(*o), PROT_READ | PROT_WRITE,
				 MAP_SHARED, fd, 0);

	return o == MAP_FAILED ? NULL : o;
}

static _Noreturn void end_act(struct outcome *o)
{
	fct_ctl_close();
	o->result = fct.result;
	snprintf(o->why, FCT_WHY_LEN, "%s", fct.why);
	exit(0);
}

/*
 * Libraries that come with libfabric may have asked for devices before main, and a
 * software device looks at its settings only once.
 */
static void start_again(const struct stage *s)
{
	char fds[32];

	snprintf(fds, sizeof(fds), "%d %d", fct.ctl, s->outcome_fd);
	setenv(AGAIN, fds, 1);
	fcntl(fct.ctl, F_SETFD, 0);
	execv("/proc/self/exe", s->play->argv);
	_exit(1);
}

void fct_lost_play_again(int argc, char **argv, const struct fct_prog *prog,
			 int (*connects)(void))
{
	const char *fds = getenv(AGAIN);
	struct outcome *outcome;
	int ctl, fd;

	if (!fds || sscanf(fds, "%d %d", &ctl, &fd) != 2)
		return;
	outcome = map_outcome(fd);
	if (!outcome || fct_start(argc, argv, prog))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fct.ctl = ctl;
	fct.opts.src = NULL;
	connects();
	end_act(&outcome[CONNECTS]);
}

static int bystand(void)
{
	struct fct_where where;

	if (fct_lost_where_hear(&where))
		return fct_skip("nobody listens");
	return fct_lost_be_bystander(&where);
}

static _Noreturn void act(const struct stage *s, int role, pid_t parent)
{
	const struct lost_play *play = s->play;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	fct_watchdog();
	fct.role = role == LISTENS ? FCT_SERVER : FCT_CLIENT;
	if (role != BYSTANDS) {
		fct.ctl = s->ctl[role];
		close(s->ctl[1 - role]);
	}
	if (role != LISTENS)
		fct_lost_where_only_hear();
	if (role != BYSTANDS)
		set_env(play->env);
	if (role == CONNECTS && play->connects_env) {
		set_env(play->connects_env);
		start_again(s);
	}
	fct.opts.src = role == LISTENS ? fct.opts.self : NULL;
	(role == LISTENS ? play->listens : role == CONNECTS ? play->connects : bystand)();
	end_act(&s->outcome[role]);
}

static int start(struct stage *s)
{
	const pid_t parent = getpid();
	int role;

	fflush(stdout);
	for (role = 0; role < ACTORS; role++) {
		s->pid[role] = fork();
		if (!s->pid[role])
			act(s, role, parent);
		if (s->pid[role] < 0)
			return fct_fail("fork: %s", strerror(errno));
	}
	close(s->ctl[0]);
	close(s->ctl[1]);
	fct_lost_where_close();
	return 0;
}

/* Each has a deadline of its own; what one of them failed of is what counts. */
static void finish(struct stage *s, int role)
{
	static const char *const names[] = {"the listening side", "the connecting side",
					    "the bystander"};
	const struct outcome *o = &s->outcome[role];
	int how;

	if (s->pid[role] <= 0 || waitpid(s->pid[role], &how, 0) < 0)
		return;
	if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL && role == CONNECTS &&
	    s->play->killed)
		return;
	if (WIFSIGNALED(how))
		fct_fail("%s died: %s", names[role], strsignal(WTERMSIG(how)));
	else if (WEXITSTATUS(how))
		fct_fail("%s ended with status %d", names[role], WEXITSTATUS(how));
	else if (o->result == FCT_FAIL)
		fct_fail("%s: %s", names[role], o->why);
	else if (o->result == FCT_SKIP && role != BYSTANDS)
		fct_skip("%s", o->why);
}

int fct_lost_play(const struct lost_play *play)
{
	struct stage s = {.play = play};
	int role;

	if (play->prov && (!fct.opts.prov || strcmp(fct.opts.prov, play->prov)))
		return fct_skip("what this needs of the provider has a parameter only "
				"with %s",
				play->prov);
	s.outcome_fd = memfd_create("outcomes", 0);
	if (s.outcome_fd < 0 ||
	    ftruncate(s.outcome_fd, ACTORS * (off_t)sizeof(*s.outcome)) ||
	    !(s.outcome = map_outcome(s.outcome_fd)))
		return fct_fail("memfd: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s.ctl) ||
	    fct_lost_where_open())
		fct_fail("socketpair or pipe: %s", strerror(errno));
	else
		start(&s);
	for (role = 0; role < ACTORS; role++)
		finish(&s, role);
	munmap(s.outcome, ACTORS * sizeof(*s.outcome));
	close(s.outcome_fd);
	return fct.result == FCT_PASS ? 0 : -1;
}
