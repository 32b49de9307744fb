/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/tsan.h>
#include <cairn/wait.h>
#include "inside.h"

#define PORT_CQ_SIZE 8192u
#define PORT_CQ_BATCH 16
/* Rounds of one call, so that one device does not keep its owner for ever. */
#define PORT_ROUNDS 4
/* ms that crn_tick_ms may be late at most: what is due later is not due yet. */
#define PORT_TICK 12u
/* ms that closed peers have to send what they still have, when the port is closed. */
#define PORT_LINGER 200u

void port_log(struct rte_port *port, const char *format, ...)
{
	char text[512];
	va_list args;

	if (!port->attr.log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	port->attr.log(port->attr.context, text);
}

static void kick_over(struct crn_deadline *deadline)
{
}

void port_kick(struct rte_port *port)
{
	if (!port->depth && !crn_deadline_pending(&port->kick))
		crn_deadline_add(&port->deadlines, &port->kick, crn_now_ms());
}

/* --- Opening --- */

/* The order of routed operations (fi_route(7)), which the lower provider's have to keep
 * with its messages and each other. */
static size_t port_rma(const struct fi_info *info)
{
	const struct fi_ep_attr *ep = info->ep_attr;
	size_t most = ep->max_msg_size;

	if ((info->tx_attr->msg_order & RTE_NET_ORDER) != RTE_NET_ORDER ||
	    (!(info->domain_attr->mr_mode & FI_MR_PROV_KEY) &&
	     info->domain_attr->mr_key_size < sizeof(uint64_t)))
		return 0;
	most = CRN_MIN(most, ep->max_order_raw_size);
	return CRN_MIN(most, ep->max_order_waw_size);
}

static void port_modes(struct rte_port *port)
{
	const struct fi_info *info = port->net->info;
	const int mode = info->domain_attr->mr_mode;

	port->mr_local = mode & FI_MR_LOCAL;
	port->virt_addr = mode & FI_MR_VIRT_ADDR;
	port->prov_key = mode & FI_MR_PROV_KEY;
	port->lower_inject = info->tx_attr->inject_size;
	port->lower_iov = info->tx_attr->iov_limit;
	port->lower_rma = port_rma(info);
	port->next_key = 1;
}

static int port_queues(struct rte_port *port)
{
	struct fi_eq_attr eq_attr = {.size = 1024, .wait_obj = FI_WAIT_FD};
	struct fi_cq_attr cq_attr = {
		.size = port->attr.cq_size ? port->attr.cq_size : PORT_CQ_SIZE,
		.format = FI_CQ_FORMAT_MSG,
		.wait_obj = FI_WAIT_FD,
	};
	int ret = fi_eq_open(port->net->fabric, &eq_attr, &port->eq, NULL);

	return ret ? ret : fi_cq_open(port->domain, &cq_attr, &port->cq, NULL);
}

static int port_make(struct rte_port *port)
{
	int ret = crn_deadlines_init(&port->deadlines);

	if (ret)
		return ret;
	ret = fi_domain(port->net->fabric, port->net->info, &port->domain, NULL);
	if (!ret)
		ret = port_queues(port);
	return ret ? ret : arena_join(port->arena, port);
}

static int close_fid(struct fid *fid)
{
	return fid ? fi_close(fid) : 0;
}

static void port_free(struct rte_port *port)
{
	close_fid(port->cq ? &port->cq->fid : NULL);
	close_fid(port->eq ? &port->eq->fid : NULL);
	close_fid(port->domain ? &port->domain->fid : NULL);
	crn_deadline_remove(&port->deadlines, &port->kick);
	crn_deadline_remove(&port->deadlines, &port->fault);
	elastic_port(port, false);
	crn_deadlines_fini(&port->deadlines);
	free(port->heard);
	free(port);
}

int rte_port_open(const struct rte_port_attr *attr, struct rte_port **out)
{
	struct rte_port *port = calloc(1, sizeof(*port));
	int ret;

	if (!port)
		return -FI_ENOMEM;
	port->attr = *attr;
	port->net = attr->net;
	port->arena = attr->arena;
	port->kick.expired = kick_over;
	port->deadlines.fd = -1;
	crn_list_init(&port->peers);
	crn_list_init(&port->zombies);
	crn_list_init(&port->ready);
	crn_list_init(&port->due);
	elastic_port(port, true);
	port_modes(port);
	ret = port_make(port);
	if (ret) {
		port_free(port);
		return ret;
	}
	*out = port;
	return 0;
}

/* --- What happens --- */

static void port_done(const struct fi_cq_msg_entry *entry)
{
	struct inside_op *op = entry->op_context;

	if (!op)
		return;
	if (op->kind == INSIDE_RX)
		receive_done(crn_container_of(op, struct rte_rx_inside, op), entry->len);
	else if (op->kind == INSIDE_TX)
		send_done(crn_container_of(op, struct rte_tx_inside, op), 0);
}

static void port_failed(const struct fi_cq_err_entry *err)
{
	struct inside_op *op = err->op_context;
	const int code = err->err ? err->err : FI_EIO;

	if (!op)
		return;
	if (op->kind == INSIDE_RX)
		receive_failed(crn_container_of(op, struct rte_rx_inside, op), code);
	else if (op->kind == INSIDE_TX)
		send_done(crn_container_of(op, struct rte_tx_inside, op), code);
	else
		peer_fail(crn_container_of(op, struct rte_tx_inside, data_op)->tx.peer,
			  code);
}

/* The lower provider may be newer than the headers, and its entry longer. */
union port_err {
	struct fi_cq_err_entry entry;
	uint8_t room[256];
};

static ssize_t port_error(struct rte_port *port)
{
	union port_err err = {0};

	if (fi_cq_readerr(port->cq, &err.entry, 0) < 0)
		return 0;
	port_failed(&err.entry);
	return PORT_CQ_BATCH;
}

static ssize_t port_completions(struct rte_port *port)
{
	struct fi_cq_msg_entry entries[PORT_CQ_BATCH];
	ssize_t got, i;

	port->cq_armed = false;
	crn_tsan_peer_begins();
	got = fi_cq_read(port->cq, entries, PORT_CQ_BATCH);
	crn_tsan_peer_ends();
	if (crn_unlikely(got == -FI_EAVAIL))
		return port_error(port);
	for (i = 0; i < got; i++) {
		port->more = (unsigned int)(got - i - 1);
		port_done(&entries[i]);
	}
	return got > 0 ? got : 0;
}

/* What came before an event is delivered before it. */
void port_drain(struct rte_port *port)
{
	/* A read ends before an error, whatever is behind that. */
	while (port_completions(port) > 0)
		;
}

static void peer_event(struct rte_port *port, uint32_t event,
		       const struct fi_eq_cm_entry *entry, size_t len)
{
	struct rte_peer_inside *in = entry->fid ? entry->fid->context : NULL;

	if (!in || in->kind != INSIDE_PEER)
		return;
	if (in->closed) {
		in->parted |= event == FI_SHUTDOWN;
		return;
	}
	if (event == FI_CONNECTED) {
		peer_connected(&in->peer, entry->data, len - sizeof(*entry));
	} else if (event == FI_SHUTDOWN) {
		port_drain(port);
		peer_fail(&in->peer, FI_ECONNABORTED);
	}
}

void listener_event(struct fi_eq_cm_entry *entry, size_t len);

/* Bytes of data that come with an event. */
#define EVENT_DATA 512

static void event_failed(struct rte_port *port)
{
	uint8_t data[EVENT_DATA];
	struct fi_eq_err_entry err = {.err_data = data, .err_data_size = sizeof(data)};
	struct rte_peer_inside *in;

	if (fi_eq_readerr(port->eq, &err, 0) < 0)
		return;
	in = err.fid ? err.fid->context : NULL;
	if (!in || in->kind != INSIDE_PEER)
		return;
	if (in->closed)
		in->parted = true;
	else
		peer_refused(&in->peer, err.err ? err.err : FI_EIO, err.err_data,
			     CRN_MIN(err.err_data_size, sizeof(data)));
}

/* False: there is none. */
static bool port_event(struct rte_port *port)
{
	union {
		struct fi_eq_cm_entry cm;
		uint8_t bytes[sizeof(struct fi_eq_cm_entry) + EVENT_DATA];
	} entry;
	uint32_t event;
	ssize_t len;

	port->eq_armed = false;
	/* libfabric's tcp (1.17) takes an older EAGAIN for that of a socket that has
	 * ended: it would look at it for ever. */
	errno = 0;
	len = fi_eq_read(port->eq, &event, &entry, sizeof(entry), 0);
	if (len == -FI_EAVAIL) {
		event_failed(port);
		return true;
	}
	if (len < (ssize_t)sizeof(entry.cm))
		return false;
	if (event == FI_CONNREQ)
		listener_event(&entry.cm, (size_t)len);
	else
		peer_event(port, event, &entry.cm, (size_t)len);
	return true;
}

static struct rte_peer_inside *ready_pop(struct rte_port *port)
{
	struct crn_list *entry = crn_list_pop(&port->ready);

	return entry ? crn_container_of(entry, struct rte_peer_inside, ready) : NULL;
}

/* Those that are there at the beginning: what they add waits for the next round. */
static ssize_t port_tell(struct rte_port *port)
{
	struct crn_list now, *entry;
	struct rte_peer_inside *in;
	ssize_t count = 0;

	crn_list_init(&now);
	while ((in = ready_pop(port)))
		crn_list_add_tail(&now, &in->ready);
	while ((entry = crn_list_pop(&now))) {
		in = crn_container_of(entry, struct rte_peer_inside, ready);
		peer_tell(&in->peer);
		count++;
	}
	return count;
}

static void port_send_due(struct rte_port *port)
{
	struct crn_list now, *entry;

	crn_list_init(&now);
	while ((entry = crn_list_pop(&port->due)))
		crn_list_add_tail(&now, entry);
	while ((entry = crn_list_pop(&now)))
		send_due(&crn_container_of(entry, struct rte_peer_inside, due)->peer);
}

static void port_reap(struct rte_port *port, bool now)
{
	struct crn_list *entry, *next;

	crn_list_for_each_safe (entry, next, &port->zombies)
		peer_reap(&crn_container_of(entry, struct rte_peer_inside, entry)->peer,
			  now);
}

/*
 * Events are rare, and to look for them costs a system call: while connections come
 * about, when whoever wants to sleep has seen one, when whoever slept finds nothing else,
 * and now and then. got: completions.
 */
static bool port_looks(struct rte_port *port, ssize_t got)
{
	const uint64_t tick = crn_tick_ms();
	const bool looks = port->unsettled || port->event || tick != port->looked ||
			   (port->slept && !got);

	port->event = port->slept = false;
	port->looked = tick;
	return looks;
}

static bool port_waits(const struct rte_port *port)
{
	return !crn_list_empty(&port->ready) || !crn_list_empty(&port->due);
}

/* What completions and events have left to do, and what comes of that; more: of the first
 * ones there may be more. Not inlined: most calls of progress need none of it. */
static __attribute__((noinline)) ssize_t port_rounds(struct rte_port *port, bool more)
{
	ssize_t count = 0, got;
	int rounds;

	for (rounds = 1;; rounds++) {
		count += port_tell(port);
		if (!crn_list_empty(&port->due))
			port_send_due(port);
		if (rounds == PORT_ROUNDS || (!more && crn_list_empty(&port->ready)))
			return count;
		got = port_completions(port);
		more = got == PORT_CQ_BATCH;
		count += got;
	}
}

ssize_t rte_port_progress(struct rte_port *port)
{
	ssize_t count;
	bool more;

	if (port->depth)
		return 0;
	port->depth++;
	count = port_completions(port);
	more = count == PORT_CQ_BATCH;
	if (port_looks(port, count))
		while (port_event(port))
			count++;
	if (more || port_waits(port))
		count += port_rounds(port, more);
	if (port->deadlines.set_to <= port->looked + PORT_TICK)
		count += crn_deadlines_run(&port->deadlines);
	if (!crn_list_empty(&port->zombies))
		port_reap(port, false);
	port->depth--;
	if (port_waits(port))
		port_kick(port);
	return count;
}

int rte_port_fds(struct rte_port *port, int fd[RTE_PORT_FDS])
{
	int ret = fi_control(&port->eq->fid, FI_GETWAIT, &fd[0]);

	if (!ret)
		ret = fi_control(&port->cq->fid, FI_GETWAIT, &fd[1]);
	fd[2] = port->deadlines.fd;
	return ret;
}

/* A queue that may be slept on is one until it is read: its descriptor tells. */
static int port_arm(struct rte_port *port, struct fid *fid, bool *armed)
{
	int ret = *armed ? 0 : fi_trywait(port->net->fabric, &fid, 1);

	*armed = !ret;
	return ret;
}

int rte_port_trywait(struct rte_port *port)
{
	int ret;

	if (port_waits(port))
		return -FI_EAGAIN;
	ret = port_arm(port, &port->eq->fid, &port->eq_armed);
	port->event = ret;
	if (!ret)
		ret = port_arm(port, &port->cq->fid, &port->cq_armed);
	port->slept = !ret;
	return ret;
}

bool rte_port_lent(const struct rte_port *port)
{
	const struct rte_peer_inside *in;
	const struct crn_list *entry;

	crn_list_for_each (entry, &port->zombies) {
		in = crn_container_of(entry, struct rte_peer_inside, entry);
		if (in->lends && !in->ended)
			return true;
	}
	return false;
}

/* Some still have something to send. */
static bool ports_send(struct rte_port *const *ports, uint32_t count)
{
	bool some = false;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!crn_list_empty(&ports[i]->zombies))
			rte_port_progress(ports[i]);
		some = some || !crn_list_empty(&ports[i]->zombies);
	}
	return some;
}

void rte_ports_linger(struct rte_port *const *ports, uint32_t count)
{
	const uint64_t end = crn_now_ms() + PORT_LINGER;
	uint32_t i;

	while (ports_send(ports, count) && crn_now_ms() < end)
		;
	for (i = 0; i < count; i++)
		ports[i]->lingered = true;
}

int rte_port_close(struct rte_port *port)
{
	if (!crn_list_empty(&port->peers))
		return -FI_EBUSY;
	if (!port->lingered)
		rte_ports_linger(&port, 1);
	port_reap(port, true);
	if (!crn_list_empty(&port->zombies))
		return -FI_EBUSY;
	arena_leave(port->arena, port);
	port_free(port);
	return 0;
}
