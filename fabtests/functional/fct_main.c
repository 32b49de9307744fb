/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting the two sides and walking them through the cases. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fct_fabric.h"

#ifdef __SANITIZE_ADDRESS__
/* libfabric's own verbs provider, which is asked too, keeps what rdma_getaddrinfo gave.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:rdma_getaddrinfo\n";
}
#endif

/* Variables of one side alone, "NAME=VALUE": providers look at them when they are loaded.
 */
static void set_own(const char *name)
{
	char *setting = getenv(name);

	if (setting)
		putenv(setting);
}

int fct_enter_netns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);

	if (ret)
		fprintf(stderr, "network namespace %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

static int start_pair(struct fct *t)
{
	pid_t parent = getpid(), child;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv)) {
		perror("socketpair");
		return -1;
	}
	fflush(stdout);
	child = fork(); /* before any libfabric call */
	if (child < 0) {
		perror("fork");
		close(sv[0]);
		close(sv[1]);
		return -1;
	}
	t->role = child ? FCT_CLIENT : FCT_SERVER;
	t->ctl = sv[child ? 0 : 1];
	close(sv[child ? 1 : 0]);
	set_own(child ? "FCT_CLIENT_ENV" : "FCT_SERVER_ENV");
	if (child) {
		t->server = child;
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	t->opts.src = t->opts.self;
	if (t->opts.peer_prov)
		t->opts.prov = t->opts.peer_prov;
	if (t->opts.peer_domain)
		t->opts.domain = t->opts.peer_domain;
	return t->opts.peer_netns ? fct_enter_netns(t->opts.peer_netns) : 0;
}

/*
 * Without -s the server listens on the address at which the client reached its control
 * port.
 */
static int start_server(struct fct *t)
{
	static char address[64];
	int listener = fct_ctl_listen(t->opts.ctl_port);
	int ret;

	t->role = FCT_SERVER;
	if (listener < 0)
		return -1;
	ret = fct_ctl_accept(t, listener);
	close(listener);
	if (!ret && !t->opts.src) {
		fct_ctl_local_address(t, address, sizeof(address));
		t->opts.src = address[0] ? address : NULL;
	}
	return ret;
}

int fct_start(struct fct *t, int argc, char **argv, const struct fct_prog *prog)
{
	int ret;

	memset(t, 0, sizeof(*t));
	t->prog = prog;
	t->ctl = -1;
	t->next_key = 0x100;
	t->scale = fct_time_scale();
	t->role = FCT_CLIENT;
	ret = fct_parse(&t->opts, argc, argv, prog);
	if (ret)
		exit(ret < 0 ? 2 : 0);

	signal(SIGPIPE, SIG_IGN);
	if (prog->single) {
		if (!t->opts.src)
			t->opts.src = t->opts.self;
	} else if (t->opts.self) {
		ret = start_pair(t);
	} else if (t->opts.host) {
		ret = fct_ctl_connect(t, t->opts.host, t->opts.ctl_port);
	} else {
		ret = start_server(t);
	}
	if (ret)
		exit(2);
	fct_watchdog(t);
	return 0;
}

