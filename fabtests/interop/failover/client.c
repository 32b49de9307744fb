/* SPDX-License-Identifier: BSD-2-Clause */
/* The client: connections that come about, end, and come about again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "failover.h"

#define AGAIN 20u /* ms between two attempts */
#define LOOK 100u /* ms between two looks for what takes too long */

void fvo_bad(struct fvo_conn *conn, const char *what)
{
	fprintf(stderr, "client: connection %u.%u: %s\n", conn->index, conn->gen, what);
	conn->client->ledger->client_bad++;
}

/* --- Begin and end of a connection --- */

static void begin(struct fvo_conn *conn)
{
	struct fvo_client *client = conn->client;
	struct fvo_hello hello = {.conn = conn->index};
	int ret = fvo_endpoint(&client->link, client->link.info, conn, &conn->ep);

	hello.gen = conn->gen = ++client->ledger->gen[conn->index];
	conn->messages = conn->writes = conn->delivered = 0;
	conn->turns = conn->complete = 0;
	conn->shutdowns = 0;
	conn->starts = client->ledger->starts;
	if (!ret)
		ret = fi_connect(conn->ep, client->link.info->dest_addr, &hello,
				 sizeof(hello));
	conn->state = FVO_CONNECTING;
	conn->ended = fvo_now();
	if (ret)
		fvo_bad(conn, fi_strerror(-ret));
}

static void promise(const struct fvo_conn *conn)
{
	struct fvo_client *client = conn->client;

	if (conn->delivered && client->promises < FVO_PROMISES)
		client->promise[client->promises++] = (struct fvo_promise){
			.conn = conn->index,
			.gen = conn->gen,
			.starts = conn->starts,
			.delivered = conn->delivered,
		};
}

static void over(struct fvo_conn *conn)
{
	promise(conn);
	if (conn->ep && fi_close(&conn->ep->fid))
		fvo_bad(conn, "its endpoint cannot be closed");
	conn->ep = NULL;
	conn->state = FVO_IDLE;
	conn->again = fvo_now() + AGAIN;
}

void fvo_conn_ends(struct fvo_conn *conn)
{
	if (conn->state != FVO_UP)
		return;
	conn->state = FVO_ENDING;
	conn->ended = fvo_now();
	conn->recovers = true;
	if (conn->client->options->beside)
		return;
	conn->client->ledger->up--;
	conn->client->ledger->lost++;
}

static void connected(struct fvo_conn *conn, const void *data, size_t len)
{
	if (len < sizeof(conn->region)) {
		fvo_bad(conn, "the target has said too little");
		return;
	}
	memcpy(&conn->region, data, sizeof(conn->region));
	conn->state = FVO_UP;
	if (!conn->client->options->beside)
		conn->client->ledger->up++;
}

/* --- Events --- */

static void not_connected(struct fvo_client *client)
{
	uint8_t data[1024];
	struct fi_eq_err_entry err = {.err_data = data, .err_data_size = sizeof(data)};
	struct fvo_conn *conn;

	if (fi_eq_readerr(client->link.eq, &err, 0) < 0)
		return;
	conn = err.fid->context;
	fvo_tally("connecting", err.err, err.err_data, err.err_data_size);
	if (conn->state != FVO_CONNECTING) {
		fvo_bad(conn, "it was up, and has not come about");
		return;
	}
	if (!client->options->beside)
		client->ledger->refused++;
	over(conn);
}

static bool hear(struct fvo_client *client)
{
	struct {
		struct fi_eq_cm_entry cm;
		uint8_t data[1024];
	} entry;
	struct fvo_conn *conn;
	uint32_t event;
	ssize_t got = fi_eq_read(client->link.eq, &event, &entry, sizeof(entry), 0);

	if (got == -FI_EAVAIL) {
		not_connected(client);
		return true;
	}
	if (got < (ssize_t)sizeof(entry.cm))
		return false;
	conn = entry.cm.fid->context;
	if (event == FI_CONNECTED)
		connected(conn, entry.cm.data, (size_t)got - sizeof(entry.cm));
	else if (event == FI_SHUTDOWN && conn->shutdowns++)
		fvo_bad(conn, "FI_SHUTDOWN has come twice");
	if (event == FI_SHUTDOWN)
		fvo_conn_ends(conn);
	return true;
}

/* --- All of it --- */

static bool step(struct fvo_conn *conn, bool posts)
{
	switch (conn->state) {
	case FVO_IDLE:
		if (posts && fvo_now() >= conn->again)
			begin(conn);
		return false;
	case FVO_UP:
		return posts && fvo_post(conn);
	case FVO_ENDING:
		if (!conn->busy && conn->shutdowns)
			over(conn);
		return false;
	default:
		return false;
	}
}

/* What takes so long never ends. */
static void too_long(struct fvo_conn *conn)
{
	const uint64_t now = fvo_now(), patience = fvo_patience();
	uint32_t i;

	for (i = 0; i < FVO_WINDOW; i++) {
		if (!conn->op[i].busy || conn->op[i].since + patience > now)
			continue;
		fvo_bad(conn, "an operation does not complete");
		fvo_ends = 1;
	}
	if (conn->state == FVO_ENDING && !conn->busy && conn->ended + patience < now) {
		fvo_bad(conn, "an operation has failed, and there is no FI_SHUTDOWN");
		conn->shutdowns++;
	}
	if (conn->state == FVO_CONNECTING && conn->ended + patience < now) {
		fvo_bad(conn, "it does not come about, and nothing says so");
		fvo_ends = 1;
	}
}

