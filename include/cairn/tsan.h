/* SPDX-License-Identifier: BSD-2-Clause */
/* Annotations for ThreadSanitizer; no code without it. */
#ifndef CRN_TSAN_H
#define CRN_TSAN_H

#include <stddef.h>

#ifdef __SANITIZE_THREAD__
/* Exported by its runtime, which has no header for it. */
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at,
			     size_t len, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#endif

/*
 * Memory that several queue pairs write at once and nobody reads. A software device
 * writes it by threads of this process, unlike an adapter.
 */
static inline void crn_tsan_sink(const volatile void *at, size_t len)
{
#ifdef __SANITIZE_THREAD__
	AnnotateBenignRaceSized(__FILE__, __LINE__, at, len, "written, never read");
#else
	(void)at;
	(void)len;
#endif
}

/*
 * What a peer does with a program's memory, of which the program knows by ways that lead
 * through other processes: as with an adapter, no accesses of this process's threads.
 */
static inline void crn_tsan_peer_begins(void)
{
#ifdef __SANITIZE_THREAD__
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

static inline void crn_tsan_peer_ends(void)
{
#ifdef __SANITIZE_THREAD__
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

#endif
