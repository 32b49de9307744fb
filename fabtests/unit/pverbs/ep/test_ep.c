/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints as objects: made, bound, enabled, asked, closed. */
#include <errno.h>
#include <stdlib.h>
#include <rdma/fi_tagged.h>
#include "../world_cm.h"

CT_FIXTURE(ep, struct world, world_start_domain, world_close);

CT_TEST_F(ep, an_info_that_makes_no_sense_is_refused)
{
	struct fi_info *info;

	info = t->info;
	CT_EXPECT_EQ(fi_endpoint(t->domain, NULL, &t->ep, NULL), -FI_EINVAL);
	info->ep_attr->type = FI_EP_RDM;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->ep_attr->type = FI_EP_MSG;
	info->tx_attr->size = 1000;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->tx_attr->size = 8;
	info->rx_attr->size = 1000;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->rx_attr->size = 8;
	info->tx_attr->iov_limit = PVB_IOV_LIMIT + 1;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->tx_attr->iov_limit = 4;
	info->rx_attr->iov_limit = PVB_IOV_LIMIT + 1;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->rx_attr->iov_limit = 4;
	info->tx_attr->inject_size = PVB_INJECT_LIMIT + 1;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->tx_attr->inject_size = 64;
	info->src_addrlen = 3;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->src_addrlen = sizeof(struct sockaddr_in);
	info->handle = &t->domain->fid;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NULL), -FI_EINVAL);
	info->handle = NULL;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &t->ep, NUMBER(3)), 0);
	CT_EXPECT_EQ(t->ep->fid.fclass, FI_CLASS_EP);
	CT_EXPECT_EQ(t->ep->fid.context, NUMBER(3));
}

CT_TEST_F(ep, attributes_a_program_left_out_are_refused_not_read)
{
	struct fi_info *info;
	struct fid_ep *ep;

	info = fi_dupinfo(t->info);
	free(info->rx_attr);
	info->rx_attr = NULL;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
	info = fi_dupinfo(t->info);
	free(info->tx_attr);
	info->tx_attr = NULL;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

CT_TEST_F(ep, sizes_a_program_left_out_are_the_defaults)
{
	struct fi_info *info;

	world_renew(t);
	fake_devices[0].attr.max_qp_wr = 100;
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	info = t->info;
	info->tx_attr->size = 0;
	info->rx_attr->size = 0;
	info->tx_attr->iov_limit = 0;
	info->rx_attr->iov_limit = 0;
	info->ep_attr->max_msg_size = 0;
	pvb_params.rx_size = 50;
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_EXPECT_EQ(ep_of(t->ep)->qp.sq.depth, 99);
	CT_EXPECT_EQ(ep_of(t->ep)->qp.rq.depth, 50);
	CT_EXPECT_EQ(qp_of(t->ep)->init.cap.max_send_sge, 1);
	CT_EXPECT_EQ(qp_of(t->ep)->init.cap.max_recv_sge, 1);
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	CT_EXPECT_EQ(fi_send(t->ep, t, 1000, NULL, 0, NULL), 0);
}

CT_TEST_F(ep, enabling_needs_its_queues)
{
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOCQ);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOCQ);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_QP), 1);
}

/* The direction that the capabilities do not have needs no queue of its own. */
CT_TEST_F(ep, a_direction_that_is_not_used_borrows_the_others_queue)
{
	static const struct {
		uint64_t caps, bind;
		int wanted;
	} rows[] = {
		{FI_MSG | FI_SEND, FI_TRANSMIT, 0},
		{FI_MSG | FI_RECV, FI_RECV, 0},
		{FI_MSG | FI_SEND, FI_RECV, -FI_ENOCQ},
		{FI_MSG | FI_RECV, FI_TRANSMIT, -FI_ENOCQ},
		{FI_RMA | FI_REMOTE_READ, FI_RECV, 0},
		{FI_RMA | FI_READ, FI_TRANSMIT, 0},
		{FI_RMA | FI_WRITE, FI_RECV, -FI_ENOCQ},
		{FI_MSG, FI_TRANSMIT, -FI_ENOCQ},
	};
	struct world_opts opts = {0};
	struct fid_ep *ep;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_renew(t);
		opts.caps = rows[i].caps;
		CT_ASSERT_TRUE(world_open_domain(t, &opts));
		CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->eq->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, rows[i].bind), 0);
		CT_EXPECT_EQ(fi_enable(ep), rows[i].wanted);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
}

