/* SPDX-License-Identifier: BSD-2-Clause */
#include <libpmem.h>
#include "fake_pmem.h"

struct fake_pmem fake_pmem;

void pmem_deep_flush(const void *addr, size_t len)
{
	if (fake_pmem.hook)
		fake_pmem.hook();
	if (fake_pmem.flushes < FAKE_PMEM_MOST)
		fake_pmem.flush[fake_pmem.flushes] = (struct fake_pmem_flush){addr, len};
	fake_pmem.flushes++;
	fake_pmem.undrained++;
}

void pmem_drain(void)
{
	fake_pmem.undrained = 0;
}
