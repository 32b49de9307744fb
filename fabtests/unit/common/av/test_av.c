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
	size_t i;
	int ret;

	CT_EXPECT_EQ(crn_av_init(&av, NULL, NULL, FI_SOCKADDR, true, NULL), -FI_EINVAL);
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		attr = rows[i].attr;
		ret = crn_av_init(&av, NULL, &attr, rows[i].format, true, NULL);
		CT_EXPECT_EQ(ret, rows[i].ret);
		if (!ret)
			CT_EXPECT_EQ(fi_close(&av.fid.fid), 0);
	}
}

CT_TEST(av, says_what_it_is)
{
	struct av_world w;

	av_world_open(&w, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(w.av.fid.fid.fclass, FI_CLASS_AV);
	CT_EXPECT_EQ(w.av.fid.fid.context, &w);
	CT_EXPECT_EQ(w.av.domain, &w.domain);
	av_world_close(&w);
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
CT_TEST(av, is_busy_while_an_endpoint_is_bound)
{
	struct av_world w;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	atomic_fetch_add(&w.av.refs, 1);
	CT_EXPECT_EQ(fi_close(&w.av.fid.fid), -FI_EBUSY);
	CT_EXPECT_EQ(insert_in(&w, 1), 0);
	atomic_fetch_sub(&w.av.refs, 1);
	av_world_close(&w);
}

/* "Associates an event queue with the AV. [...] Flags are reserved for future use and
 * must be 0." */
CT_TEST(av, binds_one_event_queue_of_its_fabric)
{
	struct fid_fabric other;
	struct fid cq = {.fclass = FI_CLASS_CQ};
	struct av_world w;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, FI_EVENT);
	CT_EXPECT_EQ(fi_av_bind(&w.av.fid, &cq, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_av_bind(&w.av.fid, &w.eq.fid.fid, 1), -FI_EINVAL);
	w.eq.fabric = &other;
	CT_EXPECT_EQ(fi_av_bind(&w.av.fid, &w.eq.fid.fid, 0), -FI_EINVAL);
	w.eq.fabric = &w.fabric;
	CT_EXPECT_EQ(fi_av_bind(&w.av.fid, &w.eq.fid.fid, 0), 0);
	CT_EXPECT_EQ(fi_av_bind(&w.av.fid, &w.eq.fid.fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&w.eq.fid.fid), -FI_EBUSY);
	av_world_close(&w);
}

/* "If the actual address is larger than what can fit into the buffer, it will be
 * truncated. On output, addrlen is set to the size of the buffer needed" */
CT_TEST(av, lookup_gives_the_address_or_the_begin_of_it)
{
	struct sockaddr_in in = in_of(7), got = {0};
	struct av_world w;
	size_t len;

	av_world_open(&w, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	insert_in(&w, 7);
	len = sizeof(got) + 5;
	CT_EXPECT_EQ(fi_av_lookup(&w.av.fid, 0, &got, &len), 0);
	CT_EXPECT_EQ(len, sizeof(got));
	CT_EXPECT_MEMEQ(&got, &in, sizeof(in));
	memset(&got, 0x5a, sizeof(got));
	len = 4;
	CT_EXPECT_EQ(fi_av_lookup(&w.av.fid, 0, &got, &len), 0);
	CT_EXPECT_EQ(len, sizeof(got));
	CT_EXPECT_MEMEQ(&got, &in, 4);
	CT_EXPECT_EQ(((char *)&got)[4], 0x5a);
	len = 0;
	CT_EXPECT_EQ(fi_av_lookup(&w.av.fid, 0, NULL, &len), 0);
	CT_EXPECT_EQ(len, sizeof(got));
	av_world_close(&w);
}

CT_TEST(av, lookup_of_what_was_not_inserted_is_an_error)
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
	struct av_world w;
	size_t i, len;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	insert_in(&w, 7);
	for (i = 0; i < CRN_COUNT(none); i++) {
		len = sizeof(got);
		CT_EXPECT_EQ(fi_av_lookup(&w.av.fid, none[i], &got, &len), -FI_EINVAL);
		CT_EXPECT_EQ(crn_av_addr(&w.av, none[i]), NULL);
		CT_EXPECT_EQ(crn_av_peer(&w.av, none[i]), NULL);
		CT_EXPECT_EQ(remove_one(&w, none[i]), -FI_EINVAL);
	}
	av_world_close(&w);
}

/* "On output, addrlen is set to the size of the buffer needed to store the address. [...]
 * If the provided buffer is too small, the results will be truncated. fi_av_straddr
 * returns a pointer to buf." */
CT_TEST(av, an_address_has_the_text_that_getinfo_reads)
{
	struct sockaddr_in in = in_of(7);
	struct sockaddr_in6 in6 = in6_of(7);
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct av_world w;
	char text[80];
	size_t len = sizeof(text);

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR, 0);
	CT_EXPECT_EQ(fi_av_straddr(&w.av.fid, &in, text, &len), text);
	CT_EXPECT_STREQ(text, "fi_sockaddr_in://10.0.0.7:1007");
	CT_EXPECT_EQ(len, strlen(text) + 1);
	len = 10;
	memset(text, '-', sizeof(text));
	CT_EXPECT_EQ(fi_av_straddr(&w.av.fid, &in, text, &len), text);
	CT_EXPECT_STREQ(text, "fi_sockad");
	CT_EXPECT_EQ(text[10], '-');
	CT_EXPECT_EQ(len, strlen("fi_sockaddr_in://10.0.0.7:1007") + 1);
	len = sizeof(text);
	fi_av_straddr(&w.av.fid, &in6, text, &len);
	CT_EXPECT_STREQ(text, "fi_sockaddr_in6://[fd00::7]:1007");
	len = sizeof(text);
	fi_av_straddr(&w.av.fid, &other, text, &len);
	CT_EXPECT_STREQ(text, "(unknown family 1)");
	len = 0;
	CT_EXPECT_EQ(fi_av_straddr(&w.av.fid, &in, NULL, &len), NULL);
	CT_EXPECT_EQ(len, strlen("fi_sockaddr_in://10.0.0.7:1007") + 1);
	av_world_close(&w);
}

/* "The removed address [...] is invalid until it is returned again by a new
 * fi_av_insert.", "providers are required to support the removal, followed by the
 * re-insertion of an address" */
CT_TEST(av, a_removed_address_may_be_inserted_again)
{
	struct sockaddr_in in = in_of(1);
	struct av_world w;

	av_world_open(&w, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	insert_in(&w, 0);
	CT_EXPECT_EQ(insert_in(&w, 1), 1);
	CT_EXPECT_EQ(remove_one(&w, 1), 0);
	CT_EXPECT_STREQ(text_at(&w, 1), "");
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(remove_one(&w, 1), -FI_EINVAL);
	CT_EXPECT_EQ(insert_in(&w, 1), 1);
	CT_EXPECT_STREQ(text_at(&w, 1), "10.0.0.1:1001");
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), 1);
	av_world_close(&w);
}

