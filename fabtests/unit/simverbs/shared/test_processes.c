/* SPDX-License-Identifier: BSD-2-Clause */
/* Between processes: shared/segment.c, shared/registry.c, engine/memory.c,
 * engine/service.c, shared/process.c */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../world.h"

/* Connects to the end at the other end of the socket. */
static bool join(struct end *end, int fd, struct address *peer)
{
	struct address mine;

	if (!world_open(end, IBV_QPT_RC, false))
		return false;
	mine = world_address(end);
	return world_swap(fd, &mine, peer) && world_connect(end, peer) &&
	       world_tell(fd) && world_hear(fd);
}

/* The parent's end of a connection, and the child that has the other one. */
struct across {
	struct end end;
	struct address peer;
	pid_t pid;
	int fd;
};

static bool meet(struct across *t, int (*fn)(int fd))
{
	t->fd = world_child(fn, &t->pid);
	return join(&t->end, t->fd, &t->peer);
}

/* The child ends, with that status. */
static void reap(struct across *t, int status)
{
	if (t->pid)
		CT_EXPECT_EQ(world_reap(t->pid), status);
	t->pid = 0;
}

static void kill_peer(struct across *t)
{
	kill(t->pid, SIGKILL);
	reap(t, -1);
}

/* A child that waits to be told ends when the socket is closed. */
static void part(struct across *t)
{
	if (t->fd)
		close(t->fd);
	reap(t, 0);
	world_close(&t->end);
}

CT_FIXTURE(processes, struct across, NULL, part);

/* Waits to be told, then says whether the bytes are there. */
static int watched(int fd)
{
	struct address peer;
	struct end end;
	int ret;

	if (!join(&end, fd, &peer) || !world_hear(fd))
		return 1;
	ret = strcmp(end.memory + 100, "across") ? 2 : 0;
	strcpy(end.memory + 200, "answer");
	if (!world_tell(fd) || !world_hear(fd))
		return 3;
	world_close(&end);
	return ret;
}

CT_TEST_F(processes, one_sided_operations_need_nothing_of_the_other_side)
{
	CT_ASSERT_TRUE(meet(t, watched));
	strcpy(t->end.memory, "across");
	CT_ASSERT_EQ(world_rdma(&t->end, IBV_WR_RDMA_WRITE, 0, 7, &t->peer, 100), 0);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_tell(t->fd) && world_hear(t->fd));
	CT_ASSERT_EQ(world_rdma(&t->end, IBV_WR_RDMA_READ, 50, 7, &t->peer, 200), 0);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_SUCCESS);
	CT_EXPECT_STREQ(t->end.memory + 50, "answer");
	CT_ASSERT_EQ(world_rdma(&t->end, IBV_WR_RDMA_WRITE, 0, 8, &t->peer, WORLD_BYTES),
		     0);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_TRUE(world_tell(t->fd));
}

/* Echoes eight messages, posting each receive late. */
static int echo(int fd)
{
	struct address peer;
	struct end end;

	if (!join(&end, fd, &peer))
		return 1;
	for (int i = 0; i < 8; i++)
		if (world_recv(&end, 1, 0, 64) || world_status(end.cq) ||
		    world_send(&end, 2, 0, 64) || world_status(end.cq))
			return 2;
	if (!world_hear(fd))
		return 3;
	world_close(&end);
	return 0;
}

CT_TEST_F(processes, messages_go_both_ways_whoever_is_first)
{
	struct ibv_wc wc[2];

	CT_ASSERT_TRUE(meet(t, echo));
	for (int i = 0; i < 8; i++) {
		memset(t->end.memory, 'a' + i, 64);
		CT_ASSERT_EQ(world_recv(&t->end, 1, 100, 64), 0);
		CT_ASSERT_EQ(world_send(&t->end, 2, 0, 64), 0);
		CT_ASSERT_TRUE(world_wait(t->end.cq, &wc[0]) &&
			       world_wait(t->end.cq, &wc[1]));
		CT_EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
		CT_EXPECT_EQ(wc[1].status, IBV_WC_SUCCESS);
		CT_EXPECT_MEMEQ(t->end.memory, t->end.memory + 100, 64);
	}
	CT_EXPECT_TRUE(world_tell(t->fd));
}

