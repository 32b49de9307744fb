/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that are not answered in time or at all, and connections that end. */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rpct.h"

#define SHORT_MS 100
#define LATE_MS 300
#define LONG_MS 20000
#define KEPT 600 /* Replies of 1 MiB, none of which may stay */
#define MOST_PAGES (RPCT_LONG / sysconf(_SC_PAGESIZE) * KEPT * 3 / 4)

/* Pages of a process, in all (0) or in memory (1); 0: it does not say. */
static long pages(pid_t pid, int which)
{
	long found[2] = {0};
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%ld %ld", &found[0], &found[1]) != 2)
		found[which] = 0;
	fclose(file);
	return found[which];
}

/* A server that stands still answers late, however long this process does. */
static bool stands_still(const struct rpct *t)
{
	int status;

	RPCT_CHECK(!kill(t->server.pid, SIGSTOP));
	RPCT_CHECK(waitpid(t->server.pid, &status, WUNTRACED) == t->server.pid);
	RPCT_CHECK(WIFSTOPPED(status));
	return true;
}

static bool goes_on(const struct rpct *t)
{
	return !kill(t->server.pid, SIGCONT);
}

/* Replies that come late, a short one and one in a Reply chunk, are nobody's. */
static bool in_haste(struct rpct *t, CLIENT *hasty)
{
	delayed ask = {.ms = LATE_MS, .len = 100};
	blob back = {.blob_val = NULL};
	long begin = rpct_ms();

	for (int i = 0; i < 2; i++) {
		RPCT_CHECK(trial_late_3(&ask, &back, hasty) == RPC_TIMEDOUT);
		ask.len = RPCT_LONG;
	}
	/* Not the time that others have. */
	RPCT_CHECK(rpct_ms() - begin < LONG_MS);
	return true;
}

bool rpct_timeout(struct rpct *t)
{
	CLIENT *hasty = rpct_client(t->conn, TRIAL_PROG, TRIAL_VERS, SHORT_MS);
	delayed ask = {.len = 7};
	blob back = {.blob_val = NULL};
	bool ok;

	RPCT_CHECK(stands_still(t));
	ok = in_haste(t, hasty);
	RPCT_CHECK(goes_on(t) && ok);
	for (int i = 0; i < 40; i++) {
		RPCT_CHECK(trial_late_3(&ask, &back, t->trial) == RPC_SUCCESS);
		RPCT_CHECK(rpct_blob_is(&back, 7, 0));
		free(back.blob_val);
		back.blob_val = NULL;
	}
	clnt_destroy(hasty);
	return true;
}

/* A time of whole seconds is as long as that. */
bool rpct_timeout_seconds(struct rpct *t)
{
	CLIENT *client = rpct_client(t->conn, TRIAL_PROG, TRIAL_VERS, 8000);
	delayed ask = {.ms = 1000, .len = 7};
	blob back = {.blob_val = NULL};

	RPCT_CHECK(trial_late_3(&ask, &back, client) == RPC_SUCCESS);
	free(back.blob_val);
	clnt_destroy(client);
	return true;
}

/* More than there are slots for Calls: what was never sent keeps none. */
static bool call_in_vain(CLIENT *hasty)
{
	struct timeval instant = {.tv_usec = 1000};
	delayed ask = {.ms = LATE_MS, .len = 100};
	blob back = {.blob_val = NULL};
	long before;

	RPCT_CHECK(trial_late_3(&ask, &back, hasty) == RPC_TIMEDOUT);
	RPCT_CHECK(clnt_control(hasty, CLSET_TIMEOUT, (void *)&instant));
	before = pages(getpid(), 0);
	for (int i = 0; i < KEPT; i++)
		RPCT_CHECK(trial_late_3(&ask, &back, hasty) == RPC_TIMEDOUT);
	RPCT_CHECK(before && pages(getpid(), 0) - before < MOST_PAGES);
	return true;
}

/* A call that nobody waits for has the only credit until it is answered. */
bool rpct_timeout_credit(struct rpct *t)
{
	const struct fi_rpc_attr attr = {.calls = 1};
	delayed ask = {.len = 10};
	blob back = {.blob_val = NULL};
	struct fi_rpc *conn;
	CLIENT *hasty, *patient;
	bool ok;

	RPCT_CHECK(!rpct_connect(t, &attr, &conn));
	hasty = rpct_client(conn, TRIAL_PROG, TRIAL_VERS, SHORT_MS);
	patient = rpct_client(conn, TRIAL_PROG, TRIAL_VERS, LONG_MS);
	RPCT_CHECK(stands_still(t));
	ok = call_in_vain(hasty);
	RPCT_CHECK(goes_on(t) && ok);
	RPCT_CHECK(trial_late_3(&ask, &back, patient) == RPC_SUCCESS);
	RPCT_CHECK(rpct_blob_is(&back, 10, 0));
	free(back.blob_val);
	clnt_destroy(hasty);
	clnt_destroy(patient);
	fi_rpc_close(conn);
	return true;
}

