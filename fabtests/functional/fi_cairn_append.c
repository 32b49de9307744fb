/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appends to a log in the server's persistent memory by durable remote writes, and says
 * what was acknowledged, for tests that end the machine under it. The server calls
 * nothing meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/fi_ext_cairn.h>
#include "append.h"
#include "fct_op.h"

#define PIECE (2u << 20) /* of which a devdax is mapped */
#define DEPTH 8

static struct {
	const char *memory;
	uint64_t seed, records, mib;
	bool compound;
} opt = {.seed = 1, .records = UINT64_MAX, .mib = 64};

/* A record on its way, and the word behind it. */
struct slot {
	struct fct_ctx ctx;
	uint64_t tail;
};

struct append {
	struct fct_link l;
	struct fct_target log;	   /* client: the server's */
	struct fct_mem records;	   /* client: DEPTH of them */
	struct fct_mem words;	   /* client: a struct slot for each */
	uint64_t at;		   /* bytes of records posted */
	uint64_t posted, finished; /* appends */
	bool tail_due;		   /* the record is posted, the word is not */
	uint8_t *memory;	   /* server */
	size_t len;
	struct fid_mr *mr;
};

static int option(int val, const char *arg)
{
	uint64_t *n = val == 'E' ? &opt.seed : val == 'n' ? &opt.records : &opt.mib;

	switch (val) {
	case 'm':
		opt.memory = arg;
		return 0;
	case 'o':
		opt.compound = !strcmp(arg, "compound");
		if (opt.compound || !strcmp(arg, "singleton"))
			return 0;
		break;
	default:
		*n = fct_number(arg, 1, val == 'L' ? 4096 : UINT64_MAX);
		if (val != 'L' || *n % 2 == 0)
			return *n ? 0 : -1;
	}
	fprintf(stderr, "fi_cairn_append: '%s' is not what -%c takes (--help)\n", arg,
		val);
	return -1;
}

static int map_memory(struct append *a)
{
	struct stat st = {0};
	void *at = MAP_FAILED;
	int fd;

	if (!opt.memory)
		return fct_fail("--memory names no persistent memory");
	fd = open(opt.memory, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st)) {
		a->len = S_ISCHR(st.st_mode) ? opt.mib << 20 : (size_t)st.st_size;
		at = mmap(NULL, a->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		return fct_fail("%s cannot be mapped: %s", opt.memory, strerror(errno));
	a->memory = at;
	if (a->len < APPEND_RECORDS + APPEND_LONGEST)
		return fct_fail("%s is too small", opt.memory);
	return 0;
}

static int serve(struct append *a)
{
	struct fct_target mine = {0};
	struct append_found found;
	uint64_t appended;

	FCT_DO(map_memory(a));
	memset(a->memory, 0, a->len);
	FCT_DO(fct_pmem_reg(&a->l, a->memory, a->len, FI_REMOTE_READ | FI_REMOTE_WRITE,
			    &a->mr, &mine));
	FCT_DO(fct_tell("log", &mine, sizeof(mine)));
	FCT_DO(fct_hear("appended", &appended, sizeof(appended)));
	fct_append_look(a->memory, a->len, opt.seed, &found);
	FCT_EQ(found.whole, appended);
	if (opt.compound)
		FCT_EQ(found.tail, appended);
	return 0;
}

/* --- the client */

static struct slot *slot_of(struct append *a, uint64_t append)
{
	return (struct slot *)(void *)a->words.buf + append % DEPTH;
}

static ssize_t post(struct append *a, void *buf, void *desc, size_t len, uint64_t at,
		    uint64_t flags)
{
	const struct fct_op op = {.form = FCT_WRITEMSG,
				  .buf = buf,
				  .len = len,
				  .desc = desc,
				  .addr = a->log.addr + at,
				  .key = a->log.key,
				  .flags = FI_COMMIT_COMPLETE | flags,
				  .ctx = &slot_of(a, a->posted)->ctx};

	return fct_op_post(a->l.c.ep, &op);
}

static ssize_t post_record(struct append *a)
{
	const size_t len = fct_append_len(opt.seed, a->posted);
	uint8_t *buf = a->records.buf + (a->posted % DEPTH) * APPEND_LONGEST;
	ssize_t ret;

	fct_append_fill(buf, opt.seed, a->posted);
	ret = post(a, buf, a->records.desc, len, APPEND_RECORDS + a->at,
		   opt.compound ? 0 : FI_COMPLETION);
	if (ret)
		return ret;
	a->at += len;
	if (opt.compound)
		a->tail_due = true;
	else
		a->posted++;
	return 0;
}

/* FI_FENCE: durable after the record. */
static ssize_t post_tail(struct append *a)
{
	struct slot *slot = slot_of(a, a->posted);
	ssize_t ret;

	slot->tail = a->at;
	ret = post(a, &slot->tail, a->words.desc, sizeof(slot->tail), APPEND_TAIL,
		   FI_FENCE | FI_COMPLETION);
	if (!ret) {
		a->tail_due = false;
		a->posted++;
	}
	return ret;
}

static bool full(const struct append *a)
{
	return a->posted == opt.records ||
	       APPEND_RECORDS + a->at + fct_append_len(opt.seed, a->posted) > a->log.len;
}

/* In the order of posting; then the world may know. */
static int finish(struct append *a, const struct fi_cq_data_entry *e, ssize_t n)
{
	ssize_t i;

	for (i = 0; i < n; i++) {
		FCT_TRUE(e[i].op_context == &slot_of(a, a->finished)->ctx);
		a->finished++;
	}
	printf("acknowledged %llu\n", (unsigned long long)a->finished);
	fflush(stdout);
	return 0;
}

static int append(struct append *a)
{
	struct fi_cq_data_entry e[DEPTH];
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, "durable appends");
	for (;;) {
		ret = 0;
		while (!ret &&
		       (a->tail_due || (!full(a) && a->posted - a->finished < DEPTH)))
			ret = (int)(a->tail_due ? post_tail(a) : post_record(a));
		if (ret != -FI_EAGAIN)
			FCT_CALL(ret);
		if (a->posted == a->finished && !a->tail_due && full(a))
			return 0;
		n = fi_cq_read(a->l.txcq, e, DEPTH);
		if (n == -FI_EAVAIL)
			return fct_cq_fail(a->l.txcq, "an append");
		if (n > 0) {
			FCT_DO(finish(a, e, n));
			fct_wait_init(&w, "durable appends");
		} else {
			FCT_DO(fct_wait_again(&w));
		}
	}
	return 0;
}

