/* SPDX-License-Identifier: BSD-2-Clause */
/* Address vectors of datagram endpoints. */
#include "world_dgram.h"

static const char *text_at(struct dgram_world *w, fi_addr_t fi_addr)
{
	static char text[PVB_UD_STRLEN];
	struct pvb_ud_addr addr;
	size_t len = sizeof(addr);

	if (fi_av_lookup(w->av, fi_addr, &addr, &len))
		return "";
	CT_EXPECT_EQ(len, sizeof(addr));
	len = sizeof(text);
	return fi_av_straddr(w->av, &addr, text, &len);
}

CT_FIXTURE(dgram_av, struct dgram_world, dgram_start_domain, dgram_close);

CT_TEST_F(dgram_av, addresses_are_inserted_looked_up_and_removed)
{
	struct pvb_ud_addr addrs[3];
	fi_addr_t at[3];

	CT_ASSERT_TRUE(dgram_open_domain(t, &(struct dgram_opts){.ib = true}));
	addrs[0] = dgram_addr(t, 2);
	addrs[1] = (struct pvb_ud_addr){.qpn = 5};
	addrs[2] = dgram_addr(t, 3);
	CT_EXPECT_EQ(fi_av_insert(t->av, addrs, 3, at, 0, NULL), 2);
	CT_EXPECT_EQ(at[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_STREQ(text_at(t, at[2]),
			"fi_addr_ib_ud://::ffff:10.0.1.3:503/103/ffff/0");
	CT_EXPECT_EQ(fi_av_remove(t->av, at, 1, 0), 0);
	CT_EXPECT_STREQ(text_at(t, at[0]), "");
	CT_EXPECT_EQ(fi_av_remove(t->av, at, 1, 0), -FI_EINVAL);
}

CT_TEST_F(dgram_av, nodes_and_services_name_addresses)
{
	fi_addr_t at[6];
	int err[6];

	CT_EXPECT_EQ(fi_av_insertsvc(t->av, "10.0.0.9", "0x123", at, 0, NULL), 1);
	CT_EXPECT_STREQ(text_at(t, at[0]), "fi_addr_ib_ud://::ffff:10.0.0.9:123/0/0/0");
	CT_EXPECT_EQ(fi_av_insertsvc(t->av, "fi_addr_ib_ud://fe80::1:22/0/ffff/1", NULL,
				     at, 0, NULL),
		     1);
	CT_EXPECT_STREQ(text_at(t, at[0]), "fi_addr_ib_ud://fe80::1:22/0/ffff/1");
	CT_EXPECT_EQ(fi_av_insertsym(t->av, "10.0.0.255", 2, "7", 3, at, 0, NULL), 6);
	CT_EXPECT_STREQ(text_at(t, at[2]), "fi_addr_ib_ud://::ffff:10.0.0.255:9/0/0/0");
	CT_EXPECT_STREQ(text_at(t, at[3]), "fi_addr_ib_ud://::ffff:10.0.1.0:7/0/0/0");
	CT_EXPECT_EQ(fi_av_insertsym(t->av, "10.0.0.1", 1, "0xfffffe", 3, at, FI_SYNC_ERR,
				     err),
		     2);
	CT_EXPECT_EQ(err[1], 0);
	CT_EXPECT_EQ(err[2], FI_EINVAL);
	CT_EXPECT_EQ(fi_av_insertsvc(t->av, "10.0.0.9", "x", at, FI_SYNC_ERR, err), 0);
	CT_EXPECT_EQ(err[0], FI_EINVAL);
	CT_EXPECT_EQ(fi_av_insertsvc(t->av, "10.0.0.9", NULL, at, FI_SYNC_ERR, err), 0);
	CT_EXPECT_EQ(err[0], FI_EINVAL);
	CT_EXPECT_EQ(fi_av_insertsvc(t->av, NULL, "5", at, FI_SYNC_ERR, err), 0);
	CT_EXPECT_EQ(err[0], FI_EINVAL);
}

/* The LID of a host is not known, and a device sends nothing to LID 0. */
CT_TEST_F(dgram_av, an_address_without_a_lid_is_refused_on_infiniband)
{
	struct pvb_ud_addr addr;
	fi_addr_t at[4];
	int err;

	CT_ASSERT_TRUE(dgram_open_domain(t, &(struct dgram_opts){.ib = true}));
	CT_EXPECT_EQ(fi_av_insertsvc(t->av, "10.0.0.9", "0x123", at, FI_SYNC_ERR, &err),
		     0);
	CT_EXPECT_EQ(err, FI_EINVAL);
	CT_EXPECT_EQ(at[0], FI_ADDR_NOTAVAIL);
	CT_EXPECT_STRSTR(ct_log_last(), "::ffff:10.0.0.9:123/0/0/0 has no LID");
	CT_EXPECT_EQ(fi_av_insertsym(t->av, "10.0.0.9", 2, "7", 2, at, 0, NULL), 0);
	addr = dgram_addr(t, 2);
	addr.lid = 0;
	CT_EXPECT_EQ(fi_av_insert(t->av, &addr, 1, at, FI_SYNC_ERR, &err), 0);
	CT_EXPECT_EQ(err, FI_EINVAL);
}

/* fi_av(3): FI_EVENT; the queue is of the same fabric, and is there as long as the
 * vector.
 */
CT_TEST_F(dgram_av, insertions_are_events_of_who_asks_for_them)
{
	struct fi_av_attr attr = {.type = FI_AV_TABLE, .flags = FI_EVENT};
	struct fi_eq_entry entry;
	struct pvb_ud_addr addrs[2];
	struct fi_eq_err_entry err = {0};
	struct fid_fabric *fabric;
	struct fid_eq *eq, *other;
	struct fid_av *av;
	fi_addr_t at[2];
	uint32_t event;

	CT_EXPECT_EQ(pvb_fabric_open(t->info->fabric_attr, &fabric, NULL), 0);
	CT_EXPECT_EQ(fi_eq_open(fabric, NULL, &other, NULL), 0);
	CT_EXPECT_EQ(fi_eq_open(t->fabric, NULL, &eq, NULL), 0);
	CT_EXPECT_EQ(fi_av_open(t->domain, &attr, &av, NULL), 0);
	addrs[0] = dgram_addr(t, 2);
	addrs[1] = (struct pvb_ud_addr){.qpn = 5};
	CT_EXPECT_EQ(fi_av_insert(av, addrs, 2, at, 0, NUMBER(9)), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_av_bind(av, &other->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_av_bind(av, &eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_close(&eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_av_insert(av, addrs, 2, at, 0, NUMBER(9)), 0);
	CT_EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof(entry), 0), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_eq_readerr(eq, &err, 0), sizeof(err));
	CT_EXPECT_EQ(err.err, FI_EINVAL);
	CT_EXPECT_EQ(err.data, 1);
	CT_EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof(entry), 0), sizeof(entry));
	CT_EXPECT_EQ(event, FI_AV_COMPLETE);
	CT_EXPECT_EQ(entry.fid, &av->fid);
	CT_EXPECT_EQ(entry.context, NUMBER(9));
	CT_EXPECT_EQ(entry.data, 1);
	CT_EXPECT_EQ(fi_close(&av->fid), 0);
	CT_EXPECT_EQ(fi_close(&eq->fid), 0);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
	CT_EXPECT_EQ(fi_close(&fabric->fid), 0);
}

CT_TEST_F(dgram_av, a_vector_is_busy_while_an_endpoint_uses_it_and_keeps_its_domain)
{
	CT_ASSERT_TRUE(dgram_open(t, NULL));
	CT_EXPECT_EQ(fi_close(&t->av->fid), -FI_EBUSY);
	dgram_close_ep(t);
	CT_EXPECT_EQ(fi_close(&t->cq->fid), 0);
	t->cq = NULL;
	CT_EXPECT_EQ(fi_close(&t->domain->fid), -FI_EBUSY);
}

CT_TEST(dgram_av, domains_of_connections_have_none)
{
	struct fi_av_attr attr = {.type = FI_AV_TABLE};
	struct fid_av *av;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_EXPECT_EQ(fi_av_open(w.domain, &attr, &av, NULL), -FI_ENOSYS);
	world_close(&w);
}
