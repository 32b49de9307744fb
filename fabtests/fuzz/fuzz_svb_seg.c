/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The segment of another process of simverbs, with anything in it: what is posted to it,
 * and what it seems to have posted, ends without harm. An input is a list of patches, a
 * place (two bytes) and a value (four), applied to what an honest peer would have there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuzz.h"
#include "verbs/verbs.h"
#include "vg.h"

#define PEER 5u /* index of the other process */
#define GENERATION 9u
#define RING (SVB_OFF_HEAP + 65536)
#define BYTES 65536u

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct svb_seg *seg; /* the peer's */
	char memory[4096];
} fuzz;

/* Where patches go: everything of the peer but its locks, which are waited for. */
static const struct {
	uint64_t offset;
	uint32_t words;
} places[] = {
	{offsetof(struct svb_seg, limit), SVB_TABLES},
	{SVB_OFF_MR, 2 * sizeof(struct svb_mr_sh) / 4},
	{SVB_OFF_QP + 4, (offsetof(struct svb_qp_sh, sq) - 4) / 4},
	{SVB_OFF_QP + offsetof(struct svb_qp_sh, sq) + 4, sizeof(struct svb_sq) / 4 - 1},
	{SVB_OFF_QP + offsetof(struct svb_qp_sh, rq) + 4, sizeof(struct svb_rq) / 4 - 1},
	{SVB_OFF_CQ + 4, sizeof(struct svb_cq_sh) / 4 - 1},
	{SVB_OFF_SRQ + 4, sizeof(struct svb_rq) / 4 - 1},
	{RING, 128},
};

/* A process to move bytes to and from, where no harm is done. */
static pid_t victim(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			pause();
	}
	return pid;
}

