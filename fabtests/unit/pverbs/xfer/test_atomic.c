/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomics: what is offered, what each call form posts, what is refused. */
#include <errno.h>
#include <rdma/fi_atomic.h>
#include "../world.h"

#define ADDR 0x1000u
#define KEY 0x77u

static const struct world_opts with_atomics = {.caps = FI_MSG | FI_RMA | FI_ATOMIC,
					       .tx_size = 16,
					       .inject_size = 16};

static uint64_t operand = 5, compare = 7, result;

static bool open_with(struct world *w, const struct world_opts *opts)
{
	world_reset();
	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
	return world_open_connected(w, opts);
}

enum kind { BASE, FETCH, COMPARE };
static const uint64_t kind_flags[] = {0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC};

static ssize_t post(struct fid_ep *ep, enum kind kind, enum fi_datatype type,
		    enum fi_op op, size_t count)
{
	switch (kind) {
	case BASE:
		return fi_atomic(ep, &operand, count, NULL, 0, ADDR, KEY, type, op,
				 NUMBER(1));
	case FETCH:
		return fi_fetch_atomic(ep, &operand, count, NULL, &result, NUMBER(9), 0,
				       ADDR, KEY, type, op, NUMBER(1));
	default:
		return fi_compare_atomic(ep, &operand, count, NULL, &compare, NULL,
					 &result, NUMBER(9), 0, ADDR, KEY, type, op,
					 NUMBER(1));
	}
}

static int valid(struct fid_ep *ep, enum kind kind, enum fi_datatype type, enum fi_op op,
		 size_t *count)
{
	switch (kind) {
	case BASE:
		return fi_atomicvalid(ep, type, op, count);
	case FETCH:
		return fi_fetch_atomicvalid(ep, type, op, count);
	default:
		return fi_compare_atomicvalid(ep, type, op, count);
	}
}

static bool offered(enum kind kind, enum fi_datatype type, enum fi_op op)
{
	bool integer = type == FI_INT64 || type == FI_UINT64;

	if (kind == COMPARE)
		return integer && op == FI_CSWAP;
	if (op == FI_SUM)
		return integer;
	return kind == FETCH && op == FI_ATOMIC_READ && (integer || type == FI_DOUBLE);
}

static void start(struct world *t)
{
	CT_ASSERT_TRUE(open_with(t, &with_atomics));
}

CT_FIXTURE(atomic, struct world, start, world_close);

CT_TEST_F(atomic, asking_and_posting_agree_on_every_type_and_operation)
{
	struct fi_atomic_attr attr;
	size_t count;
	int wanted;

	for (int i = 0; i < 3 * 32 * 32; i++) {
		enum kind kind = i % 3;
		enum fi_datatype type = i / 3 % 32;
		enum fi_op op = i / 3 / 32;

		CT_NOTE("kind %d type %d op %d", kind, type, op);
		wanted = offered(kind, type, op) ? 0 : -FI_EOPNOTSUPP;
		attr = (struct fi_atomic_attr){0};
		count = 0;
		CT_EXPECT_EQ(fi_query_atomic(t->domain, type, op, &attr,
					     kind_flags[kind]),
			     wanted);
		CT_EXPECT_EQ(valid(t->ep, kind, type, op, &count), wanted);
		CT_EXPECT_EQ(attr.count, wanted ? 0 : 1);
		CT_EXPECT_EQ(attr.size, wanted ? 0 : 8);
		CT_EXPECT_EQ(count, wanted ? 0 : 1);
		CT_EXPECT_EQ(post(t->ep, kind, type, op, 1), wanted);
		if (wanted)
			continue;
		fake_complete_all(t->qp);
		expect_comp(t->cq, NUMBER(1),
			    FI_ATOMIC | (kind == BASE ? FI_WRITE : FI_READ), 0, 0);
	}
}

