/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The heap of the code under exploration, so that it can be taken back. What uses it:
 * search.h, and wrap.c where the linker puts that. Pages are copied when they were
 * written since xpl_heap_watch. One thread.
 */
#ifndef XPL_HEAP_H
#define XPL_HEAP_H

#include "search.h"

/* Do allocations come from it now? */
bool xpl_heap_in_use(void);
/* Was that allocated in it? Of what was: bytes asked for. */
bool xpl_heap_has(const void *at);
size_t xpl_heap_len(void *at);

/* What it holds now is what pages are compared with. False: no memory. */
bool xpl_heap_watch(void);

/* Bytes that xpl_heap_save writes now. */
size_t xpl_heap_size(void);
void xpl_heap_save(void *to);
void xpl_heap_restore(const void *from);
/* Equal for equal contents, however they came about. */
uint64_t xpl_heap_hash(void);

#endif
