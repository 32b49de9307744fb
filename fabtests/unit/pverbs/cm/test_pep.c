/* SPDX-License-Identifier: BSD-2-Clause */
/* Passive endpoints. */
#include <errno.h>
#include <stdlib.h>
#include "../world_cm.h"

CT_FIXTURE(pep, struct world, world_start_domain, world_close);

CT_TEST_F(pep, an_info_that_makes_no_sense_is_refused)
{
	struct fi_info *info;

	CT_EXPECT_EQ(fi_passive_ep(t->fabric, NULL, &t->pep, NULL), -FI_EINVAL);
	info = t->info;
	info->ep_attr->type = FI_EP_RDM;
	CT_EXPECT_EQ(fi_passive_ep(t->fabric, info, &t->pep, NULL), -FI_EINVAL);
	info->ep_attr->type = FI_EP_MSG;
	info->src_addrlen = 3;
	CT_EXPECT_EQ(fi_passive_ep(t->fabric, info, &t->pep, NULL), -FI_EINVAL);
	info->src_addrlen = sizeof(struct sockaddr_in);
	info->addr_format = FI_SOCKADDR_IN6;
	CT_EXPECT_EQ(fi_passive_ep(t->fabric, info, &t->pep, NULL), -FI_EINVAL);
	info->addr_format = FI_SOCKADDR_IN;
	CT_EXPECT_EQ(fi_passive_ep(t->fabric, info, &t->pep, NUMBER(4)), 0);
	CT_EXPECT_EQ(t->pep->fid.fclass, FI_CLASS_PEP);
	CT_EXPECT_EQ(t->pep->fid.context, NUMBER(4));
	CT_EXPECT_EQ(fi_close(&t->fabric->fid), -FI_EBUSY);
}

