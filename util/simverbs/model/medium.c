/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/engine.h"
#include "medium.h"
#include "model.h"

#define SVB_MEDIA 64

static struct {
	pthread_mutex_t mutex;
	struct svb_medium medium[SVB_MEDIA];
	struct svb_medium *own;
} svb_media = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *svb_map(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int svb_complain(const char *file, const char *what)
{
	int err = errno;

	fprintf(stderr, "simverbs: persistent memory %s: %s\n", file, what);
	return err ? err : EINVAL;
}

/* Maps the file, the medium, of which the size is taken. Returns 0 or an errno. */
static int svb_map_medium(struct svb_medium *medium, const char *file)
{
	struct stat st;
	/* Not by open(3), which is ours and would find the shadow. */
	int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return svb_complain(file, errno == ENOENT
						  ? "make it first: truncate -s 64M FILE"
						  : strerror(errno));
	}
	errno = 0;
	if (!st.st_size || st.st_size % 4096) {
		close(fd);
		return svb_complain(file, "its size must be a multiple of 4096 bytes");
	}
	medium->machine.size = (size_t)st.st_size;
	medium->machine.medium = svb_map(fd, medium->machine.size);
	close(fd);
	return medium->machine.medium ? 0 : svb_complain(file, strerror(errno));
}

