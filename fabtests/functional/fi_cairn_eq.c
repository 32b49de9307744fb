/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues, in one process, which may connect to itself. */
#include "fct_fabric.h"

/* A fabric and one EQ that takes fi_eq_write. */
struct eq_bed {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
};

static int bed_open(struct eq_bed *b, enum fi_wait_obj wait, size_t size)
{
	struct fi_eq_attr attr = {.size = size, .flags = FI_WRITE, .wait_obj = wait};
	struct fct_setup s = {.caps = FI_MSG};

	memset(b, 0, sizeof(*b));
	FCT_CALL(fct_getinfo(&s, NULL, "0", &b->info));
	FCT_CALL(fi_fabric(b->info->fabric_attr, &b->fabric, NULL));
	FCT_CALL(fi_eq_open(b->fabric, &attr, &b->eq, b));
	FCT_TRUE(b->eq->fid.context == b);
	return 0;
}

static void bed_end(struct eq_bed *b)
{
	if (b->eq && fi_close(&b->eq->fid))
		fct_fail_at(__FILE__, __LINE__, "fi_close of the EQ");
	if (b->fabric && fi_close(&b->fabric->fid))
		fct_fail_at(__FILE__, __LINE__, "fi_close of the fabric");
	fi_freeinfo(b->info);
}

static int bed_put(struct eq_bed *b, uint64_t data)
{
	struct fi_eq_entry entry = {.fid = &b->eq->fid, .context = b, .data = data};

	FCT_EQ(fi_eq_write(b->eq, FI_NOTIFY, &entry, sizeof(entry), 0), sizeof(entry));
	return 0;
}

static int bed_get(struct eq_bed *b, uint64_t data, uint64_t flags)
{
	struct fi_eq_entry entry = {0};
	uint32_t event = 0;

	FCT_EQ(fi_eq_read(b->eq, &event, &entry, sizeof(entry), flags), sizeof(entry));
	FCT_EQ(event, FI_NOTIFY);
	FCT_TRUE(entry.fid == &b->eq->fid && entry.context == b);
	FCT_EQ(entry.data, data);
	return 0;
}

FCT_CASE(too_small, "a buffer too small is -FI_ETOOSMALL and costs no event")
{
	uint8_t small[sizeof(struct fi_eq_entry) - 1];
	FCT_AUTO(bed_end) struct eq_bed b = {0};
	uint32_t event;

	FCT_DO(bed_open(&b, FI_WAIT_NONE, 16));
	FCT_DO(bed_put(&b, 1));
	FCT_ERR(fi_eq_read(b.eq, &event, small, sizeof(small), 0), -FI_ETOOSMALL);
	return bed_get(&b, 1, 0);
}

FCT_CASE(no_write, "without FI_WRITE fi_eq_write is refused")
{
	FCT_AUTO(bed_end) struct eq_bed b = {0};
	FCT_AUTO(fct_fid_end) struct fid_eq *eq = NULL;
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_eq_entry entry = {0};

	FCT_DO(bed_open(&b, FI_WAIT_NONE, 16));
	FCT_CALL(fi_eq_open(b.fabric, &attr, &eq, NULL));
	FCT_REFUSED(fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0));
	return 0;
}

FCT_CASE(close_busy, "a queue in use cannot be closed")
{
	FCT_AUTO(bed_end) struct eq_bed b = {0};
	FCT_AUTO(fct_fid_end) struct fid_pep *pep = NULL;

	FCT_DO(bed_open(&b, FI_WAIT_NONE, 16));
	FCT_CALL(fi_passive_ep(b.fabric, b.info, &pep, NULL));
	FCT_CALL(fi_pep_bind(pep, &b.eq->fid, 0));
	FCT_ERR(fi_close(&b.eq->fid), -FI_EBUSY);
	return 0;
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
	FCT_CALL(fi_endpoint(x->domain, info, ep, NULL));
	FCT_CALL(fi_ep_bind(*ep, &eq->fid, 0));
	FCT_CALL(fi_ep_bind(*ep, &x->cq->fid, FI_TRANSMIT | FI_RECV));
	FCT_CALL(fi_enable(*ep));
	return 0;
}

