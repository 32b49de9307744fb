/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "shared.h"

/*
 * The state letter and the start time of /proc/PID/stat, fields 3 and 22. The second
 * field is a name in parentheses that may hold anything, so fields are counted from the
 * last ')'.
 */
static uint64_t svb_stat(pid_t pid, char *state)
{
	char path[32], text[1024], *at;
	unsigned long long start;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	at = strrchr(text, ')');
	if (!at ||
	    sscanf(at + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %llu",
		   state, &start) != 2)
		return 0;
	return start;
}

uint64_t svb_start_time(pid_t pid)
{
	char state;

	return svb_stat(pid, &state);
}

/*
 * Is the process of an entry alive, by its number? A zombie has lost its memory and will
 * never answer: dead. Holds within one PID namespace; used for other versions only.
 */
static bool svb_entry_runs(const struct svb_entry *entry)
{
	char state;
	uint64_t start = svb_stat((pid_t)svb_get(entry->pid), &state);

	return start == entry->start_time && start && state != 'Z' && state != 'X';
}

/* The lock of an entry: the byte of the file at its index. */
static struct flock svb_entry_lock(uint32_t index)
{
	return (struct flock){
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)index,
		.l_len = 1,
	};
}

/* Does another process hold the lock of the entry? Unlike its number, that is the same in
 * every PID namespace. Where the system does not tell, it does. */
static bool svb_entry_held(int fd, uint32_t index)
{
	struct flock lock = svb_entry_lock(index);

	return fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK;
}

bool svb_registry_alive(uint32_t token)
{
	struct svb_entry *entry = &svb_self.registry->entry[svb_token_index(token)];

	if (!__atomic_load_n(&entry->pid, __ATOMIC_ACQUIRE) ||
	    svb_token(svb_token_index(token), entry->generation) != token)
		return false;
	/* The system does not report a lock to its holder. */
	return token == svb_token(svb_self.index, svb_self.generation) ||
	       svb_entry_held(svb_self.registry_fd, svb_token_index(token));
}

uint32_t svb_registry_pid(uint32_t index)
{
	const struct svb_registry *registry = svb_self.registry;
	uint32_t own = registry->pid_namespace[svb_self.index];

	return own && registry->pid_namespace[index] == own
		       ? svb_get(registry->entry[index].pid)
		       : 0;
}

/* The inode of the PID namespace of this process; 0: unknown, as without /proc. */
static uint32_t svb_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint32_t)st.st_ino;
}

