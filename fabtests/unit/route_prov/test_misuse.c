/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs do at the wrong time, or with two threads. */
#include <pthread.h>
#include "ends.h"

#define ROUTER "router = tcp://127.0.0.1:1\n"

static void set_up(struct ends *t)
{
	ends_config(ROUTER, "");
	ends_open(t);
}

CT_FIXTURE(misuse, struct ends, set_up, ends_close);

static struct fi_info *peek_request(struct ends *ends)
{
	struct ends_event event;
	ssize_t len;

	do
		len = fi_eq_read(ends->eq, &event.event, event.room, sizeof(event.room),
				 FI_PEEK);
	while (len == -FI_EAGAIN);
	CT_EXPECT_TRUE(len > 0 && event.event == FI_CONNREQ);
	return fi_dupinfo(event.cm.info);
}

/* An endpoint has the request, though its event is still in the queue. */
CT_TEST_F(misuse, a_request_that_was_only_peeked_at_outlives_its_listener)
{
	struct ends_event event;
	struct fid_ep *active, *passive;
	struct fi_info *request;

	ends_listen(t);
	active = ends_ep(t, t->info);
	CT_ASSERT_EQ(ends_connect(active, &t->target, NULL, 0), 0);
	request = peek_request(t);
	passive = ends_ep(t, request);
	CT_EXPECT_EQ(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	CT_EXPECT_EQ(fi_accept(passive, NULL, 0), 0);
	CT_EXPECT_TRUE(ends_expect(t, FI_CONNECTED, &active->fid, &event));
	CT_EXPECT_TRUE(ends_expect(t, FI_CONNECTED, &passive->fid, &event));
	CT_EXPECT_EQ(fi_close(&active->fid), 0);
	CT_EXPECT_EQ(fi_close(&passive->fid), 0);
	fi_freeinfo(request);
}

#define KEY 7

/* A region whose key the program has chosen, and from which the lower provider sends. */
struct held {
	struct fid_domain *domain;
	struct fid_mr *mr;
	pthread_t closes;
	uint8_t memory[64];
};

static int held_reg(struct held *held, struct fid_mr **mr)
{
	return fi_mr_reg(held->domain, held->memory, sizeof(held->memory), FI_REMOTE_READ,
			 0, KEY, 0, mr, NULL);
}

static struct rte_mr *held_mr(const struct held *held)
{
	return crn_container_of(held->mr, struct rte_mr, fid);
}

static void held_open(struct held *held, struct ends *ends)
{
	memset(held, 0, sizeof(*held));
	ends->info->domain_attr->mr_mode = 0;
	CT_ASSERT_EQ(fi_domain(ends->fabric, ends->info, &held->domain, NULL), 0);
	CT_ASSERT_EQ(held_reg(held, &held->mr), 0);
	held_mr(held)->holds++;
}

static bool held_found(const struct held *held)
{
	struct crn_mr_map *map = &held_mr(held)->domain->map;
	void *at;
	int ret;

	crn_mr_begin(map);
	ret = crn_mr_find(map, KEY, 0, 1, FI_REMOTE_READ, &at, NULL);
	crn_mr_end(map);
	return !ret;
}

static void *held_close_mr(void *arg)
{
	struct held *held = arg;

	return (void *)(intptr_t)fi_close(&held->mr->fid);
}

/* Another thread does, in vain. */
static void held_try_to_close(struct held *held)
{
	CT_EXPECT_TRUE(held_found(held));
	CT_ASSERT_EQ(pthread_create(&held->closes, NULL, held_close_mr, held), 0);
	while (held_found(held))
		;
}

static void held_close(struct held *held)
{
	void *ret;

	pthread_join(held->closes, &ret);
	CT_EXPECT_EQ((int)(intptr_t)ret, -FI_EBUSY);
	CT_EXPECT_TRUE(held_found(held));
	held_mr(held)->holds--;
	CT_EXPECT_EQ(fi_close(&held->mr->fid), 0);
	CT_EXPECT_EQ(fi_close(&held->domain->fid), 0);
}

CT_TEST_F(misuse, the_key_of_a_region_that_cannot_close_yet_is_nobody_elses)
{
	struct fid_mr *other = NULL;
	struct held held;

	held_open(&held, t);
	held_try_to_close(&held);
	CT_EXPECT_EQ(held_reg(&held, &other), -FI_ENOKEY);
	held_close(&held);
}

CT_TEST_F(misuse, who_waits_for_a_region_to_close_stops_no_other_thread)
{
	struct fi_cq_entry entry;
	struct held held;
	bool waits = false;
	int i;

	/* Again if this machine has stood still for as long as the other one waits. */
	for (i = 0; i < 3 && !waits; i++) {
		held_open(&held, t);
		held_try_to_close(&held);
		CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAGAIN);
		waits = !held_found(&held);
		held_close(&held);
	}
	CT_EXPECT_TRUE(waits);
}

