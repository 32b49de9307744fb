/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libfabric loads. The provider itself is part of the test program, which shares its
 * state with the test and is subject to its CT_WRAP_*; so this hands on to the program,
 * which exports the one function.
 */
#include <rdma/providers/fi_prov.h>

struct fi_provider *scr_prov_ini(void);

FI_EXT_INI;
FI_EXT_INI
{
	return scr_prov_ini();
}
