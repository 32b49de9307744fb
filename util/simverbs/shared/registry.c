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

/* A zombie has lost its memory and will never answer: dead. */
static bool svb_entry_lives(const struct svb_entry *entry)
{
	char state;
	uint64_t start = svb_stat((pid_t)svb_get(entry->pid), &state);

	return start == entry->start_time && start && state != 'Z' && state != 'X';
}

bool svb_registry_alive(uint32_t token)
{
	struct svb_entry *entry = &svb_self.registry->entry[svb_token_index(token)];

	if (!__atomic_load_n(&entry->pid, __ATOMIC_ACQUIRE) ||
	    svb_token(svb_token_index(token), entry->generation) != token)
		return false;
	return svb_entry_lives(entry);
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

/*
 * With the registry locked, so that none begins now. One of another PID namespace that
 * shares the directory is found by its sign of life only.
 */
static bool svb_is_dead(uint32_t index)
{
	const struct svb_entry *entry = &svb_self.registry->entry[index];
	int fd;

	if (!svb_get(entry->pid))
		return true;
	fd = svb_entry_lives(entry) ? -1 : svb_life_watch(index);
	if (fd >= 0)
		close(fd);
	return fd < 0 && !svb_entry_lives(entry);
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
static bool svb_registry_renew(struct svb_registry *registry)
{
	uint32_t i;

	for (i = 1; i < SVB_PROC_MAX; i++)
		if (registry->entry[i].pid && svb_entry_lives(&registry->entry[i]))
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
	if (svb_registry_renew(registry))
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

	/* What this process ran before it ran this program. */
	for (i = 1; i < SVB_PROC_MAX; i++)
		if (registry->entry[i].pid == (uint32_t)getpid() &&
		    registry->entry[i].start_time == svb_start_time(getpid()))
			__atomic_store_n(&registry->entry[i].pid, 0, __ATOMIC_RELEASE);
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
	entry->generation = (entry->generation + 1) & ((1u << (32 - SVB_PROC_BITS)) - 1);
	entry->generation += !entry->generation;
	entry->start_time = svb_start_time(getpid());
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
	/* Opened anew each time: the child of a fork would share its parent's lock. */
	fd = openat(svb_self.dir_fd, "registry",
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	while ((ret = flock(fd, LOCK_EX) ? errno : 0) == EINTR)
		;
	if (!ret && !svb_self.registry)
		ret = svb_registry_map(fd);
	if (!ret)
		ret = svb_entry_claim();
	/* Closing is not enough: the mapping keeps the file open. */
	flock(fd, LOCK_UN);
	close(fd);
	return ret;
}

void svb_registry_leave(void)
{
	struct svb_entry *entry = &svb_self.registry->entry[svb_self.index];

	svb_remove_files(svb_is_self);
	if (entry->generation == svb_self.generation)
		__atomic_store_n(&entry->pid, 0, __ATOMIC_RELEASE);
}
