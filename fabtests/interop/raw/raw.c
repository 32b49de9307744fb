/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cairn/compat.h>
#include "raw.h"

uint64_t raw_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct fi_info *find(const struct sockaddr_in *listen)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = strdup("tcp");
	if (listen) {
		hints->src_addr = malloc(sizeof(*listen));
		memcpy(hints->src_addr, listen, sizeof(*listen));
		hints->src_addrlen = sizeof(*listen);
	}
	if (fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info))
		info = NULL;
	fi_freeinfo(hints);
	return info;
}

int raw_open(struct raw *raw, const struct sockaddr_in *listen)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 8192};
	int ret;

	memset(raw, 0, sizeof(*raw));
	raw->info = find(listen);
	if (!raw->info)
		return -FI_ENODATA;
	ret = fi_fabric(raw->info->fabric_attr, &raw->fabric, NULL);
	if (!ret)
		ret = fi_domain(raw->fabric, raw->info, &raw->domain, NULL);
	if (!ret)
		ret = fi_eq_open(raw->fabric, &eq, &raw->eq, NULL);
	if (!ret)
		ret = fi_cq_open(raw->domain, &cq, &raw->cq, NULL);
	if (ret || !listen)
		return ret;
	ret = fi_passive_ep(raw->fabric, raw->info, &raw->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(raw->pep, &raw->eq->fid, 0);
	return ret ? ret : fi_listen(raw->pep);
}

void raw_close(struct raw *raw)
{
	if (raw->asks)
		fi_freeinfo(raw->asks);
	if (raw->pep)
		fi_close(&raw->pep->fid);
	fi_close(&raw->cq->fid);
	fi_close(&raw->eq->fid);
	fi_close(&raw->domain->fid);
	fi_close(&raw->fabric->fid);
	fi_freeinfo(raw->info);
}

/* --- What happens --- */

static struct raw_op *op_new(struct raw_conn *conn, bool receive, size_t size)
{
	struct raw_op *op = calloc(1, sizeof(*op));

	op->conn = conn;
	op->receive = receive;
	op->buf = malloc(size ? size : 1);
	op->next = conn->ops;
	conn->ops = op;
	return op;
}

static void receive(struct raw_op *op)
{
	if (fi_recv(op->conn->ep, op->buf, RAW_ROOM, NULL, 0, &op->context))
		op->conn->over = true;
}

/* GRANT is remembered, and dropped. */
static bool take_grant(struct raw_conn *conn, const uint8_t *at, size_t len)
{
	size_t i;

	if (at[2] != GRANT || len < 32)
		return false;
	for (i = 32; i + 24 <= len && conn->slots < RAW_SLOTS; i += 24)
		conn->slot[conn->slots++] = (struct raw_slot){
			.addr = get64(at + i),
			.key = get64(at + i + 8),
			.id = get32(at + i + 16),
			.len = get32(at + i + 20),
			.lane = at[28],
		};
	return true;
}

static void arrived(struct raw_op *op, size_t len)
{
	struct raw_conn *conn = op->conn;
	struct raw_bytes *bytes;

	if (len >= 24 && !take_grant(conn, op->buf, len) && op->buf[2] != KEEPALIVE &&
	    conn->queued < RAW_QUEUE) {
		bytes = malloc(sizeof(*bytes));
		memcpy(bytes->at, op->buf, len);
		bytes->len = len;
		conn->queue[conn->queued++] = bytes;
	}
	receive(op);
}

static void completions(struct raw *raw)
{
	struct fi_cq_msg_entry entry;
	struct fi_cq_err_entry err;
	struct raw_op *op;
	ssize_t ret;

	while ((ret = fi_cq_read(raw->cq, &entry, 1)) == 1 || ret == -FI_EAVAIL) {
		if (ret == -FI_EAVAIL) {
			memset(&err, 0, sizeof(err));
			if (fi_cq_readerr(raw->cq, &err, 0) < 0)
				return;
		}
		op = ret == 1 ? entry.op_context : err.op_context;
		if (!op)
			continue;
		if (!op->receive)
			op->conn->flying--;
		if (ret != 1)
			op->conn->over = true;
		else if (op->receive)
			arrived(op, entry.len);
	}
}

static void events(struct raw *raw)
{
	struct {
		struct fi_eq_cm_entry cm;
		uint8_t more[512];
	} entry;
	struct fi_eq_err_entry err = {0};
	struct raw_conn *conn;
	uint32_t event;
	ssize_t ret;

	while ((ret = fi_eq_read(raw->eq, &event, &entry, sizeof(entry), 0)) > 0 ||
	       ret == -FI_EAVAIL) {
		if (ret == -FI_EAVAIL) {
			if (fi_eq_readerr(raw->eq, &err, 0) < 0)
				return;
			conn = err.fid ? err.fid->context : NULL;
			if (conn)
				conn->over = true;
			continue;
		}
		if (event == FI_CONNREQ) {
			if (raw->asks)
				fi_reject(raw->pep, entry.cm.info->handle, NULL, 0);
			else
				raw->asks = entry.cm.info;
			if (raw->asks != entry.cm.info)
				fi_freeinfo(entry.cm.info);
			continue;
		}
		conn = entry.cm.fid->context;
		if (!conn)
			continue;
		if (event == FI_CONNECTED && (size_t)ret >= sizeof(entry.cm) + 32)
			memcpy(conn->preamble, entry.cm.data, 32);
		conn->up |= event == FI_CONNECTED;
		conn->over |= event == FI_SHUTDOWN;
	}
}

void raw_progress(struct raw *raw)
{
	completions(raw);
	events(raw);
}

/* --- Connections --- */

