/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection in rpcrdma's rpc mode: the objects of libfabric, opened and closed.
 * Functions return 0 or a negative FI_E* code, and leave a sentence in link->why. One
 * thread.
 */
#ifndef NFC_LINK_H
#define NFC_LINK_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "message.h"

struct nfc_where {
	const char *provider; /* a stack that ends with rpcrdma */
	const char *host, *port;
	int timeout;	/* s, of each wait */
	unsigned slots; /* requests outstanding that are wanted */
};

struct nfc_link {
	const struct nfc_where *where;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	size_t inline_bytes; /* of the longest message that comes inline */
	char why[NFC_WHY];
};

uint64_t nfc_now(void); /* ms */

/* Says why in link->why, and returns ret. */
int nfc_fail(struct nfc_link *link, int ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* WHAT: the text of ret, which is 0 or negative. */
int nfc_failed(struct nfc_link *link, const char *what, ssize_t ret);

/* Fabric, domain and event queue. */
int nfc_link_open(struct nfc_link *link, const struct nfc_where *where);
void nfc_link_close(struct nfc_link *link);

/* An endpoint with its queue, on which receives may be posted; and its connection. */
int nfc_link_endpoint(struct nfc_link *link);
int nfc_link_connect(struct nfc_link *link);
void nfc_link_hang_up(struct nfc_link *link);

#endif
