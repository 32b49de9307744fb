/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a multicast group of an IPoIB link costs: joining one beside the transactions of
 * subnet administration that the draft asks for (section 8: is it there? else it is
 * created), many at once, and how soon datagrams reach a group that appears.
 */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <rdma/fi_errno.h>

#include "dgrams.h"
#include "sa/mc_map.h"
#include "sa/sa.h"
#include "sa/sa_umad.h"

#define MOST_GROUPS 10000
#define MOST_ROUNDS 1001
#define PATIENCE_MS 20000
#define WAIT_MS 1000
#define TRIES 3
#define PKEY 0xffff
#define LINK_LOCAL 2
#define SETTLES 16
/* Numbers of groups from which each measurement takes its own. */
#define FIRST_GROUP 0x00010000u
#define FIRST_ALONE 0x00800000u

/* Specification 15.2.5.17.2: what joins a group, and with what it is created as well. */
#define JOINS (PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE)
#define CREATES                                                               \
	(JOINS | PVB_MCM_HAS_QKEY | PVB_MCM_HAS_TCLASS | PVB_MCM_HAS_PKEY |   \
	 PVB_MCM_HAS_SL | PVB_MCM_HAS_FLOW_LABEL | PVB_MCM_HAS_MTU_SELECTOR | \
	 PVB_MCM_HAS_MTU)

static struct dgrams_wish wish = {.provider = "pverbs",
				  .group = "239.0.0.1", /* that there are groups */
				  .threading = FI_THREAD_DOMAIN,
				  .size = 64,
				  .room = 64,
				  .receives = 64};
static long count = 1000, rounds = 101;
static struct pvb_umad umad;
static struct pvb_mcm link_group; /* attributes of the link */
static long notices, subscriptions;

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* Sorts; p: 0 to 1. */
static double at(double *values, long n, double p)
{
	qsort(values, (size_t)n, sizeof(*values), ascending);
	return values[(long)(p * (double)(n - 1) + 0.5)];
}

static struct sockaddr_in group_address(uint32_t number)
{
	struct sockaddr_in address = {.sin_family = AF_INET};

	address.sin_addr.s_addr = htonl(0xef000000u + number);
	return address;
}

/* --- alone */

static uint16_t ask(uint8_t method, uint32_t mask, const struct pvb_mcm *mcm,
		    struct pvb_mcm *found)
{
	uint8_t record[PVB_MCM_SIZE];
	const struct pvb_sa_request request = {.method = method,
					       .attr = PVB_SA_MCMEMBER_RECORD,
					       .comp_mask = mask,
					       .data = record,
					       .len = sizeof(record),
					       .wait_ms = WAIT_MS,
					       .tries = TRIES};
	struct pvb_sa_reply reply;
	uint16_t status;

	pvb_mcm_pack(record, mcm);
	dgrams_need(pvb_sa_wait(&umad, &request, &reply), "subnet administration");
	status = reply.status;
	if (!status)
		dgrams_need(pvb_mcm_unpack(reply.data, reply.len, found),
			    "subnet administration");
	pvb_sa_reply_free(&reply);
	return status;
}

static void map(uint32_t number, struct pvb_mcm *mcm)
{
	const struct pvb_mc_link on = {.profile = PVB_MC_RFC,
				       .pkey = PKEY,
				       .scope = LINK_LOCAL};

	dgrams_need(pvb_mc_map4(&on, group_address(number).sin_addr, mcm->mgid), "map");
	memcpy(mcm->port_gid, umad.port.gid, sizeof(mcm->port_gid));
	mcm->join_state = PVB_MCM_FULL;
}

static void count_notice(void *arg, const struct pvb_notice *notice)
{
	notices++;
}

static void count_subscription(void *arg)
{
	subscriptions++;
}

static void open_alone(void)
{
	const struct pvb_umad_config config = {.notice = count_notice};
	struct pvb_mcm broadcast = {0};

	if (pvb_umad_open(&umad, &config)) {
		fprintf(stderr, "fi_cairn_groups: %s\n", umad.error);
		exit(1);
	}
	map(0x10ffffffu, &broadcast); /* 255.255.255.255 */
	dgrams_need(ask(PVB_SA_GET, PVB_MCM_HAS_MGID, &broadcast, &link_group)
			    ? -FI_EADDRNOTAVAIL
			    : 0,
		    "the broadcast group");
}

static double alone_us(uint32_t number)
{
	const double start = dgrams_now_ns();
	struct pvb_mcm found, mcm = link_group;
	uint16_t status;

	map(number, &mcm);
	mcm.mtu_selector = PVB_SA_EXACTLY;
	status = ask(PVB_SA_GET, PVB_MCM_HAS_MGID, &mcm, &found);
	dgrams_need(status == PVB_SA_NO_RECORDS ? 0 : -EEXIST, "an absent group");
	dgrams_need(ask(PVB_SA_SET, CREATES, &mcm, &found) ? -FI_EIO : 0, "a group");
	return (dgrams_now_ns() - start) / 1e3;
}

