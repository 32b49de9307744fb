/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints. */
#ifndef PVB_OBJECTS_ENDPOINT_H
#define PVB_OBJECTS_ENDPOINT_H

#include "connection.h"
#include "domain.h"
#include "queue.h"

/* What an endpoint keeps of the fi_info that it was made of. */
struct pvb_ep_attr {
	uint64_t caps;
	struct sockaddr *src, *dest; /* ours; NULL: none, or known to the request */
	uint32_t addr_format;
	uint32_t tx_size, rx_size; /* operations */
	uint32_t tclass;	   /* wished for: tx_attr's, or else domain_attr's */
	uint8_t tx_iov_limit, rx_iov_limit;
	uint8_t tx_entries;  /* of the queue that one takes with the endpoint's flags */
	bool rx_shared;	     /* rx_ctx_cnt: FI_SHARED_CONTEXT */
	bool writes_ordered; /* WAW promised */
};

struct pvb_ep {
	struct fid_ep fid;
	struct pvb_domain *domain;
	struct pvb_ep_attr attr;
	struct pvb_eq *eq;
	struct pvb_qp qp;
	struct pvb_conn conn;	 /* of datagrams: CONNECTED from fi_enable on */
	struct pvb_dgram *dgram; /* NULL: a connection */
	struct pvb_mr *replay;	 /* FI_OPT_CAIRN_REPLAY; NULL: receives are anywhere */
	uint64_t tx_flags;	 /* default op_flags of calls that have no flags */
	uint64_t rx_flags;
	bool tx_selective;
	bool rx_selective; /* also of receives of srx */
	bool fence_writes; /* WAR or SAR promised: writes and sends wait for earlier reads
			    */
	bool fence_waits;  /* of its domain */
	bool raw_cm;
	bool listed;	    /* cm/keepalive.c: it is in alive */
	size_t inject_size; /* bytes */
	size_t max_msg;	    /* bytes */
	/* A call without flags and with 1 to so many bytes asks for its completion alone;
	 * 0: none does. */
	size_t fast_max_len;
	/* The same of a datagram's receive, whose GRH besides nobody reads. */
	size_t fast_recv_len;
	/* Of cm/keepalive.c. */
	struct crn_list alive;
	uint32_t seen_sent, seen_received; /* retired when it last looked */
};

static inline struct pvb_ep *pvb_ep_from(struct fid *fid)
{
	return crn_container_of(fid, struct pvb_ep, fid.fid);
}

static inline struct pvb_ep *pvb_ep_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct pvb_ep, fid);
}

static inline struct pvb_ep *pvb_qp_ep(struct pvb_qp *qp)
{
	return crn_container_of(qp, struct pvb_ep, qp);
}

#endif
