/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Annotations for ThreadSanitizer: it sees this process only, and the way from a post
 * to its completion may lead through another process. No code without it.
 */
#ifndef SVB_TSAN_H
#define SVB_TSAN_H

#include <stdint.h>

#ifdef __SANITIZE_THREAD__
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Exported by its runtime, which has no header for them. */
void AnnotateHappensBefore(const char *file, int line, const volatile void *at);
void AnnotateHappensAfter(const char *file, int line, const volatile void *at);

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

#define SVB_TSAN_PLACES 4096u
extern uint64_t svb_tsan_place[SVB_TSAN_PLACES]; /* engine/memory.c */

static inline const void *svb_tsan_at(uint64_t wr_id)
{
	return &svb_tsan_place[(wr_id * 0x9e3779b97f4a7c15u >> 32) % SVB_TSAN_PLACES];
}

/* A post happens before its completion is polled. */
static inline void svb_tsan_posted(uint64_t wr_id)
{
	AnnotateHappensBefore(__FILE__, __LINE__, svb_tsan_at(wr_id));
}

static inline void svb_tsan_completed(uint64_t wr_id)
{
	AnnotateHappensAfter(__FILE__, __LINE__, svb_tsan_at(wr_id));
}

/* Accesses of an adapter are no accesses of a thread: a race with memory that a peer
 * may access at any time is not reported. */
static inline void svb_tsan_adapter_begins(void)
{
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void svb_tsan_adapter_ends(void)
{
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

static inline ssize_t svb_tsan_vm(long call, pid_t pid, const struct iovec *own,
				  unsigned long own_count, const struct iovec *other,
				  unsigned long other_count)
{
	return syscall(call, pid, own, own_count, other, other_count, 0UL);
}
#define process_vm_readv(pid, own, n, other, m, flags) \
	svb_tsan_vm(SYS_process_vm_readv, pid, own, n, other, m)
#define process_vm_writev(pid, own, n, other, m, flags) \
	svb_tsan_vm(SYS_process_vm_writev, pid, own, n, other, m)
#else
static inline void svb_tsan_posted(uint64_t wr_id)
{
	(void)wr_id;
}

static inline void svb_tsan_completed(uint64_t wr_id)
{
	(void)wr_id;
}

static inline void svb_tsan_adapter_begins(void)
{
}

static inline void svb_tsan_adapter_ends(void)
{
}
#endif

#endif
