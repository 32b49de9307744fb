/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/compat.h>
#include <cairn/lock.h>
#include <cairn/nosys.h>
#include <cairn/slab.h>
#include "cairn_test.h"

static struct fi_provider prov = {.name = "test"};

/* A domain that registers, counts, and refuses when it is told to. */
struct domain {
	unsigned int open;   /* registrations */
	unsigned int opened; /* ever */
	size_t bytes;	     /* of the last one */
	int refuse;	     /* what the next one returns */
	int keep;	     /* what the next close returns */
};

struct region {
	struct fid_mr fid;
	struct domain *domain;
};

static int region_close(struct fid *fid)
{
	struct region *region = crn_container_of(fid, struct region, fid.fid);
	int ret = region->domain->keep;

	region->domain->keep = 0;
	if (ret)
		return ret;
	region->domain->open--;
	free(region);
	return 0;
}

static struct fi_ops region_ops = {.size = sizeof(region_ops), .close = region_close};

static int domain_reg(void *arg, const void *addr, size_t len, struct fid_mr **mr)
{
	struct domain *domain = arg;
	struct region *region;
	int ret = domain->refuse;

	CT_EXPECT_EQ((uintptr_t)addr % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
	CT_EXPECT_EQ(len % (size_t)sysconf(_SC_PAGESIZE), 0);
	domain->refuse = 0;
	if (ret)
		return ret;
	region = calloc(1, sizeof(*region));
	if (!region)
		return -FI_ENOMEM;
	region->fid.fid.ops = &region_ops;
	region->fid.mem_desc = region;
	region->domain = domain;
	domain->open++;
	domain->opened++;
	domain->bytes = len;
	*mr = &region->fid;
	return 0;
}

static const struct crn_slab_attr three[] = {{100, 4, 10}, {4096, 2, 3}, {65536, 1, 1}};

/* A slab of these classes, in memory that the domain registers. */
struct slab_scene {
	struct crn_slab slab;
	struct domain domain;
};

static void set_up(struct slab_scene *s)
{
	CT_ASSERT_EQ(crn_slab_init(&s->slab, &prov, three, 3, domain_reg, &s->domain), 0);
}

static void tear_down(struct slab_scene *s)
{
	CT_EXPECT_EQ(crn_slab_fini(&s->slab), 0);
	CT_EXPECT_EQ(s->domain.open, 0);
}

static void open_unregistered(struct slab_scene *s)
{
	tear_down(s);
	CT_ASSERT_EQ(crn_slab_init(&s->slab, &prov, three, 3, NULL, NULL), 0);
}

CT_FIXTURE(slab, struct slab_scene, set_up, tear_down);

static void put_all(struct crn_buf **bufs, size_t count)
{
	while (count--)
		crn_slab_put(bufs[count]);
}

CT_TEST_F(slab, a_buffer_is_of_the_smallest_class_that_is_large_enough)
{
	static const struct {
		size_t asked, size;
	} rows[] = {{0, 100},	  {1, 100},	 {100, 100},	{101, 4096},
		    {4096, 4096}, {4097, 65536}, {65536, 65536}};
	struct crn_buf *buf;

	open_unregistered(t);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu bytes", rows[i].asked);
		CT_ASSERT_EQ(crn_slab_get(&t->slab, rows[i].asked, &buf), 0);
		CT_EXPECT_EQ(buf->size, rows[i].size);
		CT_EXPECT_EQ(buf->desc, NULL);
		CT_EXPECT_EQ(buf->mr, NULL);
		memset(buf->data, 0xee, buf->size);
		crn_slab_put(buf);
	}
	CT_EXPECT_EQ(crn_slab_get(&t->slab, 65537, &buf), -FI_EMSGSIZE);
}

CT_TEST_F(slab, buffers_are_aligned_apart_and_reused)
{
	struct crn_buf *bufs[10], *last;

	open_unregistered(t);
	for (size_t i = 0; i < 10; i++) {
		CT_ASSERT_EQ(crn_slab_get(&t->slab, 100, &bufs[i]), 0);
		CT_EXPECT_EQ((uintptr_t)bufs[i]->data % 64, 0);
		memset(bufs[i]->data, (int)i, 100);
	}
	for (size_t i = 0; i < 10; i++) {
		CT_EXPECT_EQ(((char *)bufs[i]->data)[0], i);
		CT_EXPECT_EQ(((char *)bufs[i]->data)[99], i);
	}
	last = bufs[3];
	crn_slab_put(last);
	CT_ASSERT_EQ(crn_slab_get(&t->slab, 1, &bufs[3]), 0);
	CT_EXPECT_EQ(bufs[3], last);
	put_all(bufs, 10);
}

