/* SPDX-License-Identifier: BSD-2-Clause */
#include <libpmem.h>
#include <cairn/pmem.h>

void crn_pmem_flush(const void *at, size_t len)
{
	pmem_deep_flush(at, len);
}

void crn_pmem_drain(void)
{
	pmem_drain();
}
