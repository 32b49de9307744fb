/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_pmem(1): what pverbs knows of this machine's persistent memory. */
#ifndef FI_PMEM_H
#define FI_PMEM_H

#include <cairn/pmem.h>
#include "persist/facts/facts.h"

/* A verbs device, open. */
struct pmem_device {
	const char *name; /* of the device list */
	struct ibv_context *verbs;
	struct pvb_adapter adapter;
	struct pvb_native native;
	bool iwarp, atomics;
};

/* A piece of memory that is persistent, or would be if it were used well. */
struct pmem_memory {
	char name[PATH_MAX];
	struct crn_pmem_found found;
};

/* memory.c: calls each for devdax, mounted file systems on persistent memory, and what
 * is declared persistent. */
void pmem_memories(const struct crn_host *host,
		   const struct crn_pmem_declarations *declared,
		   void (*each)(const struct pmem_memory *memory, void *arg), void *arg);

/* methods.c: prints a line for each kind of operation on memory with these facts, and why
 * it is so. */
void pmem_methods(const struct pmem_device *device, const struct pvb_facts *facts);

#endif
