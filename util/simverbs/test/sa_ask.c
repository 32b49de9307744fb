/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "sa_ask.h"

struct sa_port sa;

static void sa_put16(uint8_t *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
}

static void sa_put32(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, sizeof(value));
}

uint16_t sa_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

bool sa_open(const char *ca)
{
	long methods[16 / sizeof(long)] = {1 << SA_REPORT};

	if (umad_init() || umad_get_port(ca, 0, &sa.info))
		return false;
	sa.port = umad_open_port(ca, 0);
	if (sa.port < 0)
		return false;
	sa.agent = umad_register(sa.port, 3, 2, 1, methods);
	sa.out = umad_alloc(1, umad_size() + SA_MAD);
	sa.in = umad_alloc(1, umad_size() + SA_MAD);
	return sa.agent >= 0 && sa.out && sa.in;
}

/* IBA 13.4.3, 15.2.1: the headers of a request; its record follows at 56. */
static uint8_t *sa_begin(uint8_t method, uint16_t attr, uint64_t mask)
{
	uint8_t *mad = umad_get_mad(sa.out);

	memset(mad, 0, SA_MAD);
	mad[0] = 1;
	mad[1] = 3;
	mad[2] = 2;
	mad[3] = method;
	sa_put32(mad + 12, (uint32_t)++sa.tid);
	sa_put16(mad + 16, attr);
	sa_put32(mad + 48, (uint32_t)(mask >> 32));
	sa_put32(mad + 52, (uint32_t)mask);
	return mad + 56;
}

static bool sa_send_out(int timeout_ms)
{
	umad_set_addr(sa.out, (int)sa.info.sm_lid, 1, (int)sa.info.sm_sl,
		      (int)0x80010000);
	umad_set_pkey(sa.out, 0);
	return !umad_send(sa.port, sa.agent, sa.out, SA_MAD, timeout_ms, 0);
}

/* The next datagram; its status if it was not sent well. NULL: none came. */
const uint8_t *sa_receive(int *status)
{
	int len = SA_MAD;

	if (umad_poll(sa.port, SA_WAIT_MS) ||
	    umad_recv(sa.port, sa.in, &len, SA_WAIT_MS) < 0)
		return NULL;
	*status = umad_status(sa.in);
	return umad_get_mad(sa.in);
}

/* The answer to what was sent. */
static const uint8_t *sa_ask(int *status)
{
	const uint8_t *mad;

	if (!sa_send_out(SA_WAIT_MS / 2))
		return NULL;
	while ((mad = sa_receive(status)))
		if (sa_get16(mad + 14) == (uint16_t)sa.tid && (mad[3] & 0x80 || *status))
			return mad;
	return NULL;
}

static void sa_mcmember(const struct sa_request *request)
{
	uint8_t *data = sa_begin(request->method, SA_MCMEMBER, request->mask);

	inet_pton(AF_INET6, request->mgid, data);
	memcpy(data + 16, &sa.info.gid_prefix, 8);
	memcpy(data + 24, &sa.info.port_guid, 8);
	if (request->port_gid)
		memcpy(data + 16, request->port_gid, 16);
	sa_put32(data + 32, request->qkey);
	data[38] = request->mtu;
	data[39] = request->tclass;
	sa_put16(data + 40, request->pkey);
	data[48] = request->state;
}

const uint8_t *sa_tell(const struct sa_request *request)
{
	const uint8_t *mad;
	int status;

	sa_mcmember(request);
	mad = sa_ask(&status);
	if (!mad)
		printf("%s: no answer\n", request->name);
	else if (status)
		printf("%s: %s\n", request->name, strerror(status));
	else
		printf("%s: 0x%04x\n", request->name, sa_get16(mad + 4));
	return mad;
}

bool sa_subscribe(void)
{
	uint8_t *data = sa_begin(SA_SET, SA_INFORM_INFO, 0);
	const uint8_t *mad;
	int status;

	sa_put16(data + 16, 0xffff);
	data[22] = data[23] = 1;
	sa_put16(data + 24, 3);
	sa_put16(data + 26, 0xffff);
	sa_put32(data + 28, 1 << 8);
	data[35] = 4;
	mad = sa_ask(&status);
	return mad && !status && !sa_get16(mad + 4);
}

void sa_answer(const uint8_t *report)
{
	uint8_t *mad = umad_get_mad(sa.out);

	memcpy(mad, report, SA_MAD);
	mad[3] = SA_REPORT | 0x80;
	sa_send_out(0);
}
