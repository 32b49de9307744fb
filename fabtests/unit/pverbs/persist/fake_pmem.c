/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdatomic.h>
#include <libpmem.h>
#include "cairn_test.h"
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

static atomic_bool waits, goes_on;

static void wait_for_test(void)
{
	atomic_store(&waits, true);
	CT_EXPECT_SOON(atomic_load(&goes_on));
}

void fake_pmem_hold(void)
{
	atomic_store(&waits, false);
	atomic_store(&goes_on, false);
	fake_pmem.hook = wait_for_test;
}

bool fake_pmem_waits(void)
{
	return atomic_load(&waits);
}

void fake_pmem_go_on(void)
{
	atomic_store(&goes_on, true);
}
