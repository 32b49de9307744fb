/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model/model.c under real requests, explored in this process: what a durability explorer
 * does. Each machine in a child, which reads settings anew.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "model/model.h"
#include "../world.h"

#define PM_SIZE 4096
#define AT_A 0
#define AT_B 256
#define A_SIZE 128
#define SEEN (1u << 16)

/* What was found out in any state. */
#define TOO_EARLY 1
#define DISORDER 2
#define SEEN_TOO_SOON 4
#define STUCK 8
#define FAILED 16

static struct {
	struct end a, b;
	struct address to;
	char *pm;
	struct ibv_mr *mr;
	uint64_t seen[SEEN];
	uint32_t states;
	int found;
	uint32_t last; /* completions when all are there */
} run;

static uint32_t completions(struct ibv_cq *cq)
{
	struct svb_cq_sh *sh = svb_cq(cq)->sh;

	return sh->tail - sh->head;
}

static bool all(const uint8_t *memory, size_t size, int value)
{
	while (size--)
		if (memory[size] != value)
			return false;
	return true;
}

static bool is_new(const void *state, size_t size)
{
	uint64_t hash = svb_machine_hash(state, size), at = hash;

	for (; run.seen[at % SEEN]; at++)
		if (run.seen[at % SEEN] == hash)
			return false;
	run.seen[at % SEEN] = hash;
	run.found |= ++run.states > SEEN / 2 ? FAILED : 0;
	return run.states < SEEN / 2;
}

static void look(void)
{
	bool reported = completions(run.a.cq) == run.last, a, b;

	/* A message that is seen says that what was written before it is. */
	if (completions(run.b.cq) && !all((uint8_t *)run.pm + AT_A, A_SIZE, 0xaa))
		run.found |= SEEN_TOO_SOON;
	svb_model_fail();
	a = all(svb_model_medium() + AT_A, A_SIZE, 0xaa);
	b = all(svb_model_medium() + AT_B, 8, 0xbb);
	if (reported && !a)
		run.found |= TOO_EARLY;
	if (b && !a)
		run.found |= DISORDER;
}

static void explore(void)
{
	struct svb_choice choices[128];
	size_t size = svb_model_save(NULL, 0);
	char *state = malloc(size);
	uint32_t count;

	if (!state || svb_model_save(state, size) != size) {
		run.found |= FAILED;
		free(state);
		return;
	}
	if (!is_new(state, size)) {
		free(state);
		return;
	}
	count = svb_model_enabled(choices, 128);
	if (!count && completions(run.a.cq) != run.last)
		run.found |= STUCK;
	look();
	svb_model_restore(state);
	for (uint32_t i = 0; i < count; i++) {
		svb_model_apply(&choices[i]);
		explore();
		svb_model_restore(state);
	}
	free(state);
}

