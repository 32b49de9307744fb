/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening, closing, lookup, text, removal and the way back. Above each test stands the
 * sentence of fi_av(3) that it is about. */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "av_world.h"

/* "Provider will choose its preferred AV type. The AV type used will be returned through
 * the type field in fi_av_attr." */
CT_TEST(av, the_type_is_chosen_where_none_is_asked_for)
{
	struct fi_av_attr attr = {.type = FI_AV_UNSPEC};
	struct crn_av av;

	CT_EXPECT_EQ(crn_av_init(&av, NULL, &attr, FI_SOCKADDR, true, NULL), 0);
	CT_EXPECT_EQ(attr.type, FI_AV_TABLE);
	CT_EXPECT_EQ(fi_close(&av.fid.fid), 0);
	attr.type = FI_AV_MAP;
	CT_EXPECT_EQ(crn_av_init(&av, NULL, &attr, FI_SOCKADDR, true, NULL), 0);
	CT_EXPECT_EQ(attr.type, FI_AV_MAP);
	CT_EXPECT_EQ(fi_close(&av.fid.fid), 0);
}

CT_TEST(av, refuses_what_it_does_not_offer)
{
	static const struct {
		const char *what;
		struct fi_av_attr attr;
		uint32_t format;
		int ret;
	} rows[] = {
		{"all that is", {.flags = FI_EVENT | FI_SYMMETRIC}, FI_SOCKADDR_IN6, 0},
		{"hints", {.count = 1000, .ep_per_node = 4}, FI_SOCKADDR, 0},
		/* "The map_addr field is ignored if name is NULL." */
		{"map_addr", {.map_addr = "x"}, FI_SOCKADDR, 0},
		{"a name", {.name = "x"}, FI_SOCKADDR, -FI_ENOSYS},
		{"a name, read only",
		 {.name = "x", .flags = FI_READ},
		 FI_SOCKADDR,
		 -FI_ENOSYS},
		/* "An AV opened for read-only access must be named" */
		{"read only", {.flags = FI_READ}, FI_SOCKADDR, -FI_EINVAL},
		{"a flag", {.flags = FI_WRITE}, FI_SOCKADDR, -FI_EINVAL},
		{"receive contexts", {.rx_ctx_bits = 1}, FI_SOCKADDR, -FI_EINVAL},
		{"a type", {.type = FI_AV_TABLE + 1}, FI_SOCKADDR, -FI_EINVAL},
		{"InfiniBand", {.count = 0}, FI_SOCKADDR_IB, -FI_ENOSYS},
		{"text", {.count = 0}, FI_ADDR_STR, -FI_ENOSYS},
	};
	struct fi_av_attr attr;
	struct crn_av av;
	int ret;

	CT_EXPECT_EQ(crn_av_init(&av, NULL, NULL, FI_SOCKADDR, true, NULL), -FI_EINVAL);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		attr = rows[i].attr;
		ret = crn_av_init(&av, NULL, &attr, rows[i].format, true, NULL);
		CT_EXPECT_EQ(ret, rows[i].ret);
		if (!ret)
			CT_EXPECT_EQ(fi_close(&av.fid.fid), 0);
	}
}

