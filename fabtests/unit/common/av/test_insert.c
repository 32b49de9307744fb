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

static void set_up(struct av_world *w)
{
	av_world_open(w, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
}

CT_FIXTURE(av_insert, struct av_world, set_up, av_world_close);

/* "The index of the first address inserted into an FI_AV_TABLE will be 0, and successive
 * insertions will be given sequential indices.", "Insertion calls for an AV opened for
 * synchronous operation will return the number of addresses that were successfully
 * inserted." */
CT_TEST_F(av_insert, indices_are_sequential_across_calls)
{
	static struct sockaddr_in in[500];
	static fi_addr_t places[500];

	for (unsigned int i = 0; i < 500; i++)
		in[i] = in_of(i);
	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR_IN, FI_SYMMETRIC);
	CT_EXPECT_EQ(insert(t, in, 3, places, 0, NULL), 3);
	CT_EXPECT_EQ(insert(t, in + 3, 0, places + 3, FI_MORE, NULL), 0);
	CT_EXPECT_EQ(insert(t, in + 3, 497, places + 3, FI_MORE, NULL), 497);
	for (unsigned int i = 0; i < 500; i++) {
		const struct sockaddr *addr = crn_av_addr(&t->av, i);

		CT_EXPECT_EQ(places[i], i);
		CT_ASSERT_NE(addr, NULL);
		CT_EXPECT_MEMEQ(addr, &in[i], sizeof(in[i]));
	}
}

/* "An address is inserted at the lowest index that corresponds to an unused table
 * location" */
CT_TEST_F(av_insert, the_lowest_free_index_is_taken)
{
	for (unsigned int i = 0; i < 100; i++)
		insert_in(t, i);
	CT_EXPECT_EQ(remove_one(t, 70), 0);
	CT_EXPECT_EQ(remove_one(t, 5), 0);
	CT_EXPECT_EQ(remove_one(t, 6), 0);
	CT_EXPECT_EQ(insert_in(t, 200), 5);
	CT_EXPECT_EQ(insert_in(t, 201), 6);
	CT_EXPECT_EQ(insert_in(t, 202), 70);
	CT_EXPECT_EQ(insert_in(t, 203), 100);
}

/* "Because insertions occur at a pre-determined index, the fi_addr parameter may be
 * NULL.": not with FI_AV_MAP. */