struct caller {
	CLIENT *client;
	enum clnt_stat stat;
	_Atomic bool over;
};

static void *call_late(void *arg)
{
	struct caller *caller = arg;
	delayed ask = {.ms = LATE_MS, .len = 10};
	blob back = {.blob_val = NULL};

	caller->stat = trial_late_3(&ask, &back, caller->client);
	free(back.blob_val);
	caller->over = true;
	return NULL;
}

/* The call of another thread is under way when the CLIENT goes, and gets its Reply. */
bool rpct_destroyed_in_call(struct rpct *t)
{
	struct caller caller = {.over = false};
	uint32_t before = 0, xid;
	struct fi_rpc *conn;
	pthread_t thread;

	RPCT_CHECK(!rpct_connect(t, NULL, &conn));
	caller.client = rpct_client(conn, TRIAL_PROG, TRIAL_VERS, 10000);
	clnt_control(caller.client, CLGET_XID, (void *)&before);
	RPCT_CHECK(!pthread_create(&thread, NULL, call_late, &caller));
	do {
		clnt_control(caller.client, CLGET_XID, (void *)&xid);
	} while (xid == before && !caller.over);
	clnt_destroy(caller.client);
	pthread_join(thread, NULL);
	RPCT_CHECK(caller.stat == RPC_SUCCESS);
	fi_rpc_close(conn);
	return true;
}

/* A dispatch function that does not answer costs no credit. */
bool rpct_silent(struct rpct *t)
{
	int result;

	for (int i = 0; i < 100; i++)
		RPCT_CHECK(trial_silent_3(NULL, &result, t->trial) == RPC_SYSTEMERROR);
	return true;
}

/* A call of another thread that this one is to be in the middle of. */
struct middle {
	CLIENT *client;
	uint32_t before; /* its XID */
	const struct rpct_server *server;
	struct fi_rpc *conn;
};

static struct middle middle_of(CLIENT *client)
{
	struct middle middle = {.client = client};

	clnt_control(client, CLGET_XID, (void *)&middle.before);
	return middle;
}

/* Returns when the call has begun, and a little later. */
static void await_middle(const struct middle *middle)
{
	uint32_t xid;

	do {
		poll(NULL, 0, SHORT_MS);
		clnt_control(middle->client, CLGET_XID, (void *)&xid);
	} while (xid == middle->before);
	poll(NULL, 0, SHORT_MS);
}

static void *kill_in_call(void *arg)
{
	const struct middle *middle = arg;

	await_middle(middle);
	kill(middle->server->pid, SIGKILL);
	return NULL;
}

bool rpct_killed(struct rpct *t)
{
	struct rpct other = *t;
	delayed ask = {.ms = 60000, .len = 10};
	blob back = {.blob_val = NULL};
	struct middle middle;
	pthread_t thread;
	enum clnt_stat stat;
	struct rpc_err err;
	CLIENT *client;
	long begin;

	RPCT_CHECK(rpct_server_start(t, &other.server));
	RPCT_CHECK(!rpct_connect(&other, NULL, &other.conn));
	client = rpct_client(other.conn, TRIAL_PROG, TRIAL_VERS, LONG_MS);
	middle = middle_of(client);
	middle.server = &other.server;
	begin = rpct_ms();
	RPCT_CHECK(!pthread_create(&thread, NULL, kill_in_call, &middle));
	stat = trial_late_3(&ask, &back, client);
	pthread_join(thread, NULL);
	waitpid(other.server.pid, NULL, 0);
	RPCT_CHECK(stat == RPC_CANTRECV);
	clnt_geterr(client, &err);
	RPCT_CHECK(err.re_errno == ECONNRESET);
	RPCT_CHECK(rpct_ms() - begin < LONG_MS);
	RPCT_CHECK(trial_late_3(&ask, &back, client) == RPC_CANTSEND);
	clnt_destroy(client);
	fi_rpc_close(other.conn);
	return true;
}

bool rpct_nobody(struct rpct *t)
{
	const struct fi_rpc_attr attr = {.timeout = 5000};
	struct rpct other = *t;
	struct fi_rpc *conn;
	long begin;

	RPCT_CHECK(rpct_server_start(t, &other.server));
	RPCT_CHECK(rpct_server_stop(&other.server));
	begin = rpct_ms();
	RPCT_CHECK(rpct_connect(&other, &attr, &conn) < 0);
	RPCT_CHECK(rpct_ms() - begin < LONG_MS);
	RPCT_CHECK(fi_rpc_connect("nonsense;rpcrdma", t->address, other.server.port,
				  &attr, &conn) == -FI_ENODATA);
	return true;
}

