/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that share a device and connections: for ThreadSanitizer above all. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "world.h"

#define ROUNDS 300

struct job {
	struct end *end;
	struct address to;
	int failures;
};

static struct end ends[2];

/* Writes to its own eight bytes of the peer and polls whatever completes. */
static void *worker(void *arg)
{
	struct job *job = arg;
	struct ibv_wc wc;
	int ret;

	for (int i = 0; i < ROUNDS; i++) {
		do {
			ret = world_rdma(job->end, IBV_WR_RDMA_WRITE, 0, 8, &job->to, 0);
			if (ibv_poll_cq(job->end->cq, 1, &wc) == 1)
				job->failures += wc.status != IBV_WC_SUCCESS;
		} while (ret == ENOMEM);
		job->failures += ret != 0;
	}
	return NULL;
}

CT_TEST(threads, share_queue_pairs_and_completion_queues)
{
	struct job jobs[4];
	pthread_t threads[4];

	CT_ASSERT_TRUE(world_pair(&ends[0], &ends[1]));
	for (int i = 0; i < 4; i++) {
		jobs[i] = (struct job){.end = &ends[i / 2],
				       .to = world_address(&ends[1 - i / 2])};
		jobs[i].to.memory += 64 + 64 * (uint64_t)i;
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL, worker, &jobs[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		CT_EXPECT_EQ(jobs[i].failures, 0);
	}
	world_pair_close(&ends[0], &ends[1]);
}

static void *opener(void *arg)
{
	int *failures = arg;
	struct end a, b;

	for (int i = 0; i < 20; i++) {
		if (!world_pair(&a, &b)) {
			++*failures;
			break;
		}
		world_pair_close(&a, &b);
	}
	return NULL;
}

CT_TEST(threads, open_and_close_beside_each_other)
{
	int failures[2] = {0};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL, opener, &failures[i]), 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		CT_EXPECT_EQ(failures[i], 0);
	}
}

#define DATAGRAMS 1000

struct churn {
	struct ibv_qp *qp;
	atomic_bool stop;
};

/* Comes to a group, and goes, again and again. */
static void come_and_go(struct churn *churn)
{
	const union ibv_gid other = {.raw = {0xff, [15] = 2}};

	CT_EXPECT_EQ(ibv_attach_mcast(churn->qp, &other, 0), 0);
	CT_EXPECT_EQ(ibv_detach_mcast(churn->qp, &other, 0), 0);
}

static void *churner(void *arg)
{
	struct churn *churn = arg;

	while (!atomic_load(&churn->stop))
		come_and_go(churn);
	return NULL;
}

static bool send_to_group(struct end *from, struct end *to, struct ibv_ah *ah)
{
	return !world_recv(to, 1, 0, 100) &&
	       !world_send_to(from, ah, 0xffffff, 0x1234, 8) &&
	       world_status(from->cq) == IBV_WC_SUCCESS &&
	       world_status(to->cq) == IBV_WC_SUCCESS;
}

/* A sender finds the one that has been there all along. */
CT_TEST(threads, attach_and_detach_while_another_sends_to_a_group)
{
	struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1};
	struct churn churn = {.stop = false};
	pthread_t thread;
	struct ibv_ah *ah;

	attr.grh.dgid = (union ibv_gid){.raw = {0xff, [15] = 1}};
	for (int i = 0; i < 2; i++)
		CT_ASSERT_TRUE(world_open_ud(&ends[i]));
	attr.dlid = world_join_group(&attr.grh.dgid);
	ah = ibv_create_ah(ends[0].pd, &attr);
	CT_ASSERT_NE(ah, NULL);
	churn.qp = ends[0].qp;
	/* There are slots before its own that are free. */
	for (int i = 0; i < 64; i++)
		come_and_go(&churn);
	CT_ASSERT_EQ(ibv_attach_mcast(ends[1].qp, &attr.grh.dgid, attr.dlid), 0);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, churner, &churn), 0);
	for (int i = 0; i < DATAGRAMS && !ct_failed(); i++)
		CT_EXPECT_TRUE(send_to_group(&ends[0], &ends[1], ah));
	atomic_store(&churn.stop, true);
	pthread_join(thread, NULL);
	CT_EXPECT_EQ(ibv_detach_mcast(ends[1].qp, &attr.grh.dgid, attr.dlid), 0);
	CT_EXPECT_EQ(ibv_destroy_ah(ah), 0);
	world_pair_close(&ends[0], &ends[1]);
}

/* Changes a setting of a queue pair until that is refused: its own, or none. */
static void *changer(void *arg)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .min_rnr_timer = 12};
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = arg;
	int left = 100000;

	while (left-- && !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER))
		ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	return NULL;
}

CT_TEST(threads, end_a_queue_pair_that_others_change)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	pthread_t threads[2];

	for (int round = 0; round < 20; round++) {
		CT_ASSERT_TRUE(world_pair(&ends[0], &ends[1]));
		for (int i = 0; i < 2; i++)
			CT_ASSERT_EQ(pthread_create(&threads[i], NULL, changer,
						    ends[0].qp),
				     0);
		usleep(100);
		attr.qp_state = IBV_QPS_ERR;
		CT_EXPECT_EQ(ibv_modify_qp(ends[0].qp, &attr, IBV_QP_STATE), 0);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		CT_ASSERT_EQ(ibv_query_qp(ends[0].qp, &attr, IBV_QP_STATE, &init), 0);
		CT_EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
		world_pair_close(&ends[0], &ends[1]);
	}
}