CT_TEST_F(pep, attributes_a_program_left_out_are_refused_not_read)
{
	struct fi_info *info;
	struct fid_pep *pep;

	info = fi_dupinfo(t->info);
	free(info->domain_attr->name);
	info->domain_attr->name = NULL;
	CT_EXPECT_EQ(fi_passive_ep(t->fabric, info, &pep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
	info = fi_dupinfo(t->info);
	free(info->fabric_attr->name);
	free(info->fabric_attr->prov_name);
	free(info->fabric_attr);
	info->fabric_attr = NULL;
	CT_EXPECT_EQ(fi_passive_ep(t->fabric, info, &pep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

CT_TEST_F(pep, listening_needs_an_event_queue)
{
	CT_ASSERT_EQ(fi_passive_ep(t->fabric, t->info, &t->pep, NULL), 0);
	CT_EXPECT_EQ(fi_listen(t->pep), -FI_ENOEQ);
	CT_EXPECT_LT(fi_reject(t->pep, &t->domain->fid, NULL, 0), 0);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->cq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->eq->fid, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_listen(t->pep), 0);
	CT_EXPECT_EQ(fi_listen(t->pep), -FI_EOPBADSTATE);
}

CT_TEST_F(pep, the_backlog_is_large_unless_the_program_names_one)
{
	int backlog = -1;

	CT_ASSERT_TRUE(world_listen(t, &t->pep));
	CT_EXPECT_EQ(fake_message.backlog, PVB_BACKLOG);
	close_object(t->pep);

	CT_ASSERT_EQ(fi_passive_ep(t->fabric, t->info, &t->pep, NULL), 0);
	CT_EXPECT_EQ(fi_control(&t->pep->fid, FI_BACKLOG, &backlog), -FI_EINVAL);
	CT_EXPECT_EQ(fi_control(&t->pep->fid, FI_BACKLOG, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_control(&t->pep->fid, FI_GETWAIT, &backlog), -FI_ENOSYS);
	backlog = 5;
	CT_EXPECT_EQ(fi_control(&t->pep->fid, FI_BACKLOG, &backlog), 0);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_listen(t->pep), 0);
	CT_EXPECT_EQ(fake_message.backlog, 5);
}

CT_TEST_F(pep, listening_that_fails_says_where_and_may_be_repeated)
{
	static const enum fake_call calls[] = {FAKE_CREATE_ID, FAKE_BIND_ADDR,
					       FAKE_LISTEN};
	int objects;

	for (size_t i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
		CT_ASSERT_TRUE(world_new_pep(t));
		objects = fake_objects;
		fake_fail(calls[i], 1, EADDRINUSE);
		CT_EXPECT_EQ(fi_listen(t->pep), -FI_EADDRINUSE);
		CT_EXPECT_EQ(fake_objects, objects);
		if (i)
			CT_EXPECT_WARNED("10.0.0.1:");
		CT_EXPECT_EQ(fi_listen(t->pep), 0);
	}
}

CT_TEST_F(pep, a_listener_tells_the_port_it_got)
{
	union crn_addr addr, wanted = fake_addr(WORLD_ADDR, 0);
	size_t len = sizeof(addr);

	CT_ASSERT_TRUE(world_new_pep(t));
	CT_EXPECT_EQ(fi_getname(&t->pep->fid, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &wanted, sizeof(addr.in));
	CT_EXPECT_EQ(fi_listen(t->pep), 0);
	CT_EXPECT_EQ(fi_getname(&t->pep->fid, &addr, &len), 0);
	CT_EXPECT_EQ(crn_addr_port(&addr.sa), 40000);
	len = 3;
	CT_EXPECT_EQ(fi_getname(&t->pep->fid, &addr, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(addr.in));
}

CT_TEST_F(pep, a_name_is_given_before_listening)
{
	union crn_addr addr, other = fake_addr("10.0.0.1", 9999);
	size_t len = sizeof(addr);

	CT_ASSERT_TRUE(world_new_pep(t));
	CT_EXPECT_EQ(fi_setname(&t->pep->fid, &other, 3), -FI_EINVAL);
	CT_EXPECT_EQ(fi_setname(&t->pep->fid, &other, sizeof(other.in)), 0);
	CT_EXPECT_EQ(fi_listen(t->pep), 0);
	CT_EXPECT_EQ(fi_getname(&t->pep->fid, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &other, sizeof(addr.in));
	CT_EXPECT_EQ(fi_setname(&t->pep->fid, &other, sizeof(other.in)), -FI_EOPBADSTATE);
}

/* As programs do that take a socket's place: fi_passive_ep, fi_setname, fi_listen. */
CT_TEST_F(pep, one_without_a_name_gets_one_or_listens_everywhere)
{
	static const struct {
		const char *addr; /* NULL: none */
		uint32_t format;
		int family;
	} rows[] = {{WORLD_ADDR, FI_SOCKADDR_IN, AF_INET},
		    {NULL, FI_SOCKADDR_IN, AF_INET},
		    {NULL, FI_SOCKADDR_IN6, AF_INET6}};
	union crn_addr addr, name;
	size_t len;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
		world_forget_src(t);
		t->info->addr_format = rows[i].format;
		CT_ASSERT_TRUE(world_new_pep(t));
		len = sizeof(addr);
		CT_EXPECT_EQ(fi_getname(&t->pep->fid, &addr, &len), -FI_ENODATA);
		if (rows[i].addr) {
			name = fake_addr(rows[i].addr, 77);
			CT_EXPECT_EQ(fi_setname(&t->pep->fid, &name, sizeof(name.in)), 0);
		}
		CT_EXPECT_EQ(fi_listen(t->pep), 0);
		len = sizeof(addr);
		CT_EXPECT_EQ(fi_getname(&t->pep->fid, &addr, &len), 0);
		CT_EXPECT_EQ(addr.sa.sa_family, rows[i].family);
		CT_EXPECT_EQ(crn_addr_is_any(&addr.sa), !rows[i].addr);
		CT_EXPECT_NE(crn_addr_port(&addr.sa), 0);
	}
}

static int open_pep(struct world *w, struct fid **fid)
{
	struct fid_pep *pep = NULL;
	int ret = fi_passive_ep(w->fabric, w->info, &pep, NULL);

	*fid = ret ? NULL : &pep->fid;
	return ret;
}

CT_TEST_F(pep, opening_fails_cleanly_wherever_memory_ends)
{
	expect_survives_enomem(t, open_pep);
}

CT_TEST_F(pep, operations_that_are_not_offered_say_so)
{
	void *ops;

	CT_ASSERT_EQ(fi_passive_ep(t->fabric, t->info, &t->pep, NULL), 0);
	CT_EXPECT_EQ(t->pep->fid.ops->ops_open(&t->pep->fid, "x", 0, &ops, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(t->pep->cm->getpeer(NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(t->pep->cm->connect(NULL, NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(t->pep->cm->accept(NULL, NULL, 0), -FI_ENOSYS);
}
