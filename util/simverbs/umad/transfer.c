/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending and receiving. The kernel repeats a request that nobody answers, and gives it
 * back with ETIMEDOUT when it has done so as often as it was to (ib_umad).
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "step.h"
#include "umad.h"

/* So often nobody is asked: without it a program could ask for as long as it likes, which
 * here goes by in no time. */
#define UMAD_RETRIES_MAX 128u

static bool svb_umad_is_request(const uint8_t *mad)
{
	return !(mad[SVB_MAD_METHOD] & SVB_METHOD_RESPONSE);
}

/*
 * A table for a program that does RMPP itself (IBA 13.6): all segments at once, whatever
 * it acknowledges.
 */
static bool svb_umad_segments(struct svb_umad_port *port, struct svb_umad_msg *msg,
			      const uint8_t *table, size_t len)
{
	const size_t records = len - SVB_SA_DATA;
	const size_t count =
		records ? (records + SVB_SA_DATA_SIZE - 1) / SVB_SA_DATA_SIZE : 1;
	uint8_t mad[SVB_MAD_SIZE];
	size_t i, left;

	msg->len = SVB_MAD_SIZE;
	for (i = 0; i < count; i++) {
		left = records - i * SVB_SA_DATA_SIZE;
		if (left > SVB_SA_DATA_SIZE)
			left = SVB_SA_DATA_SIZE;
		memset(mad, 0, sizeof(mad));
		memcpy(mad, table, SVB_SA_DATA);
		memcpy(mad + SVB_SA_DATA, table + SVB_SA_DATA + i * SVB_SA_DATA_SIZE,
		       left);
		mad[SVB_RMPP_FLAGS] = (uint8_t)(1 | (i ? 0 : 2) | (i == count - 1) << 2);
		svb_mad_put(mad, SVB_RMPP_SEGMENT, 4, i + 1);
		/* The first tells all of it, headers of the SA included; the last its own
		 * part. */
		svb_mad_put(mad, SVB_RMPP_LENGTH, 4,
			    i ? left + 20 : records + 20 * count);
		if (!svb_umad_queue(port, msg, mad))
			return false;
	}
	return true;
}

/* An answer came. */
static bool svb_umad_answered(struct svb_umad_port *port, struct svb_umad_msg *msg,
			      const uint8_t *answer, size_t len)
{
	if (answer[SVB_MAD_CLASS] == SVB_CLASS_SA && answer[SVB_RMPP_VERSION] &&
	    !port->agent[msg->agent].rmpp)
		return svb_umad_segments(port, msg, answer, len);
	msg->len = (uint32_t)len;
	return svb_umad_queue(port, msg, answer);
}

/* One attempt, as svb_sa_answer. A directed route of no hops does not leave the node. */
static size_t svb_umad_attempt(struct svb_umad_port *port, uint16_t lid,
			       const uint8_t *mad, uint8_t **answer, uint32_t *late)
{
	const struct svb_sa_client client = {port->port, port->bell};
	const bool directed = mad[SVB_MAD_CLASS] == SVB_CLASS_SMP_DIRECTED;

	*answer = NULL;
	*late = 0;
	if (svb_port_down(port->port->index) && !directed)
		return 0;
	return svb_sa_answer(&client, directed ? 0 : lid, mad, answer, late);
}

/* Every attempt may be answered; the first answer within its time is the one. */
static int svb_umad_ask(struct svb_umad_port *port, const ib_user_mad_t *umad,
			const uint8_t *mad)
{
	const uint16_t lid = ntohs(umad->addr.lid);
	struct svb_umad_msg msg = {.agent = umad->agent_id, .lid = lid, .due = svb_now()};
	uint32_t attempt, late;
	uint8_t *answer;
	bool ok = true;
	size_t len;

	for (attempt = 0; attempt <= umad->retries; attempt++) {
		len = svb_umad_attempt(port, lid, mad, &answer, &late);
		if (len && (!umad->timeout_ms || late < umad->timeout_ms)) {
			msg.due += (uint64_t)late * 1000000;
			ok = svb_umad_answered(port, &msg, answer, len);
			free(answer);
			return ok ? 0 : ENOMEM;
		}
		free(answer);
		msg.due += (uint64_t)umad->timeout_ms * 1000000;
	}
	/* The kernel does not wait for an answer without a time for it. */
	if (!umad->timeout_ms || !svb_umad_is_request(mad))
		return 0;
	msg.status = ETIMEDOUT;
	msg.len = SVB_MAD_SIZE;
	return svb_umad_queue(port, &msg, mad) ? 0 : ENOMEM;
}