CT_TEST_F(ep, a_binding_that_makes_no_sense_is_refused)
{
	struct fi_cq_attr cq_attr = {0};
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *foreign_cq;
	struct fid_eq *foreign_eq;
	struct fid_ep *ep;

	CT_ASSERT_EQ(fi_domain(t->fabric, t->info, &domain, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(domain, &cq_attr, &foreign_cq, NULL), 0);
	CT_ASSERT_EQ(pvb_fabric_open(t->info->fabric_attr, &fabric, NULL), 0);
	CT_ASSERT_EQ(fi_eq_open(fabric, NULL, &foreign_eq, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);

	CT_EXPECT_EQ(fi_ep_bind(ep, &foreign_cq->fid, FI_RECV), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_ep_bind(ep, &foreign_eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_SELECTIVE_COMPLETION), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_RECV | FI_READ), -FI_EBADFLAGS);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_TRANSMIT), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->eq->fid, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->domain->fid, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_enable(ep), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_TRANSMIT), -FI_EOPBADSTATE);

	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&foreign_eq->fid), 0);
	CT_EXPECT_EQ(fi_close(&fabric->fid), 0);
	CT_EXPECT_EQ(fi_close(&foreign_cq->fid), 0);
	CT_EXPECT_EQ(fi_close(&domain->fid), 0);
}

CT_TEST_F(ep, default_flags_are_read_and_changed)
{
	struct world_opts opts = {.tx_op_flags = FI_COMPLETION};
	uint64_t flags = FI_TRANSMIT;

	CT_ASSERT_TRUE(world_reopen(t, &opts));
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_GETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(flags, FI_COMPLETION);
	flags = FI_TRANSMIT | FI_INJECT;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_SETOPSFLAG, &flags), 0);
	flags = FI_TRANSMIT;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_GETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(flags, FI_INJECT);
	flags = FI_RECV;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_GETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(flags, 0);
	flags = FI_RECV | FI_COMPLETION;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_SETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(ep_of(t->ep)->rx_flags, FI_COMPLETION);

	flags = FI_RECV | FI_INJECT;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
	flags = FI_TRANSMIT | FI_MATCH_COMPLETE;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
	flags = FI_TRANSMIT | FI_COMMIT_COMPLETE;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_SETOPSFLAG, &flags), 0);
	CT_EXPECT_EQ(ep_of(t->ep)->tx_flags, FI_COMMIT_COMPLETE);
	flags = FI_TRANSMIT | FI_RECV;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_GETOPSFLAG, &flags), -FI_EINVAL);
	flags = 0;
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_SETOPSFLAG, &flags), -FI_EINVAL);
	CT_EXPECT_EQ(fi_control(&t->ep->fid, FI_GETWAIT, &flags), -FI_ENOSYS);
}

CT_TEST_F(ep, a_name_is_given_before_connecting)
{
	union crn_addr addr, other = fake_addr("10.0.0.9", 9999);
	union crn_addr six = fake_addr("fd00::1", 1);
	size_t len = sizeof(addr);

	CT_ASSERT_TRUE(world_reopen(t, NULL));
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &addr, &len), 0);
	other = fake_addr(WORLD_ADDR, 0);
	CT_EXPECT_MEMEQ(&addr, &other, sizeof(addr.in));
	other = fake_addr("10.0.0.9", 9999);
	CT_EXPECT_EQ(fi_setname(&t->ep->fid, &other, sizeof(other.in) - 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_setname(&t->ep->fid, &six, sizeof(six.in6)), -FI_EINVAL);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_setname(&t->ep->fid, &other, sizeof(other.in)), -FI_ENOMEM);
	CT_EXPECT_EQ(fi_setname(&t->ep->fid, &other, sizeof(other.in)), 0);
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &other, sizeof(addr.in));
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	CT_EXPECT_MEMEQ(&fake_message.src, &other, sizeof(other.in));
	CT_EXPECT_EQ(fi_setname(&t->ep->fid, &other, sizeof(other.in)), -FI_EOPBADSTATE);
}

