/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable writes: what FI_COMMIT_COMPLETE promises, as far as it can be seen without a
 * power failure. The server's persistent memory is what FI_CAIRN_PMEM names, a devdax or
 * a file of 2 MiB, which the provider has to take for persistent.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "durable.h"

static const struct fct_case cases[] = {
	{"forms", "every call and size, durable by its flag", durable_forms},
	{"defaults", "every call, durable by the endpoint's flags", durable_defaults},
	{"inject", "what is injected is durable behind the next fence", durable_inject},
	{"atomics", "atomics that are durable", durable_atomics},
	{"levels", "durable, delivered and plain writes end in order", durable_levels},
	{"compound", "a write that is durable only after those before it",
	 durable_compound},
	{"many", "64 of all sizes outstanding, ended in order", durable_many},
	{"endpoints", "four connections of one completion queue", durable_endpoints},
	{"counters", "counters count at durability", durable_counters},
	{"sread", "fi_cq_sread sleeps until they are durable", durable_sread},
	{"wait_fd", "a descriptor wakes up when they are durable", durable_wait_fd},
	{"manual", "with manual progress on both sides", durable_manual},
	{"passive", "to a target that calls nothing", durable_passive},
	{"stopped", "to a target that stands still: an end in time, and others go on",
	 durable_stopped},
	{"volatile", "other memory is refused when it is posted", durable_volatile},
	{"unknown_key", "a damaged key is refused when it is posted",
	 durable_unknown_key},
	{"closed_region", "a region that is gone ends the write with an error",
	 durable_closed_region},
	{"closed_endpoint", "each ends once when the endpoint is closed",
	 durable_closed_endpoint},
};

struct fct_setup durable_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};
}

static int map(struct durable *d)
{
	const char *path = getenv("FI_CAIRN_PMEM");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd >= 0) {
		at = mmap(NULL, DURABLE_LEN, PROT_READ | PROT_WRITE,
			  MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
		if (at == MAP_FAILED)
			at = mmap(NULL, DURABLE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
				  fd, 0);
		close(fd);
	}
	if (at == MAP_FAILED)
		return fct_fail_at(d->l.t, __FILE__, __LINE__, "%s cannot be mapped",
				   path);
	d->mem = at;
	return 0;
}

static int expose(struct durable *d, struct fct_target *mine)
{
	struct fct *t = d->l.t;
	int ret;

	FCT_DO(map(d));
	memset(d->mem, 0, DURABLE_LEN);
	FCT_CALL(t, fi_mr_reg(d->l.domain, d->mem, DURABLE_LEN,
			      FI_REMOTE_READ | FI_REMOTE_WRITE, 0, t->next_key++,
			      FI_RMA_PMEM, &d->mr, NULL));
	mine->key = fi_mr_key(d->mr);
	mine->len = DURABLE_LEN;
	if (d->l.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		mine->addr = (uintptr_t)d->mem;
out:
	return ret;
}

int durable_up(struct durable *d, struct fct *t, const struct fct_setup *s)
{
	struct fct_target mine = {0};
	int ret;

	*d = (struct durable){.l.t = t};
	if (!getenv("FI_CAIRN_PMEM"))
		return fct_skip(t, "FI_CAIRN_PMEM names no persistent memory");
	FCT_DO(fct_link_up(&d->l, t, s));
	FCT_DO(fct_mem_alloc(&d->l, &d->local, DURABLE_LEN, FI_READ | FI_WRITE));
	if (fct_is_server(t))
		FCT_DO(expose(d, &mine));
	FCT_DO(fct_exchange(t, "region", &mine, &d->peer, sizeof(mine)));
out:
	return ret;
}

int durable_down(struct durable *d, int ret)
{
	if (d->mr && fi_close(&d->mr->fid))
		ret = fct_fail_at(d->l.t, __FILE__, __LINE__, "fi_close of the region");
	ret = fct_link_down(&d->l, ret);
	if (d->mem)
		munmap(d->mem, DURABLE_LEN);
	return ret;
}

ssize_t durable_post(struct durable *d, size_t at, size_t len, uint64_t flags,
		     void *context)
{
	const struct iovec iov = {d->local.buf + at, len};
	const struct fi_rma_iov range = {d->peer.addr + at, len, d->peer.key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &d->local.desc,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = context,
	};

	return fi_writemsg(d->l.c.ep, &msg, flags);
}

int durable_write(struct durable *d, size_t at, size_t len, uint64_t flags)
{
	struct fct *t = d->l.t;
	struct fi_cq_data_entry e;
	int ret;

	FCT_POST(t, d->l.txcq,
		 durable_post(d, at, len, flags | FI_COMPLETION, &d->ctx[0]));
	ret = fct_comp(t, d->l.txcq, &d->ctx[0], FI_RMA | FI_WRITE, &e, "the write");
out:
	return ret;
}

int durable_check(struct durable *d, size_t len, uint64_t seed)
{
	struct fct *t = d->l.t;
	int ret;

	FCT_DO(fct_barrier(t, "written"));
	if (fct_is_server(t))
		FCT_DATA(t, d->mem, len, seed);
	ret = fct_barrier(t, "checked");
out:
	return ret;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_commit",
		.what = "Durable writes on connected endpoints (FI_COMMIT_COMPLETE).",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};
	char timeout[16];

	/* One case waits for it. */
	snprintf(timeout, sizeof(timeout), "%u", 3000 * fct_time_scale());
	setenv("FI_PVERBS_COMMIT_TIMEOUT", timeout, 0);
	return fct_main(argc, argv, &prog);
}