static bool begin(void)
{
	int fd;

	/* This is a child: it joins anew. */
	svb_self.settings.devices = 0;
	if (!world_pair(&run.a, &run.b))
		return false;
	fd = open(svb_medium_mapping(), O_RDWR);
	run.pm = mmap(NULL, PM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	run.mr = run.pm == MAP_FAILED
			 ? NULL
			 : ibv_reg_mr(run.b.pd, run.pm, PM_SIZE, WORLD_ACCESS);
	if (!run.mr)
		return false;
	run.to.rkey = run.mr->rkey;
	run.to.memory = (uintptr_t)run.pm;
	memset(run.a.memory, 0xaa, A_SIZE);
	memset(run.a.memory + AT_B, 0xbb, 8);
	return true;
}

static bool writes(size_t at, size_t len)
{
	run.last++;
	return !world_rdma(&run.a, IBV_WR_RDMA_WRITE, at, len, &run.to, at);
}

static bool reads(size_t at)
{
	run.last++;
	return !world_rdma(&run.a, IBV_WR_RDMA_READ, 1024, 1, &run.to, at);
}

static int explored(bool posted)
{
	if (!posted)
		return FAILED;
	explore();
	printf("%u states of the device\n", run.states);
	return run.found;
}

static int write_only(int fd)
{
	return explored(begin() && writes(AT_A, A_SIZE));
}

static int write_read(int fd)
{
	return explored(begin() && writes(AT_A, A_SIZE) && reads(AT_A));
}

static int two_writes_read(int fd)
{
	return explored(begin() && writes(AT_A, A_SIZE) && writes(AT_B, 8) &&
			reads(AT_B));
}

static bool sends(void)
{
	run.last++;
	return !world_recv(&run.b, 5, 0, 64) && !world_send(&run.a, 6, 0, 16);
}

static int write_send(int fd)
{
	return explored(begin() && writes(AT_A, A_SIZE) && sends());
}

/* Runs fn on a machine. Returns what it found. */
static int on(const char *domain, const char *ddio, const char *relaxed,
	      int (*fn)(int fd))
{
	char file[] = "/tmp/svb-pmXXXXXX";
	int fd = mkstemp(file), sock, ret;
	pid_t pid;

	if (fd < 0 || ftruncate(fd, PM_SIZE))
		return FAILED;
	close(fd);
	setenv("SIMVERBS_PERSISTENT_FILE", file, 1);
	setenv("SIMVERBS_DRAIN", "explore", 1);
	setenv("SIMVERBS_THREADS", "off", 1);
	setenv("SIMVERBS_PERSISTENCE", domain, 1);
	setenv("SIMVERBS_DDIO", ddio, 1);
	setenv("SIMVERBS_RELAXED", relaxed, 1);
	sock = world_child(fn, &pid);
	ret = world_reap(pid);
	close(sock);
	unsetenv("SIMVERBS_PERSISTENT_FILE");
	unsetenv("SIMVERBS_DRAIN");
	unsetenv("SIMVERBS_THREADS");
	unsetenv("SIMVERBS_PERSISTENCE");
	unsetenv("SIMVERBS_DDIO");
	unsetenv("SIMVERBS_RELAXED");
	unlink(file);
	return ret;
}

/* What the tables say of pure requests holds for those that ibv_post_send posts. */
CT_TEST(model, real_requests_are_as_durable_as_the_tables_say)
{
	CT_EXPECT_EQ(on("dmp", "on", "off", write_only), TOO_EARLY);
	CT_EXPECT_EQ(on("mhp", "on", "off", write_only), TOO_EARLY);
	CT_EXPECT_EQ(on("wsp", "on", "off", write_only), 0);
	CT_EXPECT_EQ(on("dmp", "on", "off", write_read), TOO_EARLY);
	CT_EXPECT_EQ(on("dmp", "off", "off", write_read), 0);
	CT_EXPECT_EQ(on("mhp", "on", "off", write_read), 0);
	CT_EXPECT_EQ(on("dmp", "off", "off", two_writes_read), DISORDER);
	CT_EXPECT_EQ(on("mhp", "off", "off", two_writes_read), 0);
	CT_EXPECT_EQ(on("mhp", "off", "on", two_writes_read), DISORDER);
}

CT_TEST(model, a_message_is_received_after_what_was_written_before_it)
{
	CT_EXPECT_EQ(on("mhp", "on", "off", write_send), TOO_EARLY);
	CT_EXPECT_EQ(on("mhp", "on", "on", write_send), TOO_EARLY);
}

/* What ends up in the state after a write whose imm_data the program left as it was. */
static uint64_t hash_of_write(uint32_t left)
{
	struct ibv_sge sge = {(uintptr_t)run.a.memory, 8, run.a.mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .imm_data = left,
				       .wr.rdma = {run.to.memory, run.to.rkey}};
	size_t size = svb_model_save(NULL, 0);
	char *before = malloc(size), *after;
	uint64_t hash = 0;

	svb_model_save(before, size);
	if (!ibv_post_send(run.a.qp, &wr, &bad)) {
		size = svb_model_save(NULL, 0);
		after = calloc(1, size);
		svb_model_save(after, size);
		hash = svb_machine_hash(after, size);
		free(after);
	}
	svb_model_restore(before);
	free(before);
	return hash;
}

static int same_states(int fd)
{
	struct svb_cq before;
	uint64_t hash;

	if (!begin())
		return FAILED;
	hash = hash_of_write(0);
	if (!hash || hash != hash_of_write(0x12345678))
		return DISORDER;
	before = *svb_cq(run.a.cq);
	if (!world_quiet(run.a.cq) || memcmp(&before, svb_cq(run.a.cq), sizeof(before)))
		return STUCK;
	return 0;
}

CT_TEST(model, what_the_device_does_not_look_at_tells_no_states_apart)
{
	CT_EXPECT_EQ(on("dmp", "on", "off", same_states), 0);
}

static int memory_is_left(int fd)
{
	size_t size, less;
	char *state;

	if (!begin())
		return FAILED;
	size = svb_model_save(NULL, 0);
	svb_model_leave_memory(true);
	less = svb_model_save(NULL, 0);
	state = malloc(less);
	run.a.memory[7] = 1;
	svb_model_save(state, less);
	run.a.memory[7] = 2;
	svb_model_restore(state);
	free(state);
	return size - less != 2 * WORLD_BYTES || run.a.memory[7] != 2 ? FAILED : 0;
}

CT_TEST(model, leaves_memory_to_who_keeps_it)
{
	CT_EXPECT_EQ(on("dmp", "on", "off", memory_is_left), 0);
}