static void turn(struct fvo_client *client, bool posts)
{
	static uint64_t looked;
	const uint64_t now = fvo_now();
	bool busy = false;
	uint32_t i;

	for (i = 0; i < client->options->conns; i++)
		busy = step(&client->conn[i], posts) || busy;
	for (i = 0; i < FVO_WINDOW && fvo_complete(client); i++)
		busy = true;
	busy = hear(client) || busy;
	if (!busy)
		usleep(client->options->idle);
	if (now < looked + LOOK)
		return;
	looked = now;
	for (i = 0; i < client->options->conns; i++)
		too_long(&client->conn[i]);
}

static uint32_t outstanding(const struct fvo_client *client)
{
	uint32_t i, count = 0;

	for (i = 0; i < client->options->conns; i++)
		count += client->conn[i].busy;
	return count;
}

/* So many messages of it the target has taken. One that took its place is over. */
static uint64_t taken(const struct fvo_client *client, const struct fvo_promise *promise)
{
	const struct fvo_arrived *arrived =
		&client->ledger->arrived[promise->conn][promise->gen % FVO_GENS];

	if (arrived->gen > promise->gen)
		return UINT64_MAX;
	return arrived->gen < promise->gen
		       ? 0
		       : __atomic_load_n(&arrived->number, __ATOMIC_ACQUIRE);
}

/* One that the target has not kept, and it is the same process still; NULL: none. */
static const struct fvo_promise *broken(const struct fvo_client *client)
{
	const struct fvo_promise *promise;
	uint32_t i;

	for (i = 0; i < client->promises; i++) {
		promise = &client->promise[i];
		if (promise->starts == client->ledger->starts &&
		    taken(client, promise) < promise->delivered)
			return promise;
	}
	return NULL;
}

static void finish(struct fvo_client *client)
{
	const uint64_t end = fvo_now() + 2 * fvo_patience();
	uint32_t i;

	while (outstanding(client) && fvo_now() < end)
		turn(client, false);
	if (outstanding(client))
		fvo_bad(&client->conn[0], "operations have not completed in the end");
	for (i = 0; i < client->options->conns; i++)
		over(&client->conn[i]);
	while (broken(client) && fvo_now() < end)
		usleep(1000);
	if (broken(client)) {
		client->conn[0].index = broken(client)->conn;
		client->conn[0].gen = broken(client)->gen;
		fvo_bad(&client->conn[0], "messages were delivered, and have not come");
	}
}

static int open_client(struct fvo_client *client)
{
	const size_t len = sizeof(*client->conn) * client->options->conns;
	uint32_t i, k;
	int ret;

	client->conn = calloc(client->options->conns, sizeof(*client->conn));
	client->ledger = fvo_ledger_open(client->options->ledger, false);
	if (!client->conn || !client->ledger)
		return -FI_ENOMEM;
	for (i = 0; i < client->options->conns; i++) {
		client->conn[i].client = client;
		client->conn[i].index = i;
		client->conn[i].random = client->options->seed + i;
		for (k = 0; k < FVO_WINDOW; k++) {
			client->conn[i].op[k].conn = &client->conn[i];
			client->conn[i].op[k].buf = client->conn[i].buf[k];
		}
	}
	if (!client->options->beside)
		client->ledger->up = 0;
	ret = fvo_link_open(&client->link, client->options->node, client->options->port,
			    false);
	if (!ret)
		ret = fi_mr_reg(client->link.domain, client->conn, len,
				FI_SEND | FI_READ | FI_WRITE, 0, 2, 0, &client->mr, NULL);
	if (!ret)
		client->desc = fi_mr_desc(client->mr);
	return ret;
}

int fvo_run(const struct fvo_options *options)
{
	static struct fvo_client client;
	uint64_t end;

	client.options = options;
	if (open_client(&client)) {
		fprintf(stderr, "client: it cannot begin\n");
		return 1;
	}
	printf("runs\n");
	fflush(stdout);
	end = options->seconds ? fvo_now() + options->seconds * 1000 : UINT64_MAX;
	while (!fvo_ends && fvo_now() < end)
		turn(&client, true);
	finish(&client);
	fi_close(&client.mr->fid);
	fvo_link_close(&client.link);
	printf("operations: %" PRIu64 " well, %" PRIu64 " in error; connections: %" PRIu64
	       " lost, %" PRIu64 " refused\n",
	       client.ledger->ok, client.ledger->failed, client.ledger->lost,
	       client.ledger->refused);
	fvo_tally_print();
	return client.ledger->client_bad ? 1 : 0;
}

/* --- One connection --- */

int fvo_try(const struct fvo_options *options)
{
	static struct fvo_client client;
	const uint64_t begun = fvo_now(), end = begun + 2 * fvo_patience();
	struct fvo_options one = *options;

	one.conns = 1;
	one.beside = true;
	client.options = &one;
	if (open_client(&client))
		return 1;
	client.conn[0].index = FVO_CONNS - 1;
	while (client.conn[0].state != FVO_UP && !fvo_ends && fvo_now() < end) {
		step(&client.conn[0], client.conn[0].state == FVO_IDLE);
		if (!hear(&client))
			usleep(client.options->idle);
	}
	printf("connected: %s, after %" PRIu64 " ms\n",
	       client.conn[0].state == FVO_UP ? "yes" : "no", fvo_now() - begun);
	fvo_tally_print();
	over(&client.conn[0]);
	fi_close(&client.mr->fid);
	fvo_link_close(&client.link);
	return client.ledger->client_bad || fvo_now() >= end;
}