static void set_up(struct av_world *w)
{
	av_world_open(w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
}

CT_FIXTURE(av, struct av_world, set_up, av_world_close);

CT_TEST_F(av, says_what_it_is)
{
	av_world_open(t, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(t->av.fid.fid.fclass, FI_CLASS_AV);
	CT_EXPECT_EQ(t->av.fid.fid.context, t);
	CT_EXPECT_EQ(t->av.domain, &t->domain);
}

/* "Indicates the expected number of addresses" */
CT_TEST(av, a_count_is_a_hint_and_no_bound)
{
	struct fi_av_attr attr = {.type = FI_AV_TABLE, .count = SIZE_MAX};
	struct crn_av av;

	CT_EXPECT_EQ(crn_av_init(&av, NULL, &attr, FI_SOCKADDR, true, NULL), 0);
	CT_EXPECT_EQ(av.size, 1 << 20);
	CT_EXPECT_EQ(fi_close(&av.fid.fid), 0);
	attr.count = 100;
	CT_EXPECT_EQ(crn_av_init(&av, NULL, &attr, FI_SOCKADDR, true, NULL), 0);
	CT_EXPECT_EQ(av.size, 128);
	CT_EXPECT_EQ(fi_close(&av.fid.fid), 0);
}

CT_TEST(av, memory_may_run_out_while_it_opens)
{
	struct fi_av_attr attr = {.type = FI_AV_TABLE};
	struct crn_av av;

	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_av_init(&av, NULL, &attr, FI_SOCKADDR, true, NULL), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
}

/* "If resources are still associated with the AV when attempting to close, the call will
 * return -FI_EBUSY." */
CT_TEST_F(av, is_busy_while_an_endpoint_is_bound)
{
	atomic_fetch_add(&t->av.refs, 1);
	CT_EXPECT_EQ(fi_close(&t->av.fid.fid), -FI_EBUSY);
	CT_EXPECT_EQ(insert_in(t, 1), 0);
	atomic_fetch_sub(&t->av.refs, 1);
}

/* "Associates an event queue with the AV. [...] Flags are reserved for future use and
 * must be 0." */
CT_TEST_F(av, binds_one_event_queue_of_its_fabric)
{
	struct fid_fabric other;
	struct fid cq = {.fclass = FI_CLASS_CQ};

	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR_IN, FI_EVENT);
	CT_EXPECT_EQ(fi_av_bind(&t->av.fid, &cq, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_av_bind(&t->av.fid, &t->eq.fid.fid, 1), -FI_EINVAL);
	t->eq.fabric = &other;
	CT_EXPECT_EQ(fi_av_bind(&t->av.fid, &t->eq.fid.fid, 0), -FI_EINVAL);
	t->eq.fabric = &t->fabric;
	CT_EXPECT_EQ(fi_av_bind(&t->av.fid, &t->eq.fid.fid, 0), 0);
	CT_EXPECT_EQ(fi_av_bind(&t->av.fid, &t->eq.fid.fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&t->eq.fid.fid), -FI_EBUSY);
}

/* "If the actual address is larger than what can fit into the buffer, it will be
 * truncated. On output, addrlen is set to the size of the buffer needed" */
CT_TEST_F(av, lookup_gives_the_address_or_the_begin_of_it)
{
	struct sockaddr_in in = in_of(7), got = {0};
	size_t len;

	av_world_open(t, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	insert_in(t, 7);
	len = sizeof(got) + 5;
	CT_EXPECT_EQ(fi_av_lookup(&t->av.fid, 0, &got, &len), 0);
	CT_EXPECT_EQ(len, sizeof(got));
	CT_EXPECT_MEMEQ(&got, &in, sizeof(in));
	memset(&got, 0x5a, sizeof(got));
	len = 4;
	CT_EXPECT_EQ(fi_av_lookup(&t->av.fid, 0, &got, &len), 0);
	CT_EXPECT_EQ(len, sizeof(got));
	CT_EXPECT_MEMEQ(&got, &in, 4);
	CT_EXPECT_EQ(((char *)&got)[4], 0x5a);
	len = 0;
	CT_EXPECT_EQ(fi_av_lookup(&t->av.fid, 0, NULL, &len), 0);
	CT_EXPECT_EQ(len, sizeof(got));
}

CT_TEST_F(av, lookup_of_what_was_not_inserted_is_an_error)
{
	static const fi_addr_t none[] = {1,
					 63,
					 64,
					 1ULL << 31,
					 1ULL << 32,
					 1ULL << 63,
					 FI_ADDR_NOTAVAIL,
					 FI_ADDR_NOTAVAIL - 1};
	struct sockaddr_in got;
	size_t len;

	insert_in(t, 7);
	for (size_t i = 0; i < CRN_COUNT(none); i++) {
		len = sizeof(got);
		CT_EXPECT_EQ(fi_av_lookup(&t->av.fid, none[i], &got, &len), -FI_EINVAL);
		CT_EXPECT_EQ(crn_av_addr(&t->av, none[i]), NULL);
		CT_EXPECT_EQ(crn_av_peer(&t->av, none[i]), NULL);
		CT_EXPECT_EQ(remove_one(t, none[i]), -FI_EINVAL);
	}
}

/* "On output, addrlen is set to the size of the buffer needed to store the address. [...]
 * If the provided buffer is too small, the results will be truncated. fi_av_straddr
 * returns a pointer to buf." */
CT_TEST_F(av, an_address_has_the_text_that_getinfo_reads)
{
	struct sockaddr_in in = in_of(7);
	struct sockaddr_in6 in6 = in6_of(7);
	struct sockaddr other = {.sa_family = AF_UNIX};
	char text[80];
	size_t len = sizeof(text);

	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR, 0);
	CT_EXPECT_EQ(fi_av_straddr(&t->av.fid, &in, text, &len), text);
	CT_EXPECT_STREQ(text, "fi_sockaddr_in://10.0.0.7:1007");
	CT_EXPECT_EQ(len, strlen(text) + 1);
	len = 10;
	memset(text, '-', sizeof(text));
	CT_EXPECT_EQ(fi_av_straddr(&t->av.fid, &in, text, &len), text);
	CT_EXPECT_STREQ(text, "fi_sockad");
	CT_EXPECT_EQ(text[10], '-');
	CT_EXPECT_EQ(len, strlen("fi_sockaddr_in://10.0.0.7:1007") + 1);
	len = sizeof(text);
	fi_av_straddr(&t->av.fid, &in6, text, &len);
	CT_EXPECT_STREQ(text, "fi_sockaddr_in6://[fd00::7]:1007");
	len = sizeof(text);
	fi_av_straddr(&t->av.fid, &other, text, &len);
	CT_EXPECT_STREQ(text, "(unknown family 1)");
	len = 0;
	CT_EXPECT_EQ(fi_av_straddr(&t->av.fid, &in, NULL, &len), NULL);
	CT_EXPECT_EQ(len, strlen("fi_sockaddr_in://10.0.0.7:1007") + 1);
}

/* "The removed address [...] is invalid until it is returned again by a new
 * fi_av_insert.", "providers are required to support the removal, followed by the
 * re-insertion of an address" */
CT_TEST_F(av, a_removed_address_may_be_inserted_again)
{
	struct sockaddr_in in = in_of(1);

	av_world_open(t, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	insert_in(t, 0);
	CT_EXPECT_EQ(insert_in(t, 1), 1);
	CT_EXPECT_EQ(remove_one(t, 1), 0);
	CT_EXPECT_STREQ(text_at(t, 1), "");
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(remove_one(t, 1), -FI_EINVAL);
	CT_EXPECT_EQ(insert_in(t, 1), 1);
	CT_EXPECT_STREQ(text_at(t, 1), "10.0.0.1:1001");
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), 1);
}

/* "Flags are reserved for future use and must be 0." */
CT_TEST_F(av, removal_removes_what_it_can)
{
	fi_addr_t addrs[] = {0, FI_ADDR_NOTAVAIL, 2};

	for (unsigned int i = 0; i < 3; i++)
		insert_in(t, i);
	CT_EXPECT_EQ(fi_av_remove(&t->av.fid, addrs, 3, FI_MORE), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(t, 0), "10.0.0.0:1000");
	CT_EXPECT_EQ(fi_av_remove(&t->av.fid, addrs, 3, 0), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(t, 0), "");
	CT_EXPECT_STREQ(text_at(t, 1), "10.0.0.1:1001");
	CT_EXPECT_STREQ(text_at(t, 2), "");
	CT_EXPECT_EQ(fi_av_remove(&t->av.fid, addrs, 0, 0), 0);
}

/* fi_cq(3): "Returned source addressing data is converted from the native address used by
 * the underlying fabric into an fi_addr_t" */
CT_TEST_F(av, an_address_leads_back_to_its_fi_addr)
{
	struct sockaddr_in in, other_port;
	struct sockaddr_in6 in6 = in6_of(3), scoped;
	struct sockaddr unknown = {.sa_family = AF_UNIX};
	fi_addr_t place;

	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR, 0);
	in = in_of(0);
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), FI_ADDR_NOTAVAIL);
	for (unsigned int i = 0; i < 300; i++)
		CT_EXPECT_EQ(insert_in(t, i), i);
	CT_EXPECT_EQ(fi_av_insert(&t->av.fid, &in6, 1, &place, 0, NULL), 1);
	for (unsigned int i = 0; i < 300; i++) {
		in = in_of(i);
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), i);
	}
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in6), 300);
	/* Of a peer's link-local address the receiver knows the scope. */
	scoped = in6;
	scoped.sin6_scope_id = 2;
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&scoped), 300);
	other_port = in_of(7);
	other_port.sin_port = htons(1);
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&other_port),
		     FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(crn_av_find(&t->av, &unknown), FI_ADDR_NOTAVAIL);
	for (unsigned int i = 0; i < 300; i += 2)
		CT_EXPECT_EQ(remove_one(t, i), 0);
	for (unsigned int i = 0; i < 300; i++) {
		in = in_of(i);
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in),
			     i % 2 ? i : FI_ADDR_NOTAVAIL);
	}
}