void svb_registry_bury(uint32_t token)
{
	struct svb_entry *entry = &svb_self.registry->entry[svb_token_index(token)];
	uint32_t pid = __atomic_load_n(&entry->pid, __ATOMIC_ACQUIRE);

	/* Its successor has another process number. */
	if (pid && svb_token(svb_token_index(token), entry->generation) == token)
		__atomic_compare_exchange_n(&entry->pid, &pid, 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
}

/* Whose file that is: "seg.INDEX" and "bell.INDEX.SERIAL"; 0: no process'. */
static uint32_t svb_file_owner(const char *name)
{
	uint32_t index = 0;

	if (sscanf(name, "seg.%u", &index) != 1)
		sscanf(name, "bell.%u.", &index);
	return index < SVB_PROC_MAX ? index : 0;
}

/* Removes the files of every process that gone says is. */
static void svb_remove_files(bool (*gone)(uint32_t index))
{
	int fd = openat(svb_self.dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *file;
	uint32_t index;
	DIR *dir;

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((file = readdir(dir))) {
		index = svb_file_owner(file->d_name);
		if (index && gone(index))
			unlinkat(fd, file->d_name, 0);
	}
	closedir(dir);
}

static bool svb_is_self(uint32_t index)
{
	return index == svb_self.index;
}

/* With the registry locked, so that none begins now. */
static bool svb_is_dead(uint32_t index)
{
	return !svb_get(svb_self.registry->entry[index].pid) ||
	       !svb_entry_held(svb_self.registry_fd, index);
}

static int svb_dir_refuse(int err)
{
	close(svb_self.dir_fd);
	svb_self.dir_fd = -1;
	return err;
}

static int svb_dir_open(void)
{
	const char *name = getenv("SIMVERBS_DIR");
	struct stat st;
	int len;

	if (name && *name)
		len = snprintf(svb_self.dir, sizeof(svb_self.dir), "%s", name);
	else
		len = snprintf(svb_self.dir, sizeof(svb_self.dir), "/dev/shm/simverbs-%u",
			       (unsigned int)geteuid());
	/* The name of a bell must fit into a socket's address. */
	if (len >= (int)sizeof(svb_self.dir))
		return ENAMETOOLONG;
	if (mkdir(svb_self.dir, 0700) && errno != EEXIST)
		return errno;
	svb_self.dir_fd =
		open(svb_self.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (svb_self.dir_fd < 0)
		return errno;
	if (fstat(svb_self.dir_fd, &st))
		return svb_dir_refuse(errno);
	if (st.st_uid != geteuid() || (st.st_mode & 077)) {
		fprintf(stderr,
			"simverbs: %s must belong to you with mode 0700; set "
			"SIMVERBS_DIR\n",
			svb_self.dir);
		return svb_dir_refuse(EACCES);
	}
	return 0;
}

/* What another version left, if nobody of it lives: entries have always been like these.
 */
static bool svb_registry_renew(struct svb_registry *registry, int fd)
{
	uint32_t i;

	for (i = 1; i < SVB_PROC_MAX; i++)
		if (registry->entry[i].pid &&
		    (svb_entry_held(fd, i) || svb_entry_runs(&registry->entry[i])))
			return false;
	memset(registry, 0, sizeof(*registry));
	registry->abi = SVB_ABI;
	registry->magic = SVB_MAGIC;
	unlinkat(svb_self.dir_fd, "cm-ports", 0);
	return true;
}

/* With the file locked: maps it, and makes it what it should be when it is new. */
static int svb_registry_map(int fd)
{
	struct svb_registry *registry;
	int ret;

	ret = posix_fallocate(fd, 0, sizeof(*registry));
	if (ret)
		return ret == ENOSPC ? ENOMEM : ret;
	registry =
		mmap(NULL, sizeof(*registry), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (registry == MAP_FAILED)
		return errno;
	if (!registry->magic) {
		registry->abi = SVB_ABI;
		registry->magic = SVB_MAGIC;
	}
	svb_self.registry = registry;
	if (registry->magic == SVB_MAGIC && registry->abi == SVB_ABI)
		return 0;
	if (svb_registry_renew(registry, fd))
		return 0;
	fprintf(stderr,
		"simverbs: processes of another version of simverbs use %s: end them, or "
		"set SIMVERBS_DIR\n",
		svb_self.dir);
	munmap(registry, sizeof(*registry));
	svb_self.registry = NULL;
	return EPROTO;
}

/* With the file locked. Who looks at all processes is not to look for those that were
 * killed. */
static void svb_bury_dead(void)
{
	struct svb_entry *entry = svb_self.registry->entry;
	uint32_t i;

	for (i = 1; i < SVB_PROC_MAX; i++)
		if (svb_get(entry[i].pid) && svb_is_dead(i))
			__atomic_store_n(&entry[i].pid, 0, __ATOMIC_RELEASE);
}

/* With the file locked. Indices never used come first, so that a key or number kept too
 * long by a peer seldom means somebody else. */
static int svb_entry_claim(void)
{
	struct svb_registry *registry = svb_self.registry;
	uint32_t at = registry->highest, i;
	struct svb_entry *entry;
	struct flock lock;

	for (i = 1; i < SVB_PROC_MAX; i++) {
		at = at % (SVB_PROC_MAX - 1) + 1;
		entry = &registry->entry[at];
		if (svb_is_dead(at))
			break;
	}
	if (i == SVB_PROC_MAX)
		return ENOMEM;
	/* What killed processes left, and whoever had this entry. */
	svb_bury_dead();
	svb_remove_files(svb_is_dead);
	lock = svb_entry_lock(at);
	if (fcntl(svb_self.registry_fd, F_SETLK, &lock))
		return errno;
	entry->generation = (entry->generation + 1) & ((1u << (32 - SVB_PROC_BITS)) - 1);
	entry->generation += !entry->generation;
	entry->start_time = svb_start_time(getpid());
	registry->pid_namespace[at] = svb_pid_namespace();
	svb_self.index = at;
	svb_self.generation = entry->generation;
	svb_lock_token = svb_token(at, entry->generation);
	registry->highest = at;
	__atomic_store_n(&entry->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	return 0;
}

int svb_registry_join(void)
{
	int ret, fd;

	ret = svb_self.dir_fd < 0 ? svb_dir_open() : 0;
	if (ret)
		return ret;
	/* Opened again by the child of a fork, which would share its parent's flock(2).
	 */
	fd = openat(svb_self.dir_fd, "registry",
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	while ((ret = flock(fd, LOCK_EX) ? errno : 0) == EINTR)
		;
	if (!ret && !svb_self.registry)
		ret = svb_registry_map(fd);
	svb_self.registry_fd = fd;
	if (!ret)
		ret = svb_entry_claim();
	/* Closing is not enough: the mapping keeps the file open. */
	flock(fd, LOCK_UN);
	if (ret)
		svb_registry_close();
	return ret;
}

void svb_registry_close(void)
{
	if (svb_self.registry_fd >= 0)
		close(svb_self.registry_fd);
	svb_self.registry_fd = -1;
}

void svb_registry_leave(void)
{
	struct svb_entry *entry = &svb_self.registry->entry[svb_self.index];

	svb_remove_files(svb_is_self);
	if (entry->generation == svb_self.generation)
		__atomic_store_n(&entry->pid, 0, __ATOMIC_RELEASE);
	svb_registry_close();
}
