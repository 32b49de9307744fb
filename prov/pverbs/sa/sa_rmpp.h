/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver of a table that comes in several segments (RMPP, InfiniBand specification
 * 13.6): a state machine without I/O and clock. The caller gives it the datagrams of one
 * transaction, and sends what it wants sent.
 */
#ifndef PVB_SA_SA_RMPP_H
#define PVB_SA_SA_RMPP_H

#include "sa_mad.h"

struct pvb_rmpp {
	uint8_t *data;	      /* the records, ours */
	size_t len;	      /* bytes received in order */
	size_t room;	      /* bytes allocated */
	size_t limit;	      /* most bytes of a table */
	uint32_t segment;     /* last one received in order, 0: none */
	uint32_t window_last; /* last one that the sender may send; then it waits */
};

/* limit: most bytes of a table. */
void pvb_rmpp_init(struct pvb_rmpp *rx, size_t limit);
void pvb_rmpp_fini(struct pvb_rmpp *rx);

/*
 * A datagram of type DATA; data has PVB_SA_DATA_SIZE bytes. *ack: it is to be answered
 * with pvb_rmpp_ack. Segments that are there already or come too early change nothing.
 * 1: the table is complete; 0: more is to come; -FI_EMSGSIZE: larger than the limit;
 * -FI_EINVAL: the length of the last segment is none; -FI_ENOMEM.
 */
int pvb_rmpp_segment(struct pvb_rmpp *rx, const struct pvb_sa_hdr *hdr, const void *data,
		     bool *ack);

/* The ACK, of PVB_MAD_SIZE bytes; hdr: of the segment that it answers. */
void pvb_rmpp_ack(const struct pvb_rmpp *rx, const struct pvb_sa_hdr *hdr, uint8_t *mad);
/* A STOP or an ABORT, after an error of pvb_rmpp_segment: else the sender repeats what
 * nobody takes. */
void pvb_rmpp_give_up(int err, const struct pvb_sa_hdr *hdr, uint8_t *mad);

#endif
