/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is attached to a multicast group: senders look into the tables of all processes. */
#include <string.h>
#include "engine.h"
#include "subnet/subnet.h"

bool svb_gid_is_group(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return gid->raw[0] == 0xff ||
	       (!memcmp(gid->raw, mapped, sizeof(mapped)) && gid->raw[12] >> 4 == 0xe);
}

bool svb_mcast_is(const struct svb_mcast_sh *at, const union ibv_gid *gid)
{
	return __atomic_load_n(&at->qpn, __ATOMIC_ACQUIRE) &&
	       svb_get(at->gid.global.subnet_prefix) == gid->global.subnet_prefix &&
	       svb_get(at->gid.global.interface_id) == gid->global.interface_id;
}

/* InfiniBand: switches carry a packet to the ports that joined (IBA 10.5.2); ports:
 * those. */
static bool svb_mcast_reaches(uint32_t ports, const struct svb_qp_sh *qp)
{
	const uint32_t port = svb_get(qp->port);

	return svb_self.settings.link != SVB_LINK_IB ||
	       (port < SVB_MAX_SUBNET_PORTS && ports & 1u << port);
}

static void svb_mcast_of(struct svb_seg *seg, const union ibv_gid *gid, uint32_t ports,
			 void (*fn)(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg),
			 void *arg)
{
	const uint32_t end = __atomic_load_n(&seg->mcast_end, __ATOMIC_ACQUIRE);
	struct svb_mcast_sh *at;
	struct svb_qp_sh *qp;
	uint32_t i, qpn;

	for (i = 0; i < end && (at = svb_seg_mcast_try(seg, i)); i++) {
		qpn = svb_get(at->qpn);
		if (!qpn || !svb_mcast_is(at, gid) || svb_get(at->lost))
			continue;
		qp = svb_seg_qp_try(seg, SVB_QP_SLOT(qpn));
		if (qp && qp->qpn == qpn && svb_mcast_reaches(ports, qp))
			fn(seg, qp, arg);
	}
}

void svb_mcast_each(const union ibv_gid *gid, uint32_t lid,
		    void (*fn)(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg),
		    void *arg)
{
	const uint32_t ports = svb_subnet_receivers(gid, lid);
	struct svb_seg *seg;
	uint32_t index;

	for (index = 1; index < SVB_PROC_MAX; index++) {
		if (!svb_self.registry->entry[index].pid)
			continue;
		seg = svb_seg_of(index);
		if (seg)
			svb_mcast_of(seg, gid, ports, fn, arg);
	}
}
