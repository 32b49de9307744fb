/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about this machine's own persistent memory, and the source of each. Three
 * sources, in this order: declared by the administrator (a configuration file, or
 * variables), detected (sysfs, the kind of mapping, the kind of device), and the safe
 * default. Only the target of an operation knows the facts of its memory; an initiator
 * never changes them.
 *
 * Functions that look at the machine read a bounded number of bytes of files.
 */
#ifndef CRN_PMEM_H
#define CRN_PMEM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct fi_provider;

/* What of a machine survives a power failure (the taxonomy of remote persistence). */
enum crn_persistence {
	CRN_DMP, /* memory modules and memory controllers */
	CRN_MHP, /* processor caches as well */
	CRN_WSP, /* the whole system, adapters as well */
};

/* "DMP", "MHP", "WSP" */
const char *crn_persistence_name(enum crn_persistence domain);

enum crn_pmem_source { CRN_PMEM_DEFAULT, CRN_PMEM_DETECTED, CRN_PMEM_DECLARED };

/* "default", "detected", "declared" */
const char *crn_pmem_source_name(enum crn_pmem_source source);

/* --- The machine (host.c) --- */

/* Where a machine describes itself. */
struct crn_host {
	const char *root; /* in front of /proc and /sys: "", or a test's folder */
	int (*stat)(const char *path, struct stat *st); /* of what is mapped: stat(2) */
};

/* This one. */
extern const struct crn_host crn_host;

/* The first line of a file of /proc or /sys without its end; false: there is none. */
bool crn_host_line(const struct crn_host *host, const char *path, char *line,
		   size_t size);
bool crn_host_exists(const struct crn_host *host, const char *path);
/* The path below the root without links; false: it does not exist. */
bool crn_host_resolve(const struct crn_host *host, const char *path, char out[PATH_MAX]);

/* --- What is detected (region.c, mapping.c) --- */

struct crn_pmem_region {
	char name[32];	   /* "region0" */
	char reported[32]; /* persistence_domain as it stands there */
	bool virtio; /* virtio-pmem: only msync makes data durable, which no peer calls */
	bool domain_known;
	enum crn_persistence domain; /* CRN_DMP when not known */
};

/*
 * The nvdimm region behind a device number, of a DAX character device or of a block
 * device, through partitions and device mapper; of several the weakest. False: none, it
 * is not persistent memory.
 */
bool crn_pmem_region_of(const struct crn_host *host, bool block, unsigned int major,
			unsigned int minor, struct crn_pmem_region *region);

/* What is known of a piece of memory. */
struct crn_pmem_found {
	bool persistent;
	bool refused;  /* not even a declaration makes it persistent */
	bool modelled; /* a simulation says what its memory is: as if it were declared */
	const char *kind; /* for messages; static */
	bool domain_known;
	enum crn_persistence domain; /* CRN_DMP when not known */
	char reported[32];	     /* why: persistence_domain; "" */
};

/* Memory in a region, of that kind. */
void crn_pmem_region_found(const struct crn_pmem_region *region, const char *kind,
			   struct crn_pmem_found *found);