/* Stays until it is killed. */
static int victim(int fd)
{
	struct address peer;
	struct end end;

	if (join(&end, fd, &peer))
		world_hear(fd);
	return 0;
}

CT_TEST_F(processes, killed_peer_ends_what_waits_for_it)
{
	struct ibv_cq *cq;
	void *context;

	CT_ASSERT_TRUE(meet(t, victim));
	/* Nobody posts a receive; nobody polls either: the event must come by itself. */
	CT_ASSERT_EQ(ibv_req_notify_cq(t->end.cq, 0), 0);
	CT_ASSERT_EQ(world_send(&t->end, 1, 0, 8), 0);
	kill(t->pid, SIGKILL);
	CT_ASSERT_EQ(ibv_get_cq_event(t->end.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_RETRY_EXC_ERR);
	reap(t, -1);
}

CT_TEST_F(processes, write_to_a_killed_peer_is_not_answered)
{
	CT_ASSERT_TRUE(meet(t, victim));
	kill_peer(t);
	CT_ASSERT_EQ(world_rdma(&t->end, IBV_WR_RDMA_WRITE, 0, 8, &t->peer, 0), 0);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_RETRY_EXC_ERR);
}

/* Adds for ever to the peer's counter until it is killed. */
static int hammer(int fd)
{
	struct address peer;
	struct end end;

	if (!join(&end, fd, &peer))
		return 1;
	for (;;) {
		world_rdma(&end, IBV_WR_RDMA_WRITE, 0, 4096, &peer, 4096);
		world_send(&end, 2, 0, 512);
		world_status(end.cq);
		world_status(end.cq);
	}
}

CT_TEST_F(processes, peers_killed_at_any_moment_leave_no_lock_behind)
{
	struct ibv_wc wc;

	for (int i = 0; i < 20; i++) {
		CT_ASSERT_TRUE(meet(t, hammer));
		for (int k = 0; k < 10 + 7 * i; k++) {
			world_recv(&t->end, 1, 8192, 4096);
			ibv_poll_cq(t->end.cq, 1, &wc);
		}
		kill_peer(t);
		part(t);
	}
	t->fd = 0;
}

/* Is there until it is told, or killed. */
static int present(int fd)
{
	struct end end;

	if (!world_open(&end, IBV_QPT_RC, false) || !world_tell(fd) || !world_hear(fd))
		return 1;
	world_close(&end);
	return 0;
}

static bool is_registered(pid_t pid)
{
	for (uint32_t i = 1; i < SVB_PROC_MAX; i++)
		if (svb_self.registry->entry[i].pid == (uint32_t)pid)
			return true;
	return false;
}

/* What is sent to a group is offered to all that the registry names. */
CT_TEST(processes, the_next_one_buries_who_was_killed)
{
	struct end end;
	pid_t killed, next;
	int fd;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	fd = world_child(present, &killed);
	CT_ASSERT_TRUE(world_hear(fd));
	CT_EXPECT_TRUE(is_registered(killed));
	kill(killed, SIGKILL);
	CT_EXPECT_EQ(world_reap(killed), -1);
	close(fd);
	fd = world_child(present, &next);
	CT_ASSERT_TRUE(world_hear(fd));
	CT_EXPECT_FALSE(is_registered(killed));
	CT_EXPECT_TRUE(is_registered(next));
	CT_EXPECT_TRUE(is_registered(getpid()));
	CT_EXPECT_TRUE(world_tell(fd));
	CT_EXPECT_EQ(world_reap(next), 0);
	world_close(&end);
	close(fd);
}

/* Uses what it inherited, which must reach nobody, and then a device of its own. */
static int heir(int fd)
{
	struct address peer;
	struct end end;

	if (!join(&end, fd, &peer))
		return 1;
	world_close(&end);
	return 0;
}

CT_TEST_F(processes, child_of_a_fork_has_an_identity_of_its_own)
{
	struct pair own;
	uint32_t index;

	pair_open(&own);
	index = svb_self.index;
	CT_ASSERT_TRUE(meet(t, heir));
	CT_EXPECT_NE(SVB_QP_PROC(t->peer.qpn), index);
	reap(t, 0);
	CT_EXPECT_EQ(pair_write(&own), IBV_WC_SUCCESS);
	pair_close(&own);
}

/* Its processes may not reach each other's memory, as far as it knows. The thread of the
 * other has to run in time. */
