/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "sa_rmpp.h"

/* Segments that a sender may have on the way. */
#define WINDOW 16
/* The SA header is part of the payload of each segment (specification 15.2.1.1). */
#define SA_HDR_SIZE 20
/* Of RMPPStatus (13.6.2.1): no room for more; the length of the last segment is none. */
#define STOP_RESOURCES 1
#define ABORT_LENGTH 119

void pvb_rmpp_init(struct pvb_rmpp *rx, size_t limit)
{
	/* The first segment is always sent alone (13.6.6.2). */
	*rx = (struct pvb_rmpp){.limit = limit, .window_last = 1};
}

void pvb_rmpp_fini(struct pvb_rmpp *rx)
{
	free(rx->data);
	rx->data = NULL;
}

static int append(struct pvb_rmpp *rx, const void *data, size_t len)
{
	const size_t need = rx->len + len;
	size_t room = rx->room ? rx->room : PVB_SA_DATA_SIZE;
	uint8_t *bigger;

	if (need > rx->limit)
		return -FI_EMSGSIZE;
	while (room < need)
		room *= 2;
	if (room != rx->room) {
		bigger = realloc(rx->data, room);
		if (!bigger)
			return -FI_ENOMEM;
		rx->data = bigger;
		rx->room = room;
	}
	memcpy(rx->data + rx->len, data, len);
	rx->len = need;
	return 0;
}

int pvb_rmpp_segment(struct pvb_rmpp *rx, const struct pvb_sa_hdr *hdr, const void *data,
		     bool *ack)
{
	const bool last = hdr->rmpp_flags & PVB_RMPP_LAST;
	size_t len = PVB_SA_DATA_SIZE;
	int ret;

	/* One that is there already: the sender may not have got the ACK. */
	*ack = rx->segment > 0;
	if (hdr->segment != rx->segment + 1)
		return 0;
	if (last) {
		if (hdr->length < SA_HDR_SIZE ||
		    hdr->length > SA_HDR_SIZE + PVB_SA_DATA_SIZE)
			return -FI_EINVAL;
		len = hdr->length - SA_HDR_SIZE;
	}
	ret = append(rx, data, len);
	if (ret)
		return ret;
	rx->segment++;
	*ack = last || rx->segment >= rx->window_last;
	if (rx->segment >= rx->window_last)
		rx->window_last = rx->segment + WINDOW;
	return last;
}

/* What goes back to the sender of a segment. */
static struct pvb_sa_hdr reply_to(const struct pvb_sa_hdr *hdr, enum pvb_rmpp_type type)
{
	struct pvb_sa_hdr reply = *hdr;

	reply.method ^= PVB_SA_RESPONSE;
	reply.status = 0;
	reply.rmpp_type = (uint8_t)type;
	reply.rmpp_flags = PVB_RMPP_ACTIVE;
	reply.rmpp_status = 0;
	reply.segment = 0;
	reply.length = 0;
	return reply;
}

void pvb_rmpp_ack(const struct pvb_rmpp *rx, const struct pvb_sa_hdr *hdr, uint8_t *mad)
{
	struct pvb_sa_hdr ack = reply_to(hdr, PVB_RMPP_ACK);

	ack.segment = rx->segment;
	ack.length = rx->window_last;
	pvb_sa_pack(mad, &ack);
}

void pvb_rmpp_give_up(int err, const struct pvb_sa_hdr *hdr, uint8_t *mad)
{
	struct pvb_sa_hdr end = reply_to(hdr, PVB_RMPP_ABORT);

	end.rmpp_status = ABORT_LENGTH;
	if (err != -FI_EINVAL) {
		end.rmpp_type = PVB_RMPP_STOP;
		end.rmpp_status = STOP_RESOURCES;
	}
	pvb_sa_pack(mad, &end);
}