/* One line of /proc/self/maps. */
struct crn_pmem_mapping {
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
int crn_pmem_mappings(const struct crn_host *host, uintptr_t begin, uintptr_t end,
		      int (*each)(const struct crn_pmem_mapping *mapping, void *arg),
		      void *arg);

/* MAP_SYNC: "sf" among VmFlags in /proc/self/smaps (proc_pid_smaps(5)). */
bool crn_pmem_mapping_sync(const struct crn_host *host,
			   const struct crn_pmem_mapping *mapping);

/* What a mapping is. */
void crn_pmem_mapping_detect(const struct crn_host *host,
			     const struct crn_pmem_mapping *mapping,
			     struct crn_pmem_found *found);

/* --- What is declared (declare.c) ---
 *
 * Facts that cannot be detected, or that are detected wrongly. FI_PVERBS_PERSISTENCE,
 * FI_PVERBS_DDIO, and a file (FI_PVERBS_PMEM_CONFIG, fi_pverbs(7); FI_ROUTE_PMEM_CONFIG):
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

#define CRN_PMEM_DECLARE_PATHS 64
/* Bytes of a path with its end, as long as a line of the file may be. */
#define CRN_PMEM_DECLARE_PATH 192
/* Bytes of the file at most. */
#define CRN_PMEM_DECLARE_FILE 65536

/* Each value counts only where has_* says that there is one. */
struct crn_pmem_declared {
	bool has_domain, has_ddio, has_persistent, has_replay;
	enum crn_persistence domain;
	bool ddio;
	bool persistent;
	bool replay; /* what lies in receive buffers is applied again by recovery */
};

struct crn_pmem_declarations {
	struct crn_pmem_declared host; /* section [host] */
	struct crn_pmem_declared env;  /* variables: before host, after paths */
	size_t count;
	struct {
		char name[CRN_PMEM_DECLARE_PATH];
		struct crn_pmem_declared said;
	} path[CRN_PMEM_DECLARE_PATHS];
};

/*
 * Adds what the len bytes of text declare. 0, or -FI_EINVAL: error has, in size bytes,
 * the line and what is wrong with it.
 */
int crn_pmem_declare_parse(const char *text, size_t len,
			   struct crn_pmem_declarations *out, char *error, size_t size);

/* What a provider's parameters say. */
struct crn_pmem_params {
	const struct fi_provider *prov; /* whose log is written */
	const char *prefix;		/* of the variables, for messages: "FI_PVERBS" */
	const char *config;		/* _PMEM_CONFIG: a file; NULL or "": none */
	const char *persistence, *ddio; /* _PERSISTENCE, _DDIO: a word; NULL: none */
};

/*
 * Everything the parameters declare, the file included. 0; -FI_EINVAL: the file cannot be
 * read or understood, said in the log; -FI_ENOMEM. *out is to be freed with free.
 */
int crn_pmem_declare(const struct crn_pmem_params *params,
		     struct crn_pmem_declarations **out);

/* What was declared about the memory with that name in /proc/self/maps; name may be "".
 */
struct crn_pmem_declared crn_pmem_declared_of(const struct crn_pmem_declarations *all,
					      const char *name);

/* --- What counts (facts.c) --- */

struct crn_pmem_facts {
	bool persistent;
	enum crn_persistence domain;
	enum crn_pmem_source persistent_source, domain_source;
	const char *kind; /* of memory, for messages: "fsdax, MAP_SYNC"; static */
	char where[64];	  /* of the memory: "/dev/dax0.0", a file's name, "" when it is
			   * anonymous; the end of a long one */
};

/*
 * Facts of one piece of memory with that name: declared before detected before the safe
 * default (DMP). What a declaration makes less safe than what was found is said in the
 * log of the provider.
 */
void crn_pmem_combine(const struct fi_provider *prov,
		      const struct crn_pmem_declared *said,
		      const struct crn_pmem_found *found, const char *name,
		      struct crn_pmem_facts *facts);

/* Of two facts the less safe one is kept; of equal facts, the weaker source. */
void crn_pmem_weaker(bool weaker, bool same, enum crn_pmem_source other,
		     enum crn_pmem_source *source);
/* Memory in several mappings is like the weakest of them. */
void crn_pmem_merge(struct crn_pmem_facts *facts, const struct crn_pmem_facts *other);

/*
 * Facts of len bytes at addr. persistent is false when nothing says that all of it is
 * persistent; kind and where are then about the first part that is not. 0 or a negative
 * code: -FI_EINVAL, a configuration file that cannot be read, said in the log, or no
 * range; -FI_EFAULT: part of it is not mapped; -FI_ENOMEM.
 */
int crn_pmem_facts_of(const struct crn_pmem_params *params, const void *addr, size_t len,
		      struct crn_pmem_facts *facts);

/* --- What this processor wrote is made durable (flush.c) --- */

/* Are its caches outside of what survives a power failure? Else a drain suffices. */
static inline bool crn_pmem_needs_flush(enum crn_persistence domain)
{
	return domain == CRN_DMP;
}

/* Writes caches back, even if libpmem considers that unnecessary on this processor. It
 * has been done after crn_pmem_drain by the same thread. */
void crn_pmem_flush(const void *at, size_t len);
void crn_pmem_drain(void);

#endif