static int relayed(int fd)
{
	struct address peer;
	struct end end;
	uint64_t *words;
	int ret = 0;

	world_settings("SIMVERBS_COPY", "thread", "SIMVERBS_RETRY_MS", "600000", NULL);
	if (!join(&end, fd, &peer))
		return 1;
	words = (uint64_t *)(end.memory + 128);
	strcpy(end.memory, "by its thread");
	if (world_rdma(&end, IBV_WR_RDMA_WRITE, 0, 14, &peer, 4096) ||
	    world_status(end.cq) ||
	    world_rdma(&end, IBV_WR_RDMA_READ, 64, 14, &peer, 4096) ||
	    world_status(end.cq) || strcmp(end.memory + 64, "by its thread"))
		ret = 2;
	if (world_send(&end, 2, 0, 14) || world_status(end.cq))
		ret = 3;
	words[0] = 0;
	if (world_rdma(&end, IBV_WR_RDMA_READ, 128, 8, &peer, 8192) ||
	    world_status(end.cq) || words[0] != 7)
		ret = 4;
	/* What a key does not cover is refused as ever. */
	if (world_rdma(&end, IBV_WR_RDMA_WRITE, 0, 8, &peer, WORLD_BYTES) ||
	    world_status(end.cq) != IBV_WC_REM_ACCESS_ERR)
		ret = 5;
	world_close(&end);
	return ret;
}

CT_TEST_F(processes, thread_of_the_target_copies_where_the_system_forbids_it)
{
	uint64_t seven = 7;

	CT_ASSERT_TRUE(meet(t, relayed));
	memcpy(t->end.memory + 8192, &seven, sizeof(seven));
	CT_ASSERT_EQ(world_recv(&t->end, 1, 1024, 64), 0);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_SUCCESS);
	CT_EXPECT_STREQ(t->end.memory + 1024, "by its thread");
	CT_EXPECT_STREQ(t->end.memory + 4096, "by its thread");
}

/* Registered, told of, and then taken from under the registration. */
static int unmapped(int fd)
{
	struct address peer;
	struct end end;

	world_settings("SIMVERBS_COPY", "thread", "SIMVERBS_RETRY_MS", "600000", NULL);
	if (!join(&end, fd, &peer) || !world_swap(fd, &peer, &peer))
		return 1;
	if (world_rdma(&end, IBV_WR_RDMA_WRITE, 0, 8, &peer, 0) ||
	    world_status(end.cq) != IBV_WC_REM_OP_ERR)
		return 2;
	world_close(&end);
	return 0;
}

CT_TEST_F(processes, memory_gone_from_under_its_registration_kills_nobody)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct address to;
	struct ibv_mr *mr;

	svb_join();
	if (svb_self.valgrind)
		CT_SKIP("valgrind tells of it");
	CT_ASSERT_TRUE(meet(t, unmapped));
	mr = ibv_reg_mr(t->end.pd, page, 4096, WORLD_ACCESS);
	CT_ASSERT_NE(mr, NULL);
	to = world_address(&t->end);
	to.rkey = mr->rkey;
	to.memory = (uintptr_t)page;
	/* Not munmap: the stack of the thread that serves the request may come to lie
	 * at that address, and be written to. */
	CT_ASSERT_EQ(mprotect(page, 4096, PROT_NONE), 0);
	CT_EXPECT_TRUE(world_swap(t->fd, &to, &t->peer));
	reap(t, 0);
	ibv_dereg_mr(mr);
	munmap(page, 4096);
}

WORLD_CHILD(processes, closed_standard_descriptors_stay_closed)
{
	int std, joined, open = 0;

	for (std = 0; std <= STDERR_FILENO; std++)
		close(std);
	joined = svb_join();
	for (std = 0; std <= STDERR_FILENO; std++)
		open |= (fcntl(std, F_GETFD) >= 0) << std;
	CT_EXPECT_EQ(joined, 0);
	CT_EXPECT_EQ(open, 0);
}

/* Runs fn as the first process of a new PID namespace, which /proc does not show;
 * CHILD_NONE where the system allows no namespaces. It ends with this process. */
#define CHILD_NONE 77
static int in_pid_namespace(int (*fn)(int fd), int fd)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID)) {
		close(fd);
		return CHILD_NONE;
	}
	pid = fork();
	if (!pid)
		_exit(fn(fd));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
								    : 1;
}

