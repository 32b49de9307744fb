/* SPDX-License-Identifier: BSD-2-Clause */
/* Joining and leaving: refused, failing, at once, lost and again. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "mcast.h"

#define CAPS (FI_MSG | FI_MULTICAST)
#define LEN 100
#define RACE_THREADS 3
#define RACE_TURNS 60

static int check_refused(struct mcast *m, struct fid_ep *ep)
{
	const struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
					 .sin6_addr.s6_addr = {0xff, 0x02, [15] = 1}};
	const struct sockaddr_in in = {.sin_family = AF_INET};
	union mcast_addr group;
	struct fid_mc *mc;

	mcast_group(m, MCAST_IN, 10, &group);
	FCT_ERR(fi_join(ep, &group, 0, &mc, NULL), -FI_EOPBADSTATE);
	ep = m->ep[0].c.ep;
	FCT_ERR(fi_join(ep, &group, FI_SEND | FI_READ, &mc, NULL), -FI_EBADFLAGS);
	FCT_ERR(fi_join(ep, &in, 0, &mc, NULL), -FI_EINVAL);
	FCT_ERR(fi_join(ep, NULL, 0, &mc, NULL), -FI_EINVAL);
	if (m->ethernet)
		FCT_ERR(fi_join(ep, &in6, 0, &mc, NULL), -FI_ENOSYS);
	return 0;
}

/* What cannot be joined is said at once. */
FCT_CASE(refused, "what cannot be joined")
{
	FCT_AUTO(mcast_end) struct mcast m = {0};
	FCT_AUTO(fct_fid_end) struct fid_ep *ep = NULL;
	union mcast_addr group;
	struct fid_mc *mc;

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 10, &group);
	FCT_CALL(fi_endpoint(m.l.domain, m.l.info, &ep, NULL));
	FCT_ERR(fi_join(ep, &group, 0, &mc, NULL), -FI_ENOEQ);
	FCT_CALL(fi_ep_bind(ep, &m.l.eq->fid, 0));
	return check_refused(&m, ep);
}

/*
 * A group that this side alone joins. Members of a group of an IPoIB link are ports, and
 * both sides have one port: this side loses its membership, and FI_ECONNRESET reports
 * that, when the other side leaves the same group (fi_pverbs(7), IPoIB link).
 */
static void own_group(const struct mcast *m, uint8_t number, union mcast_addr *group)
{
	mcast_group(m, MCAST_IN, (uint8_t)(number + (fct_is_client() ? 100 : 200)),
		    group);
}

