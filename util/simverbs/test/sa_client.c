/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of subnet administration: sends requests and prints the status of each answer.
 * It runs on simverbs and, with libumad2sim, on ibsim with opensm: test-simverbs
 *compares.
 *
 *	sa_client statuses [CA]	every request of the table below
 *	sa_client create MGID	makes a group and stays a member
 *	sa_client listen COUNT	subscribes to traps 66 and 67 and prints so many
 *	sa_client reports	subscribes to traps 66 and 67, makes a group and leaves
 *it; answers the second report of each
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAD 256
#define WAIT_MS 2000

enum { GET = 1, SET = 2, REPORT = 6, GET_TABLE = 0x12, DELETE = 0x15 };
enum { INFORM_INFO = 3, MCMEMBER = 0x38 };

/* Components of a MCMemberRecord. */
enum {
	MGID = 1 << 0,
	PORT_GID = 1 << 1,
	QKEY = 1 << 2,
	MTU_SELECTOR = 1 << 4,
	MTU = 1 << 5,
	TCLASS = 1 << 6,
	PKEY = 1 << 7,
	SL = 1 << 12,
	FLOW = 1 << 13,
	STATE = 1 << 16,
};
#define JOIN (MGID | PORT_GID | STATE)
#define CREATE (JOIN | QKEY | TCLASS | PKEY | FLOW | SL)

struct request {
	const char *name;
	uint8_t method;
	uint32_t mask;
	const char *mgid;
	uint8_t state;
	uint32_t qkey;
	uint8_t tclass;
	uint16_t pkey;
	uint8_t mtu; /* with its selector */
};

#define GROUP "ff12:abcd::1"
#define IPOIB "ff12:401b:ffff::e000:123"
#define BROADCAST "ff12:401b:ffff::ffff:ffff"
#define FULL 1
#define NON 2
#define SEND_ONLY 4

static const struct request requests[] = {
	{.name = "get absent", .method = GET, .mask = MGID, .mgid = GROUP},
	{.name = "join absent",
	 .method = SET,
	 .mask = JOIN,
	 .mgid = GROUP,
	 .state = FULL},
	{.name = "join absent send-only",
	 .method = SET,
	 .mask = JOIN,
	 .mgid = GROUP,
	 .state = SEND_ONLY},
	{.name = "create as non-member",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = GROUP,
	 .state = NON,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "join without state",
	 .method = SET,
	 .mask = MGID | PORT_GID,
	 .mgid = GROUP},
	{.name = "join without port",
	 .method = SET,
	 .mask = MGID | STATE,
	 .mgid = GROUP,
	 .state = FULL},
	{.name = "create in another partition",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = GROUP,
	 .state = FULL,
	 .qkey = 7,
	 .pkey = 0x8123},
	{.name = "create no multicast GID",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = "fe80::1",
	 .state = FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "create",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = GROUP,
	 .state = FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "get", .method = GET, .mask = MGID, .mgid = GROUP},
	{.name = "get by another Q_Key",
	 .method = GET,
	 .mask = MGID | QKEY,
	 .mgid = GROUP,
	 .qkey = 8},
	{.name = "join again", .method = SET, .mask = JOIN, .mgid = GROUP, .state = FULL},
	{.name = "join with another Q_Key",
	 .method = SET,
	 .mask = JOIN | QKEY,
	 .mgid = GROUP,
	 .state = FULL,
	 .qkey = 8},
	{.name = "join with another TClass",
	 .method = SET,
	 .mask = JOIN | TCLASS,
	 .mgid = GROUP,
	 .state = FULL,
	 .qkey = 7,
	 .tclass = 9},
	{.name = "join with another MTU",
	 .method = SET,
	 .mask = JOIN | MTU_SELECTOR | MTU,
	 .mgid = GROUP,
	 .state = FULL,
	 .qkey = 7,
	 .mtu = 2 << 6 | 1},
	{.name = "join send-only too",
	 .method = SET,
	 .mask = JOIN,
	 .mgid = GROUP,
	 .state = SEND_ONLY},
	{.name = "leave send-only",
	 .method = DELETE,
	 .mask = JOIN,
	 .mgid = GROUP,
	 .state = SEND_ONLY},
	{.name = "leave what is not joined",
	 .method = DELETE,
	 .mask = JOIN,
	 .mgid = GROUP,
	 .state = NON},
	{.name = "leave", .method = DELETE, .mask = JOIN, .mgid = GROUP, .state = FULL},
	{.name = "leave again",
	 .method = DELETE,
	 .mask = JOIN,
	 .mgid = GROUP,
	 .state = FULL},
	{.name = "get after the last leave", .method = GET, .mask = MGID, .mgid = GROUP},
	{.name = "create IPoIB's with another Q_Key",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = IPOIB,
	 .state = FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "create IPoIB's with another TClass",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = IPOIB,
	 .state = FULL,
	 .qkey = 0xb1b,
	 .tclass = 9,
	 .pkey = 0xffff},
	{.name = "create IPoIB's",
	 .method = SET,
	 .mask = CREATE,
	 .mgid = IPOIB,
	 .state = FULL,
	 .qkey = 0xb1b,
	 .pkey = 0xffff},
	{.name = "leave IPoIB's",
	 .method = DELETE,
	 .mask = JOIN,
	 .mgid = IPOIB,
	 .state = FULL},
	{.name = "get the broadcast group",
	 .method = GET,
	 .mask = MGID,
	 .mgid = BROADCAST},
	{.name = "join the broadcast group",
	 .method = SET,
	 .mask = JOIN,
	 .mgid = BROADCAST,
	 .state = FULL},
	{.name = "leave the broadcast group",
	 .method = DELETE,
	 .mask = JOIN,
	 .mgid = BROADCAST,
	 .state = FULL},
	{.name = "get the broadcast group again",
	 .method = GET,
	 .mask = MGID,
	 .mgid = BROADCAST},
};

