/* SPDX-License-Identifier: BSD-2-Clause */
/* Annotations for ThreadSanitizer; no code without it. */
#ifndef CRN_TSAN_H
#define CRN_TSAN_H

#include <stddef.h>

#ifdef __SANITIZE_THREAD__
/* Exported by its runtime, which has no header for it. */
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at,
			     size_t len, const char *why);
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

#endif