static void make_peer(pid_t pid)
{
	struct svb_entry *entry = &svb_self.registry->entry[PEER];
	int fd = openat(svb_self.dir_fd, "seg.5", O_RDWR | O_CREAT, 0600);
	struct svb_seg *seg;

	FUZZ_CHECK(fd >= 0 && !ftruncate(fd, SVB_SEG_SIZE));
	seg = mmap(NULL, SVB_SEG_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FUZZ_CHECK(seg != MAP_FAILED);
	close(fd);
	seg->abi = SVB_ABI;
	seg->index = PEER;
	seg->generation = GENERATION;
	seg->pid = (uint32_t)pid;
	seg->magic = SVB_MAGIC;
	seg->heap_top = RING + BYTES;
	entry->generation = GENERATION;
	entry->start_time = svb_start_time(pid);
	entry->pid = (uint32_t)pid;
	fuzz.seg = seg;
}

static char dir[] = "/tmp/svbfuzzXXXXXX";

/* Nothing of a run is left. */
static void end(void)
{
	DIR *list = opendir(dir);
	struct dirent *file;

	while (list && (file = readdir(list)))
		unlinkat(dirfd(list), file->d_name, 0);
	if (list)
		closedir(list);
	rmdir(dir);
}

static void begin(void)
{
	struct ibv_device **list;
	struct ibv_qp_init_attr init = {.cap = {16, 16, 2, 2, 64}, .qp_type = IBV_QPT_RC};

	FUZZ_CHECK(mkdtemp(dir) != NULL);
	setenv("SIMVERBS_DIR", dir, 1);
	setenv("SIMVERBS_THREADS", "off", 1);
	setenv("SIMVERBS_RETRY_MS", "1", 1);
	list = ibv_get_device_list(NULL);
	FUZZ_CHECK(list != NULL);
	fuzz.ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	fuzz.pd = ibv_alloc_pd(fuzz.ctx);
	fuzz.cq = ibv_create_cq(fuzz.ctx, 64, NULL, NULL, 0);
	fuzz.mr = ibv_reg_mr(fuzz.pd, fuzz.memory, sizeof(fuzz.memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	init.send_cq = init.recv_cq = fuzz.cq;
	fuzz.qp = ibv_create_qp(fuzz.pd, &init);
	FUZZ_CHECK(fuzz.qp && fuzz.mr);
	make_peer(victim());
	atexit(end);
}

/* What an honest peer has: a queue pair connected to ours, a receive, a request. */
static void honest(void)
{
	struct svb_seg *seg = fuzz.seg;
	struct svb_qp_sh *own = svb_qp(fuzz.qp)->sh, *qp = svb_seg_qp(seg, 0);

	for (uint32_t i = 0; i < SVB_TABLES; i++)
		seg->limit[i] = 64;
	memset(svb_seg_mr(seg, 0), 0, 2 * sizeof(struct svb_mr_sh));
	memset(qp, 0, sizeof(*qp));
	memset(svb_seg_cq(seg, 0), 0, sizeof(struct svb_cq_sh));
	memset(svb_seg_srq(seg, 0), 0, sizeof(struct svb_srq_sh));
	memset(svb_seg_at(seg, RING), 0, BYTES);
	*svb_seg_mr(seg, 1) =
		(struct svb_mr_sh){.key = 0x101,
				   .access = 0xf,
				   .pd = 1,
				   .iova = 0x10000,
				   .length = 4096,
				   /* It was forked: its memory lies where ours does. */
				   .addr = (uintptr_t)fuzz.memory,
				   .flags = SVB_MR_USED};
	qp->state = IBV_QPS_RTS;
	qp->type = IBV_QPT_RC;
	qp->qpn = PEER << SVB_QP_BITS;
	qp->dest_qpn = own->qpn;
	qp->pd = 1;
	qp->access = 0xf;
	qp->port = qp->dest_port = own->port;
	qp->sq = (struct svb_sq){
		.head = 1, .limit = 4, .mask = 3, .stride = 192, .ring = RING};
	qp->sq.wait = SVB_WAIT_RNR;
	qp->rq = (struct svb_rq){
		.head = 1, .limit = 4, .mask = 3, .stride = 48, .ring = RING + 4096};
	qp->rq.max_sge = 2;
	svb_seg_cq(seg, 0)->mask = 15;
	svb_seg_cq(seg, 0)->limit = 16;
	svb_seg_cq(seg, 0)->ring = RING + 8192;
	svb_seg_srq(seg, 0)->rq = qp->rq;
	svb_sq_at(seg, &qp->sq, 0)->opcode = IBV_WR_SEND;
}

static void own_qp(void)
{
	struct svb_qp_sh *sh = svb_qp(fuzz.qp)->sh;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	ibv_modify_qp(fuzz.qp, &attr, IBV_QP_STATE);
	sh->attr.timeout = 1;
	sh->attr.max_rd_atomic = 1;
	sh->attr.rnr_retry = 1;
	sh->access = 0xf;
	sh->dest_qpn = PEER << SVB_QP_BITS;
	sh->port = sh->dest_port = 0;
	sh->state = IBV_QPS_RTS;
}

static void patch(const uint8_t *data, size_t size)
{
	size_t i, count = sizeof(places) / sizeof(places[0]);
	uint32_t where, value, *word;

	for (i = 0; i + 6 <= size; i += 6) {
		where = data[i] % count;
		memcpy(&value, data + i + 2, sizeof(value));
		word = svb_seg_at(fuzz.seg, places[where].offset);
		word[data[i + 1] % places[where].words] = value;
	}
}

/* Each operation to the peer, a receive for what it sends, and some time for both. */
static void use(void)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_SEND,
						     IBV_WR_RDMA_READ,
						     IBV_WR_ATOMIC_FETCH_AND_ADD,
						     IBV_WR_RDMA_WRITE_WITH_IMM};
	struct ibv_sge sge = {(uintptr_t)fuzz.memory, 8, fuzz.mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad_recv, recv = {.sg_list = &sge, .num_sge = 1};
	struct ibv_wc wc[16];

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		if (svb_qp(fuzz.qp)->sh->state != IBV_QPS_RTS)
			own_qp();
		wr.opcode = opcodes[i];
		wr.wr.rdma.remote_addr = 0x10000;
		wr.wr.rdma.rkey = 0x101;
		if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr.wr.atomic.remote_addr = 0x10000;
			wr.wr.atomic.rkey = 0x101;
		}
		ibv_post_send(fuzz.qp, &wr, &bad);
		ibv_poll_cq(fuzz.cq, 16, wc);
	}
	ibv_post_recv(fuzz.qp, &recv, &bad_recv);
	svb_engine_run_peer(svb_qp(fuzz.qp)->sh);
	for (size_t i = 0; i < 3; i++)
		ibv_poll_cq(fuzz.cq, 16, wc);
}

/* Each makes system calls. */
unsigned int fuzz_runs(void)
{
	return 2000;
}

/* Garbage leads all over a segment, and valgrind is told that most of it is not there. */
const char *fuzz_why_not(void)
{
	return svb_vg_runs() ? "valgrind knows only what of a segment is in use" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!fuzz.qp)
		begin();
	honest();
	own_qp();
	patch(data, size);
	use();
	return 0;
}
