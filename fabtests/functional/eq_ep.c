/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues and the endpoints bound to them: one process connects to itself. */
#include "eq.h"

int fct_eq_close_busy(struct fct *t)
{
	struct fid_pep *pep = NULL;
	struct eq_bed b;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 16));
	FCT_CALL(t, fi_passive_ep(b.fabric, b.info, &pep, NULL));
	FCT_CALL(t, fi_pep_bind(pep, &b.eq->fid, 0));
	FCT_ERR(t, fi_close(&b.eq->fid), -FI_EBUSY);
out:
	if (pep)
		fi_close(&pep->fid);
	return fct_eq_close(&b, ret);
}

struct loop {
	struct eq_bed b;
	struct fid_eq *eq2; /* the connecting side's */
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fi_info *to, *request;
	struct fid_ep *active, *passive;
};

static int open_ep(struct loop *x, struct fi_info *info, struct fid_eq *eq,
		   struct fid_ep **ep)
{
	struct fct *t = x->b.t;
	int ret;

	FCT_CALL(t, fi_endpoint(x->domain, info, ep, NULL));
	FCT_CALL(t, fi_ep_bind(*ep, &eq->fid, 0));
	FCT_CALL(t, fi_ep_bind(*ep, &x->cq->fid, FI_TRANSMIT | FI_RECV));
	FCT_CALL(t, fi_enable(*ep));
out:
	return ret;
}

static int open_loop(struct loop *x, struct fct *t)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA};
	struct fct_setup s = {.caps = FI_MSG};
	uint8_t addr[128];
	size_t len = sizeof(addr);
	char node[64], service[16];
	bool wildcard;
	int ret;

	FCT_DO(fct_eq_open(&x->b, t, FI_WAIT_NONE, 16));
	FCT_CALL(t, fi_eq_open(x->b.fabric, &eq_attr, &x->eq2, NULL));
	FCT_CALL(t, fi_domain(x->b.fabric, x->b.info, &x->domain, NULL));
	FCT_CALL(t, fi_cq_open(x->domain, &cq_attr, &x->cq, NULL));
	FCT_CALL(t, fi_passive_ep(x->b.fabric, x->b.info, &x->pep, NULL));
	FCT_CALL(t, fi_pep_bind(x->pep, &x->b.eq->fid, 0));
	FCT_CALL(t, fi_listen(x->pep));
	FCT_CALL(t, fi_getname(&x->pep->fid, addr, &len));
	FCT_CALL(t, fct_addr_text(addr, node, sizeof(node), service, sizeof(service),
				  &wildcard));
	if (wildcard)
		snprintf(node, sizeof(node), "%s", "127.0.0.1");
	FCT_CALL(t, fct_getinfo(t, &s, node, service, &x->to));
	ret = open_ep(x, x->to, x->eq2, &x->active);
out:
	return ret;
}

static int close_loop(struct loop *x, int ret)
{
	if (x->active)
		fi_close(&x->active->fid);
	if (x->passive)
		fi_close(&x->passive->fid);
	if (x->pep)
		fi_close(&x->pep->fid);
	if (x->cq)
		fi_close(&x->cq->fid);
	if (x->domain)
		fi_close(&x->domain->fid);
	if (x->eq2)
		fi_close(&x->eq2->fid);
	fi_freeinfo(x->to);
	fi_freeinfo(x->request);
	return fct_eq_close(&x->b, ret);
}

/* The next event is there, unread; the other queue and the CQ are driven meanwhile. */
static int await_unread(struct loop *x, struct fid_eq *eq, uint32_t want,
			const char *what)
{
	struct fct *t = x->b.t;
	struct fct_event e = {0};
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, what);
	while ((n = fi_eq_read(eq, &e.event, e.room, sizeof(e.room), FI_PEEK)) ==
	       -FI_EAGAIN) {
		struct fct_event other;

		fi_eq_read(eq == x->eq2 ? x->b.eq : x->eq2, &other.event, other.room,
			   sizeof(other.room), FI_PEEK);
		fi_cq_read(x->cq, NULL, 0);
		FCT_DO(fct_wait_again(&w));
	}
	FCT_CALL(t, n);
	FCT_EQ(t, e.event, want);
	ret = 0;
out:
	return ret;
}

static int nothing_left(struct fct *t, struct fid_eq *eq)
{
	struct fct_event e = {0};
	ssize_t n = fi_eq_read(eq, &e.event, e.room, sizeof(e.room), 0);
	int ret = 0;

	if (n != -FI_EAGAIN)
		FCT_FAIL(t,
			 "after fi_close the queue still has an event of the endpoint "
			 "(fi_eq_read: %zd)",
			 n);
out:
	return ret;
}

int fct_eq_close_ep(struct fct *t)
{
	struct loop x = {.active = NULL};
	struct fct_event e = {0};
	int ret;

	FCT_DO(open_loop(&x, t));
	FCT_CALL(t, fi_connect(x.active, x.to->dest_addr, NULL, 0));
	FCT_DO(await_unread(&x, x.b.eq, FI_CONNREQ, "FI_CONNREQ"));
	FCT_CALL(t, fi_eq_read(x.b.eq, &e.event, e.room, sizeof(e.room), 0));
	x.request = e.cm.info;
	FCT_DO(open_ep(&x, x.request, x.b.eq, &x.passive));
	FCT_CALL(t, fi_accept(x.passive, NULL, 0));
	FCT_DO(await_unread(&x, x.eq2, FI_CONNECTED,
			    "FI_CONNECTED of the connecting side"));
	FCT_DO(await_unread(&x, x.b.eq, FI_CONNECTED,
			    "FI_CONNECTED of the accepting side"));
	FCT_CALL(t, fi_close(&x.active->fid));
	x.active = NULL;
	FCT_DO(nothing_left(t, x.eq2));
	FCT_CALL(t, fi_close(&x.passive->fid));
	x.passive = NULL;
	FCT_DO(nothing_left(t, x.b.eq));
out:
	return close_loop(&x, ret);
}
