/* SPDX-License-Identifier: BSD-2-Clause */
/* The face of this room. */
#ifndef RTE_XFER_H
#define RTE_XFER_H

#include "vc.h"

#endif
