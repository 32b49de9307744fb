/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's functions that take a path: they see the made-up tree. Each passes
 * everything on to the next library's function of its name. Those of before glibc 2.33
 * (__xstat) are still called by programs built then; checked programs call __open_2.
 */
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "next.h"
#include "shared/shared.h"
#include "sysfs.h"

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *st);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat(int version, const char *path, struct stat *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);

static mode_t svb_mode(int flags, va_list args)
{
	return __OPEN_NEEDS_MODE(flags) ? va_arg(args, mode_t) : 0;
}

#define SVB_OPEN(name)                                                         \
	SVB_API int name(const char *path, int flags, ...)                     \
	{                                                                      \
		char buf[SVB_SYSFS_PATH];                                      \
		va_list args;                                                  \
		mode_t mode;                                                   \
                                                                               \
		va_start(args, flags);                                         \
		mode = svb_mode(flags, args);                                  \
		va_end(args);                                                  \
		return SVB_NEXT(name)(svb_sysfs_path(path, buf), flags, mode); \
	}
SVB_OPEN(open)
SVB_OPEN(open64)

#define SVB_OPENAT(name)                                                            \
	SVB_API int name(int dir, const char *path, int flags, ...)                 \
	{                                                                           \
		char buf[SVB_SYSFS_PATH];                                           \
		va_list args;                                                       \
		mode_t mode;                                                        \
                                                                                    \
		va_start(args, flags);                                              \
		mode = svb_mode(flags, args);                                       \
		va_end(args);                                                       \
		return SVB_NEXT(name)(dir, svb_sysfs_path(path, buf), flags, mode); \
	}
SVB_OPENAT(openat)
SVB_OPENAT(openat64)

/* Any other function: its result and parameters, and the arguments with the path
 * replaced. */
#define SVB_WRAP(type, name, parameters, ...)       \
	SVB_API type name parameters                \
	{                                           \
		char buf[SVB_SYSFS_PATH];           \
                                                    \
		return SVB_NEXT(name)(__VA_ARGS__); \
	}
#define SVB_HERE svb_sysfs_path(path, buf)

SVB_WRAP(int, __open_2, (const char *path, int flags), SVB_HERE, flags)
SVB_WRAP(int, __open64_2, (const char *path, int flags), SVB_HERE, flags)
SVB_WRAP(int, __openat_2, (int dir, const char *path, int flags), dir, SVB_HERE, flags)
SVB_WRAP(int, __openat64_2, (int dir, const char *path, int flags), dir, SVB_HERE, flags)
SVB_WRAP(FILE *, fopen, (const char *path, const char *mode), SVB_HERE, mode)
SVB_WRAP(FILE *, fopen64, (const char *path, const char *mode), SVB_HERE, mode)
SVB_WRAP(DIR *, opendir, (const char *path), SVB_HERE)
SVB_WRAP(ssize_t, readlink, (const char *path, char *to, size_t size), SVB_HERE, to, size)
SVB_WRAP(ssize_t, readlinkat, (int dir, const char *path, char *to, size_t size), dir,
	 SVB_HERE, to, size)
SVB_WRAP(int, access, (const char *path, int how), SVB_HERE, how)
SVB_WRAP(int, faccessat, (int dir, const char *path, int how, int flags), dir, SVB_HERE,
	 how, flags)
SVB_WRAP(int, stat, (const char *path, struct stat *st), SVB_HERE, st)
SVB_WRAP(int, stat64, (const char *path, struct stat64 *st), SVB_HERE, st)
SVB_WRAP(int, lstat, (const char *path, struct stat *st), SVB_HERE, st)
SVB_WRAP(int, lstat64, (const char *path, struct stat64 *st), SVB_HERE, st)
SVB_WRAP(int, fstatat, (int dir, const char *path, struct stat *st, int flags), dir,
	 SVB_HERE, st, flags)
SVB_WRAP(int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags), dir,
	 SVB_HERE, st, flags)
SVB_WRAP(int, statx,
	 (int dir, const char *path, int flags, unsigned int mask, struct statx *st), dir,
	 SVB_HERE, flags, mask, st)
SVB_WRAP(int, __xstat, (int version, const char *path, struct stat *st), version,
	 SVB_HERE, st)
SVB_WRAP(int, __xstat64, (int version, const char *path, struct stat64 *st), version,
	 SVB_HERE, st)
SVB_WRAP(int, __lxstat, (int version, const char *path, struct stat *st), version,
	 SVB_HERE, st)
SVB_WRAP(int, __lxstat64, (int version, const char *path, struct stat64 *st), version,
	 SVB_HERE, st)
SVB_WRAP(int, __fxstatat,
	 (int version, int dir, const char *path, struct stat *st, int flags), version,
	 dir, SVB_HERE, st, flags)
SVB_WRAP(int, __fxstatat64,
	 (int version, int dir, const char *path, struct stat64 *st, int flags), version,
	 dir, SVB_HERE, st, flags)
