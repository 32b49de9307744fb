/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call that has flags, with every bit alone: what is not said here to be taken is
 * refused, with the code that fi_pverbs(7) says.
 */
#include <rdma/fi_atomic.h>
#include "world_cm.h"
#include "xfer/xfer.h"

#define BIT(n) (1ULL << (n))

struct flagged {
	struct world w;
	struct fid_ep *ep, *srx; /* ep: not enabled */
	struct fid_cntr *cntr;
	uint8_t buf[64];
};

static void flagged_start(struct flagged *f)
{
	struct fi_info *info;

	world_start(&f->w);
	CT_ASSERT_FALSE(ct_failed());
	info = fi_dupinfo(f->w.info);
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	CT_EXPECT_EQ(fi_passive_ep(f->w.fabric, f->w.info, &f->w.pep, NULL), 0);
	CT_EXPECT_EQ(fi_endpoint(f->w.domain, info, &f->ep, NULL), 0);
	CT_EXPECT_EQ(fi_srx_context(f->w.domain, info->rx_attr, &f->srx, NULL), 0);
	CT_EXPECT_EQ(fi_cntr_open(f->w.domain, NULL, &f->cntr, NULL), 0);
	fi_freeinfo(info);
}

static void flagged_end(struct flagged *f)
{
	close_object(f->ep);
	close_object(f->srx);
	close_object(f->cntr);
	world_close(&f->w);
}

CT_FIXTURE(flags, struct flagged, flagged_start, flagged_end);

/* The error of a call that opens object, or that of closing what it opened. */
#define OPENED(type, call)                                \
	({                                                \
		type *object = NULL;                      \
		int opened = call;                        \
                                                          \
		opened ? opened : fi_close(&object->fid); \
	})

static int call_getinfo(struct flagged *f, uint64_t flags)
{
	struct fi_info *info = NULL;
	int ret = pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, flags, NULL, &info);

	fi_freeinfo(info);
	return ret;
}

static int call_domain2(struct flagged *f, uint64_t flags)
{
	return OPENED(struct fid_domain, f->w.fabric->ops->domain2(f->w.fabric, f->w.info,
								   &object, flags, NULL));
}

static int call_endpoint2(struct flagged *f, uint64_t flags)
{
	return OPENED(struct fid_ep, f->w.domain->ops->endpoint2(f->w.domain, f->w.info,
								 &object, flags, NULL));
}

static int call_mr_reg(struct flagged *f, uint64_t flags)
{
	return OPENED(struct fid_mr, fi_mr_reg(f->w.domain, f->buf, sizeof(f->buf),
					       FI_SEND, 0, 0, flags, &object, NULL));
}

static int call_mr_regv(struct flagged *f, uint64_t flags)
{
	const struct iovec iov = {f->buf, sizeof(f->buf)};

	return OPENED(struct fid_mr, fi_mr_regv(f->w.domain, &iov, 1, FI_SEND, 0, 0,
						flags, &object, NULL));
}

static int call_mr_regattr(struct flagged *f, uint64_t flags)
{
	const struct iovec iov = {f->buf, sizeof(f->buf)};
	const struct fi_mr_attr attr = {.mr_iov = &iov,
					.iov_count = 1,
					.access = FI_SEND};

	return OPENED(struct fid_mr, fi_mr_regattr(f->w.domain, &attr, flags, &object));
}

static int call_cq_open(struct flagged *f, uint64_t flags)
{
	struct fi_cq_attr attr = {.flags = flags};

	return OPENED(struct fid_cq, fi_cq_open(f->w.domain, &attr, &object, NULL));
}

static int call_cntr_open(struct flagged *f, uint64_t flags)
{
	struct fi_cntr_attr attr = {.flags = flags};

	return OPENED(struct fid_cntr, fi_cntr_open(f->w.domain, &attr, &object, NULL));
}

static int call_eq_open(struct flagged *f, uint64_t flags)
{
	struct fi_eq_attr attr = {.flags = flags};

	return OPENED(struct fid_eq, fi_eq_open(f->w.fabric, &attr, &object, NULL));
}