/* How the provider did it, if it says so. */
static void tell_methods(struct append *a)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats s;

	if (fi_open_ops(&a->l.c.ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL) ||
	    ops->read(a->l.c.ep, &s, sizeof(s)))
		return;
	printf("methods: arrived=%llu read=%llu FLUSH=%llu request=%llu message=%llu "
	       "later=%llu upgrades=%llu\n",
	       (unsigned long long)s.commit_arrived, (unsigned long long)s.commit_read,
	       (unsigned long long)s.commit_flush, (unsigned long long)s.commit_request,
	       (unsigned long long)s.commit_message, (unsigned long long)s.commit_later,
	       (unsigned long long)s.commit_upgrades);
}

static int use(struct append *a)
{
	struct fct_link *l = &a->l;

	FCT_DO(fct_hear("log", &a->log, sizeof(a->log)));
	FCT_DO(fct_mem_alloc(l, &a->records, DEPTH * APPEND_LONGEST, FI_WRITE));
	FCT_DO(fct_mem_alloc(l, &a->words, DEPTH * sizeof(struct slot), FI_WRITE));
	FCT_DO(append(a));
	tell_methods(a);
	return fct_tell("appended", &a->finished, sizeof(a->finished));
}

static void end_append(struct append *a)
{
	if (a->mr && fi_close(&a->mr->fid))
		fct_fail("fi_close of the region");
	fct_link_down(&a->l, fct_ret());
	if (a->memory)
		munmap(a->memory, a->len);
}

FCT_CASE(log, "records whole and in order, and what was acknowledged")
{
	static const struct fct_setup setup = {
		.caps = FI_MSG | FI_RMA | FI_RMA_PMEM,
		.tx_bind = FI_SELECTIVE_COMPLETION,
	};
	FCT_AUTO(end_append) struct append a = {0};

	FCT_DO(fct_link_up(&a.l, &setup));
	return fct_is_server() ? serve(&a) : use(&a);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"memory", required_argument, NULL, 'm'},
		{"operation", required_argument, NULL, 'o'},
		{"seed", required_argument, NULL, 'E'},
		{"records", required_argument, NULL, 'n'},
		{"size", required_argument, NULL, 'L'},
		{0},
	};
	static const struct fct_prog prog = {
		.name = "fi_cairn_append",
		.what = "Appends to a log in the server's persistent memory; the client "
			"prints how many\nappends are durable. append_look tells what is "
			"there afterwards.",
		.options = options,
		.option = option,
		.help = "  -m, --memory=FILE       server: a devdax, or a file as long "
			"as "
			"the log\n"
			"  -o, --operation=WHAT    singleton (default): durable records; "
			"compound: a record,\n"
			"                          then a durable word that says so\n"
			"  -E, --seed=N            of what is written (default 1)\n"
			"  -n, --records=N         appends (default: until the log is "
			"full)\n"
			"  -L, --size=MIB          of a log in a devdax, an even number "
			"(default 64)\n",
	};

	return fct_main(argc, argv, &prog);
}
