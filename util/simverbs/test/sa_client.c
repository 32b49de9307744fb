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
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sa_ask.h"

#define GROUP "ff12:abcd::1"
#define IPOIB "ff12:401b:ffff::e000:123"
#define BROADCAST "ff12:401b:ffff::ffff:ffff"

static const struct sa_request requests[] = {
	{.name = "get absent", .method = SA_GET, .mask = SA_MGID, .mgid = GROUP},
	{.name = "join absent",
	 .method = SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_FULL},
	{.name = "join absent send-only",
	 .method = SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_SEND_ONLY},
	{.name = "create as non-member",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = GROUP,
	 .state = SA_NON,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "join without state",
	 .method = SA_SET,
	 .mask = SA_MGID | SA_PORT_GID,
	 .mgid = GROUP},
	{.name = "join without port",
	 .method = SA_SET,
	 .mask = SA_MGID | SA_STATE,
	 .mgid = GROUP,
	 .state = SA_FULL},
	{.name = "create in another partition",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = GROUP,
	 .state = SA_FULL,
	 .qkey = 7,
	 .pkey = 0x8123},
	{.name = "create no multicast GID",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = "fe80::1",
	 .state = SA_FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "create",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = GROUP,
	 .state = SA_FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "get", .method = SA_GET, .mask = SA_MGID, .mgid = GROUP},
	{.name = "get by another Q_Key",
	 .method = SA_GET,
	 .mask = SA_MGID | SA_QKEY,
	 .mgid = GROUP,
	 .qkey = 8},
	{.name = "join again",
	 .method = SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_FULL},
	{.name = "join with another Q_Key",
	 .method = SA_SET,
	 .mask = SA_JOIN | SA_QKEY,
	 .mgid = GROUP,
	 .state = SA_FULL,
	 .qkey = 8},
	{.name = "join with another TClass",
	 .method = SA_SET,
	 .mask = SA_JOIN | SA_TCLASS,
	 .mgid = GROUP,
	 .state = SA_FULL,
	 .qkey = 7,
	 .tclass = 9},
	{.name = "join with another MTU",
	 .method = SA_SET,
	 .mask = SA_JOIN | SA_MTU_SELECTOR | SA_MTU,
	 .mgid = GROUP,
	 .state = SA_FULL,
	 .qkey = 7,
	 .mtu = 2 << 6 | 1},
	{.name = "join send-only too",
	 .method = SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_SEND_ONLY},
	{.name = "leave send-only",
	 .method = SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_SEND_ONLY},
	{.name = "leave what is not joined",
	 .method = SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_NON},
	{.name = "leave",
	 .method = SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_FULL},
	{.name = "leave again",
	 .method = SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = SA_FULL},
	{.name = "get after the last leave",
	 .method = SA_GET,
	 .mask = SA_MGID,
	 .mgid = GROUP},
	{.name = "create IPoIB's with another Q_Key",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = IPOIB,
	 .state = SA_FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "create IPoIB's with another TClass",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = IPOIB,
	 .state = SA_FULL,
	 .qkey = 0xb1b,
	 .tclass = 9,
	 .pkey = 0xffff},
	{.name = "create IPoIB's",
	 .method = SA_SET,
	 .mask = SA_CREATE,
	 .mgid = IPOIB,
	 .state = SA_FULL,
	 .qkey = 0xb1b,
	 .pkey = 0xffff},
	{.name = "leave IPoIB's",
	 .method = SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = IPOIB,
	 .state = SA_FULL},
	{.name = "get the broadcast group",
	 .method = SA_GET,
	 .mask = SA_MGID,
	 .mgid = BROADCAST},
	{.name = "join the broadcast group",
	 .method = SA_SET,
	 .mask = SA_JOIN,
	 .mgid = BROADCAST,
	 .state = SA_FULL},
	{.name = "leave the broadcast group",
	 .method = SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = BROADCAST,
	 .state = SA_FULL},
	{.name = "get the broadcast group again",
	 .method = SA_GET,
	 .mask = SA_MGID,
	 .mgid = BROADCAST},
};

static int statuses(void)
{
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		sa_tell(&requests[i]);
	return 0;
}

/* Prints the next reports, of which the second of the same is answered. */
static void heard(void)
{
	const uint8_t *mad;
	int status, count;
	char mgid[INET6_ADDRSTRLEN];

	for (count = 1; count <= 2 && (mad = sa_receive(&status)); count++) {
		inet_ntop(AF_INET6, mad + 56 + 16, mgid, sizeof(mgid));
		printf("method %u trap %u %s\n", mad[3], sa_get16(mad + 56 + 4), mgid);
		if (count == 2)
			sa_answer(mad);
	}
}

static int reports(void)
{
	const struct sa_request create = {.name = "create",
					  .method = SA_SET,
					  .mask = SA_CREATE,
					  .mgid = GROUP,
					  .state = SA_FULL,
					  .qkey = 7,
					  .pkey = 0xffff};
	const struct sa_request leave = {.name = "leave",
					 .method = SA_DELETE,
					 .mask = SA_JOIN,
					 .mgid = GROUP,
					 .state = SA_FULL};
	int status;

	if (!sa_subscribe())
		return 1;
	sa_tell(&create);
	heard();
	sa_tell(&leave);
	heard();
	printf("%s\n", sa_receive(&status) ? "and more" : "no more");
	return 0;
}

/* Each report as it comes, answered; it sleeps in between. */
static int listen_for(int count)
{
	struct pollfd wait = {.fd = umad_get_fd(sa.port), .events = POLLIN};
	char mgid[INET6_ADDRSTRLEN];
	const uint8_t *mad = umad_get_mad(sa.in);
	int len;

	if (!sa_subscribe())
		return 1;
	puts("listens");
	for (fflush(stdout); count && poll(&wait, 1, 60000) == 1; fflush(stdout)) {
		len = SA_MAD;
		if (umad_recv(sa.port, sa.in, &len, 0) < 0 || mad[3] != SA_REPORT)
			continue;
		inet_ntop(AF_INET6, mad + 56 + 16, mgid, sizeof(mgid));
		printf("trap %u %s\n", sa_get16(mad + 56 + 4), mgid);
		sa_answer(mad);
		count--;
	}
	return count;
}

static int create(const char *mgid)
{
	const struct sa_request request = {.name = "create",
					   .method = SA_SET,
					   .mask = SA_CREATE,
					   .mgid = mgid,
					   .state = SA_FULL,
					   .qkey = 7,
					   .pkey = 0xffff};

	return sa_tell(&request) ? 0 : 1;
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