/* Each of these on an endpoint of its own, for what is bound stays. */
static int bind_one(struct flagged *f, struct fid *fid, uint64_t flags)
{
	struct fid_ep *ep = NULL;
	int ret = fi_endpoint(f->w.domain, f->w.info, &ep, NULL);

	CT_EXPECT_EQ(ret, 0);
	ret = fi_ep_bind(ep, fid, flags);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	return ret;
}

/* A direction is always there: without one, the call means nothing. */
static int call_bind_cq(struct flagged *f, uint64_t flags)
{
	return bind_one(f, &f->w.cq->fid, flags | FI_RECV);
}

static int call_bind_cntr(struct flagged *f, uint64_t flags)
{
	return bind_one(f, &f->cntr->fid, flags);
}

static int call_bind_eq(struct flagged *f, uint64_t flags)
{
	return bind_one(f, &f->w.eq->fid, flags);
}

static int call_bind_srx(struct flagged *f, uint64_t flags)
{
	return bind_one(f, &f->srx->fid, flags);
}

static int call_pep_bind(struct flagged *f, uint64_t flags)
{
	struct fid_pep *pep = NULL;
	int ret = fi_passive_ep(f->w.fabric, f->w.info, &pep, NULL);

	CT_EXPECT_EQ(ret, 0);
	ret = fi_pep_bind(pep, &f->w.eq->fid, flags);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	return ret;
}

static int call_srx_bind(struct flagged *f, uint64_t flags)
{
	struct fid_ep *srx = NULL;
	int ret = fi_srx_context(f->w.domain, f->w.info->rx_attr, &srx, NULL);

	CT_EXPECT_EQ(ret, 0);
	ret = fi_ep_bind(srx, &f->w.cq->fid, flags);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	return ret;
}

/* Accepted: there is no connection. */
static int call_shutdown(struct flagged *f, uint64_t flags)
{
	int ret = fi_shutdown(f->w.ep, flags);

	return ret == -FI_ENOTCONN ? 0 : ret;
}

static int call_query_atomic(struct flagged *f, uint64_t flags)
{
	struct fi_atomic_attr attr;
	int ret;

	cq_of(f->w.cq)->domain->atomics = true;
	ret = fi_query_atomic(f->w.domain, FI_INT64,
			      flags & FI_COMPARE_ATOMIC ? FI_CSWAP : FI_SUM, &attr,
			      flags);
	cq_of(f->w.cq)->domain->atomics = false;
	return ret;
}

/* Nothing to read: accepted. */
static int nothing(ssize_t ret)
{
	return ret == -FI_EAGAIN ? 0 : (int)ret;
}

static int call_eq_read(struct flagged *f, uint64_t flags)
{
	uint64_t buf[64];
	uint32_t event;

	return nothing(fi_eq_read(f->w.eq, &event, buf, sizeof(buf), flags));
}

static int call_eq_readerr(struct flagged *f, uint64_t flags)
{
	struct fi_eq_err_entry entry = {0};

	return nothing(fi_eq_readerr(f->w.eq, &entry, flags));
}

static int call_eq_write(struct flagged *f, uint64_t flags)
{
	struct fi_eq_attr attr = {.flags = FI_WRITE};
	struct fi_eq_entry entry = {0};
	struct fid_eq *eq = NULL;
	ssize_t ret;

	CT_EXPECT_EQ(fi_eq_open(f->w.fabric, &attr, &eq, NULL), 0);
	ret = fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), flags);
	CT_EXPECT_EQ(fi_close(&eq->fid), 0);
	return ret > 0 ? 0 : (int)ret;
}

/* Of what posts: a refusal of the flags comes before that of the missing connection. */
static int posted(ssize_t ret)
{
	return ret == -FI_ENOTCONN ? 0 : (int)ret;
}

static int call_sendmsg(struct flagged *f, uint64_t flags)
{
	const struct fi_msg msg = {0};

	return posted(fi_sendmsg(f->w.ep, &msg, flags));
}

static int call_recvmsg(struct flagged *f, uint64_t flags)
{
	const struct fi_msg msg = {0};
	ssize_t ret = fi_recvmsg(f->w.ep, &msg, flags);

	return ret == -FI_EAGAIN ? 0 : (int)ret;
}