static int nothing_to_read(struct mcast *m)
{
	struct fi_eq_err_entry err;
	struct fi_eq_entry entry;
	uint32_t event;

	FCT_EQ(fi_eq_read(m->l.eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
	FCT_EQ(fi_eq_readerr(m->l.eq, &err, 0), -FI_EAGAIN);
	return 0;
}

/* fi_close while it joins, with its event unread, and of the endpoint too early. */
FCT_CASE(closing, "fi_close at any moment")
{
	union mcast_addr group;
	struct fid_mc *other;
	fi_addr_t old;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	int i;

	FCT_DO(mcast_up(&m, CAPS));
	own_group(&m, 11, &group);
	for (i = 0; i < 20; i++) {
		FCT_CALL(fi_join(m.ep[0].c.ep, &group, 0, &m.mc[0], NULL));
		FCT_ERR(fi_close(&m.ep[0].c.ep->fid), -FI_EBUSY);
		FCT_DO(mcast_leave(&m, 0));
		FCT_DO(nothing_to_read(&m));
	}
	FCT_DO(mcast_join(&m, 0, &group, 0, 0));
	/* The membership stands, so its event is there at once. */
	FCT_CALL(fi_join(m.ep[0].c.ep, &group, 0, &other, NULL));
	old = fi_mc_addr(m.mc[0]);
	FCT_CALL(fi_close(&other->fid));
	FCT_DO(nothing_to_read(&m));
	FCT_DO(mcast_leave(&m, 0));
	FCT_ERR(fi_inject(m.ep[0].c.ep, "x", 1, old), -FI_EINVAL);
	FCT_DO(mcast_join(&m, 0, &group, 0, 0));
	FCT_TRUE(fi_mc_addr(m.mc[0]) != old);
	FCT_ERR(fi_inject(m.ep[0].c.ep, "x", 1, old), -FI_EINVAL);
	FCT_CALL(fi_inject(m.ep[0].c.ep, "x", 1, fi_mc_addr(m.mc[0])));
	return 0;
}

struct race {
	struct mcast *m;
	unsigned int self;
	int ret;
};

static void race_group(const struct mcast *m, int n, union mcast_addr *group)
{
	own_group(m, (uint8_t)(12 + n % 2), group);
}

static void *race_thread(void *arg)
{
	static const uint64_t flags[] = {0, FI_SEND, FI_RECV};
	struct race *race = arg;
	union mcast_addr group;
	struct fid_mc *mc;
	int i;

	for (i = 0; i < RACE_TURNS && !race->ret; i++) {
		race_group(race->m, i, &group);
		race->ret = fi_join(race->m->ep[race->self].c.ep, &group,
				    flags[(i + race->self) % 3], &mc, NULL);
		if (!race->ret)
			race->ret = fi_close(&mc->fid);
	}
	return NULL;
}

static atomic_bool race_over;

/* Events of groups that are closed meanwhile do not matter. */
static void *race_reader(void *arg)
{
	struct fid_eq *eq = ((struct mcast *)arg)->l.eq;
	struct fi_eq_entry entry;
	uint32_t event;

	while (!atomic_load(&race_over))
		fi_eq_sread(eq, &event, &entry, sizeof(entry), 1, 0);
	return NULL;
}

/* Threads join and close the same groups while another one reads the events; who joins
 * then is a member. */
FCT_CASE(race, "threads join and close the same groups")
{
	struct race races[RACE_THREADS];
	pthread_t threads[RACE_THREADS], reader;
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	int i;

	FCT_DO(mcast_up(&m, CAPS));
	atomic_store(&race_over, false);
	FCT_TRUE(!pthread_create(&reader, NULL, race_reader, &m));
	for (i = 0; i < RACE_THREADS; i++) {
		races[i] = (struct race){.m = &m, .self = (unsigned int)i % MCAST_EPS};
		FCT_TRUE(!pthread_create(&threads[i], NULL, race_thread, &races[i]));
	}
	for (i = 0; i < RACE_THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&race_over, true);
	pthread_join(reader, NULL);
	for (i = 0; i < RACE_THREADS; i++)
		FCT_EQ(races[i].ret, 0);
	FCT_DO(nothing_to_read(&m));
	race_group(&m, 0, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	FCT_DO(mcast_post_all(&m, 0));
	FCT_DO(mcast_send(&m, 0, fi_mc_addr(m.mc[0]), LEN, 1));
	return mcast_expect_all(&m, 0, LEN, 1);
}

/* SIMVERBS_JOIN_FAIL has these for the next join of each process. */
static const struct {
	const char *rule;
	uint8_t number; /* of 239.254.0.0/24 */
	int now;	/* what fi_join returns */
	int err;	/* else, what the event queue tells */
} failures[] = {
	{"239.254.0.1=ENOSPC*1", 1, 0, FI_ENOSPC},
	{"239.254.0.2=0x0200*1", 2, 0, FI_EINVAL},
	{"239.254.0.3=call:EPERM*1", 3, -FI_EACCES, 0},
	{"239.254.0.4=never*1", 4, 0, FI_ETIMEDOUT},
};

static int check_failure(struct mcast *m, size_t n)
{
	const struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xeffe0000u | failures[n].number),
	};
	struct fct_event e;

	FCT_ERR(fi_join(m->ep[0].c.ep, &in, 0, &m->mc[0], NULL), failures[n].now);
	if (failures[n].now) {
		m->mc[0] = NULL;
		return 0;
	}
	FCT_DO(fct_eq_expect_err(m->l.eq, &m->mc[0]->fid, &e));
	FCT_EQ(e.err.err, failures[n].err);
	FCT_TRUE(e.err.prov_errno < 0);
	FCT_EQ(fi_mc_addr(m->mc[0]), FI_ADDR_NOTAVAIL);
	FCT_ERR(fi_inject(m->ep[0].c.ep, "x", 1, fi_mc_addr(m->mc[0])),
		-FI_EADDRNOTAVAIL);
	FCT_DO(mcast_leave(m, 0));
	/* The next one is as good as any. */
	FCT_CALL(fi_join(m->ep[0].c.ep, &in, 0, &m->mc[0], NULL));
	FCT_DO(fct_eq_expect(m->l.eq, FI_JOIN_COMPLETE, &m->mc[0]->fid, &e));
	return mcast_leave(m, 0);
}

FCT_CASE(failing, "joins that fail (SIMVERBS_JOIN_FAIL)")
{
	const char *rules = getenv("SIMVERBS_JOIN_FAIL");
	FCT_AUTO(mcast_end) struct mcast m = {0};
	size_t i;

	FCT_DO(mcast_up(&m, CAPS));
	for (i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		if (rules && strstr(rules, failures[i].rule))
			FCT_DO(check_failure(&m, i));
	return rules ? 0 : fct_skip("no SIMVERBS_JOIN_FAIL");
}

/* On InfiniBand subnet administration forgets the groups; on RoCE an address changes. */
static int lose(struct mcast *m)
{
	char command[128], *preload;
	int ret;

	snprintf(command, sizeof(command), "simverbs --event %s:1=%s@%d",
		 m->l.info->domain_attr->name,
		 m->ethernet ? "addr_change" : "client_reregister", (int)getpid());
	/* The shell has no use for the device, or for a sanitizer's library. */
	preload = getenv("LD_PRELOAD") ? strdup(getenv("LD_PRELOAD")) : NULL;
	unsetenv("LD_PRELOAD");
	ret = system(command);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	free(preload);
	FCT_EQ(ret, 0);
	return 0;
}

/* An error entry, and it is joined again; meanwhile nothing can be sent, unless subnet
 * administration says where to. */
FCT_CASE(lost, "a membership that is lost is joined again (SIMVERBS_EVENTS)")
{
	const bool on_link = getenv("FI_PVERBS_LINK");
	const char *events = getenv("SIMVERBS_EVENTS");
	union mcast_addr group;
	struct fct_event e;
	fi_addr_t addr;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	unsigned int i;

	FCT_DO(mcast_up(&m, CAPS));
	if (!events)
		FCT_DO(fct_skip("no SIMVERBS_EVENTS"));
	mcast_group(&m, MCAST_IN, 14, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	addr = fi_mc_addr(m.mc[0]);
	FCT_DO(lose(&m));
	for (i = 0; i < MCAST_EPS; i++) {
		FCT_DO(fct_eq_expect_err(m.l.eq, &m.mc[i]->fid, &e));
		FCT_EQ(e.err.err, FI_ECONNRESET);
		if (!on_link)
			FCT_ERR(fi_inject(m.ep[i].c.ep, "x", 1, fi_mc_addr(m.mc[i])),
				-FI_EADDRNOTAVAIL);
	}
	for (i = 0; i < MCAST_EPS; i++)
		FCT_DO(fct_eq_expect(m.l.eq, FI_JOIN_COMPLETE, &m.mc[i]->fid, &e));
	FCT_EQ(fi_mc_addr(m.mc[0]), addr);
	FCT_DO(mcast_post_all(&m, 0));
	FCT_DO(mcast_from_client(&m, addr, LEN, 1));
	return mcast_expect_all(&m, 0, LEN, 1);
}
