/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection of a program: libfabric's objects, opened and closed, and what the event
 * queue says of them. Standard calls only. Functions return 0 or a negative FI_E* code,
 * and leave a sentence in link->why. One thread.
 */
#ifndef LNK_LINK_H
#define LNK_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

/* Bytes of a sentence. */
#define LNK_WHY 320

struct lnk {
	const char *refused;  /* what it means that nobody listens */
	struct fi_info *info; /* owned */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct fid_cq *cq;
	char peer[288]; /* the other end's name for people; empty: a listener's */
	char why[LNK_WHY];
};

uint64_t lnk_now(void);	   /* ns */
uint64_t lnk_now_ms(void); /* ms */

/* Says why in link->why, and returns ret. */
int lnk_fail(struct lnk *link, int ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* WHAT: the text of ret, which is 0 or negative. */
int lnk_failed(struct lnk *link, const char *what, ssize_t ret);

/* Fabric, event queue and domain of link->info; the rest of *link is 0, or set already.
 */
int lnk_open(struct lnk *link);
void lnk_close(struct lnk *link);

/* A listener for link->info, and the port that it has. */
int lnk_listen(struct lnk *link);
int lnk_port(struct lnk *link, unsigned int *port);

/*
 * An endpoint for info and a completion queue, bound and not enabled. sends: flags that
 * the queue is bound with for sends, beside FI_TRANSMIT.
 */
int lnk_endpoint(struct lnk *link, struct fi_info *info, struct fi_cq_attr *attr,
		 uint64_t sends);
void lnk_hang_up(struct lnk *link);

/*
 * The next event of that kind, of this endpoint or a listener; others are skipped, for
 * endpoints that are closed leave some, and a request is rejected. -FI_EAGAIN: none came
 * in time (ms; -1: no limit), and link->why is as it was. -FI_ESHUTDOWN: the endpoint's
 * connection has ended.
 */
int lnk_event(struct lnk *link, uint32_t wanted, int timeout,
	      struct fi_eq_cm_entry *entry);
/* The request's info is freed. */
void lnk_reject(struct lnk *link, struct fi_info *request);
/* Until it is connected; timeout in s. */
int lnk_connect(struct lnk *link, int timeout);
int lnk_accept(struct lnk *link, int timeout);

#endif