static const struct fi_rma_iov range;
static const struct fi_msg_rma rma_msg = {.rma_iov = &range, .rma_iov_count = 1};

static int call_readmsg(struct flagged *f, uint64_t flags)
{
	return posted(fi_readmsg(f->w.ep, &rma_msg, flags));
}

static int call_writemsg(struct flagged *f, uint64_t flags)
{
	return posted(fi_writemsg(f->w.ep, &rma_msg, flags));
}

/* The world's domain was opened without. */
static void with_atomics(struct flagged *f, bool on)
{
	static struct ibv_mr sink;
	struct pvb_domain *domain = cq_of(f->w.cq)->domain;

	domain->atomics = on;
	domain->sink_mr = on ? &sink : NULL;
}

static struct fi_msg_atomic atomic_msg(const struct fi_ioc *operand,
				       const struct fi_rma_ioc *target, enum fi_op op)
{
	return (struct fi_msg_atomic){.msg_iov = operand,
				      .iov_count = 1,
				      .rma_iov = target,
				      .rma_iov_count = 1,
				      .datatype = FI_INT64,
				      .op = op};
}

static int call_atomicmsg(struct flagged *f, uint64_t flags)
{
	const struct fi_rma_ioc target = {.count = 1};
	const struct fi_ioc operand = {f->buf, 1};
	const struct fi_msg_atomic msg = atomic_msg(&operand, &target, FI_SUM);
	ssize_t ret;

	with_atomics(f, true);
	ret = pvb_atomic_ops.writemsg(f->w.ep, &msg, flags);
	with_atomics(f, false);
	return posted(ret);
}

static int call_fetchmsg(struct flagged *f, uint64_t flags)
{
	const struct fi_rma_ioc target = {.count = 1};
	const struct fi_ioc operand = {f->buf, 1};
	const struct fi_msg_atomic msg = atomic_msg(&operand, &target, FI_SUM);
	struct fi_ioc result = {f->buf + 8, 1};
	ssize_t ret;

	with_atomics(f, true);
	ret = pvb_atomic_ops.readwritemsg(f->w.ep, &msg, &result, NULL, 1, flags);
	with_atomics(f, false);
	return posted(ret);
}

static int call_comparemsg(struct flagged *f, uint64_t flags)
{
	const struct fi_rma_ioc target = {.count = 1};
	const struct fi_ioc operand = {f->buf, 1}, compare = {f->buf + 8, 1};
	const struct fi_msg_atomic msg = atomic_msg(&operand, &target, FI_CSWAP);
	struct fi_ioc result = {f->buf + 16, 1};
	ssize_t ret;

	with_atomics(f, true);
	ret = pvb_atomic_ops.compwritemsg(f->w.ep, &msg, &compare, NULL, 1, &result, NULL,
					  1, flags);
	with_atomics(f, false);
	return posted(ret);
}

#define TX_FLAGS                                                                 \
	(FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_MORE | FI_FENCE)
/* Of a peer that can: the connection is asked for first. */
#define TX_PEER (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE)