int fct_stop(struct fct *t, int status)
{
	int how;

	fct_ctl_close(t);
	if (!t->server)
		return status;
	fct_doing(t, "the server process to end");
	while (waitpid(t->server, &how, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(how)) {
		printf("the server process was killed by signal %d (%s)\n", WTERMSIG(how),
		       strsignal(WTERMSIG(how)));
		return status ? status : 1;
	}
	return status ? status : WEXITSTATUS(how);
}

static const char *outcome(enum fct_result r)
{
	return r == FCT_PASS ? "ok" : r == FCT_SKIP ? "skip" : "not ok";
}

static const char *other_name(const struct fct *t)
{
	return fct_is_client(t) ? "server" : "client";
}

/* Joins both sides' reasons; that of a side that only followed is what it waited for. */
static void report(struct fct *t, enum fct_result peer, const char *peer_why,
		   bool peer_followed)
{
	enum fct_result r = t->result;
	bool mine, theirs;

	if (r == FCT_PASS || (r == FCT_SKIP && peer == FCT_FAIL))
		r = peer;
	mine = t->result == r && r != FCT_PASS && !t->followed;
	theirs = peer == r && r != FCT_PASS && !peer_followed;
	if (!mine && !theirs && r != FCT_PASS)
		mine = true;
	if (mine && theirs && r == FCT_SKIP && !strcmp(t->why, peer_why))
		theirs = false;

	printf("%s %s", outcome(r), t->cur->name);
	if (mine)
		printf(": %s%s%s", t->prog->single ? "" : fct_role_name(t),
		       t->prog->single ? "" : ": ", t->why);
	if (theirs)
		printf("%s%s: %s", mine ? "; " : ": ", other_name(t), peer_why);
	if (r == FCT_FAIL && mine && !theirs && peer == r && peer_why[0])
		printf("; %s: %s", other_name(t), peer_why);
	if (r == FCT_FAIL && !mine && theirs && t->result == r)
		printf("; %s: %s", fct_role_name(t), t->why);
	printf("\n");
	fflush(stdout);
	t->passed += r == FCT_PASS;
	t->failed += r == FCT_FAIL;
	t->skipped += r == FCT_SKIP;
}

static void run_case(struct fct *t, const struct fct_case *c)
{
	enum fct_result peer = FCT_PASS;
	char why[FCT_WHY_LEN] = "";
	bool followed = false;

	t->cur = c;
	t->result = FCT_PASS;
	t->followed = false;
	t->why[0] = '\0';
	t->n_progress_cq = 0;
	t->progress_eq = NULL;
	fct_doing(t, "nothing in particular");
	fct_note(t, "case %s", c->name);
	if (c->run(t) < 0 && t->result == FCT_PASS)
		fct_fail_at(t, NULL, 0, "the case failed without saying why");
	t->n_progress_cq = 0;
	t->progress_eq = NULL;
	if (!t->prog->single && fct_ctl_end(t, &peer, why, sizeof(why), &followed)) {
		peer = FCT_FAIL;
		followed = true;
	}
	if (fct_is_client(t))
		report(t, peer, why, followed);
	t->cur = NULL;
}

static const struct fct_case *find_case(const struct fct_prog *prog, const char *name)
{
	int i;

	for (i = 0; i < prog->n_cases; i++)
		if (!strcmp(prog->cases[i].name, name))
			return &prog->cases[i];
	return NULL;
}

static bool excepted(const struct fct *t, const struct fct_case *c)
{
	int i;

	for (i = 0; i < t->opts.n_except; i++)
		if (!strcmp(t->opts.except[i], c->name))
			return true;
	return false;
}

static int run_client(struct fct *t)
{
	int n = t->opts.n_cases ? t->opts.n_cases : t->prog->n_cases;
	const struct fct_case *c;
	int i;

	for (i = 0; i < n && !t->ctl_eof; i++) {
		c = t->opts.n_cases ? find_case(t->prog, t->opts.cases[i])
				    : &t->prog->cases[i];
		if (excepted(t, c))
			continue;
		if (!t->prog->single && fct_ctl_run(t, c->name))
			break;
		run_case(t, c);
	}
	if (i < n) {
		printf("not ok: the other side ended; %d case(s) did not run\n", n - i);
		t->failed += !t->failed;
	} else if (!t->prog->single) {
		fct_ctl_run(t, "");
	}
	printf("%d passed, %d failed, %d skipped\n", t->passed, t->failed, t->skipped);
	fflush(stdout);
	return t->failed ? 1 : 0;
}

static int run_server(struct fct *t)
{
	const struct fct_case *c;
	char name[64];
	int more;

	while ((more = fct_ctl_next(t, name, sizeof(name))) > 0) {
		c = find_case(t->prog, name);
		if (!c) {
			fprintf(stderr, "the client asked for the unknown case '%s'\n",
				name);
			return 1;
		}
		run_case(t, c);
	}
	return more < 0;
}

int fct_main(int argc, char **argv, const struct fct_prog *prog)
{
	struct fct t;
	int ret = fct_start(&t, argc, argv, prog);

	if (!ret && !(prog->forks && fct_is_client(&t)) && fct_probe(&t))
		ret = 1;
	if (!prog->single && fct_agree(&t, ret))
		ret = 1;
	if (!ret)
		ret = fct_is_client(&t) ? run_client(&t) : run_server(&t);
	ret = fct_stop(&t, ret);
	fct_watchdog_stop();
	return ret;
}
