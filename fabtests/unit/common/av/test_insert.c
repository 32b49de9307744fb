/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_av_insert: where addresses go, and where the result of each does. Above each test
 * stands the sentence of fi_av(3) that it is about. */
#include <limits.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "av_world.h"

static int insert(struct av_world *w, const void *addrs, size_t count, fi_addr_t *fi_addr,
		  uint64_t flags, void *context)
{
	return fi_av_insert(&w->av.fid, addrs, count, fi_addr, flags, context);
}

/* "The index of the first address inserted into an FI_AV_TABLE will be 0, and successive
 * insertions will be given sequential indices.", "Insertion calls for an AV opened for
 * synchronous operation will return the number of addresses that were successfully
 * inserted." */
CT_TEST(av_insert, indices_are_sequential_across_calls)
{
	static struct sockaddr_in in[500];
	static fi_addr_t places[500];
	struct av_world w;
	unsigned int i;

	for (i = 0; i < 500; i++)
		in[i] = in_of(i);
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, FI_SYMMETRIC);
	CT_EXPECT_EQ(insert(&w, in, 3, places, 0, NULL), 3);
	CT_EXPECT_EQ(insert(&w, in + 3, 0, places + 3, FI_MORE, NULL), 0);
	CT_EXPECT_EQ(insert(&w, in + 3, 497, places + 3, FI_MORE, NULL), 497);
	for (i = 0; i < 500; i++) {
		const struct sockaddr *addr = crn_av_addr(&w.av, i);

		CT_EXPECT_EQ(places[i], i);
		CT_ASSERT_NE(addr, NULL);
		CT_EXPECT_MEMEQ(addr, &in[i], sizeof(in[i]));
	}
	av_world_close(&w);
}

/* "An address is inserted at the lowest index that corresponds to an unused table
 * location" */
CT_TEST(av_insert, the_lowest_free_index_is_taken)
{
	struct av_world w;
	unsigned int i;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	for (i = 0; i < 100; i++)
		insert_in(&w, i);
	CT_EXPECT_EQ(remove_one(&w, 70), 0);
	CT_EXPECT_EQ(remove_one(&w, 5), 0);
	CT_EXPECT_EQ(remove_one(&w, 6), 0);
	CT_EXPECT_EQ(insert_in(&w, 200), 5);
	CT_EXPECT_EQ(insert_in(&w, 201), 6);
	CT_EXPECT_EQ(insert_in(&w, 202), 70);
	CT_EXPECT_EQ(insert_in(&w, 203), 100);
	av_world_close(&w);
}

/* "Because insertions occur at a pre-determined index, the fi_addr parameter may be
 * NULL.": not with FI_AV_MAP. */
CT_TEST(av_insert, a_table_needs_no_buffer_for_indices)
{
	struct sockaddr_in in[2] = {in_of(1), in_of(2)};
	struct av_world w;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(&w, in, 2, NULL, 0, NULL), 2);
	CT_EXPECT_STREQ(text_at(&w, 1), "10.0.0.2:1002");
	av_world_close(&w);
	av_world_open(&w, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(&w, in, 2, NULL, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(insert(&w, in, 0, NULL, 0, NULL), 0);
	CT_EXPECT_STREQ(text_at(&w, 0), "");
	av_world_close(&w);
}

/* "In the case of failure, the return value will be less than the number of addresses
 * that was specified.", "the fi_addr buffer associated with a failed or aborted insertion
 * will be set to FI_ADDR_NOTAVAIL" */
CT_TEST(av_insert, an_address_that_fails_takes_no_index)
{
	struct sockaddr_in in[4] = {in_of(0), in_of(1), in_of(2), in_of(3)};
	fi_addr_t places[4] = {0};
	struct av_world w;

	in[0].sin_family = AF_UNIX;
	in[2].sin_family = AF_INET6;
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(&w, in, 4, places, 0, NULL), 2);
	CT_EXPECT_EQ(places[0], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[1], 0);
	CT_EXPECT_EQ(places[2], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[3], 1);
	CT_EXPECT_STREQ(text_at(&w, 1), "10.0.0.3:1003");
	av_world_close(&w);
}

