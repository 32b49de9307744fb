/* SPDX-License-Identifier: BSD-2-Clause */
/* ct_fail_alloc and ct_fds_left; the linker's --wrap puts __wrap_X where X is called. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
#include "cairn_test.h"

static _Thread_local unsigned int countdown;
static _Thread_local bool failed;

void ct_fail_alloc(unsigned int nth)
{
	countdown = nth;
	failed = false;
}

bool ct_alloc_failed(void)
{
	countdown = 0;
	return failed;
}

static bool fails_now(void)
{
	if (!countdown || --countdown)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, params, args)     \
	type __real_##name params;         \
	type __wrap_##name params;         \
	type __wrap_##name params          \
	{                                  \
		if (fails_now())           \
			return NULL;       \
		return __real_##name args; \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t size), (text, size))

int __real_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
	return fails_now() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}

static struct rlimit saved_limit;

/* The lowest free descriptor is taken first: the limit goes above count free ones. */
void ct_fds_left(unsigned int count)
{
	struct rlimit limit;
	int fd = 0;

	getrlimit(RLIMIT_NOFILE, &saved_limit);
	limit = saved_limit;
	for (;; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (!count--)
			break;
	}
	limit.rlim_cur = (rlim_t)fd;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void ct_fds_restore(void)
{
	setrlimit(RLIMIT_NOFILE, &saved_limit);
}

unsigned int ct_fds_open(void)
{
	struct dirent *entry;
	unsigned int count = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}
