/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells of memory, of the nvdimm regions behind it and of RDMA devices.
 * Every function reads a bounded number of bytes of files below the host's root.
 */
#ifndef PVB_DETECT_H
#define PVB_DETECT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "desc.h"

/* Where a machine describes itself. */
struct pvb_host {
	const char *root; /* in front of /proc and /sys: "", or a test's folder */
	int (*stat)(const char *path, struct stat *st); /* of what is mapped: stat(2) */
};

/* This one. */
extern const struct pvb_host pvb_host;

/* host.c */

/* The first line of a file of /proc or /sys without its end; false: there is none. */
bool pvb_host_line(const struct pvb_host *host, const char *path, char *line,
		   size_t size);
bool pvb_host_exists(const struct pvb_host *host, const char *path);
/* The path below the root without links; false: it does not exist. */
bool pvb_host_resolve(const struct pvb_host *host, const char *path, char out[PATH_MAX]);

/* region.c */

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
	const char *kind; /* for people; static */
	bool domain_known;
	enum pvb_persistence domain;
	char reported[32]; /* why: persistence_domain; "" */
};

/* Memory in a region, of that kind. */
void pvb_region_found(const struct pvb_region *region, const char *kind,
		      struct pvb_found *found);

/* mapping.c */

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

/* adapter.c */

/* An RDMA device, as far as its way to memory matters. */
struct pvb_adapter {
	bool software;	   /* places data with the processor: as DDIO does */
	char driver[32];   /* "rxe", "mlx5_core"; "": unknown */
	bool simverbs;	   /* says itself what it models; the rest is about it */
	bool domain_known; /* of its persistent file */
	enum pvb_persistence domain;
	bool ddio;
	char mapping[PATH_MAX]; /* the file's name in /proc/self/maps; "": none */
};

/*
 * library: the file that the device's functions are in, which names the driver of a
 * device that has no other trace of it (rdma_rxe and siw have no device/driver in sysfs,
 * or that of the network card below them); NULL: not known.
 */
void pvb_adapter_detect(const struct pvb_host *host, const char *device,
			const char *library, struct pvb_adapter *adapter);

#endif
