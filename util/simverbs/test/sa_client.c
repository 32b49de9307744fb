/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of subnet administration: sends requests and prints the status of each answer.
 * It runs at nodes of subnets of fabtests/interop/subnet.
 *
 *	sa_client statuses	every request of the table below
 *	sa_client create MGID	makes a group and stays a member
 *	sa_client when MGID	the same, after a line of standard input
 *	sa_client get|set|delete MGID [KEY=VALUE...] [port]
 *				one request; port: of its own membership
 *	sa_client table		counts the groups of a table
 *	sa_client port [P_KEY]	the MTU of the port, and its entry for a partition
 *	sa_client listen COUNT [MS]
 *				subscribes to traps 66 and 67 and prints so many, and
 *				whether the manager has begun anew, at which it looks
 *				every MS milliseconds
 *	sa_client reports	subscribes to traps 66 and 67, makes a group and leaves
 *				it; does not answer the first report of each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sa_ask.h"

#define GROUP "ff12:abcd::1"
#define IPOIB "ff12:401b:ffff::e000:123"
#define BROADCAST "ff12:401b:ffff::ffff:ffff"

static const struct sa_request requests[] = {
	{.name = "get absent",
	 .method = PVB_SA_GET,
	 .mask = PVB_MCM_HAS_MGID,
	 .mgid = GROUP},
	{.name = "join absent",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL},
	{.name = "join absent send-only",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_SEND_ONLY_NON_MEMBER},
	{.name = "create as non-member",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = GROUP,
	 .state = PVB_MCM_NON_MEMBER,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "join without state",
	 .method = PVB_SA_SET,
	 .mask = PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID,
	 .mgid = GROUP},
	{.name = "join without port",
	 .method = PVB_SA_SET,
	 .mask = PVB_MCM_HAS_MGID | PVB_MCM_HAS_JOIN_STATE,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL},
	{.name = "create in another partition",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL,
	 .qkey = 7,
	 .pkey = 0x8123},
	{.name = "create no multicast GID",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = "fe80::1",
	 .state = PVB_MCM_FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "create",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL,
	 .qkey = 7,
	 .pkey = 0xffff},
	{.name = "get", .method = PVB_SA_GET, .mask = PVB_MCM_HAS_MGID, .mgid = GROUP},
	{.name = "get by another Q_Key",
	 .method = PVB_SA_GET,
	 .mask = PVB_MCM_HAS_MGID | PVB_MCM_HAS_QKEY,
	 .mgid = GROUP,
	 .qkey = 8},
	{.name = "join again",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL},
	{.name = "join with another Q_Key",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN | PVB_MCM_HAS_QKEY,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL,
	 .qkey = 8},
	{.name = "join with another TClass",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN | PVB_MCM_HAS_TCLASS,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL,
	 .qkey = 7,
	 .tclass = 9},
	{.name = "join with another MTU",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN | PVB_MCM_HAS_MTU_SELECTOR | PVB_MCM_HAS_MTU,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL,
	 .qkey = 7,
	 .mtu = 1},
	{.name = "join send-only too",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_SEND_ONLY_NON_MEMBER},
	{.name = "leave send-only",
	 .method = PVB_SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_SEND_ONLY_NON_MEMBER},
	{.name = "leave what is not joined",
	 .method = PVB_SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_NON_MEMBER},
	{.name = "leave",
	 .method = PVB_SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL},
	{.name = "leave again",
	 .method = PVB_SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = GROUP,
	 .state = PVB_MCM_FULL},
	{.name = "get after the last leave",
	 .method = PVB_SA_GET,
	 .mask = PVB_MCM_HAS_MGID,
	 .mgid = GROUP},
	{.name = "create IPoIB's with another Q_Key",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = IPOIB,
	 .state = PVB_MCM_FULL,
	 .qkey = 7,
	 .tclass = 3,
	 .flow = 5,
	 .pkey = 0xffff},
	{.name = "create IPoIB's with another TClass",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = IPOIB,
	 .state = PVB_MCM_FULL,
	 .qkey = 0x80000b1b,
	 .tclass = 9,
	 .flow = 5,
	 .pkey = 0xffff},
	{.name = "create IPoIB's",
	 .method = PVB_SA_SET,
	 .mask = SA_CREATE,
	 .mgid = IPOIB,
	 .state = PVB_MCM_FULL,
	 .qkey = 0x80000b1b,
	 .tclass = 3,
	 .flow = 5,
	 .pkey = 0xffff},
	{.name = "leave IPoIB's",
	 .method = PVB_SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = IPOIB,
	 .state = PVB_MCM_FULL},
	{.name = "get the broadcast group",
	 .method = PVB_SA_GET,
	 .mask = PVB_MCM_HAS_MGID,
	 .mgid = BROADCAST},
	{.name = "join the broadcast group",
	 .method = PVB_SA_SET,
	 .mask = SA_JOIN,
	 .mgid = BROADCAST,
	 .state = PVB_MCM_FULL},
	{.name = "leave the broadcast group",
	 .method = PVB_SA_DELETE,
	 .mask = SA_JOIN,
	 .mgid = BROADCAST,
	 .state = PVB_MCM_FULL},
	{.name = "get the broadcast group again",
	 .method = PVB_SA_GET,
	 .mask = PVB_MCM_HAS_MGID,
	 .mgid = BROADCAST},
};

