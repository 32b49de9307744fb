/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's and libpmem's functions that make memory durable: with a model they
 * move lines of persistent memory to the persistence domain. Without one, and for other
 * memory, they are passed on.
 */
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "medium.h"
#include "next.h"

/* libpmem(7); its header need not be installed. */
void pmem_persist(const void *addr, size_t len);
int pmem_msync(const void *addr, size_t len);
int pmem_deep_persist(const void *addr, size_t len);
void pmem_flush(const void *addr, size_t len);
void pmem_deep_flush(const void *addr, size_t len);
void pmem_drain(void);
int pmem_deep_drain(const void *addr, size_t len);
int pmem_is_pmem(const void *addr, size_t len);
void *pmem_memmove(void *to, const void *from, size_t len, unsigned int flags);
void *pmem_memcpy(void *to, const void *from, size_t len, unsigned int flags);
void *pmem_memset(void *to, int byte, size_t len, unsigned int flags);
void *pmem_memmove_persist(void *to, const void *from, size_t len);
void *pmem_memcpy_persist(void *to, const void *from, size_t len);
void *pmem_memset_persist(void *to, int byte, size_t len);
void *pmem_memmove_nodrain(void *to, const void *from, size_t len);
void *pmem_memcpy_nodrain(void *to, const void *from, size_t len);
void *pmem_memset_nodrain(void *to, int byte, size_t len);
#define SVB_PMEM_NODRAIN 1u
#define SVB_PMEM_NOFLUSH 32u

/*
 * libpmem's own function. A library that was loaded for itself alone, with what it needs
 * (dlopen(3), RTLD_LOCAL), is not among those after this one.
 */
static void *svb_pmem_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name), *libpmem;

	if (found)
		return found;
	libpmem = dlopen("libpmem.so.1", RTLD_LAZY | RTLD_NOLOAD);
	return libpmem ? dlsym(libpmem, name) : NULL;
}