/* "Flags are reserved for future use and must be 0." */
CT_TEST(av, removal_removes_what_it_can)
{
	fi_addr_t addrs[] = {0, FI_ADDR_NOTAVAIL, 2};
	struct av_world w;
	unsigned int i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	for (i = 0; i < 3; i++)
		insert_in(&w, i);
	CT_EXPECT_EQ(fi_av_remove(&w.av.fid, addrs, 3, FI_MORE), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(&w, 0), "10.0.0.0:1000");
	CT_EXPECT_EQ(fi_av_remove(&w.av.fid, addrs, 3, 0), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(&w, 0), "");
	CT_EXPECT_STREQ(text_at(&w, 1), "10.0.0.1:1001");
	CT_EXPECT_STREQ(text_at(&w, 2), "");
	CT_EXPECT_EQ(fi_av_remove(&w.av.fid, addrs, 0, 0), 0);
	av_world_close(&w);
}

/* fi_cq(3): "Returned source addressing data is converted from the native address used by
 * the underlying fabric into an fi_addr_t" */
CT_TEST(av, an_address_leads_back_to_its_fi_addr)
{
	struct sockaddr_in in, other_port;
	struct sockaddr_in6 in6 = in6_of(3), scoped;
	struct sockaddr unknown = {.sa_family = AF_UNIX};
	struct av_world w;
	fi_addr_t place;
	unsigned int i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR, 0);
	in = in_of(0);
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), FI_ADDR_NOTAVAIL);
	for (i = 0; i < 300; i++)
		CT_EXPECT_EQ(insert_in(&w, i), i);
	CT_EXPECT_EQ(fi_av_insert(&w.av.fid, &in6, 1, &place, 0, NULL), 1);
	for (i = 0; i < 300; i++) {
		in = in_of(i);
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), i);
	}
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in6), 300);
	/* Of a peer's link-local address the receiver knows the scope. */
	scoped = in6;
	scoped.sin6_scope_id = 2;
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&scoped), 300);
	other_port = in_of(7);
	other_port.sin_port = htons(1);
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&other_port),
		     FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(crn_av_find(&w.av, &unknown), FI_ADDR_NOTAVAIL);
	for (i = 0; i < 300; i += 2)
		CT_EXPECT_EQ(remove_one(&w, i), 0);
	for (i = 0; i < 300; i++) {
		in = in_of(i);
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in),
			     i % 2 ? i : FI_ADDR_NOTAVAIL);
	}
	av_world_close(&w);
}

