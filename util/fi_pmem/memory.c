/* SPDX-License-Identifier: BSD-2-Clause */
/* Which persistent memory there is. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include "fi_pmem.h"

#define DAX "/sys/bus/dax/devices"

static void pmem_devdax(const struct crn_host *host, const char *name,
			struct pmem_memory *memory)
{
	struct crn_pmem_region region;
	unsigned int major, minor;
	char path[PATH_MAX], line[32];

	snprintf(memory->name, sizeof(memory->name), "/dev/%s", name);
	memory->found =
		(struct crn_pmem_found){.kind = "a DAX device of ordinary memory"};
	snprintf(path, sizeof(path), DAX "/%s/dev", name);
	if (crn_host_line(host, path, line, sizeof(line)) &&
	    sscanf(line, "%u:%u", &major, &minor) == 2 &&
	    crn_pmem_region_of(host, false, major, minor, &region))
		crn_pmem_region_found(&region, "devdax", &memory->found);
}

static void pmem_devdaxes(const struct crn_host *host,
			  void (*each)(const struct pmem_memory *memory, void *arg),
			  void *arg)
{
	struct pmem_memory memory;
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	snprintf(path, sizeof(path), "%s" DAX, host->root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		pmem_devdax(host, entry->d_name, &memory);
		each(&memory, arg);
	}
	if (dir)
		closedir(dir);
}

/* A line of mountinfo (proc_pid_mountinfo(5)); false: no persistent memory. */
static bool pmem_mount(const struct crn_host *host, const char *line,
		       struct pmem_memory *memory)
{
	struct crn_pmem_region region;
	unsigned int major, minor;

	if (sscanf(line, "%*u %*u %u:%u %*s %4095s", &major, &minor, memory->name) != 3 ||
	    !crn_pmem_region_of(host, true, major, minor, &region))
		return false;
	crn_pmem_region_found(&region, "fsdax, for files that are mapped with MAP_SYNC",
			      &memory->found);
	if (!strstr(line, "dax") && !memory->found.refused) {
		memory->found.persistent = false;
		memory->found.kind = "a file system on persistent memory, without DAX";
	}
	return true;
}

static void pmem_mounts(const struct crn_host *host,
			void (*each)(const struct pmem_memory *memory, void *arg),
			void *arg)
{
	struct pmem_memory memory;
	char path[PATH_MAX], line[2 * PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", host->root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (pmem_mount(host, line, &memory))
			each(&memory, arg);
	}
	if (file)
		fclose(file);
}

void pmem_memories(const struct crn_host *host,
		   const struct crn_pmem_declarations *declared,
		   void (*each)(const struct pmem_memory *memory, void *arg), void *arg)
{
	struct pmem_memory memory;
	size_t i;

	pmem_devdaxes(host, each, arg);
	pmem_mounts(host, each, arg);
	for (i = 0; i < declared->count; i++) {
		if (!declared->path[i].said.persistent)
			continue;
		snprintf(memory.name, sizeof(memory.name), "%s", declared->path[i].name);
		memory.found = (struct crn_pmem_found){.kind = "only declared"};
		each(&memory, arg);
	}
}
