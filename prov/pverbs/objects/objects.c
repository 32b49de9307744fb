/* SPDX-License-Identifier: BSD-2-Clause */
/* An object whose process is a child of fork. */
#include <unistd.h>
#include "objects/objects.h"

bool pvb_inherited(const struct pvb_fabric *fabric)
{
	return getpid() != fabric->pid;
}