CT_TEST_F(slab, a_class_is_bounded_and_takes_nothing_from_the_others)
{
	struct crn_buf *bufs[10], *large[3], *more;

	open_unregistered(t);
	for (size_t i = 0; i < 10; i++)
		CT_ASSERT_EQ(crn_slab_get(&t->slab, 8, &bufs[i]), 0);
	CT_EXPECT_EQ(t->slab.classes[0].total, 10);
	CT_EXPECT_EQ(crn_slab_get(&t->slab, 8, &more), -FI_EAGAIN);
	for (size_t i = 0; i < 3; i++)
		CT_ASSERT_EQ(crn_slab_get(&t->slab, 4096, &large[i]), 0);
	CT_EXPECT_EQ(crn_slab_get(&t->slab, 4096, &more), -FI_EAGAIN);
	crn_slab_put(bufs[9]);
	CT_EXPECT_EQ(crn_slab_get(&t->slab, 8, &bufs[9]), 0);
	CT_EXPECT_EQ(crn_slab_get(&t->slab, 8, &more), -FI_EAGAIN);
	CT_EXPECT_EQ(t->slab.classes[0].total, 10);
	put_all(bufs, 10);
	put_all(large, 3);
}

CT_TEST_F(slab, a_chunk_is_registered_once_and_only_when_needed)
{
	struct crn_buf *bufs[10];

	CT_EXPECT_EQ(t->domain.opened, 0);
	for (size_t i = 0; i < 10; i++) {
		CT_ASSERT_EQ(crn_slab_get(&t->slab, 100, &bufs[i]), 0);
		CT_EXPECT_EQ(t->domain.opened, i / 4 + 1);
		CT_ASSERT_NE(bufs[i]->mr, NULL);
		CT_EXPECT_EQ(bufs[i]->desc, fi_mr_desc(bufs[i]->mr));
		CT_EXPECT_EQ(bufs[i]->mr, bufs[i / 4 * 4]->mr);
	}
	CT_EXPECT_EQ(t->domain.bytes, sysconf(_SC_PAGESIZE));
	put_all(bufs, 10);
	for (size_t i = 0; i < 10; i++)
		CT_ASSERT_EQ(crn_slab_get(&t->slab, 100, &bufs[i]), 0);
	put_all(bufs, 10);
	CT_EXPECT_EQ(t->domain.opened, 3);
	CT_EXPECT_EQ(t->domain.open, 3);
}

CT_TEST_F(slab, what_cannot_be_registered_is_an_error_that_leaves_the_rest_usable)
{
	struct crn_buf *bufs[4], *more;

	for (size_t i = 0; i < 4; i++)
		CT_ASSERT_EQ(crn_slab_get(&t->slab, 100, &bufs[i]), 0);
	t->domain.refuse = -FI_ENOSPC;
	CT_EXPECT_EQ(crn_slab_get(&t->slab, 100, &more), -FI_ENOSPC);
	CT_EXPECT_EQ(t->slab.classes[0].total, 4);
	CT_EXPECT_EQ(t->slab.classes[0].taken, 4);
	CT_ASSERT_EQ(crn_slab_get(&t->slab, 100, &more), 0);
	crn_slab_put(more);
	put_all(bufs, 4);
}

CT_TEST_F(slab, it_does_not_end_while_buffers_are_taken)
{
	struct crn_buf *small, *large, *other;

	CT_ASSERT_EQ(crn_slab_get(&t->slab, 1, &small), 0);
	CT_ASSERT_EQ(crn_slab_get(&t->slab, 4096, &large), 0);
	CT_ASSERT_EQ(crn_slab_get(&t->slab, 4096, &other), 0);
	CT_EXPECT_EQ(crn_slab_fini(&t->slab), -FI_EBUSY);
	CT_EXPECT_EQ(ct_log_count(), 2);
	CT_EXPECT_STRSTR(ct_log_last(), "2");
	CT_EXPECT_STRSTR(ct_log_last(), "4096");
	CT_EXPECT_EQ(t->domain.open, 2);
	memset(small->data, 1, small->size);
	crn_slab_put(large);
	crn_slab_put(other);
	CT_EXPECT_EQ(crn_slab_fini(&t->slab), -FI_EBUSY);
	CT_EXPECT_EQ(ct_log_count(), 3);
	CT_EXPECT_STRSTR(ct_log_last(), "100");
	crn_slab_put(small);
	ct_log_reset();
	CT_EXPECT_EQ(crn_slab_fini(&t->slab), 0);
	CT_EXPECT_EQ(ct_log_count(), 0);
	CT_EXPECT_EQ(t->domain.open, 0);
}

