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

struct fct fct;
struct fct_case *fct_cases;

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

static int start_pair(void)
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
	fct.role = child ? FCT_CLIENT : FCT_SERVER;
	fct.ctl = sv[child ? 0 : 1];
	close(sv[child ? 1 : 0]);
	set_own(child ? "FCT_CLIENT_ENV" : "FCT_SERVER_ENV");
	if (child) {
		fct.server = child;
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	fct.opts.src = fct.opts.self;
	if (fct.opts.peer_prov)
		fct.opts.prov = fct.opts.peer_prov;
	if (fct.opts.peer_domain)
		fct.opts.domain = fct.opts.peer_domain;
	return fct.opts.peer_netns ? fct_enter_netns(fct.opts.peer_netns) : 0;
}

/*
 * Without -s the server listens on the address at which the client reached its control
 * port.
 */
static int start_server(void)
{
	static char address[64];
	int listener = fct_ctl_listen(fct.opts.ctl_port);
	int ret;

	fct.role = FCT_SERVER;
	if (listener < 0)
		return -1;
	ret = fct_ctl_accept(listener);
	close(listener);
	if (!ret && !fct.opts.src) {
		fct_ctl_local_address(address, sizeof(address));
		fct.opts.src = address[0] ? address : NULL;
	}
	return ret;
}

int fct_start(int argc, char **argv, const struct fct_prog *prog)
{
	int ret;

	memset(&fct, 0, sizeof(fct));
	fct.prog = prog;
	fct.ctl = -1;
	fct.next_key = 0x100;
	fct.scale = fct_time_scale();
	fct.role = FCT_CLIENT;
	ret = fct_parse(&fct.opts, argc, argv, prog);
	if (ret)
		exit(ret < 0 ? 2 : 0);

	signal(SIGPIPE, SIG_IGN);
	if (prog->single) {
		if (!fct.opts.src)
			fct.opts.src = fct.opts.self;
	} else if (fct.opts.self) {
		ret = start_pair();
	} else if (fct.opts.host) {
		ret = fct_ctl_connect(fct.opts.host, fct.opts.ctl_port);
	} else {
		ret = start_server();
	}
	if (ret)
		exit(2);
	fct_watchdog();
	return 0;
}

int fct_stop(int status)
{
	int how;

	fct_ctl_close();
	if (!fct.server)
		return status;
	fct_doing("the server process to end");
	while (waitpid(fct.server, &how, 0) < 0 && errno == EINTR)
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

static const char *other_name(void)
{
	return fct_is_client() ? "server" : "client";
}

/* Joins both sides' reasons; that of a side that only followed is what it waited for. */
static void report(enum fct_result peer, const char *peer_why, bool peer_followed)
{
	enum fct_result r = fct.result;
	bool mine, theirs;

	if (r == FCT_PASS || (r == FCT_SKIP && peer == FCT_FAIL))
		r = peer;
	mine = fct.result == r && r != FCT_PASS && !fct.followed;
	theirs = peer == r && r != FCT_PASS && !peer_followed;
	if (!mine && !theirs && r != FCT_PASS)
		mine = true;
	if (mine && theirs && r == FCT_SKIP && !strcmp(fct.why, peer_why))
		theirs = false;

	printf("%s %s", outcome(r), fct.cur->name);
	if (mine)
		printf(": %s%s%s", fct.prog->single ? "" : fct_role_name(),
		       fct.prog->single ? "" : ": ", fct.why);
	if (theirs)
		printf("%s%s: %s", mine ? "; " : ": ", other_name(), peer_why);
	if (r == FCT_FAIL && mine && !theirs && peer == r && peer_why[0])
		printf("; %s: %s", other_name(), peer_why);
	if (r == FCT_FAIL && !mine && theirs && fct.result == r)
		printf("; %s: %s", fct_role_name(), fct.why);
	printf("\n");
	fflush(stdout);
	fct.passed += r == FCT_PASS;
	fct.failed += r == FCT_FAIL;
	fct.skipped += r == FCT_SKIP;
}

static void run_case(const struct fct_case *c)
{
	enum fct_result peer = FCT_PASS;
	char why[FCT_WHY_LEN] = "";
	bool followed = false;

	fct.cur = c;
	fct.result = FCT_PASS;
	fct.followed = false;
	fct.why[0] = '\0';
	fct.n_progress_cq = 0;
	fct.progress_eq = NULL;
	fct_doing("nothing in particular");
	fct_note("case %s", c->name);
	if (c->run() < 0 && fct.result == FCT_PASS)
		fct_fail("the case failed without saying why");
	fct.n_progress_cq = 0;
	fct.progress_eq = NULL;
	if (!fct.prog->single && fct_ctl_end(&peer, why, sizeof(why), &followed)) {
		peer = FCT_FAIL;
		followed = true;
	}
	if (fct_is_client())
		report(peer, why, followed);
	fct.cur = NULL;
}

/* By file, as the linker has them, and line. */
void fct_case_add(struct fct_case *c)
{
	struct fct_case **at = &fct_cases;

	while (*at && (strcmp((*at)->file, c->file) != 0 || (*at)->line < c->line))
		at = &(*at)->next;
	c->next = *at;
	*at = c;
}

const struct fct_case *fct_find_case(const char *name)
{
	const struct fct_case *c = fct_cases;

	while (c && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

static bool excepted(const struct fct_case *c)
{
	int i;

	for (i = 0; i < fct.opts.n_except; i++)
		if (!strcmp(fct.opts.except[i], c->name))
			return true;
	return false;
}

static int run_client(void)
{
	const struct fct_case *run[FCT_MAX_CASES], *c;
	int i, n = 0;

	for (i = 0; i < fct.opts.n_cases; i++)
		run[n++] = fct_find_case(fct.opts.cases[i]);
	for (c = fct_cases; c && !fct.opts.n_cases; c = c->next)
		run[n++] = c;
	for (i = 0; i < n && !fct.ctl_eof; i++) {
		if (excepted(run[i]))
			continue;
		if (!fct.prog->single && fct_ctl_run(run[i]->name))
			break;
		run_case(run[i]);
	}
	if (i < n) {
		printf("not ok: the other side ended; %d case(s) did not run\n", n - i);
		fct.failed += !fct.failed;
	} else if (!fct.prog->single) {
		fct_ctl_run("");
	}
	printf("%d passed, %d failed, %d skipped\n", fct.passed, fct.failed, fct.skipped);
	fflush(stdout);
	return fct.failed ? 1 : 0;
}

static int run_server(void)
{
	const struct fct_case *c;
	char name[64];
	int more;

	while ((more = fct_ctl_next(name, sizeof(name))) > 0) {
		c = fct_find_case(name);
		if (!c) {
			fprintf(stderr, "the client asked for the unknown case '%s'\n",
				name);
			return 1;
		}
		run_case(c);
	}
	return more < 0;
}

int fct_main(int argc, char **argv, const struct fct_prog *prog)
{
	int ret = fct_start(argc, argv, prog);

	if (!ret && !(prog->forks && fct_is_client()) && fct_probe())
		ret = 1;
	if (!prog->single && fct_agree(ret))
		ret = 1;
	if (!ret)
		ret = fct_is_client() ? run_client() : run_server();
	ret = fct_stop(ret);
	fct_watchdog_stop();
	return ret;
}