static struct {
	int port;
	int agent;
	umad_port_t info;
	ib_user_mad_t *out;
	ib_user_mad_t *in;
	uint64_t tid;
} sa;

static void put16(uint8_t *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static bool sa_open(const char *ca)
{
	long methods[16 / sizeof(long)] = {1 << REPORT};

	if (umad_init() || umad_get_port(ca, 0, &sa.info))
		return false;
	sa.port = umad_open_port(ca, 0);
	if (sa.port < 0)
		return false;
	sa.agent = umad_register(sa.port, 3, 2, 1, methods);
	sa.out = umad_alloc(1, umad_size() + MAD);
	sa.in = umad_alloc(1, umad_size() + MAD);
	return sa.agent >= 0 && sa.out && sa.in;
}

/* IBA 13.4.3, 15.2.1: the headers of a request; its record follows at 56. */
static uint8_t *begin(uint8_t method, uint16_t attr, uint64_t mask)
{
	uint8_t *mad = umad_get_mad(sa.out);

	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = 3;
	mad[2] = 2;
	mad[3] = method;
	put32(mad + 12, (uint32_t)++sa.tid);
	put16(mad + 16, attr);
	put32(mad + 48, (uint32_t)(mask >> 32));
	put32(mad + 52, (uint32_t)mask);
	return mad + 56;
}

static bool send_out(int timeout_ms)
{
	umad_set_addr(sa.out, (int)sa.info.sm_lid, 1, (int)sa.info.sm_sl,
		      (int)0x80010000);
	umad_set_pkey(sa.out, 0);
	return !umad_send(sa.port, sa.agent, sa.out, MAD, timeout_ms, 0);
}

/* The next datagram; its status if it was not sent well. NULL: none came. */
static const uint8_t *receive(int *status)
{
	int len = MAD;

	if (umad_poll(sa.port, WAIT_MS) || umad_recv(sa.port, sa.in, &len, WAIT_MS) < 0)
		return NULL;
	*status = umad_status(sa.in);
	return umad_get_mad(sa.in);
}

/* The answer to what was sent. */
static const uint8_t *ask(int *status)
{
	const uint8_t *mad;

	if (!send_out(WAIT_MS / 2))
		return NULL;
	while ((mad = receive(status)))
		if (get16(mad + 14) == (uint16_t)sa.tid && (mad[3] & 0x80 || *status))
			return mad;
	return NULL;
}

static void mcmember(const struct request *request)
{
	uint8_t *data = begin(request->method, MCMEMBER, request->mask);

	inet_pton(AF_INET6, request->mgid, data);
	memcpy(data + 16, &sa.info.gid_prefix, 8);
	memcpy(data + 24, &sa.info.port_guid, 8);
	put32(data + 32, request->qkey);
	data[38] = request->mtu;
	data[39] = request->tclass;
	put16(data + 40, request->pkey);
	data[48] = request->state;
}

static const uint8_t *tell(const struct request *request)
{
	const uint8_t *mad;
	int status;

	mcmember(request);
	mad = ask(&status);
	if (!mad)
		printf("%s: no answer\n", request->name);
	else if (status)
		printf("%s: %s\n", request->name, strerror(status));
	else
		printf("%s: 0x%04x\n", request->name, get16(mad + 4));
	return mad;
}

static int statuses(void)
{
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		tell(&requests[i]);
	return 0;
}

static bool subscribe(void)
{
	uint8_t *data = begin(SET, INFORM_INFO, 0);
	const uint8_t *mad;
	int status;

	put16(data + 16, 0xffff);
	data[22] = data[23] = 1;
	put16(data + 24, 3);
	put16(data + 26, 0xffff);
	put32(data + 28, 1 << 8);
	data[35] = 4;
	mad = ask(&status);
	return mad && !status && !get16(mad + 4);
}

static void answer(const uint8_t *report)
{
	uint8_t *mad = umad_get_mad(sa.out);

	memcpy(mad, report, MAD);
	mad[3] = REPORT | 0x80;
	send_out(0);
}

/* Prints the next reports, of which the second of the same is answered. */
static void heard(void)
{
	const uint8_t *mad;
	int status, count;
	char mgid[INET6_ADDRSTRLEN];

	for (count = 1; count <= 2 && (mad = receive(&status)); count++) {
		inet_ntop(AF_INET6, mad + 56 + 16, mgid, sizeof(mgid));
		printf("method %u trap %u %s\n", mad[3], get16(mad + 56 + 4), mgid);
		if (count == 2)
			answer(mad);
	}
}

static int reports(void)
{
	const struct request create = {.name = "create",
				       .method = SET,
				       .mask = CREATE,
				       .mgid = GROUP,
				       .state = FULL,
				       .qkey = 7,
				       .pkey = 0xffff};
	const struct request leave = {.name = "leave",
				      .method = DELETE,
				      .mask = JOIN,
				      .mgid = GROUP,
				      .state = FULL};
	int status;

	if (!subscribe())
		return 1;
	tell(&create);
	heard();
	tell(&leave);
	heard();
	printf("%s\n", receive(&status) ? "and more" : "no more");
	return 0;
}

/* Each report as it comes, answered; it sleeps in between. */
static int listen_for(int count)
{
	struct pollfd wait = {.fd = umad_get_fd(sa.port), .events = POLLIN};
	char mgid[INET6_ADDRSTRLEN];
	const uint8_t *mad = umad_get_mad(sa.in);
	int len;

	if (!subscribe())
		return 1;
	puts("listens");
	for (fflush(stdout); count && poll(&wait, 1, 60000) == 1; fflush(stdout)) {
		len = MAD;
		if (umad_recv(sa.port, sa.in, &len, 0) < 0 || mad[3] != REPORT)
			continue;
		inet_ntop(AF_INET6, mad + 56 + 16, mgid, sizeof(mgid));
		printf("trap %u %s\n", get16(mad + 56 + 4), mgid);
		answer(mad);
		count--;
	}
	return count;
}

static int create(const char *mgid)
{
	const struct request request = {.name = "create",
					.method = SET,
					.mask = CREATE,
					.mgid = mgid,
					.state = FULL,
					.qkey = 7,
					.pkey = 0xffff};

	return tell(&request) ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const bool ca = argc > 2 && !strcmp(what, "statuses");

	if (!sa_open(ca ? argv[2] : NULL)) {
		fprintf(stderr, "sa_client: %s\n", strerror(errno));
		return 1;
	}
	if (!strcmp(what, "statuses"))
		return statuses();
	if (!strcmp(what, "reports"))
		return reports();
	if (!strcmp(what, "listen") && argc > 2)
		return listen_for(atoi(argv[2]));
	return !strcmp(what, "create") && argc > 2 ? create(argv[2]) : 2;
}
