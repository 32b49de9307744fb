/* SPDX-License-Identifier: BSD-2-Clause */
/* Who listens in this process, also at every address of this host. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include "rpct.h"

bool rpct_listen(const struct rpct *t, const char *address,
		 struct fi_rpc_listener **listener, struct rpct *reached)
{
	struct sockaddr_in addr;
	size_t len = sizeof(addr);

	*reached = *t;
	RPCT_CHECK(!fi_rpc_listen(t->stack, address, NULL, NULL, listener));
	RPCT_CHECK(!fi_rpc_getname(*listener, (struct sockaddr *)&addr, &len));
	snprintf(reached->server.port, sizeof(reached->server.port), "%d",
		 ntohs(addr.sin_port));
	return true;
}

static void *connects(void *arg)
{
	struct fi_rpc *conn;

	if (!rpct_connect(arg, NULL, &conn))
		fi_rpc_close(conn);
	return NULL;
}

bool rpct_any_address(struct rpct *t)
{
	struct fi_rpc_listener *listener;
	struct rpct reached;
	struct fi_rpc *conn;
	pthread_t thread;
	int ret;

	RPCT_CHECK(rpct_listen(t, NULL, &listener, &reached));
	RPCT_CHECK(!pthread_create(&thread, NULL, connects, &reached));
	ret = fi_rpc_accept(listener, 10000, &conn);
	pthread_join(thread, NULL);
	RPCT_CHECK(!ret);
	fi_rpc_close(conn);
	fi_rpc_listen_close(listener);
	return true;
}

/* ---- many at once ---- */

#define GUESTS 40
#define SERVED 20 /* at least */
#define BUSY_MS 500
#define PATIENCE_MS 15000

struct guest {
	pthread_t thread;
	const struct rpct *t;
	struct fi_rpc *conn;
	int ret;
};

static void *guest(void *arg)
{
	const struct fi_rpc_attr attr = {.timeout = PATIENCE_MS};
	struct guest *g = arg;

	g->ret = rpct_connect(g->t, &attr, &g->conn);
	return NULL;
}

static void *keep_busy(void *arg)
{
	struct rpct *t = arg;
	delayed ask = {.ms = BUSY_MS, .len = 1};
	blob back = {.blob_val = NULL};

	trial_late_3(&ask, &back, t->trial);
	free(back.blob_val);
	return NULL;
}

static int call_and_close(struct fi_rpc *conn)
{
	CLIENT *client = rpct_client(conn, OTHER_PROG, OTHER_VERS, PATIENCE_MS);
	int number = 1, next = 0;
	enum clnt_stat stat = other_next_1(&number, &next, client);

	clnt_destroy(client);
	fi_rpc_close(conn);
	return stat == RPC_SUCCESS && next == 2;
}

/* Where others have ended there is room, as soon as the server knows. */
static bool room_again(const struct rpct *t)
{
	const long begin = rpct_ms();
	struct fi_rpc *conn;

	while (rpct_connect(t, NULL, &conn))
		RPCT_CHECK(rpct_ms() - begin < PATIENCE_MS);
	RPCT_CHECK(call_and_close(conn));
	return true;
}

/* They ask while the server is busy: it has all requests before it at once. Each is
 * accepted or refused. */
bool rpct_many(struct rpct *t)
{
	static struct guest guests[GUESTS];
	int i, served = 0, refused = 0;
	pthread_t busy;

	RPCT_CHECK(!pthread_create(&busy, NULL, keep_busy, t));
	for (i = 0; i < GUESTS; i++) {
		guests[i] = (struct guest){.t = t};
		RPCT_CHECK(!pthread_create(&guests[i].thread, NULL, guest, &guests[i]));
	}
	for (i = 0; i < GUESTS; i++) {
		pthread_join(guests[i].thread, NULL);
		refused += guests[i].ret == -FI_ECONNREFUSED;
	}
	pthread_join(busy, NULL);
	for (i = 0; i < GUESTS; i++)
		served += !guests[i].ret && call_and_close(guests[i].conn);
	RPCT_CHECK(served >= SERVED);
	RPCT_CHECK(served + refused == GUESTS);
	return room_again(t);
}
