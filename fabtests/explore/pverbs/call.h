/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef XPV_CALL_H
#define XPV_CALL_H

#include <sys/types.h>
#include "scenario.h"

/* One libfabric call of the initiator, or -FI_EAGAIN. */
ssize_t xpv_call_make(const struct call *call, uint32_t number);

#endif