/* "Attempting to insert a duplicate copy of the same address into an AV may result in
 * undefined behavior": here each copy is an address of its own. */
CT_TEST_F(av, of_copies_the_first_is_found)
{
	struct sockaddr_in in = in_of(5);

	for (fi_addr_t i = 0; i < 100; i++)
		CT_EXPECT_EQ(insert_in(t, 5), i);
	for (fi_addr_t i = 0; i < 100; i++) {
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), i);
		CT_EXPECT_EQ(remove_one(t, i), 0);
	}
}

/* The others lead nowhere while one more is inserted: who looked at them would end. All
 * fit into the first chunk, so that no list is made anew. */
CT_TEST_F(av, a_copy_is_inserted_without_a_look_at_those_between_first_and_last)
{
	const unsigned int copies = 60;
	struct sockaddr_in in = in_of(5);
	uint32_t next[60] = {0};

	for (unsigned int i = 0; i < copies; i++) {
		CT_EXPECT_EQ(insert_in(t, 5), i);
		if (i < 2)
			continue;
		next[i - 1] = crn_av_entry(&t->av, i - 1)->next;
		crn_av_entry(&t->av, i - 1)->next = UINT32_MAX;
	}
	for (unsigned int i = 1; i < copies - 1; i++)
		crn_av_entry(&t->av, i)->next = next[i];
	for (unsigned int i = 0; i < copies; i++) {
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), i);
		CT_EXPECT_EQ(remove_one(t, i), 0);
	}
}

