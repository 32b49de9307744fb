/* SPDX-License-Identifier: BSD-2-Clause */
/* What of libpmem writes caches back: it is counted. */
#ifndef PVB_FAKE_PMEM_H
#define PVB_FAKE_PMEM_H

#include <stdbool.h>
#include <stddef.h>

#define FAKE_PMEM_MOST 32

struct fake_pmem {
	struct fake_pmem_flush {
		const void *addr;
		size_t len;
	} flush[FAKE_PMEM_MOST]; /* the first */
	unsigned int flushes;
	unsigned int undrained; /* flushes since the last pmem_drain */
	void (*hook)(void);	/* called as a flush begins; or NULL */
};

/* A test sets it to zero. */
extern struct fake_pmem fake_pmem;

/* The next flushes wait, in whichever thread, until fake_pmem_go_on. */
void fake_pmem_hold(void);
/* One does. */
bool fake_pmem_waits(void);
void fake_pmem_go_on(void);

#endif