static int statuses(void)
{
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		sa_tell(&requests[i], NULL);
	return 0;
}

/* The port's calls, but for the answer to the next report, which is lost. */
static const struct pvb_sa_ops *port_ops;
static bool to_lose;
static uint64_t lost;  /* number of the report whose answer was lost last */
static uint64_t again; /* so often it was answered after that */

static int send_or_lose(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	struct pvb_sa_hdr hdr;

	if (pvb_sa_unpack(mad, PVB_MAD_SIZE, &hdr) ||
	    hdr.method != (PVB_SA_REPORT | PVB_SA_RESPONSE))
		return port_ops->send(arg, mad, wait_ms);
	if (hdr.tid == lost) {
		again++;
	} else if (to_lose) {
		to_lose = false;
		lost = hdr.tid;
		again = 0;
		return 0;
	}
	return port_ops->send(arg, mad, wait_ms);
}

/* What it does is reported again, which the client knows for the same. */
static void heard_twice(const struct sa_request *request)
{
	to_lose = true;
	sa_tell(request, NULL);
	if (sa_hear(SA_WAIT_MS))
		puts(sa_work_until(&again, 0, SA_WAIT_MS) ? "and again" : "once");
}

static int reports(void)
{
	const struct sa_request create = {.name = "create",
					  .method = PVB_SA_SET,
					  .mask = SA_CREATE,
					  .mgid = GROUP,
					  .state = PVB_MCM_FULL,
					  .qkey = 7,
					  .pkey = 0xffff};
	const struct sa_request leave = {.name = "leave",
					 .method = PVB_SA_DELETE,
					 .mask = SA_JOIN,
					 .mgid = GROUP,
					 .state = PVB_MCM_FULL};
	struct pvb_sa_ops ops;

	port_ops = sa.client.ops;
	ops = *port_ops;
	ops.send = send_or_lose;
	sa.client.ops = &ops;
	if (!sa_subscribe(0))
		return 1;
	heard_twice(&create);
	heard_twice(&leave);
	/* What was on its way before the answer is no repetition after it. */
	pvb_umad_progress(&sa);
	if (!sa_work_until(&sa.client.dropped, sa.client.dropped, SA_NOTHING_MS))
		puts("no more");
	sa.client.ops = port_ops;
	return 0;
}

/* How many groups there are. */
static int table(void)
{
	const struct pvb_sa_request request = {.method = PVB_SA_GET_TABLE,
					       .attr = PVB_SA_MCMEMBER_RECORD,
					       .wait_ms = SA_TRY_MS,
					       .tries = sa_tries()};
	struct pvb_sa_reply reply;
	struct pvb_mcm mcm;
	size_t at, count = 0;

	if (pvb_sa_wait(&sa, &request, &reply))
		return 1;
	for (at = 0; reply.record_size && at + PVB_MCM_SIZE <= reply.len;
	     at += reply.record_size)
		if (!pvb_mcm_unpack(reply.data + at, reply.len - at, &mcm) &&
		    mcm.mgid[0] == 0xff && mcm.mlid >= 0xc000)
			count++;
	printf("%zu groups\n", count);
	pvb_sa_reply_free(&reply);
	return 0;
}

/* Each event as it comes; it sleeps in between. */
static int listen_for(int count, uint32_t look_ms)
{
	if ((getenv("IBSIM_SOCKNAME") && !sa_be_manager()) || !sa_subscribe(look_ms))
		return 1;
	puts("listens");
	for (fflush(stdout); count && sa_hear(60000); fflush(stdout))
		count--;
	return count;
}

static int port(const char *pkey)
{
	uint8_t mtu;
	int ret = pvb_umad_mtu(&sa, SA_TRY_MS, sa_tries(), &mtu);

	if (ret)
		return 1;
	printf("mtu=%u", 128u << mtu);
	if (pkey)
		printf(" pkey=0x%04x",
		       pvb_umad_pkey(&sa, (uint16_t)strtoul(pkey, NULL, 0)));
	puts(sa.port.active ? " active" : " down");
	return 0;
}

static int create(const char *mgid)
{
	const struct sa_request request = {.name = "create",
					   .method = PVB_SA_SET,
					   .mask = SA_CREATE,
					   .mgid = mgid,
					   .state = PVB_MCM_FULL,
					   .qkey = 7,
					   .pkey = 0xffff};

	return sa_tell(&request, NULL) < 0;
}

/* The port is open before, and its events arrive meanwhile. */
static int create_when(const char *mgid)
{
	puts("ready");
	fflush(stdout);
	return getchar() == EOF ? 1 : create(mgid);
}

static int run(int argc, char **argv)
{
	const char *const what = argv[1], *const first = argc > 2 ? argv[2] : NULL;

	if (!strcmp(what, "statuses"))
		return statuses();
	if (!strcmp(what, "reports"))
		return reports();
	if (!strcmp(what, "table"))
		return table();
	if (!strcmp(what, "port"))
		return port(first);
	if (!strcmp(what, "listen") && first)
		return listen_for(atoi(first), argc > 3 ? (uint32_t)atoi(argv[3]) : 0);
	if (!strcmp(what, "create") && first)
		return create(first);
	if (!strcmp(what, "when") && first)
		return create_when(first);
	return sa_words(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2 || !sa_open(getenv("SUBNET_CA")))
		return 1;
	status = run(argc, argv);
	sa_close();
	return status;
}
