/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_av_insertsvc and fi_av_insertsym. Above each test stands the sentence of fi_av(3)
 * that it is about. Names are resolved without a network: numbers, and localhost. */
#include <limits.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "av_world.h"

static int insertsym(struct av_world *w, const char *node, size_t nodecnt,
		     const char *service, size_t svccnt)
{
	static fi_addr_t places[64];

	return fi_av_insertsym(&w->av.fid, node, nodecnt, service, svccnt, places, 0,
			       NULL);
}

static void set_up(struct av_world *w)
{
	av_world_open(w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
}

CT_FIXTURE(av_names, struct av_world, set_up, av_world_close);

/* "allows the application to specify the node and service names, similar to the
 * fi_getinfo inputs" */
CT_TEST_F(av_names, one_node_and_service)
{
	fi_addr_t place = 5;

	av_world_open(t, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "10.1.1.1", "5000", &place, 0, NULL), 1);
	CT_EXPECT_EQ(place, 0);
	CT_EXPECT_STREQ(text_at(t, 0), "10.1.1.1:5000");
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "10.1.1.1", NULL, &place, 0, NULL), 1);
	CT_EXPECT_STREQ(text_at(t, place), "10.1.1.1:0");
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, NULL, "5000", &place, 0, NULL), 1);
	CT_EXPECT_STREQ(text_at(t, place), "127.0.0.1:5000");
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, NULL, NULL, &place, 0, NULL),
		     -FI_EINVAL);
}

CT_TEST_F(av_names, a_name_that_has_no_address_of_the_format_fails)
{
	fi_addr_t place = 5;
	int err = 0;

	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "fd00::1", "1", &place, FI_SYNC_ERR,
				     &err),
		     0);
	CT_EXPECT_EQ(place, FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(err, FI_ENODATA);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "10.0.0.1", "1", &place, FI_INJECT,
				     NULL),
		     -FI_EBADFLAGS);
	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR_IN6, 0);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "fd00::1", "1", &place, 0, NULL), 1);
	CT_EXPECT_STREQ(text_at(t, 0), "[fd00::1]:1");
}

/* "the following addresses will be inserted into the AV in the order
 * shown: 10.1.1.1:5000, 10.1.1.1:5001, 10.1.1.2:5000, 10.1.1.2:5001" */
CT_TEST_F(av_names, the_example_of_the_manual_page)
{
	CT_EXPECT_EQ(insertsym(t, "10.1.1.1", 2, "5000", 2), 4);
	CT_EXPECT_STREQ(text_at(t, 0), "10.1.1.1:5000");
	CT_EXPECT_STREQ(text_at(t, 1), "10.1.1.1:5001");
	CT_EXPECT_STREQ(text_at(t, 2), "10.1.1.2:5000");
	CT_EXPECT_STREQ(text_at(t, 3), "10.1.1.2:5001");
}

/* "Inserted node addresses will be of the range {node, node + nodecnt - 1}, inclusive."
 */
CT_TEST_F(av_names, addresses_count_on_across_their_bytes)
{
	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR, 0);
	CT_EXPECT_EQ(insertsym(t, "10.1.255.254", 3, "1", 1), 3);
	CT_EXPECT_STREQ(text_at(t, 1), "10.1.255.255:1");
	CT_EXPECT_STREQ(text_at(t, 2), "10.2.0.0:1");
	CT_EXPECT_EQ(insertsym(t, "fd00::1:ffff", 2, "1", 1), 2);
	CT_EXPECT_STREQ(text_at(t, 3), "[fd00::1:ffff]:1");
	CT_EXPECT_STREQ(text_at(t, 4), "[fd00::2:0]:1");
}

CT_TEST_F(av_names, what_lies_beyond_the_last_address_or_port_fails)
{
	fi_addr_t places[6];
	int errs[6];

	CT_EXPECT_EQ(fi_av_insertsym(&t->av.fid, "255.255.255.254", 3, "65535", 2, places,
				     FI_SYNC_ERR, errs),
		     2);
	CT_EXPECT_STREQ(text_at(t, 0), "255.255.255.254:65535");
	CT_EXPECT_STREQ(text_at(t, 1), "255.255.255.255:65535");
	CT_EXPECT_EQ(errs[0], 0);
	CT_EXPECT_EQ(errs[1], FI_EINVAL);
	CT_EXPECT_EQ(errs[2], 0);
	CT_EXPECT_EQ(errs[3], FI_EINVAL);
	CT_EXPECT_EQ(errs[4], FI_EINVAL);
	CT_EXPECT_EQ(places[2], 1);
	CT_EXPECT_EQ(places[4], FI_ADDR_NOTAVAIL);
}

/* "If node is a non-numeric string, such as a hostname, it must contain a numeric suffix
 * if nodecnt > 1." */
CT_TEST_F(av_names, a_host_name_counts_at_its_end)
{
	CT_EXPECT_EQ(insertsym(t, "localhost", 2, "1", 1), -FI_EINVAL);
	CT_EXPECT_EQ(insertsym(t, "localhost", 1, "1", 2), 2);
	CT_EXPECT_STREQ(text_at(t, 1), "127.0.0.1:2");
}

CT_TEST_F(av_names, counts_of_nothing_and_of_too_much)
{
	CT_EXPECT_EQ(insertsym(t, "10.0.0.1", 0, "1", 5), 0);
	CT_EXPECT_EQ(insertsym(t, "10.0.0.1", 5, "1", 0), 0);
	CT_EXPECT_EQ(insertsym(t, "10.0.0.1", SIZE_MAX, "1", 2), -FI_EINVAL);
	CT_EXPECT_EQ(insertsym(t, "10.0.0.1", INT_MAX, "1", 2), -FI_EINVAL);
	/* What counts up has to begin somewhere. */
	CT_EXPECT_EQ(insertsym(t, NULL, 2, "1", 1), -FI_EINVAL);
	CT_EXPECT_EQ(insertsym(t, "10.0.0.1", 1, NULL, 2), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(t, 0), "");
}

/* "Supported flags are the same as for fi_av_insert.": FI_EVENT's results as well. */
CT_TEST_F(av_names, results_of_an_asynchronous_range_are_events)
{
	av_world_open_async(t);
	CT_EXPECT_EQ(fi_av_insertsym(&t->av.fid, "10.0.0.1", 1, "65534", 3, NULL, 0, t),
		     0);
	expect_failed(t, t, 2, FI_EINVAL);
	expect_inserted(t, t, 2);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "10.0.0.9", "1", NULL, 0, t), 0);
	expect_inserted(t, t, 1);
}

CT_TEST_F(av_names, memory_may_run_out)
{
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		av_world_open(t, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
		ct_fail_alloc(nth);
		ret = insertsym(t, "10.0.0.1", 1, "1", 2);
		if (!ct_alloc_failed())
			break;
		/* Each of the two finds no buckets, or the second does. */
		CT_EXPECT_EQ(ret, nth == 1 ? -FI_ENOMEM : 1);
	}
	CT_EXPECT_EQ(nth, 3);
	CT_EXPECT_EQ(ret, 2);
}
