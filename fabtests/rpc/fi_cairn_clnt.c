/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_clnt [-p STACK] [-s ADDRESS] [-t CASE]: libcairn-rpc over a stack of
 * providers. The server is this program, started with -S.
 */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "rpct.h"

#define AGAIN_MS 3000

static const struct {
	const char *name;
	bool (*run)(struct rpct *t);
} cases[] = {
	{"small", rpct_small},
	{"long", rpct_long},
	{"inline", rpct_inline},
	{"programs", rpct_programs},
	{"refused", rpct_refused},
	{"too_long", rpct_too_long},
	{"auth", rpct_auth},
	{"control", rpct_control},
	{"xid", rpct_xid},
	{"rpc_version", rpct_rpc_version},
	{"refresh", rpct_refresh},
	{"gss", rpct_gss},
	{"sealed", rpct_sealed},
	{"reverse", rpct_reverse},
	{"reverse_nobody", rpct_reverse_nobody},
	{"nested", rpct_nested},
	{"threads", rpct_threads},
	{"beside", rpct_beside},
	{"own_loop", rpct_own_loop},
	{"any_address", rpct_any_address},
	{"many", rpct_many},
	{"busy_peer", rpct_busy_peer},
	{"last_calls", rpct_last_calls},
	{"timeout", rpct_timeout},
	{"timeout_seconds", rpct_timeout_seconds},
	{"timeout_credit", rpct_timeout_credit},
	{"destroyed_in_call", rpct_destroyed_in_call},
	{"silent", rpct_silent},
	{"killed", rpct_killed},
	{"nobody", rpct_nobody},
	{"close_order", rpct_close_order},
	{"close_client", rpct_close_client},
	{"descriptors", rpct_descriptors},
	{"memory", rpct_memory},
	{"close_inside", rpct_close_inside},
	{"close_waiting", rpct_close_waiting},
};

long rpct_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int rpct_connect(const struct rpct *t, const struct fi_rpc_attr *attr,
		 struct fi_rpc **conn)
{
	return fi_rpc_connect(t->stack, t->address, t->server.port, attr, conn);
}

CLIENT *rpct_client(struct fi_rpc *conn, rpcprog_t prog, rpcvers_t vers, int ms)
{
	struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	CLIENT *client = clnt_fi_create(conn, prog, vers);

	if (client)
		clnt_control(client, CLSET_TIMEOUT, (void *)&time);
	return client;
}

static void server_run(const struct rpct *t, int out)
{
	char self[PATH_MAX] = "";

	dup2(out, STDOUT_FILENO);
	/* Under valgrind the link itself is valgrind's program. */
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		execl(self, "fi_cairn_clnt", "-S", "-p", t->stack, "-s", t->address,
		      (char *)NULL);
	_exit(127);
}

bool rpct_server_start(const struct rpct *t, struct rpct_server *server)
{
	int out[2];
	FILE *port;
	bool started;

	if (pipe(out))
		return false;
	server->pid = fork();
	if (!server->pid)
		server_run(t, out[1]);
	close(out[1]);
	port = fdopen(out[0], "r");
	started = server->pid > 0 && port &&
		  fgets(server->port, sizeof(server->port), port);
	server->port[strcspn(server->port, "\n")] = 0;
	if (port)
		fclose(port);
	return started;
}

/* 0: the server has not ended yet. */
static pid_t server_ended(const struct rpct_server *server, int *status)
{
	const long begin = rpct_ms();
	pid_t ended;

	while (!(ended = waitpid(server->pid, status, WNOHANG)) &&
	       rpct_ms() - begin < AGAIN_MS)
		poll(NULL, 0, 10);
	return ended;
}

bool rpct_server_stop(struct rpct_server *server)
{
	int status = -1;

	/* svc_exit is lost on an svc_run that is about to sleep. Not too often: what
	 * looks for leaks when the server ends does not survive a signal. */
	do {
		kill(server->pid, SIGTERM);
	} while (!server_ended(server, &status));
	if (status)
		printf("#   the server ended with status 0x%x\n", status);
	return !status;
}

static bool run(struct rpct *t, bool (*test)(struct rpct *t))
{
	bool ok;

	RPCT_CHECK(!rpct_connect(t, NULL, &t->conn));
	t->trial = rpct_client(t->conn, TRIAL_PROG, TRIAL_VERS, 15000);
	RPCT_CHECK(t->trial);
	ok = test(t);
	clnt_destroy(t->trial);
	if (t->conn)
		fi_rpc_close(t->conn);
	return ok;
}

static int run_all(struct rpct *t, const char *only)
{
	int passed = 0, failed = 0;
	bool ok;

	if (!rpct_server_start(t, &t->server)) {
		fprintf(stderr, "fi_cairn_clnt: the server does not start\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (only && strcmp(only, cases[i].name))
			continue;
		ok = run(t, cases[i].run);
		passed += ok;
		failed += !ok;
		printf("%s clnt.%s\n", ok ? "ok" : "not ok", cases[i].name);
	}
	/* With nothing left behind, where a sanitizer looks. */
	ok = rpct_server_stop(&t->server);
	passed += ok;
	failed += !ok;
	printf("%s clnt.server_ends\n", ok ? "ok" : "not ok");
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed || !passed;
}

int main(int argc, char **argv)
{
	struct rpct t = {.stack = "tcp;rpcrdma", .address = "127.0.0.1"};
	const char *only = NULL;
	bool serve = false;
	int opt;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt(argc, argv, "Sp:s:t:")) != -1) {
		switch (opt) {
		case 'S':
			serve = true;
			break;
		case 'p':
			t.stack = optarg;
			break;
		case 's':
			t.address = optarg;
			break;
		case 't':
			only = optarg;
			break;
		default:
			fprintf(stderr, "usage: fi_cairn_clnt [-p STACK] [-s ADDRESS] "
					"[-t CASE]\n");
			return 2;
		}
	}
	return serve ? rpct_serve(t.stack, t.address) : run_all(&t, only);
}
