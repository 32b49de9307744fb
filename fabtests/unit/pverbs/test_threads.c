/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that share a domain: nothing is lost, nothing is found twice. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "world_cm.h"

#define THREADS 3
#define ROUNDS 60

struct shared {
	struct world w;
	atomic_uint posted;
	atomic_uint running;
};

static void *run_endpoints(void *arg)
{
	struct shared *shared = arg;
	struct fid_ep *ep;

	for (uintptr_t i = 0; i < ROUNDS; i++) {
		if (!world_add_ep(&shared->w, NULL, &ep))
			break;
		for (int n = 0; n < 8; n++) {
			CT_EXPECT_EQ(recv_number(ep, i), 0);
			atomic_fetch_add(&shared->posted, 1);
		}
		for (int n = 0; n < 3; n++)
			fake_receive(qp_of(ep), IBV_WC_RECV, 0, NULL);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
	atomic_fetch_sub(&shared->running, 1);
	return NULL;
}

CT_TEST(threads, endpoints_come_and_go_while_one_thread_reads_their_completions)
{
	unsigned int errors, all_errors = 0, count = 0;
	pthread_t threads[THREADS];
	struct shared shared;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&shared.w, NULL));
	atomic_init(&shared.posted, 0);
	atomic_init(&shared.running, THREADS);
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_create(&threads[i], NULL, run_endpoints, &shared),
			     0);
	while (atomic_load(&shared.running)) {
		count += read_all_comps(shared.w.cq, &errors);
		all_errors += errors;
		sched_yield();
	}
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_join(threads[i], NULL), 0);
	count += read_all_comps(shared.w.cq, &errors);
	all_errors += errors;
	CT_EXPECT_EQ(count, atomic_load(&shared.posted));
	CT_EXPECT_EQ(all_errors, THREADS * ROUNDS * 5);
	world_close(&shared.w);
}

static void *send_thread(void *arg)
{
	struct fid_ep *ep = arg;
	uintptr_t sent = 0;
	ssize_t ret;

	for (;;) {
		ret = send_number(ep, sent);
		if (!ret)
			sent++;
		else if (ret == -FI_EAGAIN)
			sched_yield();
		else
			break;
	}
	CT_EXPECT_EQ(ret, -FI_ESHUTDOWN);
	return NUMBER(sent);
}

CT_FIXTURE(threads, struct world, world_fresh, world_close);

CT_TEST_F(threads, a_shutdown_meets_threads_that_send)
{
	struct fi_cq_err_entry error;
	struct fi_cq_data_entry entry;
	pthread_t threads[THREADS];
	uintptr_t sent = 0, found = 0;
	ssize_t ret;
	void *count;

	fake_devices[0].completes_at_once = true;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_create(&threads[i], NULL, send_thread, t->ep), 0);
	while (found < 1000)
		found += fi_cq_read(t->cq, &entry, 1) == 1;
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), 0);
	for (int i = 0; i < THREADS; i++) {
		CT_EXPECT_EQ(pthread_join(threads[i], &count), 0);
		sent += (uintptr_t)count;
	}
	while ((ret = fi_cq_read(t->cq, &entry, 1)) != -FI_EAGAIN) {
		if (ret == -FI_EAVAIL)
			CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), 1);
		found++;
	}
	CT_EXPECT_EQ(found, sent);
}

#define RECEIVES 3000

/* Posts its share of the numbers. */
static void *recv_thread(void *arg)
{
	struct shared *shared = arg;
	const uintptr_t first = atomic_fetch_add(&shared->running, 1);
	ssize_t ret;

	for (uintptr_t i = first; i < RECEIVES; i += THREADS) {
		while ((ret = recv_number(shared->w.ep, i)) == -FI_EAGAIN && !ct_failed())
			sched_yield();
		CT_EXPECT_EQ(ret, 0);
		atomic_fetch_add(&shared->posted, 1);
	}
	return NULL;
}

CT_TEST(threads, receives_that_threads_post_to_one_endpoint_are_each_found_once)
{
	struct fi_cq_data_entry entry;
	unsigned int found = 0, taken;
	static unsigned int seen[RECEIVES];
	pthread_t threads[THREADS];
	struct shared shared;

	memset(seen, 0, sizeof(seen));
	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&shared.w, NULL));
	atomic_init(&shared.posted, 0);
	atomic_init(&shared.running, 0);
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_create(&threads[i], NULL, recv_thread, &shared), 0);
	for (taken = 0; taken < RECEIVES && !ct_failed(); taken++) {
		CT_EXPECT_SOON(atomic_load(&shared.posted) > taken);
		fake_receive(shared.w.qp, IBV_WC_RECV, 0, NULL);
		while (fi_cq_read(shared.w.cq, &entry, 1) == 1) {
			seen[(uintptr_t)entry.op_context % RECEIVES]++;
			found++;
		}
	}
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_join(threads[i], NULL), 0);
	CT_EXPECT_EQ(found, RECEIVES);
	for (int i = 0; i < RECEIVES; i++) {
		CT_NOTE("receive %d", i);
		CT_EXPECT_EQ(seen[i], 1);
	}
	world_close(&shared.w);
}

static void *read_events(void *arg)
{
	struct shared *shared = arg;
	uint8_t buf[512];
	uint32_t event;

	while (atomic_load(&shared->running)) {
		if (fi_eq_read(shared->w.eq, &event, buf, sizeof(buf), 0) == -FI_EAVAIL)
			fi_eq_readerr(shared->w.eq, &(struct fi_eq_err_entry){0}, 0);
		sched_yield();
	}
	return NULL;
}

/* The endpoint is closed at any point of its connecting. */
CT_TEST(threads, an_endpoint_is_closed_while_another_thread_handles_its_events)
{
	static const enum rdma_cm_event_type events[] = {RDMA_CM_EVENT_ADDR_RESOLVED,
							 RDMA_CM_EVENT_ROUTE_RESOLVED,
							 RDMA_CM_EVENT_CONNECT_RESPONSE,
							 RDMA_CM_EVENT_DISCONNECTED};
	pthread_mutex_t *cm_lock;
	struct shared shared;
	struct rdma_cm_id *id;
	struct fid_ep *ep;
	pthread_t thread;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&shared.w, NULL));
	atomic_init(&shared.running, 1);
	cm_lock = &crn_container_of(shared.w.eq, struct pvb_eq, eq.fid)->cm_lock;
	CT_ASSERT_EQ(pthread_create(&thread, NULL, read_events, &shared), 0);
	for (unsigned int i = 0; i < 5 * ROUNDS; i++) {
		if (!world_add_ep(&shared.w, NULL, &ep))
			break;
		CT_EXPECT_EQ(recv_number(ep, i), 0);
		CT_EXPECT_EQ(fi_connect(ep, NULL, NULL, 0), 0);
		pthread_mutex_lock(cm_lock);
		id = ep_of(ep)->conn.id;
		fake_id_device(id, &fake_devices[0]);
		for (size_t n = 0; n < i % (CRN_COUNT(events) + 1); n++)
			fake_event(id, events[n], 0, NULL, 0);
		pthread_mutex_unlock(cm_lock);
		if (i % 3)
			sched_yield();
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
		expect_cq_error(shared.w.cq, NUMBER(i), FI_RECV | FI_MSG, FI_ECANCELED);
		expect_no_comp(shared.w.cq);
	}
	atomic_store(&shared.running, 0);
	CT_EXPECT_EQ(pthread_join(thread, NULL), 0);
	world_close(&shared.w);
}