/* "Successful insertions will be updated to 0. Failures will contain a fabric errno
 * code." */
CT_TEST(av_insert, results_go_to_the_array_of_FI_SYNC_ERR)
{
	struct sockaddr_in in[3] = {in_of(0), in_of(1), in_of(2)};
	int errs[3] = {-1, -1, -1};
	fi_addr_t places[3];
	struct av_world w;

	in[1].sin_family = 0;
	av_world_open(&w, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(&w, in, 3, places, FI_SYNC_ERR, errs), 2);
	CT_EXPECT_EQ(errs[0], 0);
	CT_EXPECT_EQ(errs[1], FI_EINVAL);
	CT_EXPECT_EQ(errs[2], 0);
	CT_EXPECT_EQ(places[1], FI_ADDR_NOTAVAIL);
	av_world_close(&w);
}

CT_TEST(av_insert, without_FI_SYNC_ERR_the_context_is_not_written_to)
{
	struct sockaddr_in in = in_of(0);
	struct av_world w;
	int context = 7;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(&w, &in, 1, NULL, 0, &context), 1);
	CT_EXPECT_EQ(context, 7);
	av_world_close(&w);
}

CT_TEST(av_insert, arguments_that_make_no_sense_are_refused)
{
	struct sockaddr_in in = in_of(0);
	fi_addr_t place;
	struct av_world w;
	int err;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(&w, &in, 1, &place, FI_AV_USER_ID, NULL), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(insert(&w, &in, 1, &place, FI_INJECT, NULL), -FI_EBADFLAGS);
	CT_EXPECT_EQ(insert(&w, &in, 1, &place, FI_SYNC_ERR, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(insert(&w, NULL, 1, &place, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(insert(&w, &in, INT_MAX + 1ULL, &place, 0, NULL), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(&w, 0), "");
	av_world_close(&w);
	av_world_open_async(&w);
	/* "This flag applies to synchronous insertions only" */
	CT_EXPECT_EQ(insert(&w, &in, 1, &place, FI_SYNC_ERR, &err), -FI_EINVAL);
	av_world_close(&w);
}

/* "Addresses inserted into an address vector must be in the same format as specified in
 * the addr_format field" */
CT_TEST(av_insert, each_format_has_arrays_of_its_own)
{
	struct sockaddr_in in[2] = {in_of(1), in_of(2)};
	struct sockaddr_in6 in6[2] = {in6_of(1), in6_of(2)};
	struct {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_in last;
	} mixed = {in_of(1), in6_of(2), in_of(3)};
	fi_addr_t places[3];
	struct av_world w;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN6, 0);
	CT_EXPECT_EQ(insert(&w, in6, 2, places, 0, NULL), 2);
	CT_EXPECT_STREQ(text_at(&w, 1), "[fd00::2]:1002");
	in6[1].sin6_family = AF_INET;
	CT_EXPECT_EQ(insert(&w, in6, 2, places, 0, NULL), 1);
	av_world_close(&w);
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR, 0);
	CT_EXPECT_EQ(insert(&w, in, 2, places, 0, NULL), 2);
	CT_EXPECT_STREQ(text_at(&w, 1), "10.0.0.2:1002");
	CT_EXPECT_EQ(insert(&w, &mixed, 3, places, 0, NULL), 3);
	CT_EXPECT_STREQ(text_at(&w, 3), "[fd00::2]:1002");
	CT_EXPECT_STREQ(text_at(&w, 4), "10.0.0.3:1003");
	/* Where the end of one is not known, nothing behind it is found. */
	mixed.in6.sin6_family = AF_UNIX;
	CT_EXPECT_EQ(insert(&w, &mixed, 3, places, 0, NULL), 1);
	CT_EXPECT_EQ(places[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[2], FI_ADDR_NOTAVAIL);
	av_world_close(&w);
}

/* "any insertions attempted before an EQ is bound to the AV will fail with -FI_ENOEQ" */
CT_TEST(av_insert, asynchronous_insertion_needs_an_event_queue)
{
	struct sockaddr_in in = in_of(0);
	struct av_world w;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, FI_EVENT);
	CT_EXPECT_EQ(insert(&w, &in, 1, NULL, 0, NULL), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_av_insertsvc(&w.av.fid, "10.0.0.1", "1", NULL, 0, NULL),
		     -FI_ENOEQ);
	CT_EXPECT_EQ(fi_av_insertsym(&w.av.fid, "10.0.0.1", 1, "1", 1, NULL, 0, NULL),
		     -FI_ENOEQ);
	CT_EXPECT_STREQ(text_at(&w, 0), "");
	av_world_close(&w);
}

/* "There will be one EQ error entry generated for each failed address insertion, followed
 * by one non-error event", "The context field in all completions will be the context
 * specified to the insert call, and the data field in the final completion entry will
 * report the number of addresses successfully inserted." */
CT_TEST(av_insert, results_go_to_the_event_queue_of_FI_EVENT)
{
	struct sockaddr_in in[4] = {in_of(0), in_of(1), in_of(2), in_of(3)};
	fi_addr_t places[4] = {0};
	struct av_world w;
	int context;

	in[1].sin_family = in[3].sin_family = 0;
	av_world_open_async(&w);
	CT_EXPECT_EQ(insert(&w, in, 4, places, 0, &context), 0);
	CT_EXPECT_EQ(places[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[2], 1);
	expect_failed(&w, &context, 1, FI_EINVAL);
	expect_failed(&w, &context, 3, FI_EINVAL);
	expect_inserted(&w, &context, 2);
	/* "There will always be one non-error completion event for each insert operation,
	 * even if all addresses fail." */
	CT_EXPECT_EQ(insert(&w, in + 1, 1, places, 0, in), 0);
	expect_failed(&w, in, 0, FI_EINVAL);
	expect_inserted(&w, in, 0);
	CT_EXPECT_EQ(insert(&w, in, 0, NULL, 0, &w), 0);
	expect_inserted(&w, &w, 0);
	av_world_close(&w);
}

/* "any events queued on an event queue referencing the AV are left untouched" */
CT_TEST(av_insert, events_outlive_the_address_vector)
{
	struct sockaddr_in in = in_of(0);
	struct av_world w;

	av_world_open_async(&w);
	CT_EXPECT_EQ(insert(&w, &in, 1, NULL, 0, &w), 0);
	CT_EXPECT_EQ(fi_close(&w.av.fid.fid), 0);
	expect_inserted(&w, &w, 1);
	CT_EXPECT_EQ(fi_close(&w.eq.fid.fid), 0);
}

/* "will return 0 if the operation was successfully initiated. In the case of failure, a
 * negative fabric errno will be returned." */
CT_TEST(av_insert, without_room_for_its_events_nothing_is_inserted)
{
	struct sockaddr_in in[3] = {in_of(0), in_of(1), in_of(2)};
	struct fi_eq_entry entry = {0};
	fi_addr_t places[3] = {0};
	struct av_world w;
	uint32_t event;

	in[1].sin_family = 0;
	av_world_open_async(&w);
	while (!crn_eq_full(&w.eq))
		fi_eq_write(&w.eq.fid, FI_NOTIFY, &entry, sizeof(entry), 0);
	/* One error and one completion need two places. */
	fi_eq_read(&w.eq.fid, &event, &entry, sizeof(entry), 0);
	CT_EXPECT_EQ(insert(&w, in, 3, places, 0, NULL), -FI_EAGAIN);
	CT_EXPECT_STREQ(text_at(&w, 0), "");
	CT_EXPECT_EQ(places[0], FI_ADDR_NOTAVAIL);
	fi_eq_read(&w.eq.fid, &event, &entry, sizeof(entry), 0);
	CT_EXPECT_EQ(insert(&w, in, 3, places, 0, NULL), 0);
	CT_EXPECT_STREQ(text_at(&w, 1), "10.0.0.2:1002");
	av_world_close(&w);
}

CT_TEST(av_insert, memory_may_run_out_anywhere)
{
	struct sockaddr_in in[2] = {in_of(0), in_of(1)};
	struct av_world w;
	unsigned int nth;
	int ret;

	in[0].sin_family = 0;
	for (nth = 1;; nth++) {
		av_world_open_async(&w);
		ct_fail_alloc(nth);
		ret = insert(&w, in, 2, NULL, 0, &w);
		if (!ct_alloc_failed())
			break;
		CT_NOTE("allocation %u", nth);
		if (ret == -FI_ENOMEM) {
			CT_EXPECT_STREQ(text_at(&w, 0), "");
			CT_EXPECT_FALSE(crn_eq_pending(&w.eq));
		} else { /* one address has no buckets */
			CT_EXPECT_EQ(ret, 0);
			expect_failed(&w, &w, 0, FI_EINVAL);
			expect_failed(&w, &w, 1, FI_ENOMEM);
			expect_inserted(&w, &w, 0);
		}
		av_world_close(&w);
	}
	/* items, indices, buckets, an error, the completion */
	CT_EXPECT_EQ(nth, 6);
	expect_failed(&w, &w, 0, FI_EINVAL);
	expect_inserted(&w, &w, 1);
	av_world_close(&w);
}

CT_TEST(av_insert, an_address_beyond_memory_fails_alone)
{
	static struct sockaddr_in in[70];
	static fi_addr_t places[70];
	struct av_world w;
	unsigned int i;

	for (i = 0; i < 70; i++)
		in[i] = in_of(i);
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	/* items, buckets, then the second chunk for the address after 64 */
	ct_fail_alloc(3);
	CT_EXPECT_EQ(insert(&w, in, 70, places, 0, NULL), 69);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(places[64], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[65], 64);
	/* Without memory for more buckets those that there are do: items, the third
	 * chunk for the address after 128, buckets. */
	for (i = 0; i < 70; i++)
		in[i] = in_of(100 + i);
	ct_fail_alloc(3);
	CT_EXPECT_EQ(insert(&w, in, 60, places, 0, NULL), 60);
	CT_EXPECT_TRUE(ct_alloc_failed());
	for (i = 0; i < 60; i++)
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in[i]), 69 + i);
	CT_EXPECT_EQ(insert(&w, in + 60, 10, places, 0, NULL), 10);
	for (i = 0; i < 70; i++)
		CT_EXPECT_EQ(crn_av_find(&w.av, (struct sockaddr *)&in[i]), 69 + i);
	av_world_close(&w);
}

/* A provider that keeps something of each peer. */
static int kept;

static int added(struct crn_av *av, const void *addr, void **peer)
{
	if (crn_addr_port(addr) == 1001)
		return -FI_EHOSTUNREACH;
	*peer = malloc(1);
	kept++;
	return 0;
}

static void removed(struct crn_av *av, void *peer)
{
	free(peer);
	kept--;
}

CT_TEST(av_insert, what_the_provider_keeps_of_a_peer_lives_as_long_as_the_address)
{
	struct sockaddr_in in[3] = {in_of(0), in_of(1), in_of(2)};
	int errs[3] = {0};
	struct av_world w;

	kept = 0;
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	w.av.added = added;
	w.av.removed = removed;
	CT_EXPECT_EQ(insert(&w, in, 3, NULL, FI_SYNC_ERR, errs), 2);
	CT_EXPECT_EQ(errs[1], FI_EHOSTUNREACH);
	CT_EXPECT_EQ(kept, 2);
	CT_EXPECT_NE(crn_av_peer(&w.av, 0), NULL);
	CT_EXPECT_NE(crn_av_peer(&w.av, 1), crn_av_peer(&w.av, 0));
	CT_EXPECT_EQ(remove_one(&w, 0), 0);
	CT_EXPECT_EQ(kept, 1);
	CT_EXPECT_EQ(crn_av_peer(&w.av, 0), NULL);
	av_world_close(&w);
	CT_EXPECT_EQ(kept, 0);
}

CT_TEST(av_insert, who_looks_at_peers_finds_them_while_the_vector_grows)
{
	const unsigned int count = 1000;
	struct crn_av_peers *before;
	struct av_world w;
	unsigned int i;
	void *first;

	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	w.av.added = added;
	w.av.removed = removed;
	CT_EXPECT_EQ(crn_av_peer(&w.av, 0), NULL);
	CT_EXPECT_EQ(insert_in(&w, 0), 0);
	before = atomic_load(&w.av.peers);
	first = crn_av_peer(&w.av, 0);
	CT_EXPECT_NE(first, NULL);
	for (i = 2; i <= count; i++)
		CT_EXPECT_EQ(insert_in(&w, i), i - 1);
	CT_EXPECT_NE(atomic_load(&w.av.peers), before);
	CT_EXPECT_EQ(crn_av_peer_at(before, 0), first);
	CT_EXPECT_EQ(crn_av_peer_at(before, count - 1), NULL);
	CT_EXPECT_EQ(crn_av_peer(&w.av, 0), first);
	for (i = 0; i < count; i++)
		CT_EXPECT_NE(crn_av_peer(&w.av, i), NULL);
	CT_EXPECT_EQ(crn_av_peer(&w.av, count), NULL);
	CT_EXPECT_EQ(crn_av_peer(&w.av, FI_ADDR_NOTAVAIL), NULL);
	av_world_close(&w);
}

/* A provider that keeps what the test says, or nothing. */
static void *to_keep;

static int added_next(struct crn_av *av, const void *addr, void **peer)
{
	CT_EXPECT_EQ(*peer, NULL);
	if (to_keep)
		*peer = to_keep;
	kept++;
	return 0;
}

static void removed_next(struct crn_av *av, void *peer)
{
	CT_EXPECT_EQ(peer, to_keep);
	kept--;
}

CT_TEST(av_insert, nothing_is_kept_of_the_address_that_an_index_had_before)
{
	struct av_world w;

	kept = 0;
	to_keep = &kept;
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	w.av.added = added_next;
	w.av.removed = removed_next;
	CT_EXPECT_EQ(insert_in(&w, 0), 0);
	CT_EXPECT_EQ(crn_av_peer(&w.av, 0), &kept);
	CT_EXPECT_EQ(remove_one(&w, 0), 0);
	to_keep = NULL;
	CT_EXPECT_EQ(insert_in(&w, 1), 0);
	CT_EXPECT_EQ(crn_av_peer(&w.av, 0), NULL);
	CT_EXPECT_EQ(remove_one(&w, 0), 0);
	CT_EXPECT_EQ(kept, 0);
	av_world_close(&w);
}

/* items, a chunk, its peers */
CT_TEST(av_insert, without_memory_for_more_peers_those_that_there_are_stay)
{
	const unsigned int first = 64;
	struct sockaddr_in in = in_of(first);
	fi_addr_t place = FI_ADDR_NOTAVAIL;
	unsigned int i, nth;
	struct av_world w;

	to_keep = &kept;
	av_world_open(&w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	w.av.added = added_next;
	w.av.removed = removed_next;
	for (i = 0; i < first; i++)
		CT_EXPECT_EQ(insert_in(&w, i), i);
	kept = first;
	for (nth = 1; nth <= 3; nth++) {
		ct_fail_alloc(nth);
		CT_EXPECT_EQ(insert(&w, &in, 1, &place, 0, NULL),
			     nth == 1 ? -FI_ENOMEM : 0);
		CT_EXPECT_TRUE(ct_alloc_failed());
		for (i = 0; i < first; i++)
			CT_EXPECT_EQ(crn_av_peer(&w.av, i), &kept);
		CT_EXPECT_EQ(crn_av_peer(&w.av, first), NULL);
	}
	CT_EXPECT_EQ(insert(&w, &in, 1, &place, 0, NULL), 1);
	for (i = 0; i <= first; i++)
		CT_EXPECT_EQ(crn_av_peer(&w.av, i), &kept);
	CT_EXPECT_EQ(place, first);
	CT_EXPECT_EQ(kept, first + 1);
	av_world_close(&w);
	CT_EXPECT_EQ(kept, 0);
}
