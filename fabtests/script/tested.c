/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second plugin beside plugin.c: the layer under test, which is part of the test
 * program as well. A program that has none does not define the function; libfabric does
 * without the provider then.
 */
#include <rdma/providers/fi_prov.h>

__attribute__((weak)) struct fi_provider *scr_tested_ini(void);

FI_EXT_INI;
FI_EXT_INI
{
	return scr_tested_ini ? scr_tested_ini() : NULL;
}