static const struct call {
	const char *name;
	int (*call)(struct flagged *f, uint64_t flags);
	uint64_t taken;
	int refusal;
	uint64_t other; /* refused otherwise */
	int other_refusal;
} calls[] = {
	{"fi_getinfo", call_getinfo,
	 FI_NUMERICHOST | FI_SOURCE | FI_PROV_ATTR_ONLY | BIT(58) | BIT(59) | BIT(60) |
		 BIT(61),
	 -FI_EBADFLAGS, 0, 0},
	{"fi_domain2", call_domain2, 0, -FI_EOPNOTSUPP, 0, 0},
	{"fi_endpoint2", call_endpoint2, 0, -FI_EOPNOTSUPP, 0, 0},
	{"fi_mr_reg", call_mr_reg, BIT(41) | BIT(60) | BIT(61) | BIT(62) | BIT(63),
	 -FI_EBADFLAGS, FI_RMA_PMEM | BIT(40), -FI_EOPNOTSUPP},
	{"fi_mr_regv", call_mr_regv, BIT(41) | BIT(60) | BIT(61) | BIT(62) | BIT(63),
	 -FI_EBADFLAGS, FI_RMA_PMEM | BIT(40), -FI_EOPNOTSUPP},
	{"fi_mr_regattr", call_mr_regattr,
	 BIT(41) | BIT(60) | BIT(61) | BIT(62) | BIT(63), -FI_EBADFLAGS,
	 FI_RMA_PMEM | BIT(40), -FI_EOPNOTSUPP},
	{"fi_cq_open", call_cq_open, FI_AFFINITY, -FI_EINVAL, 0, 0},
	{"fi_cntr_open", call_cntr_open, 0, -FI_EINVAL, 0, 0},
	{"fi_eq_open", call_eq_open, FI_WRITE | FI_AFFINITY, -FI_EINVAL, 0, 0},
	{"fi_ep_bind, queue", call_bind_cq,
	 FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION, -FI_EBADFLAGS, 0, 0},
	{"fi_ep_bind, counter", call_bind_cntr, FI_SEND | FI_RECV | FI_READ | FI_WRITE,
	 -FI_EBADFLAGS, FI_REMOTE_READ | FI_REMOTE_WRITE, -FI_EOPNOTSUPP},
	{"fi_ep_bind, events", call_bind_eq, 0, -FI_EINVAL, 0, 0},
	{"fi_ep_bind, receives", call_bind_srx, 0, -FI_EINVAL, 0, 0},
	{"fi_pep_bind", call_pep_bind, 0, -FI_EINVAL, 0, 0},
	{"fi_ep_bind, of receives", call_srx_bind, FI_RECV | FI_SELECTIVE_COMPLETION,
	 -FI_EINVAL, 0, 0},
	{"fi_shutdown", call_shutdown, 0, -FI_EINVAL, 0, 0},
	{"fi_query_atomic", call_query_atomic, FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC,
	 -FI_EBADFLAGS, FI_TAGGED, -FI_EOPNOTSUPP},
	{"fi_eq_read", call_eq_read, FI_PEEK, -FI_EBADFLAGS, 0, 0},
	{"fi_eq_readerr", call_eq_readerr, FI_PEEK, -FI_EBADFLAGS, 0, 0},
	{"fi_eq_write", call_eq_write, 0, -FI_EBADFLAGS, 0, 0},
	{"fi_sendmsg", call_sendmsg, TX_FLAGS | FI_REMOTE_CQ_DATA | TX_PEER,
	 -FI_EBADFLAGS, 0, 0},
	{"fi_recvmsg", call_recvmsg, FI_COMPLETION | FI_MORE, -FI_EBADFLAGS, 0, 0},
	{"fi_readmsg", call_readmsg, (TX_FLAGS & ~FI_INJECT) | FI_DELIVERY_COMPLETE,
	 -FI_EBADFLAGS, FI_COMMIT_COMPLETE, -FI_EOPNOTSUPP},
	{"fi_writemsg", call_writemsg, TX_FLAGS | FI_REMOTE_CQ_DATA | TX_PEER,
	 -FI_EBADFLAGS, 0, 0},
	{"fi_atomicmsg", call_atomicmsg, TX_FLAGS | TX_PEER, -FI_EBADFLAGS, 0, 0},
	{"fi_fetch_atomicmsg", call_fetchmsg, TX_FLAGS | TX_PEER, -FI_EBADFLAGS, 0, 0},
	{"fi_compare_atomicmsg", call_comparemsg, TX_FLAGS | TX_PEER, -FI_EBADFLAGS, 0,
	 0},
};

CT_TEST_F(flags, a_bit_that_a_call_does_not_have_is_refused)
{
	const struct call *row;
	uint64_t bit;
	int wanted;

	for (row = calls; row < calls + CRN_COUNT(calls); row++) {
		CT_NOTE("%s, no flag", row->name);
		CT_EXPECT_EQ(row->call(t, 0), 0);
		for (int n = 0; n < 64; n++) {
			bit = BIT(n);
			wanted = bit & row->other   ? row->other_refusal
				 : bit & row->taken ? 0
						    : row->refusal;
			CT_NOTE("%s, bit %d", row->name, n);
			CT_EXPECT_EQ(row->call(t, bit), wanted);
		}
	}
}