/* Writes to the peer, reads from it, and receives. */
static int far_away(int fd)
{
	struct address peer;
	struct end end;
	int ret = 0;

	world_settings("SIMVERBS_RETRY_MS", "600000", NULL);
	if (getpid() != 1 || !join(&end, fd, &peer))
		return 2;
	strcpy(end.memory, "from afar");
	if (world_rdma(&end, IBV_WR_RDMA_WRITE, 0, 10, &peer, 4096) ||
	    world_status(end.cq) ||
	    world_rdma(&end, IBV_WR_RDMA_READ, 64, 10, &peer, 4096) ||
	    world_status(end.cq) || strcmp(end.memory + 64, "from afar"))
		ret = 3;
	if (world_recv(&end, 1, 128, 64) || !world_tell(fd) || world_status(end.cq) ||
	    strcmp(end.memory + 128, "from near"))
		ret = 4;
	if (!world_hear(fd))
		return 5;
	world_close(&end);
	return ret;
}

static int far_away_in_namespace(int fd)
{
	return in_pid_namespace(far_away, fd);
}

CT_TEST_F(processes, memory_of_another_pid_namespace_is_not_reached_by_number)
{
	if (!meet(t, far_away_in_namespace)) {
		reap(t, CHILD_NONE);
		CT_SKIP("no PID namespaces");
	}
	CT_EXPECT_EQ(svb_registry_pid(SVB_QP_PROC(t->peer.qpn)), 0);
	CT_EXPECT_EQ(svb_registry_pid(svb_self.index), (uint32_t)getpid());
	CT_ASSERT_TRUE(world_hear(t->fd));
	CT_EXPECT_STREQ(t->end.memory + 4096, "from afar");
	strcpy(t->end.memory, "from near");
	CT_ASSERT_EQ(world_send(&t->end, 2, 0, 10), 0);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_tell(t->fd));
}

static int present_in_namespace(int fd)
{
	return in_pid_namespace(present, fd);
}

CT_TEST_F(processes, life_in_another_pid_namespace_is_seen)
{
	uint32_t token, index;

	CT_ASSERT_TRUE(world_open(&t->end, IBV_QPT_RC, false));
	t->fd = world_child(present_in_namespace, &t->pid);
	if (!world_hear(t->fd)) {
		reap(t, CHILD_NONE);
		CT_SKIP("no PID namespaces");
	}
	index = svb_self.registry->highest;
	token = svb_token(index, svb_self.registry->entry[index].generation);
	CT_EXPECT_EQ(svb_self.registry->entry[index].pid, 1);
	CT_EXPECT_TRUE(svb_registry_alive(token));
	CT_EXPECT_TRUE(world_tell(t->fd));
	reap(t, 0);
	CT_EXPECT_FALSE(svb_registry_alive(token));
}

static int victim_in_namespace(int fd)
{
	return in_pid_namespace(victim, fd);
}

/* Its sign of life is gone, as where there is no descriptor left: it is looked at
 * instead, and not the process that has its number here. */
CT_TEST_F(processes, death_in_another_pid_namespace_ends_what_waits_for_it)
{
	struct address mine;
	char name[32];

	t->fd = world_child(victim_in_namespace, &t->pid);
	CT_ASSERT_TRUE(world_open(&t->end, IBV_QPT_RC, false));
	mine = world_address(&t->end);
	if (!world_swap(t->fd, &mine, &t->peer)) {
		reap(t, CHILD_NONE);
		CT_SKIP("no PID namespaces");
	}
	snprintf(name, sizeof(name), "bell.%u.0", SVB_QP_PROC(t->peer.qpn));
	CT_ASSERT_EQ(unlinkat(svb_self.dir_fd, name, 0), 0);
	CT_ASSERT_TRUE(world_connect(&t->end, &t->peer) && world_tell(t->fd) &&
		       world_hear(t->fd));
	CT_ASSERT_EQ(world_send(&t->end, 1, 0, 8), 0);
	CT_EXPECT_TRUE(world_quiet(t->end.cq));
	/* The end of its socket ends it: victim(). */
	shutdown(t->fd, SHUT_RDWR);
	CT_EXPECT_EQ(world_status(t->end.cq), IBV_WC_RETRY_EXC_ERR);
	reap(t, 0);
}
