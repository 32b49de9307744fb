/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls in the other direction, and several threads. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "rpct.h"

#define DEPTH 12 /* less than the credits of either direction */
#define THREADS 2
#define ROUNDS 3
#define CROWDS 60

static bool back_echo(CLIENT *client, size_t len, int seed)
{
	blob sent, back = {.blob_val = NULL};

	RPCT_CHECK(rpct_blob(&sent, len, seed));
	RPCT_CHECK(trial_back_echo_3(&sent, &back, client) == RPC_SUCCESS);
	RPCT_CHECK(rpct_blob_is(&back, len, seed));
	free(sent.blob_val);
	free(back.blob_val);
	return true;
}

bool rpct_reverse(struct rpct *t)
{
	int i, prog = BACK_PROG, stat = -1;

	RPCT_CHECK(rpct_serve_back(t->conn));
	RPCT_CHECK(!svc_fi_create(t->conn) && errno == EBUSY);
	RPCT_CHECK(trial_back_stat_3(&prog, &stat, t->trial) == RPC_SUCCESS);
	RPCT_CHECK(stat == RPC_SUCCESS);
	prog = 0x20435269;
	RPCT_CHECK(trial_back_stat_3(&prog, &stat, t->trial) == RPC_SUCCESS);
	RPCT_CHECK(stat == RPC_PROGUNAVAIL);
	for (i = 0; i < 50; i++)
		RPCT_CHECK(back_echo(t->trial, (size_t)i, i));
	return back_echo(t->trial, RPCT_LONG, 1);
}

/* This end serves nothing: it says so, while it waits. */
bool rpct_reverse_nobody(struct rpct *t)
{
	int prog = BACK_PROG, stat = -1;

	RPCT_CHECK(trial_back_stat_3(&prog, &stat, t->trial) == RPC_SUCCESS);
	RPCT_CHECK(stat == RPC_PROGUNAVAIL);
	return true;
}

/* Each level is a Call that is blocked until the one above it is answered. */
bool rpct_nested(struct rpct *t)
{
	int levels;

	RPCT_CHECK(rpct_serve_back(t->conn));
	for (int depth = 0; depth <= DEPTH; depth++) {
		RPCT_CHECK(trial_nest_3(&depth, &levels, t->trial) == RPC_SUCCESS);
		RPCT_CHECK(levels == 2 * depth + 1);
	}
	return true;
}

struct worker {
	pthread_t thread;
	struct rpct *t;
	int number;
	bool ok;
};

static bool work(struct worker *w, CLIENT *client)
{
	int i, depth = 2, levels;
	delayed ask = {.ms = 0};
	blob back;

	for (i = 0; i < ROUNDS; i++) {
		RPCT_CHECK(back_echo(client, (size_t)(i * 3000 + w->number), w->number));
		RPCT_CHECK(trial_nest_3(&depth, &levels, client) == RPC_SUCCESS);
		RPCT_CHECK(levels == 2 * depth + 1);
		/* One that needs nothing of this end. */
		ask.len = i;
		memset(&back, 0, sizeof(back));
		RPCT_CHECK(trial_late_3(&ask, &back, client) == RPC_SUCCESS);
		RPCT_CHECK(rpct_blob_is(&back, (size_t)i, 0));
		free(back.blob_val);
	}
	return true;
}

static void *worker(void *arg)
{
	struct worker *w = arg;
	CLIENT *client = rpct_client(w->t->conn, TRIAL_PROG, TRIAL_VERS, 10999);

	w->ok = work(w, client);
	clnt_destroy(client);
	return NULL;
}

static bool crowd(struct rpct *t)
{
	struct worker workers[THREADS];
	bool ok = true;

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.t = t, .number = i};
		RPCT_CHECK(
			!pthread_create(&workers[i].thread, NULL, worker, &workers[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		ok = ok && workers[i].ok;
	}
	return ok;
}

/* The last thread is left alone with what comes in, again and again. */
bool rpct_threads(struct rpct *t)
{
	RPCT_CHECK(rpct_serve_back(t->conn));
	for (int i = 0; i < CROWDS; i++)
		RPCT_CHECK(crowd(t));
	return true;
}

static void *waiter(void *arg)
{
	struct worker *w = arg;
	CLIENT *client = rpct_client(w->t->conn, TRIAL_PROG, TRIAL_VERS, 5999);
	delayed ask = {.ms = 50, .len = 10};
	blob back = {.blob_val = NULL};

	w->ok = trial_late_3(&ask, &back, client) == RPC_SUCCESS;
	free(back.blob_val);
	clnt_destroy(client);
	return NULL;
}

/* A thread that looks again and again takes the Reply that another one sleeps for. */
bool rpct_beside(struct rpct *t)
{
	struct worker w = {.t = t};
	long begin;

	for (int i = 0; i < 5; i++) {
		RPCT_CHECK(!pthread_create(&w.thread, NULL, waiter, &w));
		for (begin = rpct_ms(); rpct_ms() - begin < 100;)
			RPCT_CHECK(fi_rpc_serve(t->conn, 0) == 0);
		pthread_join(w.thread, NULL);
		RPCT_CHECK(w.ok);
	}
	return true;
}

/* Connects, is served, and closes. */
static void *caller(void *arg)
{
	struct worker *w = arg;
	blob sent, back = {.blob_val = NULL};
	struct fi_rpc *conn;
	CLIENT *client;

	if (rpct_connect(w->t, NULL, &conn))
		return NULL;
	client = rpct_client(conn, BACK_PROG, BACK_VERS, 10000);
	w->ok = rpct_blob(&sent, 5000, 0) &&
		back_echo_1(&sent, &back, client) == RPC_SUCCESS &&
		rpct_blob_is(&back, 5000, 0);
	free(sent.blob_val);
	free(back.blob_val);
	clnt_destroy(client);
	fi_rpc_close(conn);
	return NULL;
}

static bool own_loop(struct fi_rpc_listener *listener)
{
	struct fi_rpc *conn;
	int served, total = 0;

	RPCT_CHECK(!fi_rpc_accept(listener, 10000, &conn));
	RPCT_CHECK(rpct_serve_back(conn));
	while ((served = fi_rpc_serve(conn, 10000)) > 0)
		total += served;
	RPCT_CHECK(served == -FI_ENOTCONN && total == 1);
	RPCT_CHECK(fi_rpc_serve(conn, 10000) == -FI_ENOTCONN);
	fi_rpc_close(conn);
	return true;
}

/* Both ends in this process, without svc_run. */
bool rpct_own_loop(struct rpct *t)
{
	struct fi_rpc_listener *listener;
	struct rpct pair = *t;
	struct worker w = {.t = &pair};
	struct sockaddr_in addr;
	size_t len = sizeof(addr);
	struct fi_rpc *conn;
	bool ok;

	RPCT_CHECK(!fi_rpc_listen(t->stack, t->address, NULL, NULL, &listener));
	RPCT_CHECK(fi_rpc_accept(listener, 20, &conn) == -FI_EAGAIN);
	RPCT_CHECK(!fi_rpc_getname(listener, (struct sockaddr *)&addr, &len));
	snprintf(pair.server.port, sizeof(pair.server.port), "%d", ntohs(addr.sin_port));
	RPCT_CHECK(!pthread_create(&w.thread, NULL, caller, &w));
	ok = own_loop(listener);
	pthread_join(w.thread, NULL);
	fi_rpc_listen_close(listener);
	return ok && w.ok;
}
