/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects the kind of memory and the nvdimm regions behind it from procfs and sysfs.
 * Every function reads a bounded number of bytes of files below the host's root.
 */
#ifndef PVB_PERSIST_FACTS_DETECT_H
#define PVB_PERSIST_FACTS_DETECT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "wire/wire.h"

struct pvb_host;

struct pvb_region {
	char name[32];	   /* "region0" */
	char reported[32]; /* persistence_domain as it stands there */
	bool virtio; /* virtio-pmem: only msync makes data durable, which no peer calls */
	bool domain_known;
	enum pvb_persistence domain; /* PVB_DMP when not known */
};

/*
 * The nvdimm region behind a device number, of a DAX character device or of a block
 * device, through partitions and device mapper; of several the weakest. False: none, it
 * is not persistent memory.
 */
bool pvb_region_of(const struct pvb_host *host, bool block, unsigned int major,
		   unsigned int minor, struct pvb_region *region);

/* What is known of a piece of memory. */
struct pvb_found {
	bool persistent;
	bool refused;	  /* not even a declaration makes it persistent */
	const char *kind; /* for messages; static */
	bool domain_known;
	enum pvb_persistence domain;
	char reported[32]; /* why: persistence_domain; "" */
};

/* Memory in a region, of that kind. */
void pvb_region_found(const struct pvb_region *region, const char *kind,
		      struct pvb_found *found);

/* One line of /proc/self/maps. */
struct pvb_mapping {
	uintptr_t begin, end;
	bool shared;
	unsigned int major, minor; /* of the file system */
	unsigned long inode;
	char name[PATH_MAX]; /* "": anonymous */
};

/*
 * Calls each for every mapping that has bytes of the range, in order. 0; -FI_EFAULT when
 * something in between is not mapped; what each returned, if not 0; another negative code
 * when the file cannot be read.
 */
int pvb_mappings(const struct pvb_host *host, uintptr_t begin, uintptr_t end,
		 int (*each)(const struct pvb_mapping *mapping, void *arg), void *arg);

/* MAP_SYNC: "sf" among VmFlags in /proc/self/smaps (proc_pid_smaps(5)). */
bool pvb_mapping_sync(const struct pvb_host *host, const struct pvb_mapping *mapping);

/* What a mapping is. */
void pvb_mapping_detect(const struct pvb_host *host, const struct pvb_mapping *mapping,
			struct pvb_found *found);

#endif
