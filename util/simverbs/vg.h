/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Annotations for valgrind's memcheck: which part of a segment is in use, and which
 * memory another process may have written. Almost no cost without valgrind.
 */
#ifndef SVB_VG_H
#define SVB_VG_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define SVB_HAVE_MEMCHECK 1
#endif
#endif

#ifdef SVB_HAVE_MEMCHECK
static inline bool svb_vg_runs(void)
{
	return RUNNING_ON_VALGRIND;
}

/* Marks memory as inaccessible, and excludes it from the search for leaks. */
static inline void svb_vg_hide(void *at, size_t len)
{
	VALGRIND_MAKE_MEM_NOACCESS(at, len);
}

/* Marks memory as accessible. */
static inline void svb_vg_show(void *at, size_t len)
{
	VALGRIND_MAKE_MEM_DEFINED(at, len);
}

/*
 * Marks memory as initialised, as far as it is accessible: another process may have
 * written it.
 */
static inline void svb_vg_written(void *at, size_t len)
{
	VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(at, len);
}
#else
static inline bool svb_vg_runs(void)
{
	return false;
}

static inline void svb_vg_hide(void *at, size_t len)
{
}

static inline void svb_vg_show(void *at, size_t len)
{
}

static inline void svb_vg_written(void *at, size_t len)
{
}
#endif

#endif
