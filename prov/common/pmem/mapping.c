/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <rdma/fi_errno.h>
#include <cairn/pmem.h>

/* More than the kernel has of a process: 65,530 mappings (vm.max_map_count) of 30 lines
 * each, and some. */
#define MAPS_LINES (1u << 22)

/* A file of the process' mappings, read line after line. */
struct maps {
	FILE *file;
	unsigned int lines;
	char line[PATH_MAX + 128];
};

static bool maps_open(struct maps *maps, const struct crn_host *host, const char *name)
{
	char path[PATH_MAX];

	maps->lines = 0;
	if (snprintf(path, sizeof(path), "%s/proc/self/%s", host->root, name) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	maps->file = fopen(path, "re");
	return maps->file;
}

/* A line that is too long is cut. */
static bool maps_next(struct maps *maps)
{
	size_t len;
	int c = 0;

	if (maps->lines++ == MAPS_LINES ||
	    !fgets(maps->line, sizeof(maps->line), maps->file))
		return false;
	len = strcspn(maps->line, "\n");
	if (!maps->line[len])
		while ((c = fgetc(maps->file)) != '\n' && c != EOF)
			;
	maps->line[len] = '\0';
	return true;
}

/* proc_pid_maps(5): address, rights, offset, device, inode, name. */
static bool maps_parse(const char *line, struct crn_pmem_mapping *mapping)
{
	uint64_t begin, end;
	char rights[5];
	int name = 0;

	memset(mapping, 0, offsetof(struct crn_pmem_mapping, name) + 1);
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %lu %n", &begin, &end,
		   rights, &mapping->major, &mapping->minor, &mapping->inode,
		   &name) != 6 ||
	    begin >= end || strlen(rights) != 4)
		return false;
	mapping->begin = (uintptr_t)begin;
	mapping->end = (uintptr_t)end;
	mapping->shared = rights[3] == 's';
	snprintf(mapping->name, sizeof(mapping->name), "%s", line + name);
	return true;
}

int crn_pmem_mappings(const struct crn_host *host, uintptr_t begin, uintptr_t end,
		      int (*each)(const struct crn_pmem_mapping *mapping, void *arg),
		      void *arg)
{
	struct crn_pmem_mapping mapping;
	struct maps maps;
	int ret = 0;

	if (!maps_open(&maps, host, "maps"))
		return -errno;
	/* They stand in the order of their addresses. */
	while (!ret && begin < end && maps_next(&maps)) {
		if (!maps_parse(maps.line, &mapping) || mapping.end <= begin)
			continue;
		if (mapping.begin > begin)
			break;
		ret = each(&mapping, arg);
		begin = mapping.end;
	}
	fclose(maps.file);
	if (!ret && begin < end)
		ret = -FI_EFAULT;
	return ret;
}

/* A flag is two letters and a blank. */
static bool maps_flag(const char *line, const char *flag)
{
	const char *at;

	for (at = strchr(line, ' '); at; at = strchr(at + 1, ' ')) {
		if (!strncmp(at + 1, flag, 2) && (!at[3] || at[3] == ' '))
			return true;
	}
	return false;
}

bool crn_pmem_mapping_sync(const struct crn_host *host,
			   const struct crn_pmem_mapping *mapping)
{
	struct crn_pmem_mapping at, found = {0};
	struct maps maps;
	bool sync = false;

	if (!maps_open(&maps, host, "smaps"))
		return false;
	while (found.begin <= mapping->begin && maps_next(&maps)) {
		if (maps_parse(maps.line, &at)) {
			found = at;
		} else if (found.begin == mapping->begin &&
			   !strncmp(maps.line, "VmFlags:", 8)) {
			sync = found.inode == mapping->inode &&
			       found.major == mapping->major &&
			       found.minor == mapping->minor &&
			       maps_flag(maps.line, "sf");
			break;
		}
	}
	fclose(maps.file);
	return sync;
}

static bool mapping_deleted(const char *name)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(name), end = sizeof(deleted) - 1;

	return len > end && !strcmp(name + len - end, deleted);
}

/* A character device: that of persistent memory belongs to a region. */
static void mapping_devdax(const struct crn_host *host, const struct stat *st,
			   struct crn_pmem_found *found)
{
	struct crn_pmem_region region;

	if (crn_pmem_region_of(host, false, major(st->st_rdev), minor(st->st_rdev),
			       &region))
		crn_pmem_region_found(&region, "devdax", found);
	else
		found->kind = "a device that belongs to no nvdimm region";
}

/* A file: only MAP_SYNC promises that its blocks stay where they are (mmap(2)). */
static void mapping_file(const struct crn_host *host,
			 const struct crn_pmem_mapping *mapping,
			 struct crn_pmem_found *found)
{
	const bool sync = crn_pmem_mapping_sync(host, mapping);
	struct crn_pmem_region region;

	if (crn_pmem_region_of(host, true, mapping->major, mapping->minor, &region)) {
		crn_pmem_region_found(&region, "fsdax, MAP_SYNC", found);
		if (!sync && !found->refused)
			found->kind = "a file on persistent memory, without MAP_SYNC";
		found->persistent &= sync;
		return;
	}
	found->persistent = sync;
	found->kind =
		sync ? "fsdax, MAP_SYNC" : "a file that is not in persistent memory";
}

void crn_pmem_mapping_detect(const struct crn_host *host,
			     const struct crn_pmem_mapping *mapping,
			     struct crn_pmem_found *found)
{
	struct stat st;

	*found = (struct crn_pmem_found){.kind = "anonymous memory"};
	if (*mapping->name != '/')
		return;
	if (!mapping->shared || mapping_deleted(mapping->name)) {
		found->refused = true;
		found->kind = mapping->shared ? "a deleted file" : "a private mapping";
		return;
	}
	/* Another file may have the name by now; of a device the number decides. */
	if (!host->stat(mapping->name, &st) && st.st_ino == mapping->inode &&
	    S_ISCHR(st.st_mode))
		mapping_devdax(host, &st, found);
	else
		mapping_file(host, mapping, found);
}