CT_TEST_F(atomic, questions_that_make_no_sense_are_refused)
{
	struct fi_atomic_attr attr;

	CT_EXPECT_EQ(fi_query_atomic(t->domain, FI_INT64, FI_SUM, &attr, FI_TAGGED),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_query_atomic(t->domain, FI_INT64, FI_SUM, &attr,
				     FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC),
		     -FI_EINVAL);
	CT_EXPECT_EQ(fi_query_atomic(t->domain, FI_INT64, FI_SUM, &attr, FI_RECV),
		     -FI_EBADFLAGS);
}

static const struct fake_wr *newest(struct world *w)
{
	return fake_newest(&w->qp->sq);
}

/* Where nobody wants what was there before, it goes to memory of the provider. */
static void check_base(struct world *w)
{
	const struct fake_wr *wr = newest(w);
	const struct ibv_mr *sink = ep_of(w->ep)->domain->sink_mr;

	CT_EXPECT_EQ(wr->opcode, IBV_WR_ATOMIC_FETCH_AND_ADD);
	CT_EXPECT_EQ(wr->remote_addr, ADDR);
	CT_EXPECT_EQ(wr->rkey, KEY);
	CT_EXPECT_EQ(wr->compare_add, 5);
	CT_EXPECT_FALSE(wr->flags & IBV_SEND_INLINE);
	CT_EXPECT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].length, 8);
	CT_EXPECT_EQ(wr->sge[0].lkey, sink->lkey);
	CT_EXPECT_EQ(wr->sge[0].addr, (uintptr_t)sink->addr);
}

CT_TEST_F(atomic, every_base_form_adds)
{
	struct fi_ioc iov[] = {{NULL, 0}, {&operand, 1}};
	struct fi_rma_ioc target = {.addr = ADDR, .count = 1, .key = KEY};
	struct fi_msg_atomic msg = {.msg_iov = iov,
				    .iov_count = 2,
				    .rma_iov = &target,
				    .rma_iov_count = 1,
				    .datatype = FI_UINT64,
				    .op = FI_SUM,
				    .context = NUMBER(3)};

	CT_EXPECT_EQ(fi_atomic(t->ep, &operand, 1, NULL, 0, ADDR, KEY, FI_UINT64, FI_SUM,
			       NUMBER(1)),
		     0);
	check_base(t);
	CT_EXPECT_EQ(fi_atomicv(t->ep, iov, NULL, 2, 0, ADDR, KEY, FI_UINT64, FI_SUM,
				NUMBER(2)),
		     0);
	check_base(t);
	CT_EXPECT_EQ(fi_atomicmsg(t->ep, &msg, FI_INJECT | FI_FENCE), 0);
	check_base(t);
	CT_EXPECT_TRUE(newest(t)->flags & IBV_SEND_FENCE);
	CT_EXPECT_EQ(fi_inject_atomic(t->ep, &operand, 1, 0, ADDR, KEY, FI_UINT64,
				      FI_SUM),
		     0);
	check_base(t);
	fake_complete_all(t->qp);
	for (uintptr_t i = 1; i < 4; i++)
		expect_comp(t->cq, NUMBER(i), FI_ATOMIC | FI_WRITE, 0, 0);
	expect_no_comp(t->cq);
}

static void check_result(struct world *w, enum ibv_wr_opcode opcode, uint64_t compare_add,
			 uint64_t swap)
{
	const struct fake_wr *wr = newest(w);

	CT_EXPECT_EQ(wr->opcode, opcode);
	CT_EXPECT_EQ(wr->remote_addr, ADDR);
	CT_EXPECT_EQ(wr->rkey, KEY);
	CT_EXPECT_EQ(wr->compare_add, compare_add);
	CT_EXPECT_EQ(wr->swap, swap);
	CT_EXPECT_FALSE(wr->flags & IBV_SEND_INLINE);
	CT_EXPECT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].addr, (uintptr_t)&result);
	CT_EXPECT_EQ(wr->sge[0].length, 8);
	CT_EXPECT_EQ(wr->sge[0].lkey, 9);
	fake_complete_all(w->qp);
	expect_comp(w->cq, NUMBER(3), FI_ATOMIC | FI_READ, 0, 0);
}

