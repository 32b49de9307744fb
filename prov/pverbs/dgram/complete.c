/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions of receives: their length is without the GRH (fi_cq(3): but with a prefix),
 * and FI_SOURCE says where they came from. */
#include <string.h>
#include "cq/cq.h"
#include "qp/qp.h"
#include "dgram.h"
#include "internal.h"

/* Offsets in a GRH: IB specification 1.7, section 8.3. */
#define GRH_SGID 8
/* RoCE v2 over IPv4 has an IPv4 header in the last 20 of the 40 bytes. */
#define GRH_IPV4 20
#define GRH_IPV4_SOURCE 32

/* RFC 791: the sum of a header and its checksum is all ones. */
static bool dgram_ipv4_sum(const uint8_t *header)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < PVB_GRH_SIZE - GRH_IPV4; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/*
 * A device need not write the bytes before an IPv4 header: an older header may be there,
 * or what a program has in its prefix. If they look like IPv6 the checksum decides.
 */
static bool dgram_is_ipv4(const uint8_t *grh)
{
	return grh[GRH_IPV4] >> 4 == 4 &&
	       (grh[0] >> 4 != 6 || dgram_ipv4_sum(&grh[GRH_IPV4]));
}

/* On Ethernet: the GID from the network header. */
static void dgram_gid_of_grh(const uint8_t *grh, uint8_t *gid)
{
	if (!dgram_is_ipv4(grh)) {
		memcpy(gid, &grh[GRH_SGID], 16);
		return;
	}
	memset(gid, 0, 10);
	memset(&gid[10], 0xff, 2);
	memcpy(&gid[12], &grh[GRH_IPV4_SOURCE], 4);
}

/* What the sender's address is, as far as a datagram tells. */
static void dgram_sender(const struct pvb_ep *ep, const struct pvb_slot *slot,
			 const struct ibv_wc *wc, struct pvb_ud_addr *from)
{
	const struct pvb_ud_path *path = &ep->domain->ud->path;
	const uint8_t *grh = pvb_grh_of(slot->wq, slot)->at;

	memset(from, 0, sizeof(*from));
	from->qpn = wc->src_qp;
	from->pkey = path->addr.pkey;
	/* Not told; most likely that of its peer. */
	from->qkey = ep->dgram->addr.qkey;
	if (path->ethernet) {
		dgram_gid_of_grh(grh, from->gid);
		return;
	}
	from->lid = wc->slid;
	from->sl = wc->sl;
	if (wc->wc_flags & IBV_WC_GRH)
		memcpy(from->gid, &grh[GRH_SGID], sizeof(from->gid));
}

/* An error whether successes are reported or not. len, room: with the prefix, if there is
 * one. */
static void dgram_truncated(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
			    struct pvb_comp *comp, size_t len, size_t room)
{
	pvb_cq_convert_truncated(wc, wq, comp);
	comp->len = room;
	comp->olen = len - room;
	pvb_cq_stash(cq, comp);
}

bool pvb_dgram_received(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
			struct pvb_comp *comp)
{
	const struct pvb_slot *slot = (const struct pvb_slot *)(uintptr_t)wc->wr_id;
	const struct pvb_ep *ep = pvb_qp_ep(wq->qp);
	const struct pvb_dgram *dgram = ep->dgram;
	const size_t before = ep->domain->ud->prefix ? PVB_GRH_SIZE : 0;
	struct pvb_ud_addr from;
	uint64_t source = PVB_SOURCE_NONE;
	size_t len, room;
	bool report;

	crn_lock_assert_held(&cq->lock);
	if (crn_unlikely(wc->status != IBV_WC_SUCCESS))
		return pvb_cq_convert_received(wc, wq, comp);
	len = wc->byte_len > PVB_GRH_SIZE ? before + wc->byte_len - PVB_GRH_SIZE : before;
	room = before + slot->room;
	if (crn_unlikely(len > room)) {
		dgram_truncated(cq, wq, wc, comp, len, room);
		return false;
	}
	/* Once the slot is retired another receive may use its GRH. */
	if (dgram->source) {
		dgram_sender(ep, slot, wc, &from);
		source = crn_av_find(&dgram->av->av, &from) + 1;
	}
	report = pvb_cq_convert_received(wc, wq, comp);
	comp->len = len;
	comp->source = source;
	if (crn_likely(!report || source || !dgram->source_err))
		return report;
	pvb_cq_stash_unknown(cq, comp, &from);
	return false;
}
