/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics and domains as objects. */
#include <errno.h>
#include <stdlib.h>
#include <rdma/fi_ext_cairn.h>
#include "world_cm.h"

CT_TEST(fabric, a_name_of_another_provider_is_no_data)
{
	struct fi_fabric_attr attr = {.api_version = FI_VERSION(1, 17)};
	static const char *const names[] = {"IB-0xfe80000000000000", "pverbs", "", "tcp"};
	struct fid_fabric *fabric;

	CT_EXPECT_EQ(pvb_fabric_open(NULL, &fabric, NULL), -FI_ENODATA);
	CT_EXPECT_EQ(pvb_fabric_open(&attr, &fabric, NULL), -FI_ENODATA);
	for (size_t i = 0; i < CRN_COUNT(names); i++) {
		attr.name = (char *)names[i];
		CT_EXPECT_EQ(pvb_fabric_open(&attr, &fabric, NULL), -FI_ENODATA);
	}
	attr.name = "pverbs-eth";
	ct_fail_alloc(1);
	CT_EXPECT_EQ(pvb_fabric_open(&attr, &fabric, NULL), -FI_ENOMEM);
	CT_ASSERT_EQ(pvb_fabric_open(&attr, &fabric, NUMBER(2)), 0);
	CT_EXPECT_EQ(fabric->fid.fclass, FI_CLASS_FABRIC);
	CT_EXPECT_EQ(fabric->fid.context, NUMBER(2));
	CT_EXPECT_EQ(fabric->api_version, FI_VERSION(1, 17));
	CT_EXPECT_EQ(fi_close(&fabric->fid), 0);
}

CT_FIXTURE(fabric, struct world, world_fresh, world_close);

CT_TEST_F(fabric, one_in_use_cannot_be_closed)
{
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	CT_EXPECT_EQ(fi_close(&t->fabric->fid), -FI_EBUSY);
}

CT_TEST_F(fabric, trywait_is_for_queues_and_for_all_of_them)
{
	struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	struct fid *fids[3];

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	fids[0] = &t->eq->fid;
	fids[1] = &t->cq->fid;
	fids[2] = &t->ep->fid;
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 0), 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 2), 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 3), -FI_EINVAL);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 2), -FI_EAGAIN);
}

CT_FIXTURE(domain, struct world, world_start_domain, world_close);

CT_TEST_F(domain, it_opens_the_device_of_its_info)
{
	struct pvb_domain *domain;

	domain = crn_container_of(t->domain, struct pvb_domain, fid);
	CT_EXPECT_EQ(t->domain->fid.fclass, FI_CLASS_DOMAIN);
	CT_EXPECT_EQ(domain->verbs->device, &fake_devices[0].ibv);
	CT_EXPECT_EQ(domain->attr.max_qp_wr, 1000);
	CT_EXPECT_EQ(domain->quirks, 0);
}

/* FI_PVERBS_DURABLE: control queue pairs cost memory, and iWARP has no sequence word. */
CT_TEST_F(domain, who_needs_durable_operations_has_what_they_need)
{
	static const struct {
		int durable;
		bool pmem, has;
	} rows[] = {{PVB_DURABLE_AUTO, false, false}, {PVB_DURABLE_AUTO, true, true},
		    {PVB_DURABLE_ON, false, true},    {PVB_DURABLE_ON, true, true},
		    {PVB_DURABLE_OFF, false, false},  {PVB_DURABLE_OFF, true, false}};
	const struct pvb_domain *domain;

	for (size_t i = 0; i < 2 * CRN_COUNT(rows); i++) {
		const size_t row = i / 2;
		const struct world_opts opts = {
			.caps = FI_MSG | FI_RMA | (rows[row].pmem ? FI_RMA_PMEM : 0)};

		CT_NOTE("row %zu, iWARP: %zu", row, i % 2);
		world_renew(t);
		pvb_params.durable = rows[row].durable;
		fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
		if (i % 2)
			fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
		CT_ASSERT_TRUE(world_open_domain(t, &opts));
		domain = crn_container_of(t->domain, struct pvb_domain, fid);
		CT_EXPECT_EQ(domain->control != NULL, rows[row].has);
		CT_EXPECT_EQ(domain->seq_atomics, rows[row].has && i % 2 == 0);
	}
}

CT_TEST_F(domain, an_info_that_makes_no_sense_is_refused)
{
	struct fid_domain *domain;
	struct fi_info *info;

	CT_EXPECT_EQ(fi_domain(t->fabric, NULL, &domain, NULL), -FI_EINVAL);
	info = fi_dupinfo(t->info);
	strcpy(info->domain_attr->name, "other");
	CT_EXPECT_EQ(fi_domain(t->fabric, info, &domain, NULL), -FI_ENODEV);
	CT_EXPECT_WARNED("other");
	free(info->domain_attr->name);
	info->domain_attr->name = NULL;
	CT_EXPECT_EQ(fi_domain(t->fabric, info, &domain, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

CT_TEST_F(domain, whatever_the_device_refuses_opening_fails_cleanly)
{
	static const struct {
		enum fake_call call;
		int err;
	} rows[] = {{FAKE_GET_DEVICE_LIST, EPERM},
		    {FAKE_OPEN_DEVICE, EACCES},
		    {FAKE_QUERY_DEVICE, EIO},
		    {FAKE_ALLOC_PD, ENOSPC},
		    {FAKE_REG_MR, EPERM}};
	struct fid_domain *domain;
	int objects;

	objects = fake_objects;
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		fake_fail(rows[i].call, 1, rows[i].err);
		CT_EXPECT_EQ(fi_domain(t->fabric, t->info, &domain, NULL), -rows[i].err);
		CT_EXPECT_EQ(fake_objects, objects);
	}
}

static int open_domain(struct world *w, struct fid **fid)
{
	struct fid_domain *domain = NULL;
	int ret = fi_domain(w->fabric, w->info, &domain, NULL);

	*fid = ret ? NULL : &domain->fid;
	return ret;
}

CT_TEST_F(domain, opening_fails_cleanly_wherever_memory_ends)
{
	expect_survives_enomem(t, open_domain);
}

CT_TEST_F(domain, operations_that_are_not_offered_say_so)
{
	struct fi_av_attr av_attr = {0};
	struct fid_domain *domain;
	struct fid_av *av;
	void *ops;

	CT_EXPECT_EQ(fi_av_open(t->domain, &av_attr, &av, NULL), -FI_ENOSYS);
	/* ofi_rxm asks for operations and goes on when there are none. */
	CT_EXPECT_EQ(fi_open_ops(&t->domain->fid, "x", 0, &ops, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_open_ops(&t->domain->fid, FI_CAIRN_REPLAY, 1, &ops, NULL),
		     -FI_EINVAL);
	CT_EXPECT_EQ(t->fabric->ops->domain2(t->fabric, t->info, &domain, FI_PEER, NULL),
		     -FI_EOPNOTSUPP);
	CT_ASSERT_EQ(t->fabric->ops->domain2(t->fabric, t->info, &domain, 0, NULL), 0);
	CT_EXPECT_EQ(fi_close(&domain->fid), 0);
	CT_EXPECT_EQ(t->domain->ops->endpoint2(t->domain, t->info, &t->ep, FI_PEER, NULL),
		     -FI_EOPNOTSUPP);
	CT_ASSERT_EQ(t->domain->ops->endpoint2(t->domain, t->info, &t->ep, 0, NULL), 0);
}