CT_TEST_F(atomic, every_fetching_form_names_its_result)
{
	struct fi_ioc iov = {&operand, 1}, into = {&result, 1}, cmp = {&compare, 1};
	struct fi_rma_ioc target = {.addr = ADDR, .count = 1, .key = KEY};
	struct fi_msg_atomic msg = {.msg_iov = &iov,
				    .iov_count = 1,
				    .rma_iov = &target,
				    .rma_iov_count = 1,
				    .datatype = FI_INT64,
				    .op = FI_SUM,
				    .context = NUMBER(3)};
	void *desc = NUMBER(9);

	CT_EXPECT_EQ(fi_fetch_atomic(t->ep, &operand, 1, NULL, &result, desc, 0, ADDR,
				     KEY, FI_INT64, FI_SUM, NUMBER(3)),
		     0);
	check_result(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0);
	CT_EXPECT_EQ(fi_fetch_atomicv(t->ep, &iov, NULL, 1, &into, &desc, 1, 0, ADDR, KEY,
				      FI_INT64, FI_SUM, NUMBER(3)),
		     0);
	check_result(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0);
	CT_EXPECT_EQ(fi_fetch_atomicmsg(t->ep, &msg, &into, &desc, 1, FI_COMPLETION), 0);
	check_result(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0);

	/* A read has no operand. */
	CT_EXPECT_EQ(fi_fetch_atomic(t->ep, NULL, 1, NULL, &result, desc, 0, ADDR, KEY,
				     FI_DOUBLE, FI_ATOMIC_READ, NUMBER(3)),
		     0);
	check_result(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0);
	msg.op = FI_ATOMIC_READ;
	msg.msg_iov = NULL;
	msg.iov_count = 0;
	CT_EXPECT_EQ(fi_fetch_atomicmsg(t->ep, &msg, &into, &desc, 1, 0), 0);
	check_result(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0);

	CT_EXPECT_EQ(fi_compare_atomic(t->ep, &operand, 1, NULL, &compare, NULL, &result,
				       desc, 0, ADDR, KEY, FI_UINT64, FI_CSWAP,
				       NUMBER(3)),
		     0);
	check_result(t, IBV_WR_ATOMIC_CMP_AND_SWP, 7, 5);
	CT_EXPECT_EQ(fi_compare_atomicv(t->ep, &iov, NULL, 1, &cmp, NULL, 1, &into, &desc,
					1, 0, ADDR, KEY, FI_UINT64, FI_CSWAP, NUMBER(3)),
		     0);
	check_result(t, IBV_WR_ATOMIC_CMP_AND_SWP, 7, 5);
	msg.op = FI_CSWAP;
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	CT_EXPECT_EQ(fi_compare_atomicmsg(t->ep, &msg, &cmp, NULL, 1, &into, &desc, 1, 0),
		     0);
	check_result(t, IBV_WR_ATOMIC_CMP_AND_SWP, 7, 5);
}

CT_TEST_F(atomic, an_operand_is_read_when_it_is_posted)
{
	const uint64_t wanted = 0x0102030405060708;
	uint8_t unaligned[9];

	memcpy(unaligned + 1, &wanted, sizeof(wanted));
	CT_EXPECT_EQ(fi_inject_atomic(t->ep, unaligned + 1, 1, 0, ADDR, KEY, FI_UINT64,
				      FI_SUM),
		     0);
	memset(unaligned, 0xff, sizeof(unaligned));
	CT_EXPECT_EQ(newest(t)->compare_add, wanted);
}

CT_FIXTURE(atomic_options, struct world, world_fresh, world_close);

/* The operand needs no room of its own, whatever inject_size is. */
CT_TEST_F(atomic_options, injecting_needs_neither_inline_data_nor_buffers)
{
	struct world_opts opts = with_atomics;

	opts.inject_size = 4;
	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_GLOB;
	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(fi_inject_atomic(t->ep, &operand, 1, 0, ADDR, KEY, FI_UINT64,
				      FI_SUM),
		     0);
	check_base(t);
}

