/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations of this machine's administrator about its persistent memory: facts that
 * cannot be detected, or that are detected wrongly. FI_PVERBS_PERSISTENCE,
 * FI_PVERBS_DDIO, and a file (FI_PVERBS_PMEM_CONFIG, fi_pverbs(7)):
 *
 *	[host]
 *	persistence = mhp
 *	ddio = off
 *	[path /dev/dax0.0]
 *	persistence = wsp
 *	[path /mnt/battery]
 *	persistent = yes
 *
 * A path is that of a file, or of a folder and all below it; the longest one counts.
 */
#ifndef PVB_PERSIST_FACTS_DECLARE_H
#define PVB_PERSIST_FACTS_DECLARE_H

#include <stdbool.h>
#include <stddef.h>
#include "wire/wire.h"

#define PVB_DECLARE_PATHS 64
/* Bytes of a path with its end, as long as a line of the file may be. */
#define PVB_DECLARE_PATH 192
/* Bytes of the file at most. */
#define PVB_DECLARE_FILE 65536

/* Each value counts only where has_* says that there is one. */
struct pvb_declared {
	bool has_domain, has_ddio, has_persistent, has_replay;
	enum pvb_persistence domain;
	bool ddio;
	bool persistent;
	bool replay; /* what lies in receive buffers is applied again by recovery */
};

struct pvb_declarations {
	struct pvb_declared host; /* section [host] */
	struct pvb_declared env;  /* variables: before host, after paths */
	size_t count;
	struct {
		char name[PVB_DECLARE_PATH];
		struct pvb_declared said;
	} path[PVB_DECLARE_PATHS];
};

/*
 * Adds what the len bytes of text declare. 0, or -FI_EINVAL: error has, in size bytes,
 * the line and what is wrong with it.
 */
int pvb_declare_parse(const char *text, size_t len, struct pvb_declarations *out,
		      char *error, size_t size);

/*
 * Everything the environment declares, the file it names included. 0; -FI_EINVAL: the
 * file cannot be read or understood, said in the log; -FI_ENOMEM. *out is to be freed
 * with free.
 */
int pvb_declare(struct pvb_declarations **out);

/* What was declared about the memory with that name in /proc/self/maps; name may be "".
 */
struct pvb_declared pvb_declared_of(const struct pvb_declarations *all, const char *name);

#endif