CT_TEST_F(slab, memory_that_stays_registered_is_not_freed)
{
	struct crn_buf *small, *large;

	CT_ASSERT_EQ(crn_slab_get(&t->slab, 1, &small), 0);
	CT_ASSERT_EQ(crn_slab_get(&t->slab, 4096, &large), 0);
	crn_slab_put(small);
	crn_slab_put(large);
	t->domain.keep = -FI_EBUSY;
	CT_EXPECT_EQ(crn_slab_fini(&t->slab), -FI_EBUSY);
	CT_EXPECT_EQ(t->domain.open, 2);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), fi_strerror(FI_EBUSY));
	/* For the sanitizer: it is still there. */
	memset(large->data, 1, large->size);
	CT_EXPECT_EQ(crn_slab_fini(&t->slab), 0);
	CT_EXPECT_EQ(t->domain.open, 0);
	CT_EXPECT_EQ(crn_slab_fini(&t->slab), 0);
}

CT_TEST_F(slab, running_out_of_memory_leaves_the_rest_usable)
{
	struct crn_buf *first, *more;
	unsigned int nth;

	CT_ASSERT_EQ(crn_slab_get(&t->slab, 65536, &first), 0);
	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		if (!crn_slab_get(&t->slab, 4096, &more))
			break;
		CT_ASSERT_TRUE(ct_alloc_failed());
		CT_EXPECT_EQ(t->slab.classes[1].total, 0);
		CT_EXPECT_EQ(t->domain.open, 1);
		CT_EXPECT_EQ(crn_slab_get(&t->slab, 65536, &more), -FI_EAGAIN);
	}
	CT_EXPECT_FALSE(ct_alloc_failed());
	/* The chunk, its memory, and what domain_reg makes. */
	CT_EXPECT_EQ(nth, 4);
	crn_slab_put(more);
	crn_slab_put(first);
}

CT_TEST(slab, classes_that_make_no_sense_are_refused)
{
	static const struct {
		const char *why;
		struct crn_slab_attr attr[2];
		size_t count;
	} rows[] = {
		{"no class", {{64, 1, 1}}, 0},
		{"a size of 0", {{0, 1, 1}}, 1},
		{"a chunk of none", {{64, 0, 1}}, 1},
		{"a limit of none", {{64, 1, 0}}, 1},
		{"a size that wraps around", {{SIZE_MAX, 1, 1}}, 1},
		{"a size that is half of it", {{SIZE_MAX / 2, 1, 1}}, 1},
		{"a chunk that wraps around", {{64, SIZE_MAX / 64, SIZE_MAX}}, 1},
		{"sizes that are the same", {{64, 1, 1}, {64, 1, 1}}, 2},
		{"sizes that descend", {{64, 1, 1}, {32, 1, 1}}, 2},
	};
	struct crn_slab_attr many[CRN_SLAB_CLASSES + 1];
	struct crn_slab slab;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].why);
		CT_EXPECT_EQ(crn_slab_init(&slab, &prov, rows[i].attr, rows[i].count,
					   NULL, NULL),
			     -FI_EINVAL);
	}
	for (size_t i = 0; i < CRN_COUNT(many); i++)
		many[i] = (struct crn_slab_attr){64 * (i + 1), 1, 1};
	CT_EXPECT_EQ(crn_slab_init(&slab, &prov, many, CRN_SLAB_CLASSES + 1, NULL, NULL),
		     -FI_EINVAL);
	CT_EXPECT_EQ(crn_slab_init(&slab, &prov, many, CRN_SLAB_CLASSES, NULL, NULL), 0);
	CT_EXPECT_EQ(crn_slab_fini(&slab), 0);
}

/* Two threads take, write and return: the lock is the owner's. */
#define ROUNDS 2000
static struct crn_lock owner;
static struct crn_slab shared;

static void *take_and_return(void *arg)
{
	struct crn_buf *buf;
	int ret;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		crn_lock(&owner);
		ret = crn_slab_get(&shared, i % 2 ? 4096 : 100, &buf);
		crn_unlock(&owner);
		CT_EXPECT_EQ(ret, 0);
		if (ret)
			break;
		memcpy(buf->data, &arg, sizeof(arg));
		sched_yield();
		CT_EXPECT_MEMEQ(buf->data, &arg, sizeof(arg));
		crn_lock(&owner);
		crn_slab_put(buf);
		crn_unlock(&owner);
	}
	return NULL;
}

CT_TEST(slab, two_threads_under_one_lock_never_have_the_same_buffer)
{
	pthread_t threads[2];
	char names[2];

	CT_ASSERT_EQ(crn_slab_init(&shared, &prov, three, 3, NULL, NULL), 0);
	crn_lock_init(&owner, true);
	for (size_t i = 0; i < 2; i++)
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL, take_and_return,
					    &names[i]),
			     0);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	crn_lock_fini(&owner);
	CT_EXPECT_EQ(crn_slab_fini(&shared), 0);
}