static void leave_alone(uint32_t number)
{
	struct pvb_mcm found, mcm = {0};

	map(number, &mcm);
	dgrams_need(ask(PVB_SA_DELETE, JOINS, &mcm, &found) ? -FI_EIO : 0, "leaving");
}

static void until(const long *counter, long value, const char *what)
{
	struct pollfd wait = {.fd = pvb_umad_fd(&umad), .events = POLLIN};
	const uint64_t end = pvb_umad_now() + PATIENCE_MS;

	while (*counter < value) {
		dgrams_need(pvb_umad_now() < end ? 0 : -FI_ETIMEDOUT, what);
		poll(&wait, 1, WAIT_MS);
		dgrams_need(pvb_umad_progress(&umad), what);
	}
}

/* The same by who has subscribed to groups that come and go, and is told of its own: with
 * the report, which it answers. */
static double reported_us(double *times)
{
	const struct pvb_sa_watch_config watch = {.subscribe = true,
						  .wait_ms = WAIT_MS,
						  .tries = TRIES,
						  .again_ms = WAIT_MS,
						  .subscribed = count_subscription};
	double start;
	long i;

	open_alone();
	dgrams_need(pvb_umad_watch(&umad, &watch), "reports");
	until(&subscriptions, 1, "a subscription");
	for (i = 0; i < rounds; i++) {
		start = dgrams_now_ns();
		alone_us(FIRST_ALONE + (uint32_t)i);
		until(&notices, 2 * i + 1, "a report");
		times[i] = (dgrams_now_ns() - start) / 1e3;
		leave_alone(FIRST_ALONE + (uint32_t)i);
		until(&notices, 2 * i + 2, "a report");
	}
	pvb_umad_close(&umad);
	return at(times, rounds, 0.5);
}

/* --- by fi_join */

static struct fid_mc *begin(struct dgrams_end *e, uint32_t number, uint64_t direction)
{
	const struct sockaddr_in address = group_address(number);
	struct fid_mc *mc;

	dgrams_need(fi_join(e->ep, &address, direction, &mc, NULL), "fi_join");
	return mc;
}

static void complete(struct dgrams_end *e)
{
	struct fi_eq_err_entry err = {.err = 0};
	struct fi_eq_entry entry;
	uint32_t event = 0;
	ssize_t ret = fi_eq_sread(e->eq, &event, &entry, sizeof(entry), PATIENCE_MS, 0);

	if (ret == -FI_EAVAIL && fi_eq_readerr(e->eq, &err, 0) > 0) {
		fprintf(stderr, "fi_cairn_groups: status 0x%04x\n",
			(unsigned int)err.prov_errno);
		ret = -err.err;
	}
	dgrams_need(ret, "the group");
	dgrams_need(event == FI_JOIN_COMPLETE ? 0 : -FI_EOTHER, "the group");
}

/* Reports of what was done alone are not what joining costs. */
static void settle(struct dgrams_end *e)
{
	struct fi_eq_entry entry;
	uint32_t event;
	int i;

	for (i = 0; i < SETTLES; i++)
		fi_eq_read(e->eq, &event, &entry, sizeof(entry), 0);
}

static void join(void)
{
	static double alone[MOST_ROUNDS], joined[MOST_ROUNDS], ratio[MOST_ROUNDS];
	const double reported = reported_us(alone);
	struct dgrams_end e;
	struct fid_mc *mc;
	double start;
	long i;

	open_alone();
	dgrams_open(&e, &wish);
	/* The first one waits for the link to be found. */
	mc = begin(&e, FIRST_GROUP, FI_RECV);
	complete(&e);
	dgrams_need(fi_close(&mc->fid), "fi_close");
	for (i = 0; i < rounds; i++) {
		alone[i] = alone_us(FIRST_ALONE + (uint32_t)i);
		leave_alone(FIRST_ALONE + (uint32_t)i);
		settle(&e);
		start = dgrams_now_ns();
		mc = begin(&e, FIRST_GROUP + 1 + (uint32_t)i, FI_RECV);
		complete(&e);
		joined[i] = (dgrams_now_ns() - start) / 1e3;
		dgrams_need(fi_close(&mc->fid), "fi_close");
		ratio[i] = joined[i] / alone[i];
	}
	printf("join rounds=%ld reported_us=%.1f alone_us=%.1f join_us=%.1f ratio=%.3f "
	       "quartiles=%.3f,%.3f\n",
	       rounds, reported, at(alone, rounds, 0.5), at(joined, rounds, 0.5),
	       at(ratio, rounds, 0.5), at(ratio, rounds, 0.25), at(ratio, rounds, 0.75));
	dgrams_close(&e);
	pvb_umad_close(&umad);
}

