/* SPDX-License-Identifier: BSD-2-Clause */
/* The device, parameters and endpoints of world_port.h. */
#include <arpa/inet.h>
#include <rdma/fi_ext_cairn.h>
#include "../fake_queue.h"
#include "objects/objects.h"
#include "world_port.h"

#define READS 100

/* Of the test that runs. */
static struct port_opts chosen;

static void choose(void)
{
	pvb_params.link = chosen.draft ? PVB_LINK_DRAFT : PVB_LINK_RFC;
	pvb_params.link_copy = chosen.copy;
	pvb_params.link_mtu = chosen.mtu;
	pvb_params.qkey = chosen.qkey;
	pvb_params.keepalive = 0;
	if (!chosen.kernel)
		fake_cm_reset();
	if (chosen.timeout)
		pvb_params.join_timeout = chosen.timeout;
	if (chosen.large)
		fake_devices[0].port[0].active_mtu = IBV_MTU_2048;
}

bool port_open_with(struct port_world *w, const struct port_opts *with)
{
	const struct dgram_opts opts = {.ib = true,
					.caps = FI_MSG | FI_MULTICAST,
					.arrange = choose};

	port_close(w);
	chosen = *with;
	fake_sa_open(chosen.link_qkey ? (uint32_t)chosen.link_qkey : PORT_QKEY);
	fake_sa.silent = chosen.silent;
	if (chosen.absent)
		fake_sa_none();
	fake.reports_used = chosen.reports_used;
	if (!mcast_open_with(&w->m, &opts))
		return false;
	w->qp = qp_of(w->m.ep[0]);
	return true;
}

bool port_open(struct port_world *w)
{
	return port_open_with(w, &(struct port_opts){0});
}

void port_start(struct port_world *w)
{
	CT_ASSERT_TRUE(port_open(w));
}

void port_close(struct port_world *w)
{
	mcast_close(&w->m);
	CT_EXPECT_EQ(fake.opened, fake.closed);
	fake_sa_none();
}

struct fid_mc *port_join_text(struct port_world *w, int i, const char *ip, uint64_t flags)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};
	const void *addr = &in;
	struct fid_mc *mc = NULL;

	if (!inet_pton(AF_INET, ip, &in.sin_addr)) {
		CT_EXPECT_EQ(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
		addr = &in6;
	}
	CT_EXPECT_EQ(fi_join(w->m.ep[i], addr, flags, &mc, &w->m), 0);
	return mc;
}

void port_settle(struct port_world *w)
{
	struct fi_eq_entry entry;
	uint32_t event;
	int i;

	for (i = 0; i < READS; i++)
		fi_eq_read(w->m.eq, &event, &entry, sizeof(entry), FI_PEEK);
}

void port_settled_joined(struct port_world *w, struct fid_mc *mc)
{
	port_settle(w);
	expect_joined(&w->m, mc);
	expect_no_event(w->m.eq);
}

struct fid_mc *port_join(struct port_world *w, int i, uint64_t flags)
{
	struct fid_mc *mc = port_join_text(w, i, PORT_GROUP, flags);

	if (mc)
		port_settled_joined(w, mc);
	return mc;
}

uint16_t port_sent_to(struct port_world *w, struct fid_mc *mc)
{
	const unsigned int before = w->qp->sq.posted;

	CT_EXPECT_EQ(fi_inject(w->m.ep[0], "x", 1, fi_mc_addr(mc)), 0);
	fake_complete_all(w->qp);
	return w->qp->sq.posted > before ? fake_newest(&w->qp->sq)->ah->attr.dlid : 0;
}

uint64_t port_dropped(struct port_world *w)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats stats = {0};

	CT_EXPECT_EQ(fi_open_ops(&w->m.ep[0]->fid, FI_CAIRN_STATS, 0, (void **)&ops,
				 NULL),
		     0);
	CT_EXPECT_EQ(ops->read(w->m.ep[0], &stats, sizeof(stats)), 0);
	return stats.mc_dropped;
}