#define SVB_PMEM(name)                                                              \
	({                                                                          \
		static __typeof__(&name) next;                                      \
		__typeof__(&name) found = __atomic_load_n(&next, __ATOMIC_RELAXED); \
		if (!found) {                                                       \
			found = (__typeof__(&name))svb_pmem_find(#name);            \
			__atomic_store_n(&next, found, __ATOMIC_RELAXED);           \
		}                                                                   \
		found;                                                              \
	})

/* The persistent file may be opened before a device is used, so its name is known from
 * the start, if there may be one. */
__attribute__((constructor)) static void svb_medium_begin(void)
{
	bool model = getenv("SIMVERBS_DRAIN") || getenv("SIMVERBS_POWER_FAIL") ||
		     getenv("SIMVERBS_CHOICES");

	if (!getenv("SIMVERBS_CONFIG") && !(getenv("SIMVERBS_PERSISTENT_FILE") && model))
		return;
	/* As joining does, which then finds them. */
	svb_settings_load(&svb_self.settings);
}

/* Is it persistent memory of a modelled machine? */
static bool svb_is_modelled(const void *addr, size_t len)
{
	uint64_t offset;

	return svb_medium_wanted() && !svb_join() && svb_medium_find(addr, len, &offset);
}

/* What a thread has flushed and not drained. When there is no room, early is allowed. */
#define SVB_UNDRAINED 64
static __thread struct {
	const void *addr;
	size_t len;
} svb_undrained[SVB_UNDRAINED];
static __thread int svb_undrained_count;

static void svb_drain(void)
{
	while (svb_undrained_count) {
		svb_undrained_count--;
		svb_medium_flush(svb_undrained[svb_undrained_count].addr,
				 svb_undrained[svb_undrained_count].len);
	}
}

/* False: this is not for the model. */
static bool svb_flush_later(const void *addr, size_t len)
{
	if (!svb_is_modelled(addr, len))
		return false;
	if (svb_undrained_count == SVB_UNDRAINED)
		svb_drain();
	svb_undrained[svb_undrained_count].addr = addr;
	svb_undrained[svb_undrained_count++].len = len;
	return true;
}

SVB_API void pmem_persist(const void *addr, size_t len)
{
	if (!svb_medium_flush(addr, len))
		SVB_PMEM(pmem_persist)(addr, len);
	svb_drain();
}

SVB_API int pmem_msync(const void *addr, size_t len)
{
	return svb_medium_flush(addr, len) ? 0 : SVB_PMEM(pmem_msync)(addr, len);
}

SVB_API int pmem_deep_persist(const void *addr, size_t len)
{
	return svb_medium_flush(addr, len) ? 0 : SVB_PMEM(pmem_deep_persist)(addr, len);
}

SVB_API void pmem_flush(const void *addr, size_t len)
{
	if (!svb_flush_later(addr, len))
		SVB_PMEM(pmem_flush)(addr, len);
}

SVB_API void pmem_deep_flush(const void *addr, size_t len)
{
	if (!svb_flush_later(addr, len))
		SVB_PMEM(pmem_deep_flush)(addr, len);
}

SVB_API void pmem_drain(void)
{
	svb_drain();
	if (!svb_medium_wanted())
		SVB_PMEM(pmem_drain)();
}

SVB_API int pmem_deep_drain(const void *addr, size_t len)
{
	svb_drain();
	return svb_is_modelled(addr, len) ? 0 : SVB_PMEM(pmem_deep_drain)(addr, len);
}

SVB_API int pmem_is_pmem(const void *addr, size_t len)
{
	return svb_is_modelled(addr, len) || SVB_PMEM(pmem_is_pmem)(addr, len);
}

/* After the bytes were stored: what libpmem would do to them. */
static void svb_stored(const void *addr, size_t len, unsigned int flags)
{
	if (flags & SVB_PMEM_NOFLUSH)
		return;
	svb_flush_later(addr, len);
	if (!(flags & SVB_PMEM_NODRAIN))
		svb_drain();
}

SVB_API void *pmem_memmove(void *to, const void *from, size_t len, unsigned int flags)
{
	if (!svb_is_modelled(to, len))
		return SVB_PMEM(pmem_memmove)(to, from, len, flags);
	memmove(to, from, len);
	svb_stored(to, len, flags);
	return to;
}

SVB_API void *pmem_memset(void *to, int byte, size_t len, unsigned int flags)
{
	if (!svb_is_modelled(to, len))
		return SVB_PMEM(pmem_memset)(to, byte, len, flags);
	memset(to, byte, len);
	svb_stored(to, len, flags);
	return to;
}

SVB_API void *pmem_memcpy(void *to, const void *from, size_t len, unsigned int flags)
{
	return pmem_memmove(to, from, len, flags);
}

SVB_API void *pmem_memmove_persist(void *to, const void *from, size_t len)
{
	return pmem_memmove(to, from, len, 0);
}

SVB_API void *pmem_memcpy_persist(void *to, const void *from, size_t len)
{
	return pmem_memmove(to, from, len, 0);
}

SVB_API void *pmem_memset_persist(void *to, int byte, size_t len)
{
	return pmem_memset(to, byte, len, 0);
}

SVB_API void *pmem_memmove_nodrain(void *to, const void *from, size_t len)
{
	return pmem_memmove(to, from, len, SVB_PMEM_NODRAIN);
}

SVB_API void *pmem_memcpy_nodrain(void *to, const void *from, size_t len)
{
	return pmem_memmove(to, from, len, SVB_PMEM_NODRAIN);
}

SVB_API void *pmem_memset_nodrain(void *to, int byte, size_t len)
{
	return pmem_memset(to, byte, len, SVB_PMEM_NODRAIN);
}

SVB_API int msync(void *addr, size_t len, int flags)
{
	if (flags & MS_SYNC && svb_medium_wanted())
		svb_medium_flush(addr, len);
	return SVB_NEXT(msync)(addr, len, flags);
}

/* Is that the file that stands for persistent memory? */
static bool svb_is_persistent(int fd)
{
	struct stat one, other;

	return *svb_self.settings.persistent && !fstat(fd, &one) &&
	       !stat(svb_medium_mapping(), &other) && one.st_ino == other.st_ino &&
	       one.st_dev == other.st_dev;
}

#define SVB_SYNC(name)                                            \
	SVB_API int name(int fd)                                  \
	{                                                         \
		if (svb_medium_wanted() && svb_is_persistent(fd)) \
			svb_medium_sync();                        \
		return SVB_NEXT(name)(fd);                        \
	}
SVB_SYNC(fsync)
SVB_SYNC(fdatasync)

/* It can be mapped as a devdax can, also where the file system has no DAX. */
SVB_API void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *at = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);

	if (at != MAP_FAILED || !(flags & MAP_SYNC) || errno != EOPNOTSUPP ||
	    !svb_is_persistent(fd))
		return at;
	flags &= ~(MAP_SYNC | MAP_SHARED_VALIDATE);
	return (void *)syscall(SYS_mmap, addr, len, prot, flags | MAP_SHARED, fd, offset);
}

SVB_API void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