struct starter {
	struct ends *ends;
	struct fid_ep *ep;
	pthread_barrier_t *barrier;
	pthread_t thread;
};

static void *start_ep(void *arg)
{
	struct starter *own = arg;

	pthread_barrier_wait(own->barrier);
	return (void *)(intptr_t)ends_connect(own->ep, &own->ends->target, NULL, 0);
}

static struct fid_ep *bound_ep(struct ends *ends)
{
	struct fid_ep *ep = NULL;

	CT_EXPECT_EQ(fi_endpoint(ends->domain, ends->info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &ends->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &ends->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	return ep;
}

/* fi_connect enables it, once: a leak checker and TSan look at the rest. */
CT_TEST_F(misuse, of_two_threads_that_connect_an_endpoint_one_does)
{
	pthread_barrier_t barrier;
	struct starter two[2];
	int i, round;
	void *ret[2];

	t->target =
		(struct rte_end){.as = 3, .subnet = 1, .host = ENDS_TARGET, .port = 1};
	pthread_barrier_init(&barrier, NULL, 2);
	for (round = 0; round < 50; round++) {
		struct fid_ep *ep = bound_ep(t);

		for (i = 0; i < 2; i++) {
			two[i] = (struct starter){t, ep, &barrier, 0};
			CT_ASSERT_EQ(pthread_create(&two[i].thread, NULL, start_ep,
						    &two[i]),
				     0);
		}
		for (i = 0; i < 2; i++)
			pthread_join(two[i].thread, &ret[i]);
		CT_EXPECT_EQ((int)((intptr_t)ret[0] + (intptr_t)ret[1]), -FI_EOPBADSTATE);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
	pthread_barrier_destroy(&barrier);
}

/* Lengths that add up to more than there are bytes. */
CT_TEST_F(misuse, a_receive_of_endless_parts_is_refused)
{
	struct iovec iov[2] = {{NULL, SIZE_MAX - 1}, {NULL, 100}};
	struct fid_ep *ep;

	ep = ends_ep(t, t->info);
	CT_EXPECT_EQ(fi_recvv(ep, iov, NULL, 2, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvv(ep, iov, NULL, 1, 0, NULL), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

CT_TEST_F(misuse, a_domain_of_no_name_is_refused)
{
	struct fid_domain *domain = NULL;
	struct fi_domain_attr *attr;

	attr = t->info->domain_attr;
	t->info->domain_attr = NULL;
	CT_EXPECT_EQ(fi_domain(t->fabric, t->info, &domain, NULL), -FI_EINVAL);
	t->info->domain_attr = attr;
	CT_EXPECT_EQ(fi_domain(t->fabric, NULL, &domain, NULL), -FI_EINVAL);
}

/* --- A region that the lower provider does not let go at once --- */

static unsigned int lower_closes[2];
static int lower_refuses; /* the second of both, with that */

static int lower_close(struct fid *fid)
{
	const size_t which = (size_t)fid->context;

	if (which && lower_refuses)
		return lower_refuses;
	lower_closes[which]++;
	return 0;
}

static struct fi_ops lower_ops = {.size = sizeof(struct fi_ops), .close = lower_close};

CT_TEST_F(misuse, a_region_that_closed_halfway_closes_the_rest_the_next_time)
{
	struct fid_mr lower = {.fid = {.fclass = FI_CLASS_MR, .ops = &lower_ops}};
	struct fid_mr lent = lower;
	uint8_t memory[64] = {0};
	struct fid_mr *fid;
	struct rte_mr *mr;

	CT_ASSERT_EQ(fi_mr_reg(t->domain, memory, sizeof(memory), FI_REMOTE_READ, 0, 0, 0,
			       &fid, NULL),
		     0);
	mr = crn_container_of(fid, struct rte_mr, fid);
	/* As over a lower provider that wants a descriptor. */
	if (mr->lower)
		CT_EXPECT_EQ(fi_close(&mr->lower->fid), 0);
	lent.fid.context = (void *)1;
	mr->lower = &lower;
	mr->lent = &lent;
	fid->mem_desc = &lower;
	lower_refuses = -FI_EBUSY;
	CT_EXPECT_EQ(fi_close(&fid->fid), -FI_EBUSY);
	CT_EXPECT_EQ(lower_closes[0], 1);
	CT_EXPECT_EQ(fi_mr_desc(fid), NULL);
	lower_refuses = 0;
	CT_EXPECT_EQ(fi_close(&fid->fid), 0);
	CT_EXPECT_EQ(lower_closes[0], 1);
	CT_EXPECT_EQ(lower_closes[1], 1);
}
