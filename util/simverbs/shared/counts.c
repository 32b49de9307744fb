/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "shared.h"

#define SVB_COUNT_PORTS (SVB_MAX_DEVICES * SVB_MAX_PORTS)

struct svb_counts {
	uint64_t port[SVB_COUNT_PORTS][SVB_COUNTS];
};

static struct svb_counts *svb_counts;

const char *const svb_count_names[SVB_COUNTS] = {
	[SVB_COUNT_BAD_PKEY] = "bad_pkey",
	[SVB_COUNT_BAD_QKEY] = "bad_qkey",
	[SVB_COUNT_NO_RECEIVE] = "ud_no_receive",
	[SVB_COUNT_TOO_LONG] = "ud_too_long",
	[SVB_COUNT_LOST] = "ud_lost",
	[SVB_COUNT_DUPLICATED] = "ud_duplicated",
	[SVB_COUNT_REORDERED] = "ud_reordered",
};

int svb_counts_join(void)
{
	struct svb_counts *table = MAP_FAILED;
	int fd = openat(svb_self.dir_fd, "counters",
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	svb_counts_forget();
	if (fd < 0)
		return 0;
	if (!posix_fallocate(fd, 0, sizeof(*table)))
		table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     0);
	close(fd);
	if (table != MAP_FAILED)
		__atomic_store_n(&svb_counts, table, __ATOMIC_RELEASE);
	return 0;
}

void svb_counts_forget(void)
{
	struct svb_counts *table =
		__atomic_exchange_n(&svb_counts, NULL, __ATOMIC_ACQ_REL);

	if (table)
		munmap(table, sizeof(*table));
}

static uint64_t *svb_count_of(uint32_t port, enum svb_count what)
{
	struct svb_counts *table = __atomic_load_n(&svb_counts, __ATOMIC_ACQUIRE);

	return table && port < SVB_COUNT_PORTS ? &table->port[port][what] : NULL;
}

void svb_count(uint32_t port, enum svb_count what)
{
	uint64_t *count = svb_count_of(port, what);

	if (count)
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

uint64_t svb_counted(uint32_t port, enum svb_count what)
{
	const uint64_t *count = svb_count_of(port, what);

	return count ? __atomic_load_n(count, __ATOMIC_RELAXED) : 0;
}