static struct raw_conn *conn_new(struct raw *raw, struct fi_info *info)
{
	struct raw_conn *conn = calloc(1, sizeof(*conn));
	unsigned int i;

	conn->raw = raw;
	raw->conns++;
	for (i = 0; i < sizeof(conn->id); i++)
		conn->id[i] = (uint8_t)raw_random();
	if (fi_endpoint(raw->domain, info, &conn->ep, conn)) {
		raw->conns--;
		free(conn);
		return NULL;
	}
	if (fi_ep_bind(conn->ep, &raw->eq->fid, 0) ||
	    fi_ep_bind(conn->ep, &raw->cq->fid, FI_TRANSMIT | FI_RECV) ||
	    fi_enable(conn->ep))
		conn->over = true;
	for (i = 0; i < RAW_RECEIVES && !conn->over; i++)
		receive(op_new(conn, true, RAW_ROOM));
	return conn;
}

/* How long something may still take. Time in which this process did not run, for the
 * machine stood still, is nobody's: the others did not run either. */
struct patience {
	uint64_t last, left; /* ms */
};

static struct patience patience(int ms)
{
	return (struct patience){raw_now(), (uint64_t)ms};
}

/* Asked all the time. */
static bool waits(struct patience *patience)
{
	const uint64_t now = raw_now();
	const uint64_t ran = CRN_MIN(now - patience->last, (uint64_t)RAW_TURN);

	patience->last = now;
	patience->left -= CRN_MIN(ran, patience->left);
	return patience->left;
}

static struct raw_conn *settle(struct raw_conn *conn, bool wait)
{
	struct patience left = patience(RAW_WAIT);

	while (wait && !conn->up && !conn->over && waits(&left))
		raw_progress(conn->raw);
	if (!conn->over && (!wait || conn->up))
		return conn;
	raw_end(conn);
	return NULL;
}

struct raw_conn *raw_connect(struct raw *raw, const struct sockaddr_in *to,
			     const void *data, size_t len, bool wait)
{
	struct fi_info *info = fi_dupinfo(raw->info);
	struct raw_conn *conn;

	/* A host may have several: the one that leads there is the system's to choose. */
	free(info->src_addr);
	info->src_addr = NULL;
	info->src_addrlen = 0;
	info->dest_addr = malloc(sizeof(*to));
	memcpy(info->dest_addr, to, sizeof(*to));
	info->dest_addrlen = sizeof(*to);
	conn = conn_new(raw, info);
	fi_freeinfo(info);
	if (!conn)
		return NULL;
	if (!conn->over && fi_connect(conn->ep, to, data, len))
		conn->over = true;
	return settle(conn, wait);
}

struct raw_conn *raw_accept(struct raw *raw, const void *data, size_t len)
{
	struct fi_info *info = raw->asks;
	struct raw_conn *conn;

	raw->asks = NULL;
	conn = conn_new(raw, info);
	fi_freeinfo(info);
	if (conn && fi_accept(conn->ep, data, len))
		conn->over = true;
	return conn ? settle(conn, true) : NULL;
}

void raw_end(struct raw_conn *conn)
{
	struct raw_op *op;

	fi_close(&conn->ep->fid);
	raw_progress(conn->raw);
	conn->raw->conns--;
	while ((op = conn->ops)) {
		conn->ops = op->next;
		free(op->buf);
		free(op);
	}
	while (conn->queued)
		free(conn->queue[--conn->queued]);
	free(conn);
}

static bool post(struct raw_conn *conn, struct raw_op *op, const struct raw_slot *slot,
		 size_t len)
{
	struct patience left = patience(RAW_WAIT);
	ssize_t ret;

	conn->flying++;
	do {
		ret = slot ? fi_write(conn->ep, op->buf, len, NULL, 0, slot->addr,
				      slot->key, &op->context)
			   : fi_send(conn->ep, op->buf, len, NULL, 0, &op->context);
		if (ret == -FI_EAGAIN)
			raw_progress(conn->raw);
	} while (ret == -FI_EAGAIN && !conn->over && waits(&left));
	if (!ret)
		return true;
	conn->flying--;
	conn->over |= ret != -FI_EAGAIN;
	return false;
}

bool raw_send(struct raw_conn *conn, const struct raw_bytes *bytes)
{
	struct raw_op *op;

	raw_progress(conn->raw);
	if (conn->over)
		return false;
	op = op_new(conn, false, bytes->len);
	memcpy(op->buf, bytes->at, bytes->len);
	return post(conn, op, NULL, bytes->len);
}

bool raw_write(struct raw_conn *conn, const struct raw_slot *slot, size_t len)
{
	struct raw_op *op = op_new(conn, false, len);

	memset(op->buf, 0x5a, len);
	return !conn->over && post(conn, op, slot, len);
}

void raw_flush(struct raw_conn *conn)
{
	struct patience left = patience(RAW_WAIT);

	while (conn->flying && !conn->over && waits(&left))
		raw_progress(conn->raw);
}

struct raw_bytes *raw_await(struct raw_conn *conn, unsigned int type, int ms)
{
	struct patience left = patience(ms);
	struct raw_bytes *bytes;

	do {
		raw_progress(conn->raw);
		while (conn->queued) {
			bytes = conn->queue[0];
			conn->queued--;
			memmove(conn->queue, conn->queue + 1,
				conn->queued * sizeof(conn->queue[0]));
			if (!type || bytes->at[2] == type)
				return bytes;
			free(bytes);
		}
	} while (!conn->over && waits(&left));
	return NULL;
}

bool raw_await_end(struct raw_conn *conn, int ms)
{
	free(raw_await(conn, 0xff, ms));
	return conn->over;
}