CT_TEST_F(atomic, more_than_one_element_or_none_is_refused)
{
	struct fi_ioc one = {&operand, 1}, two = {&operand, 2}, none = {&operand, 0};
	struct fi_ioc pair[] = {one, one}, huge[] = {{&operand, SIZE_MAX}, two};
	struct fi_rma_ioc targets[] = {{ADDR, 1, KEY}, {ADDR, 1, KEY}};
	struct fi_msg_atomic msg = {.msg_iov = &one,
				    .iov_count = 1,
				    .rma_iov = targets,
				    .rma_iov_count = 2,
				    .datatype = FI_INT64,
				    .op = FI_SUM};
	struct fid_ep *ep;

	ep = t->ep;
	for (int kind = BASE; kind <= COMPARE; kind++) {
		enum fi_op op = kind == COMPARE ? FI_CSWAP : FI_SUM;

		CT_EXPECT_EQ(post(ep, kind, FI_INT64, op, 2), -FI_EMSGSIZE);
		CT_EXPECT_EQ(post(ep, kind, FI_INT64, op, 0), -FI_EINVAL);
	}
	CT_EXPECT_EQ(fi_inject_atomic(ep, &operand, 2, 0, ADDR, KEY, FI_INT64, FI_SUM),
		     -FI_EMSGSIZE);
#define ADD(iov, n) fi_atomicv(t->ep, iov, NULL, n, 0, ADDR, KEY, FI_INT64, FI_SUM, NULL)
	CT_EXPECT_EQ(ADD(&two, 1), -FI_EMSGSIZE);
	CT_EXPECT_EQ(ADD(pair, 2), -FI_EMSGSIZE);
	CT_EXPECT_EQ(ADD(huge, 2), -FI_EMSGSIZE);
	CT_EXPECT_EQ(ADD(&none, 1), -FI_EINVAL);
	CT_EXPECT_EQ(ADD(NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_atomicmsg(ep, &msg, 0), -FI_EMSGSIZE);
	msg.rma_iov_count = 0;
	CT_EXPECT_EQ(fi_atomicmsg(ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 1;
	targets[0].count = 2;
	CT_EXPECT_EQ(fi_atomicmsg(ep, &msg, 0), -FI_EMSGSIZE);
	targets[0].count = 1;
	CT_EXPECT_EQ(fi_fetch_atomicmsg(ep, &msg, pair, NULL, 2, 0), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_fetch_atomicmsg(ep, &msg, &none, NULL, 1, 0), -FI_EINVAL);
	msg.op = FI_CSWAP;
	CT_EXPECT_EQ(fi_compare_atomicmsg(ep, &msg, &two, NULL, 1, &one, NULL, 1, 0),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_compare_atomicmsg(ep, &msg, &one, NULL, 1, &two, NULL, 1, 0),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
}

/* As with messages and RMA: no piece is looked at when there are too many. */
CT_TEST_F(atomic, more_pieces_than_iov_limit_are_refused_unseen)
{
	struct fi_ioc one = {&operand, 1};
	struct fi_rma_ioc target = {ADDR, 1, KEY};
	struct fi_msg_atomic msg = {.msg_iov = &one,
				    .iov_count = 1,
				    .rma_iov = &target,
				    .rma_iov_count = 1,
				    .datatype = FI_INT64,
				    .op = FI_SUM};
	const size_t many = SIZE_MAX / sizeof(one);

	CT_EXPECT_EQ(ADD(&one, many), -FI_EINVAL);
	CT_EXPECT_EQ(ADD(&one, t->info->tx_attr->iov_limit + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_fetch_atomicmsg(t->ep, &msg, &one, NULL, many, 0), -FI_EINVAL);
	msg.iov_count = many;
	CT_EXPECT_EQ(fi_atomicmsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_fetch_atomicmsg(t->ep, &msg, &one, NULL, 1, 0), -FI_EINVAL);
	msg.iov_count = 1;
	msg.op = FI_CSWAP;
	CT_EXPECT_EQ(fi_compare_atomicmsg(t->ep, &msg, &one, NULL, many, &one, NULL, 1,
					  0),
		     -FI_EINVAL);
	CT_EXPECT_EQ(fi_compare_atomicmsg(t->ep, &msg, &one, NULL, 1, &one, NULL, many,
					  0),
		     -FI_EINVAL);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
}

CT_TEST_F(atomic, a_target_that_is_not_aligned_is_refused_at_the_call)
{
	for (uint64_t off = 1; off < 8; off++)
		CT_EXPECT_EQ(fi_atomic(t->ep, &operand, 1, NULL, 0, ADDR + off, KEY,
				       FI_INT64, FI_SUM, NULL),
			     -FI_EINVAL);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_CONNECTED);
}

CT_TEST_F(atomic, flags_it_cannot_have_are_refused)
{
	struct fi_ioc iov = {&operand, 1};
	struct fi_rma_ioc target = {ADDR, 1, KEY};
	struct fi_msg_atomic msg = {.msg_iov = &iov,
				    .iov_count = 1,
				    .rma_iov = &target,
				    .rma_iov_count = 1,
				    .datatype = FI_INT64,
				    .op = FI_SUM};

	CT_EXPECT_EQ(fi_atomicmsg(t->ep, &msg, FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
	CT_EXPECT_EQ(fi_atomicmsg(t->ep, &msg, FI_TAGGED), -FI_EBADFLAGS);
	CT_EXPECT_EQ(fi_atomicmsg(t->ep, &msg, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
}

CT_TEST_F(atomic, held_back_with_more_it_keeps_its_operands)
{
	struct fi_ioc iov = {&operand, 1}, into = {&result, 1};
	struct fi_rma_ioc target = {ADDR, 1, KEY};
	struct fi_msg_atomic msg = {.msg_iov = &iov,
				    .iov_count = 1,
				    .rma_iov = &target,
				    .rma_iov_count = 1,
				    .datatype = FI_INT64,
				    .op = FI_SUM,
				    .context = NUMBER(3)};
	void *desc = NUMBER(9);

	CT_EXPECT_EQ(fi_fetch_atomicmsg(t->ep, &msg, &into, &desc, 1, FI_MORE), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	operand = 6;
	CT_EXPECT_EQ(send_number(t->ep, 4), 0);
	operand = 5;
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->compare_add, 5);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->sge[0].lkey, 9);
}

CT_TEST_F(atomic_options, it_is_delivered_when_it_completes)
{
	struct world_opts opts = with_atomics;

	opts.tx_op_flags = FI_DELIVERY_COMPLETE;
	CT_ASSERT_TRUE(open_with(t, &opts));
	CT_EXPECT_EQ(post(t->ep, BASE, FI_INT64, FI_SUM, 1), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_ATOMIC | FI_WRITE, 0, 0);
}

/* A device says how a read and what follows it may pass each other; atomics do not. */
CT_TEST_F(atomic_options, with_orders_after_reads_it_carries_the_fence)
{
	struct world_opts opts = with_atomics;

	opts.msg_order = FI_ORDER_WAR | FI_ORDER_ATOMIC_WAR;
	CT_ASSERT_TRUE(open_with(t, &opts));
	CT_EXPECT_EQ(post(t->ep, BASE, FI_INT64, FI_SUM, 1), 0);
	CT_EXPECT_TRUE(newest(t)->flags & IBV_SEND_FENCE);
	world_close(t);
	opts.msg_order = FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAW |
			 FI_ORDER_ATOMIC_RAR;
	CT_ASSERT_TRUE(open_with(t, &opts));
	CT_EXPECT_EQ(post(t->ep, BASE, FI_INT64, FI_SUM, 1), 0);
	CT_EXPECT_FALSE(newest(t)->flags & IBV_SEND_FENCE);
}

CT_TEST_F(atomic, a_failure_is_reported_with_its_flags)
{
	CT_EXPECT_EQ(post(t->ep, FETCH, FI_INT64, FI_SUM, 1), 0);
	CT_EXPECT_EQ(post(t->ep, BASE, FI_INT64, FI_SUM, 1), 0);
	fake_send_error(t->qp, IBV_WC_REM_ACCESS_ERR);
	expect_cq_error(t->cq, NUMBER(1), FI_ATOMIC | FI_READ, FI_EACCES);
	expect_cq_error(t->cq, NUMBER(1), FI_ATOMIC | FI_WRITE, FI_ECANCELED);
}

CT_TEST(atomic, it_is_offered_where_the_device_has_it)
{
	static const struct {
		enum ibv_atomic_cap cap;
		enum ibv_transport_type transport;
		bool wanted;
	} rows[] = {
		{IBV_ATOMIC_NONE, IBV_TRANSPORT_IB, false},
		{IBV_ATOMIC_HCA, IBV_TRANSPORT_IB, true},
		{IBV_ATOMIC_GLOB, IBV_TRANSPORT_IB, true},
		{IBV_ATOMIC_HCA, IBV_TRANSPORT_IWARP, false},
	};
	const uint64_t orders = FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
				FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
	struct fi_info *info;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_reset();
		fake_devices[0].attr.atomic_cap = rows[i].cap;
		fake_devices[0].ibv.transport_type = rows[i].transport;
		CT_ASSERT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &info),
			     0);
		CT_EXPECT_EQ(!!(info->caps & FI_ATOMIC), rows[i].wanted);
		CT_EXPECT_EQ(!!(info->tx_attr->caps & FI_ATOMIC), rows[i].wanted);
		CT_EXPECT_EQ(!!(info->rx_attr->caps & FI_ATOMIC), rows[i].wanted);
		CT_EXPECT_EQ(info->tx_attr->msg_order & orders,
			     rows[i].wanted ? orders : 0);
		fi_freeinfo(info);
	}
}

/* Who did not ask for atomics grants none. */
CT_TEST_F(atomic_options, rights_to_it_are_given_only_where_it_was_asked_for)
{
	const struct world_opts without = {.caps = FI_MSG | FI_RMA};
	const struct world_opts *const rows[] = {&with_atomics, &without};
	struct fi_atomic_attr attr;
	struct fid_mr *mr;
	unsigned int bit;
	char buf[8];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_ASSERT_TRUE(open_with(t, rows[i]));
		bit = i ? 0 : IBV_ACCESS_REMOTE_ATOMIC;
		CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].qp_access_flags &
				     IBV_ACCESS_REMOTE_ATOMIC,
			     bit);
		CT_ASSERT_EQ(fi_mr_reg(t->domain, buf, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr,
				       NULL),
			     0);
		CT_EXPECT_EQ(
			((struct fake_mr *)crn_container_of(mr, struct pvb_mr, fid)->mr)
					->access &
				IBV_ACCESS_REMOTE_ATOMIC,
			bit);
		CT_EXPECT_EQ(fi_close(&mr->fid), 0);
		CT_ASSERT_EQ(fi_mr_reg(t->domain, buf, 8, FI_REMOTE_READ, 0, 0, 0, &mr,
				       NULL),
			     0);
		CT_EXPECT_EQ(
			((struct fake_mr *)crn_container_of(mr, struct pvb_mr, fid)->mr)
				->access,
			IBV_ACCESS_REMOTE_READ);
		CT_EXPECT_EQ(fi_close(&mr->fid), 0);
		CT_EXPECT_EQ(fi_query_atomic(t->domain, FI_INT64, FI_SUM, &attr, 0),
			     i ? -FI_EOPNOTSUPP : 0);
		CT_EXPECT_EQ(post(t->ep, BASE, FI_INT64, FI_SUM, 1), i ? -FI_ENOSYS : 0);
		world_close(t);
	}
}

CT_TEST_F(atomic_options, a_domain_without_memory_for_results_is_not_opened)
{
	struct fid_domain *domain;
	unsigned int nth = 1;
	int ret;

	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
	CT_ASSERT_TRUE(world_open_domain(t, &with_atomics));
	for (int i = 1; i <= 2; i++) {
		fake_fail(FAKE_REG_MR, i, ENOMEM);
		CT_EXPECT_EQ(fi_domain(t->fabric, t->info, &domain, NULL), -FI_ENOMEM);
	}
	for (;; nth++) {
		ct_fail_alloc(nth);
		ret = fi_domain(t->fabric, t->info, &domain, NULL);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_EQ(fi_close(&domain->fid), 0);
}
