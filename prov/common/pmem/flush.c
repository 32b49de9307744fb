/* SPDX-License-Identifier: BSD-2-Clause */
#include <libpmem.h>
#include <cairn/pmem.h>

void crn_pmem_flush(enum crn_persistence domain, const void *at, size_t len)
{
	if (domain == CRN_DMP)
		pmem_deep_flush(at, len);
}

void crn_pmem_drain(void)
{
	pmem_drain();
}
