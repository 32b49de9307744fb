/* SPDX-License-Identifier: BSD-2-Clause */
/* What segment.c, which maps segments, and heap.c, which knows what of the own one is in
 * use, share. */
#ifndef SVB_SHARED_HEAP_H
#define SVB_SHARED_HEAP_H

#include "self.h"

#define SVB_PAGE 4096ull
/* Bytes of a segment that are mapped where there is room for few large ones. */
#define SVB_NARROW_SIZE (512ull << 20)

/* Where a table lies, and how it grows. */
struct svb_table_place {
	uint64_t offset;
	uint32_t size; /* bytes of a slot */
	uint32_t max;
	uint32_t grow; /* slots that get memory at a time */
};
extern const struct svb_table_place svb_tables[SVB_TABLES];

/* Of what is in use of the own segment, and of mappings of others'; taken by nobody who
 * holds svb_self.mutex for long. */
extern pthread_mutex_t svb_seg_mutex;

/* Bytes of a segment that are mapped. */
static inline uint64_t svb_seg_span(void)
{
	return svb_self.narrow ? SVB_NARROW_SIZE : SVB_SEG_SIZE;
}

/* Puts memory behind a range of the own file. Returns 0 or an errno. */
int svb_seg_back(uint64_t offset, uint64_t size);
/* The heap is one free range and every slot of the tables is free. Returns 0 or ENOMEM;
 * svb_seg_forget frees what there is in either case. */
int svb_seg_books(void);
void svb_seg_forget(void);

#endif
