/* SPDX-License-Identifier: BSD-2-Clause */
/* What of the address space is mapped, and with which rights: proc_pid_maps(5). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "verbs.h"
#include "vg.h"

/* Linux 6.11, include/uapi/linux/fs.h: headers are older. */
struct svb_procmap_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t rest[5];
	uint32_t name_size;
	uint32_t build_id_size;
	uint64_t name_addr;
	uint64_t build_id_addr;
};
_Static_assert(sizeof(struct svb_procmap_query) == 104, "as the kernel has it");

#define SVB_PROCMAP_QUERY _IOWR('f', 17, struct svb_procmap_query)
#define SVB_PROCMAP_READABLE 0x1u
#define SVB_PROCMAP_WRITABLE 0x2u

/* The table, kept open: to open it takes much longer than to ask it. -1: it is not. It is
 * one of the process that opened it: a child of a fork has its own. */
static int svb_maps = -1;

void svb_mapped_forget(void)
{
	if (svb_maps >= 0)
		close(svb_maps);
	svb_maps = -1;
}

static int svb_maps_open(void)
{
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int kept = -1;

	if (fd < 0 || __atomic_compare_exchange_n(&svb_maps, &kept, fd, false,
						  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fd;
	/* Another thread was faster. */
	close(fd);
	return kept;
}

/* An error that is no answer: the program closed the descriptor, which it does not know,
 * and it may be one of its own by now. */
static void svb_maps_lose(int fd)
{
	__atomic_compare_exchange_n(&svb_maps, &fd, -1, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
}

/* How far memory from there on is mapped so, without a gap up to last; at: not at all.
 * 0, ENOENT: no further, or an error that is no answer. */
static int svb_mapped_query(int fd, uintptr_t *at, uintptr_t last, bool writable)
{
	struct svb_procmap_query query;

	while (*at <= last) {
		query = (struct svb_procmap_query){
			.size = sizeof(query),
			.query_flags = SVB_PROCMAP_READABLE |
				       (writable ? SVB_PROCMAP_WRITABLE : 0),
			.query_addr = *at,
		};
		if (ioctl(fd, SVB_PROCMAP_QUERY, &query))
			return errno;
		*at = query.vma_end;
	}
	return 0;
}

/* False: the kernel does not say. */
static bool svb_mapped_ask(uintptr_t *at, uintptr_t last, bool writable)
{
	int fd = svb_vg_runs() ? -1 : __atomic_load_n(&svb_maps, __ATOMIC_ACQUIRE), err;
	const bool kept = fd >= 0;

	if (svb_vg_runs() || (!kept && (fd = svb_maps_open()) < 0))
		return false;
	err = svb_mapped_query(fd, at, last, writable);
	if (!err || err == ENOENT)
		return true;
	svb_maps_lose(fd);
	/* Once more with one that is it for certain. */
	return kept && svb_mapped_ask(at, last, writable);
}

/* A line of the table: false when there is none any more. */
static bool svb_map_next(FILE *maps, uintptr_t *from, uintptr_t *to, char rights[5])
{
	char line[64], rest[64];

	if (!fgets(line, sizeof(line), maps) ||
	    sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", from, to, rights) != 3)
		return false;
	while (!strchr(line, '\n') && fgets(rest, sizeof(rest), maps))
		if (strchr(rest, '\n'))
			break;
	return true;
}

/* The same, for every kernel. False: the table cannot be read. */
static bool svb_mapped_read(uintptr_t *at, uintptr_t last, bool writable)
{
	char rights[5], buffer[16384];
	uintptr_t from, to;
	FILE *maps;

	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return false;
	setvbuf(maps, buffer, _IOFBF, sizeof(buffer));
	while (*at <= last && svb_map_next(maps, &from, &to, rights)) {
		if (to <= *at)
			continue;
		if (from > *at || rights[0] != 'r' || (writable && rights[1] != 'w'))
			break;
		*at = to;
	}
	fclose(maps);
	return true;
}

bool svb_mapped(const void *addr, size_t length, bool writable)
{
	uintptr_t at = (uintptr_t)addr, last = at + length - !!length;

	return (!svb_mapped_ask(&at, last, writable) &&
		!svb_mapped_read(&at, last, writable)) ||
	       at > last;
}
