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

enum { LISTENS, CONNECTS, BYSTANDS, ACTORS };

/* The way of the listening process' address to its bystander; in each process. */
static int whereabouts[2];

struct stage {
	const struct lost_play *play;
	int ctl[2]; /* between the two first */
	pid_t pid[ACTORS];
	struct fct_outcome *outcome;
	int outcome_fd;
};

/* What a program that was started again finds in its environment: descriptors. */
#define AGAIN "FCT_LOST_AGAIN"

static void set_env(const char *const *env)
{
	for (; env && *env; env += 2)
		setenv(env[0], env[1], 1);
}

static struct fct_outcome *map_outcome(int fd)
{
	struct fct_outcome *o = mmap(NULL, ACTORS * sizeof(*o), PROT_READ | PROT_WRITE,
				     MAP_SHARED, fd, 0);

	return o == MAP_FAILED ? NULL : o;
}

static _Noreturn void end_act(struct fct_outcome *o)
{
	fct_ctl_close();
	fct_child_end(o);
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
	struct fct_outcome *outcome;
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

int fct_lost_where_tell(const struct fct_where *where)
{
	return write(whereabouts[1], where, sizeof(*where)) == sizeof(*where) ? 0 : -1;
}

static int bystand(void)
{
	struct fct_where where;

	if (read(whereabouts[0], &where, sizeof(where)) != sizeof(where))
		return fct_skip("nobody listens");
	return fct_lost_be_bystander(&where);
}

static _Noreturn void act(const struct stage *s, int role)
{
	const struct lost_play *play = s->play;

	fct.role = role == LISTENS ? FCT_SERVER : FCT_CLIENT;
	if (role != BYSTANDS) {
		fct.ctl = s->ctl[role];
		close(s->ctl[1 - role]);
	}
	if (role != LISTENS)
		close(whereabouts[1]);
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
	int role;

	for (role = 0; role < ACTORS; role++) {
		s->pid[role] = fct_child();
		if (!s->pid[role])
			act(s, role);
		if (s->pid[role] < 0)
			return -1;
	}
	close(s->ctl[0]);
	close(s->ctl[1]);
	close(whereabouts[0]);
	close(whereabouts[1]);
	return 0;
}

/* Each has a deadline of its own; what one of them failed of is what counts. */
static void finish(struct stage *s, int role)
{
	static const char *const names[] = {"the listening side", "the connecting side",
					    "the bystander"};
	const struct fct_outcome *o = &s->outcome[role];
	int how;

	if (s->pid[role] <= 0 || waitpid(s->pid[role], &how, 0) < 0)
		return;
	if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL && role == CONNECTS &&
	    s->play->killed)
		return;
	/* Without anybody who listens the bystander has nothing to say. */
	if (role != BYSTANDS || how || o->result != FCT_SKIP)
		fct_child_result(names[role], o, how);
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
	    pipe(whereabouts))
		fct_fail("socketpair or pipe: %s", strerror(errno));
	else
		start(&s);
	for (role = 0; role < ACTORS; role++)
		finish(&s, role);
	munmap(s.outcome, ACTORS * sizeof(*s.outcome));
	close(s.outcome_fd);
	return fct.result == FCT_PASS ? 0 : -1;
}
