/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The heap of the code under exploration, so that it can be taken back: the linker puts
 * these functions where the provider and the device call malloc and its relatives.
 * Pages are copied when they were written since heap_watch. One thread.
 */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on allocations come from it, or no longer. Freeing always works. */
void heap_use(bool on);
/* What it holds now is what pages are compared with. False: no memory. */
bool heap_watch(void);

/* Bytes that heap_save writes now. */
size_t heap_size(void);
void heap_save(void *to);
void heap_restore(const void *from);
/* Equal for equal contents, however they came about. */
uint64_t heap_hash(void);

#endif