/* "Attempting to insert a duplicate copy of the same address into an AV may result in
 * undefined behavior": here each copy is an address of its own. */
CT_TEST(av, of_copies_the_first_is_found)
{
	struct sockaddr_in in = in_of(5);
	struct av_world w;
	fi_addr_t i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	for (i = 0; i < 100; i++)
		CT_EXPECT_EQ(insert_in(&w, 5), i);
	for (i = 0; i < 100; i++) {
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), i);
		CT_EXPECT_EQ(remove_one(&w, i), 0);
	}
	av_world_close(&w);
}

/* The others lead nowhere while one more is inserted: who looked at them would end. All
 * fit into the first chunk, so that no list is made anew. */
CT_TEST(av, a_copy_is_inserted_without_a_look_at_those_between_first_and_last)
{
	const unsigned int copies = 60;
	struct sockaddr_in in = in_of(5);
	uint32_t next[60] = {0};
	struct av_world w;
	unsigned int i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	for (i = 0; i < copies; i++) {
		CT_EXPECT_EQ(insert_in(&w, 5), i);
		if (i < 2)
			continue;
		next[i - 1] = crn_av_entry(&w.av, i - 1)->next;
		crn_av_entry(&w.av, i - 1)->next = UINT32_MAX;
	}
	for (i = 1; i < copies - 1; i++)
		crn_av_entry(&w.av, i)->next = next[i];
	for (i = 0; i < copies; i++) {
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), i);
		CT_EXPECT_EQ(remove_one(&w, i), 0);
	}
	av_world_close(&w);
}

/* From either end and from between; what is left keeps its order. */
CT_TEST(av, copies_are_removed_in_any_order)
{
	static const fi_addr_t order[] = {4, 2, 0, 3, 1};
	static const fi_addr_t first[] = {0, 0, 1, 1, FI_ADDR_NOTAVAIL};
	struct sockaddr_in in = in_of(5);
	struct av_world w;
	size_t i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	for (i = 0; i < CRN_COUNT(order); i++)
		CT_EXPECT_EQ(insert_in(&w, 5), i);
	for (i = 0; i < CRN_COUNT(order); i++) {
		CT_EXPECT_EQ(remove_one(&w, order[i]), 0);
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), first[i]);
	}
	CT_EXPECT_EQ(insert_in(&w, 5), 0);
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), 0);
	av_world_close(&w);
}

CT_TEST(av, of_endpoints_of_one_host_each_is_found)
{
	struct sockaddr_in in = in_of(0);
	struct av_world w;
	fi_addr_t i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	for (i = 0; i < 500; i++) {
		in.sin_port = htons((uint16_t)(2000 + i));
		CT_EXPECT_EQ(fi_av_insert(&w.av.fid, &in, 1, NULL, 0, NULL), 1);
	}
	for (i = 0; i < 500; i++) {
		in.sin_port = htons((uint16_t)(2000 + i));
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), i);
	}
	in.sin_port = htons(1999);
	CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in), FI_ADDR_NOTAVAIL);
	av_world_close(&w);
}

CT_TEST(av, sets_of_addresses_are_not_offered)
{
	struct fi_av_set_attr attr = {0};
	struct fid_av_set *set;
	struct av_world w;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(w.av.fid.ops->av_set(&w.av.fid, &attr, &set, NULL), -FI_ENOSYS);
	av_world_close(&w);
}