static int open_loop(struct loop *x)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA};
	struct fct_setup s = {.caps = FI_MSG};
	uint8_t addr[128];
	size_t len = sizeof(addr);
	char node[64], service[16];
	bool wildcard;

	FCT_DO(bed_open(&x->b, FI_WAIT_NONE, 16));
	FCT_CALL(fi_eq_open(x->b.fabric, &eq_attr, &x->eq2, NULL));
	FCT_CALL(fi_domain(x->b.fabric, x->b.info, &x->domain, NULL));
	FCT_CALL(fi_cq_open(x->domain, &cq_attr, &x->cq, NULL));
	FCT_CALL(fi_passive_ep(x->b.fabric, x->b.info, &x->pep, NULL));
	FCT_CALL(fi_pep_bind(x->pep, &x->b.eq->fid, 0));
	FCT_CALL(fi_listen(x->pep));
	FCT_CALL(fi_getname(&x->pep->fid, addr, &len));
	FCT_CALL(fct_addr_text(addr, node, sizeof(node), service, sizeof(service),
			       &wildcard));
	if (wildcard)
		snprintf(node, sizeof(node), "%s", "127.0.0.1");
	FCT_CALL(fct_getinfo(&s, node, service, &x->to));
	return open_ep(x, x->to, x->eq2, &x->active);
}

static void close_loop_end(struct loop *x)
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
	bed_end(&x->b);
}

/* The next event is there, unread; the other queue and the CQ are driven meanwhile. */
static int await_unread(struct loop *x, struct fid_eq *eq, uint32_t want,
			const char *what)
{
	struct fct_event e = {0};
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, what);
	while ((n = fi_eq_read(eq, &e.event, e.room, sizeof(e.room), FI_PEEK)) ==
	       -FI_EAGAIN) {
		struct fct_event other;

		fi_eq_read(eq == x->eq2 ? x->b.eq : x->eq2, &other.event, other.room,
			   sizeof(other.room), FI_PEEK);
		fi_cq_read(x->cq, NULL, 0);
		FCT_DO(fct_wait_again(&w));
	}
	FCT_CALL(n);
	FCT_EQ(e.event, want);
	return 0;
}

static int nothing_left(struct fid_eq *eq)
{
	struct fct_event e = {0};
	ssize_t n = fi_eq_read(eq, &e.event, e.room, sizeof(e.room), 0);

	if (n != -FI_EAGAIN)
		FCT_FAIL("after fi_close the queue still has an event of the endpoint "
			 "(fi_eq_read: %zd)",
			 n);
	return 0;
}

FCT_CASE(close_ep, "closing an endpoint removes its events")
{
	FCT_AUTO(close_loop_end) struct loop x = {.active = NULL};
	struct fct_event e = {0};

	FCT_DO(open_loop(&x));
	FCT_CALL(fi_connect(x.active, x.to->dest_addr, NULL, 0));
	FCT_DO(await_unread(&x, x.b.eq, FI_CONNREQ, "FI_CONNREQ"));
	FCT_CALL(fi_eq_read(x.b.eq, &e.event, e.room, sizeof(e.room), 0));
	x.request = e.cm.info;
	FCT_DO(open_ep(&x, x.request, x.b.eq, &x.passive));
	FCT_CALL(fi_accept(x.passive, NULL, 0));
	FCT_DO(await_unread(&x, x.eq2, FI_CONNECTED,
			    "FI_CONNECTED of the connecting side"));
	FCT_DO(await_unread(&x, x.b.eq, FI_CONNECTED,
			    "FI_CONNECTED of the accepting side"));
	FCT_CALL(fi_close(&x.active->fid));
	x.active = NULL;
	FCT_DO(nothing_left(x.eq2));
	FCT_CALL(fi_close(&x.passive->fid));
	x.passive = NULL;
	return nothing_left(x.b.eq);
}

FCT_PROGRAM(.name = "fi_cairn_eq", .what = "Event queues.", .single = true)
