/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes share the devices: a table in a file of the directory, mapped by all.
 *
 * An entry belongs to the process that holds the lock (fcntl(2), F_SETLK) on the byte of
 * the file at its index. The system releases the lock when the process ends or runs
 * another program, and every PID namespace sees it. flock(2) on the file guards claiming
 * and releasing, so a killed process never leaves it locked; entries and files of the
 * dead are reclaimed by the next process that needs an entry.
 */
#ifndef SVB_SHARED_REGISTRY_H
#define SVB_SHARED_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SVB_PROC_BITS 9
/* Process indices are 1 to SVB_PROC_MAX - 1: queue pairs 0 and 1 are special on
 * InfiniBand. */
#define SVB_PROC_MAX (1u << SVB_PROC_BITS)

struct svb_entry {
	uint32_t pid; /* in the process' own PID namespace; 0: free */
	/* Differs each time the entry is claimed; 23 bits, never 0. */
	uint32_t generation;
	uint64_t start_time; /* field 22 of /proc/PID/stat, clock ticks since boot */
};

struct svb_registry {
	uint32_t magic;
	uint32_t abi;
	uint32_t highest; /* no entry beyond this index was ever used */
	uint32_t unused;
	uint64_t reserved[14];
	struct svb_entry entry[SVB_PROC_MAX];
	/* Inode of the PID namespace of each entry's process; 0: unknown. */
	uint32_t pid_namespace[SVB_PROC_MAX];
};

/* The token of a process: what locks hold and what tells two users of an index apart. */
static inline uint32_t svb_token(uint32_t index, uint32_t generation)
{
	return generation << SVB_PROC_BITS | index;
}

static inline uint32_t svb_token_index(uint32_t token)
{
	return token & (SVB_PROC_MAX - 1);
}

/*
 * Opens the directory (SIMVERBS_DIR, default /dev/shm/simverbs-UID), creating it with
 * mode 0700, refuses one of another owner or mode (EACCES), maps the registry and claims
 * an entry. Fills svb_self.dir, dir_fd, registry, index and generation. Returns 0 or an
 * errno. The child of a fork calls it again for an entry of its own.
 */
int svb_registry_join(void);

/* Gives the entry back and removes this process' files. */
void svb_registry_leave(void);

/* Closes the file, and with it releases the lock of this process; in the child of a fork
 * the lock stays the parent's. */
void svb_registry_close(void);

/* True when the process that the token names has not ended. A system call. */
bool svb_registry_alive(uint32_t token);

/* The number by which this process reaches the one with that index: 0 when that runs in
 * another PID namespace, where the number is some other process'. */
uint32_t svb_registry_pid(uint32_t index);

/* Frees the entry of a process that has ended, or runs another program: from now on
 * nobody finds it. */
void svb_registry_bury(uint32_t token);

/* Start time of a process, 0 when there is none such. */
uint64_t svb_start_time(pid_t pid);

#endif
