/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of a scene closed in any order: what another one needs is -FI_EBUSY. */
#ifndef FCT_CLOSE_ORDER_H
#define FCT_CLOSE_ORDER_H

#include "fault.h"

#define CLOSE_THINGS 10
/* The rotations of the objects, forward and backward. */
#define CLOSE_ROTATIONS (2 * CLOSE_THINGS)

/* Asks for each in the order of that number, and again, until all are closed. The first
 * CLOSE_ROTATIONS orders are rotations; then chance has it. */
int fct_close_in_order(struct scene *s, unsigned int nth);

#endif