CT_TEST_F(av_insert, a_table_needs_no_buffer_for_indices)
{
	struct sockaddr_in in[2] = {in_of(1), in_of(2)};

	CT_EXPECT_EQ(insert(t, in, 2, NULL, 0, NULL), 2);
	CT_EXPECT_STREQ(text_at(t, 1), "10.0.0.2:1002");
	av_world_open(t, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(t, in, 2, NULL, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(insert(t, in, 0, NULL, 0, NULL), 0);
	CT_EXPECT_STREQ(text_at(t, 0), "");
}

/* "In the case of failure, the return value will be less than the number of addresses
 * that was specified.", "the fi_addr buffer associated with a failed or aborted insertion
 * will be set to FI_ADDR_NOTAVAIL" */
CT_TEST_F(av_insert, an_address_that_fails_takes_no_index)
{
	struct sockaddr_in in[4] = {in_of(0), in_of(1), in_of(2), in_of(3)};
	fi_addr_t places[4] = {0};

	in[0].sin_family = AF_UNIX;
	in[2].sin_family = AF_INET6;
	CT_EXPECT_EQ(insert(t, in, 4, places, 0, NULL), 2);
	CT_EXPECT_EQ(places[0], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[1], 0);
	CT_EXPECT_EQ(places[2], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[3], 1);
	CT_EXPECT_STREQ(text_at(t, 1), "10.0.0.3:1003");
}

/* "Successful insertions will be updated to 0. Failures will contain a fabric errno
 * code." */
CT_TEST_F(av_insert, results_go_to_the_array_of_FI_SYNC_ERR)
{
	struct sockaddr_in in[3] = {in_of(0), in_of(1), in_of(2)};
	int errs[3] = {-1, -1, -1};
	fi_addr_t places[3];

	in[1].sin_family = 0;
	av_world_open(t, FI_AV_MAP, FI_SOCKADDR_IN, 0);
	CT_EXPECT_EQ(insert(t, in, 3, places, FI_SYNC_ERR, errs), 2);
	CT_EXPECT_EQ(errs[0], 0);
	CT_EXPECT_EQ(errs[1], FI_EINVAL);
	CT_EXPECT_EQ(errs[2], 0);
	CT_EXPECT_EQ(places[1], FI_ADDR_NOTAVAIL);
}

CT_TEST_F(av_insert, without_FI_SYNC_ERR_the_context_is_not_written_to)
{
	struct sockaddr_in in = in_of(0);
	int context = 7;

	CT_EXPECT_EQ(insert(t, &in, 1, NULL, 0, &context), 1);
	CT_EXPECT_EQ(context, 7);
}

CT_TEST_F(av_insert, arguments_that_make_no_sense_are_refused)
{
	struct sockaddr_in in = in_of(0);
	fi_addr_t place;
	int err;

	CT_EXPECT_EQ(insert(t, &in, 1, &place, FI_AV_USER_ID, NULL), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(insert(t, &in, 1, &place, FI_INJECT, NULL), -FI_EBADFLAGS);
	CT_EXPECT_EQ(insert(t, &in, 1, &place, FI_SYNC_ERR, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(insert(t, NULL, 1, &place, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(insert(t, &in, INT_MAX + 1ULL, &place, 0, NULL), -FI_EINVAL);
	CT_EXPECT_STREQ(text_at(t, 0), "");
	av_world_open_async(t);
	/* "This flag applies to synchronous insertions only" */
	CT_EXPECT_EQ(insert(t, &in, 1, &place, FI_SYNC_ERR, &err), -FI_EINVAL);
}

/* "Addresses inserted into an address vector must be in the same format as specified in
 * the addr_format field" */
CT_TEST_F(av_insert, each_format_has_arrays_of_its_own)
{
	struct sockaddr_in in[2] = {in_of(1), in_of(2)};
	struct sockaddr_in6 in6[2] = {in6_of(1), in6_of(2)};
	struct {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_in last;
	} mixed = {in_of(1), in6_of(2), in_of(3)};
	fi_addr_t places[3];

	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR_IN6, 0);
	CT_EXPECT_EQ(insert(t, in6, 2, places, 0, NULL), 2);
	CT_EXPECT_STREQ(text_at(t, 1), "[fd00::2]:1002");
	in6[1].sin6_family = AF_INET;
	CT_EXPECT_EQ(insert(t, in6, 2, places, 0, NULL), 1);
	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR, 0);
	CT_EXPECT_EQ(insert(t, in, 2, places, 0, NULL), 2);
	CT_EXPECT_STREQ(text_at(t, 1), "10.0.0.2:1002");
	CT_EXPECT_EQ(insert(t, &mixed, 3, places, 0, NULL), 3);
	CT_EXPECT_STREQ(text_at(t, 3), "[fd00::2]:1002");
	CT_EXPECT_STREQ(text_at(t, 4), "10.0.0.3:1003");
	/* Where the end of one is not known, nothing behind it is found. */
	mixed.in6.sin6_family = AF_UNIX;
	CT_EXPECT_EQ(insert(t, &mixed, 3, places, 0, NULL), 1);
	CT_EXPECT_EQ(places[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[2], FI_ADDR_NOTAVAIL);
}

/* "any insertions attempted before an EQ is bound to the AV will fail with -FI_ENOEQ" */
CT_TEST_F(av_insert, asynchronous_insertion_needs_an_event_queue)
{
	struct sockaddr_in in = in_of(0);

	av_world_open(t, FI_AV_TABLE, FI_SOCKADDR_IN, FI_EVENT);
	CT_EXPECT_EQ(insert(t, &in, 1, NULL, 0, NULL), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_av_insertsvc(&t->av.fid, "10.0.0.1", "1", NULL, 0, NULL),
		     -FI_ENOEQ);
	CT_EXPECT_EQ(fi_av_insertsym(&t->av.fid, "10.0.0.1", 1, "1", 1, NULL, 0, NULL),
		     -FI_ENOEQ);
	CT_EXPECT_STREQ(text_at(t, 0), "");
}

/* "There will be one EQ error entry generated for each failed address insertion, followed
 * by one non-error event", "The context field in all completions will be the context
 * specified to the insert call, and the data field in the final completion entry will
 * report the number of addresses successfully inserted." */
CT_TEST_F(av_insert, results_go_to_the_event_queue_of_FI_EVENT)
{
	struct sockaddr_in in[4] = {in_of(0), in_of(1), in_of(2), in_of(3)};
	fi_addr_t places[4] = {0};
	int context;

	in[1].sin_family = in[3].sin_family = 0;
	av_world_open_async(t);
	CT_EXPECT_EQ(insert(t, in, 4, places, 0, &context), 0);
	CT_EXPECT_EQ(places[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[2], 1);
	expect_failed(t, &context, 1, FI_EINVAL);
	expect_failed(t, &context, 3, FI_EINVAL);
	expect_inserted(t, &context, 2);
	/* "There will always be one non-error completion event for each insert operation,
	 * even if all addresses fail." */
	CT_EXPECT_EQ(insert(t, in + 1, 1, places, 0, in), 0);
	expect_failed(t, in, 0, FI_EINVAL);
	expect_inserted(t, in, 0);
	CT_EXPECT_EQ(insert(t, in, 0, NULL, 0, t), 0);
	expect_inserted(t, t, 0);
}

/* "any events queued on an event queue referencing the AV are left untouched" */
CT_TEST_F(av_insert, events_outlive_the_address_vector)
{
	struct sockaddr_in in = in_of(0);

	av_world_open_async(t);
	CT_EXPECT_EQ(insert(t, &in, 1, NULL, 0, t), 0);
	CT_EXPECT_EQ(fi_close(&t->av.fid.fid), 0);
	t->av.fid.fid.fclass = FI_CLASS_UNSPEC;
	expect_inserted(t, t, 1);
}

/* "will return 0 if the operation was successfully initiated. In the case of failure, a
 * negative fabric errno will be returned." */
CT_TEST_F(av_insert, without_room_for_its_events_nothing_is_inserted)
{
	struct sockaddr_in in[3] = {in_of(0), in_of(1), in_of(2)};
	struct fi_eq_entry entry = {0};
	fi_addr_t places[3] = {0};
	uint32_t event;

	in[1].sin_family = 0;
	av_world_open_async(t);
	while (!crn_eq_full(&t->eq))
		fi_eq_write(&t->eq.fid, FI_NOTIFY, &entry, sizeof(entry), 0);
	/* One error and one completion need two places. */
	fi_eq_read(&t->eq.fid, &event, &entry, sizeof(entry), 0);
	CT_EXPECT_EQ(insert(t, in, 3, places, 0, NULL), -FI_EAGAIN);
	CT_EXPECT_STREQ(text_at(t, 0), "");
	CT_EXPECT_EQ(places[0], FI_ADDR_NOTAVAIL);
	fi_eq_read(&t->eq.fid, &event, &entry, sizeof(entry), 0);
	CT_EXPECT_EQ(insert(t, in, 3, places, 0, NULL), 0);
	CT_EXPECT_STREQ(text_at(t, 1), "10.0.0.2:1002");
}

CT_TEST_F(av_insert, memory_may_run_out_anywhere)
{
	struct sockaddr_in in[2] = {in_of(0), in_of(1)};
	unsigned int nth;
	int ret;

	in[0].sin_family = 0;
	for (nth = 1;; nth++) {
		av_world_open_async(t);
		ct_fail_alloc(nth);
		ret = insert(t, in, 2, NULL, 0, t);
		if (!ct_alloc_failed())
			break;
		CT_NOTE("allocation %u", nth);
		if (ret == -FI_ENOMEM) {
			CT_EXPECT_STREQ(text_at(t, 0), "");
			CT_EXPECT_FALSE(crn_eq_pending(&t->eq));
		} else { /* one address has no buckets */
			CT_EXPECT_EQ(ret, 0);
			expect_failed(t, t, 0, FI_EINVAL);
			expect_failed(t, t, 1, FI_ENOMEM);
			expect_inserted(t, t, 0);
		}
	}
	/* items, indices, buckets, an error, the completion */
	CT_EXPECT_EQ(nth, 6);
	expect_failed(t, t, 0, FI_EINVAL);
	expect_inserted(t, t, 1);
}

CT_TEST_F(av_insert, an_address_beyond_memory_fails_alone)
{
	static struct sockaddr_in in[70];
	static fi_addr_t places[70];

	for (unsigned int i = 0; i < 70; i++)
		in[i] = in_of(i);
	/* items, buckets, then the second chunk for the address after 64 */
	ct_fail_alloc(3);
	CT_EXPECT_EQ(insert(t, in, 70, places, 0, NULL), 69);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(places[64], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(places[65], 64);
	/* Without memory for more buckets those that there are do: items, the third
	 * chunk for the address after 128, buckets. */
	for (unsigned int i = 0; i < 70; i++)
		in[i] = in_of(100 + i);
	ct_fail_alloc(3);
	CT_EXPECT_EQ(insert(t, in, 60, places, 0, NULL), 60);
	CT_EXPECT_TRUE(ct_alloc_failed());
	for (unsigned int i = 0; i < 60; i++)
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in[i]), 69 + i);
	CT_EXPECT_EQ(insert(t, in + 60, 10, places, 0, NULL), 10);
	for (unsigned int i = 0; i < 70; i++)
		CT_EXPECT_EQ(crn_av_find(&t->av, (struct sockaddr *)&in[i]), 69 + i);
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

CT_TEST_F(av_insert, what_the_provider_keeps_of_a_peer_lives_as_long_as_the_address)
{
	struct sockaddr_in in[3] = {in_of(0), in_of(1), in_of(2)};
	int errs[3] = {0};

	kept = 0;
	t->av.added = added;
	t->av.removed = removed;
	CT_EXPECT_EQ(insert(t, in, 3, NULL, FI_SYNC_ERR, errs), 2);
	CT_EXPECT_EQ(errs[1], FI_EHOSTUNREACH);
	CT_EXPECT_EQ(kept, 2);
	CT_EXPECT_NE(crn_av_peer(&t->av, 0), NULL);
	CT_EXPECT_NE(crn_av_peer(&t->av, 1), crn_av_peer(&t->av, 0));
	CT_EXPECT_EQ(remove_one(t, 0), 0);
	CT_EXPECT_EQ(kept, 1);
	CT_EXPECT_EQ(crn_av_peer(&t->av, 0), NULL);
	av_world_close(t);
	CT_EXPECT_EQ(kept, 0);
}

CT_TEST_F(av_insert, who_looks_at_peers_finds_them_while_the_vector_grows)
{
	const unsigned int count = 1000;
	struct crn_av_peers *before;
	void *first;

	t->av.added = added;
	t->av.removed = removed;
	CT_EXPECT_EQ(crn_av_peer(&t->av, 0), NULL);
	CT_EXPECT_EQ(insert_in(t, 0), 0);
	before = atomic_load(&t->av.peers);
	first = crn_av_peer(&t->av, 0);
	CT_EXPECT_NE(first, NULL);
	for (unsigned int i = 2; i <= count; i++)
		CT_EXPECT_EQ(insert_in(t, i), i - 1);
	CT_EXPECT_NE(atomic_load(&t->av.peers), before);
	CT_EXPECT_EQ(crn_av_peer_at(before, 0), first);
	CT_EXPECT_EQ(crn_av_peer_at(before, count - 1), NULL);
	CT_EXPECT_EQ(crn_av_peer(&t->av, 0), first);
	for (unsigned int i = 0; i < count; i++)
		CT_EXPECT_NE(crn_av_peer(&t->av, i), NULL);
	CT_EXPECT_EQ(crn_av_peer(&t->av, count), NULL);
	CT_EXPECT_EQ(crn_av_peer(&t->av, FI_ADDR_NOTAVAIL), NULL);
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

CT_TEST_F(av_insert, nothing_is_kept_of_the_address_that_an_index_had_before)
{
	kept = 0;
	to_keep = &kept;
	t->av.added = added_next;
	t->av.removed = removed_next;
	CT_EXPECT_EQ(insert_in(t, 0), 0);
	CT_EXPECT_EQ(crn_av_peer(&t->av, 0), &kept);
	CT_EXPECT_EQ(remove_one(t, 0), 0);
	to_keep = NULL;
	CT_EXPECT_EQ(insert_in(t, 1), 0);
	CT_EXPECT_EQ(crn_av_peer(&t->av, 0), NULL);
	CT_EXPECT_EQ(remove_one(t, 0), 0);
	CT_EXPECT_EQ(kept, 0);
}

/* items, a chunk, its peers */
CT_TEST_F(av_insert, without_memory_for_more_peers_those_that_there_are_stay)
{
	const unsigned int first = 64;
	struct sockaddr_in in = in_of(first);
	fi_addr_t place = FI_ADDR_NOTAVAIL;

	to_keep = &kept;
	t->av.added = added_next;
	t->av.removed = removed_next;
	for (unsigned int i = 0; i < first; i++)
		CT_EXPECT_EQ(insert_in(t, i), i);
	kept = first;
	for (unsigned int nth = 1; nth <= 3; nth++) {
		ct_fail_alloc(nth);
		CT_EXPECT_EQ(insert(t, &in, 1, &place, 0, NULL),
			     nth == 1 ? -FI_ENOMEM : 0);
		CT_EXPECT_TRUE(ct_alloc_failed());
		for (unsigned int i = 0; i < first; i++)
			CT_EXPECT_EQ(crn_av_peer(&t->av, i), &kept);
		CT_EXPECT_EQ(crn_av_peer(&t->av, first), NULL);
	}
	CT_EXPECT_EQ(insert(t, &in, 1, &place, 0, NULL), 1);
	for (unsigned int i = 0; i <= first; i++)
		CT_EXPECT_EQ(crn_av_peer(&t->av, i), &kept);
	CT_EXPECT_EQ(place, first);
	CT_EXPECT_EQ(kept, first + 1);
	av_world_close(t);
	CT_EXPECT_EQ(kept, 0);
}
