/* SPDX-License-Identifier: BSD-2-Clause */
/* Wire formats, byte by byte: pure functions over byte ranges. */
#ifndef PVB_WIRE_WIRE_H
#define PVB_WIRE_WIRE_H

#include "key.h"
#include "message.h"
#include "private_data.h"
#include "ud_addr.h"

#endif