CT_TEST_F(ep, a_name_that_a_passive_endpoint_reserved_is_taken_over)
{
	union crn_addr addr, name = fake_addr(WORLD_ADDR, 4242);
	size_t len = sizeof(addr);
	struct fid_pep *pep;
	struct fi_info *info;
	struct fid_ep *ep;

	info = fi_dupinfo(t->info);
	CT_ASSERT_EQ(fi_passive_ep(t->fabric, info, &pep, NULL), 0);
	CT_EXPECT_EQ(fi_setname(&pep->fid, &name, sizeof(name.in)), 0);
	info->handle = &pep->fid;
	CT_ASSERT_EQ(fi_endpoint(t->domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_getname(&ep->fid, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &name, sizeof(addr.in));
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);

	/* It cannot be both. */
	CT_EXPECT_EQ(fi_pep_bind(pep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_listen(pep), 0);
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	info->handle = &t->domain->fid;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

CT_TEST_F(ep, of_the_info_it_keeps_what_is_its_own)
{
	const struct pvb_ep_attr *kept;

	CT_ASSERT_TRUE(world_reopen(t, NULL));
	kept = &ep_of(t->ep)->attr;
	CT_EXPECT_EQ(kept->tx_size, t->info->tx_attr->size);
	CT_EXPECT_EQ(kept->rx_size, t->info->rx_attr->size);
	CT_EXPECT_EQ(kept->tx_iov_limit, t->info->tx_attr->iov_limit);
	CT_EXPECT_EQ(kept->caps, t->info->caps);
}

CT_TEST_F(ep, without_a_source_the_route_chooses)
{
	union crn_addr addr;
	size_t len = sizeof(addr);

	world_forget_src(t);
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &addr, &len), -FI_ENODATA);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	CT_EXPECT_EQ(fake_message.src.sa.sa_family, 0);
}

static int open_ep(struct world *w, struct fid **fid)
{
	struct fid_ep *ep = NULL;
	int ret = fi_endpoint(w->domain, w->info, &ep, NULL);

	*fid = ret ? NULL : &ep->fid;
	return ret;
}

CT_TEST_F(ep, opening_fails_cleanly_wherever_memory_ends)
{
	expect_survives_enomem(t, open_ep);
}

/* Enables an endpoint with the nth allocation failing; false when there are fewer. */
static bool enable_without_memory(unsigned int nth)
{
	struct fid_ep *ep;
	struct world w;
	bool failed;
	int ret, objects;

	world_reset();
	fake_devices[0].max_inline = 0;
	if (!world_open_domain(&w, NULL))
		return false;
	CT_EXPECT_EQ(fi_endpoint(w.domain, w.info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	objects = fake_objects;
	ct_fail_alloc(nth);
	ret = fi_enable(ep);
	failed = ct_alloc_failed();
	CT_EXPECT_EQ(ret, failed ? -FI_ENOMEM : 0);
	if (failed) {
		CT_EXPECT_EQ(cq_of(w.cq)->reserved, 0);
		/* A device queue may stay: the completion queue keeps it for the next. */
		CT_EXPECT_LE(fake_objects, objects + 1);
		CT_EXPECT_EQ(recv_number(ep, 1), -FI_EOPBADSTATE);
		CT_EXPECT_EQ(fi_enable(ep), 0);
	}
	CT_EXPECT_EQ(recv_number(ep, 1), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	world_close(&w);
	return failed;
}

CT_TEST(ep, enabling_fails_cleanly_wherever_memory_ends_and_may_be_repeated)
{
	unsigned int nth = 0;

	do
		CT_NOTE("allocation %u", ++nth);
	while (enable_without_memory(nth));
	CT_EXPECT_GT(nth, 6);
}

CT_TEST_F(ep, closing_forgets_nothing_that_others_hold)
{
	struct fid_ep *ep;

	CT_ASSERT_TRUE(world_reopen(t, NULL));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
	CT_EXPECT_EQ(fi_close(&t->domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&t->cq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->domain->fid), -FI_EBUSY);
}

CT_TEST_F(ep, operations_that_are_not_offered_say_so)
{
	struct fi_msg_tagged tagged = {0};

	CT_ASSERT_TRUE(world_reopen(t, NULL));
	CT_EXPECT_EQ(fi_cancel(&t->ep->fid, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_tsendmsg(t->ep, &tagged, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(t->ep->fid.ops->size, sizeof(struct fi_ops));
	CT_EXPECT_EQ(t->ep->ops->size, sizeof(struct fi_ops_ep));
	CT_EXPECT_EQ(t->ep->cm->size, sizeof(struct fi_ops_cm));
	CT_EXPECT_EQ(t->ep->msg->size, sizeof(struct fi_ops_msg));
	CT_EXPECT_EQ(t->ep->rma->size, sizeof(struct fi_ops_rma));
	CT_EXPECT_NE(t->ep->atomic, NULL);
	CT_EXPECT_NE(t->ep->collective, NULL);
}