static void many(void)
{
	struct fid_mc **mcs = calloc((size_t)count, sizeof(struct fid_mc *));
	struct dgrams_end e;
	size_t before;
	double start, took;
	long i;

	dgrams_need(mcs ? 0 : -FI_ENOMEM, "memory");
	dgrams_open(&e, &wish);
	mcs[0] = begin(&e, FIRST_GROUP, FI_SEND | FI_RECV);
	complete(&e);
	before = mallinfo2().uordblks;
	start = dgrams_now_ns();
	for (i = 1; i < count; i++)
		mcs[i] = begin(&e, FIRST_GROUP + (uint32_t)i, FI_SEND | FI_RECV);
	for (i = 1; i < count; i++)
		complete(&e);
	took = dgrams_now_ns() - start;
	printf("many groups=%ld per_s=%.0f bytes=%.0f", count - 1,
	       (double)(count - 1) * 1e9 / took,
	       (double)(mallinfo2().uordblks - before) / (double)(count - 1));
	start = dgrams_now_ns();
	for (i = 0; i < count; i++)
		dgrams_need(fi_close(&mcs[i]->fid), "fi_close");
	printf(" leave_per_s=%.0f\n", (double)count * 1e9 / (dgrams_now_ns() - start));
	dgrams_close(&e);
	free(mcs);
}

/* Sends until one has arrived. Both ends are asked for their events meanwhile. */
static double until_received(struct dgrams_end *from, struct dgrams_end *to,
			     fi_addr_t group)
{
	const double start = dgrams_now_ns();
	struct fi_eq_entry entry;
	uint32_t event;

	do {
		dgrams_need(dgrams_now_ns() - start < PATIENCE_MS * 1e6 ? 0
									: -FI_ETIMEDOUT,
			    "a datagram");
		fi_eq_read(from->eq, &event, &entry, sizeof(entry), 0);
		dgrams_need(fi_send(from->ep, from->memory, wish.size, from->desc, group,
				    from),
			    "fi_send");
		dgrams_await(from->txcq);
	} while (!dgrams_reap(to->rxcq, 1));
	return (dgrams_now_ns() - start) / 1e3;
}

static void appear(void)
{
	static double times[MOST_ROUNDS];
	struct dgrams_end from, to;
	struct fid_mc *sends, *receives;
	long i;

	dgrams_open(&from, &wish);
	dgrams_open(&to, &wish);
	for (i = 0; i < rounds; i++) {
		sends = begin(&from, FIRST_GROUP + (uint32_t)i, FI_SEND);
		complete(&from);
		dgrams_post(&to);
		receives = begin(&to, FIRST_GROUP + (uint32_t)i, FI_RECV);
		complete(&to);
		times[i] = until_received(&from, &to, fi_mc_addr(sends));
		dgrams_need(fi_close(&receives->fid), "fi_close");
		dgrams_need(fi_close(&sends->fid), "fi_close");
	}
	printf("appear rounds=%ld us=%.1f quartiles=%.1f,%.1f\n", rounds,
	       at(times, rounds, 0.5), at(times, rounds, 0.25), at(times, rounds, 0.75));
	dgrams_close(&from);
	dgrams_close(&to);
}

static const struct measurement {
	const char *name;
	void (*run)(void);
} measurements[] = {{"join", join}, {"many", many}, {"appear", appear}};
#define MEASUREMENTS (sizeof(measurements) / sizeof(measurements[0]))

static void usage(FILE *to)
{
	fputs("Usage: FI_PVERBS_LINK=rfc fi_cairn_groups [OPTION...] ADDRESS\n"
	      "What groups of an IPoIB link cost over pverbs. ADDRESS is one of this "
	      "machine's on InfiniBand.\n"
	      "  -o WHAT    join (default): a group that is absent, until "
	      "FI_JOIN_COMPLETE, "
	      "beside the two transactions\n"
	      "             of subnet administration that it takes, in turns; many: "
	      "COUNT "
	      "groups at once; appear: from\n"
	      "             FI_JOIN_COMPLETE of the only receiver to its first datagram "
	      "of "
	      "who had sent before to nobody\n"
	      "  -n COUNT   groups, 2 to 10000 (default 1000)\n"
	      "  -r ROUNDS  1 to 1001 (default 101)\n",
	      to);
}

static long number(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < least || value > most) {
		fprintf(stderr, "fi_cairn_groups: %s is no number from %ld to %ld\n",
			text, least, most);
		exit(2);
	}
	return value;
}

static const struct measurement *measurement(const char *name)
{
	size_t i;

	for (i = 0; i < MEASUREMENTS; i++)
		if (!strcmp(measurements[i].name, name))
			return &measurements[i];
	fprintf(stderr, "fi_cairn_groups: there is no measurement %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	const struct measurement *chosen = &measurements[0];
	int option;

	while ((option = getopt(argc, argv, "o:n:r:h")) != -1) {
		switch (option) {
		case 'o':
			chosen = measurement(optarg);
			break;
		case 'n':
			count = number(optarg, 2, MOST_GROUPS);
			break;
		case 'r':
			rounds = number(optarg, 1, MOST_ROUNDS);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	wish.address = argv[optind];
	chosen->run();
	return 0;
}