SVB_API int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms,
		      int retries)
{
	ib_user_mad_t *mad = umad;
	uint8_t copy[SVB_MAD_SIZE] = {0};
	struct svb_umad_port *port = svb_umad_lock(portid);
	int ret = EINVAL;

	if (!port) {
		errno = EBADF;
		return -EIO;
	}
	mad->timeout_ms = timeout_ms < 0 ? 0 : (uint32_t)timeout_ms;
	mad->retries = retries < 0 ? 0 : (uint32_t)retries;
	if (mad->retries > UMAD_RETRIES_MAX)
		mad->retries = UMAD_RETRIES_MAX;
	mad->agent_id = (uint32_t)agentid;
	if (agentid >= 0 && agentid < SVB_UMAD_AGENTS && port->agent[agentid].used &&
	    length >= SVB_RMPP_VERSION) {
		memcpy(copy, mad->data,
		       (size_t)length < sizeof(copy) ? (size_t)length : sizeof(copy));
		ret = svb_umad_ask(port, mad, copy);
	}
	svb_umad_arm(port);
	svb_umad_unlock();
	errno = ret;
	return ret ? -EIO : 0;
}

/* Gives it to the program. */
static int svb_umad_give(struct svb_umad_port *port, struct svb_umad_msg *msg,
			 ib_user_mad_t *umad, int *length)
{
	const int agent = (int)msg->agent;
	const uint32_t room = *length < 0 ? 0 : (uint32_t)*length;

	memset(umad, 0, sizeof(*umad));
	umad->agent_id = msg->agent;
	umad->status = msg->status;
	umad->length = (uint32_t)sizeof(*umad) + msg->len;
	umad->addr.qpn = htonl(msg->data[SVB_MAD_CLASS] == SVB_CLASS_SA);
	umad->addr.lid = htons(msg->lid);
	*length = (int)msg->len;
	/* What does not fit stays. */
	memcpy(umad->data, msg->data, msg->len < room ? msg->len : room);
	if (msg->len > room) {
		errno = ENOSPC;
		return -ENOSPC;
	}
	crn_list_del(&msg->entry);
	free(msg);
	svb_umad_arm(port);
	return agent;
}

static int svb_umad_try(int portid, void *umad, int *length)
{
	struct svb_umad_port *port = svb_umad_lock(portid);
	struct svb_umad_msg *msg;
	int ret = -EAGAIN;

	if (!port)
		return -EBADF;
	msg = svb_umad_first(port);
	if (!msg)
		svb_umad_arm(port);
	else if (umad)
		ret = svb_umad_give(port, msg, umad, length);
	else
		ret = 0;
	svb_umad_unlock();
	return ret;
}

/* Until there is one: 0, or a negative errno. */
static int svb_umad_wait(int portid, int timeout_ms, void *umad, int *length)
{
	const uint64_t end =
		timeout_ms < 0 ? 0 : svb_now() + (uint64_t)timeout_ms * 1000000;
	struct pollfd wait = {.fd = portid, .events = POLLIN};
	uint64_t now;
	int ret, left;

	while ((ret = svb_umad_try(portid, umad, length)) == -EAGAIN) {
		now = svb_now();
		if (timeout_ms >= 0 && now >= end)
			return -ETIMEDOUT;
		left = timeout_ms < 0 ? -1 : (int)((end - now + 999999) / 1000000);
		if (poll(&wait, 1, left) < 0)
			return -errno;
	}
	return ret;
}

SVB_API int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	int ret;

	errno = 0;
	if (!umad || !length) {
		errno = EINVAL;
		return -EINVAL;
	}
	ret = timeout_ms ? svb_umad_wait(portid, timeout_ms, umad, length)
			 : svb_umad_try(portid, umad, length);
	if (ret < 0) {
		errno = -ret;
		/* Without waiting libibumad tells so of nothing to read. */
		return ret == -EAGAIN ? -EWOULDBLOCK : ret;
	}
	return ret;
}

SVB_API int umad_poll(int portid, int timeout_ms)
{
	int length = 0, ret;

	ret = svb_umad_wait(portid, timeout_ms, NULL, &length);
	if (ret)
		errno = -ret;
	return ret;
}