/* Maps the shadow, which is as large as the medium; made when it is not there. */
static int svb_map_shadow(struct svb_medium *medium, bool *made)
{
	size_t size = medium->machine.size;
	struct stat st;
	int fd = open(medium->shadow, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int ret = fd < 0 ? errno : 0;

	*made = false;
	if (!ret && fstat(fd, &st))
		ret = errno;
	if (!ret && (size_t)st.st_size != size) {
		*made = true;
		/* No surprise later when memory runs short. */
		ret = ftruncate(fd, 0) || ftruncate(fd, (off_t)size)
			      ? errno
			      : posix_fallocate(fd, 0, (off_t)size);
	}
	if (!ret) {
		medium->machine.visible = svb_map(fd, size);
		ret = medium->machine.visible ? 0 : errno;
	}
	if (fd >= 0)
		close(fd);
	errno = ret;
	return ret ? svb_complain(medium->shadow, strerror(ret)) : 0;
}

/* Reads what --choices says: the list, or "@" and a file with it. */
static bool svb_list_read(struct svb_picks *picks, const char *choices)
{
	char *text = NULL;
	size_t size = 0;
	bool ok = false;
	FILE *file;

	if (*choices != '@')
		return svb_picks_parse(picks, choices);
	file = fopen(choices + 1, "re");
	if (file && getline(&text, &size, file) > 0)
		ok = svb_picks_parse(picks, text);
	if (file)
		fclose(file);
	free(text);
	return ok;
}

/* The first process on the machine switches it on. */
static int svb_switch_on(struct svb_medium *medium)
{
	const struct svb_settings *set = &svb_self.settings;
	struct svb_shared *shared = medium->shared;
	bool iwarp = set->link == SVB_LINK_IWARP;

	memset(shared, 0, sizeof(*shared));
	shared->config = (struct svb_machine_config){
		.domain = set->domain,
		.ddio = set->ddio,
		.weak = iwarp,
		.loose = iwarp || set->relaxed,
		.tear = set->drain != SVB_DRAIN_EXPLORE,
	};
	shared->explore = set->drain == SVB_DRAIN_EXPLORE;
	shared->size = medium->machine.size;
	snprintf(shared->file, sizeof(shared->file), "%s", set->persistent);
	if (!*set->choices)
		svb_picks_seed(&shared->picks, set->seed, set->power_fail);
	else if (!svb_list_read(&shared->picks, set->choices))
		return svb_complain(shared->file, "choices: this is no list of them");
	shared->abi = SVB_ABI;
	__atomic_store_n(&shared->magic, SVB_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

/* With the lock file locked: how many processes are on the machine. The dead are not. */
static uint32_t svb_users(struct svb_shared *shared)
{
	uint32_t i, count = 0;

	for (i = 0; i < SVB_MEDIUM_USERS; i++) {
		if (shared->user[i] && !svb_registry_alive(shared->user[i]))
			shared->user[i] = 0;
		count += shared->user[i] != 0;
	}
	return count;
}

static bool svb_user_add(struct svb_shared *shared)
{
	uint32_t i;

	for (i = 0; i < SVB_MEDIUM_USERS; i++)
		if (!shared->user[i]) {
			shared->user[i] = svb_lock_token;
			return true;
		}
	return false;
}

/* One process at a time comes or goes. Returns a descriptor to close. */
static int svb_medium_lock(uint32_t id)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "machine.%08x.lock", id);
	fd = openat(svb_self.dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

static int svb_map_shared(struct svb_medium *medium, bool create)
{
	struct stat st = {0};
	char name[32];
	int fd, ret;

	snprintf(name, sizeof(name), "machine.%08x", medium->id);
	fd = openat(svb_self.dir_fd, name,
		    O_RDWR | O_NOFOLLOW | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
	if (fd < 0)
		return errno;
	ret = create ? posix_fallocate(fd, 0, sizeof(*medium->shared)) : 0;
	if (!ret && fstat(fd, &st))
		ret = errno;
	medium->number = st.st_ino;
	if (!ret) {
		medium->shared = svb_map(fd, sizeof(*medium->shared));
		ret = medium->shared ? 0 : errno;
	}
	close(fd);
	return ret;
}

static void svb_medium_unmap(struct svb_medium *medium)
{
	if (medium->machine.visible)
		munmap(medium->machine.visible, medium->machine.size);
	if (medium->machine.medium)
		munmap(medium->machine.medium, medium->machine.size);
	if (medium->shared)
		munmap(medium->shared, sizeof(*medium->shared));
	*medium = (struct svb_medium){0};
}

/* What every process needs to work on the machine. */
static void svb_medium_ready(struct svb_medium *medium)
{
	struct svb_shared *shared = medium->shared;

	medium->machine.config = shared->config;
	medium->machine.state = &shared->state;
	svb_model_bind(medium);
	medium->chooser = (struct svb_chooser){
		shared->picks.replaying ? svb_picks_replay : svb_picks_random,
		&shared->picks,
	};
}

/* Lock held. A machine that nobody is on any more was not switched off by the power. */
static int svb_join_locked(struct svb_medium *medium)
{
	struct svb_shared *shared;
	bool made;
	int ret;

	ret = svb_map_medium(medium, svb_self.settings.persistent);
	if (!ret)
		ret = svb_map_shared(medium, true);
	if (!ret)
		ret = svb_map_shadow(medium, &made);
	if (ret)
		return ret;
	shared = medium->shared;
	if (shared->magic != SVB_MAGIC || shared->off || !svb_users(shared)) {
		medium->machine.state = &shared->state;
		if (!made && !shared->off)
			svb_machine_drain(&medium->machine);
		memcpy(medium->machine.visible, medium->machine.medium,
		       medium->machine.size);
		ret = svb_switch_on(medium);
	}
	if (!ret && !svb_user_add(shared))
		ret = ENOSPC;
	return ret;
}

static struct svb_medium *svb_medium_free(uint32_t id)
{
	struct svb_medium *medium = svb_media.medium;

	while (medium < svb_media.medium + SVB_MEDIA && medium->id)
		medium++;
	if (medium == svb_media.medium + SVB_MEDIA)
		return NULL;
	medium->id = id;
	snprintf(medium->shadow, sizeof(medium->shadow), "%s/machine.%08x.shadow",
		 svb_self.dir, id);
	return medium;
}

int svb_medium_join(void)
{
	uint32_t id = svb_settings_machine(&svb_self.settings);
	struct svb_medium *medium;
	int fd, ret;

	if (!id)
		return 0;
	pthread_mutex_lock(&svb_media.mutex);
	medium = svb_medium_free(id);
	fd = svb_medium_lock(id);
	ret = fd < 0 ? errno : medium ? svb_join_locked(medium) : ENOSPC;
	if (ret) {
		if (medium)
			svb_medium_unmap(medium);
	} else {
		medium->member = true;
		svb_medium_ready(medium);
		svb_media.own = medium;
		svb_self.model = &svb_model_detour;
		svb_self.slow = true;
		svb_model_arm();
	}
	if (fd >= 0)
		close(fd);
	pthread_mutex_unlock(&svb_media.mutex);
	return ret;
}

/* Lock held. The last one switches the machine off in good order. */
static void svb_leave_locked(struct svb_medium *medium)
{
	struct svb_shared *shared = medium->shared;
	char name[32];
	uint32_t i;

	for (i = 0; i < SVB_MEDIUM_USERS; i++)
		if (shared->user[i] == svb_lock_token)
			shared->user[i] = 0;
	if (svb_users(shared))
		return;
	svb_lock(&shared->lock);
	if (!shared->off)
		svb_model_stop(medium);
	shared->off = 1;
	svb_unlock(&shared->lock);
	unlink(medium->shadow);
	snprintf(name, sizeof(name), "machine.%08x", medium->id);
	unlinkat(svb_self.dir_fd, name, 0);
}

void svb_medium_leave(void)
{
	struct svb_medium *medium = svb_media.own;
	int fd;

	if (!medium)
		return;
	svb_media.own = NULL;
	fd = svb_medium_lock(medium->id);
	if (fd < 0)
		return;
	svb_leave_locked(medium);
	close(fd);
}

void svb_medium_forget(void)
{
	int i;

	pthread_mutex_init(&svb_media.mutex, NULL);
	for (i = 0; i < SVB_MEDIA; i++)
		if (svb_media.medium[i].id)
			svb_medium_unmap(&svb_media.medium[i]);
	svb_media.own = NULL;
	svb_self.model = NULL;
}

static int svb_attach_locked(struct svb_medium *medium)
{
	bool made;
	int ret;

	ret = svb_map_shared(medium, false);
	if (!ret &&
	    __atomic_load_n(&medium->shared->magic, __ATOMIC_ACQUIRE) != SVB_MAGIC)
		ret = EPROTO;
	if (!ret)
		ret = svb_map_medium(medium, medium->shared->file);
	if (!ret)
		ret = svb_map_shadow(medium, &made);
	return ret;
}

static struct svb_medium *svb_medium_attach(uint32_t id)
{
	struct svb_medium *medium = svb_medium_free(id);
	int fd = medium ? svb_medium_lock(id) : -1;

	if (fd >= 0 && !svb_attach_locked(medium)) {
		svb_medium_ready(medium);
		svb_self.model = &svb_model_detour;
		svb_self.slow = true;
	} else if (medium) {
		svb_medium_unmap(medium);
		medium = NULL;
	}
	if (fd >= 0)
		close(fd);
	return medium;
}

/* Switched off in good order, and perhaps on again: that is another state. */
static bool svb_medium_passed(const struct svb_medium *medium)
{
	struct stat st;
	char name[32];

	if (!medium->shared->off)
		return false;
	snprintf(name, sizeof(name), "machine.%08x", medium->id);
	return !fstatat(svb_self.dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_ino != medium->number;
}

struct svb_medium *svb_medium_of(uint32_t id)
{
	struct svb_medium *medium = NULL;
	int i;

	pthread_mutex_lock(&svb_media.mutex);
	for (i = 0; i < SVB_MEDIA && !medium; i++)
		if (svb_media.medium[i].id == id && svb_media.medium[i].chooser.pick)
			medium = &svb_media.medium[i];
	if (medium && !medium->member && svb_medium_passed(medium)) {
		medium->id = SVB_MEDIUM_PAST;
		medium = NULL;
	}
	if (!medium)
		medium = svb_medium_attach(id);
	pthread_mutex_unlock(&svb_media.mutex);
	return medium;
}

void svb_medium_meet(struct svb_seg *seg)
{
	/* From now on the slow way: its machine is modelled. */
	if (seg->machine)
		svb_medium_of(seg->machine);
}

struct svb_medium *svb_medium_own(void)
{
	return svb_media.own;
}

struct svb_medium *svb_medium_at(int i)
{
	int at;

	for (at = 0; at < SVB_MEDIA; at++)
		if (svb_media.medium[at].id > SVB_MEDIUM_PAST &&
		    svb_media.medium[at].chooser.pick && !i--)
			return &svb_media.medium[at];
	return NULL;
}

const char *svb_medium_mapping(void)
{
	return svb_media.own ? svb_media.own->shadow : svb_self.settings.persistent;
}
