/* SPDX-License-Identifier: BSD-2-Clause */
/* A target that refuses: the linker puts this where it looks for the memory that a
 * request names. */
#include "persist/control/control.h"
#include "program.h"
#include "world.h"
#include "wrap.h"

WRAP(const struct pvb_pmem_region *, pvb_pmem_region_find, struct pvb_control *control,
     const struct pvb_wire_range *range)
{
	if (xpv_program_refuses(range->addr - (uintptr_t)xpv_world.pm, range->len))
		return NULL;
	return __real_pvb_pmem_region_find(control, range);
}