/* RFC 8166 section 9, and where the peer is. */
static bool addressed(const struct rpct *t, const SVCXPRT *xprt)
{
	const struct sockaddr_in *in = xprt->xp_rtaddr.buf;

	RPCT_CHECK(!strcmp(xprt->xp_netid, "rdma"));
	RPCT_CHECK(in && in->sin_port == htons((uint16_t)atoi(t->server.port)));
	RPCT_CHECK(!memcmp(&xprt->xp_raddr, in, sizeof(*in)));
	RPCT_CHECK(xprt->xp_addrlen == sizeof(*in));
	return true;
}

bool rpct_close_order(struct rpct *t)
{
	struct fi_rpc *conn;
	CLIENT *client;
	SVCXPRT *xprt;
	int i, number = 1;

	for (i = 0; i < 6; i++) {
		RPCT_CHECK(!rpct_connect(t, NULL, &conn));
		client = rpct_client(conn, OTHER_PROG, OTHER_VERS, 5000);
		xprt = svc_fi_create(conn);
		RPCT_CHECK(client && xprt && addressed(t, xprt));
		RPCT_CHECK(other_next_1(&number, &number, client) == RPC_SUCCESS);
		if (i % 3 == 1)
			svc_destroy(xprt);
		if (i % 2)
			clnt_destroy(client);
		fi_rpc_close(conn);
		if (i % 2)
			continue;
		RPCT_CHECK(other_next_1(&number, &number, client) == RPC_CANTSEND);
		clnt_destroy(client);
	}
	return true;
}

/* CLSET_FD_CLOSE: with the CLIENT. */
bool rpct_close_client(struct rpct *t)
{
	struct fi_rpc *conn;
	CLIENT *first, *other;
	int number = 1;

	RPCT_CHECK(!rpct_connect(t, NULL, &conn));
	first = rpct_client(conn, OTHER_PROG, OTHER_VERS, 5000);
	other = rpct_client(conn, OTHER_PROG, OTHER_VERS, 5000);
	RPCT_CHECK(clnt_control(first, CLSET_FD_CLOSE, NULL));
	RPCT_CHECK(other_next_1(&number, &number, other) == RPC_SUCCESS);
	clnt_destroy(first);
	RPCT_CHECK(other_next_1(&number, &number, other) == RPC_CANTSEND);
	clnt_destroy(other);
	return true;
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* One connection more leaves none open. */
bool rpct_descriptors(struct rpct *t)
{
	struct fi_rpc *conn;
	int i, count = 0;

	for (i = 0; i < 5; i++) {
		RPCT_CHECK(!rpct_connect(t, NULL, &conn));
		fi_rpc_close(conn);
		if (!i)
			count = descriptors();
	}
	RPCT_CHECK(count && descriptors() == count);
	return true;
}

/* A Reply that cannot be sent leaves no memory behind: with a sanitizer, which keeps some
 * of what is free, less than all of them. */
bool rpct_memory(struct rpct *t)
{
	const long before = pages(t->server.pid, 1);
	delayed ask = {.len = RPCT_LONG};
	blob back = {.blob_val = NULL};
	size_t room = 50000;

	RPCT_CHECK(clnt_control(t->trial, CLSET_FI_REPLY_SIZE, (void *)&room));
	for (int i = 0; i < KEPT; i++)
		RPCT_CHECK(trial_late_3(&ask, &back, t->trial) == RPC_SYSTEMERROR);
	RPCT_CHECK(before && pages(t->server.pid, 1) - before < MOST_PAGES);
	return true;
}

/* By a dispatch function that is called while a call waits. */
bool rpct_close_inside(struct rpct *t)
{
	enum clnt_stat stat;
	int result;

	RPCT_CHECK(rpct_serve_back(t->conn));
	rpct_to_close = t->conn;
	stat = trial_back_close_3(NULL, &result, t->trial);
	t->conn = NULL;
	RPCT_CHECK(stat == RPC_CANTRECV);
	RPCT_CHECK(trial_back_close_3(NULL, &result, t->trial) == RPC_CANTSEND);
	return true;
}

static void *close_in_call(void *arg)
{
	const struct middle *middle = arg;

	await_middle(middle);
	fi_rpc_close(middle->conn);
	return NULL;
}

/* By another thread, while a call waits, whose server does nothing for that. */
bool rpct_close_waiting(struct rpct *t)
{
	struct middle middle = middle_of(t->trial);
	delayed ask = {.ms = LATE_MS, .len = RPCT_LONG};
	blob back = {.blob_val = NULL};
	pthread_t thread;
	enum clnt_stat stat;

	middle.conn = t->conn;
	RPCT_CHECK(stands_still(t));
	RPCT_CHECK(!pthread_create(&thread, NULL, close_in_call, &middle));
	stat = trial_late_3(&ask, &back, t->trial);
	pthread_join(thread, NULL);
	t->conn = NULL;
	RPCT_CHECK(goes_on(t));
	RPCT_CHECK(stat == RPC_CANTRECV);
	return true;
}