/* From either end and from between; what is left keeps its order. */
CT_TEST_F(av, copies_are_removed_in_any_order)
{
	static const fi_addr_t order[] = {4, 2, 0, 3, 1};
	static const fi_addr_t first[] = {0, 0, 1, 1, FI_ADDR_NOTAVAIL};
	struct sockaddr_in in = in_of(5);

	for (size_t i = 0; i < CRN_COUNT(order); i++)
		CT_EXPECT_EQ(insert_in(t, 5), i);
	for (size_t i = 0; i < CRN_COUNT(order); i++) {
		CT_EXPECT_EQ(remove_one(t, order[i]), 0);
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), first[i]);
	}
	CT_EXPECT_EQ(insert_in(t, 5), 0);
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), 0);
}

CT_TEST_F(av, of_endpoints_of_one_host_each_is_found)
{
	struct sockaddr_in in = in_of(0);

	for (fi_addr_t i = 0; i < 500; i++) {
		in.sin_port = htons((uint16_t)(2000 + i));
		CT_EXPECT_EQ(fi_av_insert(&t->av.fid, &in, 1, NULL, 0, NULL), 1);
	}
	for (fi_addr_t i = 0; i < 500; i++) {
		in.sin_port = htons((uint16_t)(2000 + i));
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), i);
	}
	in.sin_port = htons(1999);
	CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in), FI_ADDR_NOTAVAIL);
}

CT_TEST_F(av, sets_of_addresses_are_not_offered)
{
	struct fi_av_set_attr attr = {0};
	struct fid_av_set *set;

	CT_EXPECT_EQ(t->av.fid.ops->av_set(&t->av.fid, &attr, &set, NULL), -FI_ENOSYS);
}
